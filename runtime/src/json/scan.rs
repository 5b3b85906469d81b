//! The text and the reading position.

use serde::de::Unexpected;

use super::Error;

/// A text that is read from start to end.
#[derive(Debug)]
pub(super) struct Text<'de> {
    text: &'de str,
    at: usize,
}

/// A string in the text.
pub(super) enum Str<'de> {
    /// A string without escapes, borrowed from the text.
    Plain(&'de str),
    Escaped(String),
}

impl Str<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Escaped(text) => text,
        }
    }
}

/// A number.
pub(super) enum Number {
    Positive(u64),
    Negative(i64),
    Float(f64),
}

impl Number {
    pub(super) fn unexpected(&self) -> Unexpected<'static> {
        match self {
            Self::Positive(number) => Unexpected::Unsigned(*number),
            Self::Negative(number) => Unexpected::Signed(*number),
            Self::Float(number) => Unexpected::Float(*number),
        }
    }
}

impl<'de> Text<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'de [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Returns the next byte that is not white space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    pub(super) fn expect(&mut self, wanted: u8) -> Result<(), Error> {
        if self.peek() != Some(wanted) {
            return Err(Error::SYNTAX);
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the word if it comes next.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let first = word.as_bytes().first().copied();
        if self.peek() != first || !self.rest().starts_with(word.as_bytes()) {
            return false;
        }
        self.at += word.len();
        true
    }

    pub(super) fn string(&mut self) -> Result<Str<'de>, Error> {
        self.expect(b'"')?;
        let start = self.at;
        let end = start + special(self.rest()).ok_or(Error::SYNTAX)?;
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return self.text.get(start..end).map(Str::Plain).ok_or(Error::SYNTAX);
        }
        self.at = end_of_string(self.text.as_bytes(), end)?;
        let quoted = self.text.get(start - 1..self.at).ok_or(Error::SYNTAX)?;
        // An unpaired surrogate is not text, though the rest of the JSON may be right.
        serde_json::from_str(quoted).map(Str::Escaped).map_err(|error| Error::new(without_place(&error)))
    }

    pub(super) fn number(&mut self) -> Result<Number, Error> {
        self.peek();
        let rest = self.rest();
        let length =
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let length = length.count();
        let digits = rest.get(..length).ok_or(Error::SYNTAX)?;
        self.at += length;
        let (is_negative, digits) = match digits {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let text = self.text.get(self.at - length..self.at).ok_or(Error::SYNTAX)?;
        if digits.iter().all(u8::is_ascii_digit) {
            return match digits {
                // A leading zero is only allowed in zero itself. Negative zero is a float.
                [] | [b'0', _, ..] => Err(Error::SYNTAX),
                b"0" if is_negative => Ok(Number::Float(-0.0)),
                _ if is_negative => text.parse().map(Number::Negative).or_else(|_| float(text)),
                _ => text.parse().map(Number::Positive).or_else(|_| float(text)),
            };
        }
        let is_float = digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        if is_float { float(text) } else { Err(Error::SYNTAX) }
    }

    /// Returns the digits of an integer, with its sign.
    pub(super) fn integer(&mut self) -> Result<&'de str, Error> {
        self.peek();
        let start = self.at;
        self.take(|byte| byte == b'-', 1);
        self.take(|byte| byte.is_ascii_digit(), usize::MAX);
        self.text.get(start..self.at).ok_or(Error::SYNTAX)
    }

    /// Returns the position in the text: line and column, from 1 and in bytes, as serde_json counts them.
    pub(super) fn place(&self) -> (usize, usize) {
        let read = self.text.as_bytes().get(..self.at).unwrap_or_default();
        let line = read.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = read.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        (line, self.at - start)
    }

    pub(super) fn text(&self) -> &'de str {
        self.text
    }

    /// Reads a sequence's opening bracket and returns the number of elements.
    pub(super) fn open_sequence(&mut self) -> Result<usize, Error> {
        self.expect(b'[')?;
        self.count()
    }

    /// Counts the elements of a sequence after its opening bracket.
    fn count(&mut self) -> Result<usize, Error> {
        if self.peek() == Some(b']') {
            return Ok(0);
        }
        let bytes = self.text.as_bytes();
        let (mut at, mut depth, mut count) = (self.at, 0_usize, 1);
        loop {
            match bytes.get(at).ok_or(Error::SYNTAX)? {
                b'"' => {
                    at = end_of_string(bytes, at + 1)?;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' if depth == 0 => return Ok(count),
                b']' | b'}' => depth -= 1,
                b',' if depth == 0 => count += 1,
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the next value as it stands in the text, if it is JSON.
    pub(super) fn raw(&mut self) -> Result<&'de str, Error> {
        self.peek();
        let start = self.at;
        self.check(|_, _| {})?;
        self.text.get(start..self.at).ok_or(Error::SYNTAX)
    }

    /// See [`JsonReader::scalars`](super::JsonReader::scalars).
    pub(super) fn scalars(&mut self, scalar: &mut dyn FnMut(&str, &str)) -> Result<&'de str, Error> {
        self.peek();
        let (text, mut done) = (self.text, self.at);
        let part = |from, to| text.get(from..to).unwrap_or_default();
        self.check(|start, end| {
            scalar(part(done, start), part(start, end));
            done = end;
        })?;
        Ok(part(done, self.at))
    }

    /// Skips a value and checks every byte of it. `scalar` gets where each string or number begins and ends, without
    /// quotes; names of members are no strings here.
    fn check(&mut self, mut scalar: impl FnMut(usize, usize)) -> Result<(), Error> {
        let mut open = Brackets::new();
        loop {
            match self.peek().ok_or(Error::SYNTAX)? {
                bracket @ (b'{' | b'[') => {
                    self.at += 1;
                    open.push(bracket)?;
                    match self.peek() {
                        Some(b'}' | b']') => {}
                        Some(_) if bracket == b'{' => {
                            self.check_key()?;
                            continue;
                        }
                        _ => continue,
                    }
                }
                b'"' => {
                    let start = self.at + 1;
                    self.at = end_of_checked_string(self.text.as_bytes(), start)?;
                    scalar(start, self.at - 1);
                }
                b't' | b'f' | b'n' => {
                    if !["true", "false", "null"].into_iter().any(|word| self.word(word)) {
                        return Err(Error::SYNTAX);
                    }
                }
                _ => {
                    let start = self.at;
                    self.check_number()?;
                    scalar(start, self.at);
                }
            }
            // After a value.
            loop {
                if open.is_empty() {
                    return Ok(());
                }
                let byte = self.peek().ok_or(Error::SYNTAX)?;
                self.at += 1;
                match byte {
                    b'}' | b']' => open.pop(byte)?,
                    b',' => break,
                    _ => return Err(Error::SYNTAX),
                }
            }
            if open.innermost_is_brace() {
                self.check_key()?;
            }
        }
    }

    fn check_key(&mut self) -> Result<(), Error> {
        if self.peek() != Some(b'"') {
            return Err(Error::SYNTAX);
        }
        self.at = end_of_checked_string(self.text.as_bytes(), self.at + 1)?;
        self.expect(b':')
    }

    /// `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`
    fn check_number(&mut self) -> Result<(), Error> {
        self.take(|byte| byte == b'-', 1);
        if self.take(|byte| byte == b'0', 1) == 0 && self.take(|byte| byte.is_ascii_digit(), usize::MAX) == 0
        {
            return Err(Error::SYNTAX);
        }
        if self.take(|byte| byte == b'.', 1) == 1 && self.take(|byte| byte.is_ascii_digit(), usize::MAX) == 0
        {
            return Err(Error::SYNTAX);
        }
        if self.take(|byte| matches!(byte, b'e' | b'E'), 1) == 1 {
            self.take(|byte| matches!(byte, b'+' | b'-'), 1);
            if self.take(|byte| byte.is_ascii_digit(), usize::MAX) == 0 {
                return Err(Error::SYNTAX);
            }
        }
        Ok(())
    }

    /// Skips at most `most` bytes for which `is` holds, and returns their number.
    fn take(&mut self, is: impl Fn(u8) -> bool, most: usize) -> usize {
        let count = self.rest().iter().take(most).take_while(|byte| is(**byte)).count();
        self.at += count;
        count
    }

    /// Skips a value.
    pub(super) fn skip(&mut self) -> Result<(), Error> {
        match self.peek().ok_or(Error::SYNTAX)? {
            b'"' => {
                self.at = end_of_string(self.text.as_bytes(), self.at + 1)?;
                Ok(())
            }
            b'{' | b'[' => self.skip_brackets(),
            _ if ["true", "false", "null"].into_iter().any(|word| self.word(word)) => Ok(()),
            _ => self.number().map(drop),
        }
    }

    fn skip_brackets(&mut self) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        let (mut open, mut at) = (Brackets::new(), self.at);
        loop {
            match bytes.get(at).ok_or(Error::SYNTAX)? {
                b'"' => {
                    at = end_of_string(bytes, at + 1)?;
                    continue;
                }
                bracket @ (b'[' | b'{') => open.push(*bracket)?,
                bracket @ (b']' | b'}') => {
                    open.pop(*bracket)?;
                    if open.is_empty() {
                        self.at = at + 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// Parses a number with a fraction, or one too large for an integer. serde_json rounds as the standard library
/// does.
fn float(text: &str) -> Result<Number, Error> {
    serde_json::from_str(text).map(Number::Float).map_err(|error| Error::new(without_place(&error)))
}

/// Returns the message without its position, which counts from the start of the number.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.clone(), |(message, _)| message.to_owned())
}

/// The open brackets, one bit each, innermost lowest; 1 is a brace. The highest bit marks the end.
struct Brackets(u128);

impl Brackets {
    fn new() -> Self {
        Self(1)
    }

    fn is_empty(&self) -> bool {
        self.0 == 1
    }

    fn innermost_is_brace(&self) -> bool {
        self.0 & 1 == 1
    }

    fn push(&mut self, bracket: u8) -> Result<(), Error> {
        if self.0.leading_zeros() == 0 {
            return Err(Error::SYNTAX);
        }
        self.0 = self.0 << 1 | u128::from(bracket == b'{');
        Ok(())
    }

    fn pop(&mut self, bracket: u8) -> Result<(), Error> {
        if self.is_empty() || self.innermost_is_brace() != (bracket == b'}') {
            return Err(Error::SYNTAX);
        }
        self.0 >>= 1;
        Ok(())
    }
}

/// As [`end_of_string`], and checks that all escapes are JSON's.
fn end_of_checked_string(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    loop {
        at += special(bytes.get(at..).unwrap_or_default()).ok_or(Error::SYNTAX)?;
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'"'), _) => return Ok(at + 1),
            (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => at += 2,
            (Some(b'\\'), Some(b'u')) => {
                let digits = bytes.get(at + 2..at + 6).ok_or(Error::SYNTAX)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(Error::SYNTAX);
                }
                at += 6;
            }
            _ => return Err(Error::SYNTAX),
        }
    }
}

/// Returns the position after the quote that closes the string around `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    loop {
        at += special(bytes.get(at..).unwrap_or_default()).ok_or(Error::SYNTAX)?;
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            _ => return Err(Error::SYNTAX),
        }
    }
}

/// Returns the position of the first quote, backslash or control character.
fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGHS: u64 = ONES << 7;
    let mut at = 0;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        let (quote, slash) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5c));
        // Sets the high bit of the first byte below 0x20 or equal to zero; higher bytes may be wrong.
        let found = (word.wrapping_sub(ONES * 0x20) & !word)
            | (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash);
        if found & HIGHS != 0 {
            return Some(at + (found & HIGHS).trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let is_special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    rest.iter().position(is_special).map(|place| at + place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn special_byte_is_found_at_every_position(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let expected = bytes.iter().position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\');
            prop_assert_eq!(special(&bytes), expected);
        }

        #[test]
        fn special_byte_is_found_after_plain_bytes(before in "[!#-\\[\\]-~é]{0,40}", byte in "[\"\\\\\u{1}]") {
            prop_assert_eq!(special(format!("{before}{byte}").as_bytes()), Some(before.len()));
        }
    }
}
