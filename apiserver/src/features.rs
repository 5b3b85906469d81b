//! The version of Kubernetes that the server follows, and feature gates by the names and defaults of that version.

use std::str::FromStr;

/// The Kubernetes minor version that this server follows.
pub(crate) const MINOR: &str = "36";

const SHARDED_LIST_AND_WATCH: &str = "ShardedListAndWatch";

/// The feature gates of kube-apiserver that change the embedded server. Its other features are those of kube-apiserver's
/// defaults.
///
/// ```
/// use kubesmith_apiserver::FeatureGates;
///
/// let gates: FeatureGates = "ShardedListAndWatch=true".parse()?;
/// assert_ne!(gates, FeatureGates::default());
/// # Ok::<(), kubesmith_apiserver::FeatureGateError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    /// Whether lists and watches read `shardSelector` (KEP-5866, alpha).
    pub(crate) sharded_list_and_watch: bool,
}

/// A malformed value of `--feature-gates`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureGateError {
    /// A gate has no value.
    #[error("missing bool value for {0}")]
    NoValue(String),
    /// A value is no boolean.
    #[error("invalid value of {gate}={value}: it is true or false")]
    Value {
        /// The gate.
        gate: String,
        /// The value.
        value: String,
    },
    /// The gate is unknown, or it does not change the embedded server.
    #[error("unrecognized feature gate: {0}; the embedded server has {SHARDED_LIST_AND_WATCH}")]
    Unknown(String),
}

impl FromStr for FeatureGates {
    type Err = FeatureGateError;

    /// Reads the value of `--feature-gates`: `name=true` or `name=false`, separated by commas.
    fn from_str(text: &str) -> Result<Self, FeatureGateError> {
        let mut gates = Self::default();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (gate, value) =
                pair.split_once('=').ok_or_else(|| FeatureGateError::NoValue(pair.to_owned()))?;
            let (gate, value) = (gate.trim(), value.trim());
            if gate != SHARDED_LIST_AND_WATCH {
                return Err(FeatureGateError::Unknown(gate.to_owned()));
            }
            gates.sharded_list_and_watch = parse_bool(value)
                .ok_or_else(|| FeatureGateError::Value { gate: gate.to_owned(), value: value.to_owned() })?;
        }
        Ok(gates)
    }
}

/// Reads a Boolean as Go's `strconv.ParseBool`.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_read_as_kube_apiserver_reads_them() {
        let gates = |text: &str| text.parse::<FeatureGates>();
        assert_eq!(gates(""), Ok(FeatureGates::default()));
        let enabled = FeatureGates { sharded_list_and_watch: true };
        assert_eq!(gates(" ShardedListAndWatch = true ,"), Ok(enabled));
        assert_eq!(gates("ShardedListAndWatch=T"), Ok(enabled));
        assert_eq!(gates("ShardedListAndWatch=true,ShardedListAndWatch=false"), Ok(FeatureGates::default()));
        let refused = |text: &str| gates(text).unwrap_err().to_string();
        assert_eq!(refused("ShardedListAndWatch"), "missing bool value for ShardedListAndWatch");
        assert!(
            refused("ShardedListAndWatch=maybe").starts_with("invalid value of ShardedListAndWatch=maybe")
        );
        assert!(refused("A=true").starts_with("unrecognized feature gate: A;"));
    }
}
