//! Decides whether diagnostics are coloured, by the flag and the variables of cargo.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;

use clap::ValueEnum;

/// When diagnostics are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On terminals, unless a variable of the environment decides.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

static IS_ON: OnceLock<bool> = OnceLock::new();

/// Whether diagnostics on standard error are coloured.
pub(super) fn is_on() -> bool {
    IS_ON.get().copied().unwrap_or_default()
}

impl Color {
    /// Decides for the process.
    pub(super) fn set(self) {
        IS_ON.get_or_init(|| self.decide(stderr().is_terminal(), |name| std::env::var(name).ok()));
    }

    /// `auto` is decided as by `choice` in anstream's `auto.rs`, which cargo uses.
    fn decide(self, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let clicolor = variable("CLICOLOR").map(|value| value != "0");
        let has_colors = || match variable("TERM") {
            Some(term) => term != "dumb",
            None => cfg!(windows),
        };
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if is_set("NO_COLOR") => false,
            Self::Auto if variable("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Self::Auto if clicolor == Some(false) => false,
            Self::Auto => is_terminal && (has_colors() || clicolor == Some(true) || is_set("CI")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(color: Color, is_terminal: bool, set: &[(&str, &str)]) -> bool {
        let value = |name: &str| set.iter().find(|(known, _)| *known == name);
        color.decide(is_terminal, |name| value(name).map(|(_, value)| (*value).to_string()))
    }

    #[test]
    fn flag_comes_before_variables_and_these_before_the_terminal() {
        let term = ("TERM", "xterm");
        for (color, is_terminal, set, wanted) in [
            (Color::Auto, true, &[term][..], true),
            (Color::Auto, true, &[("TERM", "dumb")], false),
            (Color::Auto, false, &[term], false),
            (Color::Auto, true, &[term, ("NO_COLOR", "1")], false),
            (Color::Auto, true, &[term, ("NO_COLOR", "")], true),
            (Color::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
            (Color::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
            (Color::Auto, true, &[term, ("CLICOLOR", "0")], false),
            (Color::Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
            (Color::Always, false, &[("NO_COLOR", "1")], true),
            (Color::Never, true, &[term, ("CLICOLOR_FORCE", "1")], false),
        ] {
            assert_eq!(decide(color, is_terminal, set), wanted, "{color:?} {is_terminal} {set:?}");
        }
    }
}
