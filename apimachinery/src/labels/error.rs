//! Errors of label selectors.

use crate::field::{Cause, aggregate};

/// A selector that is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The text does not follow the syntax, or a requirement in it is invalid.
    #[error("selector {text:?}, byte {offset}: {message}")]
    Text {
        /// The whole selector.
        text: String,
        /// The position of the error, in bytes.
        offset: usize,
        /// The fault, in apimachinery's words.
        message: String,
    },
    /// A requirement that was not given as text is invalid.
    #[error("{}", aggregate(.causes))]
    Requirement {
        /// Its fault.
        causes: Vec<Cause>,
    },
    /// The operator is not `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[error("{operator:?} is not a valid label selector operator")]
    Operator {
        /// The operator.
        operator: String,
    },
}

impl ParseError {
    /// Returns the message of kube-apiserver, which does not repeat the selector.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Text { message, .. } => message.clone(),
            other => other.to_string(),
        }
    }
}
