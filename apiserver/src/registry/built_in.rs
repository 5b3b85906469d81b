//! The resources of built-in kinds.

use super::{Behaviour, ResourceDef, ScalePaths};
use crate::builtin::BuiltIn;

/// The resource of a built-in kind.
pub(crate) fn of_built_in(kind: &'static BuiltIn) -> ResourceDef {
    let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let api_version = kind.api_version();
    ResourceDef {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        kind: kind.kind.to_owned(),
        list_kind: format!("{}List", kind.kind),
        plural: kind.plural.to_owned(),
        singular: kind.singular.to_owned(),
        short_names: owned(kind.short_names),
        categories: owned(kind.categories),
        namespaced: kind.namespaced,
        collection: kind.collection(),
        stored_as: kind.conversion.map_or(api_version, |c| c.stored_as.to_owned()),
        status: kind.status,
        scale: kind.replicas().map(|replicas| ScalePaths {
            spec: replicas.to_owned(),
            status: ".status.replicas".to_owned(),
            selector: None,
        }),
        columns: Vec::new(),
        selectable: owned(kind.selectable),
        deprecated: kind.deprecated.map(str::to_owned),
        behaviour: Behaviour::BuiltIn(kind),
    }
}
