//! Admission webhooks: requests, responses and handlers.

mod chain;
mod defaulter;
mod error;
mod handler;
mod merge;
mod request;
mod response;
mod review;
#[cfg(test)]
mod tests;
mod validator;

pub use chain::Chain;
pub use defaulter::{Defaulter, Defaulting};
pub use error::AdmissionError;
pub use handler::{AdmissionHandler, admission_fn};
pub use request::{AdmissionContext, AdmissionRequest, Operation};
pub use response::AdmissionResponse;
pub(super) use review::AdmissionHook;
pub use validator::{Validating, Validator, Warnings};
