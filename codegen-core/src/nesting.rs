//! Refuses text that is nested so deeply that parsing it would exhaust the stack, and endless numbers.
//!
//! syn recurses into groups and types, and the tree of a chain such as `a + b + c` is dropped by recursion.
//! So this check runs before syn, on tokens without grammar.

/// Far more brackets, angle brackets or operators in a row than real code has.
const LIMIT: usize = 128;

/// Far more tokens without a `,` or `;` between them, including those of enclosing groups, than real code
/// has. Each may be a level, and the stacks of parsing threads suffice for as many.
const CHAIN: usize = 4096;

/// The longest number: the exact digits of the smallest 64-bit float are fewer. syn multiplies out the digits of
/// integers, which takes minutes for tens of thousands.
const DIGITS: usize = 1100;

/// Checks the nesting of a text.
///
/// # Errors
/// Returns the first byte that is too deep.
pub fn check(text: &str) -> Result<(), usize> {
    let bytes = text.as_bytes();
    let mut scan = Scan { levels: vec![Level::default()], chain: 0 };
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let length = length(&bytes[at..]);
        if byte.is_ascii_digit() && length > DIGITS {
            return Err(at);
        }
        if !byte.is_ascii_whitespace() && !is_comment(&bytes[at..]) {
            scan.token(byte, &bytes[at + length..]).ok_or(at)?;
        }
        at += length;
    }
    Ok(())
}

/// The message of an error of [`check`].
#[must_use]
pub fn message() -> String {
    format!(
        "nested more than {LIMIT} levels deep, {CHAIN} tokens long without an end, or a number of {DIGITS} digits"
    )
}

#[derive(Default)]
struct Level {
    tokens: usize,
    angle: usize,
    run: usize,
    last: u8,
}

struct Scan {
    /// The levels of the open groups and of the text itself.
    levels: Vec<Level>,
    /// The tokens on all levels.
    chain: usize,
}

impl Scan {
    /// Counts a token; `None` if it exceeds the limit.
    fn token(&mut self, byte: u8, rest: &[u8]) -> Option<()> {
        if matches!(byte, b')' | b']' | b'}') {
            if self.levels.len() > 1 {
                self.chain -= self.levels.pop()?.tokens;
            }
            if byte == b'}' && ends_item(rest) {
                self.end();
            }
            return Some(());
        }
        self.chain += 1;
        let level = self.levels.last_mut()?;
        level.tokens += 1;
        level.punct(byte);
        if level.angle > LIMIT || level.run > LIMIT || self.chain > CHAIN {
            return None;
        }
        match byte {
            b'(' | b'[' | b'{' => self.levels.push(Level::default()),
            b',' | b';' => self.end(),
            _ => {}
        }
        (self.levels.len() <= LIMIT).then_some(())
    }

    /// Begins a new chain on the innermost level.
    fn end(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            self.chain -= level.tokens;
            level.tokens = 0;
        }
    }
}

impl Level {
    fn punct(&mut self, byte: u8) {
        match byte {
            b'<' => self.angle += 1,
            b'>' if self.last != b'-' && self.last != b'=' => self.angle = self.angle.saturating_sub(1),
            b';' => self.angle = 0,
            _ => {}
        }
        self.run = if matches!(byte, b'&' | b'*' | b'!' | b'-') { self.run + 1 } else { 0 };
        self.last = byte;
    }
}

/// Whether the token after a `}` cannot continue the expression: a word other than these, a literal, an
/// attribute.
fn ends_item(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let word = &rest[..word(rest)];
    match rest.first() {
        None | Some(b'#' | b'"' | b'\'' | b'/' | b'}') => true,
        _ => !word.is_empty() && word != b"else" && word != b"as",
    }
}

fn is_comment(bytes: &[u8]) -> bool {
    bytes.starts_with(b"//") || bytes.starts_with(b"/*")
}

/// Length of the word, literal, comment or character that the text begins with; at least 1.
fn length(bytes: &[u8]) -> usize {
    let until = |end: &[u8]| bytes.windows(end.len()).position(|it| it == end).unwrap_or(bytes.len());
    let own = match bytes {
        [b'/', b'/', ..] => until(b"\n"),
        [b'/', b'*', ..] => comment(bytes),
        [b'"', ..] => quoted(bytes, b'"'),
        [b'\'', b'\\', ..] => quoted(bytes, b'\''),
        [b'\'', rest @ ..] => character(rest).map_or(1, |length| length + 2),
        _ => {
            let word = word(bytes);
            raw(&bytes[..word], &bytes[word..]).map_or(word, |length| word + length)
        }
    };
    own.max(1)
}

fn word(bytes: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    bytes.iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len())
}

/// Length of a character literal after its opening quote; `None`: the quote begins a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    let length = 1 + rest.iter().skip(1).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    (rest.get(length) == Some(&b'\'')).then_some(length)
}

fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += if byte == b'\\' { 2 } else { 1 };
        if byte == quote {
            break;
        }
    }
    at.min(bytes.len())
}

/// Length of a raw string after its prefix, if there is one.
fn raw(prefix: &[u8], rest: &[u8]) -> Option<usize> {
    let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
    if !matches!(prefix, b"r" | b"br" | b"cr") || rest.get(hashes) != Some(&b'"') {
        return None;
    }
    let end = [b"\"".as_slice(), &rest[..hashes]].concat();
    let inside = &rest[hashes + 1..];
    let length = inside.windows(end.len()).position(|it| it == end.as_slice());
    Some(length.map_or(rest.len(), |length| hashes + 1 + length + end.len()))
}

/// Length of a block comment, including nested ones.
fn comment(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        let step = match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeply_nested_text_is_refused() {
        for (open, close) in [("(", ")"), ("[", "]"), ("Vec<", ">"), ("&", ""), ("a + ", ""), ("{ ", " }")] {
            let deep = format!("type A = {}u8{};", open.repeat(100_000), close.repeat(100_000));
            assert!(check(&deep).is_err(), "{open}");
            let shallow = format!("type A = {}u8{};", open.repeat(20), close.repeat(20));
            assert!(check(&shallow).is_ok(), "{open}");
        }
    }

    #[test]
    fn error_position_is_the_first_token_beyond_the_limit() {
        assert_eq!(check(&"(".repeat(1000)), Err(LIMIT - 1));
        assert_eq!(check(&"a ".repeat(5000)), Err(CHAIN * 2));
        assert_eq!(check(&format!("a = {}", "1".repeat(2000))), Err(4));
    }

    #[test]
    fn chain_length_restarts_after_items_and_separators() {
        for part in [
            "struct A { a: u8 }\n",
            "a, ",
            "fn a() { b(); }\n",
            "/// Text.\nstruct A(u8);\n",
            "\"a\" => {}\n",
        ] {
            assert_eq!(check(&part.repeat(10_000)), Ok(()), "{part}");
        }
        for part in ["if a {} else ", ".b(|c, d| e)", "match {} as "] {
            assert!(check(&part.repeat(10_000)).is_err(), "{part}");
        }
    }

    #[test]
    fn comments_and_literals_do_not_count_as_nesting() {
        let many = "(".repeat(1000);
        for text in [
            format!("// {many}\n"),
            format!("/* /* {many} */ {many} */"),
            format!("\"\\\"{many}\""),
            format!("r\"\\\" br##\"{many}\"#{many}\"##"),
            format!("'\\'' '(' 'é' '\"' \"{many}\""),
        ] {
            assert_eq!(check(&text), Ok(()), "{text:.20}");
        }
        // A closing bracket in a literal closes nothing.
        assert!(check(&"1 + \")\" + ')' + 'a ".repeat(1_000)).is_err());
    }

    #[test]
    fn unterminated_text_does_not_panic() {
        for text in ["\"", "'", "'\\", "/*", "r#\"", "\"\\", "é", "'é", "}", "//"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }
}
