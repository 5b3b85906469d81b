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
        if self.operator.chars().any(breaks_lines) {
            return Err(CrdError::OperatorName { operator: self.operator.clone() });
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

/// Reports whether a character would change the layout of a report that contains it: a control character, or one of
/// Unicode's line and paragraph separators.
fn breaks_lines(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
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
        assert!(check("Die B\u{e4}ckerei", "1.2.3").is_ok());
        for operator in ["a\nb", "a\r", "\u{1b}[2Ja", "a\0", "a\u{85}b", "a\u{2028}b", "\ta"] {
            let error = check(operator, "1.2.3").unwrap_err();
            assert!(matches!(error, CrdError::OperatorName { .. }), "{error}");
            assert!(!error.to_string().contains(operator), "{error}");
        }
    }
}
