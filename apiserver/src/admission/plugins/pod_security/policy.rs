//! The levels and versions that a namespace's labels name (api/helpers.go).

use std::fmt;

use serde_json::Value;

use crate::names::quoted;
use crate::status::Cause;

/// A Pod Security Standard, from the widest to the strictest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    #[default]
    Privileged,
    Baseline,
    Restricted,
}

impl Level {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "privileged" => Ok(Self::Privileged),
            "baseline" => Ok(Self::Baseline),
            "restricted" => Ok(Self::Restricted),
            _ => Err("must be one of privileged, baseline, restricted"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

/// A level as of a minor version of Kubernetes; the latest one without a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LevelVersion {
    pub(super) level: Level,
    pub(super) minor: Option<u32>,
}

impl fmt::Display for LevelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            Some(minor) => write!(f, "{}:v1.{minor}", self.level.name()),
            None => write!(f, "{}:latest", self.level.name()),
        }
    }
}

/// `ParseVersion`.
fn parse_version(text: &str) -> Result<Option<u32>, &'static str> {
    const FAULT: &str = "must be \"latest\" or \"v1.x\"";
    if text == "latest" {
        return Ok(None);
    }
    let minor = text.strip_prefix("v1.").ok_or(FAULT)?;
    let is_number =
        minor.bytes().all(|byte| byte.is_ascii_digit()) && (minor == "0" || !minor.starts_with('0'));
    if is_number { minor.parse().map(Some).map_err(|_| FAULT) } else { Err(FAULT) }
}

/// The levels of a namespace that have an effect here; audits have none, as there is no audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Policy {
    pub(super) enforce: LevelVersion,
    pub(super) warn: LevelVersion,
}

impl Policy {
    /// `PolicyToEvaluate`: the policy of a namespace's labels, and their faults. A malformed level to enforce is
    /// `restricted`, a malformed version the latest.
    pub(super) fn of(namespace: &Value) -> (Self, Vec<Cause>) {
        let labels = &namespace["metadata"]["labels"];
        let mut faults = Vec::new();
        let mut enforce = Mode::read(labels, "enforce", &mut faults);
        Mode::read(labels, "audit", &mut faults);
        let mut warn = Mode::read(labels, "warn", &mut faults);
        if enforce.has_level && !enforce.is_valid {
            enforce.policy.level = Level::Restricted;
        }
        let follows = !warn.has_level && enforce.has_level && enforce.is_valid;
        if follows && enforce.policy.level > warn.policy.level {
            warn.policy.level = enforce.policy.level;
            if !warn.has_version {
                warn.policy.minor = enforce.policy.minor;
            }
        }
        (Self { enforce: enforce.policy, warn: warn.policy }, faults)
    }
}

/// The labels of one mode.
#[derive(Debug)]
struct Mode {
    policy: LevelVersion,
    has_level: bool,
    is_valid: bool,
    has_version: bool,
}

impl Mode {
    fn read(labels: &Value, mode: &str, faults: &mut Vec<Cause>) -> Self {
        let (level_label, version_label) = (
            format!("pod-security.kubernetes.io/{mode}"),
            format!("pod-security.kubernetes.io/{mode}-version"),
        );
        let (level, version) = (labels[&level_label].as_str(), labels[&version_label].as_str());
        let mut refuse = |label: &str, value: &str, fault: &str| {
            faults.push(Cause::invalid(format!("metadata.labels[{label}]"), quoted(value), fault));
        };
        let parsed = level.map(|text| Level::parse(text).map_err(|fault| refuse(&level_label, text, fault)));
        let minor = version.and_then(|text| {
            parse_version(text).map_err(|fault| refuse(&version_label, text, fault)).unwrap_or_default()
        });
        let is_valid = !matches!(parsed, Some(Err(())));
        let level = parsed.and_then(Result::ok).unwrap_or_default();
        Self {
            policy: LevelVersion { level, minor },
            has_level: labels[&level_label].is_string(),
            is_valid,
            has_version: version.is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn policy(labels: &[(&str, &str)]) -> (String, String, usize) {
        let labels: serde_json::Map<String, Value> = labels
            .iter()
            .map(|(mode, value)| (format!("pod-security.kubernetes.io/{mode}"), json!(value)))
            .collect();
        let (policy, faults) = Policy::of(&json!({"metadata": {"labels": labels}}));
        (policy.enforce.to_string(), policy.warn.to_string(), faults.len())
    }

    /// Cases of `TestPolicyToEvaluate` in api/helpers_test.go.
    #[test]
    fn labels_name_levels_and_versions() {
        let privileged = "privileged:latest";
        for (labels, enforce, warn, faults) in [
            (&[][..], privileged, privileged, 0),
            (&[("enforce", "baseline")], "baseline:latest", "baseline:latest", 0),
            (&[("enforce", "baseline"), ("enforce-version", "v1.22")], "baseline:v1.22", "baseline:v1.22", 0),
            (&[("enforce", "baseline"), ("warn", "restricted")], "baseline:latest", "restricted:latest", 0),
            (&[("enforce", "restricted"), ("warn", "privileged")], "restricted:latest", privileged, 0),
            (
                &[("enforce", "baseline"), ("enforce-version", "v1.20"), ("warn-version", "v1.21")],
                "baseline:v1.20",
                "baseline:v1.21",
                0,
            ),
            (&[("enforce", "foo")], "restricted:latest", privileged, 1),
            (&[("enforce", "baseline"), ("enforce-version", "1.2")], "baseline:latest", "baseline:latest", 1),
            (&[("audit", "foo"), ("audit-version", "v1.01")], privileged, privileged, 2),
            (&[("warn", "foo"), ("warn-version", "latest")], privileged, privileged, 1),
        ] {
            assert_eq!(policy(labels), (enforce.to_owned(), warn.to_owned(), faults), "{labels:?}");
        }
    }
}
