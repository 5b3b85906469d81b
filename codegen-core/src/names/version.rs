//! API versions and the order in which an API server prefers them.

use std::cmp::Ordering;
use std::fmt;

use super::{NameError, dns_label};

/// Maturity of a version, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A name without a stage: `v0`, `foo10`
    Other,
    /// `v1alpha1`
    Alpha,
    /// `v1beta1`
    Beta,
    /// `v1`
    Stable,
}

/// An API version: `v1beta2`, or any other DNS label, which API servers also accept.
///
/// The order is that of preference reversed: the greatest version is the most preferred one
/// (stable before beta before alpha, then the highest numbers, then other names), see [`compare_versions`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    text: String,
    stage: Stage,
    major: u64,
    minor: u64,
}

impl Version {
    /// Parses a DNS label; usually `v` and a number, optionally `alpha` or `beta` and a number.
    ///
    /// # Errors
    /// Returns the error, and a similar valid version.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if let Some(version) = Self::conventional(text) {
            return Ok(version);
        }
        match dns_label(text) {
            Ok(()) => Ok(Self { text: text.to_owned(), stage: Stage::Other, major: 0, minor: 0 }),
            Err(error) => {
                Err(NameError { suggestion: nearest(text).or(error.suggestion), reason: error.reason })
            }
        }
    }

    /// Parses `v` and a number, optionally `alpha` or `beta` and a number: the name of a version's module.
    pub fn conventional(text: &str) -> Option<Self> {
        let (stage, major, minor) = split(text)?;
        Some(Self { text: text.to_owned(), stage, major, minor })
    }

    /// A similar conventional version, if this one is unconventional.
    pub fn likely(&self) -> Option<String> {
        if self.stage == Stage::Other { nearest(&self.text) } else { None }
    }

    /// The version as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Maturity.
    pub fn stage(&self) -> Stage {
        self.stage
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |version: &Self| (version.stage, version.major, version.minor);
        // Only names without a stage have equal rank.
        rank(self).cmp(&rank(other)).then_with(|| other.text.cmp(&self.text))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn split(text: &str) -> Option<(Stage, u64, u64)> {
    let rest = text.strip_prefix('v')?;
    for (word, stage) in [("alpha", Stage::Alpha), ("beta", Stage::Beta)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stage, number(major)?, number(minor)?));
        }
    }
    Some((Stage::Stable, number(rest)?, 0))
}

/// A number in the API servers' comparison, which is a signed 64-bit integer.
fn number(text: &str) -> Option<u64> {
    let plain = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    if plain { text.parse().ok().filter(|number| i64::try_from(*number).is_ok()) } else { None }
}

/// A similar valid version.
fn nearest(text: &str) -> Option<String> {
    let text = text.split('.').next().unwrap_or_default().to_lowercase();
    if text.is_empty() {
        return None;
    }
    let squeezed: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let with_v = if squeezed.starts_with('v') { squeezed } else { format!("v{squeezed}") };
    let candidates = [with_v.clone(), format!("{with_v}1")];
    if let Some(found) = candidates.into_iter().find(|c| split(c).is_some()) {
        return Some(found);
    }
    let digits: String = with_v.chars().skip(1).take_while(char::is_ascii_digit).collect();
    let (stage, minor) = with_v.get(1 + digits.len()..).map(|rest| {
        let minor = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        (&rest[..rest.len() - minor.len()], minor)
    })?;
    let word = ["alpha", "beta"].into_iter().find(|w| super::edit_distance(w, stage) <= 2)?;
    let guess = format!("v{}{word}{}", or_one(&digits), or_one(minor));
    split(&guess).is_some().then_some(guess)
}

fn or_one(digits: &str) -> &str {
    if digits.is_empty() { "1" } else { digits }
}

/// Orders version names as an API server lists them: the most preferred first. Names that are no
/// Kubernetes versions, such as `stable`, come last, in alphabetical order.
///
/// The rule is that of `k8s.io/apimachinery/pkg/version.CompareKubeAwareVersionStrings`.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (split(a), split(b)) {
        (Some(x), Some(y)) => y.cmp(&x),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferred_versions_come_first() {
        let mut all =
            ["v11alpha2", "foo10", "v1", "v3beta1", "v10beta3", "v12alpha1", "foo1", "v10", "v2", "v11beta2"];
        all.sort_by(|a, b| compare_versions(a, b));
        assert_eq!(
            all,
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
        );
        let mut parsed: Vec<Version> = all.iter().map(|text| Version::parse(text).unwrap()).collect();
        parsed.sort();
        assert!(parsed.iter().rev().map(Version::as_str).eq(all), "{parsed:?}");
    }

    #[test]
    fn near_misses_get_a_suggestion() {
        for (bad, better) in [
            ("1", Some("v1")),
            ("V1", Some("v1")),
            ("v1.0", Some("v1")),
            ("v1_alpha1", Some("v1alpha1")),
            ("Latest", Some("latest")),
            ("", None),
            ("v1\"; DROP", None),
        ] {
            assert_eq!(Version::parse(bad).unwrap_err().suggestion.as_deref(), better, "{bad:?}");
        }
    }

    #[test]
    fn any_label_is_a_version() {
        for (text, likely) in [
            ("v0", None),
            ("foo10", None),
            ("v01", None),
            ("v99999999999999999999", None),
            ("v1", None),
            ("v1alpha", Some("v1alpha1")),
            ("v1-alpha1", Some("v1alpha1")),
            ("v1aplha1", Some("v1alpha1")),
            ("v1bta2", Some("v1beta2")),
            ("alpha1", Some("v1alpha1")),
            ("latest", None),
        ] {
            let version = Version::parse(text).unwrap();
            assert_eq!(version.likely().as_deref(), likely, "{text}");
            assert_eq!(version.stage() == Stage::Other, text != "v1", "{text}");
            assert_eq!(Version::conventional(text).is_some(), text == "v1", "{text}");
        }
    }
}
