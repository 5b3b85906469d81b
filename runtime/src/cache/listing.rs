//! Snapshots of objects.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Objects as they were at one moment, sorted by key. Cheap to clone; dereferences to a slice of `Arc<K>`.
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::cache::Listing;
///
/// fn names(pods: &Listing<Pod>) -> Vec<&str> {
///     pods.iter().filter_map(|pod| pod.metadata.name.as_deref()).collect()
/// }
/// ```
pub struct Listing<K> {
    objects: Arc<Vec<Arc<K>>>,
}

impl<K> Listing<K> {
    /// Returns a listing without objects.
    #[must_use]
    pub fn empty() -> Self {
        Self { objects: Arc::default() }
    }

    /// Returns the objects in a new vector.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Arc<K>> {
        self.objects.to_vec()
    }
}

impl<K> From<Vec<Arc<K>>> for Listing<K> {
    fn from(objects: Vec<Arc<K>>) -> Self {
        Self { objects: Arc::new(objects) }
    }
}

impl<K> FromIterator<Arc<K>> for Listing<K> {
    fn from_iter<I: IntoIterator<Item = Arc<K>>>(objects: I) -> Self {
        objects.into_iter().collect::<Vec<_>>().into()
    }
}

impl<K> Clone for Listing<K> {
    fn clone(&self) -> Self {
        Self { objects: Arc::clone(&self.objects) }
    }
}

impl<K> Default for Listing<K> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<K> Deref for Listing<K> {
    type Target = [Arc<K>];

    fn deref(&self) -> &[Arc<K>] {
        &self.objects
    }
}

impl<'a, K> IntoIterator for &'a Listing<K> {
    type Item = &'a Arc<K>;
    type IntoIter = std::slice::Iter<'a, Arc<K>>;

    fn into_iter(self) -> Self::IntoIter {
        self.objects.iter()
    }
}

impl<K> IntoIterator for Listing<K> {
    type Item = Arc<K>;
    type IntoIter = IntoIter<K>;

    fn into_iter(self) -> IntoIter<K> {
        IntoIter { objects: self.objects, next: 0 }
    }
}

/// An iterator over the objects of a [`Listing`].
pub struct IntoIter<K> {
    objects: Arc<Vec<Arc<K>>>,
    next: usize,
}

impl<K> Iterator for IntoIter<K> {
    type Item = Arc<K>;

    fn next(&mut self) -> Option<Arc<K>> {
        let object = self.objects.get(self.next)?;
        self.next += 1;
        Some(Arc::clone(object))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.objects.len() - self.next;
        (left, Some(left))
    }
}

impl<K> ExactSizeIterator for IntoIter<K> {}

impl<K: fmt::Debug> fmt::Debug for Listing<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.objects.iter()).finish()
    }
}

impl<K> fmt::Debug for IntoIter<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("left", &self.len()).finish()
    }
}
