//! Apply configurations of the group `meta`: the types that generated packages share.
//!
//! ```
//! use kubesmith_runtime::applyconfigurations::meta::v1::{
//!     ConditionApplyConfiguration, LabelSelectorApplyConfiguration, LabelSelectorRequirementApplyConfiguration,
//!     ObjectMetaApplyConfiguration, OwnerReferenceApplyConfiguration,
//! };
//! use kubesmith_runtime::k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
//! use serde_json::json;
//!
//! let owner = OwnerReferenceApplyConfiguration::default()
//!     .with_api_version("v1")
//!     .with_kind("ConfigMap")
//!     .with_name("shop")
//!     .with_uid("1")
//!     .with_controller(true)
//!     .with_block_owner_deletion(true);
//! let metadata = ObjectMetaApplyConfiguration::default()
//!     .with_name("web")
//!     .with_namespace("default")
//!     .with_labels([("team", "web")])
//!     .with_annotations([("example.com/by", "me")])
//!     .with_finalizers(["example.com/shop"])
//!     .with_owner_references([owner]);
//! let metadata = serde_json::to_value(&metadata).unwrap();
//! assert_eq!(metadata["ownerReferences"][0]["blockOwnerDeletion"], true);
//!
//! let within = LabelSelectorRequirementApplyConfiguration::default()
//!     .with_key("tier")
//!     .with_operator("In")
//!     .with_values(["front"]);
//! let selector = LabelSelectorApplyConfiguration::default()
//!     .with_match_labels([("team", "web")])
//!     .with_match_expressions([within]);
//! assert_eq!(serde_json::to_value(&selector).unwrap()["matchLabels"], json!({"team": "web"}));
//!
//! fn ready(now: Time) -> ConditionApplyConfiguration {
//!     ConditionApplyConfiguration::default()
//!         .with_type("Ready")
//!         .with_status("True")
//!         .with_reason("Started")
//!         .with_message("all replicas run")
//!         .with_observed_generation(1)
//!         .with_last_transition_time(now)
//! }
//!
//! // Fields that the server sets.
//! fn read_back(metadata: ObjectMetaApplyConfiguration, at: Time) -> ObjectMetaApplyConfiguration {
//!     metadata
//!         .with_generate_name("web-")
//!         .with_generation(1)
//!         .with_resource_version("7")
//!         .with_self_link("")
//!         .with_uid("2")
//!         .with_creation_timestamp(at.clone())
//!         .with_deletion_timestamp(at)
//!         .with_deletion_grace_period_seconds(30)
//! }
//! ```

pub mod v1;
