//! Defines names: newtypes that parse once, plurals, case conversion, Rust keywords, version order.

mod case;
mod label;
pub mod object;
mod plural;
mod similar;
mod version;

pub use case::{is_in_prelude, is_keyword, method_name, module_name, snake_case, upper_camel_case};
pub use label::{
    CodeName, Group, Kind, NameError, PluralName, dns_label, dns_subdomain, label_value, qualified_name,
};
pub use plural::{pluralize_kind, pluralize_type};
pub use similar::{closest, edit_distance};
pub use version::{Stage, Version, compare_versions};

/// The annotation that approves a definition in one of Kubernetes' groups.
pub const API_APPROVED: &str = "api-approved.kubernetes.io";

/// Whether the group belongs to Kubernetes, so that its definitions need an approval (apiextensions'
/// `IsProtectedCommunityGroup`).
pub fn is_protected_group(group: &str) -> bool {
    [".k8s.io", ".kubernetes.io"].iter().any(|suffix| group.ends_with(suffix))
        || matches!(group, "k8s.io" | "kubernetes.io")
}

/// Scope of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One object per name in the cluster.
    Cluster,
    /// One object per name and namespace.
    #[default]
    Namespaced,
}

impl Scope {
    /// The names in a CustomResourceDefinition and `#[resource(scope = ...)]`.
    pub const NAMES: &'static [&'static str] = &["Namespaced", "Cluster"];

    /// The scope with this name.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "Cluster" => Some(Self::Cluster),
            "Namespaced" => Some(Self::Namespaced),
            _ => None,
        }
    }

    /// The name in a CustomResourceDefinition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "Cluster",
            Self::Namespaced => "Namespaced",
        }
    }
}
