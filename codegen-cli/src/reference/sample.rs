//! Makes a sample manifest of a kind: the type's example, or the required fields and those with defaults. An
//! API server's own validation decides whether it is valid.

use std::collections::BTreeSet;

use kubesmith_apiextensions::sample::{Maker, is_deprecated};
use kubesmith_apiextensions::structural::{Cause, Checker, aggregate, apply_defaults};
use kubesmith_apimachinery::yaml;
use serde_json::{Map, Value, json};

use super::Sample;
use crate::ir::{Resource, Scope};
use crate::schema::Schema;

/// The most alternatives that are tried.
const BRANCHES: usize = 4;

/// The most optional fields that are tried one by one when rules need more than the required ones.
const EXTRAS: usize = 100;

/// The most other values that are tried when rules refuse the first ones.
const SHIFTS: usize = 4;

/// The most changes in a sample.
const ROUNDS: usize = 4;

/// Makes a manifest of the resource with this schema; `None` if the schema cannot be read.
///
/// Begins with the smallest object and repeats the change that leaves the fewest faults, until none remains
/// or no change helps.
pub(crate) fn sample(group: &str, version: &str, resource: &Resource, schema: &Schema) -> Option<Sample> {
    let checker = Checker::new(&schema.to_value()).ok()?;
    let made = |object: Value| {
        let object = whole(group, version, resource, object);
        let causes = faults(&checker, &object);
        (object, causes)
    };
    let given = schema.example.clone().map(made).filter(|(_, causes)| causes.is_empty());
    let mut maker = Maker::default();
    let mut best = given.unwrap_or_else(|| made(root(&maker, schema)));
    for _ in 0..ROUNDS {
        if best.1.is_empty() {
            break;
        }
        let mut better = None;
        for changed in changes(&maker, schema) {
            let tried = made(root(&changed, schema));
            if tried.1.len() < best.1.len() {
                best = tried;
                better = Some(changed);
            }
            if best.1.is_empty() {
                break;
            }
        }
        match better {
            Some(changed) => maker = changed,
            None => break,
        }
    }
    let (object, causes) = best;
    Some(Sample { yaml: yaml::to_visible_yaml(&object), problem: aggregate(&causes) })
}

/// The causes for which an API server would refuse a new object.
fn faults(checker: &Checker, object: &Value) -> Vec<Cause> {
    let mut object = object.clone();
    apply_defaults(checker.schema(), &mut object);
    checker.create(&object)
}

/// The possible changes, the smallest first, and those with deprecated fields last.
fn changes<'a>(maker: &'a Maker, schema: &Schema) -> impl Iterator<Item = Maker> + 'a {
    let mut names = BTreeSet::new();
    optional_names(schema, &mut names);
    let branches = (1..BRANCHES).map(move |branch| Maker { branch, ..maker.clone() });
    let shifts = (1..SHIFTS).map(move |shift| Maker { shift, ..maker.clone() });
    let names = names.into_iter().map(|(_, name)| name);
    let extras = names.filter(|name| !maker.extras.contains(name)).take(EXTRAS).map(|name| {
        let mut changed = maker.clone();
        changed.extras.insert(name);
        changed
    });
    let all = (0..BRANCHES).map(move |branch| Maker { all: true, branch, ..maker.clone() });
    branches.chain(shifts).chain(extras).chain(all)
}

/// Adds the members of every object.
fn whole(group: &str, version: &str, resource: &Resource, object: Value) -> Value {
    let mut out = match object {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let api_version = if group.is_empty() { version.to_string() } else { format!("{group}/{version}") };
    out.insert("apiVersion".into(), api_version.into());
    out.insert("kind".into(), resource.kind.clone().into());
    let given = out.get("metadata").is_some_and(|metadata| metadata.get("name").is_some());
    if !given {
        let name = format!("{}-sample", resource.singular);
        let metadata = match resource.scope {
            Scope::Namespaced => json!({"name": name, "namespace": "default"}),
            Scope::Cluster => json!({ "name": name }),
        };
        out.insert("metadata".into(), metadata);
    }
    Value::Object(out)
}

/// The names of optional fields, each after whether it is deprecated.
fn optional_names(schema: &Schema, out: &mut BTreeSet<(bool, String)>) {
    for (name, property) in &schema.properties {
        if !schema.required.contains(name) {
            out.insert((is_deprecated(property.description.as_ref()), name.clone()));
        }
        optional_names(property, out);
    }
    if let Some(items) = &schema.items {
        optional_names(items, out);
    }
}

/// Makes the object, without its type and metadata.
fn root(maker: &Maker, schema: &Schema) -> Value {
    let mut schema = schema.clone();
    for name in ["apiVersion", "kind", "metadata", "status"] {
        schema.properties.remove(name);
    }
    schema.example = None;
    // A manifest without a spec would be useless.
    if schema.properties.contains_key("spec") {
        schema.required.insert("spec");
    }
    maker.value(&schema, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deprecated_fields_are_tried_last() {
        let properties = json!({"a": {"type": "string", "description": "Old.\n\nDeprecated: use b."},
            "b": {"type": "string"}});
        let schema: Schema =
            serde_json::from_value(json!({"type": "object", "properties": properties})).unwrap();
        let maker = Maker::default();
        let tried: Vec<Value> = changes(&maker, &schema)
            .filter(|it| !it.extras.is_empty())
            .map(|it| root(&it, &schema))
            .collect();
        assert_eq!(tried, [json!({"b": "example"}), json!({"a": "example"})]);
    }
}
