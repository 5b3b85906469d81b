//! The operator, with its version, that owns a definition, according to annotations of the definition.

use std::cmp::Ordering;

use semver::Version;
use serde_json::{Value, json};

use super::CrdError;

const OPERATOR: &str = "kubesmith.dev/operator";
const OPERATOR_VERSION: &str = "kubesmith.dev/operator-version";

/// A version of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) operator: String,
    pub(super) version: String,
}

impl Owner {
    /// The owner of a definition, if it is recorded.
    pub(super) fn of(definition: &Value) -> Option<Self> {
        let text = |key: &str| Some(definition["metadata"]["annotations"].get(key)?.as_str()?.to_owned());
        Some(Self { operator: text(OPERATOR)?, version: text(OPERATOR_VERSION).unwrap_or_default() })
    }

    /// Checks that the operator has a name and a version that can be ordered.
    pub(super) fn check(&self) -> Result<(), CrdError> {
        if self.operator.trim().is_empty() {
            return Err(CrdError::Unnamed);
        }
        let broken = |error: semver::Error| CrdError::Version {
            version: self.version.clone(),
            reason: error.to_string(),
        };
        Version::parse(&self.version).map(drop).map_err(broken)
    }

    /// Reports whether it is newer than `other`; both have been checked.
    pub(super) fn is_newer_than(&self, other: &Owner) -> bool {
        let version = |owner: &Owner| Version::parse(&owner.version).ok();
        matches!((version(self), version(other)),
            (Some(own), Some(other)) if own.cmp_precedence(&other) == Ordering::Greater)
    }

    /// Records it in a definition.
    pub(super) fn record(&self, definition: &mut Value) {
        definition["metadata"]["annotations"][OPERATOR] = json!(self.operator);
        definition["metadata"]["annotations"][OPERATOR_VERSION] = json!(self.version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_needs_a_name_and_a_version_that_can_be_ordered() {
        let check = |operator: &str, version: &str| {
            Owner { operator: operator.to_owned(), version: version.to_owned() }.check()
        };
        assert!(check("a", "1.2.3-rc.1").is_ok());
        assert!(matches!(check(" ", "1.2.3"), Err(CrdError::Unnamed)));
        assert!(matches!(check("a", "1.2"), Err(CrdError::Version { .. })));
    }
}
