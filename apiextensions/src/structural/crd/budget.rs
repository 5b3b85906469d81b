//! Explains why a rule is too expensive: the lists, maps and strings that are too large, and a bound that suffices.

use super::rules::Cardinality;
use crate::cel::{Decl, compile_rule, escape, max_cardinality};
use crate::schema::{Rule, Schema};
use crate::structural::locate::Step;

/// One of the two expressions of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression {
    /// The rule itself.
    Rule,
    /// Its `messageExpression`.
    Message,
}

/// A list, map or string whose size makes an expression expensive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// Its path from the root.
    pub steps: Vec<Step>,
    /// The keyword that bounds it: `maxItems`, `maxProperties` or `maxLength`.
    pub keyword: &'static str,
    /// The bound that it has.
    pub bound: Option<i64>,
}

/// The estimated cost of an expression, over all places where it is evaluated in an object, and the values that
/// increase it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The estimate.
    pub cost: u64,
    /// The values that are too large: those without a bound or, if all have one, those with a large one.
    pub large: Vec<Large>,
    /// A bound that is small enough for all of them, if there is one.
    pub bound: Option<u64>,
}

/// Bounds that are tried, the largest first.
const BOUNDS: [i64; 14] = [10_000, 4_096, 1_024, 512, 256, 128, 64, 32, 20, 16, 10, 8, 5, 3];

/// Returns the cost of an expression, with the causes of an excess over `limit`. `None` for places without such a rule,
/// and for rules that do not compile.
#[must_use]
pub fn explain_cost(
    root: &Schema,
    at: &[Step],
    index: usize,
    expression: Expression,
    limit: u64,
) -> Option<Excess> {
    let site = Site { at, index, expression };
    let (cost, sized) = site.measure(root)?;
    let exceeds = |place: &&Large, value: i64| place.bound.is_none_or(|own| own > value);
    let bounded = |places: &[&Large], value: i64| {
        let mut root = root.clone();
        let wide = places.iter().filter(|place| exceeds(place, value));
        wide.for_each(|place| set_bound(&mut root, place, value));
        site.measure(&root).map_or(u64::MAX, |(cost, _)| cost)
    };
    let all = site.candidates(root, &sized);
    let least = bounded(&all.iter().collect::<Vec<_>>(), 1);
    let matters = |place: &&Large| {
        let others: Vec<&Large> = all.iter().filter(|other| other != place).collect();
        bounded(&others, 1) > least.saturating_mul(2)
    };
    let large: Vec<&Large> = all.iter().filter(matters).collect();
    let unbounded: Vec<&Large> = large.iter().filter(|place| place.bound.is_none()).copied().collect();
    let fitting = |places: &[&Large]| BOUNDS.into_iter().find(|value| bounded(places, *value) <= limit);
    let (large, bound) = match fitting(&unbounded) {
        Some(bound) => (unbounded, Some(bound)),
        None => (large.clone(), fitting(&large)),
    };
    let large = large.into_iter().filter(|place| bound.is_none_or(|value| exceeds(place, value)));
    let large = large.cloned().collect();
    let bound = bound.and_then(|value| u64::try_from(value).ok());
    Some(Excess { cost, large, bound })
}

struct Site<'a> {
    at: &'a [Step],
    index: usize,
    expression: Expression,
}

impl Site<'_> {
    /// Returns the cost, and the places below the rule whose size it depends on, in the estimate's notation.
    fn measure(&self, root: &Schema) -> Option<(u64, Vec<Vec<String>>)> {
        let mut cardinality = Cardinality::Times(1);
        for depth in 0..self.at.len() {
            cardinality = cardinality.below(root.at(&self.at[..depth])?);
        }
        let node = root.at(self.at)?;
        let rule: &Rule = node.validations.get(self.index)?;
        let decl = Decl::of(node, self.at.is_empty(), "selfType")?;
        let compiled = compile_rule(node, &decl, rule).ok()?;
        let times = match (self.expression, cardinality) {
            (Expression::Message, _) => 1,
            (Expression::Rule, Cardinality::Times(times)) => times,
            (Expression::Rule, Cardinality::Unbounded) => max_cardinality(decl.min_size),
        };
        let program = match self.expression {
            Expression::Rule => compiled.program,
            Expression::Message => compiled.message?,
        };
        Some((program.max_cost().saturating_mul(times), program.sized().to_vec()))
    }

    /// Returns the values with a size, among those around the rule and those that the estimate depends on.
    fn candidates(&self, root: &Schema, sized: &[Vec<String>]) -> Vec<Large> {
        let mut out: Vec<Large> = Vec::new();
        let mut add = |steps: Vec<Step>| {
            let known = root.at(&steps).and_then(bound);
            if let Some((keyword, bound)) = known.filter(|_| out.iter().all(|other| other.steps != steps)) {
                out.push(Large { steps, keyword, bound });
            }
        };
        if self.expression == Expression::Rule {
            (0..self.at.len()).for_each(|depth| add(self.at[..depth].to_vec()));
        }
        for path in sized {
            if let Some(below) = root.at(self.at).and_then(|node| steps_of(node, path)) {
                add(self.at.iter().cloned().chain(below).collect());
            }
        }
        out
    }
}

/// Returns the steps to a place in the estimate's notation, such as `self.items.@items.name`.
fn steps_of(node: &Schema, path: &[String]) -> Option<Vec<Step>> {
    let mut node = node;
    let mut steps = Vec::new();
    let (_, names) =
        path.split_first().filter(|(variable, _)| matches!(variable.as_str(), "self" | "oldSelf"))?;
    for name in names {
        let step = match name.as_str() {
            "@items" => Step::Items,
            "@values" => Step::Values,
            name => {
                let own = node.properties.keys().find(|field| escape(field).as_deref() == Some(name))?;
                Step::Property(own.clone())
            }
        };
        node = node.at(std::slice::from_ref(&step))?;
        steps.push(step);
    }
    Some(steps)
}

/// The keyword that bounds the size of a node, with the bound.
fn bound(node: &Schema) -> Option<(&'static str, Option<i64>)> {
    match node.type_name() {
        "array" => Some(("maxItems", node.max_items)),
        "object" if node.additional_properties.is_some() => Some(("maxProperties", node.max_properties)),
        "string" if node.allowed_values().is_empty() => Some(("maxLength", node.max_length)),
        "" if node.int_or_string => Some(("maxLength", node.max_length)),
        _ => None,
    }
}

fn set_bound(root: &mut Schema, place: &Large, value: i64) {
    let Some(node) = root.at_mut(&place.steps) else { return };
    let bound = match place.keyword {
        "maxItems" => &mut node.max_items,
        "maxProperties" => &mut node.max_properties,
        _ => &mut node.max_length,
    };
    *bound = Some(bound.map_or(value, |own| own.min(value)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structural::crd::RULE_LIMIT;
    use serde_json::{Value, json};

    fn explain(
        schema: &Value,
        at: &[Step],
        expression: Expression,
    ) -> (Vec<(String, &'static str)>, Option<u64>) {
        let excess = explain_cost(&Schema::enforced(schema).unwrap(), at, 0, expression, RULE_LIMIT).unwrap();
        assert!(excess.cost > RULE_LIMIT);
        let shown = |place: &Large| {
            let names = place.steps.iter().map(|step| match step {
                Step::Property(name) => name.clone(),
                Step::Items => "[]".to_owned(),
                Step::Values => "{}".to_owned(),
            });
            (names.collect::<Vec<_>>().join("."), place.keyword)
        };
        (excess.large.iter().map(shown).collect(), excess.bound)
    }

    #[test]
    fn unbounded_schemas_are_listed_for_an_expensive_rule() {
        let rule = |text: &str| json!([{"rule": text, "messageExpression": "self.join(',')"}]);
        let names = json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-validations":
            rule("self.all(x, self.exists_one(y, x == y))")});
        let both = vec![("".to_owned(), "maxItems"), ("[]".to_owned(), "maxLength")];
        assert_eq!(explain(&names, &[], Expression::Rule), (both.clone(), Some(256)));
        assert_eq!(explain(&names, &[], Expression::Message).0, both);

        // A string that is short enough keeps its bound.
        let short = json!({"type": "array", "items": {"type": "string", "maxLength": 63}, "x-kubernetes-validations":
            rule("self.all(x, self.exists_one(y, x == y))")});
        let (large, bound) = explain(&short, &[], Expression::Rule);
        assert_eq!(large, [("".to_owned(), "maxItems")]);
        assert!(bound >= Some(63), "{bound:?}");

        // The list around the rule, not the bounded one below it; a number needs no bound.
        let outer = json!({"type": "object", "properties": {"outer": {"type": "array", "items": {"type": "object",
            "properties": {"n": {"type": "integer"}, "inner": {"type": "array", "maxItems": 50, "items": {"type": "integer"}}},
            "x-kubernetes-validations": [{"rule": "self.inner.all(x, x > self.n)"}]}}}});
        let at = [Step::Property("outer".to_owned()), Step::Items];
        assert_eq!(
            explain(&outer, &at, Expression::Rule),
            (vec![("outer".to_owned(), "maxItems")], Some(10_000))
        );
    }

    #[test]
    fn cost_is_not_explained_when_no_rule_exists() {
        let schema = Schema::enforced(&json!({"type": "object"})).unwrap();
        assert_eq!(explain_cost(&schema, &[], 0, Expression::Rule, 1), None);
        assert_eq!(explain_cost(&schema, &[Step::Items], 0, Expression::Rule, 1), None);
    }
}
