//! Decides whether diagnostics have colours and links, by the flag and the variables of cargo.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;

use clap::ValueEnum;

use crate::diag::Style;

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

static STYLE: OnceLock<Style> = OnceLock::new();

/// How diagnostics on standard error look.
pub(super) fn style() -> Style {
    STYLE.get().copied().unwrap_or_default()
}

impl Color {
    /// Decides for the process.
    pub(super) fn set(self) {
        let variable = |name: &str| std::env::var(name).ok();
        let is_terminal = stderr().is_terminal();
        STYLE.get_or_init(|| match self.decide(is_terminal, variable) {
            false => Style::Plain,
            true if has_links(is_terminal, variable) => Style::Links,
            true => Style::Colors,
        });
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

/// Whether the terminal shows links: by cargo's `term.hyperlinks`, or as the crate supports-hyperlinks decides, which
/// cargo uses.
fn has_links(is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    const PROGRAMS: [&str; 6] = ["Hyper", "iTerm.app", "terminology", "WezTerm", "vscode", "ghostty"];
    let is = |name: &str, known: &[&str]| variable(name).is_some_and(|value| known.contains(&value.as_str()));
    match variable("CARGO_TERM_HYPERLINKS").as_deref() {
        Some("true") => return true,
        Some("false") => return false,
        _ => {}
    }
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    let is_known = ["DOMTERM", "WT_SESSION", "KONSOLE_VERSION"].iter().any(|name| variable(name).is_some());
    is_terminal
        && (is_known
            || vte.is_some_and(|version| version >= 5000)
            || is("TERM_PROGRAM", &PROGRAMS)
            || is("TERM", &["xterm-kitty", "alacritty", "alacritty-direct"])
            || is("COLORTERM", &["xfce4-terminal"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_for_terminals_that_show_them() {
        for (is_terminal, set, wanted) in [
            (true, ("TERM", "xterm"), false),
            (true, ("TERM", "xterm-kitty"), true),
            (false, ("TERM", "xterm-kitty"), false),
            (true, ("TERM_PROGRAM", "vscode"), true),
            (true, ("VTE_VERSION", "7600"), true),
            (true, ("VTE_VERSION", "4999"), false),
            (true, ("WT_SESSION", "1"), true),
            (false, ("CARGO_TERM_HYPERLINKS", "true"), true),
            (true, ("CARGO_TERM_HYPERLINKS", "false"), false),
        ] {
            let variable = |name: &str| (set.0 == name).then(|| set.1.to_owned());
            assert_eq!(has_links(is_terminal, variable), wanted, "{is_terminal} {set:?}");
        }
    }

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
