//! How deep brackets are open in a text of YAML.
//!
//! libyaml's time grows with the square of that, so it is looked at before. Every bracket is counted that may open a
//! collection; those in literal and folded blocks (`|`, `>`) cannot, but it takes a parser to be certain what is one. So blocks
//! are passed over as long as every line before them is of a plain sort; after the first other line all brackets count.

/// Where more than `most` brackets are open.
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

/// Whether lines end only where YAML's do.
fn has_plain_breaks(text: &str) -> bool {
    !text.replace("\r\n", "\n").contains(['\r', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// What is known of blocks, from line to line.
struct Blocks {
    is_certain: bool,
    inside: Option<Block>,
}

/// A block whose header has been read.
struct Block {
    /// Its lines are indented more than this.
    parent: usize,
    /// By how much they are, once a line has said so.
    indent: Option<usize>,
    /// The longest of the lines of spaces before that.
    blank: usize,
}

impl Blocks {
    /// Whether the line is text of a block.
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
    /// It ends all that it begins.
    Plain,
    /// A block follows that is part of what begins in this column.
    Header {
        parent: usize,
    },
    Other,
}

/// What a line is that begins where nothing is open.
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
        // It is another name, or a mistake.
        _ if value.contains(": ") || value.ends_with(':') => Line::Other,
        // Of text without quotes all signs are text, in the lines that continue it, too.
        Some(byte) if byte.is_ascii_alphanumeric() || b"./_-".contains(byte) => Line::Plain,
        Some(_) => Line::Other,
    }
}

/// Whether it is a member's name like most.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._/-".contains(&b))
}

/// Whether a text in quotes, or a list or map of such and of plain words, ends with the line.
fn is_closed(value: &str) -> bool {
    let (mut open, mut previous, mut is_spaced) = (0_usize, b'[', false);
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' if open == 0 => return false,
            b']' | b'}' => open -= 1,
            // It begins a text only where one can begin.
            b'"' | b'\'' if b"[{,".contains(&previous) || (previous == b':' && is_spaced) => {
                // Nothing in it must have to be understood.
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

    /// A block with more brackets than may be open, below these lines.
    fn is_passed_over(header: &str, indent: usize) -> bool {
        let block = format!("{}{}\n", " ".repeat(indent), "[".repeat(20));
        too_deep(&format!("{header}\n{block}end: x\n"), 10).is_none()
    }

    #[test]
    fn brackets_of_blocks_do_not_count() {
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
    fn what_may_be_no_block_counts() {
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
