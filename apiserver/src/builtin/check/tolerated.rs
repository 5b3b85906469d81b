//! Faults of stored pods and templates that updates may keep: a part of `PodValidationOptions`.

use serde_json::Value;

use super::field::Field;
use super::{pod_annotations, restart};

/// The faults of a stored pod or template that its update may keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerated {
    /// `AllowInvalidPodDeletionCost`.
    pub(super) deletion_cost: bool,
    /// `AllowExistingRestartContainerForNonSidecarInitContainer`.
    pub(super) init_restart_on_resize: bool,
}

impl Tolerated {
    /// `GetValidationOptionsFromPodSpecAndMeta`. `old` is the stored pod or template, null on creation.
    pub(super) fn of(old: &Value) -> Self {
        let old = Field::root(old);
        let mut init = old.child("spec").child("initContainers").items();
        Self {
            deletion_cost: pod_annotations::invalid_cost(&old.child("metadata").child("annotations"))
                .is_some(),
            init_restart_on_resize: init.any(|container| !restart::on_resize(&container).is_empty()),
        }
    }

    /// `GetValidationOptionsFromPodTemplate` for the template in the spec of a stored controller.
    pub(super) fn of_template(old: Option<&Value>) -> Self {
        Self::of(old.map_or(&Value::Null, |old| &old["spec"]["template"]))
    }
}
