//! Apply configurations: the common part of generated `XApplyConfiguration` types.
//!
//! An apply configuration holds the fields of an object that one field manager wants, and no others: server-side
//! apply makes the manager the owner of its fields, and removes fields that it owned before and no longer names. The
//! types are generated; this module works on any of them: [`extract`] reads back from an object the configuration
//! that a manager has applied, by the object's `managedFields` ([`fieldpath`]).
//!
//! A controller that changes a part of its configuration extracts, changes and applies again, and so never removes
//! unmentioned fields by accident:
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubesmith_runtime::applyconfigurations::extract_value;
//! # let map: ConfigMap = kubesmith_runtime::serde_json::from_value(kubesmith_runtime::serde_json::json!({
//! #     "metadata": {"name": "settings", "managedFields": [
//! #         {"manager": "me", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:color": {}}}}]},
//! #     "data": {"color": "blue", "size": "7"},
//! # })).unwrap();
//!
//! let applied = extract_value(&map, "me", "").unwrap();
//! assert_eq!(applied["data"], kubesmith_runtime::serde_json::json!({"color": "blue"}));
//! ```
//!
//! The same with a configuration's type, as it is generated:
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::PatchParams;
//! use kubesmith_runtime::applyconfigurations::{ApplyConfiguration, ExtractError, extract, nullable};
//! use kubesmith_runtime::client::{Error, TypedClient};
//! use serde::{Deserialize, Serialize};
//! use serde_json::{Value, json};
//!
//! #[derive(Serialize, Deserialize)]
//! struct ConfigMapApplyConfiguration {
//!     metadata: Value,
//!     data: Option<Value>,
//!     /// A field that may be null.
//!     #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
//!     immutable: Option<Option<bool>>,
//! }
//!
//! impl ApplyConfiguration for ConfigMapApplyConfiguration {
//!     type Object = ConfigMap;
//! }
//!
//! fn of_mine(map: &ConfigMap) -> Option<ConfigMapApplyConfiguration> {
//!     match extract(map, "me", "") {
//!         Ok(applied) => Some(applied),
//!         Err(ExtractError::Configuration { source, .. }) => {
//!             eprintln!("not what this type has: {source}");
//!             None
//!         }
//!         Err(error) => {
//!             eprintln!("{error}");
//!             None
//!         }
//!     }
//! }
//!
//! async fn paint(maps: &TypedClient<ConfigMap>, map: &ConfigMap) -> Result<(), Error> {
//!     let Some(mut applied) = of_mine(map) else { return Ok(()) };
//!     applied.data = Some(json!({"color": "red"}));
//!     if let Err(error) = maps.apply_configuration(&applied, &PatchParams::apply("me")).await {
//!         for conflict in error.apply_conflicts() {
//!             eprintln!("{} belongs to {}", conflict.field, conflict.manager);
//!         }
//!         return Err(error);
//!     }
//!     Ok(())
//! }
//! ```

mod extract;
mod fields;
pub mod meta;
mod nullable;
mod object;

#[doc(inline)]
pub use crate::__apply_fields as fields;
pub use extract::{ExtractError, extract, extract_value};
pub use fields::{Fields, deserialize, read_field, serialize, write_field};
pub use kubesmith_apimachinery::fieldpath;
pub use nullable::nullable;
pub use object::{Absent, ClusterApplyConfiguration, NamespacedApplyConfiguration, ObjectApplyConfiguration};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The apply configuration of a kind. The generated types implement it.
pub trait ApplyConfiguration: Serialize + DeserializeOwned {
    /// The kind that it configures.
    type Object: kube::Resource<DynamicType = ()>;
}

#[cfg(test)]
mod tests;
