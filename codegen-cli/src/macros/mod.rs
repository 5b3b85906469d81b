//! Expands macros by example (`macro_rules!`).
//!
//! A macro is what the Rust Reference says of it ("Macros By Example") and what rustc does where the reference is silent:
//! [`definition`] reads rules, [`matcher`] runs rustc's matching (`rustc_expand::mbe::macro_parser`: all ways through a rule at once,
//! no backtracking), [`fragment`] finds the end of `$x:ty` and its kin with syn, and [`transcribe`] writes the result.
//! [`print()`] turns the result into text, with the place that each token comes from.
//!
//! Hygiene of local variables is left out: only items are read of an expansion.

mod definition;
mod fragment;
mod matcher;
mod print;
mod transcribe;
mod tree;

pub use definition::MacroRules;
pub use print::{Printed, print};
pub use tree::{Delimiter, Tree, crate_index, trees};

use crate::source::Loc;

/// How many expansions may lead from one to the next: `recursion_limit` of rustc where a crate says nothing.
pub const RECURSION_LIMIT: usize = 128;

/// How many tokens an expansion may have. rustc has no such limit; memory has.
pub const SIZE_LIMIT: usize = 1 << 20;

/// Why a macro cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandError {
    /// The fault.
    pub message: String,
    /// Where, in the call or in the definition; `None`: at the end of the call.
    pub loc: Option<Loc>,
}

impl ExpandError {
    fn new(message: impl Into<String>, loc: impl Into<Option<Loc>>) -> Self {
        Self { message: message.into(), loc: loc.into() }
    }
}

impl MacroRules {
    /// The tokens that a call stands for; `krate` is the crate of the macro, which `$crate` stands for.
    ///
    /// # Errors
    /// No rule matches, or the rule that matches cannot be written out.
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
