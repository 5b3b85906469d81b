//! Reads allowed changes, with reasons, from a TOML file.

use kubesmith_core::names::closest;
use serde::Deserialize;

use super::{Change, ChangeCode, RULES};

/// The entries of a file.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    row: Row,
    code: ChangeCode,
    line: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    allow: Vec<toml::Spanned<Row>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    crd: String,
    version: Option<String>,
    path: String,
    code: String,
    reason: String,
}

/// The reason why a file cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowError {
    /// The file is invalid TOML, or has unknown keys.
    #[error("{0}")]
    Syntax(String),
    /// An entry has an unknown code.
    #[error("line {line}: there is no change `{code}`{hint}")]
    UnknownCode {
        /// The entry's line.
        line: usize,
        /// The code in the entry.
        code: String,
        /// "; did you mean `x`?", or empty.
        hint: String,
    },
    /// An entry has no reason.
    #[error("line {line}: `reason` is empty: state why the change is harmless")]
    NoReason {
        /// The entry's line.
        line: usize,
    },
    /// An entry has no effect, since the change breaks nothing.
    #[error("line {line}: `{code}` is compatible and needs no entry")]
    Needless {
        /// The entry's line.
        line: usize,
        /// The code.
        code: String,
    },
}

impl Allowed {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns the errors listed in [`AllowError`].
    pub fn parse(text: &str) -> Result<Self, AllowError> {
        let file: File = toml::from_str(text)
            .map_err(|error| AllowError::Syntax(error.to_string().trim_end().to_owned()))?;
        let mut entries = Vec::new();
        for row in file.allow {
            let line = text[..row.span().start.min(text.len())].matches('\n').count() + 1;
            entries.push(entry(row.into_inner(), line)?);
        }
        Ok(Self { entries })
    }

    /// The reason for which a change is allowed.
    pub(super) fn reason(&self, change: &Change) -> Option<(usize, &str)> {
        let found = self.entries.iter().enumerate().find(|(_, entry)| entry.matches(change));
        found.map(|(at, entry)| (at, entry.row.reason.as_str()))
    }

    /// Entries outside `used`, as texts for a sentence, with their lines.
    pub(super) fn unused(&self, used: &std::collections::BTreeSet<usize>) -> Vec<(usize, String)> {
        let entries = self.entries.iter().enumerate().filter(|(at, _)| !used.contains(at));
        entries.map(|(_, entry)| (entry.line, entry.shown())).collect()
    }
}

fn entry(row: Row, line: usize) -> Result<Entry, AllowError> {
    let Some(code) = ChangeCode::parse(&row.code) else {
        let near = closest(&row.code, RULES.iter().map(|rule| rule.name));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(AllowError::UnknownCode { line, code: row.code, hint });
    };
    if row.reason.trim().is_empty() {
        return Err(AllowError::NoReason { line });
    }
    if code.rule().class == super::Class::Compatible {
        return Err(AllowError::Needless { line, code: row.code });
    }
    Ok(Entry { row, code, line })
}

impl Entry {
    fn matches(&self, change: &Change) -> bool {
        self.code == change.code
            && self.row.crd == change.crd
            && self.row.path == change.path
            && self.row.version == change.version
    }

    fn shown(&self) -> String {
        let version = self.row.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
        format!("{}{version} {} {}", self.row.crd, self.row.path, self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Allowed::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn invalid_allow_entries_are_refused() {
        let entry = |code: &str, reason: &str| {
            format!(
                "# why\n[[allow]]\ncrd = \"a.b\"\npath = \".\"\ncode = \"{code}\"\nreason = \"{reason}\"\n"
            )
        };
        assert!(Allowed::parse(&entry("field-removed", "nobody has it")).is_ok());
        assert!(Allowed::parse("").is_ok());
        assert_eq!(
            error(&entry("field-remove", "x")),
            "line 2: there is no change `field-remove`; did you mean `field-removed`?"
        );
        assert_eq!(
            error(&entry("field-removed", " ")),
            "line 2: `reason` is empty: state why the change is harmless"
        );
        assert_eq!(
            error(&entry("field-added", "x")),
            "line 2: `field-added` is compatible and needs no entry"
        );
        assert!(error("[[allow]]\ncrd = \"a\"\n").contains("missing field"));
        assert!(error("[[allowed]]\n").contains("unknown field `allowed`"));
    }
}
