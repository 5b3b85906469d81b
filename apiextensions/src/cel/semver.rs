//! Semantic versions.

use std::cmp::Ordering;

use kubesmith_apimachinery::golang;

/// A version. Build metadata is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Semver {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pre: Vec<String>,
}

impl Semver {
    /// Reads `major.minor.patch[-pre][+build]`; with `normalize`, also `v1.2` and leading zeros.
    ///
    /// The errors are those of github.com/blang/semver, which Kubernetes uses.
    pub(super) fn parse(text: &str, normalize: bool) -> Result<Self, String> {
        if normalize { Self::strict(&normalised(text)?) } else { Self::strict(text) }
    }

    fn strict(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts.as_slice() else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (major, minor) = (number(major, "Major", "major")?, number(minor, "Minor", "minor")?);
        let (rest, build) = rest.split_once('+').map_or((*rest, None), |(r, b)| (r, Some(b)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(p, r)| (p, Some(r)));
        let patch = number(patch, "Patch", "patch")?;
        let pre: Vec<String> = pre.map(|pre| pre.split('.').map(str::to_owned).collect()).unwrap_or_default();
        pre.iter().try_for_each(|part| check_pre(part))?;
        for part in build.iter().flat_map(|build| build.split('.')) {
            if part.is_empty() {
                return Err("Build meta data is empty".to_owned());
            }
            if !is_identifier(part) {
                return Err(format!("Invalid character(s) found in build meta data {}", golang::quote(part)));
            }
        }
        Ok(Self { major, minor, patch, pre })
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let core = (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch));
        core.then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let parts = self.pre.iter().zip(&other.pre).map(|(a, b)| compare_identifiers(a, b));
                parts.fold(Ordering::Equal, Ordering::then).then(self.pre.len().cmp(&other.pre.len()))
            }
        })
    }
}

/// The version with three numbers and without leading zeros.
fn normalised(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let without_zeros = |part: &str| {
        let rest = part.trim_start_matches('0');
        match part.len() > 1 {
            true if rest.starts_with(|c: char| c.is_ascii_digit()) => rest.to_owned(),
            true => format!("0{rest}"),
            false => part.to_owned(),
        }
    };
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 && parts.last().is_some_and(|part| part.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize_with(3, || "0".to_owned());
    Ok(parts.join("."))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn is_identifier(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Reads digits as Go's `ParseUint` does.
fn unsigned(text: &str) -> Result<u64, String> {
    let fault = if text.is_empty() { "invalid syntax" } else { "value out of range" };
    text.parse().map_err(|_| format!("strconv.ParseUint: parsing {}: {fault}", golang::quote(text)))
}

fn number(text: &str, at_start: &str, name: &str) -> Result<u64, String> {
    let quoted = golang::quote(text);
    if !is_number(text) {
        return Err(format!("Invalid character(s) found in {name} number {quoted}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{at_start} number must not contain leading zeroes {quoted}"));
    }
    unsigned(text)
}

fn check_pre(part: &str) -> Result<(), String> {
    let quoted = golang::quote(part);
    match part {
        "" => Err("Prerelease is empty".to_owned()),
        part if is_number(part) && part.len() > 1 && part.starts_with('0') => {
            Err(format!("Numeric PreRelease version must not contain leading zeroes {quoted}"))
        }
        part if is_number(part) => unsigned(part).map(|_| ()),
        part if is_identifier(part) => Ok(()),
        _ => Err(format!("Invalid character(s) found in prerelease {quoted}")),
    }
}

fn compare_identifiers(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        _ => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered() {
        let ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.2.0"];
        for pair in ordered.windows(2) {
            let (a, b) = (Semver::parse(pair[0], false).unwrap(), Semver::parse(pair[1], false).unwrap());
            assert_eq!(a.compare(&b), Ordering::Less, "{pair:?}");
        }
        assert!(Semver::parse("v1.2", false).is_err() && Semver::parse("v1.02", true).is_ok());
    }

    #[test]
    fn parse_errors_have_the_text_of_the_semver_library() {
        for (text, normalize, fault) in [
            ("", false, "Version string empty"),
            ("1.2", false, "No Major.Minor.Patch elements found"),
            ("v1.2.3", false, "Invalid character(s) found in major number \"v1\""),
            ("1.02.3", false, "Minor number must not contain leading zeroes \"02\""),
            ("1.2.3.4", true, "Invalid character(s) found in patch number \"3.4\""),
            ("1.2-a", true, "short version cannot contain PreRelease/Build meta data"),
            ("1.2.3-", false, "Prerelease is empty"),
            ("1.2.3-a.01", false, "Numeric PreRelease version must not contain leading zeroes \"01\""),
            ("1.2.3+", false, "Build meta data is empty"),
            ("1.2.", true, "strconv.ParseUint: parsing \"\": invalid syntax"),
            ("vv1.2.3", true, "Invalid character(s) found in major number \"0v1\""),
        ] {
            assert_eq!(Semver::parse(text, normalize), Err(fault.to_owned()), "{text}");
        }
    }
}
