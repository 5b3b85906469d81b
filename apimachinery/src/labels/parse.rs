//! The syntax of label selectors: apimachinery's `labels.Parse`, with its messages.

use super::ParseError;
use super::requirement::{Operator, Requirement, key_error};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A key, a value, or one of the words `in` and `notin`.
    Word(&'a str),
    Symbol(&'a str),
    End,
}

struct Parser<'a> {
    text: &'a str,
    /// The start of the last token.
    start: usize,
    /// The start of the next token.
    offset: usize,
}

const REQUIREMENT: &str = "unable to parse requirement: ";

/// Parses all requirements, in the order of the text.
pub(super) fn requirements(text: &str) -> Result<Vec<Requirement>, ParseError> {
    let mut parser = Parser { text, start: 0, offset: 0 };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            Token::Word(_) | Token::Symbol("!") => {}
            Token::End => return Ok(requirements),
            Token::Symbol(_) => return Err(parser.unexpected_next("", "!, identifier, or 'end of string'")),
        }
        requirements.push(parser.requirement()?);
        match parser.next() {
            Token::End => return Ok(requirements),
            Token::Symbol(",") => match parser.peek() {
                Token::Word(_) | Token::Symbol("!") => {}
                _ => return Err(parser.unexpected_next("", "identifier after ','")),
            },
            _ => return Err(parser.unexpected("", "',' or 'end of string'")),
        }
    }
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Token<'a> {
        let rest = self.text[self.offset..].trim_start_matches(is_space);
        self.start = self.text.len() - rest.len();
        let length = match rest.as_bytes() {
            [b'!' | b'=', b'=', ..] => 2,
            [c, ..] if is_symbol(char::from(*c)) => 1,
            _ => rest.find(|c| is_symbol(c) || is_space(c)).unwrap_or(rest.len()),
        };
        self.offset = self.start + length;
        match &rest[..length] {
            "" => Token::End,
            text if text.starts_with(is_symbol) => Token::Symbol(text),
            text => Token::Word(text),
        }
    }

    fn peek(&self) -> Token<'a> {
        Parser { ..*self }.next()
    }

    fn requirement(&mut self) -> Result<Requirement, ParseError> {
        let is_absent = self.peek() == Token::Symbol("!");
        if is_absent {
            self.next();
        }
        let Token::Word(key) = self.next() else { return Err(self.unexpected(REQUIREMENT, "identifier")) };
        let start = self.start;
        if let Some(cause) = key_error("", key) {
            return Err(self.invalid(start, &cause.to_string()));
        }
        if is_absent {
            return self.checked(start, key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return self.checked(start, key, Operator::Exists, Vec::new());
        }
        let (operator, values) = match self.next() {
            Token::Symbol("=" | "==") => (Operator::Equals, self.exact_value()?),
            Token::Symbol("!=") => (Operator::NotEquals, self.exact_value()?),
            Token::Symbol(">") => (Operator::GreaterThan, self.exact_value()?),
            Token::Symbol("<") => (Operator::LessThan, self.exact_value()?),
            Token::Word("in") => (Operator::In, self.values()?),
            Token::Word("notin") => (Operator::NotIn, self.values()?),
            _ => return Err(self.unexpected(REQUIREMENT, "in, notin, =, ==, !=, gt, lt")),
        };
        self.checked(start, key, operator, values)
    }

    fn checked(
        &self,
        start: usize,
        key: &str,
        operator: Operator,
        values: Vec<String>,
    ) -> Result<Requirement, ParseError> {
        Requirement::new(key, operator, values).map_err(|error| self.invalid(start, &error.to_string()))
    }

    /// The value after an operator; nothing there means the empty value.
    fn exact_value(&mut self) -> Result<Vec<String>, ParseError> {
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok(vec![String::new()]);
        }
        match self.next() {
            Token::Word(value) => Ok(vec![value.to_owned()]),
            _ => Err(self.unexpected(REQUIREMENT, "identifier")),
        }
    }

    /// A set in parentheses.
    fn values(&mut self) -> Result<Vec<String>, ParseError> {
        if self.next() != Token::Symbol("(") {
            // apimachinery's message lacks the comma.
            return Err(self.invalid(self.start, &format!("found '{}' expected: '('", self.last())));
        }
        match self.peek() {
            Token::Symbol(")") => {
                self.next();
                Ok(vec![String::new()])
            }
            Token::Word(_) | Token::Symbol(",") => self.list(),
            _ => Err(self.unexpected_next(REQUIREMENT, "',', ')' or identifier")),
        }
    }

    /// The values up to the closing parenthesis. A gap beside a comma is the empty value.
    fn list(&mut self) -> Result<Vec<String>, ParseError> {
        let mut values: Vec<String> = Vec::new();
        loop {
            match self.next() {
                Token::Word(value) => {
                    values.push(value.to_owned());
                    match self.peek() {
                        Token::Symbol(",") => {}
                        Token::Symbol(")") => break,
                        _ => return Err(self.unexpected_next(REQUIREMENT, "',' or ')'")),
                    }
                }
                Token::Symbol(",") => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek() {
                        Token::Symbol(")") => {
                            values.push(String::new());
                            break;
                        }
                        Token::Symbol(",") => values.push(String::new()),
                        _ => {}
                    }
                }
                _ => return Err(self.unexpected(REQUIREMENT, "',', or identifier")),
            }
        }
        self.next();
        Ok(values)
    }

    /// The text of the last token.
    fn last(&self) -> &'a str {
        &self.text[self.start..self.offset]
    }

    fn unexpected(&self, prefix: &str, expected: &str) -> ParseError {
        self.error(self.start, format!("{prefix}found '{}', expected: {expected}", self.last()))
    }

    fn unexpected_next(&mut self, prefix: &str, expected: &str) -> ParseError {
        self.next();
        self.unexpected(prefix, expected)
    }

    fn invalid(&self, offset: usize, message: &str) -> ParseError {
        self.error(offset, format!("{REQUIREMENT}{message}"))
    }

    fn error(&self, offset: usize, message: String) -> ParseError {
        ParseError::Text { text: self.text.to_owned(), offset, message }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_symbol(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}
