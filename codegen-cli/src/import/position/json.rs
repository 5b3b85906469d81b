//! Where in a JSON text a value stands.

use std::collections::HashMap;
use std::ops::Range;

/// A JSON document. An object or list is gone through when somebody first asks for what is in it. Offsets are from the
/// document's start.
#[derive(Debug)]
pub(super) struct Json<'a> {
    text: &'a str,
    objects: HashMap<usize, HashMap<String, Member>>,
    lists: HashMap<usize, Vec<usize>>,
}

/// Where a member's name stands, with its quotes, and where its value begins.
type Member = (usize, usize, usize);

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, objects: HashMap::new(), lists: HashMap::new() }
    }

    /// The name, or the first character of the item, that the path leads to, or the deepest that it reaches.
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

/// The members of the object that begins here; of those with the same name the last one holds.
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

/// Where the items of the list that begins here stand.
fn items(text: &str, list: usize) -> Vec<usize> {
    let mut out = Vec::new();
    let mut at = space(text, list + 1);
    while text.as_bytes().get(at).is_some_and(|byte| *byte != b']') {
        out.push(at);
        // What is no value does not end, either.
        at = space(text, skip(text, at).max(at + 1));
    }
    out
}

/// Behind space and what separates values.
fn space(text: &str, at: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b':');
    at + text.as_bytes().iter().skip(at).take_while(|byte| is_space(byte)).count()
}

/// Behind the string that begins here.
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

/// Behind the value that begins here.
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
