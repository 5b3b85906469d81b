//! Cuts a Go file into its declarations by Go's lexical rules, far faster than a parser reads them.
//!
//! Semicolons are inserted as in <https://go.dev/ref/spec#Semicolons>. What stands in brackets below the level of
//! declarations is skipped, apart from its strings and comments.

use super::syntax::{Place, Word};

/// Kinds of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// `package p`
    Package,
    /// `import "a"`
    Import,
    /// `const A = 1`
    Const,
    /// `type A B`
    Type,
    /// `var a = 1`
    Var,
    /// `func f() {}`
    Func,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declaration {
    /// Its kind.
    pub(super) keyword: Keyword,
    /// Its position, without comments around it.
    pub(super) place: Place,
    /// The end of the line break or semicolon after it, which at the end of a file may be missing.
    pub(super) terminated: usize,
    /// The position of the type of a method's receiver.
    pub(super) receiver: Option<Place>,
    /// Whether it has several parts in parentheses.
    pub(super) is_group: bool,
    /// The end of the declaration before it.
    pub(super) after: usize,
    /// Its types, or the one that it names first.
    pub(super) parts: Vec<Part>,
}

/// A part of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its name.
    pub(super) name: Place,
    /// Its start, where comments before it end.
    pub(super) start: usize,
    /// The end of the part or declaration before it.
    pub(super) after: usize,
}

/// A file that was cut.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Its declarations, in source order.
    pub(super) declarations: Vec<Declaration>,
    /// Its comments, without those in functions and variables, which belong to nothing.
    pub(super) comments: Vec<Place>,
    /// What is no declaration or does not end.
    pub(super) errors: Vec<Place>,
}

/// Cuts a text.
pub(super) fn cut(text: &str) -> Cut {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, ends: false, cut: Cut::default() };
    loop {
        let (token, place) = scanner.next();
        match token {
            Token::End => return scanner.cut,
            Token::Break => {}
            Token::Word => match keyword(&text[place.clone()]) {
                Some(keyword) => scanner.declaration(keyword, place),
                None => scanner.unknown(place),
            },
            _ => scanner.unknown(place),
        }
    }
}

/// The name in a text at a place.
pub(super) fn word(text: &str, place: &Place) -> Word {
    Word { text: text.get(place.clone()).unwrap_or_default().to_string(), place: place.clone() }
}

fn keyword(word: &str) -> Option<Keyword> {
    Some(match word {
        "package" => Keyword::Package,
        "import" => Keyword::Import,
        "const" => Keyword::Const,
        "type" => Keyword::Type,
        "var" => Keyword::Var,
        "func" => Keyword::Func,
        _ => return None,
    })
}

/// Keywords after which a line goes on.
const GOING_ON: [&[u8]; 21] = [
    b"case",
    b"chan",
    b"const",
    b"default",
    b"defer",
    b"else",
    b"for",
    b"func",
    b"go",
    b"goto",
    b"if",
    b"import",
    b"interface",
    b"map",
    b"package",
    b"range",
    b"select",
    b"struct",
    b"switch",
    b"type",
    b"var",
];

/// Kinds of tokens at the level of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A name, a keyword or a number.
    Word,
    /// A text, or a number that begins with a point.
    Literal,
    /// `(`, `[` or `{`
    Open,
    /// `)`, `]` or `}`
    Close,
    /// `;`, or a line break that is one.
    Break,
    /// Another character.
    Other,
    /// The end of the text.
    End,
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Whether a line break ends the statement.
    ends: bool,
    cut: Cut,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token.
    fn next(&mut self) -> (Token, Place) {
        loop {
            let start = self.at;
            let Some(byte) = self.bytes.get(start).copied() else { return (Token::End, start..start) };
            self.at += 1;
            let token = match byte {
                b' ' | b'\t' | b'\r' => continue,
                b'\n' if !self.ends => continue,
                b'\n' | b';' => Token::Break,
                b'/' if matches!(self.peek(0), b'/' | b'*') => {
                    self.comment(start);
                    self.cut.comments.push(start..self.at);
                    // A comment of several lines is a line break.
                    if self.ends && self.bytes[start..self.at].contains(&b'\n') {
                        Token::Break
                    } else {
                        continue;
                    }
                }
                b'"' | b'`' | b'\'' => {
                    self.text(start);
                    Token::Literal
                }
                b'0'..=b'9' => self.number(Token::Word),
                b'.' if self.peek(0).is_ascii_digit() => self.number(Token::Literal),
                _ if is_word(byte) => {
                    while is_word(self.peek(0)) {
                        self.at += 1;
                    }
                    Token::Word
                }
                b'(' | b'[' | b'{' => Token::Open,
                b')' | b']' | b'}' => Token::Close,
                _ => Token::Other,
            };
            self.ends = match token {
                Token::Word => !GOING_ON.contains(&&self.bytes[start..self.at]),
                Token::Literal | Token::Close => true,
                _ => false,
            };
            return (token, start..self.at);
        }
    }

    /// Moves past a number: `1.5e+3`.
    fn number(&mut self, token: Token) -> Token {
        while is_word(self.peek(0)) || self.peek(0) == b'.' {
            let is_exponent = matches!(self.peek(0), b'e' | b'E' | b'p' | b'P');
            self.at += 1 + usize::from(is_exponent && matches!(self.peek(1), b'+' | b'-'));
        }
        token
    }

    /// Moves past a comment.
    fn comment(&mut self, start: usize) {
        let rest = &self.bytes[start + 2..];
        let is_line = self.bytes[start + 1] == b'/';
        let length = if is_line {
            memchr::memchr(b'\n', rest)
        } else {
            memchr::memmem::find(rest, b"*/").map(|length| length + 2)
        };
        if length.is_none() && !is_line {
            self.cut.errors.push(start..start + 2);
        }
        self.at = start + 2 + length.unwrap_or(rest.len());
    }

    /// Moves past a text in quotes, which ends on its line unless the quotes are backquotes.
    fn text(&mut self, start: usize) {
        let quote = self.bytes[start];
        while let Some(byte) = self.bytes.get(self.at).copied() {
            match byte {
                b'\\' if quote != b'`' && self.peek(1) != b'\n' => self.at += 1,
                b'\n' if quote != b'`' => break,
                _ => {}
            }
            self.at += 1;
            if byte == quote {
                return;
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.cut.errors.push(start..start + 1);
    }

    /// Moves past the bracket that belongs to an open one.
    fn brackets(&mut self, open: usize) {
        let mut depth = 1;
        while let Some(skipped) = self.bytes[self.at..].iter().position(|byte| IS_MARK[usize::from(*byte)]) {
            let start = self.at + skipped;
            self.at = start + 1;
            match self.bytes[start] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b'/' if matches!(self.peek(0), b'/' | b'*') => {
                    self.comment(start);
                    self.cut.comments.push(start..self.at);
                }
                b'/' => {}
                _ => self.text(start),
            }
            if depth == 0 {
                self.ends = true;
                return;
            }
        }
        self.at = self.bytes.len();
        self.cut.errors.push(open..open + 1);
    }

    /// Moves to the end of a statement, and returns its end. In a group, a closing bracket ends it, too.
    fn rest(&mut self, mut end: usize, is_group: bool) -> usize {
        loop {
            let before = (self.at, self.ends, self.cut.comments.len());
            let (token, place) = self.next();
            match token {
                Token::Break => return end,
                Token::Open => self.brackets(place.start),
                Token::End => return end,
                Token::Close if is_group => {
                    (self.at, self.ends) = (before.0, before.1);
                    self.cut.comments.truncate(before.2);
                    return end;
                }
                Token::Close => self.cut.errors.push(place),
                _ => {}
            }
            end = self.at;
        }
    }

    /// Reports what is no declaration.
    fn unknown(&mut self, place: Place) {
        if self.bytes[place.start..place.end].iter().all(|byte| matches!(byte, b'(' | b'[' | b'{')) {
            self.brackets(place.start);
        }
        let end = self.rest(place.end, false);
        self.cut.errors.push(place.start..end);
    }

    /// Reads a declaration after its keyword.
    fn declaration(&mut self, keyword: Keyword, place: Place) {
        let after = self.cut.declarations.last().map_or(0, |last| last.place.end);
        let own = self.cut.comments.len();
        let (mut token, mut first) = self.next();
        let mut receiver = None;
        if keyword == Keyword::Func && token == Token::Open {
            receiver = self.receiver(first.start);
            (token, first) = self.next();
        }
        let is_group = token == Token::Open
            && matches!(keyword, Keyword::Import | Keyword::Const | Keyword::Type | Keyword::Var);
        let mut parts = Vec::new();
        let end = match token {
            Token::Break | Token::End => place.end,
            Token::Open if keyword == Keyword::Type => self.group(first.end, &mut parts),
            Token::Open if is_group => {
                self.brackets(first.start);
                self.at
            }
            Token::Word => {
                parts.push(Part { name: first.clone(), start: place.start, after });
                first.end
            }
            _ => first.end,
        };
        if parts.is_empty() && !is_group && keyword != Keyword::Import {
            self.cut.errors.push(place.start..end);
        }
        let end = if matches!(token, Token::Break | Token::End) { end } else { self.rest(end, false) };
        if matches!(keyword, Keyword::Func | Keyword::Var) {
            let inner = self.cut.comments[own..].partition_point(|comment| comment.start < end);
            self.cut.comments.drain(own..own + inner);
        }
        let place = place.start..end;
        let terminated = self.at + usize::from(self.at == self.bytes.len());
        let found = Declaration { keyword, place, terminated, receiver, is_group, after, parts };
        self.cut.declarations.push(found);
    }

    /// Reads the types in parentheses, and returns the end.
    fn group(&mut self, open: usize, parts: &mut Vec<Part>) -> usize {
        let mut after = open;
        loop {
            let (token, place) = self.next();
            match token {
                Token::Break => {}
                Token::Close => return place.end,
                Token::End => {
                    self.cut.errors.push(open - 1..open);
                    return place.end;
                }
                _ => {
                    if token == Token::Open {
                        self.brackets(place.start);
                    }
                    let end = self.rest(self.at, true);
                    parts.push(Part { start: place.start, name: place, after });
                    after = end;
                }
            }
        }
    }

    /// The type in the brackets of a receiver: the last name outside of further square ones.
    fn receiver(&mut self, open: usize) -> Option<Place> {
        let (mut depth, mut found) = (1, None);
        loop {
            let (token, place) = self.next();
            match token {
                Token::Open if self.bytes[place.start] == b'[' => self.brackets(place.start),
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::Word => found = Some(place),
                Token::End => {
                    self.cut.errors.push(open..open + 1);
                    return found;
                }
                _ => {}
            }
            if depth == 0 {
                return found;
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The bytes that matter in brackets.
const IS_MARK: [bool; 256] = {
    let mut out = [false; 256];
    let marks = b"()[]{}\"'`/";
    let mut at = 0;
    while at < marks.len() {
        out[marks[at] as usize] = true;
        at += 1;
    }
    out
};

#[cfg(test)]
mod tests;
