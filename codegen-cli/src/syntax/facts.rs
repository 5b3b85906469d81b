//! The facts of attributes, as plain values with locations: core's model without its spans.

mod manifests;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::ir::{CrdVersion, Scope, Verb};
use crate::schema::Schema;
use crate::source::Loc;
use crate::syntax::{Name, PathExpr};

pub use manifests::{ManifestFacts, WebhookFacts};

/// The locations of values, by their names in the CRD.
pub type Places = BTreeMap<String, Loc>;

/// Facts from `#[validation]` and `#[schema]` on a type or field.
#[derive(Clone, Debug, Default)]
pub struct TypeFacts {
    /// Their additions to the schema.
    pub schema: Schema,
    /// `default = ref(...)`: the constant, with its location in the attribute.
    pub default_ref: Option<PathExpr>,
    /// `schemaless`
    pub schemaless: bool,
    /// `immutable`
    pub immutable: bool,
    /// `required` (`true`) or `optional` (`false`).
    pub presence: Option<bool>,
    /// The locations of the facts.
    pub places: Places,
}

/// Facts from the markers in the documentation of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleFacts {
    /// `+groupName`
    pub group: Option<Name>,
    /// `+versionName`
    pub version: Option<Name>,
    /// `+groupGoName`
    pub code_name: Option<Name>,
    /// `+kubebuilder:skip`
    pub skip: bool,
    /// `+kubebuilder:validation:Required` (`true`) or `Optional` (`false`).
    pub presence: Option<bool>,
}

impl ModuleFacts {
    /// Adds the facts of an enclosing module.
    #[must_use]
    pub fn or(self, outer: &Self) -> Self {
        Self {
            group: self.group.or_else(|| outer.group.clone()),
            version: self.version.or_else(|| outer.version.clone()),
            code_name: self.code_name.or_else(|| outer.code_name.clone()),
            skip: self.skip || outer.skip,
            presence: self.presence.or(outer.presence),
        }
    }
}

/// Facts from `#[resource]`.
#[derive(Clone, Debug)]
pub struct ResourceFacts {
    /// The location of the attribute, or of the struct's name.
    pub loc: Loc,
    /// Whether there is an attribute or a marker.
    pub is_given: bool,
    /// `group`
    pub group: Option<Name>,
    /// `version`
    pub version: Option<Name>,
    /// `kind`, or the type's name.
    pub kind: Name,
    /// `list_kind`, or the kind and `List`.
    pub list_kind: Name,
    /// `plural`, or the kind's plural.
    pub plural: Name,
    /// `singular`, or the kind in lower case.
    pub singular: Name,
    /// `short_name`
    pub short_names: Vec<Name>,
    /// `category`
    pub categories: Vec<Name>,
    /// `scope`
    pub scope: Scope,
    /// `group_name_in_code`
    pub code_name: Option<Name>,
    /// `informer_group_name`
    pub informer_code_name: Option<Name>,
    /// The facts for the CRD's version.
    pub crd: CrdVersion,
    /// Each `#[policy(...)]`.
    pub policies: Vec<PolicyFacts>,
    /// The locations of the facts.
    pub places: Places,
}

/// Facts from `#[policy]`.
#[derive(Clone, Debug)]
pub struct PolicyFacts {
    /// Name of the policy.
    pub name: Name,
    /// Whether it mutates.
    pub mutating: bool,
    /// The rule that selects its requests; empty lists: the default.
    pub rule: RuleFacts,
    /// The spec without that rule.
    pub spec: Value,
    /// `patch`, an object.
    pub patch: Option<(Value, Loc)>,
    /// Names, specs without the name of the policy, and places.
    pub bindings: Vec<(Name, Value, Loc)>,
    /// The locations of the spec's values, by their paths in the policy.
    pub places: Places,
    /// The location of the policy.
    pub loc: Loc,
}

/// A rule of requests.
#[derive(Clone, Debug, Default)]
pub struct RuleFacts {
    /// `CREATE`
    pub operations: Vec<String>,
    /// API groups
    pub groups: Vec<String>,
    /// API versions
    pub versions: Vec<String>,
    /// Resources
    pub resources: Vec<String>,
}

/// Facts from `#[genclient]`.
#[derive(Clone, Debug)]
pub struct GenclientFacts {
    /// The verbs for a type with a status.
    pub with_status: Vec<Verb>,
    /// The verbs for a type without a status.
    pub without_status: Vec<Verb>,
    /// The location of `only_verbs` or `skip_verbs`.
    pub chosen: Option<Loc>,
    /// `method(...)`
    pub methods: Vec<MethodFacts>,
    /// `no_scale`
    pub no_scale: bool,
}

impl GenclientFacts {
    /// The facts of `#[genclient]` without keys, for types that cannot have the attribute.
    pub fn every_verb() -> Self {
        Self {
            with_status: Verb::ALL.to_vec(),
            without_status: Verb::ALL.into_iter().filter(|verb| !verb.is_status()).collect(),
            chosen: None,
            methods: Vec::new(),
            no_scale: false,
        }
    }
}

/// A method of a client.
#[derive(Clone, Debug)]
pub struct MethodFacts {
    /// In Rust: `get_scale`.
    pub name: Name,
    /// `verb`
    pub verb: Verb,
    /// `subresource`
    pub subresource: Option<String>,
    /// `input`
    pub input: Option<PathExpr>,
    /// `result`
    pub result: Option<PathExpr>,
}
