//! Escapes user text in documentation, so that it stays inside and causes no warnings of rustdoc.

/// Widest line of wrapped text, in characters.
const WIDTH: usize = 90;

/// Makes lines of documentation from the user's summary; empty when the summary is.
///
/// Code spans are kept. Everything else that Markdown or HTML would interpret is escaped: links
/// could be broken, tags unclosed, fences would become doctests, and each of these is a warning
/// in the user's build. Control characters and marks of writing direction are dropped (rustc
/// refuses the latter in comments).
pub(super) fn summary(text: &str) -> String {
    let clean: String =
        text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| keep(*c)).collect();
    wrap(&escape(&clean))
}

/// A name inside a code span of documentation.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| keep(*c) && *c != '`').collect()
}

fn keep(c: char) -> bool {
    let direction =
        matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !c.is_control() && !direction
}

/// Escapes everything outside code spans.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        escape_plain(&rest[..at], &mut out);
        rest = &rest[at..];
        match code_span(rest) {
            Some(span) => {
                out.push_str(span);
                rest = &rest[span.len()..];
            }
            None => {
                out.push_str("\\`");
                rest = &rest[1..];
            }
        }
    }
    escape_plain(rest, &mut out);
    out
}

/// A code span of single backticks at the start of the text; longer runs of backticks do not count.
fn code_span(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('`')?;
    let end = inside.find('`')?;
    let closed_once = !inside[end + 1..].starts_with('`');
    (end > 0 && closed_once).then(|| &text[..end + 2])
}

fn escape_plain(text: &str, out: &mut String) {
    for (at, c) in text.char_indices() {
        let (first, before) = (out.is_empty(), out.chars().next_back());
        let rest = &text[at + c.len_utf8()..];
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let special = match c {
            '\\' | '[' | ']' | '<' | '*' | '`' => true,
            // Markers of blocks count only at the beginning: lines are broken before words.
            '-' | '+' | '#' | '>' | '=' | '|' => first,
            // Inside a word it is an ordinary character.
            '_' => !(word(before) && word(rest.chars().next())),
            '~' => rest.starts_with('~') || before == Some('~'),
            '&' => rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '#'),
            // `https\://` keeps rustdoc from calling it a bare URL, and reads the same.
            ':' => rest.starts_with("//"),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Wraps words; no line begins with a Markdown list or heading.
fn wrap(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut width = 0;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        let may_begin = word.starts_with(|c: char| c.is_alphabetic() || c == '(' || c == '`');
        if width > 0 && width + 1 + length > WIDTH && may_begin && balanced(&out) {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        match word.split_at_checked(word.len() - 1) {
            // "1. One" at the beginning would be a list.
            Some((digits, end @ ("." | ")")))
                if out.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) =>
            {
                out.push_str(digits);
                out.push('\\');
                out.push_str(end);
            }
            _ => out.push_str(word),
        }
        width += length;
    }
    out
}

/// Whether no code span is open: a span must not be broken over lines.
fn balanced(text: &str) -> bool {
    text.matches('`').count() % 2 == text.matches("\\`").count() % 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_escaped() {
        assert_eq!(summary("hopegi test crd"), "hopegi test crd");
        assert_eq!(summary("  A\n b\tc. "), "A b c.");
        assert_eq!(summary(" \n "), "");
    }

    #[test]
    fn markdown_and_html_are_escaped() {
        assert_eq!(summary("see [Foo] and <b>"), "see \\[Foo\\] and \\<b>");
        assert_eq!(summary("# Title"), "\\# Title");
        assert_eq!(summary("- one"), "\\- one");
        assert_eq!(summary("1. one 2. two"), "1\\. one 2. two");
        assert_eq!(summary("```\nfn main() {}\n```"), "\\`\\`\\` fn main() {} \\`\\`\\`");
        assert_eq!(summary("see https://example.com"), "see https\\://example.com");
        assert_eq!(summary("a - b_c _d_ #e &f; & g"), "a - b_c \\_d\\_ #e \\&f; & g");
        assert_eq!(summary("a\\b"), "a\\\\b");
    }

    #[test]
    fn code_spans_are_kept_when_closed() {
        assert_eq!(summary("a `b_[c]` d"), "a `b_[c]` d");
        assert_eq!(summary("a `b"), "a \\`b");
    }

    #[test]
    fn direction_marks_and_control_characters_are_dropped() {
        assert_eq!(summary("a\u{202e}b\u{0}c\u{7}"), "abc");
    }

    #[test]
    fn wrapped_lines_begin_with_a_letter() {
        let text = summary(&"word - 12. more ".repeat(20));
        assert!(text.lines().count() > 1);
        for line in text.lines() {
            assert!(line.starts_with(char::is_alphabetic), "{line}");
            assert!(line.chars().count() < WIDTH + 30, "{line}");
        }
    }
}
