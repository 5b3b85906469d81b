//! The table.

mod genclient;
mod manifests;
mod module;
mod policy;
mod resource;
mod schema;
mod validation;

pub use module::MODULE;

use super::{Family, FamilySpec, KeySpec, Places, Shape};

/// Client verbs in client-gen's order and spelling.
pub const VERBS: &[&str] = &[
    "create",
    "update",
    "updateStatus",
    "delete",
    "deleteCollection",
    "get",
    "list",
    "watch",
    "patch",
    "apply",
    "applyStatus",
];

/// The verbs that client-gen supports for methods with names of their own.
pub const METHOD_VERBS: &[&str] = &["create", "update", "get", "list", "patch", "apply"];

const fn key(
    name: &'static str,
    shape: Shape,
    markers: &'static [&'static str],
    doc: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec {
        name,
        shape,
        repeatable: false,
        required: false,
        places: Places::ALL,
        markers,
        doc,
        example,
        also: &[],
    }
}

impl KeySpec {
    const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn on(mut self, places: Places) -> Self {
        self.places = places;
        self
    }

    const fn also(mut self, spellings: &'static [&'static str]) -> Self {
        self.also = spellings;
        self
    }
}

/// Every attribute family. Adding a key means adding a row here and a field in [`crate::model`]; a test
/// checks that every row affects the model.
pub static FAMILIES: &[FamilySpec] = &[
    FamilySpec {
        family: Family::Resource,
        places: Places::ROOT,
        bare: false,
        markers: &[],
        doc: "Makes a struct the root type of a resource: its names, scope, subresources and columns.",
        keys: resource::RESOURCE,
    },
    FamilySpec {
        family: Family::Genclient,
        places: Places::ROOT,
        bare: true,
        markers: &["genclient"],
        doc: "Asks for a typed client, a lister and an informer.",
        keys: genclient::GENCLIENT,
    },
    FamilySpec {
        family: Family::Deepcopy,
        places: Places::ROOT,
        bare: true,
        markers: &["k8s:deepcopy-gen:interfaces", "kubebuilder:object:root"],
        doc: "Has the compiler check that the type is a `kubesmith_runtime::Object`: one that can be held and copied without being named.",
        keys: &[],
    },
    FamilySpec {
        family: Family::Validation,
        places: Places::ALL,
        bare: false,
        markers: &[],
        doc: "Constrains the values that the API server accepts.",
        keys: &validation::VALIDATION,
    },
    FamilySpec {
        family: Family::Schema,
        places: Places::ALL,
        bare: false,
        markers: &[],
        doc: "Describes a type or field: defaults, documentation, merging, pruning.",
        keys: schema::SCHEMA,
    },
    FamilySpec {
        family: Family::Rbac,
        places: Places::ITEM,
        bare: false,
        markers: &[],
        doc: "A rule of the role that a controller needs; may be given several times, on any item of a crate that is read.",
        keys: manifests::RBAC,
    },
    FamilySpec {
        family: Family::Webhook,
        places: Places::ITEM,
        bare: false,
        markers: &[],
        doc: "An admission webhook; may be given several times, on any item of a crate that is read.",
        keys: manifests::WEBHOOK,
    },
    FamilySpec {
        family: Family::WebhookConfiguration,
        places: Places::ITEM,
        bare: false,
        markers: &[],
        doc: "The name of the object with the mutating or the validating webhooks.",
        keys: manifests::WEBHOOK_CONFIGURATION,
    },
    FamilySpec {
        family: Family::Policy,
        places: Places::ROOT,
        bare: false,
        markers: &[],
        doc: "An admission policy for objects of the kind, with its bindings; may be given several times. With `validation` or `audit_annotation` it is a ValidatingAdmissionPolicy, with `mutation` a MutatingAdmissionPolicy.",
        keys: policy::POLICY,
    },
];
