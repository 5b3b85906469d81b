//! The selector grammar and the rules for label keys and values.

use super::{Condition, Requirement};

/// A selector that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Something else stands where the grammar wants one of a few things.
    #[error("selector \"{text}\": found {found} at offset {offset}, expected {expected}")]
    Unexpected {
        /// The whole selector.
        text: String,
        /// Byte offset of what was found.
        offset: usize,
        /// What was found.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// A key that is no label key.
    #[error("\"{key}\" is no label key: {reason}")]
    Key {
        /// The key.
        key: String,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// A value that is no label value.
    #[error("\"{value}\" is no value of label \"{key}\": {reason}")]
    Value {
        /// The label.
        key: String,
        /// The value.
        value: String,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// An operator outside `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`.
    #[error("\"{operator}\" is no operator of a label selector (In, NotIn, Exists, DoesNotExist)")]
    Operator {
        /// The operator.
        operator: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Open,
    Close,
    Comma,
    Not,
    Equals,
    NotEquals,
    Greater,
    Less,
    End,
}

struct Lexer<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Lexer<'a> {
    /// The next token and where it starts.
    fn next(&mut self) -> (usize, Token<'a>) {
        let rest = &self.text[self.offset..];
        let start = self.offset + (rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len());
        let rest = &self.text[start..];
        let (length, token) = match rest.as_bytes() {
            [] => (0, Token::End),
            [b'(', ..] => (1, Token::Open),
            [b')', ..] => (1, Token::Close),
            [b',', ..] => (1, Token::Comma),
            [b'!', b'=', ..] => (2, Token::NotEquals),
            [b'!', ..] => (1, Token::Not),
            [b'=', b'=', ..] => (2, Token::Equals),
            [b'=', ..] => (1, Token::Equals),
            [b'>', ..] => (1, Token::Greater),
            [b'<', ..] => (1, Token::Less),
            _ => {
                let length = rest.find(is_special).unwrap_or(rest.len());
                (length, Token::Word(&rest[..length]))
            }
        };
        self.offset = start + length;
        (start, token)
    }

    fn peek(&self) -> Token<'a> {
        Lexer { text: self.text, offset: self.offset }.next().1
    }

    fn unexpected(&self, offset: usize, token: Token<'_>, expected: &'static str) -> ParseError {
        let found = match token {
            Token::End => "the end".to_owned(),
            Token::Word(word) => format!("\"{word}\""),
            _ => format!("\"{}\"", &self.text[offset..self.offset]),
        };
        ParseError::Unexpected { text: self.text.to_owned(), offset, found, expected }
    }
}

fn is_special(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '(' | ')' | ',' | '!' | '=' | '>' | '<')
}

/// All requirements of a selector, in the order written.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, ParseError> {
    let mut lexer = Lexer { text, offset: 0 };
    let mut terms = Vec::new();
    if lexer.peek() == Token::End {
        return Ok(terms);
    }
    loop {
        terms.push(requirement(&mut lexer)?);
        match lexer.next() {
            (_, Token::End) => return Ok(terms),
            (_, Token::Comma) => {}
            (offset, token) => return Err(lexer.unexpected(offset, token, "\",\" or the end")),
        }
    }
}

fn requirement(lexer: &mut Lexer<'_>) -> Result<Requirement, ParseError> {
    if lexer.peek() == Token::Not {
        lexer.next();
        let key = word(lexer, "a label key")?;
        return Requirement::checked(key.to_owned(), Condition::DoesNotExist);
    }
    let key = word(lexer, "a label key or \"!\"")?.to_owned();
    if matches!(lexer.peek(), Token::End | Token::Comma) {
        return Requirement::checked(key, Condition::Exists);
    }
    let (offset, operator) = lexer.next();
    let condition = match operator {
        Token::Equals => Condition::Equals(exact_value(lexer)?),
        Token::NotEquals => Condition::NotEquals(exact_value(lexer)?),
        Token::Greater => Condition::GreaterThan(integer(&key, word(lexer, "an integer")?)?),
        Token::Less => Condition::LessThan(integer(&key, word(lexer, "an integer")?)?),
        Token::Word("in") => Condition::In(values(lexer)?),
        Token::Word("notin") => Condition::NotIn(values(lexer)?),
        token => {
            return Err(lexer.unexpected(offset, token, "one of = == != in notin > < \",\""));
        }
    };
    Requirement::checked(key, condition)
}

fn word<'a>(lexer: &mut Lexer<'a>, expected: &'static str) -> Result<&'a str, ParseError> {
    match lexer.next() {
        (_, Token::Word(word)) => Ok(word),
        (offset, token) => Err(lexer.unexpected(offset, token, expected)),
    }
}

/// The value after `=`; nothing there means the empty value.
fn exact_value(lexer: &mut Lexer<'_>) -> Result<String, ParseError> {
    match lexer.peek() {
        Token::End | Token::Comma => Ok(String::new()),
        _ => word(lexer, "a label value").map(str::to_owned),
    }
}

/// A parenthesised set, sorted and distinct; a gap between commas is the empty value.
fn values(lexer: &mut Lexer<'_>) -> Result<Vec<String>, ParseError> {
    let (offset, open) = lexer.next();
    if open != Token::Open {
        return Err(lexer.unexpected(offset, open, "\"(\""));
    }
    let mut values = Vec::new();
    loop {
        let value = match lexer.peek() {
            Token::Comma | Token::Close => "",
            _ => word(lexer, "a label value")?,
        };
        values.push(value.to_owned());
        match lexer.next() {
            (_, Token::Comma) => {}
            (_, Token::Close) => break,
            (offset, token) => return Err(lexer.unexpected(offset, token, "\",\" or \")\"")),
        }
    }
    Ok(sorted(values))
}

fn sorted(mut values: Vec<String>) -> Vec<String> {
    values.sort();
    values.dedup();
    values
}

fn integer(key: &str, text: &str) -> Result<i64, ParseError> {
    text.parse().map_err(|_| ParseError::Value {
        key: key.to_owned(),
        value: text.to_owned(),
        reason: "> and < compare integers",
    })
}

/// The condition of a `matchExpressions` entry.
pub(super) fn condition_of(key: &str, operator: &str, values: Vec<String>) -> Result<Condition, ParseError> {
    let wrong = |reason| ParseError::Value { key: key.to_owned(), value: values.join(","), reason };
    match operator {
        "In" | "NotIn" if values.is_empty() => Err(wrong("In and NotIn need at least one value")),
        "In" => Ok(Condition::In(sorted(values))),
        "NotIn" => Ok(Condition::NotIn(sorted(values))),
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            Err(wrong("Exists and DoesNotExist take no values"))
        }
        "Exists" => Ok(Condition::Exists),
        "DoesNotExist" => Ok(Condition::DoesNotExist),
        "Gt" | "Lt" => match values.as_slice() {
            [value] if operator == "Gt" => Ok(Condition::GreaterThan(integer(key, value)?)),
            [value] => Ok(Condition::LessThan(integer(key, value)?)),
            _ => Err(wrong("Gt and Lt take exactly one value")),
        },
        _ => Err(ParseError::Operator { operator: operator.to_owned() }),
    }
}

/// apimachinery's `IsQualifiedName`: an optional DNS subdomain and `/`, then a name of at most 63 characters.
pub(super) fn check_key(key: &str) -> Result<(), ParseError> {
    let wrong = |reason| Err(ParseError::Key { key: key.to_owned(), reason });
    let name = match key.split_once('/') {
        None => key,
        Some((prefix, _)) if !is_subdomain(prefix) => {
            return wrong("what stands before \"/\" must be a lower-case DNS subdomain");
        }
        Some((_, name)) => name,
    };
    if name.is_empty() || name.len() > 63 {
        return wrong("the name must have 1 to 63 characters");
    }
    if !is_label_text(name) {
        return wrong("only letters, digits, \"-\", \"_\", \".\", with a letter or digit at both ends");
    }
    Ok(())
}

/// apimachinery's `IsValidLabelValue`.
pub(super) fn check_value(key: &str, value: &str) -> Result<(), ParseError> {
    let wrong = |reason| Err(ParseError::Value { key: key.to_owned(), value: value.to_owned(), reason });
    if value.len() > 63 {
        return wrong("at most 63 characters");
    }
    if !value.is_empty() && !is_label_text(value) {
        return wrong("only letters, digits, \"-\", \"_\", \".\", with a letter or digit at both ends");
    }
    Ok(())
}

fn is_label_text(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_subdomain(text: &str) -> bool {
    let label = |part: &str| {
        let bytes = part.as_bytes();
        let ends = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        ends(bytes.first())
            && ends(bytes.last())
            && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
    };
    text.len() <= 253 && text.split('.').all(label)
}
