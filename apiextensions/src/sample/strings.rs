//! Makes texts that a schema accepts.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::formats;
use crate::schema::Schema;

/// The longest text in characters.
const LONGEST: usize = 1_000;

/// Usual values of formats, and further candidates for patterns.
const USUAL: &[&str] = &[
    "example",
    "example.com",
    "2030-01-01T00:00:00Z",
    "2030-01-01",
    "30s",
    "192.0.2.1",
    "2001:db8::1",
    "192.0.2.0/24",
    "https://example.com",
    "user@example.com",
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "ZXhhbXBsZQ==",
    "02:00:5e:10:00:00",
    "978-3-16-148410-0",
    "#ffffff",
];

/// The characters for a class, by preference.
const CHARACTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_./: ";

/// Returns a text that the schema accepts by length, format and pattern: the `salt`th of the candidates. If none fits,
/// it is empty.
#[must_use]
pub fn text(schema: &Schema, salt: usize) -> String {
    let fits = |text: &String| {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        schema.min_length.is_none_or(|least| length >= least)
            && schema.max_length.is_none_or(|most| length <= most)
            && schema.format.as_ref().is_none_or(|f| !formats::is_known(f) || formats::validates(f, text))
            && schema.pattern.as_ref().is_none_or(|pattern| pattern.is_match(text).unwrap_or(false))
    };
    let mut found: Vec<String> = Vec::new();
    for text in candidates(schema).filter(fits) {
        if !found.contains(&text) {
            found.push(text);
        }
        if found.len() > salt {
            break;
        }
    }
    found.pop().unwrap_or_default()
}

fn candidates(schema: &Schema) -> impl Iterator<Item = String> + '_ {
    let least = usize::try_from(schema.min_length.unwrap_or(0)).unwrap_or(LONGEST).min(LONGEST);
    let numbered = (1..100).map(|number| format!("example-{number}"));
    let padded = (0..36).map(move |at| {
        let last = CHARACTERS.chars().nth(at).unwrap_or('a');
        "a".repeat(least.saturating_sub(1)) + &last.to_string()
    });
    let parsed = schema.pattern.as_deref().and_then(|source| kubesmith_goregex::to_hir(source).ok());
    let matching = (0..48_usize).filter_map(move |at| {
        let longer = if at % 2 == 1 { least } else { 0 };
        let mut maker = Maker { out: String::new(), more: at / 8 + longer, salt: at / 2 % 12 };
        maker.make(parsed.as_ref()?)?;
        Some(maker.out)
    });
    USUAL.iter().map(|text| (*text).to_string()).chain(numbered).chain(matching).chain(padded)
}

/// Makes a text that matches an expression.
struct Maker {
    out: String,
    /// The number of repetitions beyond the minimum.
    more: usize,
    /// The number of skipped characters of a class.
    salt: usize,
}

impl Maker {
    /// Appends a match; `None`: it would be too long, or no text matches.
    fn make(&mut self, hir: &Hir) -> Option<()> {
        if self.out.len() > LONGEST {
            return None;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => self.out.push_str(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(class) => {
                let c = self.character(class)?;
                self.out.push(c);
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.map_or(usize::MAX, |most| most as usize);
                let wanted = (repetition.min as usize).saturating_add(self.more).min(most);
                for _ in 0..wanted {
                    self.make(&repetition.sub)?;
                }
            }
            HirKind::Capture(capture) => self.make(&capture.sub)?,
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.make(part))?,
            HirKind::Alternation(branches) => self.make(branches.get(self.salt % branches.len().max(1))?)?,
        }
        Some(())
    }

    fn character(&self, class: &Class) -> Option<char> {
        let Class::Unicode(class) = class else { return None };
        let has = |c: &char| class.ranges().iter().any(|range| range.start() <= *c && *c <= range.end());
        let usual: Vec<char> = CHARACTERS.chars().filter(has).collect();
        match usual.len() {
            0 => class.ranges().first().map(|range| range.start()),
            length => usual.get(self.salt % length).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Pattern;

    #[test]
    fn sample_strings_satisfy_pattern_format_and_length() {
        let pattern =
            |source: &str| Schema { pattern: Some(Pattern::new(source)), ..Schema::of_type("string") };
        for source in [
            "^[a-z]{3}-[0-9]{2,4}$",
            r"^\d+$",
            "^(foo|bar)?baz$",
            "^[A-Z][a-z0-9]*$",
            r"^\Qa.b\E[[:digit:]]$",
            "^é+$",
            "^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$",
        ] {
            let text = text(&pattern(source), 0);
            assert_eq!(Pattern::new(source).is_match(&text), Ok(true), "{source}: {text:?}");
        }
        let long = Schema { min_length: Some(40), ..pattern("^[a-z]+$") };
        assert!(text(&long, 0).len() >= 40);
        assert_eq!(text(&Schema::formatted("string", "ipv4"), 0), "192.0.2.1");
        assert_eq!(text(&Schema { max_length: Some(1), ..Schema::default() }, 1), "b");
        assert_eq!(text(&pattern("^[b-c]$"), 1), "c");
        assert_eq!(text(&Schema { min_length: Some(i64::MAX), ..Schema::default() }, 0), "");
    }
}
