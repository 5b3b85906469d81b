//! A YAML writer whose bytes equal those of `sigs.k8s.io/yaml`, which controller-gen uses.
//!
//! Input: JSON values. Output: block-style YAML with keys in natural order, scalars quoted when a
//! YAML 1.1 reader would take them for something else, literal blocks for text with line breaks and
//! lines folded past column 80. It knows nothing of CRDs.
//!
//! Every string goes through `Writer::scalar`, which picks a style that can represent it; a string
//! can therefore not end its scalar and become structure.

use std::cmp::Ordering;

use serde_json::Value;

use crate::field::golang;

/// Column after which a scalar is folded at the next single space (libyaml's `best_width`).
const FOLD_COLUMN: usize = 80;

/// Keys longer than this are written with an explicit `?` (libyaml's limit for simple keys, in bytes).
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
        other => {
            writer.leaf(other, 0);
            writer.line_break();
        }
    }
    writer.out
}

/// Compares keys in the writer's order: digits count as numbers, letters come after other characters.
#[must_use]
pub fn natural_order(a: &str, b: &str) -> Ordering {
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
    let after_digit = shared > 0 && a[shared - 1].is_numeric();
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return if after_digit { Ordering::Less } else { Ordering::Greater },
        (false, true) => return if after_digit { Ordering::Greater } else { Ordering::Less },
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
    let value = |text: &[char], digits: usize| {
        text[at..at + digits].iter().fold(u128::from(inside_number), |n, &c| {
            n.saturating_mul(10).saturating_add(u128::from(c.to_digit(10).unwrap_or(0)))
        })
    };
    let (digits_a, digits_b) = (run(a), run(b));
    value(a, digits_a).cmp(&value(b, digits_b)).then(digits_a.cmp(&digits_b))
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
        let mut keys: Vec<&String> = map.keys().collect();
        keys.sort_by(|a, b| natural_order(a, b));
        for (at, key) in keys.into_iter().enumerate() {
            if at > 0 || !inline {
                self.pad_to(indent);
            }
            if key.len() > SIMPLE_KEY_LIMIT {
                self.put("? ");
                self.scalar(key, indent + 2, Position::Key);
                self.new_line(indent);
                self.put(":");
            } else {
                self.scalar(key, indent + 2, Position::Key);
                self.put(":");
            }
            self.value_after_colon(&map[key], indent);
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
            match item {
                Value::Object(map) if !map.is_empty() => self.mapping(map, indent + 2, true),
                Value::Array(items) if !items.is_empty() => self.sequence(items, indent + 2, true),
                other => {
                    self.leaf(other, indent + 2);
                    self.line_break();
                }
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

    /// The body of a plain or single-quoted scalar without line breaks.
    fn folded(&mut self, text: &str, indent: usize, position: Position, quoted: bool) {
        let mut spaces = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c != ' ' {
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
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if c == ' ' {
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
                self.escaped(c);
                spaces = false;
            }
        }
        self.put_char('"');
    }

    fn escaped(&mut self, c: char) {
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
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            c if (self.printable)(c) => return self.put_char(c),
            c => {
                let code = u32::from(c);
                let text = match code {
                    0..=0xff => format!("\\x{code:02X}"),
                    0x100..=0xffff => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                return self.put(&text);
            }
        };
        self.put(short);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.put_char('|');
        if text.starts_with([' ', '\n']) {
            self.put_char('2');
        }
        if !text.ends_with('\n') {
            self.put_char('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.put_char('+');
        }
        let body = text.strip_suffix('\n').unwrap_or(text);
        for line in body.split('\n') {
            self.line_break();
            if !line.is_empty() {
                self.pad_to(indent);
                self.put(line);
            }
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
    multiline: bool,
}

impl Facts {
    fn of(text: &str, printable: fn(char) -> bool) -> Facts {
        if text.is_empty() {
            return Facts { plain: true, single: true, literal: false, multiline: false };
        }
        let mut facts = Facts { plain: true, single: true, literal: true, multiline: false };
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
            self.multiline = true;
            self.plain = false;
        }
        if c == ' ' && previous.is_some_and(is_break) {
            (self.plain, self.single) = (false, false);
        }
        let space_before_break = is_break(c) && previous == Some(' ');
        let carriage = is_break(c) && c != '\n';
        if space_before_break || carriage {
            (self.plain, self.single, self.literal) = (false, false, false);
        }
    }
}

fn style(text: &str, facts: &Facts, position: Position) -> Style {
    if text.contains('\n') {
        return if facts.literal && position == Position::Value { Style::Literal } else { Style::Double };
    }
    if facts.multiline || (!facts.plain && !facts.single) {
        return Style::Double;
    }
    if reads_as_other_than_string(text) {
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

/// Whether a YAML 1.1 reader would take the unquoted text for something other than a string.
#[must_use]
pub fn reads_as_other_than_string(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "", "~", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE", "n", "N", "no",
        "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE", "null", "Null", "NULL", ".nan", ".NaN",
        ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
    ];
    if WORDS.contains(&text) {
        return true;
    }
    match text.as_bytes()[0] {
        b'.' => go_float(text),
        b'+' | b'-' | b'0'..=b'9' => {
            let digits: String = text.chars().filter(|&c| c != '_').collect();
            is_timestamp(text) || go_integer(&digits) || yaml_float(&digits) || is_base_60(text)
        }
        _ => false,
    }
}

/// Go's `strconv.ParseFloat` on text that begins with a dot.
fn go_float(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) && {
        text.parse::<f64>().is_ok()
    }
}

/// Go's `strconv.ParseInt(text, 0, 64)` or `ParseUint`, and YAML's `-0b` numbers.
fn go_integer(text: &str) -> bool {
    let (negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return false;
    }
    u64::from_str_radix(digits, radix).is_ok_and(|value| !negative || value <= 1 << 63)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn yaml_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)));
    mantissa_fits && exponent_fits
}

/// `1:30` was a number in YAML 1.1: `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or("");
    let first_fits = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let mut rest = parts.peekable();
    let has_rest = rest.peek().is_some();
    let rest_fits = rest.all(|part| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    });
    first_fits && has_rest && rest_fits && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}

/// The date and time forms that goyaml reads as a timestamp.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let year = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    if year != 4 || bytes.get(4) != Some(&b'-') {
        return false;
    }
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
        None => (text, None),
    };
    let mut date = date.splitn(3, '-').skip(1);
    let in_range = |part: Option<&str>, range: std::ops::RangeInclusive<u8>| {
        part.is_some_and(|p| {
            (1..=2).contains(&p.len())
                && p.bytes().all(|b| b.is_ascii_digit())
                && p.parse::<u8>().is_ok_and(|n| range.contains(&n))
        })
    };
    let date_fits = in_range(date.next(), 1..=12) && in_range(date.next(), 1..=31);
    date_fits && time.is_none_or(|(separator, time)| is_time(separator, time))
}

fn is_time(separator: &str, time: &str) -> bool {
    let clock = if separator == " " {
        time
    } else if let Some(clock) = time.strip_suffix('Z') {
        clock
    } else {
        match time.len().checked_sub(6).and_then(|at| time.split_at_checked(at)) {
            Some((clock, zone)) if zone.starts_with(['+', '-']) && zone.as_bytes()[3] == b':' => clock,
            _ => return false,
        }
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    parts.len() == 3
        && parts.iter().all(|p| (1..=2).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
}

/// Numbers as Go's tools print them, which come to YAML by way of JSON: integers in full, whatever they were, other numbers in
/// the shortest form.
fn format_number(number: &serde_json::Number) -> String {
    let float = number.as_f64().unwrap_or(0.0);
    let json = if number.is_f64() { golang::json_float(float) } else { number.to_string() };
    if json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok() { json } else { golang::float(float) }
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
    fn numbers_look_like_gos() {
        for (value, text) in [
            (json!(0.5), "0.5"),
            (json!(2.0), "2"),
            (json!(1e21), "1e+21"),
            (json!(1e-7), "1e-07"),
            (json!(1e7), "10000000"),
            (json!(1e20), "1e+20"),
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
