//! The crate from outside: the table, its documentation, the rules, and bad input of all kinds.
#![allow(clippy::unwrap_used)]

mod agree;
mod architecture;
mod book;
mod docs;
mod fuzz;
mod markers;
mod packages;
mod robust;
mod rules;
mod table;

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::Place;
use kubesmith_core::model::{ModuleAttrs, ResourceInput, TypeModel};

/// The codes and messages of what is wrong with a root type.
fn check_root(source: &str) -> Vec<String> {
    let item: syn::ItemStruct = syn::parse_str(source).unwrap();
    let mut diagnostics = Diagnostics::new();
    if let Some(mut input) = ResourceInput::from_struct(&item, &mut diagnostics) {
        input.complete(&ModuleAttrs::default(), &mut diagnostics);
    }
    texts(diagnostics)
}

/// The codes and messages of what is wrong with another type.
fn check_struct(source: &str) -> Vec<String> {
    let item: syn::ItemStruct = syn::parse_str(source).unwrap();
    let mut diagnostics = Diagnostics::new();
    TypeModel::from_struct(&item, Place::Struct, &mut diagnostics);
    texts(diagnostics)
}

fn texts(diagnostics: Diagnostics) -> Vec<String> {
    diagnostics.into_vec().iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
}
