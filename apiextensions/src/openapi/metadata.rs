//! Definitions of the metadata that every object and list carries (`k8s.io/apimachinery/pkg/apis/meta/v1`, as Kubernetes 1.36
//! publishes them).

use std::collections::BTreeMap;

use serde_json::Value;

/// The package of the types that all kinds share.
pub const PACKAGE: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// The value of a `$ref` to one of the definitions.
pub(super) fn reference(kind: &str) -> String {
    format!("#/components/schemas/{PACKAGE}.{kind}")
}

/// The definitions that those of custom resources refer to, by name.
pub fn definitions() -> BTreeMap<String, Value> {
    let all: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("metadata.json")).unwrap_or_default();
    all.into_iter().map(|(kind, schema)| (format!("{PACKAGE}.{kind}"), schema)).collect()
}
