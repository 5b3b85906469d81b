//! Repairs definitions that an API server refuses but types can be made of, with a warning.

use kubesmith_core::diag::Code;
use kubesmith_core::names;
use serde_json::Value;

use super::Reader;

/// The annotation of an approved kind, and its value for unapproved ones.
const APPROVED: (&str, &str) = ("api-approved.kubernetes.io", "unapproved, experimental-only");

impl Reader<'_, '_> {
    /// Adds the missing members to the definition.
    pub(super) fn mend(&mut self, value: &mut Value) {
        self.approve(value);
        let names: Vec<String> = super::list(&value["spec"]["versions"])
            .filter_map(|(_, version)| version["name"].as_str().map(str::to_string))
            .collect();
        let Some(newest) = (0..names.len()).max_by(|a, b| names::compare_versions(&names[*a], &names[*b]))
        else {
            return;
        };
        for (key, what) in [("storage", "stored"), ("served", "served")] {
            let versions = &mut value["spec"]["versions"];
            if super::list(versions).any(|(_, version)| version[key] != false) {
                continue;
            }
            // The stored version is served if no other is.
            let stored = super::list(versions).find(|(_, version)| version["storage"] == true);
            let place = stored.map_or(newest, |(at, _)| at);
            versions[place][key] = true.into();
            let at = place.to_string();
            self.warn(
                &["spec", "versions", &at, key],
                Code::REFUSED_DEFINITION,
                format!("no version is {what}, so {} is imported as {what}", names[place]),
                "check the imported type: an API server refuses this definition",
            );
        }
    }

    /// Marks a kind of Kubernetes' own groups as unapproved, unless it has the annotation.
    fn approve(&mut self, value: &mut Value) {
        let group = value["spec"]["group"].as_str().unwrap_or_default();
        let annotations = &value["metadata"]["annotations"];
        let is_open = annotations.is_null() || annotations.is_object();
        if !names::is_protected_group(group) || !is_open || annotations.get(APPROVED.0).is_some() {
            return;
        }
        let message =
            format!("the group {group} belongs to Kubernetes, and nothing says that the kind is approved");
        value["metadata"]["annotations"][APPROVED.0] = APPROVED.1.into();
        self.warn(
            &["metadata", "annotations"],
            Code::REFUSED_DEFINITION,
            message,
            "the imported kind has `api_approved = \"unapproved, experimental-only\"`; write the approval there if there is one",
        );
    }
}
