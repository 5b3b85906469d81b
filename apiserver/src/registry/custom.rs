//! The resources of a CRD.

use std::sync::Arc;

use kubesmith_apimachinery::jsonpath::JsonPath;
use serde_json::{Value, json};

use super::{Behaviour, Column, ResourceDef, ScalePaths, compare_versions};
use crate::crd;
use crate::custom::{Custom, Family};

/// The resources that an established CRD serves.
pub(crate) fn of_definition(crd: &Value) -> Vec<ResourceDef> {
    let versions = crd["spec"]["versions"].as_array().map_or(&[][..], Vec::as_slice);
    let family = Arc::new(Family::new(crd));
    let served = versions.iter().filter(|v| v["served"] == true);
    served.filter_map(|version| def(crd, version, &family)).collect()
}

fn def(crd: &Value, version: &Value, family: &Arc<Family>) -> Option<ResourceDef> {
    let spec = &crd["spec"];
    let names = &crd["status"]["acceptedNames"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| crate::meta::strings(value).into_iter().map(str::to_owned).collect();
    let group = text(&spec["group"]);
    let custom = Custom::new(crd, &format!("{group}/{}", text(&version["name"])), family)?;
    let deprecated = (version["deprecated"] == true).then(|| match version["deprecationWarning"].as_str() {
        Some(warning) => warning.to_owned(),
        None => deprecation(&group, &text(&version["name"]), &text(&names["kind"]), spec),
    });
    Some(ResourceDef {
        stored_as: format!("{group}/{}", crd::storage_version(crd).unwrap_or_default()),
        collection: crd::collection(crd),
        version: text(&version["name"]),
        kind: text(&names["kind"]),
        list_kind: text(&names["listKind"]),
        plural: text(&names["plural"]),
        singular: text(&names["singular"]),
        short_names: list(&names["shortNames"]),
        categories: list(&names["categories"]),
        namespaced: spec["scope"] == "Namespaced",
        status: version["subresources"]["status"].is_object(),
        scale: ScalePaths::parse(&version["subresources"]["scale"]),
        columns: columns(&version["additionalPrinterColumns"]),
        selectable: selectable(&version["selectableFields"]),
        deprecated,
        behaviour: Behaviour::Custom(Arc::new(custom)),
        group,
    })
}

/// `defaultDeprecationWarning` of apiextensions-apiserver's customresource_handler.go: names the newest served version that
/// is newer and not deprecated.
fn deprecation(group: &str, version: &str, kind: &str, spec: &Value) -> String {
    let is_newer = |name: &&str| compare_versions(name, version).is_lt();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let newest = versions
        .filter(|it| it["served"] == true && it["deprecated"] != true)
        .filter_map(|it| it["name"].as_str())
        .filter(is_newer)
        .min_by(|a, b| compare_versions(a, b));
    let instead = newest.map(|newest| format!("; use {group}/{newest} {kind}")).unwrap_or_default();
    format!("{group}/{version} {kind} is deprecated{instead}")
}

/// The printer columns before the first with a malformed path: kube-apiserver drops those after it, too.
fn columns(columns: &Value) -> Vec<Column> {
    let declared = columns.as_array().filter(|columns| !columns.is_empty());
    let age = [json!({
        "name": "Age", "type": "date", "description": CREATION_TIMESTAMP, "jsonPath": ".metadata.creationTimestamp",
    })];
    // kube-apiserver's columns for a CRD that declares none.
    declared.map_or(age.as_slice(), Vec::as_slice).iter().map_while(column).collect()
}

fn column(column: &Value) -> Option<Column> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let path = text(&column["jsonPath"]);
    let mut description = text(&column["description"]);
    if description.is_empty() {
        description = format!("Custom resource definition column (in JSONPath format): {path}");
    }
    Some(Column {
        name: text(&column["name"]),
        kind: text(&column["type"]),
        format: text(&column["format"]),
        description,
        priority: column["priority"].as_i64().unwrap_or_default(),
        path: JsonPath::parse_column(&path).ok()?,
    })
}

/// The description of `metadata.creationTimestamp` in the API's own documentation.
pub(crate) const CREATION_TIMESTAMP: &str = "CreationTimestamp is a timestamp representing the server time when this object was \
created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this \
value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More \
info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

fn selectable(fields: &Value) -> Vec<String> {
    fields
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|field| field["jsonPath"].as_str())
        .map(|path| path.trim_start_matches('.').to_owned())
        .collect()
}
