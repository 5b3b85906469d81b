//! The served resources and their rules.

mod built_in;
mod custom;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use http::Method;
pub(crate) use kubesmith_apiextensions::structural::ScalePaths;
use kubesmith_apimachinery::jsonpath::JsonPath;
use serde_json::Value;

use crate::builtin::BuiltIn;
use crate::builtin::parts::{self, Part};
use crate::custom::Custom;
use crate::documents::Documents;
use crate::groups;
use crate::http::negotiate::Endpoint;
use crate::http::path::ResourcePath;
use crate::names::NameRule;
use crate::status::ErrorSubject;
use crate::types;

pub(crate) use built_in::of_built_in;
pub(crate) use custom::{CREATION_TIMESTAMP, of_definition};

/// The rules of a resource.
#[derive(Clone, Debug)]
pub(crate) enum Behaviour {
    BuiltIn(&'static BuiltIn),
    Custom(Arc<Custom>),
}

/// A column of the table output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    pub(crate) path: JsonPath,
}

/// One resource in one version.
#[derive(Clone, Debug)]
pub(crate) struct ResourceDef {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) namespaced: bool,
    /// The store's collection, shared by all versions.
    pub(crate) collection: String,
    /// The `apiVersion` of stored objects.
    pub(crate) stored_as: String,
    pub(crate) status: bool,
    pub(crate) scale: Option<ScalePaths>,
    pub(crate) columns: Vec<Column>,
    /// Fields that selectors may use, in addition to name and namespace.
    pub(crate) selectable: Vec<String>,
    /// A text for the `Warning` header of a deprecated version.
    pub(crate) deprecated: Option<String>,
    pub(crate) behaviour: Behaviour,
}

impl ResourceDef {
    /// `group/version`, or only the version in the core group.
    pub(crate) fn api_version(&self) -> String {
        groups::api_version(&self.group, &self.version)
    }

    /// Reports whether objects are stored in this version.
    pub(crate) fn is_storage_version(&self) -> bool {
        let (group, version) = self.stored_as.rsplit_once('/').unwrap_or(("", &self.stored_as));
        (group, version) == (&self.group, &self.version)
    }

    /// Returns an error's subject, named by the resource.
    pub(crate) fn subject(&self, name: &str) -> ErrorSubject {
        ErrorSubject::new(&self.group, &self.plural, name)
    }

    /// Returns an error's subject, named by the kind: for built-in kinds that of the internal type, which both groups
    /// of events share.
    pub(crate) fn subject_of_kind(&self, name: &str) -> ErrorSubject {
        let stored = self.stored_as.split_once('/').map_or("", |(group, _)| group);
        ErrorSubject::new(if self.is_custom() { &self.group } else { stored }, &self.kind, name)
    }

    /// Reports whether objects are reviews, which are not stored.
    pub(crate) fn is_review(&self) -> bool {
        matches!(&self.behaviour, Behaviour::BuiltIn(built_in) if built_in.review)
    }

    /// Reports whether objects are computed on reads, and not stored.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(&self.behaviour, Behaviour::BuiltIn(built_in) if built_in.computed)
    }

    /// Reports whether objects are stored.
    pub(crate) fn is_stored(&self) -> bool {
        !self.is_review() && !self.is_computed()
    }

    /// Whether kube-apiserver keeps a watch cache of its objects (`DefaultWatchCacheSizes` of pkg/kubeapiserver).
    pub(crate) fn is_cached(&self) -> bool {
        self.is_custom() || self.plural != "events"
    }

    /// Reports whether its objects have a message, so that they can be encoded as protobuf.
    pub(crate) fn has_message(&self) -> bool {
        match &self.behaviour {
            Behaviour::BuiltIn(_) => types::message_of_kind(&self.api_version(), &self.kind).is_some(),
            Behaviour::Custom(_) => false,
        }
    }

    pub(crate) fn is_custom(&self) -> bool {
        matches!(self.behaviour, Behaviour::Custom(_))
    }

    pub(crate) fn name_rule(&self) -> NameRule {
        match &self.behaviour {
            Behaviour::BuiltIn(built_in) => built_in.name_rule,
            Behaviour::Custom(_) => NameRule::Subdomain,
        }
    }

    /// Returns the key of an object in the store.
    pub(crate) fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced { format!("{namespace}/{name}") } else { name.to_owned() }
    }

    /// Returns the key of an object in kube-apiserver's etcd, which errors of its storage contain
    /// (`SpecialDefaultResourcePrefixes` of pkg/kubeapiserver/default_storage_factory_builder.go).
    pub(crate) fn storage_key(&self, namespace: &str, name: &str) -> String {
        let (group, plural) = (self.group.as_str(), self.plural.as_str());
        let collection = match (group, plural) {
            ("", "replicationcontrollers") => "controllers",
            ("", "endpoints") => "services/endpoints",
            ("", "services") => "services/specs",
            ("", "nodes") => "minions",
            ("networking.k8s.io", "ingresses") => "ingress",
            _ if self.is_custom() || matches!(group, "apiextensions.k8s.io" | "apiregistration.k8s.io") => {
                return format!("/registry/{group}/{plural}/{}", self.key(namespace, name));
            }
            _ => plural,
        };
        format!("/registry/{collection}/{}", self.key(namespace, name))
    }

    /// Returns the prefix of the keys of a namespace's objects; of all when `namespace` is empty.
    pub(crate) fn prefix(&self, namespace: &str) -> String {
        if self.namespaced && !namespace.is_empty() { format!("{namespace}/") } else { String::new() }
    }

    /// Returns the key of this object in the store.
    pub(crate) fn key_of(&self, object: &Value) -> String {
        self.key(crate::meta::namespace(object), crate::meta::name(object))
    }

    /// Reports whether the resource serves a path: namespaced custom resources are only listed and watched across namespaces
    /// (`possiblyAcrossAllNamespacesVerbs` of apiextensions-apiserver's customresource_handler.go).
    pub(crate) fn serves(&self, path: &ResourcePath, method: &Method) -> bool {
        let is_list = path.watch || path.name.is_empty();
        let is_read = matches!(*method, Method::GET | Method::HEAD) && is_list;
        !self.is_custom() || !self.namespaced || !path.namespace.is_empty() || is_read
    }

    /// Returns the subresource of this name that is a part of the object.
    pub(crate) fn part(&self, subresource: &str) -> Option<Part> {
        if self.is_custom() { None } else { Part::of(&self.collection, subresource) }
    }

    /// The fields that a write of the status does not change. Its manager does not own them.
    pub(crate) fn ignored_by_status(&self) -> &'static [&'static str] {
        if self.is_custom() { &["metadata", "spec"] } else { parts::ignored_by_status(&self.plural) }
    }

    /// Returns the kind of endpoint that a path of the resource has.
    pub(crate) fn endpoint(&self, path: &ResourcePath) -> Endpoint {
        match path.name.as_str() {
            _ if self.is_custom() => Endpoint::Custom,
            "" => Endpoint::Collection,
            _ => match path.subresource.as_str() {
                "status" if matches!(self.plural.as_str(), "resourceclaims" | "apiservices") => {
                    Endpoint::Untabled
                }
                "" | "status" | "scale" => Endpoint::Object,
                _ => Endpoint::Untabled,
            },
        }
    }
}

/// All served resources at one moment; replaced as a whole when CRDs change.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Definitions by group, version and plural.
    resources: BTreeMap<(String, String, String), Arc<ResourceDef>>,
    /// Versions of each group in the order of preference.
    versions: BTreeMap<String, Vec<String>>,
    /// One definition for each stored collection.
    stored: Arc<[Arc<ResourceDef>]>,
    /// The OpenAPI documents that describe them.
    pub(crate) documents: Documents,
}

/// The definitions of the built-in resources, which all registries share.
static BUILT_IN: LazyLock<Vec<Arc<ResourceDef>>> =
    LazyLock::new(|| crate::builtin::all().map(|kind| Arc::new(of_built_in(kind))).collect());

impl Registry {
    /// The registry of the built-in resources and these, shared by all servers without CRDs.
    pub(crate) fn shared(custom: Vec<ResourceDef>) -> Arc<Self> {
        static BUILT_IN_ONLY: LazyLock<Arc<Registry>> = LazyLock::new(|| Arc::new(Registry::new([])));
        if custom.is_empty() { BUILT_IN_ONLY.clone() } else { Arc::new(Self::new(custom)) }
    }

    /// Creates a registry of the built-in resources and those of established CRDs.
    pub(crate) fn new(custom: impl IntoIterator<Item = ResourceDef>) -> Self {
        let mut registry = Self::default();
        for def in BUILT_IN.iter().cloned().chain(custom.into_iter().map(Arc::new)) {
            registry.add(def);
        }
        for versions in registry.versions.values_mut() {
            versions.sort_by(|a, b| compare_versions(a, b));
        }
        registry.stored = registry.one_of_each_collection();
        registry
    }

    fn add(&mut self, def: Arc<ResourceDef>) {
        let versions = self.versions.entry(def.group.clone()).or_default();
        if !versions.contains(&def.version) {
            versions.push(def.version.clone());
        }
        let key = (def.group.clone(), def.version.clone(), def.plural.clone());
        self.resources.insert(key, def);
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<ResourceDef>> {
        self.resources.get(&(group.to_owned(), version.to_owned(), plural.to_owned())).cloned()
    }

    pub(crate) fn has_version(&self, group: &str, version: &str) -> bool {
        self.versions.get(group).is_some_and(|v| v.iter().any(|w| w == version))
    }

    /// Groups and their versions, the preferred first; the core group has the empty name.
    pub(crate) fn groups(&self) -> &BTreeMap<String, Vec<String>> {
        &self.versions
    }

    /// Resources of a group version in the order of their names.
    pub(crate) fn of_version(&self, group: &str, version: &str) -> Vec<Arc<ResourceDef>> {
        self.all().filter(|def| def.group == group && def.version == version).cloned().collect()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<ResourceDef>> {
        self.resources.values()
    }

    /// One definition for each stored collection, in the order of the collections' names.
    pub(crate) fn stored(&self) -> Arc<[Arc<ResourceDef>]> {
        self.stored.clone()
    }

    fn one_of_each_collection(&self) -> Arc<[Arc<ResourceDef>]> {
        let mut seen: BTreeMap<&str, &Arc<ResourceDef>> = BTreeMap::new();
        for def in self.resources.values().filter(|def| def.is_stored()) {
            if def.is_storage_version() || !seen.contains_key(def.collection.as_str()) {
                seen.insert(&def.collection, def);
            }
        }
        seen.into_values().cloned().collect()
    }
}

/// Kubernetes' version priority: GA before beta before alpha, higher numbers first, anything else after them.
pub(crate) fn compare_versions(a: &str, b: &str) -> std::cmp::Ordering {
    match (parse_version(a), parse_version(b)) {
        (Some(x), Some(y)) => y.cmp(&x),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// (stability, major, minor); higher is preferred.
fn parse_version(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    for (word, rank) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((rank, major.parse().ok()?, minor.parse().ok()?));
        }
    }
    Some((2, rest.parse().ok()?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_preferred_as_documented() {
        // The example of the Kubernetes documentation on version priority.
        let expected =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        let mut versions = expected;
        versions.reverse();
        versions.sort_by(|a, b| compare_versions(a, b));
        assert_eq!(versions, expected);
    }

    #[test]
    fn events_of_both_groups_share_a_collection() {
        let registry = Registry::new([]);
        let core = registry.find("", "v1", "events").unwrap();
        let other = registry.find("events.k8s.io", "v1", "events").unwrap();
        assert_eq!(core.collection, other.collection);
        let stored = registry.stored();
        let events: Vec<_> = stored.iter().filter(|d| d.plural == "events").collect();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].group, "");
    }
}
