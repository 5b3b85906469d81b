//! The style of a scalar: plain, quoted or a block.

use super::reads_as_other_than_string;

/// All words that YAML 1.1 reads as something else are shorter.
const LONGER_THAN_A_WORD: usize = 6;

/// Reports whether a quick look shows that the text is a plain scalar, as most keys and types are.
pub(super) fn is_word(text: &str) -> bool {
    text.len() >= LONGER_THAN_A_WORD
        && text.as_bytes()[0].is_ascii_alphabetic()
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Reports whether a quick look shows that the text is plain words, as most descriptions are.
pub(super) fn is_phrase(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b',' | b'/' | b'-' | b'_');
    text.len() >= LONGER_THAN_A_WORD
        && text.as_bytes()[0].is_ascii_alphabetic()
        && !text.ends_with(' ')
        && text.bytes().all(is_plain)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Key,
    Value,
}

pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// The styles that a string's characters allow.
pub(super) struct Facts {
    plain: bool,
    single: bool,
    literal: bool,
}

impl Facts {
    pub(super) fn of(text: &str, printable: fn(char) -> bool) -> Facts {
        if text.is_empty() {
            return Facts { plain: true, single: true, literal: false };
        }
        let mut facts = Facts { plain: true, single: true, literal: true };
        if text.starts_with("---") || text.starts_with("...") {
            facts.plain = false;
        }
        let mut previous = None;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            facts.see(previous, c, chars.peek().copied());
            previous = Some(c);
        }
        if !text.chars().all(printable) {
            (facts.plain, facts.single, facts.literal) = (false, false, false);
        }
        facts
    }

    fn see(&mut self, previous: Option<char>, c: char, next: Option<char>) {
        let blank_follows = next.is_none_or(|next| next == ' ' || next == '\t');
        let blank_before = previous.is_none_or(|before| matches!(before, ' ' | '\t') || is_break(before));
        let indicator = match c {
            '#' if blank_before => true,
            ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                previous.is_none()
            }
            '?' | '-' => previous.is_none() && blank_follows,
            ':' => blank_follows,
            _ => false,
        };
        let edge_blank = (c == ' ' || is_break(c)) && (previous.is_none() || next.is_none());
        if indicator || edge_blank {
            self.plain = false;
        }
        if c == ' ' && next.is_none() {
            self.literal = false;
        }
        if is_break(c) {
            self.plain = false;
        }
        if c == ' ' && previous.is_some_and(is_break) {
            (self.plain, self.single) = (false, false);
        }
        let space_before_break = is_break(c) && previous == Some(' ');
        if space_before_break {
            (self.plain, self.single, self.literal) = (false, false, false);
        }
    }
}

pub(super) fn style(text: &str, facts: &Facts, position: Position) -> Style {
    if text.contains('\n') {
        // libyaml begins no new line after a block that ends with another kind of line break, which readers would not see.
        let ends_otherwise = text.ends_with(['\u{2028}', '\u{2029}']);
        let is_literal = facts.literal && position == Position::Value && !ends_otherwise;
        return if is_literal { Style::Literal } else { Style::Double };
    }
    if (!facts.plain && !facts.single) || reads_as_other_than_string(text) {
        return Style::Double;
    }
    if facts.plain { Style::Plain } else { Style::Single }
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Reports whether a character is printable for libyaml: none beyond the basic plane, no tab.
pub(super) fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

/// Reports whether a character is invisible, or changes the direction of others.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let direction =
        matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || direction || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}
