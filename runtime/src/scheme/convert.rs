//! Conversions between the versions of a kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::core::{GroupVersionKind, Resource};
use serde::Serialize;

use super::{Key, Scheme, describe, key};
use crate::api::Object;
use crate::conversion::ConversionError;

type ConversionFunc = Arc<dyn Fn(&dyn Object) -> Result<Box<dyn Object>, ConversionError> + Send + Sync>;

/// Functions by source and target kind.
pub(super) type Conversions = BTreeMap<Key, BTreeMap<Key, ConversionFunc>>;

impl Scheme {
    /// Registers a conversion of one version of a kind to another: client-go's `AddConversionFunc`. Replaces a
    /// function for the same two types.
    ///
    /// ```
    /// use kubesmith_runtime::api::Object;
    /// use kubesmith_runtime::k8s_openapi::api::autoscaling::{v1, v2};
    /// use kubesmith_runtime::scheme::{ConvertError, Scheme};
    ///
    /// let mut scheme = Scheme::new();
    /// scheme.add_conversion_func(|old: &v1::HorizontalPodAutoscaler| {
    ///     Ok(v2::HorizontalPodAutoscaler { metadata: old.metadata.clone(), ..Default::default() })
    /// });
    /// let mut old = v1::HorizontalPodAutoscaler::default();
    /// old.metadata.name = Some("a".to_owned());
    /// let new = scheme.convert_to_version(&old, "v2")?;
    /// assert_eq!((new.group_version_kind().version.as_str(), new.metadata()), ("v2", &old.metadata));
    /// let new: v2::HorizontalPodAutoscaler = scheme.convert(&old)?;
    ///
    /// let back = scheme.convert::<v1::HorizontalPodAutoscaler>(&new);
    /// assert!(matches!(back, Err(ConvertError::Unknown { .. })));
    /// # Ok::<(), ConvertError>(())
    /// ```
    pub fn add_conversion_func<A, B>(
        &mut self,
        convert: impl Fn(&A) -> Result<B, ConversionError> + Send + Sync + 'static,
    ) -> &mut Self
    where
        A: Resource<DynamicType = ()> + Clone + Serialize + Send + Sync + 'static,
        B: Resource<DynamicType = ()> + Clone + Serialize + Send + Sync + 'static,
    {
        let func = move |object: &dyn Object| match object.downcast_ref::<A>() {
            Some(object) => convert(object).map(|object| Box::new(object) as Box<dyn Object>),
            None => {
                let found = describe(&object.group_version_kind());
                Err(ConversionError::new(format!(
                    "{found} is held as another type than the conversion takes"
                )))
            }
        };
        let to = self.conversions.entry(key(&kind_of::<A>())).or_default();
        to.insert(key(&kind_of::<B>()), Arc::new(func));
        self
    }

    /// Converts an object to another version of its kind, by a function for the two versions or by two functions
    /// through a third version, the hub. [`add_conversion_func`](Self::add_conversion_func) has an example.
    ///
    /// # Errors
    /// [`ConvertError`] if no functions lead to the version, or one of them fails.
    pub fn convert_to_version(
        &self,
        object: &dyn Object,
        version: &str,
    ) -> Result<Box<dyn Object>, ConvertError> {
        let from = object.group_version_kind();
        self.converted(object, &GroupVersionKind { version: version.to_owned(), ..from })
    }

    /// Converts an object to a type that is another version of its kind, as
    /// [`convert_to_version`](Self::convert_to_version) does. [`add_conversion_func`](Self::add_conversion_func)
    /// has an example.
    ///
    /// # Errors
    /// As [`convert_to_version`](Self::convert_to_version).
    pub fn convert<B>(&self, object: &dyn Object) -> Result<B, ConvertError>
    where
        B: Resource<DynamicType = ()> + Clone + Serialize + Send + Sync + 'static,
    {
        let to = kind_of::<B>();
        match self.converted(object, &to)?.into_any().downcast() {
            Ok(object) => Ok(*object),
            Err(_) => Err(unknown(&object.group_version_kind(), &to)),
        }
    }

    /// Returns the versions that have conversions, by group and kind.
    #[cfg(feature = "webhook")]
    pub(crate) fn converted_kinds(&self) -> BTreeMap<(String, String), Vec<GroupVersionKind>> {
        let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let keys = self.conversions.iter().flat_map(|(from, ways)| std::iter::once(from).chain(ways.keys()));
        for (group, version, kind) in keys {
            let gvk = GroupVersionKind::gvk(group, version, kind);
            let versions = out.entry((group.clone(), kind.clone())).or_default();
            if !versions.contains(&gvk) {
                versions.push(gvk);
            }
        }
        out
    }

    /// Reports whether one kind can be converted to the other.
    #[cfg(feature = "webhook")]
    pub(crate) fn has_conversion(&self, from: &GroupVersionKind, to: &GroupVersionKind) -> bool {
        self.path(from, to).is_some()
    }

    /// Returns the function from one kind to the other, or the two functions through a third kind.
    fn path(&self, from: &GroupVersionKind, to: &GroupVersionKind) -> Option<ConversionPath<'_>> {
        let (ways, target) = (self.conversions.get(&key(from))?, key(to));
        if let Some(convert) = ways.get(&target) {
            return Some(ConversionPath::Direct(convert));
        }
        ways.iter().find_map(|(hub, first)| {
            Some(ConversionPath::Through(first, self.conversions.get(hub)?.get(&target)?))
        })
    }

    fn converted(&self, object: &dyn Object, to: &GroupVersionKind) -> Result<Box<dyn Object>, ConvertError> {
        let from = object.group_version_kind();
        if from == *to {
            return Ok(object.deep_copy_object());
        }
        let converted = match self.path(&from, to) {
            Some(ConversionPath::Direct(convert)) => convert(object),
            Some(ConversionPath::Through(first, second)) => first(object).and_then(|hub| second(&*hub)),
            None => return Err(unknown(&from, to)),
        };
        converted.map_err(|why| ConvertError::Failed {
            from: Box::new(from),
            to: Box::new(to.clone()),
            message: why.to_string(),
        })
    }
}

/// The functions that turn one kind into another.
enum ConversionPath<'s> {
    Direct(&'s ConversionFunc),
    Through(&'s ConversionFunc, &'s ConversionFunc),
}

fn kind_of<K: Resource<DynamicType = ()>>() -> GroupVersionKind {
    GroupVersionKind::gvk(&K::group(&()), &K::version(&()), &K::kind(&()))
}

fn unknown(from: &GroupVersionKind, to: &GroupVersionKind) -> ConvertError {
    ConvertError::Unknown { from: Box::new(from.clone()), to: Box::new(to.clone()) }
}

/// An object could not be converted. [`Scheme::add_conversion_func`] has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// No functions lead from one kind to the other.
    #[error("no conversion from {} to {} is registered in the scheme", describe(.from), describe(.to))]
    Unknown {
        /// The object's kind.
        from: Box<GroupVersionKind>,
        /// The target kind.
        to: Box<GroupVersionKind>,
    },
    /// The object cannot be converted.
    #[error("cannot convert {} to {}: {message}", describe(.from), describe(.to))]
    Failed {
        /// The object's kind.
        from: Box<GroupVersionKind>,
        /// The target kind.
        to: Box<GroupVersionKind>,
        /// The function's error.
        message: String,
    },
}
