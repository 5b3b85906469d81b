//! Which changes of an object reach a controller.

use std::fmt;
use std::sync::Arc;

use crate::labels::Selector;
use crate::reflector::Cached;

type OfOne<K> = Arc<dyn Fn(&K) -> bool + Send + Sync>;
type OfTwo<K> = Arc<dyn Fn(&K, &K) -> bool + Send + Sync>;

/// Lets changes pass or not; by itself it lets all pass.
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
    /// Lets everything pass.
    #[must_use]
    pub fn new() -> Self {
        Predicate { create: Arc::new(|_| true), update: Arc::new(|_, _| true), delete: Arc::new(|_| true) }
    }

    /// Replaces what is asked for a new object.
    #[must_use]
    pub fn on_create(mut self, passes: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.create = Arc::new(passes);
        self
    }

    /// Replaces what is asked for a change, with the old and the new state.
    #[must_use]
    pub fn on_update(mut self, passes: impl Fn(&K, &K) -> bool + Send + Sync + 'static) -> Self {
        self.update = Arc::new(passes);
        self
    }

    /// Replaces what is asked for a deleted object.
    #[must_use]
    pub fn on_delete(mut self, passes: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        self.delete = Arc::new(passes);
        self
    }

    /// Lets changes of objects pass for which `matches` is true; of a change, the new state counts.
    #[must_use]
    pub fn matching(matches: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        let matches: OfOne<K> = Arc::new(matches);
        let of_new = matches.clone();
        Predicate { create: matches.clone(), update: Arc::new(move |_, new| of_new(new)), delete: matches }
    }

    /// Lets pass what both let pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.combine(other, |one, two| one && two)
    }

    /// Lets pass what one of them lets pass.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.combine(other, |one, two| one || two)
    }

    /// Lets pass what this one does not.
    #[must_use]
    pub fn negate(self) -> Self {
        self.combine(Predicate::new(), |one, _| !one)
    }

    /// Whether a new object passes.
    #[must_use]
    pub fn passes_create(&self, object: &K) -> bool {
        (self.create)(object)
    }

    /// Whether a change passes.
    #[must_use]
    pub fn passes_update(&self, old: &K, new: &K) -> bool {
        (self.update)(old, new)
    }

    /// Whether a deletion passes.
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

/// For whatever caches hold: whole objects, their metadata alone, compact ones.
impl<K: Cached> Predicate<K> {
    /// Of changes, those of the generation: the spec, for nearly all kinds. Resyncs and status updates do not pass.
    #[must_use]
    pub fn generation_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| old.object_generation() != new.object_generation())
    }

    /// Of changes, those of the resource version: all but resyncs.
    #[must_use]
    pub fn resource_version_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| old.object_version() != new.object_version())
    }

    /// Of changes, those of the labels.
    #[must_use]
    pub fn labels_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| !old.has_labels_of(new))
    }

    /// Of changes, those of the annotations.
    #[must_use]
    pub fn annotations_changed() -> Self {
        Predicate::new().on_update(|old: &K, new| !old.has_annotations_of(new))
    }

    /// Objects whose labels match.
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
