//! Objects that caches can hold.

use std::borrow::Cow;
use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use serde::de::DeserializeOwned;

use super::kind::{DynamicType, complete};
use super::{Decode, ObjectKey};
use crate::controllerutil::controller_of;
use crate::labels::Selector;

/// A form of object that a cache can hold: any [`Resource`], only its metadata (`PartialObjectMeta`), or the
/// [`Compact`](crate::cache::Compact) form of either. If the kind is known only at run time, objects are
/// `DynamicObject`s and a [`DynamicKind`](super::DynamicKind) names the kind. This trait is sealed.
///
/// ```
/// use kubesmith_runtime::cache::Compact;
/// use kubesmith_runtime::informer::{Cached, SharedInformer};
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::core::{DynamicObject, PartialObjectMeta};
///
/// fn names<K: Cached>(informer: &SharedInformer<K>) -> Vec<String> {
///     informer.store().list().iter().map(|object| object.object_key().to_string()).collect()
/// }
///
/// // Properties that every form of object has.
/// fn facts<K: Cached>(object: &K) -> String {
///     let owner = object.object_controller().map(|owner| owner.name.clone());
///     let is_web = "app=web".parse().is_ok_and(|selector| object.is_selected_by(&selector));
///     format!("{:?} {:?} {owner:?} {is_web}", object.object_uid(), object.object_version())
/// }
///
/// assert_eq!(facts(&Pod::default()), "None None None false");
///
/// // Whether a change is one of the spec, the labels or the annotations.
/// fn is_wanted<K: Cached>(old: &K, new: &K) -> bool {
///     old.object_generation() != new.object_generation() || !old.has_labels_of(new) || !old.has_annotations_of(new)
/// }
/// assert!(!is_wanted(&Pod::default(), &Pod::default()));
/// let _ = (names::<Pod>, names::<Compact<Pod>>, names::<PartialObjectMeta<Pod>>);
/// let _ = (names::<DynamicObject>, names::<Compact<DynamicObject>>, names::<PartialObjectMeta>);
/// ```
pub trait Cached: Decode + Send + Sync + 'static {
    /// The kind to list and watch.
    type Kind: Resource<DynamicType = Self::DynamicType> + 'static;

    /// The data that identifies the kind beside the type.
    type DynamicType: DynamicType;

    /// Returns namespace and name.
    fn object_key(&self) -> ObjectKey;

    /// Returns `metadata.resourceVersion`.
    fn object_version(&self) -> Option<&str>;

    /// Returns `metadata.uid`.
    fn object_uid(&self) -> Option<&str>;

    /// Returns the owner reference of the object's controller.
    fn object_controller(&self) -> Option<Cow<'_, OwnerReference>>;

    /// Reports whether the selector matches the object's labels.
    fn is_selected_by(&self, selector: &Selector) -> bool;

    /// Returns `metadata.generation`.
    fn object_generation(&self) -> Option<i64>;

    /// Reports whether both have the same labels.
    fn has_labels_of(&self, other: &Self) -> bool;

    /// Reports whether both have the same annotations.
    fn has_annotations_of(&self, other: &Self) -> bool;

    /// Names the form if it differs from the whole object: `metadata`, `compact`.
    #[doc(hidden)]
    fn form() -> &'static str;

    /// Adds the type of an object if the server has left it out.
    #[doc(hidden)]
    fn complete(&mut self, kind: &Self::DynamicType, context: &mut Self::Context);
}

/// Returns the entries of a map; an absent map has none.
fn entries(map: &Option<BTreeMap<String, String>>) -> impl Iterator<Item = (&String, &String)> {
    map.iter().flatten()
}

impl<K> Cached for K
where
    K: Resource<DynamicType: DynamicType> + DeserializeOwned + Send + Sync + 'static,
{
    type Kind = K;
    type DynamicType = K::DynamicType;

    fn object_key(&self) -> ObjectKey {
        ObjectKey::of(self)
    }

    fn object_version(&self) -> Option<&str> {
        self.meta().resource_version.as_deref()
    }

    fn object_uid(&self) -> Option<&str> {
        self.meta().uid.as_deref()
    }

    fn object_controller(&self) -> Option<Cow<'_, OwnerReference>> {
        controller_of(self).map(Cow::Borrowed)
    }

    fn is_selected_by(&self, selector: &Selector) -> bool {
        selector.matches_optional(self.meta().labels.as_ref())
    }

    fn object_generation(&self) -> Option<i64> {
        self.meta().generation
    }

    fn has_labels_of(&self, other: &Self) -> bool {
        entries(&self.meta().labels).eq(entries(&other.meta().labels))
    }

    fn has_annotations_of(&self, other: &Self) -> bool {
        entries(&self.meta().annotations).eq(entries(&other.meta().annotations))
    }

    fn form() -> &'static str {
        if K::metadata_api() { "metadata" } else { "" }
    }

    fn complete(&mut self, kind: &K::DynamicType, (): &mut ()) {
        complete(self, kind);
    }
}
