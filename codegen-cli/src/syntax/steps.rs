//! The uses of macros, in source order: a macro is known after its definition.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Name, PathExpr};
use crate::macros::{ExpandError, MacroRules, Tree};
use crate::source::Loc;

/// A part of a module that matters to macros.
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
        /// `#[macro_use]`: its macros are in scope after it in the declaring module.
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
    /// `#[macro_export]`: it is in scope at the root of its crate.
    pub is_exported: bool,
    /// Its rules, or the error in them.
    pub rules: Result<MacroRules, ExpandError>,
}

/// A call of a macro in the position of items.
#[derive(Clone, Debug)]
pub struct MacroCall {
    /// The macro.
    pub path: PathExpr,
    /// The last part of the path.
    pub name: Name,
    /// The arguments of the call.
    pub input: Vec<Tree>,
    /// The location of the whole call.
    pub loc: Loc,
}

/// Derive macros by their names in a module: the crate and the name there.
#[derive(Clone, Debug, Default)]
pub struct DeriveNames(pub(crate) HashMap<String, (String, String)>);
