//! The verdicts about changes of definitions.
//!
//! [`compare`] is a function of two sets of definitions: it lists changes with the verdicts of [`RULES`]. The command
//! `kubesmith diff` shows the list, and `kubesmith_runtime::crd` refuses upgrades by it.

mod bounds;
mod canonical;
mod codes;
mod constraints;
mod definition;
mod diverge;
mod expressions;
mod fields;
mod model;
mod refused;
mod schema;
mod version;

use std::fmt;

pub use canonical::{VERSION_ANNOTATION, canonical, clean, is_mark};
pub use codes::{CLASSES, Certainty, ChangeCode, Class, RULES, Rule};
pub use definition::compare;
pub use model::{Definition, Definitions, Version};

/// The conditions under which an API server since 1.33 accepts a stored value in an update although it is no longer
/// valid. It compares the value of a schema's node, with its children, to the old one, if it can identify that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ratchets {
    /// Never.
    Never,
    /// If the update leaves the whole surrounding object or list unchanged.
    WithAllAround,
    /// If the update leaves the value itself unchanged.
    Alone,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Paths in the definition name the version themselves.
        if let Some(version) = self.version.as_ref().filter(|_| !self.path.starts_with("spec.versions[")) {
            write!(f, "{version} ")?;
        }
        write!(f, "{}: {} ({})", self.path, self.message, self.code)
    }
}

impl Change {
    /// Returns its effect, with or without ratcheting on the API server.
    pub fn class(&self, ratcheting: bool) -> Class {
        match self.code.rule().class {
            Class::Stored if ratcheting && self.ratchets == Ratchets::Alone => Class::Clients,
            class => class,
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The definition: `widgets.example.com`.
    pub crd: String,
    /// The version; `None` for changes of all versions.
    pub version: Option<String>,
    /// The field in objects (`spec.ports[*].name`, `.` for the whole object), or in the definition (`spec.scope`).
    pub path: String,
    /// The kind of the change.
    pub code: ChangeCode,
    /// Whether a break is certain: not if other parts of the schema may exclude all affected values.
    pub certain: bool,
    /// The condition under which API servers since 1.33 accept values that it makes invalid.
    pub ratchets: Ratchets,
    /// The change, as a sentence without a full stop.
    pub message: String,
    /// The path in the definition, with the version's name in place of its index.
    pub steps: Vec<String>,
}
