//! The conditions of CustomResourceDefinitions, which decide which of them are served, and the resources of those.

mod serving;

pub(crate) use serving::{established, refresh};

use kubesmith_apiextensions::structural::Path;
use kubesmith_apiextensions::structural::webhook::validate_ca_bundle;
use serde_json::{Map, Value, json};

use crate::crd::{condition, is_established};
use crate::managed;
use crate::meta::{self, map_at};
use crate::names::quoted;

/// Updates the conditions of all CRDs, which are ordered by creation. Returns those that changed.
fn reconcile(crds: &[Value], now: &str) -> Vec<Value> {
    let mut accepted: Vec<(String, String, Value)> = crds
        .iter()
        .filter(|crd| crd["status"]["acceptedNames"]["plural"].as_str().is_some_and(|p| !p.is_empty()))
        .map(|crd| {
            (
                name_of(crd),
                meta::member(&crd["spec"], "group").to_owned(),
                crd["status"]["acceptedNames"].clone(),
            )
        })
        .collect();
    let mut changed = Vec::new();
    for crd in crds {
        let own = name_of(crd);
        let group = meta::member(&crd["spec"], "group");
        let taken = |field: &str, value: &str| {
            accepted
                .iter()
                .any(|(other, g, names)| *other != own && g == group && claims(names, field, value))
        };
        let mut next = crd.clone();
        if !has_its_names(crd) {
            apply_names(&mut next, &conflicts(&crd["spec"]["names"], taken), now);
        }
        establish(&mut next, now);
        if next != *crd {
            accepted.retain(|(other, _, _)| *other != own);
            accepted.push((own, group.to_owned(), next["status"]["acceptedNames"].clone()));
            changed.push(managed::updated_definition(crd, &next, now));
        }
    }
    changed
}

fn name_of(crd: &Value) -> String {
    meta::name(crd).to_owned()
}

/// Reports whether accepted names include `value`: resource names share one space, kinds another.
fn claims(names: &Value, field: &str, value: &str) -> bool {
    if matches!(field, "kind" | "listKind") {
        return names["kind"] == value || names["listKind"] == value;
    }
    names["plural"] == value
        || names["singular"] == value
        || names["shortNames"].as_array().is_some_and(|list| list.iter().any(|n| n == value))
}

/// A name that another CRD has: its field in `spec.names`, the condition's reason and its message.
type Conflict = (&'static str, &'static str, String);

fn conflicts(names: &Value, taken: impl Fn(&str, &str) -> bool) -> Vec<Conflict> {
    let mut out = Vec::new();
    let mut check = |field: &'static str, reason: &'static str, name: &str| {
        if taken(field, name) {
            out.push((field, reason, format!("{} is already in use", quoted(name))));
        }
    };
    check("plural", "PluralConflict", meta::member(names, "plural"));
    check("singular", "SingularConflict", meta::member(names, "singular"));
    for short in meta::strings(&names["shortNames"]) {
        check("shortNames", "ShortNamesConflict", short);
    }
    check("kind", "KindConflict", meta::member(names, "kind"));
    check("listKind", "ListKindConflict", meta::member(names, "listKind"));
    out
}

/// Whether the accepted names are those of the spec. The naming controller then looks no further, even if its condition
/// was removed.
fn has_its_names(crd: &Value) -> bool {
    let of = |names: &Value| -> Map<String, Value> {
        let is_set = |value: &Value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty());
        let names = names.as_object().into_iter().flatten();
        names.filter(|(_, value)| is_set(value)).map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    of(&crd["spec"]["names"]) == of(&crd["status"]["acceptedNames"])
}

/// Establishes a definition whose names are accepted (`pkg/controller/establish`).
fn establish(crd: &mut Value, now: &str) {
    let is_accepted = condition(crd, "NamesAccepted").is_some_and(|c| c["status"] == "True");
    if !is_accepted || is_established(crd) {
        return;
    }
    let bundle = meta::member(&crd["spec"]["conversion"]["webhook"]["clientConfig"], "caBundle");
    if validate_ca_bundle(bundle, &Path::root()).is_empty() {
        let message = "the initial names have been accepted";
        set_condition(crd, "Established", true, "InitialNamesAccepted", message, now);
    } else {
        let message = "The conversion webhook CABundle is invalid";
        set_condition(crd, "Established", false, "InvalidCABundle", message, now);
    }
}

/// Accepts the names that are free, as the naming controller of apiextensions does (`pkg/controller/status`).
fn apply_names(crd: &mut Value, conflicts: &[Conflict], now: &str) {
    let names = crd["spec"]["names"].as_object().cloned().unwrap_or_default();
    let free = names.into_iter().filter(|(field, _)| conflicts.iter().all(|(taken, ..)| taken != field));
    let free: Map<String, Value> = free.collect();
    let accepted = conflicts.is_empty();
    let before = map_at(crd, "status").entry("acceptedNames").or_insert_with(|| json!({}));
    match before.as_object_mut().filter(|_| !accepted) {
        Some(before) => before.extend(free),
        None => *before = Value::Object(free),
    }
    match conflicts.last() {
        None => set_condition(crd, "NamesAccepted", true, "NoConflicts", "no conflicts found", now),
        Some((_, reason, message)) => set_condition(crd, "NamesAccepted", false, reason, message, now),
    }
    if !accepted && !is_established(crd) {
        set_condition(crd, "Established", false, "NotAccepted", "not all names are accepted", now);
    }
}

/// Sets a condition; its time only changes with its status.
pub(crate) fn set_condition(
    crd: &mut Value,
    kind: &str,
    status: bool,
    reason: &str,
    message: &str,
    now: &str,
) {
    let status = if status { "True" } else { "False" };
    let list = map_at(crd, "status").entry("conditions").or_insert(Value::Null);
    if list.is_null() {
        *list = json!([]);
    }
    let Value::Array(list) = list else { return };
    let entry = json!({
        "type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message,
    });
    match list.iter_mut().find(|c| c["type"] == kind) {
        Some(old) => {
            let since = old["lastTransitionTime"].clone();
            let same = old["status"] == status;
            *old = entry;
            if same {
                old["lastTransitionTime"] = since;
            }
        }
        None => list.push(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd::{check, default};
    use crate::stage::Stage;

    fn crd(plural: &str, kind: &str) -> Value {
        let mut crd = json!({
            "metadata": {"name": format!("{plural}.a.b")},
            "spec": {"group": "a.b", "scope": "Cluster", "names": {"plural": plural, "kind": kind},
                     "versions": [{"name": "v1", "served": true, "storage": true,
                                   "schema": {"openAPIV3Schema": {"type": "object"}}}]},
        });
        default(&mut crd, Stage::Create);
        crd
    }

    #[test]
    fn definition_is_not_established_when_its_kind_is_taken() {
        let first = reconcile(&[crd("as", "A")], "t").remove(0);
        assert!(is_established(&first));
        let both = reconcile(&[first.clone(), crd("bs", "A")], "t");
        assert_eq!(both.len(), 1);
        assert!(!is_established(&both[0]));
        assert_eq!(both[0]["status"]["conditions"][0]["reason"], "ListKindConflict");
        assert!(reconcile(&[first, both[0].clone()], "later").is_empty());
    }

    #[test]
    fn definition_is_not_established_when_its_certificates_are_unreadable() {
        let with = |bundle: &str| {
            let mut crd = crd("as", "A");
            crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"url": "https://a.example", "caBundle": bundle}}});
            crd
        };
        // The placeholder that a certificate manager replaces.
        let first = reconcile(&[with("Cg==")], "t").remove(0);
        assert_eq!(condition(&first, "Established").unwrap()["reason"], "InvalidCABundle");
        assert!(reconcile(std::slice::from_ref(&first), "later").is_empty());
        let mut mended = first;
        mended["spec"]["conversion"] = with("")["spec"]["conversion"].clone();
        assert!(is_established(&reconcile(&[mended], "later").remove(0)));
    }

    #[test]
    fn removed_conditions_return_only_where_a_controller_looks() {
        let first = reconcile(&[crd("as", "A")], "t").remove(0);
        let with = |conditions: Value| {
            let mut crd = first.clone();
            crd["status"]["conditions"] = conditions;
            crd
        };
        // Names that are accepted are not considered again.
        assert!(reconcile(&[with(json!([]))], "later").is_empty());
        let accepted = first["status"]["conditions"][0].clone();
        let again = reconcile(&[with(json!([accepted]))], "later").remove(0);
        assert!(is_established(&again));
        let mut empty = with(Value::Null);
        empty["status"]["acceptedNames"] = json!({"plural": "", "kind": ""});
        assert!(is_established(&reconcile(&[empty], "later").remove(0)));
    }

    #[test]
    fn definition_name_must_be_plural_and_group() {
        let mut wrong = crd("as", "A");
        wrong["metadata"]["name"] = json!("bs.a.b");
        let causes = check(&wrong, None);
        assert_eq!(causes.len(), 1);
        assert_eq!(causes[0].field, "metadata.name");
    }

    #[test]
    fn definition_without_storage_version_is_refused() {
        let mut two = crd("as", "A");
        two["spec"]["versions"][0]["storage"] = json!(false);
        assert!(check(&two, None).iter().any(|c| c.field == "spec.versions"));
    }
}
