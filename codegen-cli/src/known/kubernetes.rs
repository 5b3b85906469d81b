//! Adds facts from Kubernetes' Go source that k8s-openapi's OpenAPI document lacks: line ends in
//! descriptions, list and map types, defaults, limits. controller-gen reads the Go source.
//!
//! hack/kubernetes-facts.py writes kubernetes.txt. A line names a type or, indented, a field of it; the gaps
//! between the words of its description; and properties of its schema.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

const TEXT: &str = include_str!("kubernetes.txt");

/// The facts of a type.
#[derive(Debug, Default)]
struct TypeFacts {
    own: Facts,
    fields: Vec<(&'static str, Facts)>,
}

/// The facts of a type or field.
#[derive(Debug, Default)]
struct Facts {
    /// Gaps of the description; `-`: single spaces.
    gaps: &'static str,
    /// Properties of the schema.
    properties: &'static str,
}

static TABLE: LazyLock<HashMap<&'static str, TypeFacts>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    let mut current = "";
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.trim_start().splitn(3, ' ');
        let name = parts.next().unwrap_or_default();
        let facts =
            Facts { gaps: parts.next().unwrap_or_default(), properties: parts.next().unwrap_or_default() };
        if line.starts_with(' ') {
            let known: &mut TypeFacts = table.entry(current).or_default();
            known.fields.push((name, facts));
        } else {
            current = name;
            table.insert(name, TypeFacts { own: facts, fields: Vec::new() });
        }
    }
    table
});

/// Adds the known facts to the schema of a type, by its OpenAPI name: `io.k8s.api.core.v1.Toleration`.
pub(super) fn apply(name: &str, schema: &mut Map<String, Value>) {
    let Some(facts) = TABLE.get(name) else { return };
    facts.own.apply(schema);
    for (field, facts) in &facts.fields {
        if let Some(Value::Object(property)) =
            schema.get_mut("properties").and_then(|all| all.get_mut(*field))
        {
            facts.apply(property);
            // k8s-openapi has the field without `Option`.
            let optional = property.remove("optional").is_some();
            if let Some(Value::Array(required)) = schema.get_mut("required").filter(|_| optional) {
                required.retain(|name| name != field);
            }
        }
    }
}

impl Facts {
    fn apply(&self, schema: &mut Map<String, Value>) {
        if let Some(Value::String(text)) = schema.get_mut("description")
            && let Some(spread) = spread(text, self.gaps)
        {
            *text = spread;
        }
        // A test checks that all of them are JSON.
        if let Ok(Value::Object(properties)) = serde_json::from_str(self.properties) {
            schema.extend(properties);
        }
    }
}

/// The words of a text with other gaps between them; `None` if the counts differ, because the text is another
/// one.
fn spread(text: &str, code: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let mut out = words.next()?.to_string();
    let mut rest = code;
    while let Some(first) = rest.chars().next().filter(|_| code != "-") {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            for _ in 0..rest[..digits].parse::<usize>().ok()? {
                out.extend([" ", words.next()?]);
            }
            rest = &rest[digits..];
            continue;
        }
        let gap = match first {
            'n' => "\n".to_string(),
            'p' => "\n\n".to_string(),
            'd' => "  ".to_string(),
            '/' => {
                let (inside, after) = rest[1..].split_once('/')?;
                rest = after;
                inside.replace('n', "\n").replace('s', " ").replace('t', "\t")
            }
            _ => return None,
        };
        if first != '/' {
            rest = &rest[1..];
        }
        out.extend([gap.as_str(), words.next()?]);
    }
    (code == "-" || words.next().is_none()).then_some(out).filter(|_| code != "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_puts_line_breaks_and_indentation_between_words() {
        assert_eq!(spread("a b c d", "1n1").as_deref(), Some("a b\nc d"));
        assert_eq!(spread("a b c d e", "npd/nss/").as_deref(), Some("a\nb\n\nc  d\n  e"));
        for (text, code) in
            [("a b c", "1n1"), ("a b c", "n"), ("", "n"), ("a b", "x"), ("a b", "/n"), ("a b", "-")]
        {
            assert_eq!(spread(text, code), None, "{text} {code}");
        }
    }

    /// Of another Kubernetes version the facts would be wrong, or useless.
    #[test]
    fn every_fact_fits_a_type_of_k8s_openapi() {
        for (name, facts) in &*TABLE {
            let definition = super::super::definition(name).unwrap_or_else(|| panic!("no type {name}"));
            check(name, &facts.own, definition);
            for (field, facts) in &facts.fields {
                check(&format!("{name} {field}"), facts, &definition["properties"][field]);
            }
        }
    }

    fn check(what: &str, facts: &Facts, schema: &Value) {
        assert!(schema.is_object(), "{what} does not exist");
        if facts.gaps != "-" {
            let text = schema["description"].as_str().unwrap_or_default();
            assert!(spread(text, facts.gaps).is_some(), "{what}: {:?} is not {text:?}", facts.gaps);
        }
        let properties = facts.properties;
        assert!(
            properties.is_empty() || serde_json::from_str::<Map<String, Value>>(properties).is_ok(),
            "{what}"
        );
    }
}
