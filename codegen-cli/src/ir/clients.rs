//! Collects the kinds that get clients: those of the inputs, and the requested ones of Kubernetes.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kubesmith_core::names;

use super::{Group, Ir, Resource, ResourceCode, Version};

/// The crate of Kubernetes' types.
const K8S_OPENAPI: &str = "k8s_openapi::";

impl Ir {
    /// The groups, including the kinds of Kubernetes.
    pub fn client_groups(&self) -> Cow<'_, [Group]> {
        if self.built_in.is_empty() {
            return Cow::Borrowed(&self.groups);
        }
        let mut groups = self.groups.clone();
        for built_in in &self.built_in {
            match groups.iter_mut().find(|group| group.name == built_in.name) {
                // The inputs have chosen the names in code.
                Some(group) => join(&mut group.versions, &built_in.versions),
                None => groups.push(built_in.clone()),
            }
        }
        groups.sort_by(|a, b| a.name.cmp(&b.name));
        Cow::Owned(groups)
    }

    /// Library names of the crates that the package can name: those of kinds with a client, on which it
    /// depends.
    pub(crate) fn nameable(&self) -> BTreeSet<&str> {
        let versions = self.groups.iter().chain(&self.built_in).flat_map(|group| &group.versions);
        let clients =
            versions.flat_map(|version| &version.resources).filter(|resource| resource.client.is_some());
        clients.map(|resource| resource.code.lib()).collect()
    }

    /// The representation for clients: all kinds of `built_in` are in `groups`.
    pub fn for_clients(&self) -> Cow<'_, Self> {
        match self.client_groups() {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(groups) => Cow::Owned(Self { groups, built_in: Vec::new(), ..self.clone() }),
        }
    }
}

impl ResourceCode {
    /// Library name of the type's crate.
    pub(crate) fn lib(&self) -> &str {
        self.type_path.split("::").next().unwrap_or_default()
    }

    /// The names of a kind with this plural in upper camel case.
    pub(crate) fn new(type_path: String, kind: &str, plural: String, summary: String) -> Self {
        let (module, accessor) = (names::module_name(kind), names::method_name(&plural));
        Self { type_path, module, plural, accessor, summary }
    }
}

impl Resource {
    /// Whether it is a kind of Kubernetes.
    pub fn is_built_in(&self) -> bool {
        self.code.type_path.starts_with(K8S_OPENAPI)
    }
}

fn join(versions: &mut Vec<Version>, others: &[Version]) {
    for other in others {
        match versions.iter_mut().find(|version| version.name == other.name) {
            Some(version) => {
                version.resources.extend_from_slice(&other.resources);
                version.resources.sort_by(|a, b| (&a.kind, &a.span).cmp(&(&b.kind, &b.span)));
            }
            None => versions.push(other.clone()),
        }
    }
    versions.sort_by(|a, b| names::compare_versions(&a.name, &b.name));
}
