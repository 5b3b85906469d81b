//! Apply configuration of `__Type__`.

#[when(kind)]
#[when(imports_object)]
use __ObjectPath__;
#[when(kind)]
use ::kubesmith_runtime::applyconfigurations::{ApplyConfiguration, ExtractError, extract};
use ::kubesmith_runtime::serde::{Deserialize, Serialize};

#[when(kind)]
#[when(imports_meta)]
use __ObjectMetaPath__;

/// The fields of a `__Type__` that a field manager wants; what is not set is not sent.
///
/// __Summary__
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[must_use]
#[serde(crate = "::kubesmith_runtime::serde")]
pub struct __Type__ApplyConfiguration {
    /// __Doc__
    #[each(field)]
    #[serde(__serde__)]
    pub __field__: __FieldType__,
}

#[when(kind)]
impl __Type__ApplyConfiguration {
    /// Configures the `__Kind__` of this name.
    #[when(cluster)]
    pub fn new(name: impl Into<String>) -> Self {
        let metadata = __ObjectMeta__::default().with_name(name);
        Self::default().with_api_version("__api_version__").with_kind("__Kind__").with_metadata(metadata)
    }

    /// Configures the `__Kind__` of this name and namespace.
    #[when(namespaced)]
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        let metadata = __ObjectMeta__::default().with_name(name).with_namespace(namespace);
        Self::default().with_api_version("__api_version__").with_kind("__Kind__").with_metadata(metadata)
    }

    /// Configures a `__Kind__`, which is applied to what the request names.
    #[when(of_subresource)]
    #[inline]
    pub fn new() -> Self {
        Self::default().with_api_version("__api_version__").with_kind("__Kind__")
    }

    /// Sets the name of the object.
    #[when(meta_name)]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.metadata = Some(self.metadata.unwrap_or_default().with_name(name));
        self
    }

    /// Sets the namespace of the object.
    #[when(meta_namespace)]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.metadata = Some(self.metadata.unwrap_or_default().with_namespace(namespace));
        self
    }

    /// Adds labels to the object.
    #[when(meta_labels)]
    pub fn with_labels(
        mut self,
        labels: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.metadata = Some(self.metadata.unwrap_or_default().with_labels(labels));
        self
    }

    /// Adds annotations to the object.
    #[when(meta_annotations)]
    pub fn with_annotations(
        mut self,
        annotations: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.metadata = Some(self.metadata.unwrap_or_default().with_annotations(annotations));
        self
    }

    /// Appends to the finalizers of the object.
    #[when(meta_finalizers)]
    pub fn with_finalizers(mut self, finalizers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.metadata = Some(self.metadata.unwrap_or_default().with_finalizers(finalizers));
        self
    }
}

impl __Type__ApplyConfiguration {
    /// Sets [`__field__`](Self::__field__).
    #[each(field)]
    #[when(whole)]
    #[inline]
    pub fn __with__(mut self, value: __Item__) -> Self {
        self.__field__ = Some(value);
        self
    }

    /// Sets [`__field__`](Self::__field__).
    #[along(field)]
    #[when(whole_into)]
    pub fn __with__(mut self, value: impl Into<__Item__>) -> Self {
        self.__field__ = Some(value.into());
        self
    }

    /// Appends to [`__field__`](Self::__field__).
    #[along(field)]
    #[when(list)]
    pub fn __with__(mut self, items: impl IntoIterator<Item = __Item__>) -> Self {
        self.__field__.get_or_insert_default().extend(items);
        self
    }

    /// Appends to [`__field__`](Self::__field__).
    #[along(field)]
    #[when(list_into)]
    pub fn __with__(mut self, items: impl IntoIterator<Item = impl Into<__Item__>>) -> Self {
        self.__field__.get_or_insert_default().extend(items.into_iter().map(Into::into));
        self
    }

    /// Adds to [`__field__`](Self::__field__); a key that is there gets the new value.
    #[along(field)]
    #[when(map)]
    pub fn __with__(mut self, entries: impl IntoIterator<Item = (impl Into<String>, __Item__)>) -> Self {
        self.__field__
            .get_or_insert_default()
            .extend(entries.into_iter().map(|(key, value)| (key.into(), value)));
        self
    }

    /// Adds to [`__field__`](Self::__field__); a key that is there gets the new value.
    #[along(field)]
    #[when(map_into)]
    pub fn __with__(
        mut self,
        entries: impl IntoIterator<Item = (impl Into<String>, impl Into<__Item__>)>,
    ) -> Self {
        self.__field__
            .get_or_insert_default()
            .extend(entries.into_iter().map(|(key, value)| (key.into(), value.into())));
        self
    }

    /// Adds to [`__field__`](Self::__field__), which stand beside the other fields.
    #[along(field)]
    #[when(flat)]
    pub fn __with__(mut self, entries: impl IntoIterator<Item = (impl Into<String>, __Item__)>) -> Self {
        self.__field__.extend(entries.into_iter().map(|(key, value)| (key.into(), value)));
        self
    }

    /// Adds to [`__field__`](Self::__field__), which stand beside the other fields.
    #[along(field)]
    #[when(flat_into)]
    pub fn __with__(
        mut self,
        entries: impl IntoIterator<Item = (impl Into<String>, impl Into<__Item__>)>,
    ) -> Self {
        self.__field__.extend(entries.into_iter().map(|(key, value)| (key.into(), value.into())));
        self
    }
}

#[when(kind)]
impl ApplyConfiguration for __Type__ApplyConfiguration {
    type Object = __Object__;
}

/// What the field manager has applied to the object, as far as it still owns it: to be changed and applied again.
///
/// # Errors
/// The object's managed fields are missing, as in objects from an informer's cache, cannot be read, or are parts of values
/// that are one whole.
#[when(kind)]
#[inline]
pub fn __extract__(
    object: &__Object__,
    field_manager: &str,
) -> Result<__Type__ApplyConfiguration, ExtractError> {
    __extract___from(object, field_manager, "")
}

/// What the field manager has applied to a subresource of the object, such as `status`.
///
/// # Errors
/// As [`__extract__`].
#[when(kind)]
#[inline]
pub fn __extract___from(
    object: &__Object__,
    field_manager: &str,
    subresource: &str,
) -> Result<__Type__ApplyConfiguration, ExtractError> {
    extract(object, field_manager, subresource)
}
