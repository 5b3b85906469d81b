//! Removes fields that the manager owned and its new configuration leaves out.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kubesmith_apimachinery::fieldpath::Set;
use serde_json::Value;

use super::managed::{Managed, Owned};
use super::types::Ty;
use super::versions::{Unconverted, Versions, converted};
use super::walk;

/// Removes fields that the manager owned before and no longer applies, unless somebody else owns them (`prune` of
/// structured-merge-diff's merge/update.go).
pub(super) fn give_up(
    versions: &dyn Versions,
    merged: Value,
    managed: &Managed,
    last: &Owned,
    own_version: &str,
) -> Result<Value, Unconverted> {
    let Some(typed) = versions.typed(&last.api_version).filter(|_| !last.set.is_empty()) else {
        return Ok(merged);
    };
    let ty = Ty::of(typed);
    let failed =
        |what: &'static str| move |fault: Unconverted| fault.within(what).within("failed to prune fields");
    let merged = converted(versions, &merged, &last.api_version)
        .map_err(failed("failed to convert merged object to last applied version"))?;
    let last_set = walk::with_named_parents(ty, &last.set);
    let pruned = walk::remove(ty, &merged, &last_set);
    let pruned = add_back_owned(versions, &merged, pruned, managed, &last.api_version)
        .map_err(failed("failed add back owned items"))?;
    let pruned = converted(versions, &pruned, &last.api_version)
        .map_err(|fault| fault.within("failed to convert pruned object to last applied version"))
        .map_err(failed("failed add back dangling items"))?;
    let gone = fields(ty, &merged).difference(&fields(ty, &pruned)).intersection(&last_set);
    let rest = walk::remove(ty, &merged, &gone);
    let rest = converted(versions, &rest, own_version).map(Cow::into_owned);
    rest.map_err(|fault| fault.within("failed to prune fields"))
}

fn fields(ty: Ty<'_>, value: &Value) -> Set {
    walk::with_named_parents(ty, &walk::fields_of(ty, value))
}

/// Puts back removed fields that somebody owns: first in the version of the removal, since fields of other versions may
/// depend on them.
fn add_back_owned(
    versions: &dyn Versions,
    merged: &Value,
    mut pruned: Value,
    managed: &Managed,
    first: &str,
) -> Result<Value, Unconverted> {
    let mut owned: BTreeMap<&str, Set> = BTreeMap::new();
    for entry in managed.0.values() {
        let set = owned.entry(&entry.api_version).or_default();
        *set = set.union(&entry.set);
    }
    let own = owned.remove(first).map(|set| (first, set));
    let mut merged = Cow::Borrowed(merged);
    for (version, set) in own.into_iter().chain(owned) {
        let Some(typed) = versions.typed(version) else { continue };
        let ty = Ty::of(typed);
        let at = |object: &Value, what: &str| {
            let made = converted(versions, object, version).map(Cow::into_owned);
            made.map_err(|fault| {
                fault.within(&format!("failed to convert {what} object at version {version}"))
            })
        };
        merged = Cow::Owned(at(&merged, "merged")?);
        pruned = at(&pruned, "pruned")?;
        let keep = fields(ty, &pruned).union(&walk::with_named_parents(ty, &set));
        pruned = walk::remove(ty, &merged, &fields(ty, &merged).difference(&keep));
    }
    Ok(pruned)
}
