//! Finds the position of a value in a JSON text.

use std::collections::HashMap;
use std::ops::Range;

/// A JSON document. An object or list is scanned on its first lookup. Offsets are from the document's
/// start.
#[derive(Debug)]
pub(super) struct Json<'a> {
    text: &'a str,
    objects: HashMap<usize, HashMap<String, Member>>,
    lists: HashMap<usize, Vec<usize>>,
}

/// The range of a member's name, with its quotes, and the start of its value.
type Member = (usize, usize, usize);

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, objects: HashMap::new(), lists: HashMap::new() }
    }

    /// The range of the name, or of the item's first character, at the path, or of the deepest part that
    /// exists.
    pub(super) fn locate(&mut self, path: &[String]) -> Range<usize> {
        let mut at = space(self.text, 0);
        let mut found = at..at + usize::from(at < self.text.len());
        for step in path {
            let text = self.text;
            match text.as_bytes().get(at) {
                Some(b'{') => {
                    let members = self.objects.entry(at).or_insert_with(|| members(text, at));
                    let Some((start, end, value)) = members.get(step) else { break };
                    found = *start..*end;
                    at = *value;
                }
                Some(b'[') => {
                    let items = self.lists.entry(at).or_insert_with(|| items(text, at));
                    let Some(item) = step.parse().ok().and_then(|index: usize| items.get(index)) else {
                        break;
                    };
                    at = *item;
                    found = at..at + text[at..].chars().next().map_or(0, char::len_utf8);
                }
                _ => break,
            }
        }
        found
    }
}

/// The members of the object that begins here; the last duplicate wins.
fn members(text: &str, object: usize) -> HashMap<String, Member> {
    let mut out = HashMap::new();
    let mut at = space(text, object + 1);
    while text.as_bytes().get(at) == Some(&b'"') {
        let end = string(text, at);
        let name = &text[at..end];
        let name = serde_json::from_str(name).unwrap_or_else(|_| name.to_owned());
        let value = space(text, end);
        out.insert(name, (at, end, value));
        at = space(text, skip(text, value));
    }
    out
}

/// The starts of the items of the list that begins here.
fn items(text: &str, list: usize) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = space(text, list + 1);
    while text.as_bytes().get(at).is_some_and(|byte| *byte != b']') {
        out.push(at);
        // Malformed text may have no value here.
        at = space(text, skip(text, at).max(at + 1));
    }
    out
}

/// The offset after space and separators.
fn space(text: &str, at: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':');
    at + text.as_bytes().iter().skip(at).take_while(|byte| is_space(byte)).count()
}

/// The offset after the string that begins here.
fn string(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The offset after the value that begins here.
fn skip(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string(text, at) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            break;
        }
    }
    at
}
