//! A YAML writer whose bytes equal those of `sigs.k8s.io/yaml`, which controller-gen uses, and what that package's reader takes
//! scalars and names of members for.
//!
//! Input: JSON values. Output: block-style YAML with keys in natural order, scalars quoted when a
//! YAML 1.1 reader would take them for something else, literal blocks for text with line breaks and
//! lines folded past column 80. It knows nothing of CRDs.
//!
//! Every string goes through `Writer::scalar`, which picks a style that can represent it; a string
//! can therefore not end its scalar and become structure.

use std::cmp::Ordering;

use serde_json::Value;

pub use self::member::{MemberName, merge};
use self::scalar::float_key;
pub use self::scalar::{Scalar, is_plain, json_number, reads_as_other_than_string};
use crate::field::golang;

mod member;
mod scalar;

/// Column after which a scalar is folded at the next single space (libyaml's `best_width`).
const FOLD_COLUMN: usize = 80;

/// Keys longer than this are written with an explicit `?` (libyaml's limit for simple keys, in bytes), and those with line breaks.
const SIMPLE_KEY_LIMIT: usize = 128;

/// One YAML document, beginning with `---`.
#[must_use]
pub fn document(value: &Value) -> String {
    let mut out = String::from("---\n");
    out.push_str(&to_yaml(value));
    out
}

/// `value` as YAML that ends with a line break.
#[must_use]
pub fn to_yaml(value: &Value) -> String {
    written(value, is_printable)
}

/// The same for people to read: what cannot be seen is an escape.
pub fn to_visible_yaml(value: &Value) -> String {
    written(value, |c| is_printable(c) && !is_hidden(c))
}

/// Whether a character cannot be seen, or changes the direction of others.
pub fn is_hidden(c: char) -> bool {
    let direction =
        matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || direction || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
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

/// Compares keys in the writer's order: digits count as numbers, letters come after other characters.
///
/// It is goyaml's order, which is none: `1x` comes before `01`, that before `100`, and `100` before `1x`. The standard library's
/// sorting may panic over it; `sort_keys` does not.
fn natural_order(a: &str, b: &str) -> Ordering {
    // Most keys differ in a letter, or one begins with the other.
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        None => return a.len().cmp(&b.len()),
        Some((x, y)) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => return x.cmp(&y),
        Some(_) => {}
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let shared = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (Some(&x), Some(&y)) = (a.get(shared), b.get(shared)) else {
        return a.len().cmp(&b.len());
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    compare_numbers(&a, &b, shared).then(x.cmp(&y))
}

/// Compares the digit runs that begin at `at`, as numbers and then by length.
fn compare_numbers(a: &[char], b: &[char], at: usize) -> Ordering {
    let run = |text: &[char]| text[at..].iter().take_while(|c| c.is_ascii_digit()).count();
    // A zero that follows digits belongs to the number before it: `10` and `1a` must not compare as 0 and nothing.
    let inside_number = (a[at] == '0' || b[at] == '0')
        && a[..at].iter().rev().take_while(|c| c.is_ascii_digit()).any(|&c| c != '0');
    // Beyond 64 bits Go's numbers begin anew.
    let value = |text: &[char], digits: usize| {
        text[at..at + digits].iter().fold(i64::from(inside_number), |n, &c| {
            n.wrapping_mul(10).wrapping_add(i64::from(c.to_digit(10).unwrap_or(0)))
        })
    };
    let (digits_a, digits_b) = (run(a), run(b));
    value(a, digits_a).cmp(&value(b, digits_b)).then(digits_a.cmp(&digits_b))
}

/// The keys in the writer's order; where that goes in circles, in the same one each time.
fn sort_keys(mut keys: Vec<&String>) -> Vec<&String> {
    if keys.len() < 2 {
        return keys;
    }
    let mut right = sort_keys(keys.split_off(keys.len() / 2)).into_iter().peekable();
    let mut out = Vec::with_capacity(keys.len() + right.len());
    for left in sort_keys(keys) {
        while let Some(key) = right.next_if(|key| natural_order(key, left).is_lt()) {
            out.push(key);
        }
        out.push(left);
    }
    out.extend(right);
    out
}

struct Writer {
    out: String,
    /// Characters written since the last line break.
    column: usize,
    /// Which characters stand there as they are.
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

    /// Unicode's own line breaks stand in a text as they are.
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

    /// A mapping; `inline` when its first key continues the current line.
    fn mapping(&mut self, map: &serde_json::Map<String, Value>, indent: usize, inline: bool) {
        for (at, key) in sort_keys(map.keys().collect()).into_iter().enumerate() {
            if at > 0 || !inline {
                self.pad_to(indent);
            }
            if key.len() > SIMPLE_KEY_LIMIT || key.contains(is_break) {
                // Such a key may go over several lines, as values may, and its value begins on the line of the colon.
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

    /// The body of a plain or single-quoted scalar; line breaks in it are of the kind that folding keeps.
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
        // With a byte order mark in front goyaml takes every character for one.
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

    /// A character by its number.
    fn coded(&mut self, c: char) {
        let code = u32::from(c);
        self.put(&match code {
            0..=0xff => format!("\\x{code:02X}"),
            0x100..=0xffff => format!("\\u{code:04X}"),
            _ => format!("\\U{code:08X}"),
        });
    }

    /// A block with the lines of a text, without the line break that ends it.
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

/// Longer than any word that YAML 1.1 reads as something else.
const LONGER_THAN_A_WORD: usize = 6;

/// Whether the text is a plain scalar at first sight, as most keys and types are.
fn is_word(text: &str) -> bool {
    text.len() >= LONGER_THAN_A_WORD
        && text.as_bytes()[0].is_ascii_alphabetic()
        && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Whether the text is plain words at first sight, as most descriptions are.
fn is_phrase(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'.' | b',' | b'/' | b'-' | b'_');
    text.len() >= LONGER_THAN_A_WORD
        && text.as_bytes()[0].is_ascii_alphabetic()
        && !text.ends_with(' ')
        && text.bytes().all(is_plain)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Key,
    Value,
}

enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// What a string's characters allow.
struct Facts {
    plain: bool,
    single: bool,
    literal: bool,
}

impl Facts {
    fn of(text: &str, printable: fn(char) -> bool) -> Facts {
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

fn style(text: &str, facts: &Facts, position: Position) -> Style {
    if text.contains('\n') {
        // libyaml begins no new line behind a break of another kind that ends a block; people would not see that.
        let ends_otherwise = text.ends_with(['\u{2028}', '\u{2029}']);
        let is_literal = facts.literal && position == Position::Value && !ends_otherwise;
        return if is_literal { Style::Literal } else { Style::Double };
    }
    if (!facts.plain && !facts.single) || reads_as_other_than_string(text) {
        return Style::Double;
    }
    if facts.plain { Style::Plain } else { Style::Single }
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// YAML's printable characters as libyaml counts them: none beyond the basic plane, no tab.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

/// Numbers as Go's tools print them, which come to YAML by way of JSON: integers in full, whatever they were, other numbers in
/// the shortest form.
fn format_number(number: &serde_json::Number) -> String {
    let float = number.as_f64().unwrap_or(0.0);
    let json = if number.is_f64() { golang::json_float(float) } else { number.to_string() };
    match json.parse::<i64>() {
        // There is no `-0` among integers.
        Ok(integer) => integer.to_string(),
        Err(_) if json.parse::<u64>().is_ok() => json,
        Err(_) => golang::float(float),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(value: &Value, expected: &str) {
        let text = to_yaml(value);
        assert_eq!(text, expected);
        let back: Value = serde_yaml::from_str(&text).unwrap();
        assert_eq!(&back, value, "re-read {text}");
    }

    #[test]
    fn words_and_numbers_of_yaml_1_1_are_quoted() {
        for word in ["y", "No", "null", "012", "1_000", "12:30:45", ".5", "+1", ".inf", "~", "1e3", "0x1F"] {
            assert_eq!(to_yaml(&json!(word)), format!("\"{word}\"\n"));
        }
        for date in ["2024-01-15", "2024-1-5T1:2:3Z", "2024-01-15 10:11:12.5", "2024-01-15t01:02:03+02:00"] {
            assert_eq!(to_yaml(&json!(date)), format!("\"{date}\"\n"));
        }
    }

    #[test]
    fn other_words_stay_plain() {
        for word in
            ["=", "<<", "a b", "1.2.3", "v1", "2024-13-01", "-x", ".", "a#b", "a:b", "10.0.0.0/16", "0xZZ"]
        {
            assert_eq!(to_yaml(&json!(word)), format!("{word}\n"));
        }
    }

    #[test]
    fn indicators_are_single_quoted() {
        for text in
            ["-", "---", " padded ", "a: b", "[x]", "#x", "a #b", "*a", "&a", "%x", "@x", "`x", "x:", "? a"]
        {
            assert_eq!(to_yaml(&json!(text)), format!("'{text}'\n"));
        }
        assert_eq!(to_yaml(&json!("^#.*: 'x'$")), "'^#.*: ''x''$'\n");
    }

    #[test]
    fn unprintable_characters_are_escaped() {
        assert_eq!(to_yaml(&json!("é☃🚀")), "\"é☃\\U0001F680\"\n");
        assert_eq!(to_yaml(&json!("line\nbreak\tand é")), "\"line\\nbreak\\tand é\"\n");
        assert_eq!(to_yaml(&json!("a\rb\u{2028}\u{0}\u{1}")), "\"a\\rb\\L\\0\\x01\"\n");
    }

    #[test]
    fn text_with_line_breaks_is_a_literal_block() {
        check(&json!({"a": "two\nlines\n"}), "a: |\n  two\n  lines\n");
        check(&json!({"a": "x\n\n  y"}), "a: |-\n  x\n\n    y\n");
        check(&json!({"a": " x\ny"}), "a: |2-\n   x\n  y\n");
        check(&json!({"a": "x\n\n"}), "a: |+\n  x\n\n");
        check(&json!({"a": "x \ny"}), "a: \"x \\ny\"\n");
    }

    #[test]
    fn long_lines_are_folded_after_column_80() {
        let text = "word ".repeat(30).trim_end().to_string();
        let yaml = to_yaml(&json!({ "description": text }));
        assert!(yaml.lines().count() == 2, "{yaml}");
        check(&json!({ "description": text }), &yaml);
        let quoted = json!({ "a": format!("x: {text} 'q'  {text}") });
        check(&quoted, &to_yaml(&quoted));
        let double = json!({ "a": format!("x\t {text}   {text}") });
        check(&double, &to_yaml(&double));
    }

    #[test]
    fn collections_nest_like_controller_gens() {
        check(
            &json!({"a": [{"x": 1, "w": [[1, 2], []]}, "s"], "b": {}, "on": null}),
            "a:\n- w:\n  - - 1\n    - 2\n  - []\n  x: 1\n- s\nb: {}\n\"on\": null\n",
        );
    }

    #[test]
    fn keys_are_in_natural_order() {
        let yaml = to_yaml(&json!({"a10": 0, "a2": 0, "a": 0, "B": 0, "_x": 0, "a02": 0, "ab": 0}));
        let keys: Vec<&str> = yaml.lines().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(keys, ["_x", "B", "a", "a2", "a02", "a10", "ab"]);
    }

    #[test]
    fn letters_come_after_what_goes_on_with_a_number() {
        let yaml = to_yaml(&json!({"v1alpha1": 0, "v10": 0, "v1": 0, "v1.x": 0, "v2": 0}));
        let keys: Vec<&str> = yaml.lines().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(keys, ["v1", "v1.x", "v10", "v1alpha1", "v2"]);
    }

    #[test]
    fn keys_whose_order_goes_in_circles_are_written_all_the_same() {
        let keys = (0..400).map(|n| match n % 4 {
            0 => format!("{}x{n}", n % 7),
            1 => format!("0{n}"),
            2 => format!("{n}0{}", n % 3),
            _ => format!("{n}.{n}"),
        });
        let map: serde_json::Map<String, Value> = keys.map(|key| (key, json!(0))).collect();
        let yaml = to_yaml(&json!(map));
        assert_eq!(yaml.lines().count(), map.len());
    }

    #[test]
    fn keys_with_line_breaks_and_long_ones_are_written_as_values() {
        check(&json!({"a\nb\n": {"c": 1, "d": 2}}), "? |\n  a\n  b\n: c: 1\n  d: 2\n");
        check(&json!({"\r": [1, [2]]}), "? \"\\r\"\n: - 1\n  - - 2\n");
        check(&json!([{"\n": "x"}]), "- ? |2+\n\n  : x\n");
        let long = format!("{} {}", "k".repeat(90), "k".repeat(60));
        let folded = long.replace(' ', "\n  ");
        check(&json!({ long: {} }), &format!("? {folded}\n: {{}}\n"));
    }

    #[test]
    fn scalars_alone_are_indented() {
        check(&json!("a\nb"), "|-\n  a\n  b\n");
    }

    #[test]
    fn line_breaks_of_unicode_stay_in_their_quotes() {
        check(&json!("a\u{2028}b"), "'a\u{2028}  b'\n");
        check(&json!({"a": "\u{2029}x\ny"}), "a: |2-\n\u{2029}  x\n  y\n");
        check(&json!({"a": "x\ny\u{2028}"}), "a: \"x\\ny\\L\"\n");
        assert_eq!(to_visible_yaml(&json!("a\u{2028}b")), "\"a\\Lb\"\n");
    }

    #[test]
    fn text_that_begins_with_a_mark_is_written_in_numbers() {
        check(&json!("\u{feff}a \n'"), "\"\\uFEFF\\x61\\x20\\n\\x27\"\n");
    }

    #[test]
    fn numbers_look_like_gos() {
        for (value, text) in [
            (json!(0.5), "0.5"),
            (json!(2.0), "2"),
            (json!(1e21), "1e+21"),
            (json!(1e-7), "1e-07"),
            (json!(1e7), "10000000"),
            (json!(1e20), "1e+20"),
            (json!(-0.0), "0"),
            (json!(12_345_678.5), "1.23456785e+07"),
        ] {
            assert_eq!(to_yaml(&value), format!("{text}\n"));
        }
        assert_eq!(to_yaml(&json!(123_456_789_012_345_678_i64)), "123456789012345678\n");
    }

    #[test]
    fn no_string_leaves_its_scalar() {
        let nasty = [
            "\"\n- injected: true\n",
            "'\nkey: value",
            "# comment",
            "|\n  x",
            "a\n---\nb: c",
            "...",
            "!!int 1",
            "&a *a",
            "{a: b}",
            "\u{feff}x",
            "\u{85}",
            "x\u{7f}",
            "a\n\tb",
            "- - -",
            "key: |\n  x",
            "\n",
            "\n\n",
            " ",
            "  \n  ",
            ": ",
            "?",
        ];
        for text in nasty {
            for value in [json!({ "a": text, "b": 1 }), json!([text, "x"]), json!({ text: "x", "zz": [] })] {
                let yaml = document(&value);
                let back: Value = serde_yaml::from_str(&yaml).unwrap_or_else(|e| panic!("{e}\n{yaml}"));
                assert_eq!(back, value, "{yaml}");
            }
        }
    }
}
