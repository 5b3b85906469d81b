//! Subresources of built-in kinds that are a part of the object: the fields that they write and own, and their checks.

use serde_json::Value;

use super::{certificates, check};
use crate::meta;
use crate::status::Cause;

/// A subresource that is a part of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `namespaces/finalize`
    Finalizers,
    /// `pods/ephemeralcontainers`
    EphemeralContainers,
    /// `pods/resize`
    Resources,
    /// `certificatesigningrequests/approval`
    Approval,
    /// `certificatesigningrequests/status`
    Issuance,
    /// `certificatesigningrequests` itself: its updates keep spec and status.
    Request,
}

impl Part {
    /// Returns the part for a subresource of the built-in kind that is stored in this collection.
    pub(crate) fn of(collection: &str, subresource: &str) -> Option<Self> {
        Some(match (collection, subresource) {
            ("namespaces", "finalize") => Self::Finalizers,
            ("pods", "ephemeralcontainers") => Self::EphemeralContainers,
            ("pods", "resize") => Self::Resources,
            (certificates::COLLECTION, "approval") => Self::Approval,
            (certificates::COLLECTION, "status") => Self::Issuance,
            (certificates::COLLECTION, "") => Self::Request,
            _ => return None,
        })
    }

    /// Returns the fields that can be owned through the subresource; all but [`Part::ignored`] if empty.
    pub(crate) fn owned(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::EphemeralContainers => &[&["spec", "ephemeralContainers"]],
            Self::Resources => &[
                &["spec", "containers", "*", "resources"],
                &["spec", "containers", "*", "resizePolicy"],
                &["spec", "initContainers", "*", "resources"],
                &["spec", "initContainers", "*", "resizePolicy"],
                &["spec", "resources"],
            ],
            Self::Finalizers | Self::Approval | Self::Issuance | Self::Request => &[],
        }
    }

    /// Returns the fields that the subresource ignores; `None` for the defaults of its name.
    pub(crate) fn ignored(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Approval => Some(&["spec", "status.certificate"]),
            // The server fills in the requester (`GetResetFields` of pkg/registry/certificates).
            Self::Request => Some(&["spec", "status"]),
            _ => None,
        }
    }

    /// Restores the fields outside of the subresource.
    pub(crate) fn keep_rest(self, current: &Value, wanted: &mut Value, now: &str) {
        match self {
            Self::Approval => return certificates::keep_all_but_conditions(current, wanted, now),
            Self::Issuance => return certificates::keep_decisions(current, wanted, now),
            Self::Request => return certificates::keep(current, wanted),
            // `PrepareForUpdate` of `namespaceFinalizeStrategy`: only the status stays.
            Self::Finalizers => return meta::copy_member(current, wanted, "status"),
            Self::EphemeralContainers | Self::Resources => {}
        }
        let given = std::mem::replace(wanted, current.clone());
        meta::copy(&given, wanted, "managedFields");
        match self {
            Self::EphemeralContainers => {
                take(wanted, &given, "ephemeralContainers");
                // `ResetObjectMetaForStatus` of apimachinery leaves it, so that the check refuses a change.
                meta::copy(&given, wanted, "deletionGracePeriodSeconds");
            }
            _ => match resized(current, &given) {
                Some(spec) => wanted["spec"] = spec,
                // The check refuses added, removed or reordered containers.
                None => *wanted = given,
            },
        }
    }

    /// The faults of an object that was changed through the subresource.
    pub(crate) fn check(self, new: &Value, old: &Value) -> Option<Vec<Cause>> {
        match self {
            Self::EphemeralContainers => Some(check::pod_ephemeral_containers(new, old)),
            Self::Resources => Some(check::pod_resize(new, old)),
            Self::Approval => Some(certificates::check_approval(new, old)),
            Self::Issuance => Some(certificates::check_issuance(new, old)),
            Self::Finalizers => Some(check::namespace_finalizers(new)),
            Self::Request => None,
        }
    }
}

/// Kinds whose status brings no metadata along (`ResetObjectMetaForStatus` in pkg/registry/*/*/strategy.go).
const STATUS_ALONE: [&str; 7] = [
    "apiservices",
    "flowschemas",
    "prioritylevelconfigurations",
    "resourceclaims",
    "servicecidrs",
    "validatingadmissionpolicies",
    "volumeattachments",
];

/// The fields of a built-in kind that a write of the status does not change. Its manager does not own them (`GetResetFields`
/// of the kinds' status strategies).
pub(crate) fn ignored_by_status(plural: &str) -> &'static [&'static str] {
    match plural {
        plural if STATUS_ALONE.contains(&plural) => &["metadata", "spec"],
        "certificatesigningrequests" => &["spec", "status.conditions"],
        "deployments" => &["metadata.labels", "spec"],
        "pods" => &["metadata.deletionTimestamp", "metadata.ownerReferences", "spec"],
        _ => &["spec"],
    }
}

/// Copies a member of the spec, or its absence.
fn take(wanted: &mut Value, given: &Value, member: &str) {
    let spec = meta::map_at(wanted, "spec");
    match given["spec"].get(member) {
        Some(value) => spec.insert(member.to_owned(), value.clone()),
        None => spec.remove(member),
    };
}

/// Returns the current spec with the wanted resources; `None` if the containers differ.
fn resized(current: &Value, given: &Value) -> Option<Value> {
    let mut spec = current["spec"].clone();
    let none = Vec::new();
    for list in ["containers", "initContainers"] {
        let given = given["spec"][list].as_array().unwrap_or(&none);
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        if containers.as_ref().map_or(0, |containers| containers.len()) != given.len() {
            return None;
        }
        for (container, given) in containers.into_iter().flatten().zip(given) {
            if container["name"] != given["name"] {
                return None;
            }
            for member in ["resources", "resizePolicy"] {
                meta::copy_member(given, container, member);
            }
        }
    }
    meta::copy_member(&given["spec"], &mut spec, "resources");
    Some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(containers: Value) -> Value {
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"nodeName": "n", "containers": containers}})
    }

    #[test]
    fn resize_changes_only_container_resources() {
        let current = pod(json!([{"name": "a", "image": "1", "resources": {"requests": {"cpu": "1"}}}]));
        let mut wanted = pod(json!([{"name": "a", "image": "2", "resources": {"requests": {"cpu": "2"}}}]));
        wanted["metadata"] = json!({"managedFields": [1]});
        wanted["spec"]["nodeName"] = json!("m");
        Part::Resources.keep_rest(&current, &mut wanted, "");
        let mut expected = pod(json!([{"name": "a", "image": "1", "resources": {"requests": {"cpu": "2"}}}]));
        expected["metadata"]["managedFields"] = json!([1]);
        assert_eq!(wanted, expected);
    }

    #[test]
    fn resize_keeps_changed_container_names_for_validation() {
        let current = pod(json!([{"name": "a"}]));
        for containers in [json!([]), json!([{"name": "b"}]), json!([{"name": "a"}, {"name": "b"}])] {
            let mut wanted = pod(containers);
            let given = wanted.clone();
            Part::Resources.keep_rest(&current, &mut wanted, "");
            assert_eq!(wanted, given);
        }
    }
}
