//! The owners of the fields of definitions.

use kube::api::{Patch, PatchParams, ValidationDirective};
use serde_json::{Map, Value, json};

use super::CrdError;
use super::cluster::{Cluster, TRIES};
use crate::client;

/// The field manager of definitions. It does not depend on the operator, so that another one can take them over.
pub(super) const MANAGER: &str = "kubesmith-crd";

/// Makes the creation of a definition an apply. The server's controllers write its status at the same time.
pub(super) async fn created_as_applied(
    cluster: &Cluster<'_>,
    name: &str,
    created: Value,
) -> Result<(), CrdError> {
    let mut live = created;
    for attempt in 1.. {
        let Some(managed) = adopted(&live) else { break };
        match manage(cluster, name, &live, managed).await {
            Err(error) if error.is_conflict() && attempt < TRIES => {}
            done => return done.map(drop).map_err(CrdError::from),
        }
        let found = cluster.definition(name).await?;
        live = found.ok_or_else(|| CrdError::Missing { name: name.to_owned() })?;
    }
    Ok(())
}

/// Replaces the managed fields of a definition unless it changed since it was read.
pub(super) async fn manage(
    cluster: &Cluster<'_>,
    name: &str,
    live: &Value,
    managed: Value,
) -> Result<Value, client::Error> {
    let version = &live["metadata"]["resourceVersion"];
    let patch = Patch::Merge(json!({"metadata": {"resourceVersion": version, "managedFields": managed}}));
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    cluster.patch_definition(name, None, &params, &patch).await
}

/// Replaces the spec of a definition whose conversion webhook goes. An apply leaves the parts that other managers own, such as the
/// authority that a certificate manager writes, and a server refuses a webhook without its strategy.
///
/// It is one write, so that a server that refuses the new versions or an unknown field keeps the webhook for the old ones.
pub(super) async fn replace_without_webhook(
    cluster: &Cluster<'_>,
    name: &str,
    manifest: &Value,
) -> Result<Value, CrdError> {
    let mut patch = manifest.clone();
    patch["spec"]["conversion"] = json!({"strategy": "None", "webhook": null});
    let replaced = cluster.patch_definition(name, None, &strict(), &Patch::Merge(patch)).await;
    replaced.map_err(|error| fault(name, error))
}

/// Has the server check the definition that an upgrade ends with, without storing it.
///
/// An apply cannot do that: before the upgrade owns the spec, an apply keeps the fields that it will remove.
pub(super) async fn check(
    cluster: &Cluster<'_>,
    name: &str,
    live: &Value,
    manifest: &Value,
) -> Result<(), CrdError> {
    let mut whole = json!({"metadata": {"resourceVersion": live["metadata"]["resourceVersion"]}});
    whole["spec"] = manifest["spec"].clone();
    for field in ["annotations", "labels"] {
        let both = [live, manifest].into_iter().filter_map(|object| object["metadata"][field].as_object());
        let all: Map<String, Value> =
            both.flatten().map(|(key, value)| (key.clone(), value.clone())).collect();
        whole["metadata"][field] = all.into();
    }
    let params = PatchParams { dry_run: true, ..strict() };
    cluster.patch_parts(name, &whole, &params).await.map(drop).map_err(|error| fault(name, error))
}

/// Names the unknown fields of a definition. The server's message about a patch quotes the whole object before them.
fn fault(name: &str, error: client::Error) -> CrdError {
    let message = error.status().map_or("", |status| &status.message);
    match message.rsplit_once("strict decoding error: ") {
        Some((_, reason)) => CrdError::Definition { name: name.to_owned(), reason: reason.to_owned() },
        None => error.into(),
    }
}

/// The parameters of writes whose unknown fields the server refuses, as it does in an apply.
fn strict() -> PatchParams {
    PatchParams {
        field_manager: Some(MANAGER.to_owned()),
        field_validation: Some(ValidationDirective::Strict),
        ..PatchParams::default()
    }
}

/// Returns the managed fields of a definition whose spec others than an apply of [`Upgrade`] wrote, as those of such an apply; `None`
/// if there are none. Only then does a later apply remove fields that the definition drops.
///
/// The authority of a conversion webhook belongs to a certificate manager. Labels and annotations of others stay theirs: Helm reads
/// `helm.sh/resource-policy: keep` from the live definition.
///
/// Source: client-go's `util/csaupgrade`, which does this for `kubectl apply`.
pub(super) fn adopted(live: &Value) -> Option<Value> {
    let entries = live["metadata"].get("managedFields")?.as_array()?;
    let mut all = Value::Null;
    let (mut others, mut is_changed) = (Vec::new(), false);
    for entry in entries {
        if entry.get("subresource").is_some() {
            others.push(entry.clone());
        } else if entry["manager"] == MANAGER {
            is_changed |= entry["operation"] == "Update";
            add(&mut all, entry, &entry["fieldsV1"]);
        } else {
            let (spec, rest) = without_spec(entry);
            if let Some(spec) = spec {
                is_changed = true;
                add(&mut all, entry, &json!({"f:spec": spec}));
            }
            others.extend(rest);
        }
    }
    if !is_changed {
        return None;
    }
    (all["manager"], all["operation"]) = (MANAGER.into(), "Apply".into());
    others.insert(0, all);
    Some(others.into())
}

/// The path of the authority of a conversion webhook within a spec.
const AUTHORITY: [&str; 4] = ["f:conversion", "f:webhook", "f:clientConfig", "f:caBundle"];

/// Splits a manager's fields into those of the spec, and an entry with the others, which includes the authority.
fn without_spec(entry: &Value) -> (Option<Value>, Option<Value>) {
    let mut rest = entry.clone();
    let mut spec = rest["fieldsV1"].as_object_mut().and_then(|fields| fields.remove("f:spec"));
    if let Some(all) = &mut spec
        && removed(all, &AUTHORITY)
    {
        let authority = AUTHORITY.iter().rev().fold(json!({}), |inner, name| json!({*name: inner}));
        rest["fieldsV1"]["f:spec"] = authority;
    }
    let is_empty = |fields: &Value| fields.as_object().is_none_or(Map::is_empty);
    let rest = (!is_empty(&rest["fieldsV1"])).then_some(rest);
    (spec.filter(|spec| !is_empty(spec)), rest)
}

/// Removes a field, and those above it that have no others. Reports whether it was there.
fn removed(fields: &mut Value, path: &[&str]) -> bool {
    let (Some(fields), Some((name, path))) = (fields.as_object_mut(), path.split_first()) else {
        return false;
    };
    let Some(inner) = fields.get_mut(*name) else { return false };
    let found = path.is_empty() || removed(inner, path);
    if found && (path.is_empty() || inner.as_object().is_some_and(Map::is_empty)) {
        fields.remove(*name);
    }
    found
}

/// Adds fields to the entry of an apply, which takes the rest of the first entry that has any.
fn add(all: &mut Value, entry: &Value, fields: &Value) {
    if all.is_null() {
        *all = entry.clone();
        all["fieldsV1"] = json!({});
    }
    unite(&mut all["fieldsV1"], fields);
}

/// Reports whether a definition has the labels and annotations of a manifest, and no others of its earlier applies.
pub(super) fn has_metadata(live: &Value, manifest: &Value) -> bool {
    let entries = live["metadata"]["managedFields"].as_array().into_iter().flatten();
    let own = entries.filter(|entry| entry["operation"] == "Apply" && entry["manager"] == MANAGER);
    let applied: Vec<&Value> = own.map(|entry| &entry["fieldsV1"]["f:metadata"]).collect();
    ["labels", "annotations"].iter().all(|field| {
        let wanted = manifest["metadata"][field].as_object();
        let is_wanted = |key: &str| wanted.is_some_and(|wanted| wanted.contains_key(key));
        let keys = applied.iter().filter_map(|metadata| metadata[format!("f:{field}")].as_object());
        let mut keys = keys.flat_map(|keys| keys.keys().filter_map(|key| key.strip_prefix("f:")));
        let mut pairs = wanted.into_iter().flatten();
        pairs.all(|(key, value)| live["metadata"][field].get(key) == Some(value)) && keys.all(is_wanted)
    })
}

/// Adds the fields of one set to another.
fn unite(all: &mut Value, more: &Value) {
    if !all.is_object() {
        *all = Map::new().into();
    }
    let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) else { return };
    for (name, inner) in more {
        unite(all.entry(name).or_insert(Value::Null), inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "fieldsV1": fields})
    }

    #[test]
    fn spec_of_other_managers_is_adopted_without_the_authority() {
        let names = json!({"f:spec": {"f:names": {"f:shortNames": {}}}});
        let keep = json!({"f:metadata": {"f:annotations": {"f:helm.sh/resource-policy": {}}}});
        let mut written = names.clone();
        unite(&mut written, &keep);
        let mut status = entry("kube-apiserver", "Update", &json!({"f:status": {}}));
        status["subresource"] = json!("status");
        let authority = json!({"f:conversion": {"f:webhook": {"f:clientConfig": {"f:caBundle": {}}}}});
        let rotator = entry("cert-manager-cainjector", "Update", &json!({"f:spec": authority}));
        let entries = json!([
            entry("kubectl", "Apply", &names),
            entry("helm", "Update", &written),
            rotator,
            entry(MANAGER, "Apply", &json!({"f:spec": {"f:scope": {}, "f:names": {"f:kind": {}}}})),
            status,
        ]);
        let all = json!({"f:spec": {"f:scope": {}, "f:names": {"f:kind": {}, "f:shortNames": {}}}});
        let helm = entry("helm", "Update", &keep);
        let expected = json!([entry(MANAGER, "Apply", &all), helm, rotator, status]);
        assert_eq!(adopted(&json!({"metadata": {"managedFields": entries}})), Some(expected.clone()));
        assert_eq!(adopted(&json!({"metadata": {"managedFields": expected}})), None);
        let created = json!([entry(MANAGER, "Update", &written)]);
        let applied = json!([entry(MANAGER, "Apply", &written)]);
        assert_eq!(adopted(&json!({"metadata": {"managedFields": created}})), Some(applied));
    }
}
