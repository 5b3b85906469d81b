//! The parser. Source of its rules: Go's `regexp/syntax/parse.go` with the flags of `regexp.Compile`.

use crate::ast::{Assertion, Class, Node};
use crate::error::{Error, ErrorCode, before};
use crate::escape;
use crate::limits::{Part, Usage};

/// The greatest count in braces.
const MAX_REPEAT: u32 = 1_000;

/// The flags of `(?ims-U)`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) fold_case: bool,
    multi_line: bool,
    dot_is_any: bool,
    swap_greed: bool,
}

/// A group that is open, or the whole expression.
#[derive(Debug, Default)]
struct Frame {
    captures: bool,
    /// The flags to return to.
    outer: Flags,
    /// Alternatives that have ended.
    branches: Vec<Part>,
    /// The parts of the current alternative.
    parts: Vec<Part>,
}

#[derive(Debug)]
pub(crate) struct Parser<'a> {
    source: &'a str,
    pub(crate) flags: Flags,
    /// The whole expression and the groups that are open, innermost last.
    frames: Vec<Frame>,
    frame: Frame,
    usage: Usage,
}

/// Parses an expression.
///
/// # Errors
/// The error of Go's `regexp.Compile`.
pub(crate) fn parse(source: &str) -> Result<Node, Error> {
    let flags = Flags::default();
    let frame = Frame::default();
    Parser { source, flags, frames: Vec::new(), frame, usage: Usage::default() }.run()
}

/// The lower and the upper limit of a repetition, whether these are numbers in braces, and the text after it.
type Repetition<'a> = (Bounds, bool, &'a str);

/// Reads the repetition that begins with `c`; `None` if it is no repetition.
fn repetition(c: char, rest: &str) -> Result<Option<Repetition<'_>>, Error> {
    let bounds = match c {
        '*' => (0, None),
        '+' => (1, None),
        '?' => (0, Some(1)),
        '{' => {
            let Some((bounds, after)) = braces(rest) else { return Ok(None) };
            let too_large = || Error::new(ErrorCode::InvalidRepeatSize, before(rest, after));
            return Ok(Some((bounds.ok_or_else(too_large)?, true, after)));
        }
        _ => return Ok(None),
    };
    Ok(Some((bounds, false, &rest[1..])))
}

impl<'a> Parser<'a> {
    fn run(mut self) -> Result<Node, Error> {
        let mut rest = self.source;
        // The text from the repetition on that was read last, if nothing stands between.
        let mut last_repeat = None;
        while let Some(c) = rest.chars().next() {
            (rest, last_repeat) = match repetition(c, rest)? {
                Some((bounds, is_counted, after)) => {
                    (self.repeat(bounds, is_counted, rest, after, last_repeat)?, Some(rest))
                }
                None => (self.item(c, rest)?, None),
            };
        }
        let whole = self.finish_frame()?;
        if self.frames.is_empty() {
            return Ok(whole.node);
        }
        Err(Error::new(ErrorCode::MissingParen, self.source))
    }

    /// Reads what begins with `c` and is no repetition; returns the rest.
    fn item(&mut self, c: char, rest: &'a str) -> Result<&'a str, Error> {
        let after = &rest[c.len_utf8()..];
        let (start, end) = match self.flags.multi_line {
            true => (Assertion::StartOfLine, Assertion::EndOfLine),
            false => (Assertion::StartOfText, Assertion::EndOfText),
        };
        match c {
            '(' if after.starts_with('?') => return self.perl_group(rest),
            '\\' => return self.escape(rest),
            '[' => {
                let (class, after) = self.class(rest)?;
                self.push_class(class)?;
                return Ok(after);
            }
            '(' => self.open(true),
            '|' => self.end_branch()?,
            ')' => self.close()?,
            '^' => self.assertion(start)?,
            '$' => self.assertion(end)?,
            '.' => {
                let any = self.flags.dot_is_any;
                self.push_class(if any { Class::any() } else { Class::any_but_newline() })?;
            }
            c => self.literal(c.into())?,
        }
        Ok(after)
    }

    fn check(&mut self, part: &Part, count: Option<u32>) -> Result<(), Error> {
        self.usage.check(part, count).map_err(|code| Error::new(code, self.source))
    }

    /// Adds a part to the current alternative.
    fn push(&mut self, part: Part) -> Result<(), Error> {
        self.join_literals();
        self.check(&part, None)?;
        self.frame.parts.push(part);
        Ok(())
    }

    /// Makes one literal of the last two, which no repetition can follow any more.
    fn join_literals(&mut self) {
        let parts = &mut self.frame.parts;
        let [.., first, second] = parts.as_mut_slice() else { return };
        let (Node::Literal { points, fold_case }, Node::Literal { points: more, fold_case: other }) =
            (&mut first.node, &mut second.node)
        else {
            return;
        };
        if fold_case == other {
            let mut points = std::mem::take(points);
            points.append(more);
            *first = Part::leaf(Node::Literal { points, fold_case: *other });
            parts.pop();
            self.usage.release();
        }
    }

    fn literal(&mut self, point: u32) -> Result<(), Error> {
        self.usage.take();
        self.push(Part::literal(point, self.flags.fold_case))
    }

    fn assertion(&mut self, assertion: Assertion) -> Result<(), Error> {
        self.usage.take();
        self.push(Part::leaf(Node::Assertion(assertion)))
    }

    fn push_class(&mut self, class: Class) -> Result<(), Error> {
        self.usage.take();
        self.push(match class.single() {
            Some(point) => Part::literal(point, self.flags.fold_case),
            None => Part::class(class),
        })
    }

    /// Repeats the last part. Returns what follows the operator.
    fn repeat(
        &mut self,
        (min, max): Bounds,
        is_counted: bool,
        operator: &'a str,
        after: &'a str,
        last_repeat: Option<&'a str>,
    ) -> Result<&'a str, Error> {
        let lazy = after.strip_prefix('?');
        let greedy = lazy.is_none() != self.flags.swap_greed;
        let after = lazy.unwrap_or(after);
        if let Some(last) = last_repeat {
            return Err(Error::new(ErrorCode::InvalidRepeatOp, before(last, after)));
        }
        let Some(part) = self.frame.parts.pop() else {
            return Err(Error::new(ErrorCode::MissingRepeatArgument, before(operator, after)));
        };
        self.usage.take();
        let part = part.repeat(min, max, greedy);
        self.check(&part, is_counted.then(|| max.unwrap_or(min)))?;
        if is_counted && (min >= 2 || max.is_some_and(|max| max >= 2)) && !part.copies_are_valid() {
            return Err(Error::new(ErrorCode::InvalidRepeatSize, before(operator, after)));
        }
        self.frame.parts.push(part);
        Ok(after)
    }

    fn open(&mut self, captures: bool) {
        self.usage.take();
        let frame = Frame { captures, outer: self.flags, ..Frame::default() };
        self.frames.push(std::mem::replace(&mut self.frame, frame));
    }

    /// Ends an alternative.
    fn end_branch(&mut self) -> Result<(), Error> {
        self.join_literals();
        let parts = std::mem::take(&mut self.frame.parts);
        if parts.len() != 1 {
            self.usage.take();
        }
        let branch = Part::concat(parts);
        self.check(&branch, None)?;
        // Alternatives of one character each are one class.
        if let Some(last) = self.frame.branches.last_mut()
            && let (Some(mut class), Some(other)) = (last.as_class(), branch.as_class())
        {
            class.merge(other);
            *last = Part::class(class);
            self.usage.release();
        } else {
            self.frame.branches.push(branch);
        }
        Ok(())
    }

    fn finish_frame(&mut self) -> Result<Part, Error> {
        self.end_branch()?;
        let branches = std::mem::take(&mut self.frame.branches);
        if branches.len() != 1 {
            self.usage.take();
        }
        let part = Part::alternate(branches);
        self.check(&part, None)?;
        Ok(part)
    }

    fn close(&mut self) -> Result<(), Error> {
        let part = self.finish_frame()?;
        let Some(outer) = self.frames.pop() else {
            return Err(Error::new(ErrorCode::UnexpectedParen, self.source));
        };
        let inner = std::mem::replace(&mut self.frame, outer);
        self.flags = inner.outer;
        self.push(if inner.captures { part.capture() } else { part })
    }

    /// Reads what begins with `(?`: a named group, flags, or a group without capture.
    fn perl_group(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let name =
            text.strip_prefix("(?P<").or_else(|| text.strip_prefix("(?<")).filter(|name| !name.is_empty());
        if let Some(name) = name {
            let Some((name, rest)) = name.split_once('>') else {
                return Err(Error::new(ErrorCode::InvalidNamedCapture, text));
            };
            if name.is_empty() || !name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()) {
                return Err(Error::new(ErrorCode::InvalidNamedCapture, before(text, rest)));
            }
            self.open(true);
            return Ok(rest);
        }
        let mut flags = self.flags;
        let (mut value, mut is_complete) = (true, true);
        let mut rest = &text[2..];
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                'i' => flags.fold_case = value,
                'm' => flags.multi_line = value,
                's' => flags.dot_is_any = value,
                'U' => flags.swap_greed = value,
                '-' if value => {
                    (value, is_complete) = (false, false);
                    continue;
                }
                ':' | ')' if is_complete => {
                    if c == ':' {
                        self.open(false);
                    }
                    self.flags = flags;
                    return Ok(rest);
                }
                _ => break,
            }
            is_complete = true;
        }
        Err(Error::new(ErrorCode::InvalidPerlOp, before(text, rest)))
    }

    /// Reads what begins with `\` outside a class.
    fn escape(&mut self, text: &'a str) -> Result<&'a str, Error> {
        let assertion = match text.as_bytes().get(1) {
            Some(b'A') => Some(Assertion::StartOfText),
            Some(b'z') => Some(Assertion::EndOfText),
            Some(b'b') => Some(Assertion::WordBoundary),
            Some(b'B') => Some(Assertion::NotWordBoundary),
            Some(b'C') => return Err(Error::new(ErrorCode::InvalidEscape, "\\C")),
            Some(b'Q') => {
                let (quoted, rest) = text[2..].split_once("\\E").unwrap_or((&text[2..], ""));
                for c in quoted.chars() {
                    self.literal(c.into())?;
                }
                return Ok(rest);
            }
            _ => None,
        };
        if let Some(assertion) = assertion {
            self.assertion(assertion)?;
            return Ok(&text[2..]);
        }
        if let Some((item, rest)) = escape::group(text, self.flags.fold_case)? {
            self.push_class(Class::of(item))?;
            return Ok(rest);
        }
        let (point, rest) = escape::point(text)?;
        self.literal(point)?;
        Ok(rest)
    }
}

type Bounds = (u32, Option<u32>);

/// Reads `{n}`, `{n,}` or `{n,m}`; `None` where the brace is a literal. The bounds are `None` if they are too large or in the
/// wrong order.
fn braces(text: &str) -> Option<(Option<Bounds>, &str)> {
    let (min, rest) = number(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => {
            let (max, rest) = number(rest)?;
            (Some(max), rest)
        }
    };
    let rest = rest.strip_prefix('}')?;
    let valid = min <= MAX_REPEAT && max.is_none_or(|max| min <= max && max <= MAX_REPEAT);
    Some((valid.then_some((min, max)), rest))
}

/// Reads a decimal number without leading zeros. One that is too large for any limit becomes the greatest.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}
