//! What nearly every reconciler needs: finalizers, owner references, conditions, create-or-update.
//!
//! The names are those of controller-runtime's `controllerutil` and of apimachinery's `meta` package.

mod conditions;
mod create_or_update;
mod finalizers;
mod owners;

pub use conditions::{
    condition, find_status_condition, is_status_condition_false, is_status_condition_true,
    remove_status_condition, set_status_condition,
};
pub use create_or_update::{CreateOrUpdateError, OperationResult, create_or_update};
pub use finalizers::{add_finalizer, contains_finalizer, remove_finalizer};
pub use owners::{
    OwnerError, controller_of, has_controller_reference, is_controlled_by, remove_owner_reference,
    set_controller_reference, set_owner_reference,
};
