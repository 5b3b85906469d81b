//! Escapes user text in Markdown and HTML, so that it is displayed as written.

use kubesmith_apimachinery::yaml::is_hidden;

/// The text with escapes for invisible characters and those that change the direction of others.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// The same for several lines, whose line breaks stay.
pub(super) fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| visible(&line.replace('\t', "    "))).collect();
    lines.join("\n")
}

/// The same for running text, whose line breaks and tabs become spaces.
fn running(text: &str) -> String {
    visible(&text.replace(['\n', '\t', '\r'], " "))
}

/// Running text in HTML, in elements and in attributes with double quotes.
pub(super) fn html(text: &str) -> String {
    entities(&running(text))
}

/// A name or an expression in HTML.
pub(super) fn html_code(text: &str) -> String {
    entities(&visible(text))
}

/// Preformatted lines in HTML.
pub(super) fn html_lines(text: &str) -> String {
    entities(&visible_lines(text))
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Running text in Markdown, in a line, in a table, or at the start of either.
pub(super) fn markdown(text: &str) -> String {
    let text = running(text);
    let mut out = String::with_capacity(text.len() + 16);
    let mut before: Option<char> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.clone().next();
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let begins = out.trim_start().is_empty();
        let special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' | '|' | '$' | '{' | '}' => true,
            // Inside a word it is an ordinary character.
            '_' => !(word(before) && word(next)),
            '#' | '>' | '-' | '+' | '=' => begins,
            '.' | ')' => out.trim_start().chars().all(|c| c.is_ascii_digit()) && !begins,
            '&' => next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '#'),
            // An emoji, or an address that would become a link.
            ':' => !word(before) && word(next) || next == Some('/'),
            '@' => word(before) && word(next),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// A name or an expression as a code span, inside a table if `in_table`.
pub(super) fn markdown_code(text: &str, in_table: bool) -> String {
    let text = visible(text);
    let text = if in_table { text.replace('|', "\\|") } else { text };
    if text.is_empty() {
        // Markdown has no empty code span.
        return "(empty)".to_string();
    }
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    let only_spaces = text.trim_matches(' ').is_empty();
    let edge = |c: char| c == '`' || c == ' ';
    let pad = if !only_spaces && (text.starts_with(edge) || text.ends_with(edge)) { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Lines in a fence that none of them closes.
pub(super) fn markdown_fence(text: &str, language: &str) -> String {
    let text = visible_lines(text);
    let ticks = "`".repeat((longest_run(&text, '`') + 1).max(3));
    format!("{ticks}{language}\n{text}\n{ticks}\n")
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_and_markdown_syntax_is_escaped() {
        assert_eq!(html("<b a='\"'> & c\nd"), "&lt;b a=&#39;&quot;&#39;&gt; &amp; c d");
        assert_eq!(html_code("a\n\u{202e}b\0"), "a\\n\\u{202e}b\\u{0}");
        assert_eq!(
            markdown("a_b _c_ *d* <e> f|g & &amp; 1. h"),
            "a_b \\_c\\_ \\*d\\* \\<e> f\\|g & \\&amp; 1. h"
        );
        assert_eq!(markdown("- a"), "\\- a");
        assert_eq!(markdown("12. a"), "12\\. a");
        assert_eq!(markdown("# a: b :c: http://d"), "\\# a: b \\:c: http\\://d");
        assert_eq!(markdown_code("a`b|", true), "``a`b\\|``");
        assert_eq!(markdown_code("`", false), "`` ` ``");
        assert_eq!(markdown_fence("a\n````\nb", "yaml"), "`````yaml\na\n````\nb\n`````\n");
    }
}
