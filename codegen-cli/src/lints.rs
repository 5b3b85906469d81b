//! Warnings and their levels: silent, shown, or an error.

use std::collections::BTreeMap;

use kubesmith_core::diag::{CODES, Code, Severity};
use kubesmith_core::names::closest;
use serde::{Deserialize, Serialize};

use crate::diag::Diagnostic;

/// The level of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// It is dropped.
    Allow,
    /// It is shown.
    Warn,
    /// It is an error.
    Deny,
}

/// Every warning, with its default level. Conventions that good APIs break for good reasons are silent by
/// default.
pub const LINTS: &[(Code, Level)] = &[
    (Code::MEANINGLESS_MARKER, Level::Warn),
    (Code::MISSING_SPEC, Level::Warn),
    (Code::MISSING_STATUS, Level::Warn),
    (Code::PLAIN_COMMENT_MARKER, Level::Warn),
    (Code::INVALID_JSON_PATH, Level::Warn),
    (Code::INCLUDED_FILE, Level::Warn),
    (Code::KIND_LEFT_OUT, Level::Warn),
    (Code::MISSING_FUNCTION, Level::Warn),
    (Code::MISSING_DERIVE, Level::Warn),
    (Code::PATH_NOT_IN_SCHEMA, Level::Warn),
    (Code::CRD_TOO_LARGE, Level::Warn),
    (Code::CRD_NEAR_ETCD_LIMIT, Level::Warn),
    (Code::UNUSUAL_VERSION, Level::Warn),
    (Code::BREAKS_COMMITTED, Level::Warn),
    (Code::ORPHANED_EXPANSION, Level::Warn),
    (Code::UNREADABLE_EXPANSION, Level::Warn),
    (Code::EXPANSION_COLLISION, Level::Warn),
    (Code::NOT_CAMEL_CASE, Level::Warn),
    (Code::UNKEYED_CONDITIONS, Level::Warn),
    (Code::NARROW_INTEGER, Level::Warn),
    (Code::STATUS_NOT_SUBRESOURCE, Level::Warn),
    (Code::STATUS_REQUIRED, Level::Warn),
    (Code::FIELD_ALIAS, Level::Warn),
    (Code::MISSING_VERBS, Level::Warn),
    (Code::NO_CLIENT, Level::Warn),
    (Code::STD_DURATION, Level::Warn),
    (Code::KEYWORD_OUT_OF_RANGE, Level::Warn),
    (Code::BOOLEAN, Level::Allow),
    (Code::FLOAT, Level::Allow),
    (Code::LARGE_INTEGER, Level::Allow),
    (Code::MAP_OF_OBJECTS, Level::Allow),
    (Code::NULLABLE, Level::Allow),
    (Code::UNBOUNDED, Level::Allow),
];

/// The name for all warnings.
const ALL: &str = "all";

/// Levels of warnings, by code: the table `[lints]` and the flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, clap::Args)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LintConfig {
    /// Codes of warnings to hide, or `all`.
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Codes of warnings to show. Warnings about conventions are off by default.
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub warn: Vec<String>,
    /// Codes of warnings to report as errors.
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub deny: Vec<String>,
}

/// The level of each warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lints {
    levels: BTreeMap<Code, Level>,
}

impl Default for Lints {
    fn default() -> Self {
        Self { levels: LINTS.iter().copied().collect() }
    }
}

impl Lints {
    /// The levels from the file and then the flags; a named code takes precedence over `all`.
    ///
    /// # Errors
    /// Returns an error for an unknown code, a code that is no warning, or a code with two levels in one
    /// place.
    pub fn new(file: &LintConfig, flags: &LintConfig) -> Result<Self, String> {
        let mut lints = Self::default();
        for config in [file, flags] {
            lints.set(config)?;
        }
        Ok(lints)
    }

    fn set(&mut self, config: &LintConfig) -> Result<(), String> {
        let lists = [(Level::Allow, &config.allow), (Level::Warn, &config.warn), (Level::Deny, &config.deny)];
        let is_all = |text: &String| text == ALL;
        let of_all: Vec<Level> =
            lists.iter().filter(|(_, texts)| texts.iter().any(is_all)).map(|(level, _)| *level).collect();
        match of_all[..] {
            [] => {}
            [level] => self.levels.values_mut().for_each(|known| *known = level),
            _ => return Err(format!("`{ALL}` has one level: `allow`, `warn` or `deny`")),
        }
        let mut named = BTreeMap::new();
        for (level, texts) in lists {
            for text in texts.iter().filter(|text| !is_all(text)) {
                let code = warning(text)?;
                if named.insert(code, level).is_some_and(|other| other != level) {
                    return Err(format!("{code} has one level: `allow`, `warn` or `deny`"));
                }
            }
        }
        self.levels.extend(named);
        Ok(())
    }

    /// Every code with its level, in the form of the table `[lints]`.
    pub(crate) fn config(&self) -> LintConfig {
        let at = |level: Level| -> Vec<String> {
            let codes = self.levels.iter().filter(|(_, own)| **own == level);
            codes.map(|(code, _)| code.to_string()).collect()
        };
        LintConfig { allow: at(Level::Allow), warn: at(Level::Warn), deny: at(Level::Deny) }
    }

    /// Drops, keeps and raises warnings by level.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        let level = |diagnostic: &Diagnostic| match diagnostic.severity {
            Severity::Warning => self.levels.get(&diagnostic.code).copied().unwrap_or(Level::Warn),
            Severity::Error => Level::Warn,
        };
        diagnostics.retain(|diagnostic| level(diagnostic) != Level::Allow);
        for diagnostic in diagnostics.iter_mut().filter(|diagnostic| level(diagnostic) == Level::Deny) {
            diagnostic.severity = Severity::Error;
            diagnostic.notes.push("a warning that `deny` makes an error".to_string());
        }
    }
}

/// Parses the code of a warning.
fn warning(text: &str) -> Result<Code, String> {
    let Some(code) = Code::parse(text) else {
        let codes: Vec<String> = LINTS.iter().map(|(code, _)| code.to_string()).collect();
        let near = closest(text, codes.iter().map(String::as_str));
        let hint = near
            .map_or_else(|| format!("write it like {}", codes[0]), |near| format!("did you mean {near}?"));
        return Err(format!("`{text}` is not the code of a warning: {hint}"));
    };
    if LINTS.iter().any(|(known, _)| *known == code) {
        return Ok(code);
    }
    let title = CODES.iter().find(|info| info.code == code).map_or("", |info| info.title);
    Err(format!("{code} ({title}) is an error, which has no level"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(allow: &[&str], warn: &[&str], deny: &[&str]) -> LintConfig {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        LintConfig { allow: owned(allow), warn: owned(warn), deny: owned(deny) }
    }

    fn levels(file: &LintConfig, flags: &LintConfig) -> [Option<Level>; 2] {
        let lints = Lints::new(file, flags).unwrap();
        let warnings =
            [Code::PATH_NOT_IN_SCHEMA, Code::BOOLEAN].map(|code| Diagnostic::warning(code, None, "w"));
        warnings.map(|warning| {
            let mut list = vec![warning];
            lints.apply(&mut list);
            Some(match list.first()?.severity {
                Severity::Warning => Level::Warn,
                Severity::Error => Level::Deny,
            })
        })
    }

    #[test]
    fn lint_levels_are_set_by_code() {
        let none = LintConfig::default();
        assert_eq!(levels(&none, &none), [Some(Level::Warn), None]);
        assert_eq!(levels(&config(&["KS0509"], &["KS0706"], &[]), &none), [None, Some(Level::Warn)]);
        assert_eq!(levels(&config(&[], &[], &["all"]), &none), [Some(Level::Deny), Some(Level::Deny)]);
        assert_eq!(levels(&config(&["KS0706"], &[], &["all"]), &none), [Some(Level::Deny), None]);
        assert_eq!(
            levels(&config(&["all"], &[], &[]), &config(&[], &["ks0509"], &[])),
            [Some(Level::Warn), None]
        );
        let mut error = vec![Diagnostic::error(Code::PATH_NOT_IN_SCHEMA, None, "e")];
        Lints::new(&config(&["all"], &[], &[]), &none).unwrap().apply(&mut error);
        assert_eq!(error.len(), 1, "errors stay");
    }

    #[test]
    fn invalid_lint_levels_are_refused() {
        for (bad, wanted) in [
            (config(&["KS0306"], &[], &[]), "is an error"),
            (config(&["KS070"], &[], &[]), "is not the code"),
            (config(&["KS0509"], &[], &["KS0509"]), "one level"),
            (config(&["all"], &["all"], &[]), "one level"),
        ] {
            let message = Lints::new(&bad, &LintConfig::default()).unwrap_err();
            assert!(message.contains(wanted), "{message}");
        }
    }
}
