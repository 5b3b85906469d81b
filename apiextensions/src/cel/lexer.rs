//! Tokens.

use std::sync::Arc;

use super::ast::Literal;
use super::issue::Issue;

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) at: usize,
    /// The text, for messages.
    pub(super) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Ident(String),
    /// An identifier in backticks, for fields only.
    Quoted(String),
    Literal(Literal),
    /// A decimal integer too large for an int unless negated.
    MinInt,
    Punct(&'static str),
    End,
}

/// The lexer stops after this many unknown characters.
const MAX_ISSUES: usize = 20;

const PUNCTUATION: [&str; 25] = [
    "&&", "||", "==", "!=", "<=", ">=", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%", "<", ">", "in",
];

/// Splits a text into tokens, the last of which is [`TokenKind::End`]. Reports and skips unknown characters.
pub(super) fn tokens(source: &str) -> (Vec<Token>, Vec<Issue>) {
    let mut lexer = Lexer { chars: source.chars().collect(), at: 0, fault: None };
    let mut tokens = Vec::new();
    let mut issues = Vec::new();
    loop {
        lexer.skip_blank();
        let at = lexer.at;
        match lexer.token() {
            Ok(kind) => {
                let text: String = lexer.chars[at..lexer.at].iter().collect();
                let done = kind == TokenKind::End;
                if let Some(message) = lexer.fault.take() {
                    issues.push(Issue { position: at, message: message.to_owned() });
                }
                tokens.push(Token { kind, at, text: if done { "<EOF>".to_owned() } else { text } });
                if done {
                    break;
                }
            }
            Err(message) => {
                issues.push(Issue { position: at, message });
                if issues.len() > MAX_ISSUES {
                    lexer.at = lexer.chars.len();
                }
            }
        }
    }
    (tokens, issues)
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    /// The reason why a well-formed literal has no value.
    fault: Option<&'static str>,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip_blank(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('\t' | ' ' | '\r' | '\n' | '\u{c}'), _) => self.at += 1,
                (Some('/'), Some('/')) => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn token(&mut self) -> Result<TokenKind, String> {
        let Some(first) = self.peek(0) else { return Ok(TokenKind::End) };
        if let Some(kind) = self.string()? {
            return Ok(kind);
        }
        let digit_after_dot = first == '.' && self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if first.is_ascii_digit() || digit_after_dot {
            return self.number();
        }
        if first == '_' || first.is_ascii_alphabetic() {
            return Ok(self.word());
        }
        if first == '`' {
            return self.backticks();
        }
        for punct in PUNCTUATION.iter().filter(|p| **p != "in") {
            if punct.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c)) {
                self.at += punct.len();
                return Ok(TokenKind::Punct(punct));
            }
        }
        self.at += 1;
        // The message includes the character that does not continue the token.
        let next = self.peek(0).filter(|_| matches!(first, '=' | '&' | '|'));
        self.at += usize::from(next.is_some());
        let text: String = std::iter::once(first).chain(next).collect();
        Err(format!("Syntax error: token recognition error at: '{text}'"))
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c == '_' || c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        let word: String = self.chars[start..self.at].iter().collect();
        match word.as_str() {
            "true" => TokenKind::Literal(Literal::Bool(true)),
            "false" => TokenKind::Literal(Literal::Bool(false)),
            "null" => TokenKind::Literal(Literal::Null),
            "in" => TokenKind::Punct("in"),
            _ => TokenKind::Ident(word),
        }
    }

    fn backticks(&mut self) -> Result<TokenKind, String> {
        let start = self.at + 1;
        self.at += 1;
        while let Some(c) = self.peek(0) {
            self.at += 1;
            if c == '`' {
                return Ok(TokenKind::Quoted(self.chars[start..self.at - 1].iter().collect()));
            }
            if !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' ')) {
                break;
            }
        }
        Err("Syntax error: token recognition error at: '`'".to_owned())
    }

    fn digits(&mut self, radix: u32) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(|c| c.is_digit(radix)) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn unsigned_suffix(&mut self) -> bool {
        let found = matches!(self.peek(0), Some('u' | 'U'));
        self.at += usize::from(found);
        found
    }

    fn number(&mut self) -> Result<TokenKind, String> {
        let hex = self.peek(0) == Some('0') && self.peek(1) == Some('x');
        if hex && self.peek(2).is_some_and(|c| c.is_ascii_hexdigit()) {
            self.at += 2;
            let digits = self.digits(16);
            return self.integer(&digits, 16);
        }
        let whole = self.digits(10);
        let mut text = whole.clone();
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            text = format!("{}.{}", if whole.is_empty() { "0" } else { &whole }, self.digits(10));
        }
        if matches!(self.peek(0), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.peek(1), Some('+' | '-')));
            if self.peek(1 + sign).is_some_and(|c| c.is_ascii_digit()) {
                text.push('e');
                if self.peek(1) == Some('-') {
                    text.push('-');
                }
                self.at += 1 + sign;
                text.push_str(&self.digits(10));
            }
        }
        if text == whole {
            return self.integer(&whole, 10);
        }
        let value: f64 = text.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            self.fault = Some("invalid double literal");
        }
        Ok(TokenKind::Literal(Literal::Double(value)))
    }

    fn integer(&mut self, digits: &str, radix: u32) -> Result<TokenKind, String> {
        if self.unsigned_suffix() {
            let value = u64::from_str_radix(digits, radix).ok();
            self.fault = if value.is_none() { Some("invalid uint literal") } else { None };
            return Ok(TokenKind::Literal(Literal::Uint(value.unwrap_or(0))));
        }
        Ok(match i64::from_str_radix(digits, radix) {
            Ok(i) => TokenKind::Literal(Literal::Int(i)),
            Err(_) if u64::from_str_radix(digits, radix) == Ok(1 << 63) => TokenKind::MinInt,
            Err(_) => {
                self.fault = Some("invalid int literal");
                TokenKind::Literal(Literal::Int(0))
            }
        })
    }

    /// A string or bytes literal with its prefixes; None if there is none here.
    fn string(&mut self) -> Result<Option<TokenKind>, String> {
        let (mut raw, mut bytes, mut length) = (false, false, 0);
        while let Some(c) = self.peek(length) {
            match c {
                'r' | 'R' if !raw => raw = true,
                // `b` comes before `r`.
                'b' | 'B' if length == 0 => bytes = true,
                '"' | '\'' => break,
                _ => return Ok(None),
            }
            length += 1;
        }
        let Some(quote) = self.peek(length) else { return Ok(None) };
        let start = self.at;
        self.at += length;
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let width = if triple { 3 } else { 1 };
        self.at += width;
        let mut content = Content { bytes: Vec::new(), as_bytes: bytes };
        loop {
            let closed = (0..width).all(|i| self.peek(i) == Some(quote));
            match self.peek(0) {
                _ if closed => break,
                None => {
                    self.at = self.chars.len();
                    return Err(self.unterminated(start));
                }
                Some('\n' | '\r') if !triple => return Err(self.unterminated(start)),
                Some('\\') if raw => {
                    content.char('\\');
                    self.at += 1;
                    // A quote after a backslash does not end a raw string.
                    if let Some(c) = self.peek(0).filter(|c| *c == quote || *c == '\\') {
                        content.char(c);
                        self.at += 1;
                    }
                }
                Some('\\') => self.escape(&mut content)?,
                Some(c) => {
                    content.char(c);
                    self.at += 1;
                }
            }
        }
        self.at += width;
        Ok(Some(TokenKind::Literal(content.literal()?)))
    }

    fn unterminated(&self, start: usize) -> String {
        let text: String = self.chars[start..self.at].iter().collect();
        format!("Syntax error: token recognition error at: '{text}'")
    }

    fn escape(&mut self, content: &mut Content) -> Result<(), String> {
        self.at += 1;
        let Some(c) = self.peek(0) else { return Err("unable to unescape string".to_owned()) };
        self.at += 1;
        let simple = match c {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '`' | '?' => c,
            'x' | 'X' => return self.code(2, 16, content),
            'u' => return self.code(4, 16, content),
            'U' => return self.code(8, 16, content),
            '0'..='3' => {
                self.at -= 1;
                return self.code(3, 8, content);
            }
            _ => return Err("unable to unescape string".to_owned()),
        };
        content.char(simple);
        Ok(())
    }

    fn code(&mut self, width: usize, radix: u32, content: &mut Content) -> Result<(), String> {
        let bad = || "unable to unescape string".to_owned();
        let digits: String = self.chars.get(self.at..self.at + width).ok_or_else(bad)?.iter().collect();
        let code = u32::from_str_radix(&digits, radix).map_err(|_| bad())?;
        self.at += width;
        match (content.as_bytes, u8::try_from(code), char::from_u32(code)) {
            (true, Ok(byte), _) if width < 4 => content.bytes.push(byte),
            // Escapes of characters are invalid in bytes.
            (true, ..) => self.fault = Some("unable to unescape string"),
            (false, _, Some(c)) => content.char(c),
            (false, _, None) => self.fault = Some("invalid unicode code point"),
        }
        Ok(())
    }
}

struct Content {
    bytes: Vec<u8>,
    as_bytes: bool,
}

impl Content {
    fn char(&mut self, c: char) {
        self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn literal(self) -> Result<Literal, String> {
        if self.as_bytes {
            return Ok(Literal::Bytes(Arc::from(self.bytes)));
        }
        match String::from_utf8(self.bytes) {
            Ok(text) => Ok(Literal::String(Arc::from(text))),
            Err(_) => Err("unable to unescape string".to_owned()),
        }
    }
}
