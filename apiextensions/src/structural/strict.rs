//! Strict reading of JSON bodies: finds repeated fields.

use std::collections::BTreeSet;

use super::Path;

/// Bodies nested deeper than this are not looked into; the JSON parser refuses them anyway.
const MAX_DEPTH: usize = 128;

/// The paths of fields that occur more than once in their object, such as `spec.known`, in the order of the text.
///
/// For malformed JSON, returns the fields found before the error.
#[must_use]
pub fn duplicate_fields(body: &str) -> Vec<String> {
    let mut reader = Reader { bytes: body.as_bytes(), at: 0, found: Vec::new() };
    let _ = reader.value(&Path::root(), 0);
    reader.found
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    found: Vec<String>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, path: &Path, depth: usize) -> Option<()> {
        match self.peek()? {
            _ if depth > MAX_DEPTH => None,
            b'{' => self.object(path, depth),
            b'[' => self.array(path, depth),
            b'"' => self.string().map(drop),
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace();
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                Some(())
            }
        }
    }

    fn object(&mut self, path: &Path, depth: usize) -> Option<()> {
        self.eat(b'{')?;
        let mut seen = BTreeSet::new();
        if self.eat(b'}').is_some() {
            return Some(());
        }
        loop {
            self.peek()?;
            let name = self.string()?;
            let below = path.child(&name);
            let text = below.as_str().to_owned();
            if !seen.insert(name) && !self.found.contains(&text) {
                self.found.push(text);
            }
            self.eat(b':')?;
            self.value(&below, depth + 1)?;
            if self.eat(b',').is_none() {
                return self.eat(b'}');
            }
        }
    }

    fn array(&mut self, path: &Path, depth: usize) -> Option<()> {
        self.eat(b'[')?;
        if self.eat(b']').is_some() {
            return Some(());
        }
        for i in 0.. {
            self.value(&path.index(i), depth + 1)?;
            if self.eat(b',').is_none() {
                return self.eat(b']');
            }
        }
        None
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.eat(b'"')?;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let text = std::str::from_utf8(self.bytes.get(start..self.at)?).ok()?;
        serde_json::from_str(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_fields_are_reported_with_their_paths() {
        let body = r#" {"spec":{"known":"a","l":[{"x":1,"x":2}],"known":"b","known":"c"},"k":1} "#;
        assert_eq!(duplicate_fields(body), ["spec.l[0].x", "spec.known"]);
        assert_eq!(duplicate_fields(r#"{"a":1,"a":"#), ["a"]);
        assert_eq!(duplicate_fields(&"[".repeat(1_000_000)), Vec::<String>::new());
        assert_eq!(duplicate_fields("{\"a\\"), Vec::<String>::new());
    }
}
