//! Strings in Go's notation, in either quote.

/// The string between two quotes; `None` if an escape is not one of Go's, or a quote is not escaped.
pub(super) fn unquote(text: &str, quote: char) -> Option<String> {
    if !text.contains(['\\', quote]) {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => rest = escape(rest, quote, &mut bytes)?,
            c if c == quote => return None,
            c => push(c, &mut bytes),
        }
    }
    // Bytes that are not UTF-8 equal no string of an object.
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Appends the character that follows a backslash, and returns the rest.
fn escape<'a>(text: &'a str, quote: char, out: &mut Vec<u8>) -> Option<&'a str> {
    let c = text.chars().next()?;
    let rest = &text[c.len_utf8()..];
    let byte = match c {
        'a' => 0x07,
        'b' => 0x08,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '"' | '\'' if c == quote => u8::try_from(c).ok()?,
        '0'..='7' => {
            let value = digits(text, 3, 8)?;
            out.push(u8::try_from(value).ok()?);
            return Some(&text[3..]);
        }
        'x' => {
            let value = digits(rest, 2, 16)?;
            out.push(u8::try_from(value).ok()?);
            return Some(&rest[2..]);
        }
        'u' | 'U' => {
            let length = if c == 'u' { 4 } else { 8 };
            push(char::from_u32(digits(rest, length, 16)?)?, out);
            return Some(&rest[length..]);
        }
        _ => return None,
    };
    out.push(byte);
    Some(rest)
}

/// The number in the first `length` digits.
fn digits(text: &str, length: usize, radix: u32) -> Option<u32> {
    let digits = text.get(..length).filter(|digits| digits.chars().all(|c| c.is_digit(radix)))?;
    u32::from_str_radix(digits, radix).ok()
}

fn push(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
