//! The intermediate representation between the front end (`load`..`lower`) and the emitters.
//!
//! It has no syntax-tree types: everything an emitter needs is a plain, ordered, serialisable value
//! (`--dump-ir` prints it). Emitters only read it.

mod clients;
mod manifests;
mod rust_type;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_apiextensions::schema::Schema;
pub use kubesmith_core::model::Verb;
use serde::{Serialize, Serializer};

pub use crate::source::Span;

pub use manifests::{Beside, Manifests, Policy, PolicyRule, Webhook, WebhookConfiguration};
pub(crate) use manifests::{WEBHOOK_SERVICE, api_group};
pub use rust_type::RustType;
pub use types::{Element, Enum, Field, Places, RustField, Shape, Tagging, TypeDef, TypeId, TypeRef, Variant};

/// The contents of the input crates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ir {
    /// The crates of the types, in the order of their names.
    pub crates: Vec<InputCrate>,
    /// API groups, ordered by name.
    pub groups: Vec<Group>,
    /// Kinds of Kubernetes that get only clients, ordered like `groups`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub built_in: Vec<Group>,
    /// Arena of the types reachable from a resource; [`TypeId`] indexes it.
    pub types: Vec<TypeDef>,
    /// The facts beside types.
    #[serde(skip_serializing_if = "Manifests::is_empty")]
    pub manifests: Manifests,
    /// Root types of kinds in Go, which as parts of other types have `apiVersion` and `kind` as well.
    #[serde(skip)]
    pub go_kinds: BTreeSet<TypeId>,
    /// Kinds whose definitions come from running code; all others come from source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evaluated: Vec<EvaluatedKind>,
}

/// A kind whose definition comes from running code.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EvaluatedKind {
    /// The group.
    pub group: String,
    /// The kind.
    pub kind: String,
}

impl Ir {
    /// Whether every type comes from Go packages, so that controller-gen's rules apply instead of the
    /// stricter ones for Rust.
    pub fn is_go(&self) -> bool {
        !self.crates.is_empty() && self.crates.iter().all(|krate| krate.go)
    }

    /// The admission policies, in the order of the kinds.
    pub fn policies(&self) -> impl Iterator<Item = &Policy> {
        let versions = self.groups.iter().flat_map(|group| &group.versions);
        versions.flat_map(|version| &version.resources).flat_map(|resource| &resource.policies)
    }

    /// The differences of an older release of controller-gen.
    pub fn older(&self) -> Older {
        self.crates
            .iter()
            .map(|krate| krate.older)
            .find(|older| *older != Older::default())
            .unwrap_or_default()
    }
}

/// An input crate or dependency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputCrate {
    /// Package name in Cargo.toml (`ecsbinding-api`).
    pub package: String,
    /// Library name in code (`ecsbinding_api`).
    pub lib: String,
    /// Package version.
    pub version: String,
    /// The crate's folder as the user wrote it, `/`-separated.
    pub path: String,
    /// Whether it represents Go packages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub go: bool,
    /// For Go packages: the differences of their release of controller-gen.
    #[serde(skip)]
    pub older: Older,
}

/// The differences of an older release of controller-gen for the same Go types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Older {
    /// Descriptions have the lines of a paragraph in one.
    pub joins_lines: bool,
    /// A cut description may end in a word, without an ellipsis.
    pub cuts_words: bool,
    /// The values of a field add to those of its type.
    pub keeps_both_enums: bool,
    /// Equal numbers of properties of a field and of its type stand twice.
    pub keeps_equal_counts: bool,
    /// Rules of roles are merged only where they differ in verbs alone.
    pub keeps_rules: bool,
    /// Rules without resources are left out of roles.
    pub drops_urls: bool,
    /// The group `core` gets its name after rules of roles are merged and sorted.
    pub keeps_core: bool,
    /// The verb `*` does not replace the others.
    pub keeps_verbs: bool,
    /// Webhooks stand in the order of their packages, and of their names in a package.
    pub keeps_packages: bool,
    /// Webhooks of a package stand in the order of their markers.
    pub keeps_markers: bool,
}

/// An API group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// `hopegi.com`; empty for the core group.
    pub name: String,
    /// Name in code in upper camel case, `Ecs`: clientset accessors and type names.
    pub code_name: String,
    /// Name in code of the informers' group accessor, `EcsBind`; equal to `code_name` unless set.
    pub informer_code_name: String,
    /// Folder and module of the group in the generated tree, `ecs`.
    pub module: String,
    /// Versions in the order an API server prefers them (GA first, newest first).
    pub versions: Vec<Version>,
}

/// A version of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Version {
    /// `v1alpha1`: name, folder and module.
    pub name: String,
    /// Name in code in upper camel case, `V1alpha1`.
    pub code_name: String,
    /// Resources, ordered by kind.
    pub resources: Vec<Resource>,
}

/// One version of a custom resource.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resource {
    /// `EcsBinding`.
    pub kind: String,
    /// `EcsBindingList`.
    pub list_kind: String,
    /// Resource name in URLs: `ecsbinding`.
    pub plural: String,
    /// `ecsbinding`.
    pub singular: String,
    /// `ecsb`.
    pub short_names: Vec<String>,
    /// `all`.
    pub categories: Vec<String>,
    /// Cluster or namespaced.
    pub scope: Scope,
    /// Rust names for the generated code.
    pub code: ResourceCode,
    /// The CRD's facts about this version.
    pub crd: CrdVersion,
    /// The client requested by `#[genclient]`; `None`: no client, lister or informer.
    pub client: Option<ClientTags>,
    /// The root type in the arena.
    pub root: TypeId,
    /// Whether the root has a `status` field.
    pub has_status_field: bool,
    /// The place of the root type's definition.
    pub span: Span,
    /// The locations of the CRD's facts.
    #[serde(skip_serializing_if = "Places::is_empty")]
    pub places: Places,
    /// Admission policies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Policy>,
}

/// Scope of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Scope {
    /// One object per name in the cluster.
    Cluster,
    /// One object per name and namespace.
    Namespaced,
}

/// Names of a resource in generated Rust.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceCode {
    /// Full path of the user's type from outside its crate: `ecsbinding_api::v1::EcsBinding`.
    pub type_path: String,
    /// Module and file of the kind: `ecs_binding`.
    pub module: String,
    /// Upper camel case plural of the kind by code-generator's rules: `EcsBindings`.
    pub plural: String,
    /// Accessor: `ecs_bindings`.
    pub accessor: String,
    /// First paragraph of the root type's documentation; may be empty.
    pub summary: String,
}

/// The tags of `#[genclient(...)]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ClientTags {
    /// Verbs to generate, in client-gen's order.
    #[serde(serialize_with = "names_of_verbs")]
    pub verbs: Vec<Verb>,
    /// Methods with names of their own: requested ones first, then those for the scale.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<Method>,
    /// The location of an explicit choice of verbs; `None`: all, none or only reading verbs are generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Span>,
}

fn name_of_verb<S: Serializer>(verb: &Verb, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verb.as_str())
}

fn names_of_verbs<S: Serializer>(verbs: &[Verb], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(verbs.iter().map(|verb| verb.as_str()))
}

/// A method of a client with a name, and types, of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Method {
    /// Its name in snake case: `get_scale`.
    pub name: String,
    /// Create, update, get, list, patch or apply.
    #[serde(serialize_with = "name_of_verb")]
    pub verb: Verb,
    /// Its subresource: `scale`; `None`: the resource itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
    /// Path of the request's type, as in [`ResourceCode::type_path`]; `None`: the request has no body, or any
    /// patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Path of the response's type; for a list, that of its items.
    pub result: String,
    /// The location of the request for it.
    pub span: Span,
}

/// A version's part of a CustomResourceDefinition that is not schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CrdVersion {
    /// `additionalPrinterColumns`, in source order.
    pub print_columns: Vec<PrintColumn>,
    /// `/status` subresource.
    pub status_subresource: bool,
    /// `/scale` subresource.
    pub scale: Option<Scale>,
    /// Whether the CRD leaves it out; clients are generated nevertheless.
    pub skipped: bool,
    /// Served by the API server.
    pub served: bool,
    /// Whether it is marked as the storage version.
    pub storage: bool,
    /// Deprecated, with an optional warning.
    pub deprecated: Option<Deprecation>,
    /// `selectableFields`, as JSON paths.
    pub selectable_fields: Vec<String>,
    /// `conversion`, if this version sets it.
    pub conversion: Option<Conversion>,
    /// Whether it is marked as the version that all others are converted to and from; no CRD has this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hub: bool,
    /// Annotations of the CRD object.
    pub annotations: BTreeMap<String, String>,
    /// Labels of the CRD object.
    pub labels: BTreeMap<String, String>,
    /// Schemas of `apiVersion`, `kind` and `metadata` that differ from the usual ones; `None`: the field is
    /// absent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub standard_fields: BTreeMap<String, Option<Schema>>,
    /// The generator whose style the CRD follows.
    #[serde(skip_serializing_if = "CrdStyle::is_default")]
    pub style: CrdStyle,
}

/// The style of a generator: the same CRD with more or fewer members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum CrdStyle {
    /// controller-gen: `listKind`, and empty subresources beside columns.
    #[default]
    ControllerGen,
    /// kube-rs: neither; a column's priority is written as given.
    Kube,
}

impl CrdStyle {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The conversion of objects between the versions of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Conversion {
    /// Only `apiVersion` changes.
    None,
    /// A webhook converts objects.
    Webhook(ConversionWebhook),
}

/// A conversion webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConversionWebhook {
    /// Its address.
    pub endpoint: WebhookEndpoint,
    /// `caBundle`, base64.
    pub ca_bundle: Option<String>,
    /// `conversionReviewVersions`
    pub review_versions: Vec<String>,
}

/// The address of a webhook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names are those of WebhookClientConfig")]
pub enum WebhookEndpoint {
    Url(String),
    Service { namespace: String, name: String, path: Option<String>, port: Option<u16> },
}

/// Deprecation of a version.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deprecation {
    /// `deprecationWarning`; `None`: the API server's standard text.
    pub warning: Option<String>,
}

/// A printer column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names are those of CustomResourceColumnDefinition")]
pub struct PrintColumn {
    pub name: String,
    /// The type; `None` until it is inferred from the field.
    #[serde(rename = "type")]
    pub type_: Option<String>,
    pub json_path: String,
    pub description: Option<String>,
    pub format: Option<String>,
    pub priority: Option<i32>,
}

/// A scale subresource.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names are those of CustomResourceSubresourceScale")]
pub struct Scale {
    pub spec_replicas_path: String,
    pub status_replicas_path: String,
    pub label_selector_path: Option<String>,
}
