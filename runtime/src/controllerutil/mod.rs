//! Helpers for reconcilers: finalizers, owner references, conditions, create-or-update.
//!
//! The names are those of controller-runtime's `controllerutil` and of apimachinery's `meta` package.
//!
//! ```
//! use k8s_openapi::api::core::v1::{ConfigMap, Pod};
//! use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
//! use k8s_openapi::jiff::Timestamp;
//! use kube::Api;
//! use kubesmith_runtime::controllerutil::{
//!     OwnerError, condition, contains_finalizer, controller_of, create_or_update, find_status_condition,
//!     has_controller_reference, has_owner_reference, is_controlled_by, is_status_condition_false,
//!     is_status_condition_true, remove_finalizer, remove_owner_reference, remove_status_condition,
//!     set_owner_reference, set_status_condition,
//! };
//!
//! /// A map that belongs to a pod, and is given up when it belongs to another one.
//! async fn settings(maps: &Api<ConfigMap>, pod: &Pod, map: ConfigMap) -> Result<(), Box<dyn std::error::Error>> {
//!     create_or_update(maps, map, |map| {
//!         set_owner_reference(pod, map)?;
//!         map.data.get_or_insert_default().insert("color".into(), "red".into());
//!         Ok::<_, OwnerError>(())
//!     })
//!     .await?;
//!     Ok(())
//! }
//!
//! fn let_go(pod: &mut Pod, map: &mut ConfigMap) -> bool {
//!     let is_ours = is_controlled_by(map, pod) || !has_controller_reference(map);
//!     if is_ours && has_owner_reference(map, pod) {
//!         remove_owner_reference(pod, map);
//!     }
//!     println!("{:?} controls it", controller_of(map).map(|owner| &owner.name));
//!     contains_finalizer(pod, "example.com/map") && remove_finalizer(pod, "example.com/map")
//! }
//!
//! fn report(conditions: &mut Vec<Condition>, now: Timestamp) {
//!     set_status_condition(conditions, condition("Ready", false, "Waiting", "1 of 3", now));
//!     assert!(is_status_condition_false(conditions, "Ready") && !is_status_condition_true(conditions, "Ready"));
//!     assert_eq!(find_status_condition(conditions, "Ready").map(|ready| ready.reason.as_str()), Some("Waiting"));
//!     assert!(remove_status_condition(conditions, "Ready"));
//! }
//! # report(&mut Vec::new(), Timestamp::UNIX_EPOCH);
//! # let _ = (settings, let_go);
//! ```

mod conditions;
mod create_or_patch;
mod create_or_update;
mod finalizers;
mod owners;

pub use conditions::{
    condition, find_status_condition, is_status_condition_false, is_status_condition_present_and_equal,
    is_status_condition_true, remove_status_condition, set_status_condition,
};
pub use create_or_patch::create_or_patch;
pub use create_or_update::{CreateOrUpdateError, OperationResult, create_or_update};
pub use finalizers::{add_finalizer, contains_finalizer, remove_finalizer};
pub use owners::{
    OwnerError, controller_of, has_controller_reference, has_owner_reference, is_controlled_by,
    remove_controller_reference, remove_owner_reference, set_controller_reference,
    set_controller_reference_with, set_owner_reference,
};
