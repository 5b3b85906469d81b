//! Go's regular expressions, as API servers read the patterns of schemas and of rules.
//!
//! [`check`] applies the syntax and the limits of Go's `regexp/syntax` in the version that Kubernetes 1.36 is built with
//! (1.26), with its errors. With the feature `match`, `Regex` finds what Go's `regexp` finds: an expression is parsed here
//! and handed to regex-automata as syntax that is already resolved, so that no rule of the regex crate's own dialect applies.

mod ast;
mod class;
mod error;
mod escape;
mod limits;
#[cfg(feature = "match")]
mod matching;
mod parse;
mod unicode;

pub use error::{Error, ErrorCode};
#[cfg(feature = "match")]
pub use matching::{Regex, to_hir};

/// Checks that Go compiles an expression.
///
/// # Errors
/// The error of Go's `regexp.Compile`.
///
/// ```
/// assert!(kubesmith_goregex::check("^[a-z]+$").is_ok());
/// let error = kubesmith_goregex::check("(?=a)").unwrap_err();
/// assert_eq!(error.to_string(), "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
/// ```
pub fn check(source: &str) -> Result<(), Error> {
    parse::parse(source).map(|_| ())
}
