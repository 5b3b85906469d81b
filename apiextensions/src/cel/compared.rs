//! Finds the values that a rule compares fields with.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::ast::{Comprehension, Expr, Kind, Literal};
use super::parser;
use crate::sample::text;
use crate::schema::{Pattern, Schema};

/// The items of a list, or the values of a map, in a path.
pub const EACH: &str = "*";

/// The longest text that a rule about a length leads to.
const LONGEST: i64 = 300;

/// A value, and the path from `self` to the field that it is for.
pub type Compared = (Vec<String>, Json);

/// Returns the values that a rule compares fields of `self` with, and those next to them; none if the rule is malformed.
/// The rule may refuse them.
#[must_use]
pub fn compared(source: &str) -> Vec<Compared> {
    let mut found = Vec::new();
    if let Ok(ast) = parser::parse(source) {
        let scope = Scope(BTreeMap::from([("self".to_owned(), Vec::new())]));
        scope.walk(&ast.root, &mut found);
    }
    found
}

/// The paths that variables stand for.
struct Scope(BTreeMap<String, Vec<String>>);

impl Scope {
    fn walk(&self, expr: &Expr, found: &mut Vec<Compared>) {
        match &expr.kind {
            Kind::Call { target, function, args } => {
                let all: Vec<&Expr> = target.as_deref().into_iter().chain(args).collect();
                if let [only] = all[..] {
                    let value = argument(function).map(|text| json!(text));
                    found.extend(self.path(only).zip(value));
                }
                if let [one, other] = all[..] {
                    let fields = [(one, other), (other, one)].map(|(field, value)| (self.path(field), value));
                    for (path, value) in fields {
                        let values = values(function, value);
                        found.extend(
                            path.iter().flat_map(|path| values.iter().map(|v| (path.clone(), v.clone()))),
                        );
                    }
                }
            }
            Kind::Comprehension(fold) => {
                self.walk(&fold.range, found);
                let inside = self.inside(fold);
                [&fold.accu_init, &fold.condition, &fold.step, &fold.result]
                    .into_iter()
                    .for_each(|part| inside.walk(part, found));
                return;
            }
            _ => {}
        }
        expr.children().into_iter().for_each(|child| self.walk(child, found));
    }

    /// The scope inside of a fold. Of two variables, the second one is the item.
    fn inside(&self, fold: &Comprehension) -> Self {
        let mut inside = self.0.clone();
        inside.remove(&fold.var);
        if let Some(mut path) = self.path(&fold.range) {
            path.push(EACH.to_owned());
            inside.insert(fold.var2.as_ref().unwrap_or(&fold.var).clone(), path);
        }
        Self(inside)
    }

    /// The path of a field, also inside of a conversion.
    fn path(&self, expr: &Expr) -> Option<Vec<String>> {
        match &expr.kind {
            Kind::Ident(name) => self.0.get(name).cloned(),
            Kind::Select { operand, field, test: false } => {
                let mut path = self.path(operand)?;
                path.push(field.clone());
                Some(path)
            }
            _ => self.path(converted(expr)?),
        }
    }
}

/// The argument of a conversion, such as `duration(self.timeout)`; sizes count as one.
fn converted(expr: &Expr) -> Option<&Expr> {
    const CONVERSIONS: &[&str] =
        &["duration", "timestamp", "quantity", "int", "double", "string", "lowerAscii", "size"];
    match &expr.kind {
        Kind::Call { target, function, args } if CONVERSIONS.contains(&function.as_str()) => {
            match (target.as_deref(), args.as_slice()) {
                (Some(only), []) | (None, [only]) => Some(only),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A text that a function takes.
fn argument(function: &str) -> Option<&'static str> {
    Some(match function {
        "isIP" | "ip" => "192.0.2.1",
        "isCIDR" | "cidr" => "192.0.2.0/24",
        "isURL" | "url" => "https://example.com",
        "isQuantity" | "quantity" => "1Gi",
        "duration" => "1m",
        "timestamp" => "2030-01-01T00:00:00Z",
        _ => return None,
    })
}

fn literal(expr: &Expr) -> Option<&Literal> {
    match &expr.kind {
        Kind::Literal(literal) => Some(literal),
        _ => literal(converted(expr)?),
    }
}

/// The values that a function leads to, by its literal argument.
fn values(function: &str, argument: &Expr) -> Vec<Json> {
    match (function, literal(argument)) {
        ("_==_" | "_!=_" | "_<_" | "_<=_" | "_>_" | "_>=_", Some(literal)) => near(literal),
        ("startsWith" | "endsWith" | "contains", Some(Literal::String(text))) => vec![json!(&**text)],
        ("matches", Some(Literal::String(pattern))) => {
            vec![json!(text(
                &Schema { pattern: Some(Pattern::new(&**pattern)), ..Schema::of_type("string") },
                0
            ))]
        }
        ("@in", None) => match &argument.kind {
            Kind::List { elements, .. } => elements.iter().filter_map(literal).flat_map(exactly).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn exactly(literal: &Literal) -> Option<Json> {
    match literal {
        Literal::Bool(value) => Some(json!(value)),
        Literal::Int(value) => Some(json!(value)),
        Literal::Uint(value) => Some(json!(value)),
        Literal::Double(value) => Some(json!(value)),
        Literal::String(value) => Some(json!(&**value)),
        Literal::Null | Literal::Bytes(_) => None,
    }
}

/// The value, and those on both sides of a number. A number may be a length, too.
fn near(literal: &Literal) -> Vec<Json> {
    let Literal::Int(value) = literal else { return exactly(literal).into_iter().collect() };
    let numbers = [*value, value.saturating_sub(1), value.saturating_add(1)];
    let lengths = numbers.into_iter().filter(|length| (0..=LONGEST).contains(length));
    let texts = lengths.filter_map(|length| Some(json!("a".repeat(usize::try_from(length).ok()?))));
    numbers.into_iter().map(|number| json!(number)).chain(texts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_rule_are_found_by_field() {
        let found = |rule: &str| -> Vec<String> {
            let texts =
                compared(rule).into_iter().filter(|(_, value)| value != "" && value != "a" && value != "aa");
            texts.map(|(path, value)| format!("{} {value}", path.join("."))).collect()
        };
        assert_eq!(found("self.mode in ['a1', 'b']"), ["mode \"a1\"", "mode \"b\""]);
        assert_eq!(found("self.size <= 1"), ["size 1", "size 0", "size 2"]);
        assert_eq!(found("-5 < self.a.b"), ["a.b -5", "a.b -6", "a.b -4"]);
        assert_eq!(found("self.name.startsWith('db-') || !has(self.name)"), ["name \"db-\""]);
        assert_eq!(found("duration(self.t) < duration('1h')"), ["t \"1h\"", "t \"1m\""]);
        assert_eq!(found("self.ports.all(p, p.name == 'web')"), ["ports.*.name \"web\""]);
        assert_eq!(found("self.name.matches('^x[0-9]$')"), ["name \"x0\""]);
        assert_eq!(found("isIP(self) || isCIDR(self)"), [" \"192.0.2.1\"", " \"192.0.2.0/24\""]);
        assert_eq!(found("self.mode == oldSelf.mode"), Vec::<String>::new());
        assert_eq!(found("self.mode =="), Vec::<String>::new());
        assert!(compared("size(self.name) >= 2").contains(&(vec!["name".to_owned()], json!("aaa"))));
    }
}
