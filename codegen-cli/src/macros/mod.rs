//! Expands macros by example (`macro_rules!`).
//!
//! The rules are those of the Rust Reference ("Macros By Example"), and of rustc where the reference is
//! silent: [`definition`] reads rules, [`matcher`] runs rustc's matching (`rustc_expand::mbe::macro_parser`:
//! all ways through a rule at once, no backtracking), [`fragment`] finds the end of fragments such as `$x:ty`
//! with syn, and [`transcribe`] writes the result. [`print()`] turns the result into text, with the location
//! of each token.
//!
//! Hygiene of local variables is ignored: an expansion is only read for items.

mod definition;
mod fragment;
mod matcher;
mod print;
mod transcribe;
mod tree;

pub use definition::MacroRules;
pub use print::{Printed, print};
pub use tree::{Tree, crate_index, trees};

use crate::source::Loc;

/// The most nested expansions: rustc's default `recursion_limit`.
pub const RECURSION_LIMIT: usize = 128;

/// The most tokens in an expansion. rustc is limited only by memory.
pub const SIZE_LIMIT: usize = 1 << 20;

/// The reason why a macro cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandError {
    /// The message.
    pub message: String,
    /// The location, in the call or in the definition; `None`: the end of the call.
    pub loc: Option<Loc>,
}

impl ExpandError {
    fn new(message: impl Into<String>, loc: impl Into<Option<Loc>>) -> Self {
        Self { message: message.into(), loc: loc.into() }
    }
}

impl MacroRules {
    /// The tokens of a call's expansion; `krate` is the crate of the macro, for `$crate`.
    ///
    /// # Errors
    /// Returns an error if no rule matches, or the matching rule cannot be transcribed.
    pub fn expand(&self, input: &[Tree], krate: usize) -> Result<Vec<Tree>, ExpandError> {
        let mut furthest: Option<(usize, ExpandError)> = None;
        for rule in &self.rules {
            match matcher::matches(&rule.matcher, input)? {
                matcher::Outcome::Matched(bindings) => {
                    return transcribe::transcribe(&rule.body, &bindings, krate);
                }
                matcher::Outcome::Failed { at, error } => {
                    if furthest.as_ref().is_none_or(|(known, _)| at > *known) {
                        furthest = Some((at, error));
                    }
                }
            }
        }
        let error = furthest.map(|(_, error)| error);
        Err(error.unwrap_or_else(|| ExpandError::new("the macro has no rules", None)))
    }
}

#[cfg(test)]
mod tests;
