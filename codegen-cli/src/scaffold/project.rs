//! Reads and writes the file `PROJECT`: the parts of a project, in kubebuilder's format.

use std::fs;
use std::path::Path;

use kubesmith_apimachinery::yaml;
use kubesmith_core::names::{Group, Kind, Version};
use serde::{Deserialize, Serialize};

use super::ScaffoldError;

/// Name of the file.
pub const FILE_NAME: &str = "PROJECT";

/// The contents of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Project {
    /// The end of its API groups' names.
    pub(super) domain: String,
    pub(super) layout: Vec<String>,
    pub(super) project_name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) resources: Vec<ProjectResource>,
    pub(super) version: String,
}

/// A version of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectResource {
    pub(super) api: ProjectApi,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) controller: bool,
    pub(super) domain: String,
    pub(super) group: String,
    pub(super) kind: String,
    /// Rust path of the type.
    pub(super) path: String,
    pub(super) plural: String,
    pub(super) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) webhooks: Option<ProjectWebhooks>,
}

impl ProjectResource {
    pub(super) fn gvk(&self) -> Gvk {
        Gvk { group: self.group.clone(), version: self.version.clone(), kind: self.kind.clone() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectApi {
    pub(super) crd_version: String,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) namespaced: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectWebhooks {
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) conversion: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) defaulting: bool,
    /// The versions converted to and from this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) spoke: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) validation: bool,
    pub(super) webhook_version: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Group, version and kind, as in flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gvk {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
}

impl Gvk {
    /// Checks them; `domain` is the project's.
    pub(super) fn parse(group: &str, version: &str, kind: &str, domain: &str) -> Result<Self, ScaffoldError> {
        let wrong = |flag: &str, text: &str, problem: &dyn std::fmt::Display| {
            ScaffoldError::Usage(format!("--{flag} {text}: {problem}"))
        };
        Version::parse(version).map_err(|problem| wrong("version", version, &problem))?;
        Kind::of_type(kind).map_err(|problem| wrong("kind", kind, &problem))?;
        if group.is_empty() {
            return Err(ScaffoldError::Usage("--group is empty: name a group such as `apps`".into()));
        }
        let before_domain = group.strip_suffix(domain).and_then(|before| before.strip_suffix('.'));
        if let Some(before) = before_domain.filter(|_| !domain.is_empty()) {
            let problem = format!("the project's domain {domain} is added to it: write --group {before}");
            return Err(wrong("group", group, &problem));
        }
        let out = Self { group: group.to_string(), version: version.to_string(), kind: kind.to_string() };
        Group::parse(&out.qualified_group(domain)).map_err(|problem| wrong("group", group, &problem))?;
        Ok(out)
    }

    /// The group's name on the server.
    pub(super) fn qualified_group(&self, domain: &str) -> String {
        if domain.is_empty() { self.group.clone() } else { format!("{}.{domain}", self.group) }
    }

    fn is(&self, resource: &ProjectResource) -> bool {
        resource.group == self.group && resource.version == self.version && resource.kind == self.kind
    }
}

impl Project {
    pub(super) fn read(root: &Path) -> Result<Self, ScaffoldError> {
        let path = root.join(FILE_NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ScaffoldError::NoProject(path));
            }
            Err(source) => return Err(ScaffoldError::Io { action: "read", path, source }),
        };
        serde_yaml::from_str(&text)
            .map_err(|error| ScaffoldError::BadProject { path, problem: error.to_string() })
    }

    pub(super) fn text(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        format!(
            "# What kubesmith's init and create have made; they read it again when they add to it.\n{}",
            yaml::to_yaml(&value)
        )
    }

    pub(super) fn resource(&self, gvk: &Gvk) -> Option<&ProjectResource> {
        self.resources.iter().find(|resource| gvk.is(resource))
    }

    /// The other versions of a kind, in the order of their creation.
    pub(super) fn siblings<'a>(&'a self, gvk: &'a Gvk) -> impl Iterator<Item = &'a ProjectResource> {
        let of_kind =
            self.resources.iter().filter(|other| other.group == gvk.group && other.kind == gvk.kind);
        of_kind.filter(|other| other.version != gvk.version)
    }

    pub(super) fn resource_mut(&mut self, gvk: &Gvk) -> Option<&mut ProjectResource> {
        self.resources.iter_mut().find(|resource| gvk.is(resource))
    }
}
