//! Finds members of definitions that no attribute reproduces.

use kubesmith_core::diag::Code;
use serde_json::Value;

use super::{Purpose, Reader};

/// The members of the objects in a definition, by their paths.
const MEMBERS: &[(&[&str], &[&str])] = &[
    (&[], &["apiVersion", "kind", "metadata", "spec", "status"]),
    (
        &["metadata"],
        &[
            "name",
            "annotations",
            "labels",
            "creationTimestamp",
            "generation",
            "resourceVersion",
            "uid",
            "managedFields",
            "selfLink",
        ],
    ),
    (&["spec"], &["group", "names", "scope", "versions", "conversion", "preserveUnknownFields"]),
    (&["spec", "names"], &["kind", "listKind", "plural", "singular", "shortNames", "categories"]),
    (&["spec", "conversion"], &["strategy", "webhook"]),
    (&["spec", "conversion", "webhook"], &["clientConfig", "conversionReviewVersions"]),
    (&["spec", "conversion", "webhook", "clientConfig"], &["url", "service", "caBundle"]),
    (&["spec", "conversion", "webhook", "clientConfig", "service"], &["namespace", "name", "path", "port"]),
];

/// Those of a version.
const VERSION: &[&str] = &[
    "name",
    "served",
    "storage",
    "deprecated",
    "deprecationWarning",
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
];

/// Those of a printer column.
const COLUMN: &[&str] = &["name", "type", "jsonPath", "description", "format", "priority"];

impl Reader<'_, '_> {
    /// Members that no attribute reproduces, by their paths.
    pub(super) fn unknown_members(&mut self, value: &Value) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        for (path, names) in MEMBERS {
            let found = path.iter().try_fold(value, |at, key| at.get(key));
            self.lost(found, path, names, &mut out);
        }
        let versions = value["spec"]["versions"].as_array().map_or(&[][..], Vec::as_slice);
        for (at, version) in versions.iter().enumerate() {
            let at = at.to_string();
            let path = ["spec", "versions", &at];
            self.lost(Some(version), &path, VERSION, &mut out);
            let below = |key| ["spec", "versions", &at, key];
            self.lost(version.get("schema"), &below("schema"), &["openAPIV3Schema"], &mut out);
            self.lost(version.get("subresources"), &below("subresources"), &["status", "scale"], &mut out);
            let columns = version["additionalPrinterColumns"].as_array().map_or(&[][..], Vec::as_slice);
            for (number, column) in columns.iter().enumerate() {
                let number = number.to_string();
                let path = ["spec", "versions", &at, "additionalPrinterColumns", &number];
                self.lost(Some(column), &path, COLUMN, &mut out);
            }
        }
        out
    }

    fn lost(&mut self, found: Option<&Value>, path: &[&str], names: &[&str], out: &mut Vec<Vec<String>>) {
        let Some(Value::Object(members)) = found else { return };
        for (name, value) in members {
            if !names.contains(&name.as_str()) && !value.is_null() {
                let full: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
                out.push(full.iter().map(ToString::to_string).collect());
                if self.purpose == Purpose::Compare {
                    continue;
                }
                let message = format!("`{}` is left out: no attribute says it", full.join("."));
                self.warn(
                    &full,
                    Code::LEFT_OUT,
                    message,
                    "API servers do not know it in a definition, or own it",
                );
            }
        }
    }
}
