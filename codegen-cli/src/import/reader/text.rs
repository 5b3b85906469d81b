//! Inspects a text before a parser reads it.

use std::ops::Range;

/// The ranges of the documents of a text; directives belong to the document behind them.
pub(super) fn documents(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    // Programs on Windows begin files with a byte order mark.
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut start = at;
    for line in text[at..].split_inclusive('\n') {
        let body = line.trim_end();
        if body == "---" || body.starts_with("--- ") || body == "..." {
            let has_directives = body != "..." && is_head(&text[start..at]);
            if !has_directives {
                out.push(start..at);
                start = if body.starts_with("--- ") { at } else { at + line.len() };
            }
        }
        at += line.len();
    }
    out.push(start..at);
    out.retain(|range| !text[range.clone()].trim().is_empty());
    out
}

/// Whether a text has only directives and comments.
fn is_head(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).peekable();
    lines.peek().is_some() && lines.all(|line| line.starts_with('%'))
}

/// Whether brackets are nested deeper than `most`. Parsers take quadratic time to refuse such input.
pub(super) fn is_deeper(text: &str, most: usize) -> bool {
    let mut behind = 0;
    for value in Values::new(text).filter(|value| value.text.starts_with(['[', '{'])) {
        if value.start >= behind {
            let (length, is_deeper) = flow(&text[value.start..], most);
            if is_deeper {
                return true;
            }
            behind = value.start + length;
        }
    }
    false
}

/// The length of the bracketed value at the start of a text, and whether it is too deep.
fn flow(text: &str, most: usize) -> (usize, bool) {
    let mut depth = 0;
    let mut quote = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(b'"'), b'\\') => drop(bytes.next()),
            (Some(open), _) => quote = Some(open).filter(|open| *open != byte),
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}') => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth > most {
            return (at + 1, depth > most);
        }
    }
    (text.len(), false)
}

/// The position of a value that a template engine fills in; braces in descriptions do not count.
pub(super) fn template(text: &str) -> Option<usize> {
    Values::new(text).find(|value| value.text.starts_with("{{")).map(|value| value.start)
}

/// The value, or the rest, of each line; lines that continue a text are skipped.
struct Values<'a> {
    lines: std::str::SplitInclusive<'a, char>,
    at: usize,
    /// The indentation of a text's first line; deeper lines continue the text.
    text: Option<usize>,
}

/// The text of a line after its dashes and its name.
struct Found<'a> {
    start: usize,
    text: &'a str,
}

impl<'a> Values<'a> {
    fn new(text: &'a str) -> Self {
        Self { lines: text.split_inclusive('\n'), at: 0, text: None }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Found<'a>;

    fn next(&mut self) -> Option<Found<'a>> {
        loop {
            let line = self.lines.next()?;
            let start = self.at;
            self.at += line.len();
            let trimmed = line.trim();
            let indent = line.len() - line.trim_start().len();
            if trimmed.is_empty() || self.text.is_some_and(|own| indent > own) || trimmed.starts_with('#') {
                continue;
            }
            let (own, text) = value(trimmed);
            let is_text = !text.is_empty() && !text.starts_with(['[', '{', '#']);
            self.text = is_text.then_some(indent + own);
            return Some(Found { start: start + indent + trimmed.len() - text.len(), text });
        }
    }
}

/// The text after dashes, a name, anchors and tags, and the offset of the name or the last dash.
fn value(line: &str) -> (usize, &str) {
    let (mut rest, mut own, mut is_named) = (line, 0, false);
    loop {
        let behind = match rest.as_bytes() {
            [b'&' | b'!', ..] => rest.find(' ').map_or("", |end| &rest[end..]),
            _ if is_named => return (own, rest),
            [b'-' | b'?' | b':'] | [b'-' | b'?' | b':', b' ', ..] => {
                own = line.len() - rest.len();
                &rest[1..]
            }
            [b'[' | b'{' | b'|' | b'>' | b'#', ..] => return (own, rest),
            _ => {
                let Some(end) = name(rest) else { return (own, rest) };
                own = line.len() - rest.len();
                is_named = true;
                &rest[end..]
            }
        };
        rest = behind.trim_start();
    }
}

/// The length of the name at the start of a line, with its colon.
fn name(line: &str) -> Option<usize> {
    let quoted = match line.as_bytes() {
        [quote @ (b'"' | b'\''), ..] => 2 + line[1..].find(char::from(*quote))?,
        _ => 0,
    };
    let colon = match quoted {
        0 => line.find(": ").or_else(|| line.strip_suffix(':').map(str::len))?,
        _ => quoted,
    };
    let behind = line[colon..].strip_prefix(':')?;
    (behind.is_empty() || behind.starts_with(' ')).then_some(colon + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_starts_after_marks_and_with_its_directives() {
        let of =
            |text: &'static str| documents(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(of("\u{feff}---\na: 1\n---\nb: 1\n"), ["a: 1\n", "b: 1\n"]);
        assert_eq!(of("\u{feff}{}"), ["{}"]);
        assert_eq!(
            of("# x\n%YAML 1.2\n---\na: 1\n...\n%TAG ! !\n--- \nb: 1\n"),
            ["# x\n%YAML 1.2\n---\na: 1\n", "%TAG ! !\n--- \nb: 1\n"]
        );
        assert_eq!(of("a: |\n  %x\n---\n--- {b: 1}\n"), ["a: |\n  %x\n", "--- {b: 1}\n"]);
    }

    #[test]
    fn depth_counts_only_brackets_of_values() {
        for (text, wanted) in [
            ("a: [[[1]]]\n", true),
            ("{\"a\":\n {\"b\": {", true),
            ("- - &a !t [[\n[", true),
            ("? [[[", true),
            ("a: [[1], [2]]\n", false),
            ("a: ['[[[', \"\\\"[[[\"]\n", false),
            ("a: |\n  [[[\n  b: [[[\n", false),
            ("- a: >-\n    [[[\n", false),
            ("a: text [[[\n  [[[\n", false),
            ("# [[[\na: 1 # [[[\n", false),
            ("\"a: [[[\": 1\n", false),
        ] {
            assert_eq!(is_deeper(text, 2), wanted, "{text}");
        }
    }

    #[test]
    fn template_is_detected_in_the_place_of_a_value() {
        for (text, wanted) in [
            ("a:\n  {{- if .b }}\n", Some(5)),
            ("a: {{ .b }}\n", Some(3)),
            ("- {{ .b }}\n", Some(2)),
            ("a: 1\n{{ end }}\n", Some(5)),
            ("description: use: {{ b }}\n", None),
            ("labels:\n    {{- include \"x\" . | nindent 4 }}\n", Some(12)),
            ("description: as {{ b }} says\n", None),
            ("description: as\n  {{ b }} says\n", None),
            ("description: |\n  {{ b }}\n", None),
            ("description: \"{{ b }}\"\n", None),
        ] {
            assert_eq!(template(text), wanted, "{text}");
        }
    }
}
