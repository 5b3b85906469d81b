//! The table of built-in kinds, by subject.

mod access;
mod cluster;
mod core;
mod network;
mod storage;
mod workloads;

use serde_json::Value;

use super::{BuiltIn, Generation, Stage};
use crate::names::NameRule;
use crate::status::Cause;

fn no_default(_: &mut Value, _: Stage) {}

fn no_preparation(_: &mut Value) {}

fn no_check(_: &Value, _: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}

fn no_status_check(_: &Value, _: &Value) -> Vec<Cause> {
    Vec::new()
}

/// The defaults of a kind.
const fn kind(
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    singular: &'static str,
    short_names: &'static [&'static str],
) -> BuiltIn {
    BuiltIn {
        group,
        version: "v1",
        kind,
        plural,
        singular,
        short_names,
        categories: &[],
        namespaced: true,
        status: false,
        scale: false,
        generation: Generation::Absent,
        review: false,
        computed: false,
        create_on_update: false,
        unconditional_update: true,
        returns_deleted: false,
        name_rule: NameRule::Subdomain,
        selectable: &[],
        default: no_default,
        prepare: no_preparation,
        deprecated: None,
        check: no_check,
        check_status: no_status_check,
        conversion: None,
    }
}

/// Every built-in kind.
pub(crate) fn all() -> impl Iterator<Item = &'static BuiltIn> {
    [core::KINDS, workloads::KINDS, network::KINDS, storage::KINDS, access::KINDS, cluster::KINDS]
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::groups;

    #[test]
    fn built_in_groups_are_those_of_the_kinds() {
        let of_kinds: BTreeSet<&str> = all().map(|kind| kind.group).collect();
        let named = groups::PRIORITIES.iter().map(|(name, _)| *name).chain([groups::API_REGISTRATION]);
        assert_eq!(of_kinds, named.collect());
    }
}
