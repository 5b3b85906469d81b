//! Server-side apply and the ownership of fields.
//!
//! [`apply`] merges a configuration into an object and decides conflicts; [`update`] computes the owners after any
//! other write. Both are functions of their arguments; the caller fills in defaults, validates and stores.

mod builtin;
mod check;
mod declared;
mod last_applied;
mod managed;
mod prune;
mod reconcile;
mod scale;
mod types;
mod unowned;
mod versions;
mod walk;

use std::borrow::Cow;

use kubesmith_apimachinery::fieldpath::{PathElement, Set, path_text};
use serde_json::{Map, Value};

pub(crate) use declared::{faults as declared_faults, joined};
use managed::{Identity, Managed, Owned};
pub use managed::{Manager, Operation};
pub use scale::{ReplicasPaths, SCALE_VERSION, scale};
use types::Ty;
pub use types::Typed;
pub(crate) use unowned::merge as merge_unowned;
use versions::{Comparisons, Same};
pub use versions::{Unconverted, Versions};

use crate::meta;

/// The result of an apply.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The merged object with its managed fields; defaults are not filled in.
    pub object: Value,
    /// Whether anything but the ownership of fields changed.
    pub changed: bool,
}

/// A field that another manager owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner as the server names it: `"one"`, or `"two" using apps/v1` for one that did not apply.
    pub manager: String,
    /// The path, such as `.spec.size`.
    pub field: String,
}

/// The reason why an apply is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// Fields are owned by others: 409.
    #[error("{}", conflict_message(.0))]
    Conflicts(Vec<Conflict>),
    /// The configuration cannot be merged: the server returns 500.
    #[error("{0}")]
    Invalid(String),
    /// The request itself is malformed: 400.
    #[error("{0}")]
    BadRequest(String),
    /// The apply needs a conversion of the object first.
    #[error(transparent)]
    Unconverted(#[from] Unconverted),
}

impl ApplyError {
    /// The entries of `status.details.causes`.
    #[must_use]
    pub fn causes(&self) -> Vec<Value> {
        let Self::Conflicts(conflicts) = self else { return Vec::new() };
        conflicts
            .iter()
            .map(|c| {
                serde_json::json!({"reason": "FieldManagerConflict",
                    "message": format!("conflict with {}", c.manager), "field": c.field})
            })
            .collect()
    }
}

fn conflict_message(conflicts: &[Conflict]) -> String {
    if let [one] = conflicts {
        return format!("Apply failed with 1 conflict: conflict with {}: {}", one.manager, one.field);
    }
    let mut text = format!("Apply failed with {} conflicts: ", conflicts.len());
    let mut previous = None;
    for conflict in conflicts {
        if previous != Some(&conflict.manager) {
            let line_break = if previous.is_some() { "\n" } else { "" };
            text.push_str(&format!("{line_break}conflicts with {}:", conflict.manager));
            previous = Some(&conflict.manager);
        }
        text.push_str(&format!("\n- {}", conflict.field));
    }
    text
}

/// Returns `new` with its `metadata.managedFields` after a write other than an apply.
///
/// `live` is the object before, or null on create. Managed fields that the new object carries replace the live ones,
/// except through a subresource; a single empty entry takes all ownership away.
#[must_use]
pub fn update(typed: &Typed, live: &Value, new: &Value, manager: &Manager) -> Value {
    let mut object = new.clone();
    if update_in(&Same(typed), live, &mut object, manager).is_err() {
        // `Same` never needs a conversion.
        meta::remove(&mut object, "managedFields");
    }
    object
}

/// As [`update`], for an object that managers wrote in several versions. It changes `new`.
///
/// # Errors
/// Returns a conversion to make before the call is repeated; `new` is as before.
pub fn update_in(
    versions: &dyn Versions,
    live: &Value,
    new: &mut Value,
    manager: &Manager,
) -> Result<(), Unconverted> {
    let mut managed = live_or_new(live, new, !manager.subresource.is_empty());
    let given = meta::take(new, "managedFields");
    if versions.typed(&manager.api_version).is_some_and(|typed| !can_be_owned(typed, live, new)) {
        return Ok(());
    }
    let exists = live.pointer("/metadata/uid").is_some();
    if !(managed.0.is_empty() && exists) {
        if let Err(needed) = record_update(versions, live, new, &mut managed, manager) {
            if let Some(given) = given {
                meta::set(new, "managedFields", given);
            }
            return Err(needed);
        }
        managed.cap_updaters();
    }
    managed.write_to(new);
    Ok(())
}

/// Checks `managedFields`.
///
/// # Errors
/// Returns the fault of the first malformed entry.
pub(crate) fn check_managers(entries: &Value) -> Result<(), String> {
    Managed::decode(entries).map(drop)
}

fn live_or_new(live: &Value, new: &Value, subresource: bool) -> Managed {
    let entries = new.pointer("/metadata/managedFields");
    if subresource {
        return Managed::of(live);
    }
    if let Some([Value::Object(entry)]) = entries.and_then(Value::as_array).map(Vec::as_slice)
        && entry.is_empty()
    {
        return Managed::default();
    }
    match entries.map(Managed::decode) {
        Some(Ok(managed)) if !managed.0.is_empty() => managed,
        _ => Managed::of(live),
    }
}

/// Reports whether both objects fit their schema; otherwise the server drops all ownership.
fn can_be_owned(typed: &Typed, live: &Value, new: &Value) -> bool {
    check::object(typed, new).and_then(|()| check::object(typed, live)).is_ok()
}

fn without_managed_fields(object: &Value) -> Value {
    let mut object = object.clone();
    meta::remove(&mut object, "managedFields");
    object
}

/// The fields that the endpoint of a request considers.
#[derive(Clone, Debug)]
struct Scope {
    ignored: Set,
    only: &'static [&'static [&'static str]],
}

impl Scope {
    fn new(manager: &Manager) -> Self {
        let mut ignored = Set::default();
        for field in manager.ignored {
            let path: Vec<PathElement> =
                field.split('.').map(|part| PathElement::Field(part.to_owned())).collect();
            ignored.insert(&path);
        }
        Self { ignored, only: manager.only }
    }

    /// The part of a set that the endpoint considers.
    fn of(&self, set: &Set) -> Set {
        let set = set.recursive_difference(&self.ignored);
        if self.only.is_empty() {
            return set;
        }
        let mut inside = Set::default();
        for path in set.paths() {
            if self.only.iter().any(|beginning| begins_with(&path, beginning)) {
                inside.insert(&path);
            }
        }
        inside
    }
}

fn begins_with(path: &[PathElement], beginning: &[&str]) -> bool {
    let fits = |(element, name): (&PathElement, &&str)| match element {
        PathElement::Field(field) => field == name || *name == "*",
        _ => *name == "*",
    };
    path.len() >= beginning.len() && path.iter().zip(beginning).all(fits)
}

/// Returns the object to compare with: the stored one, or an empty one of the kind.
fn base<'a>(typed: Option<&Typed>, live: &'a Value, new: &Value) -> Cow<'a, Value> {
    if !live.is_null() {
        return Cow::Borrowed(live);
    }
    let mut blank = typed.map_or_else(|| Value::Object(Map::new()), |typed| typed.blank.clone());
    for name in ["apiVersion", "kind"] {
        if let (Some(map), Some(value)) = (blank.as_object_mut(), new.get(name)) {
            map.insert(name.to_owned(), value.clone());
        }
    }
    Cow::Owned(blank)
}

fn record_update(
    versions: &dyn Versions,
    live: &Value,
    new: &Value,
    managed: &mut Managed,
    manager: &Manager,
) -> Result<(), Unconverted> {
    let base = base(versions.typed(&manager.api_version), live, new);
    reconcile::reconcile(versions, managed);
    let scope = Scope::new(manager);
    let mut compared = Comparisons::new(versions, &base, new, scope.clone());
    for owned in managed.0.values_mut() {
        owned.set = match compared.at(&owned.api_version)? {
            Some(compared) => {
                let taken = compared.modified.union(&compared.added);
                owned.set.difference(&taken).difference(&compared.removed)
            }
            // Nobody can own fields of a version that is not served.
            None => Set::default(),
        };
    }
    let taken = compared.at(&manager.api_version)?.map(|own| own.modified.union(&own.added));
    let own = scope.of(&taken.unwrap_or_default()).difference(&server_set());
    if !own.is_empty() {
        let entry = managed.0.entry(Identity::new(manager, Operation::Update)).or_default();
        entry.set = entry.set.union(&own);
        entry.api_version.clone_from(&manager.api_version);
        entry.time = Some(manager.time.clone());
    }
    managed.0.retain(|_, owned| !owned.set.is_empty());
    Ok(())
}

/// Fields that the server sets or that identify the object: nobody owns them.
fn server_set() -> Set {
    let mut set = Set::default();
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[PathElement::Field(name.to_owned())]);
    }
    for name in [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ] {
        set.insert(&[PathElement::Field("metadata".to_owned()), PathElement::Field(name.to_owned())]);
    }
    set
}

/// Applies a configuration.
///
/// `live` is the stored object, or null if there is none. Fields that the manager applied before and leaves out now are
/// removed unless somebody else owns them.
///
/// # Errors
/// Returns conflicts with other owners, unless `force` is set, and faults of the configuration.
pub fn apply(
    typed: &Typed,
    live: &Value,
    applied: &Value,
    manager: &Manager,
    force: bool,
) -> Result<Applied, ApplyError> {
    apply_in(&Same(typed), live, applied, manager, force)
}

/// As [`apply`], for an object that managers wrote in several versions.
///
/// # Errors
/// As for [`apply`], or a conversion to make before the call is repeated.
pub fn apply_in(
    versions: &dyn Versions,
    live: &Value,
    applied: &Value,
    manager: &Manager,
    force: bool,
) -> Result<Applied, ApplyError> {
    check_request(applied, manager)?;
    let Some(typed) = versions.typed(&manager.api_version) else {
        return Err(ApplyError::BadRequest(format!("there is no version {}", manager.api_version)));
    };
    let result = match run(versions, typed, live, applied, manager, force) {
        Err(ApplyError::Conflicts(conflicts)) if manager.name == "kubectl" => {
            match last_applied::conflicts_beyond(typed, live, conflicts, manager) {
                left if left.is_empty() => run(versions, typed, live, applied, manager, true),
                left => Err(ApplyError::Conflicts(left)),
            }
        }
        result => result,
    };
    result.map(|applied_object| last_applied::remember(applied_object, applied, manager))
}

fn check_request(applied: &Value, manager: &Manager) -> Result<(), ApplyError> {
    let version = applied.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    if version != manager.api_version {
        return Err(ApplyError::BadRequest(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, expected: {}",
            manager.api_version
        )));
    }
    unmanaged(applied)
}

/// Refuses a configuration with managed fields.
pub(crate) fn unmanaged(applied: &Value) -> Result<(), ApplyError> {
    match applied.pointer("/metadata/managedFields") {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned())),
    }
}

/// Describes an object as Go's field manager does: `default/web; apps/v1, Kind=Deployment`.
pub(crate) fn about(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (metadata, version) = (&object["metadata"], text(&object["apiVersion"]));
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
    format!("{namespace}/{name}; {group}/{version}, Kind={}", text(&object["kind"]))
}

fn unfit(what: &str, object: &Value, fault: &str) -> ApplyError {
    ApplyError::Invalid(format!("failed to create typed {what} object ({}): {fault}", about(object)))
}

fn unmanageable(object: &Value, fault: &str) -> ApplyError {
    let about = about(object);
    ApplyError::Invalid(format!(
        "failed to create manager for existing fields: failed to convert new object ({about}) to smd typed: {fault}"
    ))
}

/// Checks a configuration of a custom resource as [`apply`] does, before any other step.
///
/// # Errors
/// Returns undeclared fields, values of another type and items without a unique key.
pub fn check_config(typed: &Typed, config: &Value) -> Result<(), ApplyError> {
    check::config(typed, config).map_err(|fault| unfit("patch", config, &fault))
}

/// Checks an object that was converted to a version of its kind: items may repeat.
///
/// # Errors
/// Returns all of its faults in kube-apiserver's words.
pub(crate) fn check_changed(typed: &Typed, object: &Value) -> Result<(), String> {
    check::changed(typed, object)
}

fn run(
    versions: &dyn Versions,
    typed: &Typed,
    live: &Value,
    applied: &Value,
    manager: &Manager,
    force: bool,
) -> Result<Applied, ApplyError> {
    let ty = Ty::of(typed);
    let mut base = base(Some(typed), live, applied).into_owned();
    meta::remove(&mut base, "managedFields");
    let mut managed = Managed::of(live);
    if managed.0.is_empty() && !live.is_null() {
        check::object(typed, &base).map_err(|fault| unmanageable(&base, &fault))?;
        let before = Manager { name: "before-first-apply".to_owned(), ..manager.clone() };
        record_update(versions, &Value::Null, &base, &mut managed, &before)?;
    }
    check::config(typed, applied).map_err(|fault| unfit("patch", applied, &fault))?;
    check::object(typed, &base).map_err(|fault| unfit("live", &base, &fault))?;
    reconcile::reconcile(versions, &mut managed);
    let merged = walk::merge(ty, &base, applied).map_err(|fault| unfit("patch", applied, &fault))?;
    let identity = Identity::new(manager, Operation::Apply);
    let last = managed.0.get(&identity).cloned().unwrap_or_default();
    let scope = Scope::new(manager);
    let set = scope.of(&walk::fields_of(ty, applied));
    let owned = Owned { set, api_version: manager.api_version.clone(), time: last.time.clone() };
    managed.0.insert(identity.clone(), owned);
    let mut object = prune::give_up(versions, merged, &managed, &last, &manager.api_version)?;
    let compared = Comparisons::new(versions, &base, &object, scope);
    settle(compared, &mut managed, &identity, force)?;
    let changed = live.is_null() || object != base;
    if let Some(own) = managed.0.get_mut(&identity) {
        own.set = own.set.difference(&server_set());
        if changed {
            own.time = Some(manager.time.clone());
        }
    }
    managed.0.retain(|_, owned| !owned.set.is_empty());
    if !changed {
        object = base;
    }
    managed.write_to(&mut object);
    Ok(Applied { object, changed })
}

/// Takes changed fields from their other owners, or reports them as conflicts.
fn settle(
    mut compared: Comparisons<'_>,
    managed: &mut Managed,
    identity: &Identity,
    force: bool,
) -> Result<(), ApplyError> {
    let mut conflicts = Vec::new();
    let mut others: Vec<_> = managed.0.iter_mut().filter(|(other, _)| *other != identity).collect();
    others.sort_by_cached_key(|(other, _)| other.sort_key());
    for (other, owned) in others {
        let Some(compared) = compared.at(&owned.api_version)? else {
            owned.set = Set::default();
            continue;
        };
        let lost = owned.set.intersection(&compared.modified.union(&compared.added));
        conflicts.extend(
            lost.paths().iter().map(|path| Conflict { manager: other.text(), field: path_text(path) }),
        );
        owned.set = owned.set.difference(&lost).difference(&compared.removed);
    }
    if !force && !conflicts.is_empty() {
        return Err(ApplyError::Conflicts(conflicts));
    }
    Ok(())
}

/// Reports whether two objects differ only in the times of their managed fields: such a write is a no-op.
#[must_use]
pub fn same_but_times(a: &Value, b: &Value) -> bool {
    same_but("metadata", a, b, |a, b| same_but("managedFields", a, b, same_entries))
}

/// Compares lists of managed fields, but not their times.
fn same_entries(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_but("time", a, b, |_, _| true))
        }
        _ => a == b,
    }
}

/// Compares the members of two maps, and the named one by `rule`; it is null where it is absent.
fn same_but(name: &str, a: &Value, b: &Value, rule: impl Fn(&Value, &Value) -> bool) -> bool {
    let (Value::Object(of_a), Value::Object(of_b)) = (a, b) else { return a == b };
    let is_other = |(key, _): &(&String, &Value)| key.as_str() != name;
    of_a.iter().filter(is_other).eq(of_b.iter().filter(is_other)) && rule(&a[name], &b[name])
}

#[cfg(test)]
mod tests;
