//! Finds the node of a schema for a cause.

use std::sync::Arc;

use crate::schema::{Additional, Schema};

/// A step from a node of a schema to one below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The field of this name.
    Property(String),
    /// The items of a list.
    Items,
    /// The values of a map.
    Values,
}

/// Follows a path such as `.properties[spec].items.pattern` as far as it leads from node to node, and returns the steps
/// with what is left of the text (`.pattern`).
///
/// Names of fields may contain brackets and dots, so the schema decides where a name ends.
#[must_use]
pub fn locate<'t>(root: &Schema, text: &'t str) -> (Vec<Step>, &'t str) {
    let (mut node, mut rest) = (root, text);
    let mut steps = Vec::new();
    while let Some((step, next, after)) = step(node, rest) {
        steps.push(step);
        (node, rest) = (next, after);
    }
    (steps, rest)
}

fn step<'s, 't>(node: &'s Schema, text: &'t str) -> Option<(Step, &'s Schema, &'t str)> {
    if let Some(rest) = text.strip_prefix(".properties[") {
        let named = |(name, schema): (&String, &'s Arc<Schema>)| {
            let after = rest.strip_prefix(name.as_str())?.strip_prefix(']')?;
            let ends = after.is_empty() || after.starts_with('.');
            ends.then(|| (Step::Property(name.clone()), schema.as_ref(), after))
        };
        // Of names with a common beginning, the longest match counts.
        return node.properties.iter().filter_map(named).min_by_key(|(_, _, after)| after.len());
    }
    let ends = |rest: &str| rest.is_empty() || rest.starts_with('.');
    if let (Some(rest), Some(items)) = (text.strip_prefix(".items").filter(|r| ends(r)), &node.items) {
        return Some((Step::Items, items, rest));
    }
    match (text.strip_prefix(".additionalProperties").filter(|r| ends(r)), &node.additional_properties) {
        (Some(rest), Some(Additional::Schema(all))) => Some((Step::Values, all, rest)),
        _ => None,
    }
}

impl Schema {
    /// The node that steps lead to.
    #[must_use]
    pub fn at(&self, steps: &[Step]) -> Option<&Schema> {
        steps.iter().try_fold(self, |node, step| match step {
            Step::Property(name) => node.properties.get(name).map(Arc::as_ref),
            Step::Items => node.items.as_deref(),
            Step::Values => node.additional_schema(),
        })
    }

    /// The node that steps lead to, to be changed.
    pub fn at_mut(&mut self, steps: &[Step]) -> Option<&mut Schema> {
        steps.iter().try_fold(self, |node, step| match step {
            Step::Property(name) => node.properties.get_mut(name).map(Arc::make_mut),
            Step::Items => node.items.as_deref_mut(),
            Step::Values => match &mut node.additional_properties {
                Some(Additional::Schema(all)) => Some(&mut **all),
                _ => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn path_resolves_to_the_innermost_existing_node() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {
            "a": {"type": "string"}, "a].properties[b": {"type": "string"},
            "l": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}}}}))
        .unwrap();
        let name = |name: &str| Step::Property(name.to_owned());
        for (text, steps, rest) in [
            (".properties[a].pattern", vec![name("a")], ".pattern"),
            (".properties[a].properties[b]", vec![name("a].properties[b")], ""),
            (".properties[l].items.additionalProperties", vec![name("l"), Step::Items, Step::Values], ""),
            (".properties[l].itemsX", vec![name("l")], ".itemsX"),
            (".properties[x].type", vec![], ".properties[x].type"),
            ("", vec![], ""),
        ] {
            assert_eq!(locate(&schema, text), (steps.clone(), rest), "{text}");
            assert!(schema.at(&steps).is_some());
            assert_eq!(schema.clone().at_mut(&steps).cloned(), schema.at(&steps).cloned());
        }
    }
}
