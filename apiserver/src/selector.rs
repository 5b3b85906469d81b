//! Label and field selectors.

use kubesmith_apimachinery::names;
use serde_json::Value;

use crate::meta;

/// One condition on labels.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Exists(String),
    Absent(String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Greater(String, i64),
    Less(String, i64),
}

/// A label selector; all its requirements have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

impl LabelSelector {
    /// Reads the form that query strings carry.
    ///
    /// # Errors
    /// The text kube-apiserver answers with.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser::new(text);
        let mut requirements = Vec::new();
        if parser.peek().is_none() {
            return Ok(Self::default());
        }
        loop {
            requirements.push(parser.requirement()?);
            match parser.next() {
                None => return Ok(Self(requirements)),
                Some(token) if token == "," => {}
                Some(token) => return Err(format!("found '{token}', expected: ',' or 'end of string'")),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|requirement| requirement.matches(object))
    }
}

impl Requirement {
    fn matches(&self, object: &Value) -> bool {
        match self {
            Self::Exists(key) => meta::label(object, key).is_some(),
            Self::Absent(key) => meta::label(object, key).is_none(),
            Self::In(key, values) => meta::label(object, key).is_some_and(|v| values.iter().any(|w| w == v)),
            Self::NotIn(key, values) => {
                meta::label(object, key).is_none_or(|v| values.iter().all(|w| w != v))
            }
            Self::Greater(key, bound) => number(object, key).is_some_and(|n| n > *bound),
            Self::Less(key, bound) => number(object, key).is_some_and(|n| n < *bound),
        }
    }
}

fn number(object: &Value, key: &str) -> Option<i64> {
    meta::label(object, key)?.parse().ok()
}

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

struct Parser {
    tokens: Vec<String>,
    at: usize,
}

impl Parser {
    fn new(text: &str) -> Self {
        Self { tokens: tokens(text), at: 0 }
    }

    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn next(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let token = self.next().unwrap_or_default();
        if token == "!" {
            let key = self.next().unwrap_or_default();
            check_key(&key)?;
            return Ok(Requirement::Absent(key));
        }
        let key = token;
        check_key(&key)?;
        let operator = match self.peek() {
            None | Some(",") => return Ok(Requirement::Exists(key)),
            Some(_) => self.next().unwrap_or_default(),
        };
        match operator.as_str() {
            "in" => Ok(Requirement::In(key, self.values()?)),
            "notin" => Ok(Requirement::NotIn(key, self.values()?)),
            "=" | "==" => Ok(Requirement::In(key, vec![self.value()?])),
            "!=" => Ok(Requirement::NotIn(key, vec![self.value()?])),
            ">" => Ok(Requirement::Greater(key, self.integer()?)),
            "<" => Ok(Requirement::Less(key, self.integer()?)),
            other => Err(format!("unable to parse requirement: found '{other}', expected: {OPERATORS}")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.next().unwrap_or_default();
        if open != "(" {
            return Err(format!("unable to parse requirement: found '{open}', expected: '('"));
        }
        let values = match self.peek() {
            Some(")") => vec![String::new()],
            _ => self.list()?,
        };
        self.next();
        Ok(values)
    }

    /// Values up to the bracket that ends them; an empty one stands beside a comma that has none there.
    fn list(&mut self) -> Result<Vec<String>, String> {
        const WRONG: &str = "unable to parse requirement: found";
        let mut values = Vec::new();
        loop {
            match self.peek() {
                Some(",") => {
                    self.next();
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek() {
                        Some(")") => {
                            values.push(String::new());
                            return Ok(values);
                        }
                        Some(",") => {
                            self.next();
                            values.push(String::new());
                        }
                        _ => {}
                    }
                }
                None | Some("(" | ")" | "=" | "==" | "!" | "!=" | "<" | ">") => {
                    let found = self.peek().unwrap_or_default();
                    return Err(format!("{WRONG} '{found}', expected: ',', or identifier"));
                }
                Some(_) => {
                    values.push(self.value()?);
                    match self.peek().unwrap_or_default() {
                        "," => {}
                        ")" => return Ok(values),
                        other => return Err(format!("{WRONG} '{other}', expected: ',' or ')'")),
                    }
                }
            }
        }
    }

    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            None | Some("," | ")") => Ok(String::new()),
            Some(_) => {
                let value = self.next().unwrap_or_default();
                match names::label_value(&value).first() {
                    None => Ok(value),
                    Some(fault) => Err(format!(
                        "unable to parse requirement: values[0]: Invalid value: {value:?}: {fault}"
                    )),
                }
            }
        }
    }

    fn integer(&mut self) -> Result<i64, String> {
        let text = self.value()?;
        text.parse().map_err(|_| {
            format!(
                "unable to parse requirement: values[0]: Invalid value: {text:?}: for 'Gt', 'Lt' operators, the value \
                 must be an integer"
            )
        })
    }
}

fn check_key(key: &str) -> Result<(), String> {
    match names::qualified_name(key).first() {
        None => Ok(()),
        Some(fault) => Err(format!("unable to parse requirement: key: Invalid value: {key:?}: {fault}")),
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '(' | ')' | ',' => out.push(c.to_string()),
            '=' | '!' | '<' | '>' => {
                let mut token = c.to_string();
                if (c == '=' || c == '!') && chars.peek() == Some(&'=') {
                    chars.next();
                    token.push('=');
                }
                out.push(token);
            }
            c => {
                let mut token = c.to_string();
                while let Some(next) = chars.peek() {
                    if next.is_whitespace() || "(),=!<>".contains(*next) {
                        break;
                    }
                    token.push(*next);
                    chars.next();
                }
                out.push(token);
            }
        }
    }
    out
}

/// A field selector: exact comparisons with fields that the kind offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector(Vec<FieldTerm>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldTerm {
    field: String,
    value: String,
    equal: bool,
}

impl FieldSelector {
    /// Reads a selector of which every field has to be among `offered`, beside the name and the namespace.
    ///
    /// # Errors
    /// The text kube-apiserver answers with.
    pub(crate) fn parse(text: &str, offered: &[String], namespaced: bool) -> Result<Self, String> {
        let mut terms = Vec::new();
        for part in split_escaped(text) {
            if part.is_empty() {
                continue;
            }
            let term = term(&part)?;
            let builtin = term.field == "metadata.name" || (namespaced && term.field == "metadata.namespace");
            if !builtin && !offered.contains(&term.field) {
                return Err(format!("field label not supported: {}", term.field));
            }
            terms.push(term);
        }
        Ok(Self(terms))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|term| (field(object, &term.field) == term.value) == term.equal)
    }
}

fn term(part: &str) -> Result<FieldTerm, String> {
    for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((field, value)) = part.split_once(operator) {
            return Ok(FieldTerm { field: field.trim().to_owned(), value: unescape(value), equal });
        }
    }
    Err(format!("invalid selector: '{part}'; can't understand '{part}'"))
}

/// Splits at commas that no backslash precedes.
fn split_escaped(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        if c == ',' && !escaped {
            out.push(String::new());
            continue;
        }
        escaped = c == '\\' && !escaped;
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

/// A field's value as selectors see it: scalars as text, absence as the empty string.
fn field(object: &Value, path: &str) -> String {
    let mut at = object;
    for part in path.trim_start_matches('.').split('.') {
        at = &at[part];
    }
    match at {
        Value::String(s) => s.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn labelled(labels: Value) -> Value {
        json!({"metadata": {"name": "x", "labels": labels}})
    }

    #[track_caller]
    fn check(selector: &str, matching: &[Value], others: &[Value]) {
        let selector = LabelSelector::parse(selector).unwrap();
        for labels in matching {
            assert!(selector.matches(&labelled(labels.clone())), "{labels}");
        }
        for labels in others {
            assert!(!selector.matches(&labelled(labels.clone())), "{labels}");
        }
    }

    #[test]
    fn requirements_of_every_kind() {
        check("a=1", &[json!({"a": "1"})], &[json!({"a": "2"}), json!({})]);
        check("a!=1", &[json!({"a": "2"}), json!({})], &[json!({"a": "1"})]);
        check("a in (1, 2)", &[json!({"a": "2"})], &[json!({"a": "3"}), json!({})]);
        check("a notin (1,2)", &[json!({"a": "3"}), json!({})], &[json!({"a": "1"})]);
        check("a in (1,)", &[json!({"a": "1"}), json!({"a": ""})], &[json!({"a": "2"})]);
        check("a in (,,in)", &[json!({"a": "in"}), json!({"a": ""})], &[json!({"a": "2"})]);
        check("a in ()", &[json!({"a": ""})], &[json!({"a": "2"})]);
        check("a,!b", &[json!({"a": ""})], &[json!({"a": "", "b": ""}), json!({})]);
        check("a > 4,a<7", &[json!({"a": "5"})], &[json!({"a": "4"}), json!({"a": "x"}), json!({})]);
        check("", &[json!({})], &[]);
    }

    #[test]
    fn broken_selectors_are_told() {
        let error = LabelSelector::parse("a b c").unwrap_err();
        assert_eq!(error, "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
        for bad in ["a in", "a in (", "!", "=x", "a=b c", "a in (x y!)", "a in (x y)", "a in (1,,)", "a gt 1"]
        {
            assert!(LabelSelector::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn fields_are_compared_as_text() {
        let offered = ["spec.size".to_owned()];
        let selector = FieldSelector::parse("spec.size=3,metadata.name!=y", &offered, true).unwrap();
        assert!(selector.matches(&json!({"metadata": {"name": "x"}, "spec": {"size": 3}})));
        assert!(!selector.matches(&json!({"metadata": {"name": "y"}, "spec": {"size": 3}})));
        let error = FieldSelector::parse("spec.other=1", &offered, true).unwrap_err();
        assert_eq!(error, "field label not supported: spec.other");
    }
}
