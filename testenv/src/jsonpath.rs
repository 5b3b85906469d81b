//! The simple JSONPath of printer columns: members, indices, wildcards and equality filters.

use serde_json::Value;

#[derive(Debug, PartialEq)]
enum Step {
    Member(String),
    Index(i64),
    All,
    /// `?(@.path=="value")`
    Equal(String, String),
}

/// The first value a path finds; `None` when there is none or the path cannot be read.
pub(crate) fn first(root: &Value, path: &str) -> Option<Value> {
    let steps = parse(path)?;
    let mut at = vec![root];
    for step in &steps {
        at = at.into_iter().flat_map(|value| follow(value, step)).collect();
    }
    at.first().map(|v| (*v).clone())
}

fn follow<'a>(value: &'a Value, step: &Step) -> Vec<&'a Value> {
    match (step, value) {
        (Step::Member(name), _) => value.get(name).into_iter().collect(),
        (Step::Index(i), Value::Array(list)) => {
            let index = if *i < 0 { list.len() as i64 + i } else { *i };
            usize::try_from(index).ok().and_then(|i| list.get(i)).into_iter().collect()
        }
        (Step::All, Value::Array(list)) => list.iter().collect(),
        (Step::All, Value::Object(map)) => map.values().collect(),
        (Step::Equal(path, wanted), Value::Array(list)) => {
            let fits = |item: &&Value| match first(item, path) {
                Some(Value::String(text)) => text == *wanted,
                Some(other) => serde_json::from_str::<Value>(wanted).is_ok_and(|wanted| wanted == other),
                None => false,
            };
            list.iter().filter(fits).collect()
        }
        _ => Vec::new(),
    }
}

fn parse(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = path.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let end = closing(after)?;
            steps.push(bracket(&after[..end])?);
            rest = &after[end + 1..];
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let (name, after) = member(rest);
        match name.as_str() {
            "" => {}
            "*" => steps.push(Step::All),
            _ => steps.push(Step::Member(name)),
        }
        if after.len() == rest.len() && !after.starts_with('[') {
            return None;
        }
        rest = after;
    }
    Some(steps)
}

/// A member's name up to the next step; a backslash takes the next character as it is.
fn member(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[i..]),
            c => name.push(c),
        }
    }
    (name, "")
}

/// Index of the bracket's end, quotes respected.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') => return Some(i),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

fn bracket(text: &str) -> Option<Step> {
    let text = text.trim();
    if text == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|f| f.strip_suffix(')')) {
        let (path, value) = filter.split_once("==")?;
        let path = path.trim().strip_prefix('@')?;
        return Some(Step::Equal(path.to_owned(), unquoted(value.trim()).to_owned()));
    }
    match text.parse() {
        Ok(index) => Some(Step::Index(index)),
        Err(_) => Some(Step::Member(unquoted(text).to_owned())),
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(|c| c == '\'' || c == '"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_of_printer_columns() {
        let object = json!({"metadata": {"annotations": {"a.b/c": "x"}}, "status": {"conditions": [
            {"type": "Ready", "status": "True"}, {"type": "Other", "status": "False"}], "n": [1, 2]}});
        for (path, expected) in [
            (".status.n[0]", json!(1)),
            (".status.n[-1]", json!(2)),
            (".status.conditions[?(@.type==\"Other\")].status", json!("False")),
            (".status.conditions[*].type", json!("Ready")),
            (".metadata.annotations.a\\.b/c", json!("x")),
            (".metadata.annotations['a.b/c']", json!("x")),
            ("{.status.n[1]}", json!(2)),
        ] {
            assert_eq!(first(&object, path), Some(expected), "{path}");
        }
    }

    #[test]
    fn broken_paths_find_nothing() {
        for path in [".a[", "[?(x)]", ".a..b", "[", ".é\\", "[?(@.a=="] {
            assert_eq!(first(&json!({"a": 1}), path), None, "{path}");
        }
    }
}
