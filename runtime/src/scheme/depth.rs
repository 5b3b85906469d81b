//! Limits the nesting of brackets in YAML.
//!
//! libyaml's time grows with the square of the nesting, so the text is checked first. Every bracket that may open a
//! collection counts. Brackets in literal and folded blocks (`|`, `>`) cannot, but only a parser can identify blocks
//! with certainty. So blocks are skipped as long as every line before them is simple; after the first other line all
//! brackets count.

/// Returns the position at which more than `most` brackets are open.
pub(super) fn too_deep(text: &str, most: usize) -> Option<usize> {
    let mut blocks = Blocks { is_certain: has_plain_breaks(text), inside: None };
    let (mut open, mut at) = (0_usize, 0);
    for line in text.split_inclusive('\n') {
        if !blocks.holds(line.trim_end_matches(['\n', '\r'])) {
            for (offset, byte) in line.bytes().enumerate() {
                match byte {
                    b'[' | b'{' => open += 1,
                    b']' | b'}' => open = open.saturating_sub(1),
                    _ => {}
                }
                if open > most {
                    return Some(at + offset);
                }
            }
        }
        at += line.len();
    }
    None
}

/// Reports whether all line breaks are YAML's.
fn has_plain_breaks(text: &str) -> bool {
    !text.replace("\r\n", "\n").contains(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// The state of block detection between lines.
struct Blocks {
    is_certain: bool,
    inside: Option<Block>,
}

/// A block whose header has been read.
struct Block {
    /// Its lines are indented more than this.
    parent: usize,
    /// Its indentation, once a line has shown it.
    indent: Option<usize>,
    /// The longest line of spaces before that.
    blank: usize,
}

impl Blocks {
    /// Reports whether the line belongs to a block.
    fn holds(&mut self, line: &str) -> bool {
        let content = line.trim_start_matches(' ');
        let column = line.len() - content.len();
        if let Some(block) = &mut self.inside {
            if content.is_empty() {
                block.blank = block.blank.max(column);
                return true;
            }
            let indent = *block.indent.get_or_insert((block.parent + 1).max(block.blank).max(column));
            if column >= indent {
                return true;
            }
            self.inside = None;
        }
        if self.is_certain {
            match sort(content, column) {
                Line::Plain => {}
                Line::Header { parent } => {
                    self.inside = Some(Block { parent, indent: None, blank: 0 });
                }
                Line::Other => self.is_certain = false,
            }
        }
        false
    }
}

enum Line {
    /// The line ends everything that it begins.
    Plain,
    /// A block follows, which belongs to the item in this column.
    Header {
        parent: usize,
    },
    Other,
}

/// Classifies a line that begins at the top level of nesting.
fn sort(mut content: &str, mut column: usize) -> Line {
    let mut parent = None;
    while let Some(rest) = content.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
        parent = Some(column);
        content = rest.trim_start_matches(' ');
        column += 1 + rest.len() - content.len();
    }
    let value = match content.split_once(':').filter(|(name, _)| is_name(name)) {
        Some((_, rest)) if rest.is_empty() || rest.starts_with(' ') => {
            parent = Some(column);
            rest.trim_start_matches(' ')
        }
        _ => content,
    };
    match value.as_bytes().first() {
        None | Some(b'#') => Line::Plain,
        Some(b'|' | b'>') => match parent {
            Some(parent) if matches!(value[1..].trim_end(), "" | "-" | "+") => Line::Header { parent },
            _ => Line::Other,
        },
        Some(b'"' | b'\'' | b'[' | b'{') if !is_closed(value) => Line::Other,
        Some(b'"' | b'\'' | b'[' | b'{') => Line::Plain,
        // Another name, or an error.
        _ if value.contains(": ") || value.ends_with(':') => Line::Other,
        // In unquoted text all characters are text, including its continuation lines.
        Some(byte) if byte.is_ascii_alphanumeric() || b"./_-".contains(byte) => Line::Plain,
        Some(_) => Line::Other,
    }
}

/// Reports whether this is a simple member name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/-".contains(&b))
}

/// Reports whether quoted text, or a list or map of such and plain words, ends with the line.
fn is_closed(value: &str) -> bool {
    let (mut open, mut previous, mut is_spaced) = (0_usize, b'[', false);
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' if open == 0 => return false,
            b']' | b'}' => open -= 1,
            // A quote begins a string only where a string can begin.
            b'"' | b'\'' if b"[{,".contains(&previous) || (previous == b':' && is_spaced) => {
                // The string must contain nothing that needs interpretation.
                match bytes.find(|b| b"\"'\\".contains(b)) {
                    Some(end) if end == byte => {}
                    _ => return false,
                }
            }
            b'"' | b'\'' | b'#' | b'\\' => return false,
            _ => {}
        }
        is_spaced = byte == b' ';
        if !is_spaced {
            previous = byte;
        }
    }
    open == 0 && value.ends_with(['"', '\'', ']', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports whether a block with too many brackets is skipped after these lines.
    fn is_passed_over(header: &str, indent: usize) -> bool {
        let block = format!("{}{}\n", " ".repeat(indent), "[".repeat(20));
        too_deep(&format!("{header}\n{block}end: x\n"), 10).is_none()
    }

    #[test]
    fn brackets_in_blocks_do_not_count() {
        for (header, indent) in [
            ("data:\n  script: |", 4),
            ("apiVersion: v1\ndata:\n  # a comment\n  a.json: >-", 3),
            ("- - a: |+", 6),
            ("- |\n\n", 1),
            ("image: \"nginx:1\"\nargs: [\"a\", 'b', {c: \"d\"}]\ntext: it's \"fine\" [so\nscript: |-  ", 2),
            ("a: |\r\n  x\r", 2),
        ] {
            assert!(is_passed_over(header, indent), "{header}");
        }
        assert_eq!(too_deep(&format!("a: |\n  [[\nb: {}", "[".repeat(11)), 10), Some(23));
        assert_eq!(too_deep(&"[]".repeat(50), 10), None);
    }

    #[test]
    fn uncertain_blocks_count() {
        for (header, indent) in [
            ("a: |", 0),
            ("- a: |", 2),
            ("a: |\n    x", 2),
            ("a: |\n      \n    x", 4),
            ("a: |2", 2),
            ("a: | # x", 2),
            ("a: \"x |\n  y: |", 4),
            ("a: \"x |", 2),
            ("a: [ \"]\", |", 2),
            ("a: [ \"] |", 2),
            ("a: [ b\"c, \"d ]\nx: |", 2),
            ("a: [\"\\\"]\nx: |", 2),
            ("a: ['b''c]\nx: |", 2),
            ("a: [\"b\"\nx: |", 2),
            ("a: b |", 2),
            ("a: \"\nx: |", 2),
            ("a b: \"\nx: |", 2),
            ("|", 2),
            ("? |", 2),
            ("&a |", 2),
        ] {
            assert!(!is_passed_over(header, indent), "{header}");
        }
        let broken = format!("a: |\rx: {}", "[".repeat(20));
        assert!(too_deep(&broken, 10).is_some());
    }
}
