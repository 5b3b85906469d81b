//! Objects as they were sent, before decoding into a type.

use std::fmt;

use kube::core::Resource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// An object as JSON, exactly as it was sent.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::webhook::RawObject;
///
/// let raw: RawObject =
///     serde_json::from_str(r#"{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}"#)?;
/// let map: ConfigMap = raw.decode()?;
/// assert_eq!(map.data.unwrap_or_default()["a"], "b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// As JSON, as a JSON value, and decoding as another kind:
///
/// ```
/// use k8s_openapi::api::core::v1::Pod;
/// use kubesmith_runtime::webhook::{DecodeError, RawObject};
/// use serde_json::json;
///
/// let raw = RawObject::from_value(&json!({"apiVersion": "v1", "kind": "ConfigMap"}))?;
/// assert_eq!(raw.json(), r#"{"apiVersion":"v1","kind":"ConfigMap"}"#);
/// assert_eq!(raw.to_value()?["kind"], "ConfigMap");
/// assert!(matches!(raw.decode::<Pod>(), Err(DecodeError::Kind { found, .. }) if found == "v1, Kind=ConfigMap"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawObject(Box<RawValue>);

/// The group, version and kind in an object.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TypeMeta {
    pub(super) api_version: String,
    pub(super) kind: String,
}

/// An object does not decode as the requested type. [`RawObject`] has an example.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// It has another kind.
    #[error("expected an object of {expected}, got one of {found}; check the rules of the webhook")]
    Kind {
        /// The type's kind, `example.com/v1, Kind=Widget`.
        expected: String,
        /// The object's kind.
        found: String,
    },
    /// Its JSON does not fit the type.
    #[error("cannot decode an object of {expected}: {source}")]
    Json {
        /// The type's kind.
        expected: String,
        /// The place and the reason.
        source: serde_json::Error,
    },
}

impl fmt::Display for TypeMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, Kind={}", self.api_version, self.kind)
    }
}

impl RawObject {
    /// Returns the JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.get()
    }

    /// Decodes the object.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if it has another kind, or its JSON does not fit.
    pub fn decode<K>(&self) -> Result<K, DecodeError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        let expected = || {
            let (api_version, kind) = (K::api_version(&()).into_owned(), K::kind(&()).into_owned());
            TypeMeta { api_version, kind }
        };
        let json = |source| DecodeError::Json { expected: expected().to_string(), source };
        let found: TypeMeta = serde_json::from_str(self.json()).map_err(json)?;
        if found.api_version != K::api_version(&()) || found.kind != K::kind(&()) {
            return Err(DecodeError::Kind { expected: expected().to_string(), found: found.to_string() });
        }
        serde_json::from_str(self.json()).map_err(json)
    }

    /// Returns the object as a JSON value.
    ///
    /// # Errors
    ///
    /// If it is nested deeper than serde_json allows.
    pub fn to_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(self.json())
    }

    /// Makes an object from a JSON value.
    ///
    /// # Errors
    ///
    /// serde_json's signature has one; JSON values do not cause it.
    pub fn from_value(value: &Value) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(RawObject)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    use serde_json::json;

    use super::*;

    fn raw(value: &Value) -> RawObject {
        RawObject::from_value(value).unwrap()
    }

    #[test]
    fn error_names_the_other_kind() {
        let map = raw(&json!({"apiVersion": "v1", "kind": "ConfigMap"}));
        let error = map.decode::<Pod>().unwrap_err().to_string();
        assert_eq!(
            error,
            "expected an object of v1, Kind=Pod, got one of v1, Kind=ConfigMap; check the rules of the webhook"
        );
        assert!(raw(&json!([1])).decode::<Pod>().is_err());
    }

    #[test]
    fn error_names_the_field_that_does_not_fit() {
        let map = raw(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": 7}));
        let error = map.decode::<ConfigMap>().unwrap_err().to_string();
        assert!(error.starts_with("cannot decode an object of v1, Kind=ConfigMap: invalid type"), "{error}");
    }
}
