//! The identity of a stateful set's pods. Source: `pkg/controller/statefulset/stateful_set_utils.go`.

use serde_json::{Value, json};

use super::super::cluster::STATEFUL_SETS;
use super::super::pods::from_template;
use super::claims;
use crate::meta::{self, map_at};

/// The label that names a pod's revision (`ControllerRevisionHashLabelKey` of k8s.io/api/apps/v1).
const REVISION: &str = "controller-revision-hash";
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// Returns the ordinal in a pod's name, if the pod is one of the set's.
pub(super) fn ordinal(set: &Value, pod: &Value) -> Option<i64> {
    let number = meta::name(pod).strip_prefix(meta::name(set))?.strip_prefix('-')?;
    let is_canonical = number == "0" || !number.starts_with(['0', '+', '-']);
    number.parse().ok().filter(|_| is_canonical)
}

pub(super) fn revision(pod: &Value) -> Option<&str> {
    pod["metadata"]["labels"][REVISION].as_str()
}

/// Returns the labels that a pod has for its ordinal.
fn place(name: &str, ordinal: i64) -> [(&'static str, String); 2] {
    [(POD_NAME, name.to_owned()), (POD_INDEX, ordinal.to_string())]
}

/// Builds a pod of a set from the template of a revision.
pub(super) fn pod(set: &Value, template: &Value, revision: &str, ordinal: i64) -> Value {
    let name = format!("{}-{ordinal}", meta::name(set));
    let mut pod = from_template(set, STATEFUL_SETS, template);
    meta::remove(&mut pod, "generateName");
    let labels = map_at(&mut pod["metadata"], "labels");
    labels.insert(REVISION.to_owned(), revision.into());
    labels.extend(place(&name, ordinal).map(|(key, value)| (key.to_owned(), value.into())));
    pod["spec"]["hostname"] = name.as_str().into();
    if !set["spec"]["serviceName"].is_null() {
        pod["spec"]["subdomain"] = set["spec"]["serviceName"].clone();
    }
    pod["metadata"]["name"] = name.into();
    mount(set, &mut pod, ordinal);
    pod
}

/// Mounts a pod's claims as volumes, in place of volumes of the same names.
fn mount(set: &Value, pod: &mut Value, ordinal: i64) {
    let templates = claims::templates(set);
    let own = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    let volumes = templates.iter().map(|template| {
        let claim = claims::name(set, template, ordinal);
        json!({"name": meta::name(template), "persistentVolumeClaim": {"claimName": claim}})
    });
    let others = own.into_iter().filter(|volume| !templates.iter().any(|t| meta::name(t) == volume["name"]));
    let volumes: Vec<Value> = volumes.chain(others).collect();
    if !volumes.is_empty() {
        pod["spec"]["volumes"] = volumes.into();
    }
}

/// Returns the patch that restores the labels of a pod's ordinal; `None` if it has them.
pub(super) fn patch(pod: &Value, ordinal: i64) -> Option<Value> {
    let place = place(meta::name(pod), ordinal);
    let has_all = place.iter().all(|(key, value)| pod["metadata"]["labels"][*key] == value.as_str());
    let labels: serde_json::Map<String, Value> =
        place.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    (!has_all).then(|| json!({"metadata": {"labels": labels}}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinal_is_the_number_after_the_name_of_the_set() {
        let set = json!({"metadata": {"name": "db"}});
        let of = |name: &str| ordinal(&set, &json!({"metadata": {"name": name}}));
        assert_eq!((of("db-0"), of("db-12")), (Some(0), Some(12)));
        for name in ["db", "db-", "db-x", "db-01", "db--1", "dbs-1", "db-1-1"] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
