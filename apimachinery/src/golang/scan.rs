//! The syntax errors of Go's `encoding/json`, which its scanner words (encoding/json/scanner.go).

/// The deepest nesting that Go's scanner follows.
const MAX_DEPTH: usize = 10_000;

/// Returns Go's error for a text that is not JSON; `None` if it is JSON.
///
/// ```
/// use kubesmith_apimachinery::golang::json_error;
///
/// assert_eq!(json_error(b"{\"a\":[1]}"), None);
/// assert_eq!(json_error(b"x").as_deref(), Some("invalid character 'x' looking for beginning of value"));
/// assert_eq!(json_error(b"{\"a\":").as_deref(), Some("unexpected end of JSON input"));
/// ```
#[must_use]
pub fn json_error(text: &[u8]) -> Option<String> {
    let mut scanner = Scanner { text, at: 0, open: Vec::new() };
    scanner.document().err().map(|fault| match fault {
        Fault::End => "unexpected end of JSON input".to_owned(),
        Fault::Depth => "exceeded max depth".to_owned(),
        Fault::Character(found, context) => format!("invalid character {} {context}", quoted(found)),
    })
}

/// Returns Go's error for the first number of a JSON text that no float can hold; `None` if every number fits.
///
/// ```
/// use kubesmith_apimachinery::golang::json_number_error;
///
/// let fault = json_number_error(b"{\"1e400\": [1e3, 1e400]}");
/// assert_eq!(fault.as_deref(), Some("json: cannot unmarshal number 1e400 into Go value of type float64"));
/// assert_eq!(json_number_error(b"{\"a\": -1.5}"), None);
/// ```
#[must_use]
pub fn json_number_error(text: &[u8]) -> Option<String> {
    let (mut at, mut is_text) = (0, false);
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'-' | b'0'..=b'9' if !is_text => {
                let is_part = |byte: &&u8| matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = text[at..].iter().take_while(is_part).count();
                let number = std::str::from_utf8(&text[at..at + length]).unwrap_or_default();
                if number.parse::<f64>().is_ok_and(f64::is_infinite) {
                    return Some(format!(
                        "json: cannot unmarshal number {number} into Go value of type float64"
                    ));
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

enum Fault {
    End,
    Depth,
    Character(u8, String),
}

/// A byte as Go quotes it (`quoteChar`): every byte is a character of its own here.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        byte => {
            let text = super::quote(&char::from(byte).to_string());
            format!("'{}'", &text[1..text.len() - 1])
        }
    }
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// The brackets that are open.
    open: Vec<u8>,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), Fault> {
        let mut expects_value = true;
        loop {
            if expects_value {
                expects_value = self.value()?;
                continue;
            }
            // After a value.
            let Some(&bracket) = self.open.last() else {
                self.blanks();
                return self.rest("after top-level value");
            };
            expects_value = self.after_value(bracket)?;
        }
    }

    fn rest(&self, context: &str) -> Result<(), Fault> {
        self.text.get(self.at).map_or(Ok(()), |byte| Err(Fault::Character(*byte, context.to_owned())))
    }

    /// Reads a value or its beginning; returns whether a value follows.
    fn value(&mut self) -> Result<bool, Fault> {
        match self.next_after_blanks()? {
            b'{' => self.open_object(),
            b'[' => {
                self.push(b'[')?;
                if self.peek_after_blanks() == Some(b']') {
                    self.at += 1;
                    self.open.pop();
                    return Ok(false);
                }
                Ok(true)
            }
            b'"' => self.string().map(|()| false),
            b't' => self.literal("true").map(|()| false),
            b'f' => self.literal("false").map(|()| false),
            b'n' => self.literal("null").map(|()| false),
            first @ (b'-' | b'0'..=b'9') => self.number(first).map(|()| false),
            other => Err(Fault::Character(other, "looking for beginning of value".to_owned())),
        }
    }

    fn push(&mut self, bracket: u8) -> Result<(), Fault> {
        self.open.push(bracket);
        if self.open.len() > MAX_DEPTH { Err(Fault::Depth) } else { Ok(()) }
    }

    fn open_object(&mut self) -> Result<bool, Fault> {
        self.push(b'{')?;
        if self.peek_after_blanks() == Some(b'}') {
            self.at += 1;
            self.open.pop();
            return Ok(false);
        }
        self.key()?;
        Ok(true)
    }

    fn key(&mut self) -> Result<(), Fault> {
        match self.next_after_blanks()? {
            b'"' => self.string()?,
            other => {
                return Err(Fault::Character(other, "looking for beginning of object key string".to_owned()));
            }
        }
        match self.next_after_blanks()? {
            b':' => Ok(()),
            other => Err(Fault::Character(other, "after object key".to_owned())),
        }
    }

    /// Reads what follows a value within brackets; returns whether a value follows.
    fn after_value(&mut self, bracket: u8) -> Result<bool, Fault> {
        match (bracket, self.next_after_blanks()?) {
            (b'{', b',') => self.key().map(|()| true),
            (b'[', b',') => Ok(true),
            (b'{', b'}') | (b'[', b']') => {
                self.open.pop();
                Ok(false)
            }
            (b'{', other) => Err(Fault::Character(other, "after object key:value pair".to_owned())),
            (_, other) => Err(Fault::Character(other, "after array element".to_owned())),
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes().skip(1) {
            let found = self.next()?;
            if found != expected {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(Fault::Character(found, context));
            }
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        loop {
            match self.next()? {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                control @ 0..=0x1f => return Err(Fault::Character(control, "in string literal".to_owned())),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.next()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let found = self.next()?;
                    if !found.is_ascii_hexdigit() {
                        let context = "in \\u hexadecimal character escape".to_owned();
                        return Err(Fault::Character(found, context));
                    }
                }
                Ok(())
            }
            other => Err(Fault::Character(other, "in string escape code".to_owned())),
        }
    }

    fn number(&mut self, first: u8) -> Result<(), Fault> {
        let first = match first {
            b'-' => match self.next()? {
                digit @ b'0'..=b'9' => digit,
                other => return Err(Fault::Character(other, "in numeric literal".to_owned())),
            },
            digit => digit,
        };
        if first != b'0' {
            self.digits();
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Result<(), Fault> {
        match self.next()? {
            b'0'..=b'9' => Ok(()),
            other => Err(Fault::Character(other, context.to_owned())),
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_after_blanks(&mut self) -> Option<u8> {
        self.blanks();
        self.peek()
    }

    fn next(&mut self) -> Result<u8, Fault> {
        let byte = self.peek().ok_or(Fault::End)?;
        self.at += 1;
        Ok(byte)
    }

    fn next_after_blanks(&mut self) -> Result<u8, Fault> {
        self.blanks();
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(json_error(text.as_bytes()).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn syntax_error_has_the_text_of_go() {
        check("", "unexpected end of JSON input");
        check("[1,", "unexpected end of JSON input");
        check("\"a", "unexpected end of JSON input");
        check("-", "unexpected end of JSON input");
        check("garbage", "invalid character 'g' looking for beginning of value");
        check("not", "invalid character 'o' in literal null (expecting 'u')");
        check("{a:1}", "invalid character 'a' looking for beginning of object key string");
        check("{\"a\" 1}", "invalid character '1' after object key");
        check("{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair");
        check("{\"a\":1,}", "invalid character '}' looking for beginning of object key string");
        check("[1 2]", "invalid character '2' after array element");
        check("[1,]", "invalid character ']' looking for beginning of value");
        check("{} x", "invalid character 'x' after top-level value");
        check("01", "invalid character '1' after top-level value");
        check("1.", "unexpected end of JSON input");
        check("1.x", "invalid character 'x' after decimal point in numeric literal");
        check("1ex", "invalid character 'x' in exponent of numeric literal");
        check("-a", "invalid character 'a' in numeric literal");
        check("\"\\q\"", "invalid character 'q' in string escape code");
        check("\"\\u00g0\"", "invalid character 'g' in \\u hexadecimal character escape");
        check("\"a\nb\"", "invalid character '\\n' in string literal");
        check("'a'", "invalid character '\\'' looking for beginning of value");
        check("é", "invalid character 'Ã' looking for beginning of value");
        check(&"[".repeat(10_001), "exceeded max depth");
    }

    #[test]
    fn text_is_an_error_exactly_when_serde_json_refuses_it() {
        let mut seed = 7_u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let parts =
            ["{", "}", "[", "]", ",", ":", "\"a\"", "1", "-0.5", "true", "null", " ", "\\", "\"", "0"];
        for _ in 0..20_000 {
            let text: String = (0..next(9)).map(|_| parts[next(parts.len() as u64) as usize]).collect();
            let ours = json_error(text.as_bytes());
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            assert_eq!(ours.is_some(), theirs.is_err(), "{text}: {ours:?}");
        }
    }
}
