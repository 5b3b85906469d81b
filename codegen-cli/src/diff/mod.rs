//! Compares definitions: loaders read sets of them ([`load`]), renderers show the changes between two sets
//! ([`render`]). [`kubesmith_apiextensions::diff`] has the rules.

mod allow;
pub mod load;
pub mod render;
mod report;

pub use allow::{AllowError, Allowed};
pub use kubesmith_apiextensions::diff::{
    CLASSES, Certainty, Change, ChangeCode, Class, Definition, Definitions, RULES, Ratchets, Rule, Version,
    compare,
};
pub use report::{Finding, Report, Unread};
