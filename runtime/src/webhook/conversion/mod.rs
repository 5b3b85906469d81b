//! Conversion webhooks: the versions of a kind are converted through its hub.

mod hub;
mod metadata;
mod of_scheme;
mod review;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use kube::core::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::RawObject;
use super::object::TypeMeta;
pub use crate::conversion::ConversionError;
pub use hub::{Convertible, Hub, HubSpokes};
pub(super) use review::ConversionHook;

/// Versions of kinds are inconsistent.
///
/// ```
/// use kubesmith_runtime::webhook::{ConversionSetupError, Conversions, Hub, HubSpokes, Server, ServerError};
///
/// // A mistake in a program: a kind is there twice.
/// fn is_refused<H: Hub>() -> bool {
///     let twice = Conversions::new().kind(HubSpokes::<H>::new()).kind(HubSpokes::<H>::new());
///     let built = Server::builder().conversions(twice).build();
///     matches!(built, Err(ServerError::Conversion(ConversionSetupError::Duplicate { .. })))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionSetupError {
    /// Two types have the same version of one kind.
    #[error("{api_version}, Kind={kind} is registered twice for conversion; register each version once")]
    Duplicate {
        /// Group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The scheme has conversions of a version but no type for it.
    #[error("{api_version}, Kind={kind} has conversions in the scheme but no type; register the type")]
    Unregistered {
        /// Its group and version.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// A version converts to another one but not back, or not at all. API servers need all directions.
    #[error(
        "{kind} cannot be converted from {from} to {to}: register a function in the scheme, or functions to and from an \
         intermediate version"
    )]
    OneWay {
        /// The kind.
        kind: String,
        /// The group and version to convert from.
        from: String,
        /// The group and version that cannot be reached.
        to: String,
    },
    /// A spoke has another group or kind than its hub.
    #[error("{spoke} cannot be a spoke of {hub}: group and kind must be the same")]
    OtherKind {
        /// The spoke's group, version and kind.
        spoke: String,
        /// The hub's.
        hub: String,
    },
}

/// A kind, converted from any of its versions to any other.
pub(super) trait Kind: Send + Sync {
    fn convert(&self, object: &RawObject, from: &str, to: &str) -> Result<Value, ConversionError>;
    /// Returns the versions, as `group/version`.
    fn versions(&self) -> Vec<&str>;
}

/// The kinds that a conversion webhook converts.
///
/// All kinds are converted at one path, [`CONVERT_PATH`](super::CONVERT_PATH).
///
/// ```
/// use kubesmith_runtime::webhook::{Conversions, Convertible, Hub, HubSpokes, Server, ServerBuilder};
///
/// fn server<H: Hub, S: Convertible<H>>() -> ServerBuilder {
///     Server::builder().conversions(Conversions::new().kind(HubSpokes::<H>::new().spoke::<S>()))
/// }
/// ```
#[derive(Default)]
#[must_use = "give it to the server"]
pub struct Conversions {
    /// The conversions by group and kind.
    kinds: BTreeMap<(String, String), Box<dyn Kind>>,
    /// The first error.
    mistake: Option<ConversionSetupError>,
}

impl Conversions {
    /// Makes an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind. Its errors are reported when the server is built.
    pub fn kind<H>(mut self, kind: HubSpokes<H>) -> Self
    where
        H: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let key = (H::group(&()).into_owned(), H::kind(&()).into_owned());
        let result = kind.finish().and_then(|kind| match self.kinds.contains_key(&key) {
            false => Ok(kind),
            true => Err(ConversionSetupError::Duplicate {
                api_version: H::api_version(&()).into_owned(),
                kind: key.1.clone(),
            }),
        });
        match result {
            Ok(kind) => drop(self.kinds.insert(key, Box::new(kind))),
            Err(mistake) => drop(self.mistake.get_or_insert(mistake)),
        }
        self
    }

    /// Returns the kinds if they are consistent.
    pub(super) fn check(mut self) -> Result<Self, ConversionSetupError> {
        self.mistake.take().map_or(Ok(self), Err)
    }

    /// Converts an object.
    ///
    /// # Errors
    ///
    /// The reason, with the object's name.
    fn convert(&self, object: &RawObject, to: &str) -> Result<RawObject, String> {
        let from: TypeMeta = serde_json::from_str(object.json()).map_err(|error| error.to_string())?;
        if from.api_version == to {
            return Ok(object.clone());
        }
        let failed = |why: ConversionError| {
            format!("cannot convert {from}{} to {to}: {why}", metadata::name_of(object))
        };
        let key = (group(&from.api_version).to_owned(), from.kind.clone());
        let Some(kind) = self.kinds.get(&key) else {
            let known = self.kinds.values().flat_map(|kind| kind.versions()).collect::<Vec<_>>().join(", ");
            return Err(failed(ConversionError::new(format!(
                "the kind is not registered; known are {known}"
            ))));
        };
        let converted = kind.convert(object, &from.api_version, to);
        let converted = converted.and_then(|converted| metadata::kept(object, converted));
        let converted = converted.and_then(|value| Ok(RawObject::from_value(&value)?));
        converted.map_err(failed)
    }
}

fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl fmt::Debug for Conversions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversions")
            .field("kinds", &self.kinds.keys().collect::<Vec<_>>())
            .field("mistake", &self.mistake)
            .finish()
    }
}
