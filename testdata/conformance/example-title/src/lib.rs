//! Twin of the Go types of the case.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "docs.conformance.dev", version = "v1")]
pub struct Recipe {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: RecipeSpec,
}

/// RecipeSpec has examples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[schema(title = "Recipe specification")]
pub struct RecipeSpec {
    #[schema(title = "Dish name", example = "pancakes")]
    pub dish: String,
    #[serde(default)]
    #[schema(example = 4)]
    pub serves: i32,
    #[schema(example = true)]
    pub vegan: Option<bool>,
    #[serde(default)]
    #[schema(example = ["flour", "whole milk"])]
    pub needs: Vec<String>,
    #[serde(default)]
    #[schema(example = {"oven": "180C", "rack": "middle"})]
    pub heat: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(title = "Chef in charge", example = {"name": "Ada", "stars": 2})]
    pub chef: Chef,
    pub helper: Option<Chef>,
}

/// Chef cooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
#[schema(title = "A cook")]
pub struct Chef {
    #[schema(example = "Ada")]
    pub name: String,
    #[serde(default)]
    pub stars: i32,
}
