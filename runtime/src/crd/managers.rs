//! The owners of the fields of definitions.

use kube::api::{Patch, PatchParams};
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
/// It is one write, so that a server that refuses the new versions keeps the webhook for the old ones.
pub(super) async fn replace_without_webhook(
    cluster: &Cluster<'_>,
    name: &str,
    manifest: &Value,
    dry_run: bool,
) -> Result<Value, client::Error> {
    let mut patch = manifest.clone();
    patch["spec"]["conversion"] = json!({"strategy": "None", "webhook": null});
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), dry_run, ..PatchParams::default() };
    cluster.patch_definition(name, None, &params, &Patch::Merge(patch)).await
}

/// The other managers of clients that write whole definitions by other means than applies.
const WRITERS: [&str; 4] = ["kubectl-client-side-apply", "kubectl-create", "before-first-apply", "helm"];

/// Returns the managed fields of a definition whose spec [`Upgrade`], kubectl or Helm wrote by other means than applies, as those
/// of an apply; `None` if there are no such fields. Only then does a later apply remove fields that the definition drops.
///
/// Labels and annotations of others stay theirs: Helm reads `helm.sh/resource-policy: keep` from the live definition.
///
/// Source: client-go's `util/csaupgrade`, which does this for `kubectl apply`.
pub(super) fn adopted(live: &Value) -> Option<Value> {
    let entries = live["metadata"].get("managedFields")?.as_array()?;
    let mut all = Value::Null;
    let (mut others, mut is_changed) = (Vec::new(), false);
    for entry in entries {
        let is_whole = entry.get("subresource").is_none();
        let is_update = entry["operation"] == "Update";
        if is_whole && entry["manager"] == MANAGER {
            is_changed |= is_update;
            add(&mut all, entry, &entry["fieldsV1"]);
        } else if is_whole && is_update && WRITERS.iter().any(|writer| entry["manager"] == *writer) {
            let mut rest = entry.clone();
            if let Some(spec) = rest["fieldsV1"].as_object_mut().and_then(|fields| fields.remove("f:spec")) {
                is_changed = true;
                add(&mut all, entry, &json!({"f:spec": spec}));
            }
            if rest["fieldsV1"] != json!({}) {
                others.push(rest);
            }
        } else {
            others.push(entry.clone());
        }
    }
    if !is_changed {
        return None;
    }
    (all["manager"], all["operation"]) = (MANAGER.into(), "Apply".into());
    others.insert(0, all);
    Some(others.into())
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
    fn spec_of_other_writers_of_whole_definitions_is_adopted() {
        let names = json!({"f:spec": {"f:names": {"f:shortNames": {}}}});
        let keep = json!({"f:metadata": {"f:annotations": {"f:helm.sh/resource-policy": {}}}});
        let mut written = names.clone();
        unite(&mut written, &keep);
        let mut status = entry("kube-apiserver", "Update", &json!({"f:status": {}}));
        status["subresource"] = json!("status");
        let rotator = entry("cert-manager-cainjector", "Update", &json!({"f:spec": {"f:conversion": {}}}));
        let entries = json!([
            entry("kubectl-client-side-apply", "Update", &names),
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
