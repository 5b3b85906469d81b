//! What nearly every reconciler needs: finalizers, owner references, conditions, create-or-update.
//!
//! The names are those of controller-runtime's `controllerutil` and of apimachinery's `meta` package.

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
