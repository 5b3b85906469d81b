//! The parser, with the quirks of client-go's: what it accepts and refuses decides which columns an API server shows.

use std::str::FromStr;

use super::unquote::unquote;

/// The reason why a path is malformed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text, or a line of it, ends inside of an action.
    #[error("it ends inside of an action")]
    UnclosedAction,
    /// No step of an action begins with this character.
    #[error("unexpected `{0}`")]
    UnrecognizedCharacter(char),
    /// `....`
    #[error("`..` follows `..`")]
    RepeatedRecursion,
    /// A bracket is not closed.
    #[error("a bracket is not closed")]
    UnterminatedArray,
    /// Brackets hold neither an index, a range, `*`, nor a name in single quotes.
    #[error("`{0}` is neither an index nor a name in single quotes")]
    InvalidIndex(String),
    /// The text ends inside of a filter.
    #[error("a filter is not closed")]
    UnterminatedFilter,
    /// The `)` of a filter lacks its `]`.
    #[error("`]` has to follow the `)` of a filter")]
    UnclosedFilter,
    /// A string in quotes does not end.
    #[error("a quote is not closed")]
    UnterminatedString,
    /// A string in quotes has an escape that Go refuses.
    #[error("{0} is not a string in Go's notation")]
    InvalidString(String),
    /// Digits do not form a number.
    #[error("`{0}` is not a number")]
    InvalidNumber(String),
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    Text(String),
    Action(Vec<Node>),
}

/// A step of an action.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Field(String),
    Wildcard,
    Recursive,
    Range(Range),
    Union(Vec<Vec<Node>>),
    Filter(Filter),
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// `range`, `end`, and words without a meaning.
    Identifier(String),
}

/// Items of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) from: Option<i64>,
    pub(super) to: To,
    pub(super) step: Option<i64>,
}

/// The end of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum To {
    /// The range's first item is its only one: `[2]`.
    First,
    /// `[2:]`
    Length,
    /// `[2:4]`
    Index(i64),
}

/// The selection of items of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) left: Vec<Node>,
    /// Without a comparison, `left` must find a value.
    pub(super) comparison: Option<(Operator, Vec<Node>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operator {
    Less,
    Greater,
    Equal,
    NotEqual,
    LessEqual,
    GreaterEqual,
    /// `=!`: it parses, and fails once two values are compared.
    Unknown(String),
}

pub(super) struct Parser<'a> {
    input: &'a str,
    /// The position after the last character read.
    pos: usize,
    /// The start of the current token.
    start: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(input: &'a str) -> Self {
        Self { input, pos: 0, start: 0 }
    }

    /// The whole template.
    pub(super) fn blocks(&mut self) -> Result<Vec<Block>, ParseError> {
        let mut blocks = Vec::new();
        loop {
            let action = self.rest().find('{');
            self.pos = action.map_or(self.input.len(), |at| self.pos + at);
            if self.pos > self.start {
                blocks.push(Block::Text(self.consume().to_owned()));
            }
            if action.is_none() {
                return Ok(blocks);
            }
            self.skip(1);
            blocks.push(Block::Action(self.action()?));
        }
    }

    /// An action, from after its brace to its end.
    fn action(&mut self) -> Result<Vec<Node>, ParseError> {
        let mut nodes = Vec::new();
        loop {
            if self.rest().starts_with('}') {
                self.skip(1);
                return Ok(nodes);
            } else if self.rest().starts_with("[?(") {
                self.skip(3);
                nodes.push(Node::Filter(self.filter()?));
            } else if self.rest().starts_with("..") {
                if nodes.last() == Some(&Node::Recursive) {
                    return Err(ParseError::RepeatedRecursion);
                }
                self.skip(2);
                nodes.push(Node::Recursive);
                if self.peek().is_some_and(is_alphanumeric) {
                    nodes.push(self.field());
                }
            } else {
                self.step(&mut nodes)?;
            }
        }
    }

    /// The step that the next character begins.
    fn step(&mut self, nodes: &mut Vec<Node>) -> Result<(), ParseError> {
        match self.peek() {
            None | Some('\r' | '\n') => return Err(ParseError::UnclosedAction),
            // These leave the value as it is.
            Some(' ' | '@' | '$') => self.skip(1),
            Some('[') => self.array(nodes)?,
            Some(quote @ ('"' | '\'')) => nodes.push(self.quoted(quote)?),
            Some('.') => {
                self.skip(1);
                nodes.push(self.field());
            }
            Some(c) if matches!(c, '+' | '-') || c.is_numeric() => nodes.push(self.number()?),
            Some(c) if is_alphanumeric(c) => nodes.push(self.identifier()),
            Some(c) => return Err(ParseError::UnrecognizedCharacter(c)),
        }
        Ok(())
    }

    fn identifier(&mut self) -> Node {
        while self.peek().is_some_and(|c| !is_terminator(c)) {
            self.next();
        }
        match self.consume() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            word => Node::Identifier(word.to_owned()),
        }
    }

    fn number(&mut self) -> Result<Node, ParseError> {
        if matches!(self.peek(), Some('+' | '-')) {
            self.next();
        }
        while self.peek().is_some_and(|c| c == '.' || c.is_numeric()) {
            self.next();
        }
        let text = self.consume();
        if let Ok(value) = i64::from_str(text) {
            return Ok(Node::Int(value));
        }
        match f64::from_str(text) {
            // Go refuses numbers beyond a float's range.
            Ok(value) if value.is_finite() => Ok(Node::Float(value)),
            _ => Err(ParseError::InvalidNumber(text.to_owned())),
        }
    }

    /// A field, from after its dot.
    fn field(&mut self) -> Node {
        while let Some(c) = self.peek() {
            if is_terminator(c) {
                break;
            }
            self.next();
            if c == '\\' {
                self.next();
            }
        }
        match self.consume() {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "")),
        }
    }

    /// Brackets without a filter.
    fn array(&mut self, nodes: &mut Vec<Node>) -> Result<(), ParseError> {
        loop {
            match self.next() {
                None | Some('\n') => return Err(ParseError::UnterminatedArray),
                Some(']') => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let inside = &text[1..text.len() - 1];
        let several: Vec<&str> = inside.split(',').collect();
        if several.len() > 1 {
            let places =
                several.into_iter().map(|place| action_of(&format!("[{}]", place.trim_matches(' '))));
            nodes.push(Node::Union(places.collect::<Result<_, _>>()?));
            return Ok(());
        }
        if let Some(name) = quoted_key(inside) {
            nodes.extend(action_of(&format!(".{name}"))?);
            return Ok(());
        }
        let range = range(if inside == "*" { ":" } else { inside });
        nodes.push(Node::Range(range.ok_or_else(|| ParseError::InvalidIndex(inside.to_owned()))?));
        Ok(())
    }

    /// A filter, from after its `[?(`.
    fn filter(&mut self) -> Result<Filter, ParseError> {
        // client-go tracks only the kind of quote that comes first.
        let mut quote = None;
        let mut ended = false;
        loop {
            match self.next() {
                None | Some('\n') => return Err(ParseError::UnterminatedFilter),
                Some(c @ ('"' | '\'')) => match quote {
                    None => quote = Some(c),
                    Some(open) => ended |= open == c && !self.is_escaped(),
                },
                Some(')') if quote.is_some() == ended => break,
                Some(_) => {}
            }
        }
        if self.next() != Some(']') {
            return Err(ParseError::UnclosedFilter);
        }
        let text = self.consume();
        let inside = &text[..text.len() - 2];
        let Some((left, operator, right)) = comparison(inside) else {
            return Ok(Filter { left: action_of(inside)?, comparison: None });
        };
        let operator = match operator {
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<=" => Operator::LessEqual,
            ">=" => Operator::GreaterEqual,
            other => Operator::Unknown(other.to_owned()),
        };
        Ok(Filter { left: action_of(left)?, comparison: Some((operator, action_of(right)?)) })
    }

    fn quoted(&mut self, quote: char) -> Result<Node, ParseError> {
        self.next();
        loop {
            match self.next() {
                None | Some('\n') => return Err(ParseError::UnterminatedString),
                Some(c) if c == quote && !self.is_escaped() => break,
                Some(_) => {}
            }
        }
        let text = self.consume();
        let inside = &text[1..text.len() - 1];
        match unquote(inside, quote) {
            Some(text) => Ok(Node::Text(text)),
            None => Err(ParseError::InvalidString(text.to_owned())),
        }
    }

    /// Reports whether a backslash, escaped or not, precedes the last character read.
    fn is_escaped(&self) -> bool {
        self.input[..self.pos - 1].ends_with('\\')
    }

    fn rest(&self) -> &'a str {
        &self.input[self.pos..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    fn skip(&mut self, bytes: usize) {
        self.pos += bytes;
        self.start = self.pos;
    }

    /// The text since the last call.
    fn consume(&mut self) -> &'a str {
        let text = &self.input[self.start..self.pos];
        self.start = self.pos;
        text
    }
}

/// The first action of `{text}`. If the text closes the action, the rest must parse too.
fn action_of(text: &str) -> Result<Vec<Node>, ParseError> {
    let template = format!("{{{text}}}");
    let mut parser = Parser::new(&template);
    parser.skip(1);
    let nodes = parser.action()?;
    parser.blocks()?;
    Ok(nodes)
}

/// `'name'`
fn quoted_key(text: &str) -> Option<&str> {
    let name = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!name.contains('\'')).then_some(name)
}

/// `from`, `from:to` or `from:to:step`; each may be missing.
fn range(text: &str) -> Option<Range> {
    let parts: Vec<&str> = text.split(':').collect();
    let index = |at: usize| match parts.get(at) {
        None | Some(&"") => Some(None),
        // client-go's pattern has no `+1`.
        Some(part) if part.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            part.parse().ok().map(Some)
        }
        Some(_) => None,
    };
    if parts.len() > 3 {
        return None;
    }
    let to = match (parts.len(), index(1)?) {
        (1, _) => To::First,
        (_, None) => To::Length,
        (_, Some(index)) => To::Index(index),
    };
    Some(Range { from: index(0)?, to, step: index(2)? })
}

/// Splits at the first run of `!<>=` that has text before and after it.
fn comparison(text: &str) -> Option<(&str, &str, &str)> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let at = text.find(is_operator).filter(|at| *at > 0)?;
    let run = text[at..].find(|c| !is_operator(c)).unwrap_or(text.len() - at);
    let mut end = at + run;
    if end == text.len() {
        // At the end of the text, the last character of the run is the value.
        end -= 1;
    }
    (end > at).then(|| (&text[..at], &text[at..end], &text[end..]))
}

fn is_terminator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

fn is_alphanumeric(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
