//! Parses descriptions as blocks: paragraphs, lists and code. Other Markdown or HTML is plain text.

use super::{Block, Inline, Target, Text, code, plain};

/// The deepest nesting of lists.
const DEPTH: usize = 8;

/// Reads a description.
pub(super) fn blocks(description: &str) -> Vec<Block> {
    let lines: Vec<&str> = description.lines().collect();
    parse(&lines, 0)
}

/// The blocks of an optional description.
pub(super) fn optional(description: Option<&String>) -> Vec<Block> {
    description.map(|text| blocks(text)).unwrap_or_default()
}

/// The indentation of the line in bytes, by Markdown's characters: other white space is text.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The marker of a list item: its indentation, the start of the text, and whether items are numbered.
fn item(line: &str) -> Option<(usize, usize, bool)> {
    let (indent, text) = line.split_at(indent_of(line));
    let indent = indent.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let (width, ordered) = match rest.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] if digits == 0 => (2, false),
        [b'.' | b')', b' ', ..] if (1..=9).contains(&digits) => (digits + 2, true),
        _ => return None,
    };
    Some((indent, indent + width, ordered))
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|mark| line[indent_of(line)..].starts_with(mark))
}

fn parse(lines: &[&str], depth: usize) -> Vec<Block> {
    let mut out = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        // Within a paragraph, only the number 1 begins a list: others may end a sentence.
        let may_begin = |ordered: bool| {
            !ordered
                || paragraph.is_empty()
                || ["1.", "1)"].iter().any(|one| line.trim_start().starts_with(one))
        };
        let begins_list = item(line).filter(|(.., ordered)| depth < DEPTH && may_begin(*ordered));
        if let Some(mark) = fence(line) {
            flush(&mut paragraph, &mut out);
            let length = lines[at + 1..].iter().take_while(|line| fence(line) != Some(mark)).count();
            out.push(code_block(&lines[at + 1..at + 1 + length], indent_of(line)));
            at += length + 2;
        } else if let Some((indent, _, ordered)) = begins_list {
            flush(&mut paragraph, &mut out);
            let (items, length) = list(&lines[at..], indent, ordered, depth);
            out.push(Block::List { ordered, items });
            at += length;
        } else {
            if line.trim().is_empty() {
                flush(&mut paragraph, &mut out);
            } else if line.trim_start().starts_with("# ") || line.trim_start().starts_with("##") {
                flush(&mut paragraph, &mut out);
                paragraph.push(line.trim_start().trim_start_matches('#').trim());
                flush(&mut paragraph, &mut out);
            } else {
                paragraph.push(line.trim());
            }
            at += 1;
        }
    }
    flush(&mut paragraph, &mut out);
    out
}

/// The items of a list that begins with the first line, and their number of lines.
fn list(lines: &[&str], indent: usize, ordered: bool, depth: usize) -> (Vec<Vec<Block>>, usize) {
    let is_next = |line: &str| item(line).is_some_and(|(at, _, kind)| at <= indent && kind == ordered);
    let mut items = Vec::new();
    let mut at = 0;
    while lines.get(at).is_some_and(|line| is_next(line)) {
        let inside = lines[at + 1..].iter().enumerate().take_while(|(offset, line)| {
            let before = lines[at + offset];
            let deeper = indent_of(line) > indent;
            let lazy = !before.trim().is_empty() && item(line).is_none() && fence(line).is_none();
            line.trim().is_empty() || deeper || lazy
        });
        let length = 1 + inside.count();
        let start = item(lines[at]).map_or(0, |(_, start, _)| start);
        let mut own: Vec<&str> = vec![&lines[at][start..]];
        own.extend(lines[at + 1..at + length].iter().map(|line| dedent(line, start)));
        items.push(parse(&own, depth + 1));
        at += length;
    }
    (items, at)
}

/// The line without this many bytes of indentation, or as many as it has.
fn dedent(line: &str, most: usize) -> &str {
    &line[most.min(indent_of(line))..]
}

fn code_block(lines: &[&str], indent: usize) -> Block {
    let lines: Vec<&str> = lines.iter().map(|line| dedent(line, indent)).collect();
    Block::Code(lines.join("\n"))
}

fn flush(paragraph: &mut Vec<&str>, out: &mut Vec<Block>) {
    if !paragraph.is_empty() {
        out.push(Block::Paragraph(inlines(&paragraph.join(" "))));
        paragraph.clear();
    }
}

/// Code spans, addresses and links; brackets of rustdoc's links around code are dropped.
pub(super) fn inlines(text: &str) -> Text {
    let mut out = Text::new();
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let found = match c {
            '`' => span(rest).map(|(text, length)| (code(text), length)),
            '[' => reference(rest).or_else(|| named_link(rest)),
            'h' if !word.ends_with(char::is_alphanumeric) => address(rest),
            _ => None,
        };
        match found {
            Some((inline, length)) => {
                push_word(&mut word, &mut out);
                out.push(inline);
                rest = &rest[length..];
            }
            None => {
                // An unclosed run of backticks is text as a whole.
                let length = if c == '`' { run(rest) } else { c.len_utf8() };
                word.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }
    push_word(&mut word, &mut out);
    out
}

fn push_word(word: &mut String, out: &mut Text) {
    if !word.is_empty() {
        out.push(plain(std::mem::take(word)));
    }
}

/// The number of backticks at the start of the text.
fn run(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// A code span at the beginning of the text, and its length.
fn span(text: &str) -> Option<(&str, usize)> {
    let ticks = run(text);
    let mut at = ticks;
    loop {
        at += text[at..].find('`')?;
        let closing = run(&text[at..]);
        if closing == ticks {
            let inside = &text[ticks..at];
            return (!inside.trim().is_empty()).then(|| (inside.trim(), at + ticks));
        }
        at += closing;
    }
}

/// ``[`Name`]``
fn reference(text: &str) -> Option<(Inline, usize)> {
    let (inside, length) = span(text.get(1..)?)?;
    text[1 + length..].starts_with(']').then(|| (code(inside), length + 2))
}

/// `[label](https://...)`
fn named_link(text: &str) -> Option<(Inline, usize)> {
    let end = text.find("](")?;
    let label = &text[1..end];
    let (url, length) = url(&text[end + 2..])?;
    let whole = end + 2 + length;
    let is_label = !label.is_empty() && !label.contains(['[', ']', '`']);
    (is_label && text[whole..].starts_with(')'))
        .then(|| (Inline::Link(label.to_string(), Target::Url(url.to_string())), whole + 1))
}

fn address(text: &str) -> Option<(Inline, usize)> {
    let (url, length) = url(text)?;
    Some((Inline::Link(url.to_string(), Target::Url(url.to_string())), length))
}

/// An address at the start of the text, without the punctuation after it. It has only characters that need no
/// escape.
pub(super) fn url(text: &str) -> Option<(&str, usize)> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| text.starts_with(scheme))?;
    let belongs = |c: &char| c.is_ascii_alphanumeric() || "-._~:/?#@!$&*+,;=%".contains(*c);
    let length = text.chars().take_while(belongs).count();
    let url = text[..length].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '~']);
    (url.len() > scheme.len()).then_some((url, url.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_blocks_are_parsed() {
        let text =
            "First\nline.\n\n- one\n  more\n- two:\n  1. a\n  2. b\n\n```yaml\na: b\n```\n# Title\nend";
        insta::assert_debug_snapshot!(blocks(text));
    }

    #[test]
    fn unicode_white_space_is_text() {
        for space in ["\u{3000}", "\u{a0}", "\u{2003}", "\u{85}"] {
            for text in ["- a\n@b\n @c", "  ```\n@code\n @\n  ```", "@- a\n@```\n@x", " 1. a\n@\n@b\n   c"] {
                let text = text.replace('@', space);
                assert!(!blocks(&text).is_empty(), "{text:?}");
            }
        }
        let code = vec![Block::Code("\u{3000}a".to_string())];
        assert_eq!(blocks("  ```\n\u{3000}a\n  ```"), code);
    }

    #[test]
    fn markdown_inlines_are_parsed() {
        let text = "a `b` ``c`d`` [`E`] see https://x.org/a?b=c. [l](https://y.org) [m](javascript:x) ` [n";
        insta::assert_debug_snapshot!(inlines(text));
    }
}
