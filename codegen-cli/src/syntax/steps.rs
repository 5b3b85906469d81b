//! What macros act on, in the order of the source: a macro is known after its definition.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Name, PathExpr};
use crate::macros::{ExpandError, MacroRules, Tree};
use crate::source::Loc;

/// A part of a module that macros act on.
#[derive(Clone, Debug)]
pub enum Step {
    /// `macro_rules! name { .. }`
    Definition(Arc<MacroDefinition>),
    /// `name! { .. }` in the place of items.
    Call(Arc<MacroCall>),
    /// `mod name`
    Module {
        /// Its position in [`super::Items::modules`]. Once the module is loaded, its number in the crate.
        at: usize,
        /// `#[macro_use]`: the module that declares it knows its macros after it.
        is_macro_use: bool,
    },
    /// `#[macro_use] extern crate name;`
    Crate(String),
}

/// A macro by example.
#[derive(Clone, Debug)]
pub struct MacroDefinition {
    /// Its name.
    pub name: Name,
    /// `#[macro_export]`: it is known at the root of its crate.
    pub is_exported: bool,
    /// Its rules, or what is wrong with them.
    pub rules: Result<MacroRules, ExpandError>,
}

/// A call of a macro that stands for items.
#[derive(Clone, Debug)]
pub struct MacroCall {
    /// The macro.
    pub path: PathExpr,
    /// The last part of the path.
    pub name: Name,
    /// The arguments of the call.
    pub input: Vec<Tree>,
    /// All of the call.
    pub loc: Loc,
}

/// Derive macros by the names that a module gives them: the crate and the name there.
#[derive(Clone, Debug, Default)]
pub struct DeriveNames(pub(crate) HashMap<String, (String, String)>);
