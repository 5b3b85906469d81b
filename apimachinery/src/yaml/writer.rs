//! The writer.

use serde_json::Value;

use super::is_hidden;
use super::order::sort_keys;
use super::style::{Facts, Position, Style, is_break, is_phrase, is_printable, is_word, style};
use crate::golang;

/// Column after which a scalar is folded at the next single space (libyaml's `best_width`).
const FOLD_COLUMN: usize = 80;

/// Longer keys, and those with line breaks, follow an explicit `?` (libyaml's limit for simple keys, in bytes).
const SIMPLE_KEY_LIMIT: usize = 128;

/// Writes one YAML document that begins with `---`.
#[must_use]
pub fn document(value: &Value) -> String {
    let mut out = String::from("---\n");
    out.push_str(&to_yaml(value));
    out
}

/// Writes `value` as YAML that ends with a line break.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    written(value, is_printable)
}

/// Writes `value` for people to read: invisible characters become escapes.
#[must_use]
pub fn to_visible_yaml(value: &Value) -> String {
    written(value, |c| is_printable(c) && !is_hidden(c))
}

fn written(value: &Value, printable: fn(char) -> bool) -> String {
    let mut writer = Writer { out: String::with_capacity(4096), column: 0, printable };
    match value {
        Value::Object(map) if !map.is_empty() => writer.mapping(map, 0, true),
        Value::Array(items) if !items.is_empty() => writer.sequence(items, 0, true),
        other => writer.inline(other, 2),
    }
    writer.out
}

struct Writer {
    out: String,
    /// Characters written since the last line break.
    column: usize,
    /// Whether a character needs no escape.
    printable: fn(char) -> bool,
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn put_char(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Writes a line break of Unicode as it is.
    fn put_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }

    fn pad_to(&mut self, indent: usize) {
        while self.column < indent {
            self.put_char(' ');
        }
    }

    fn new_line(&mut self, indent: usize) {
        self.line_break();
        self.pad_to(indent);
    }

    /// A mapping; with `inline`, its first key continues the current line.
    fn mapping(&mut self, map: &serde_json::Map<String, Value>, indent: usize, inline: bool) {
        for (at, key) in sort_keys(map.keys().collect()).into_iter().enumerate() {
            if at > 0 || !inline {
                self.pad_to(indent);
            }
            if key.len() > SIMPLE_KEY_LIMIT || key.contains(is_break) {
                // Like a value, such a key may take several lines. Its value begins on the line of the colon.
                self.put("? ");
                self.scalar(key, indent + 2, Position::Value);
                self.new_line(indent);
                self.put(": ");
                self.inline(&map[key], indent + 2);
            } else {
                self.scalar(key, indent + 2, Position::Key);
                self.put(":");
                self.value_after_colon(&map[key], indent);
            }
        }
    }

    fn value_after_colon(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.line_break();
                self.mapping(map, indent + 2, false);
            }
            // Sequences in mappings are not indented.
            Value::Array(items) if !items.is_empty() => {
                self.line_break();
                self.sequence(items, indent, false);
            }
            other => {
                self.put(" ");
                self.leaf(other, indent + 2);
                self.line_break();
            }
        }
    }

    fn sequence(&mut self, items: &[Value], indent: usize, inline: bool) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 || !inline {
                self.pad_to(indent);
            }
            self.put("- ");
            self.inline(item, indent + 2);
        }
    }

    /// A value that begins on the current line.
    fn inline(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => self.mapping(map, indent, true),
            Value::Array(items) if !items.is_empty() => self.sequence(items, indent, true),
            other => {
                self.leaf(other, indent);
                self.line_break();
            }
        }
    }

    /// A scalar or an empty collection; continuation lines are indented by `indent`.
    fn leaf(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.put("null"),
            Value::Bool(true) => self.put("true"),
            Value::Bool(false) => self.put("false"),
            Value::Number(number) => self.put(&format_number(number)),
            Value::String(text) => self.scalar(text, indent, Position::Value),
            Value::Array(_) => self.put("[]"),
            Value::Object(_) => self.put("{}"),
        }
    }

    fn scalar(&mut self, text: &str, indent: usize, position: Position) {
        if is_word(text) {
            return self.put(text);
        }
        if is_phrase(text) {
            return self.folded(text, indent, position, false);
        }
        let facts = Facts::of(text, self.printable);
        match style(text, &facts, position) {
            Style::Plain => self.folded(text, indent, position, false),
            Style::Single => {
                self.put_char('\'');
                self.folded(text, indent, position, true);
                self.put_char('\'');
            }
            Style::Double => self.double_quoted(text, indent, position),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// The body of a plain or single-quoted scalar. Its line breaks are of kinds that folding keeps.
    fn folded(&mut self, text: &str, indent: usize, position: Position, quoted: bool) {
        let (mut spaces, mut breaks) = (false, false);
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if is_break(c) {
                self.put_break(c);
                breaks = true;
                continue;
            }
            if c != ' ' {
                if breaks {
                    self.pad_to(indent);
                }
                breaks = false;
                if quoted && c == '\'' {
                    self.put_char('\'');
                }
                self.put_char(c);
                spaces = false;
                continue;
            }
            let next_is_space = chars.peek().is_some_and(|&(_, next)| next == ' ');
            let inside = !quoted || (at > 0 && chars.peek().is_some());
            if position == Position::Value && !spaces && self.column > FOLD_COLUMN && inside && !next_is_space
            {
                self.new_line(indent);
            } else {
                self.put_char(' ');
            }
            spaces = true;
        }
    }

    fn double_quoted(&mut self, text: &str, indent: usize, position: Position) {
        self.put_char('"');
        let mut spaces = false;
        // After a leading byte order mark, goyaml escapes every character.
        let is_marked = text.starts_with('\u{feff}');
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == ' ' && !is_marked {
                let inside = at > 0 && chars.peek().is_some();
                if position == Position::Value && !spaces && self.column > FOLD_COLUMN && inside {
                    self.new_line(indent);
                    if chars.peek().is_some_and(|&(_, next)| next == ' ') {
                        self.put_char('\\');
                    }
                } else {
                    self.put_char(' ');
                }
                spaces = true;
            } else {
                self.escaped(c, is_marked);
                spaces = false;
            }
        }
        self.put_char('"');
    }

    fn escaped(&mut self, c: char, always: bool) {
        let short = match c {
            '\0' => "\\0",
            '\x07' => "\\a",
            '\x08' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\x0b' => "\\v",
            '\x0c' => "\\f",
            '\r' => "\\r",
            '\x1b' => "\\e",
            '"' => "\\\"",
            '\\' => "\\\\",
            '\u{85}' => "\\N",
            '\u{a0}' if always => "\\_",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            c if !always && (self.printable)(c) => return self.put_char(c),
            c => return self.coded(c),
        };
        self.put(short);
    }

    /// A character as its code point.
    fn coded(&mut self, c: char) {
        let code = u32::from(c);
        self.put(&match code {
            0..=0xff => format!("\\x{code:02X}"),
            0x100..=0xffff => format!("\\u{code:04X}"),
            _ => format!("\\U{code:08X}"),
        });
    }

    /// A literal block, without the line break at its end.
    fn literal(&mut self, text: &str, indent: usize) {
        self.put_char('|');
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.put_char('2');
        }
        match text.strip_suffix('\n') {
            None => self.put_char('-'),
            Some(body) if body.is_empty() || body.ends_with(is_break) => self.put_char('+'),
            Some(_) => {}
        }
        self.line_break();
        let mut begins = true;
        for c in text.strip_suffix('\n').unwrap_or(text).chars() {
            if is_break(c) {
                self.put_break(c);
            } else {
                if begins {
                    self.pad_to(indent);
                }
                self.put_char(c);
            }
            begins = is_break(c);
        }
    }
}

/// A number as Go's tools print it after a round trip through JSON: integers in full, other numbers in the shortest form.
fn format_number(number: &serde_json::Number) -> String {
    let float = number.as_f64().unwrap_or(0.0);
    let json = if number.is_f64() { golang::json_float(float) } else { number.to_string() };
    match json.parse::<i64>() {
        // `-0` becomes `0`.
        Ok(integer) => integer.to_string(),
        Err(_) if json.parse::<u64>().is_ok() => json,
        Err(_) => golang::float(float),
    }
}
