//! CustomResourceDefinitions: their parts, defaults and checks.

use serde_json::{Value, json};

use crate::meta::{self, map_at};
use crate::stage::Stage;
use crate::status::Cause;

pub(crate) const PLURAL: &str = "customresourcedefinitions";
/// The store's collection of CRDs.
pub(crate) const COLLECTION: &str = "customresourcedefinitions.apiextensions.k8s.io";
/// The finalizer that keeps a CRD until its objects are deleted.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

fn versions(crd: &Value) -> &[Value] {
    crd["spec"]["versions"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the storage version.
pub(crate) fn storage_version(crd: &Value) -> Option<&str> {
    versions(crd).iter().find(|v| v["storage"] == true).map(|v| meta::member(v, "name"))
}

/// Returns the store's collection of the CRD's objects; a recreated CRD gets a new one.
pub(crate) fn collection(crd: &Value) -> String {
    format!("{}#{}", crate::meta::name(crd), crate::meta::text(crd, "uid"))
}

pub(crate) fn is_established(crd: &Value) -> bool {
    condition(crd, "Established").is_some_and(|c| c["status"] == "True")
}

pub(crate) fn condition<'a>(crd: &'a Value, kind: &str) -> Option<&'a Value> {
    crd["status"]["conditions"].as_array()?.iter().find(|c| c["type"] == kind)
}

/// Fills in kube-apiserver's defaults.
pub(crate) fn default(crd: &mut Value, stage: Stage) {
    map_at(crd, "spec");
    let kind = meta::member(&crd["spec"]["names"], "kind").to_owned();
    let names = map_at(&mut crd["spec"], "names");
    if names.get("singular").is_none_or(|v| v == "") {
        names.insert("singular".to_owned(), Value::from(kind.to_lowercase()));
    }
    if !kind.is_empty() && names.get("listKind").is_none_or(|v| v == "") {
        names.insert("listKind".to_owned(), Value::from(format!("{kind}List")));
    }
    let conversion = map_at(&mut crd["spec"], "conversion");
    conversion.entry("strategy").or_insert(Value::from("None"));
    let client = conversion.get_mut("webhook").and_then(|webhook| webhook.get_mut("clientConfig"));
    if let Some(service) = client.and_then(|client| client.get_mut("service")).and_then(Value::as_object_mut)
    {
        service.entry("port").or_insert(Value::from(443));
    }
    // An empty webhook does not survive the conversion to the internal type and back
    // (`Convert_apiextensions_CustomResourceConversion_To_v1_CustomResourceConversion`).
    let is_empty = |webhook: &Value| {
        let versions = webhook["conversionReviewVersions"].as_array();
        webhook["clientConfig"].is_null() && versions.is_none_or(Vec::is_empty)
    };
    if conversion.get("webhook").is_some_and(is_empty) {
        conversion.remove("webhook");
    }
    if stage == Stage::Create {
        crd["status"] = Value::Null;
    }
    let stored = storage_version(crd).map(Value::from);
    let status = map_at(crd, "status");
    status.entry("conditions").or_insert(Value::Null);
    status.entry("acceptedNames").or_insert_with(|| json!({"plural": "", "kind": ""}));
    let versions = status.entry("storedVersions").or_insert(Value::Null);
    if versions.as_array().is_none_or(Vec::is_empty)
        && let Some(stored) = stored
    {
        *versions = json!([stored]);
    }
}

/// Adds the storage version to the stored ones, as an update of the spec does (`PrepareForUpdate` of the strategy).
pub(crate) fn remember_storage_version(crd: &mut Value) {
    let Some(stored) = storage_version(crd).map(Value::from) else { return };
    let status = map_at(crd, "status");
    if let Value::Array(list) = status.entry("storedVersions").or_insert_with(|| json!([]))
        && !list.contains(&stored)
    {
        list.push(stored);
    }
}

/// Checks a CRD. The form of its name is checked with the rest of its metadata.
pub(crate) fn check(crd: &Value, old: Option<&Value>) -> Vec<Cause> {
    let causes = kubesmith_apiextensions::structural::validate_crd(crd, old).into_iter();
    let is_own = |cause: &kubesmith_apiextensions::structural::Cause| {
        cause.field != "metadata.name" || cause.detail.starts_with("must be spec.names.plural")
    };
    causes.filter(is_own).map(Cause::from).collect()
}
