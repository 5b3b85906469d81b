//! Scans arguments of markers as controller-gen does (`pkg/markers/parse.go` of controller-tools, on top of
//! Go's `text/scanner`): bare, quoted and raw strings, `a;b` and `{a, b}`, `{key: value}`.

use std::ops::Range;

use crate::grammar::{Json, Number};

/// Deepest nesting of lists and maps, which no schema exceeds; more would overflow the stack.
const MAX_DEPTH: usize = 64;

/// The declared or guessed type of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Int,
    Number,
    String,
    Bool,
    /// Guessed from the text.
    Any,
    Slice(Box<Type>),
    /// Names with values of any type.
    Map,
}

/// An error and its place in the marker's text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ScanError {
    pub(super) message: String,
    pub(super) range: Range<usize>,
}

type Result<T> = std::result::Result<T, ScanError>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Ident,
    Int,
    Float,
    /// What begins like a number and is none in Go, such as `08`, `0x` and `1__0`.
    NoNumber,
    /// In double quotes.
    Quoted,
    /// In backticks.
    Raw,
    Char(char),
    End,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    range: Range<usize>,
}

/// Reads arguments from a marker's text.
#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at a byte of the text.
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, depth: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// The next character after spaces.
    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Whether the text is exhausted.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The rest of the text, with its place.
    pub(super) fn remainder(&mut self) -> (&'a str, Range<usize>) {
        self.skip_space();
        let rest = self.rest().trim_end();
        (rest, self.at..self.at + rest.len())
    }

    /// Skips the rest of the text.
    pub(super) fn skip_to_end(&mut self) {
        self.at = self.text.len();
    }

    /// Consumes this character if it is next.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// An argument's name and its place.
    pub(super) fn name(&mut self) -> Result<(&'a str, Range<usize>)> {
        let token = self.next()?;
        match token.kind {
            Kind::Ident => Ok((&self.text[token.range.clone()], token.range)),
            _ => Err(self.unexpected(&token, "the name of an argument")),
        }
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.take(wanted) {
            return Ok(());
        }
        let token = self.next()?;
        Err(self.unexpected(&token, &format!("`{wanted}`")))
    }

    fn unexpected(&self, token: &Token, wanted: &str) -> ScanError {
        let found = match &self.text[token.range.clone()] {
            "" => "the end of the line".to_owned(),
            text => format!("`{text}`"),
        };
        ScanError { message: format!("expected {wanted}, found {found}"), range: token.range.clone() }
    }

    fn next(&mut self) -> Result<Token> {
        self.skip_space();
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Token { kind: Kind::End, range: start..start });
        };
        let followed_by_digit = rest[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
        let (kind, length) = match first {
            c if c.is_alphabetic() || c == '_' => {
                (Kind::Ident, length_while(rest, |c| c.is_alphanumeric() || c == '_'))
            }
            c if c.is_ascii_digit() || (c == '.' && followed_by_digit) => number(rest),
            '"' => (Kind::Quoted, quoted(rest).ok_or_else(|| not_terminated(start, rest))?),
            '`' => {
                let end = rest[1..].find('`').ok_or_else(|| not_terminated(start, rest))?;
                (Kind::Raw, end + 2)
            }
            c => (Kind::Char(c), c.len_utf8()),
        };
        self.at += length;
        Ok(Token { kind, range: start..self.at })
    }

    /// Reads a value of this type.
    pub(super) fn value(&mut self, ty: &Type) -> Result<(Json, Range<usize>)> {
        self.skip_space();
        let start = self.at;
        // An argument without a value, which controller-gen takes to begin with the delimiter.
        if *ty == Type::String && self.peek().is_some_and(|c| matches!(c, ',' | ';' | '}')) {
            return Ok((Json::String(String::new()), start..start));
        }
        let json = self.parse(ty, false)?;
        let end = start + self.text[start..self.at].trim_end().len();
        Ok((json, start..end))
    }

    fn parse(&mut self, ty: &Type, in_slice: bool) -> Result<Json> {
        if self.depth >= MAX_DEPTH {
            let message = format!("at most {MAX_DEPTH} levels of lists and maps are read");
            return Err(ScanError { message, range: self.at..self.text.len() });
        }
        self.depth += 1;
        let json = match ty {
            Type::Int | Type::Number => self.number(ty),
            Type::String => self.string(false).map(Json::String),
            Type::Bool => self.boolean(),
            Type::Any => {
                let guessed = self.guess(!in_slice)?;
                // A guessed list is parsed as a list, even inside a list.
                self.parse(&guessed, false)
            }
            Type::Slice(item) => self.slice(item),
            Type::Map => self.map(),
        };
        self.depth -= 1;
        json
    }

    fn number(&mut self, ty: &Type) -> Result<Json> {
        let start = {
            self.skip_space();
            self.at
        };
        let negative = self.take('-');
        let token = self.next()?;
        let fits = match token.kind {
            Kind::Int => true,
            Kind::Float => *ty == Type::Number,
            _ => false,
        };
        if !fits {
            let wanted = if *ty == Type::Int { "an integer" } else { "a number" };
            return Err(self.unexpected(&token, wanted));
        }
        let digits = &self.text[token.range.clone()];
        let text = if negative { format!("-{digits}") } else { digits.to_owned() };
        // Of Go's ways to write a number, `strconv.Atoi` takes decimal digits alone, and `ParseFloat` also `_`.
        let plain = if *ty == Type::Number { text.replace('_', "") } else { text.clone() };
        let number = match plain.parse::<i64>() {
            Ok(n) => Some(Number::Int(n)),
            Err(_) => plain.parse::<f64>().ok().filter(|f| f.is_finite()).map(Number::Float),
        };
        let whole = |number: &Number| *ty == Type::Number || matches!(number, Number::Int(_));
        number.filter(whole).map(Json::Number).ok_or_else(|| ScanError {
            message: format!("`{text}` is not a decimal number of 64 bits"),
            range: start..token.range.end,
        })
    }

    fn boolean(&mut self) -> Result<Json> {
        let token = self.next()?;
        match &self.text[token.range.clone()] {
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            _ => Err(self.unexpected(&token, "`true` or `false`")),
        }
    }

    /// A quoted or raw string, or the bare tokens up to a delimiter; a delimiter that comes first is part of the string.
    fn string(&mut self, in_map: bool) -> Result<String> {
        self.skip_space();
        let start = self.at;
        let is_delimiter = |c: char| matches!(c, ',' | ';' | '}') || (in_map && c == ':');
        let token = self.next()?;
        match token.kind {
            Kind::Quoted => {
                return unquote(&self.text[token.range.clone()]).ok_or_else(|| ScanError {
                    message: "the string has an escape that Go does not know".to_owned(),
                    range: token.range.clone(),
                });
            }
            Kind::Raw => return Ok(self.text[token.range.start + 1..token.range.end - 1].to_owned()),
            _ => {}
        }
        let mut end = token.range.end;
        while self.peek().is_some_and(|c| !is_delimiter(c)) {
            end = self.next()?.range.end;
        }
        self.at = end;
        Ok(self.text[start..end].to_owned())
    }

    fn slice(&mut self, item: &Type) -> Result<Json> {
        let mut items = Vec::new();
        if self.take('{') {
            while self.peek().is_some_and(|c| c != '}') {
                items.push(self.parse(item, true)?);
                if self.peek() == Some('}') {
                    break;
                }
                self.expect(',')?;
            }
            self.expect('}')?;
            return Ok(Json::Array(items));
        }
        while self.peek().is_some_and(|c| !matches!(c, ',' | '}')) {
            items.push(self.parse(item, true)?);
            if self.peek().is_none_or(|c| matches!(c, ',' | '}')) {
                break;
            }
            self.expect(';')?;
        }
        Ok(Json::Array(items))
    }

    fn map(&mut self) -> Result<Json> {
        let mut members: Vec<(String, Json)> = Vec::new();
        self.expect('{')?;
        while self.peek().is_some_and(|c| c != '}') {
            let start = self.at;
            let name = self.string(true)?;
            if members.iter().any(|(other, _)| *other == name) {
                let message = format!("the member {name:?} is given twice");
                return Err(ScanError { message, range: start..self.at });
            }
            if self.peek() == Some(']') {
                let message = "a list in a map is written `{a, b}`, not `[a, b]`".to_owned();
                return Err(ScanError { message, range: self.at..self.at + 1 });
            }
            self.expect(':')?;
            members.push((name, self.parse(&Type::Any, false)?));
            if self.peek() == Some('}') {
                break;
            }
            self.expect(',')?;
        }
        self.expect('}')?;
        Ok(Json::Object(members))
    }

    /// Guesses the type of the next value.
    fn guess(&self, allow_slice: bool) -> Result<Type> {
        if allow_slice {
            let item = self.guess(false)?;
            let mut ahead = self.clone();
            loop {
                match ahead.next().map(|token| token.kind) {
                    Ok(Kind::Char(';')) => return Ok(Type::Slice(Box::new(item))),
                    Ok(Kind::Char(',') | Kind::End) | Err(_) => return Ok(item),
                    Ok(_) => {}
                }
            }
        }
        let mut ahead = self.clone();
        match ahead.peek() {
            Some('"' | '\'' | '`') => return Ok(Type::String),
            Some('{') => return ahead.guess_braces(),
            _ => {}
        }
        let mut token = ahead.next()?;
        match &self.text[token.range.clone()] {
            "true" | "false" => return Ok(Type::Bool),
            "-" => token = ahead.next()?,
            _ => {}
        }
        let alone = ahead.peek().is_none_or(|c| matches!(c, ',' | ';' | '}'));
        Ok(match token.kind {
            Kind::Int if alone => Type::Int,
            Kind::Float if alone => Type::Number,
            _ => Type::String,
        })
    }

    /// Guesses the type in braces: a map if a colon follows the first string, else a list.
    fn guess_braces(&mut self) -> Result<Type> {
        if self.depth >= MAX_DEPTH {
            return Ok(Type::String);
        }
        self.depth += 1;
        self.take('{');
        if self.peek() == Some('}') {
            return Ok(Type::Map);
        }
        let first = self.guess(false)?;
        if first == Type::String {
            self.string(true)?;
            if self.peek() == Some(':') {
                return Ok(Type::Map);
            }
        }
        Ok(Type::Slice(Box::new(first)))
    }
}

fn not_terminated(start: usize, rest: &str) -> ScanError {
    ScanError { message: "the string is not closed".to_owned(), range: start..start + rest.trim_end().len() }
}

fn length_while(text: &str, keep: impl Fn(char) -> bool) -> usize {
    text.find(|c| !keep(c)).unwrap_or(text.len())
}

/// Length of a string in double quotes; `None`: unclosed.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A number as Go's `text/scanner` delimits it (`scanNumber`): with a prefix for other bases, and `_` between digits.
fn number(text: &str) -> (Kind, usize) {
    let base = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => 10,
    };
    let start = if base == 10 { 0 } else { 2 };
    let digits =
        |from: usize, base: u32| from + length_while(&text[from..], |c| c == '_' || c.is_digit(base.max(10)));
    let whole = digits(start, base);
    let mut end = if text[whole..].starts_with('.') { digits(whole + 1, base) } else { whole };
    let has_exponent = text[end..].starts_with(['e', 'E', 'p', 'P']);
    if has_exponent {
        end = digits(end + 1 + usize::from(text[end + 1..].starts_with(['+', '-'])), 10);
    }
    let is_float = end > whole;
    let is_octal = !is_float && whole > 1 && text.starts_with('0');
    let base = if base == 10 && is_octal { 8 } else { base };
    // `_` may follow the prefix, and a fraction may lack digits on one side.
    let after_prefix = text[start..end].strip_prefix('_').filter(|_| start > 0).unwrap_or(&text[start..end]);
    let is_number = |part: &str| {
        part.split('_').all(|group| !group.is_empty() && group.chars().all(|c| c.is_digit(base)))
    };
    let is_valid = match (is_float, base) {
        (false, _) => is_number(after_prefix),
        (true, 10) => {
            after_prefix.split(['.', 'e', 'E', '+', '-']).all(|part| part.is_empty() || is_number(part))
                && (!has_exponent || text[..end].ends_with(|c: char| c.is_ascii_digit()))
        }
        // Only base 16 has fractions, which `p` must end.
        (true, base) => base == 16 && has_exponent && text[..end].ends_with(|c: char| c.is_ascii_digit()),
    };
    let kind = if is_float { Kind::Float } else { Kind::Int };
    (if is_valid { kind } else { Kind::NoNumber }, end)
}

/// The value of a Go literal in double quotes; `None` for other literals.
pub fn unquoted(literal: &str) -> Option<String> {
    (literal.len() > 1 && literal.starts_with('"') && literal.ends_with('"'))
        .then(|| unquote(literal))
        .flatten()
}

/// The value of a Go string in double quotes; `None`: an escape is invalid.
fn unquote(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = &text[1..text.len() - 1];
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let (length, bytes) = escape(&rest[at + 1..])?;
        out.extend(bytes);
        rest = &rest[at + 1 + length..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8(out).ok()
}

/// The length of an escape without its backslash, and its value.
fn escape(text: &str) -> Option<(usize, Vec<u8>)> {
    let digits = |from: usize, count: usize, radix: u32| {
        text.get(from..from + count).and_then(|digits| u32::from_str_radix(digits, radix).ok())
    };
    let character = |count: usize| {
        let c = char::from_u32(digits(1, count, 16)?)?;
        Some((1 + count, c.to_string().into_bytes()))
    };
    let byte = match text.chars().next()? {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '"' => b'"',
        'x' => return Some((3, vec![u8::try_from(digits(1, 2, 16)?).ok()?])),
        '0'..='7' => return Some((3, vec![u8::try_from(digits(0, 3, 8)?).ok()?])),
        'u' => return character(4),
        'U' => return character(8),
        _ => return None,
    };
    Some((1, vec![byte]))
}

#[cfg(test)]
mod tests;
