//! Renders the templates of a chart as Helm does, as far as generated charts need it. Anything else is a panic.

use serde_json::{Value, json};

/// Renders a template with the user's `values` and `namespace`.
pub(super) fn render(template: &str, values: &Value, namespace: &str) -> String {
    let root = json!({"Values": values, "Release": {"Namespace": namespace, "IsUpgrade": false}});
    let pieces = pieces(template);
    let (mut out, mut at) = (String::new(), 0);
    block(&pieces, &mut at, &root, true, &mut out);
    assert_eq!(at, pieces.len(), "an `end` too many");
    out
}

enum Piece {
    Text(String),
    Action(String),
}

/// Texts and actions, with spaces taken away beside `{{-` and `-}}`.
fn pieces(template: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = template;
    let mut trim = false;
    loop {
        let (text, after) = rest.split_once("{{").map_or((rest, None), |(text, after)| (text, Some(after)));
        let text = if trim { text.trim_start() } else { text };
        let Some(after) = after else {
            out.push(Piece::Text(text.to_owned()));
            return out;
        };
        let (action, next) = split_action(after);
        let inner = action.strip_prefix("- ");
        out.push(Piece::Text(if inner.is_some() { text.trim_end() } else { text }.to_owned()));
        let inner = inner.unwrap_or(action);
        trim = inner.ends_with(" -");
        out.push(Piece::Action(inner.trim_end_matches(" -").trim().to_owned()));
        rest = next;
    }
}

/// An action ends at the first `}}` outside of a string.
fn split_action(text: &str) -> (&str, &str) {
    let mut is_string = false;
    for (at, character) in text.char_indices() {
        is_string ^= character == '"';
        if !is_string && text[at..].starts_with("}}") {
            return (&text[..at], &text[at + 2..]);
        }
    }
    panic!("an action has no end: {text}")
}

/// Renders until `else` or `end`, and returns which of them came.
fn block(pieces: &[Piece], at: &mut usize, dot: &Value, is_on: bool, out: &mut String) -> Option<String> {
    while let Some(piece) = pieces.get(*at) {
        *at += 1;
        let action = match piece {
            Piece::Text(text) if is_on => {
                out.push_str(text);
                continue;
            }
            Piece::Text(_) => continue,
            Piece::Action(action) => action.as_str(),
        };
        let (word, rest) = action.split_once(' ').unwrap_or((action, ""));
        match word {
            "end" | "else" => return Some(word.to_owned()),
            "if" | "with" | "range" => {
                let value = if is_on { evaluate(rest, dot) } else { Value::Null };
                let begin = *at;
                let dots = match (word, &value) {
                    ("range", Value::Array(items)) => items.clone(),
                    ("range", Value::Null) => vec![],
                    ("with", value) if is_true(value) => vec![value.clone()],
                    ("if", value) if is_true(value) => vec![dot.clone()],
                    _ => vec![],
                };
                let mut ended = None;
                for dot in &dots {
                    *at = begin;
                    ended = block(pieces, at, dot, is_on, out);
                }
                if dots.is_empty() {
                    ended = block(pieces, at, dot, false, out);
                }
                if ended.as_deref() == Some("else") {
                    ended = block(pieces, at, dot, is_on && dots.is_empty(), out);
                }
                assert_eq!(ended.as_deref(), Some("end"), "{action} has no end");
            }
            _ if is_on => out.push_str(&text(&evaluate(action, dot))),
            _ => {}
        }
    }
    None
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_on) => *is_on,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => panic!("Go would print {value} as it prints maps"),
        other => other.to_string(),
    }
}

/// The value of a pipeline.
fn evaluate(pipeline: &str, dot: &Value) -> Value {
    let mut value = None;
    for command in split(pipeline, '|') {
        let mut words = split(&command, ' ').into_iter().filter(|word| !word.is_empty());
        let first = words.next().unwrap();
        let mut arguments: Vec<Value> = words.map(|word| operand(&word, dot)).collect();
        arguments.extend(value.take());
        value = Some(match (first.as_str(), &arguments[..]) {
            ("and", all) => all.iter().find(|one| !is_true(one)).or(all.last()).unwrap().clone(),
            ("or", all) => all.iter().find(|one| is_true(one)).or(all.last()).unwrap().clone(),
            ("not", [one]) => json!(!is_true(one)),
            ("quote", [one]) => json!(json!(text(one)).to_string()),
            ("eq", [one, other]) => json!(one == other),
            ("int", [one]) => one.clone(),
            ("fail", [message]) => panic!("{message}"),
            ("toYaml", [one]) => json!(serde_yaml::to_string(one).unwrap().trim_end()),
            ("nindent", [columns, text]) => {
                let indent = " ".repeat(usize::try_from(columns.as_u64().unwrap()).unwrap());
                let text = text.as_str().unwrap().replace('\n', &format!("\n{indent}"));
                json!(format!("\n{indent}{text}"))
            }
            (_, []) => operand(&first, dot),
            (name, _) => panic!("{name} in {pipeline} is not known"),
        });
    }
    value.unwrap()
}

fn operand(word: &str, dot: &Value) -> Value {
    if let Some(inner) = word.strip_prefix('(') {
        return evaluate(inner.strip_suffix(')').unwrap(), dot);
    }
    if word.starts_with('"') || word.starts_with(|c: char| c.is_ascii_digit()) {
        return serde_json::from_str(word).unwrap();
    }
    let path = word.strip_prefix('.').unwrap_or_else(|| panic!("{word} is not known"));
    path.split('.').filter(|key| !key.is_empty()).fold(dot.clone(), |value, key| {
        value.get(key).unwrap_or_else(|| panic!("{word}: there is no {key}")).clone()
    })
}

/// Splits outside of strings and brackets.
fn split(text: &str, at: char) -> Vec<String> {
    let (mut out, mut depth, mut is_string) = (vec![String::new()], 0, false);
    for character in text.trim().chars() {
        is_string ^= character == '"';
        match character {
            '(' if !is_string => depth += 1,
            ')' if !is_string => depth -= 1,
            _ => {}
        }
        match character == at && !is_string && depth == 0 {
            true => out.push(String::new()),
            false => out.last_mut().unwrap().push(character),
        }
    }
    out
}
