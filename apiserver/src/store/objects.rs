//! The objects of a collection, with an index of their owners.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use super::object::{Object, Unpacked};

/// Objects by key.
pub(super) type Objects = BTreeMap<Arc<str>, Arc<Object>>;

/// The objects of a collection. The index keeps a deletion from reading every object of the server for dependents.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexedObjects {
    objects: Objects,
    /// The keys of the dependents of each owner, by the owner's uid.
    dependents: HashMap<Box<str>, BTreeSet<Arc<str>>>,
}

fn uids(owners: &Value) -> impl Iterator<Item = &str> {
    owners.as_array().into_iter().flatten().filter_map(|owner| owner["uid"].as_str())
}

impl IndexedObjects {
    pub(super) fn insert(&mut self, key: Arc<str>, object: Arc<Object>) -> Option<Arc<Object>> {
        let previous = self.objects.get(&key).cloned();
        let (old, new) = (previous.as_deref().map_or(&Value::Null, Object::owners), object.owners());
        if old != new {
            self.forget(&key, old);
            for uid in uids(new) {
                self.dependents.entry(uid.into()).or_default().insert(key.clone());
            }
        }
        self.objects.insert(key, object)
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<Object>> {
        let previous = self.objects.remove(key)?;
        self.forget(key, previous.owners());
        Some(previous)
    }

    /// Packs an object if it is at this version.
    pub(super) fn pack(&mut self, key: &str, rv: u64, unpacked: &Unpacked) {
        if let Some(object) = self.objects.get_mut(key).filter(|object| object.rv == rv) {
            *object = object.packed(unpacked);
        }
    }

    pub(super) fn pack_all(&mut self, unpacked: &Unpacked) {
        for object in self.objects.values_mut() {
            *object = object.packed(unpacked);
        }
    }

    fn forget(&mut self, key: &str, owners: &Value) {
        for uid in uids(owners) {
            if let Some(keys) = self.dependents.get_mut(uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
    }

    /// Returns the objects that name an owner with this uid, by key.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = (Arc<str>, Arc<Object>)> {
        let keys = self.dependents.get(uid).into_iter().flatten();
        keys.filter_map(|key| Some((key.clone(), self.objects.get(key)?.clone())))
    }
}

impl Deref for IndexedObjects {
    type Target = Objects;

    fn deref(&self) -> &Objects {
        &self.objects
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owned_by(uids: &[&str]) -> Arc<Object> {
        let owners: Vec<Value> = uids.iter().map(|uid| json!({"uid": uid})).collect();
        Arc::new(Object::new(json!({"metadata": {"ownerReferences": owners}}), 1))
    }

    #[test]
    fn dependents_follow_every_change_of_owners() {
        let mut objects = IndexedObjects::default();
        let keys = |objects: &IndexedObjects, uid: &str| -> Vec<String> {
            objects.dependents(uid).map(|(key, _)| key.to_string()).collect()
        };
        objects.insert("b".into(), owned_by(&["1", "2"]));
        objects.insert("a".into(), owned_by(&["1", "1"]));
        assert_eq!(
            (keys(&objects, "1"), keys(&objects, "2")),
            (vec!["a".into(), "b".into()], vec!["b".into()])
        );
        objects.insert("b".into(), owned_by(&["2", "3"]));
        assert_eq!((keys(&objects, "1"), keys(&objects, "3")), (vec!["a".into()], vec!["b".into()]));
        objects.remove("a");
        objects.remove("b");
        assert!(objects.dependents.is_empty() && objects.is_empty());
    }
}
