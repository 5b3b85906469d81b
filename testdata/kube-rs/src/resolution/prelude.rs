//! What the module above takes with a star.

pub use std::collections::BTreeMap;

pub use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Of the prelude.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Preluded {
    pub value: String,
}

pub type Quantities = BTreeMap<std::string::String, Quantity>;

/// Not the text: a type of the same name, which its module has first.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct String {
    pub characters: Vec<char>,
}
