//! The command's part of comparing definitions: loaders put sets of them together ([`load`]), renderers show the changes
//! between two sets ([`render`]). The rules are those of [`kubesmith_apiextensions::diff`].

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
