//! The owners of the fields of definitions.

use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use super::CrdError;
use super::cluster::Cluster;
use crate::client;

/// The field manager of definitions. It does not depend on the operator, so that another one can take them over.
pub(super) const MANAGER: &str = "kubesmith-crd";
/// The limit of attempts to change the owners when another client changes the definition meanwhile.
const TRIES: usize = 10;

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

/// The managers of clients that write whole definitions by other means than applies.
const WRITERS: [&str; 5] =
    [MANAGER, "kubectl-client-side-apply", "kubectl-create", "before-first-apply", "helm"];

/// Returns the managed fields of a definition that [`Upgrade`], kubectl or Helm wrote by other means than applies, as those of an
/// apply; `None` if there are no such fields. Only then does a later apply remove fields that the definition drops.
///
/// Source: client-go's `util/csaupgrade`, which does this for `kubectl apply`.
pub(super) fn adopted(live: &Value) -> Option<Value> {
    let entries = live["metadata"].get("managedFields")?.as_array()?;
    let is_written = |entry: &Value| {
        entry["operation"] == "Update" && WRITERS.iter().any(|writer| entry["manager"] == *writer)
    };
    let is_applied = |entry: &Value| entry["operation"] == "Apply" && entry["manager"] == MANAGER;
    let is_own =
        |entry: &&Value| entry.get("subresource").is_none() && (is_written(entry) || is_applied(entry));
    let (own, mut others): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(is_own);
    if !own.iter().any(|entry| is_written(entry)) {
        return None;
    }
    let mut all = own.first().copied()?.clone();
    for entry in &own {
        unite(&mut all["fieldsV1"], &entry["fieldsV1"]);
    }
    (all["manager"], all["operation"]) = (MANAGER.into(), "Apply".into());
    others.insert(0, &all);
    Some(json!(others))
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
    fn fields_of_other_writers_of_whole_definitions_are_adopted() {
        let names = json!({"f:spec": {"f:names": {"f:shortNames": {}}}});
        let mut status = entry("kube-apiserver", "Update", &json!({"f:status": {}}));
        status["subresource"] = json!("status");
        let rotator = entry("cert-manager-cainjector", "Update", &json!({"f:spec": {"f:conversion": {}}}));
        let entries = json!([
            entry("kubectl-client-side-apply", "Update", &names),
            rotator,
            entry(MANAGER, "Apply", &json!({"f:spec": {"f:scope": {}, "f:names": {"f:kind": {}}}})),
            status,
        ]);
        let all = json!({"f:spec": {"f:scope": {}, "f:names": {"f:kind": {}, "f:shortNames": {}}}});
        let expected = json!([entry(MANAGER, "Apply", &all), rotator, status]);
        assert_eq!(adopted(&json!({"metadata": {"managedFields": entries}})), Some(expected));
        let own = json!([entry(MANAGER, "Apply", &names), rotator, status]);
        assert_eq!(adopted(&json!({"metadata": {"managedFields": own}})), None);
    }
}
