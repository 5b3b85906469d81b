//! Adapts owned fields to a schema that has changed since.

use kubesmith_apiextensions::structural::{Additional, ListType, MapType, Schema};

use kubesmith_apimachinery::fieldpath::{PathElement, Set};

use super::managed::Managed;
use super::types::Ty;
use super::versions::Versions;

/// Makes owners of parts of a value that became atomic own the value, and drops managers of removed versions.
pub(super) fn reconcile(versions: &dyn Versions, managed: &mut Managed) {
    for owned in managed.0.values_mut() {
        let Some(typed) = versions.typed(&owned.api_version) else {
            owned.set = Set::default();
            continue;
        };
        let mut whole = Set::default();
        collect(Ty::of(typed), &owned.set, &mut Vec::new(), &mut whole);
        if !whole.is_empty() {
            owned.set = owned.set.recursive_difference(&whole).union(&whole);
        }
    }
}

/// Collects the values that are atomic in the schema and of which `set` owns parts.
fn collect(ty: Ty<'_>, set: &Set, path: &mut Vec<PathElement>, whole: &mut Set) {
    for (element, parts) in set.children() {
        let below = field(ty, element);
        let Some(schema) = below.schema() else { continue };
        path.push(element.clone());
        if is_whole(schema) && !parts.is_empty() {
            whole.insert(path);
        } else {
            collect(below, parts, path, whole);
        }
        path.pop();
    }
}

fn field<'a>(ty: Ty<'a>, element: &PathElement) -> Ty<'a> {
    match element {
        PathElement::Field(name) => ty.field(name).0,
        _ => ty.item(),
    }
}

/// Free-form maps stay as they are, as in kube-apiserver.
fn is_whole(schema: &Schema) -> bool {
    if schema.is_type("array") {
        return schema.effective_list_type() == ListType::Atomic;
    }
    let of_anything = match &schema.additional_properties {
        Some(Additional::Schema(all)) => all.type_.is_none() || is_untyped_text(all),
        Some(Additional::Allowed(any)) => *any,
        None => true,
    };
    let is_free = schema.properties.is_empty() && of_anything;
    schema.effective_map_type() == MapType::Atomic && !is_free
}

/// Strings with a format may be any scalar.
fn is_untyped_text(schema: &Schema) -> bool {
    schema.is_type("string") && !matches!(schema.format_name(), "" | "byte")
}
