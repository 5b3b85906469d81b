//! Splits JSON into a pattern that objects of one shape share, and the values of each.
//!
//! A pattern is JSON whose strings and numbers are cut out; names of members, brackets and words remain. Objects of a
//! kind have few patterns, so an informer keeps each once: more than half of a small object's JSON, and of a pod's
//! (`bench/runtime`, rows `sync-small` and `sync-pod`).

use super::decode::push_string;
use crate::json::{Error, JsonReader};

/// The place of a value in a pattern, and the end of a value among values. JSON has no such character.
const CUT: char = '\0';
/// Stands in a pattern between the members of the metadata and those of the object.
const PART: char = '\u{1}';

/// Members of an object, divided.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub(super) pattern: String,
    pub(super) values: String,
}

impl Cut {
    pub(super) fn clear(&mut self) {
        self.pattern.clear();
        self.values.clear();
    }

    /// Reads a value and adds `"name":value`.
    pub(super) fn member(&mut self, name: &str, json: &mut JsonReader<'_>) -> Result<(), Error> {
        let Self { pattern, values } = self;
        if !pattern.is_empty() {
            pattern.push(',');
        }
        push_string(pattern, name);
        pattern.push(':');
        let rest = json.scalars(&mut |before, value| {
            pattern.push_str(before);
            pattern.push(CUT);
            values.push_str(value);
            values.push(CUT);
        })?;
        pattern.push_str(rest);
        Ok(())
    }
}

/// Joins the patterns of the metadata's members and of the object's.
pub(super) fn join(out: &mut String, metadata: &str, members: &str) {
    out.push_str(metadata);
    out.push(PART);
    out.push_str(members);
}

/// The stored form of members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<'a> {
    /// The pattern of two parts.
    pub(super) pattern: &'a str,
    pub(super) values: &'a str,
}

impl Stored<'_> {
    /// Returns the members of the metadata.
    pub(super) fn metadata(self) -> String {
        let (pattern, _) = self.patterns();
        self.filled(pattern, self.values)
    }

    /// Returns the members of the object.
    pub(super) fn members(self) -> String {
        let (metadata, pattern) = self.patterns();
        let skipped = metadata.matches(CUT).count();
        let before = skipped.checked_sub(1).and_then(|last| self.values.match_indices(CUT).nth(last));
        let start = before.map_or(0, |(at, _)| at + 1);
        self.filled(pattern, self.values.get(start..).unwrap_or_default())
    }

    /// Returns the number of bytes of both together.
    pub(super) fn len(self) -> usize {
        let marks = 2 * self.values.matches(CUT).count() + 1;
        (self.pattern.len() + self.values.len()).saturating_sub(marks)
    }

    fn patterns(&self) -> (&str, &str) {
        self.pattern.split_once(PART).unwrap_or_default()
    }

    fn filled(&self, pattern: &str, values: &str) -> String {
        let mut out = String::with_capacity(pattern.len() + values.len());
        let (mut pieces, mut values) = (pattern.split(CUT), values.split(CUT));
        out.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            out.push_str(values.next().unwrap_or_default());
            out.push_str(piece);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stored(metadata: &str, members: &str) -> (String, String) {
        let (mut one, mut other, mut pattern) = (Cut::default(), Cut::default(), String::new());
        one.member("m", &mut JsonReader::new(metadata)).unwrap();
        other.member("o", &mut JsonReader::new(members)).unwrap();
        join(&mut pattern, &one.pattern, &other.pattern);
        (pattern, one.values + &other.values)
    }

    #[test]
    fn pattern_replaces_strings_and_numbers_but_not_names() {
        let (pattern, values) = stored(r#"{"a" : "b\"", "c":[-1.5e+3, true]}"#, "null");
        assert_eq!(pattern, "\"m\":{\"a\" : \"\0\", \"c\":[\0, true]}\u{1}\"o\":null");
        assert_eq!(values, "b\\\"\0-1.5e+3\0");
    }

    proptest! {
        #[test]
        fn filled_pattern_equals_the_json(
            texts in proptest::collection::vec("[a-z\"\\\\\u{0}é]{0,4}", 0..4),
            number in any::<f64>().prop_filter("JSON has no other", |number| number.is_finite()),
        ) {
            let metadata = serde_json::json!({ "texts": texts, "é": number, "": null }).to_string();
            let members = serde_json::json!([{ "texts": [texts, []] }, number as i64]).to_string();
            let (pattern, values) = stored(&metadata, &members);
            let stored = Stored { pattern: &pattern, values: &values };
            prop_assert_eq!(stored.metadata(), format!("\"m\":{metadata}"));
            prop_assert_eq!(stored.members(), format!("\"o\":{members}"));
            prop_assert_eq!(stored.len(), stored.metadata().len() + stored.members().len());
        }
    }
}
