//! Regular expressions in Go's dialect, compiled by the regex crate.
//!
//! The dialects differ in small things: Go's `\d`, `\w`, `\s` and `\b` are ASCII, `\Q..\E` quotes, a `{` that opens no
//! repetition is a literal, and a `[`, `&&`, `--` or `~~` inside a class means itself. [`compile`] rewrites them.

use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

/// Bytes that a compiled expression may take; larger ones are refused instead of eating the memory of the process.
const SIZE_LIMIT: usize = 32 << 20;
/// Groups and classes that may be nested, so that compiling cannot exhaust the stack.
const NEST_LIMIT: u32 = 100;

/// A regular expression of a schema: its text, and its compiled form once it was needed, which clones share.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    source: String,
    compiled: Arc<OnceLock<Result<Regex, String>>>,
}

impl Pattern {
    /// Wraps the text; nothing is compiled here.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), compiled: Arc::default() }
    }

    /// The text as the user wrote it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the expression matches somewhere in `text`.
    ///
    /// # Errors
    /// The reason why the expression cannot be compiled.
    pub fn is_match(&self, text: &str) -> Result<bool, &str> {
        self.compiled().map(|regex| regex.is_match(text))
    }

    fn compiled(&self) -> Result<&Regex, &str> {
        self.compiled.get_or_init(|| compile(&self.source)).as_ref().map_err(String::as_str)
    }

    /// The reason why the expression cannot be compiled, if so.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.compiled().err()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Compiles an expression in Go's dialect.
///
/// # Errors
/// What is wrong with it, in Go's words as far as they are known: `error parsing regexp: ...`.
pub fn compile(source: &str) -> Result<Regex, String> {
    RegexBuilder::new(&translate(source))
        .size_limit(SIZE_LIMIT)
        .nest_limit(NEST_LIMIT)
        .build()
        .map_err(|error| format!("error parsing regexp: {}", go_reason(source, &error)))
}

/// An expression in Go's dialect as the regex crate would have it. It need not be one that can be compiled.
#[must_use]
pub fn translate(source: &str) -> String {
    Translator { chars: source.chars().collect(), at: 0, out: String::new() }.run()
}

/// Go names the kind of fault and repeats the text at fault; the regex crate prints several lines.
fn go_reason(source: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
    match last {
        l if l.contains("unclosed group") => format!("missing closing ): `{source}`"),
        l if l.contains("unopened group") => format!("unexpected ): `{source}`"),
        l if l.contains("unclosed character class") => {
            format!("missing closing ]: `{}`", source.rfind('[').map_or(source, |at| &source[at..]))
        }
        l if l.contains("repetition operator missing expression") => {
            let at = source.find(['*', '+', '?']).unwrap_or(0);
            format!("missing argument to repetition operator: `{}`", &source[at..(at + 1).min(source.len())])
        }
        l if l.contains("look-around") => {
            let at = source.find("(?").unwrap_or(0);
            format!(
                "invalid or unsupported Perl syntax: `{}`",
                source[at..].chars().take(3).collect::<String>()
            )
        }
        l if l.contains("incomplete escape") => "trailing backslash at end of expression: ``".to_owned(),
        l if l.contains("unrecognized escape") || l.contains("backreferences") => {
            let at = source.find('\\').unwrap_or(0);
            format!("invalid escape sequence: `{}`", source[at..].chars().take(2).collect::<String>())
        }
        l => format!("{l}: `{source}`"),
    }
}

struct Translator {
    chars: Vec<char>,
    at: usize,
    out: String,
}

impl Translator {
    fn run(mut self) -> String {
        while let Some(c) = self.next() {
            match c {
                '\\' => self.escape(false),
                '[' => self.class(),
                '{' if !self.opens_repetition() => self.out.push_str("\\{"),
                '{' => self.repetition(),
                '}' => self.out.push_str("\\}"),
                c => self.out.push(c),
            }
        }
        self.out
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn opens_repetition(&self) -> bool {
        let mut rest = self.chars[self.at..].iter();
        let mut digits = 0;
        let mut commas = 0;
        loop {
            match rest.next() {
                Some(c) if c.is_ascii_digit() => digits += 1,
                Some(',') if digits > 0 && commas == 0 => commas += 1,
                Some('}') => return digits > 0,
                _ => return false,
            }
        }
    }

    fn repetition(&mut self) {
        self.out.push('{');
        self.braces();
    }

    /// Copies up to the closing brace.
    fn braces(&mut self) {
        while let Some(c) = self.next() {
            self.out.push(c);
            if c == '}' {
                break;
            }
        }
    }

    fn escape(&mut self, in_class: bool) {
        let Some(c) = self.next() else {
            self.out.push('\\');
            return;
        };
        match (c, in_class) {
            ('d', false) => self.out.push_str("[0-9]"),
            ('d', true) => self.out.push_str("0-9"),
            ('D', _) => self.out.push_str("[^0-9]"),
            ('w', false) => self.out.push_str("[0-9A-Za-z_]"),
            ('w', true) => self.out.push_str("0-9A-Za-z_"),
            ('W', _) => self.out.push_str("[^0-9A-Za-z_]"),
            ('s', false) => self.out.push_str("[\\t\\n\\x0C\\r ]"),
            ('s', true) => self.out.push_str("\\t\\n\\x0C\\r "),
            ('S', _) => self.out.push_str("[^\\t\\n\\x0C\\r ]"),
            ('b', false) => self.out.push_str("(?-u:\\b)"),
            ('B', false) => self.out.push_str("(?-u:\\B)"),
            ('Q', _) => self.quoted(),
            ('<' | '>', _) => self.out.push(c),
            ('p' | 'P' | 'x', _) if self.peek(0) == Some('{') => {
                self.out.push('\\');
                self.out.push(c);
                self.braces();
            }
            (c, _) => {
                self.out.push('\\');
                self.out.push(c);
            }
        }
    }

    fn quoted(&mut self) {
        while let Some(c) = self.next() {
            if c == '\\' && self.peek(0) == Some('E') {
                self.at += 1;
                return;
            }
            self.out.push_str(&regex::escape(&c.to_string()));
        }
    }

    fn class(&mut self) {
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.at += 1;
            self.out.push('^');
        }
        let mut first = true;
        while let Some(c) = self.next() {
            match c {
                ']' if !first => {
                    self.out.push(']');
                    return;
                }
                ']' => self.out.push_str("\\]"),
                '\\' => self.escape(true),
                '[' if self.peek(0) == Some(':') => self.posix(),
                '[' => self.out.push_str("\\["),
                '&' | '~' => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '-' if self.peek(0) == Some('-') => self.out.push_str("\\-"),
                c => self.out.push(c),
            }
            first = false;
        }
    }

    fn posix(&mut self) {
        self.out.push('[');
        while let Some(c) = self.next() {
            self.out.push(c);
            if c == ']' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_dialect_is_understood() {
        for (pattern, text, matches) in [
            ("^[a-z]+$", "abc", true),
            (r"^\d+$", "٣", false),
            (r"^\w$", "é", false),
            ("^[[]$", "[", true),
            ("^[]a]$", "]", true),
            ("^[a&&b]+$", "a&b", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            ("^{a}$", "{a}", true),
            ("^a{2,3}$", "aa", true),
            ("^[[:alpha:]]+$", "ab", true),
            (r"^\pL+$", "é", true),
            (r"^\p{Greek}+[^\P{L}]$", "αβγ", true),
            (r"^\x{1F600}[\x{e9}]$", "😀é", true),
            (r"^[\w.-]+$", "a.b-c", true),
        ] {
            assert_eq!(Pattern::new(pattern).is_match(text), Ok(matches), "{pattern} on {text}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (pattern, reason) in [
            ("(", "error parsing regexp: missing closing ): `(`"),
            ("*", "error parsing regexp: missing argument to repetition operator: `*`"),
            ("a[", "error parsing regexp: missing closing ]: `[`"),
            ("(?=a)", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
        ] {
            assert_eq!(Pattern::new(pattern).error(), Some(reason));
        }
    }

    #[test]
    fn huge_expressions_are_refused_not_run() {
        assert!(compile(&format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000))).is_err());
        assert!(compile("((a{1000}){1000}){1000}").is_err());
    }
}
