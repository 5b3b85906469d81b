//! Semantic versions.

use std::cmp::Ordering;

/// A version: build metadata does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Semver {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    pre: Vec<String>,
}

impl Semver {
    /// Reads `major.minor.patch[-pre][+build]`; with `normalize`, `v1.2` and leading zeros pass as well.
    pub(super) fn parse(text: &str, normalize: bool) -> Option<Self> {
        let text = if normalize { text.strip_prefix('v').unwrap_or(text) } else { text };
        let (rest, build) = text.split_once('+').map_or((text, None), |(r, b)| (r, Some(b)));
        let (core, pre) = rest.split_once('-').map_or((rest, None), |(c, p)| (c, Some(p)));
        let mut parts: Vec<&str> = core.split('.').collect();
        while normalize && parts.len() < 3 {
            parts.push("0");
        }
        let [major, minor, patch] = parts.as_slice() else { return None };
        let number = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            let leading_zero = part.len() > 1 && part.starts_with('0') && !normalize;
            if plain && !leading_zero { part.parse().ok() } else { None }
        };
        let identifiers = |text: &str| {
            let list: Vec<String> = text.split('.').map(str::to_owned).collect();
            let fine =
                |i: &String| !i.is_empty() && i.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            list.iter().all(fine).then_some(list)
        };
        if let Some(build) = build {
            identifiers(build)?;
        }
        let pre = match pre {
            Some(pre) => identifiers(pre)?,
            None => Vec::new(),
        };
        Some(Self { major: number(major)?, minor: number(minor)?, patch: number(patch)?, pre })
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
        assert!(Semver::parse("v1.2", false).is_none() && Semver::parse("v1.02", true).is_some());
    }
}
