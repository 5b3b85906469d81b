//! Managers of a scale: the owner of an object's replicas owns `.spec.replicas` of its scale, and the other way round.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kubesmith_apimachinery::fieldpath::{PathElement, Set};
use serde_json::Value;

use super::managed::{Identity, Managed, Operation, Owned};
use super::types::Typed;

/// The `apiVersion` of every scale.
pub const SCALE_VERSION: &str = "autoscaling/v1";

static SCALE: LazyLock<Typed> = LazyLock::new(|| Typed::builtin("autoscaling", "v1", "Scale"));

/// The merge rules of a scale.
#[must_use]
pub fn scale() -> &'static Typed {
    &SCALE
}

/// The path of the replicas in each version of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicasPaths(BTreeMap<String, Option<Set>>);

impl ReplicasPaths {
    /// Adds an `apiVersion` and the JSON path of its replicas, such as `.spec.size`; `None` for a version without a
    /// scale.
    #[must_use]
    pub fn with(mut self, api_version: &str, path: Option<&str>) -> Self {
        self.0.insert(api_version.to_owned(), path.map(field));
        self
    }

    /// Returns `managedFields` of an object's scale, computed from those of the object.
    #[must_use]
    pub fn to_scale(&self, object: &Value) -> Value {
        let mut managed = Managed::default();
        for (identity, owned) in &Managed::of(object).0 {
            if self.owns(owned) {
                let (set, time) = (field(IN_SCALE), owned.time.clone());
                managed.0.insert(seen(identity), Owned { set, api_version: SCALE_VERSION.to_owned(), time });
            }
        }
        managed.encode()
    }

    /// Writes the ownership of a scale back to its object, which is of this `apiVersion`: a manager that lost the
    /// replicas there loses them here. Managers of removed versions are dropped, and new ones have no time. An updater that
    /// keeps the replicas is another manager in the scale, so it gets a second entry. Source: `ToParent` of apimachinery's
    /// pkg/util/managedfields/scalehandler.go.
    pub fn to_object(&self, object: &mut Value, scale: &Value, api_version: &str) {
        let mut new = Managed::of(scale);
        new.0.retain(|_, owned| !owned.set.intersection(&field(IN_SCALE)).is_empty());
        let mut managed = Managed::of(object);
        managed.0.retain(|_, owned| self.0.contains_key(&owned.api_version));
        for (identity, owned) in managed.0.iter_mut().filter(|(_, owned)| self.owns(owned)) {
            if new.0.remove(identity).is_none()
                && let Some(replicas) = self.of(&owned.api_version)
            {
                owned.set = owned.set.difference(replicas);
            }
        }
        let replicas = self.of(api_version).cloned().unwrap_or_default();
        for identity in new.0.into_keys() {
            let time = managed.0.get(&identity).and_then(|owned| owned.time.clone());
            let owned = Owned { set: replicas.clone(), api_version: api_version.to_owned(), time };
            managed.0.insert(identity, owned);
        }
        managed.0.retain(|_, owned| !owned.set.is_empty());
        managed.write_to(object);
    }

    fn of(&self, api_version: &str) -> Option<&Set> {
        self.0.get(api_version)?.as_ref()
    }

    fn owns(&self, owned: &Owned) -> bool {
        let replicas = self.of(&owned.api_version);
        replicas.is_some_and(|replicas| !owned.set.intersection(replicas).is_empty())
    }
}

/// The replicas of a scale.
const IN_SCALE: &str = ".spec.replicas";

/// The one field at a JSON path.
fn field(path: &str) -> Set {
    let path: Vec<PathElement> = path
        .split('.')
        .filter(|part| !part.is_empty())
        .map(|part| PathElement::Field(part.to_owned()))
        .collect();
    let mut set = Set::default();
    set.insert(&path);
    set
}

/// The identity of an object's manager in its scale.
fn seen(identity: &Identity) -> Identity {
    let mut seen = identity.clone();
    if seen.operation == Operation::Update {
        SCALE_VERSION.clone_into(&mut seen.api_version);
    }
    seen
}
