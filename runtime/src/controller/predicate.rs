//! Predicates: which changes of an object reach a controller.

use std::fmt;
use std::sync::Arc;

use crate::labels::Selector;
use crate::object::Cached;

type OfOne<K> = Arc<dyn Fn(&K) -> bool + Send + Sync>;
type OfTwo<K> = Arc<dyn Fn(&K, &K) -> bool + Send + Sync>;

/// Selects changes. A new predicate selects all.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::controller::Predicate;
///
/// let of_web = Predicate::<Pod>::matching(|pod| pod.metadata.name.as_deref() == Some("web"));
/// let changed = of_web.and(Predicate::generation_changed().or(Predicate::labels_changed()));
/// let pod = Pod::default();
/// assert!(!changed.passes_update(&pod, &pod));
/// ```
pub struct Predicate<K> {
    create: OfOne<K>,
    update: OfTwo<K>,
    delete: OfOne<K>,
}

impl<K: 'static> Predicate<K> {
    /// Selects every change.
    #[must_use]
    pub fn new() -> Self {
        Predicate { create: Arc::new(|_| true), update: Arc::new(|_, _| true), delete: Arc::new(|_| true) }
    }

    /// Sets the condition for new objects.
    #[must_use]
    pub fn on_create(mut self, passes: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.create = Arc::new(passes);
        self
    }

    /// Sets the condition for updates, from the old and the new state.
    #[must_use]
    pub fn on_update(mut self, passes: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        self.update = Arc::new(passes);
        self
    }

    /// Sets the condition for deleted objects.
    #[must_use]
    pub fn on_delete(mut self, passes: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.delete = Arc::new(passes);
        self
    }

    /// Selects changes of objects that `matches` accepts; of an update, the new state counts.
    #[must_use]
    pub fn matching(matches: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        let matches: OfOne<K> = Arc::new(matches);
        let of_new = matches.clone();
        Predicate { create: matches.clone(), update: Arc::new(move |_, new| of_new(new)), delete: matches }
    }

    /// Selects changes that both select.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.combine(other, |one, two| one && two)
    }

    /// Selects changes that either selects.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.combine(other, |one, two| one || two)
    }

    /// Selects changes that this one does not.
    #[must_use]
    pub fn negate(self) -> Self {
        self.combine(Predicate::new(), |one, _| !one)
    }

    /// Reports whether this selects a new object.
    #[must_use]
    pub fn passes_create(&self, object: &K) -> bool {
        (self.create)(object)
    }

    /// Reports whether this selects an update.
    #[must_use]
    pub fn passes_update(&self, old: &K, new: &K) -> bool {
        (self.update)(old, new)
    }

    /// Reports whether this selects a deletion.
    #[must_use]
    pub fn passes_delete(&self, object: &K) -> bool {
        (self.delete)(object)
    }

    fn combine(self, other: Self, combine: fn(bool, bool) -> bool) -> Self {
        let (one, two) = (self, other);
        Predicate {
            create: Arc::new(move |object| combine((one.create)(object), (two.create)(object))),
            update: Arc::new(move |old, new| combine((one.update)(old, new), (two.update)(old, new))),
            delete: Arc::new(move |object| combine((one.delete)(object), (two.delete)(object))),
        }
    }
}

/// Predicates for every form of cached object: whole, metadata only, compact.
impl<K: Cached> Predicate<K> {
    /// Selects updates that change the generation, which is the spec for nearly all kinds. Resyncs and status
    /// updates do not change it.
    #[must_use]
    pub fn generation_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| old.object_generation() != new.object_generation())
    }

    /// Selects updates that change the resource version: all but resyncs.
    #[must_use]
    pub fn resource_version_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| old.object_version() != new.object_version())
    }

    /// Selects updates that change the labels.
    #[must_use]
    pub fn labels_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| !old.has_labels_of(new))
    }

    /// Selects updates that change the annotations.
    #[must_use]
    pub fn annotations_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| !old.has_annotations_of(new))
    }

    /// Selects objects whose labels match.
    #[must_use]
    pub fn label_selector(selector: Selector) -> Self {
        Predicate::matching(move |object: &K| object.is_selected_by(&selector))
    }
}

impl<K: 'static> Default for Predicate<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Predicate { create: self.create.clone(), update: self.update.clone(), delete: self.delete.clone() }
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Predicate").finish_non_exhaustive()
    }
}
