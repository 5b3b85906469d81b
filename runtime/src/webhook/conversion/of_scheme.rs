//! Kinds converted by the functions of a scheme.

use std::sync::Arc;

use kube::core::GroupVersionKind;
use serde_json::Value;

use super::{ConversionError, ConversionSetupError, Conversions, Kind};
use crate::scheme::{ConvertError, Scheme};
use crate::webhook::RawObject;

impl Conversions {
    /// Returns the kinds that a scheme has conversions of, such as those of a generated package
    /// (`register_conversions`). Errors are reported when the server is built.
    ///
    /// ```
    /// use kubesmith_runtime::scheme::Scheme;
    /// use kubesmith_runtime::webhook::{Conversions, Server, ServerBuilder};
    ///
    /// // Conversions and types of the kinds have been registered.
    /// fn server(scheme: Scheme) -> ServerBuilder {
    ///     Server::builder().conversions(Conversions::of_scheme(scheme))
    /// }
    /// ```
    pub fn of_scheme(scheme: Scheme) -> Self {
        let mut out = Self::new();
        let scheme = Arc::new(scheme);
        for ((group, kind), versions) in scheme.converted_kinds() {
            let api_versions: Vec<String> = versions.iter().map(|gvk| gvk.api_version()).collect();
            if let Some(unknown) = versions.iter().find(|gvk| scheme.get(gvk).is_none()) {
                let (api_version, kind) = (unknown.api_version(), unknown.kind.clone());
                out.mistake.get_or_insert(ConversionSetupError::Unregistered { api_version, kind });
            }
            if let Some((from, to)) = one_way(&scheme, &versions) {
                let (from, to) = (from.api_version(), to.api_version());
                out.mistake.get_or_insert(ConversionSetupError::OneWay { kind: kind.clone(), from, to });
            }
            let converted = OfScheme { scheme: Arc::clone(&scheme), api_versions };
            out.kinds.insert((group, kind), Box::new(converted));
        }
        out
    }
}

/// Returns two versions of which the first cannot become the second.
fn one_way<'v>(
    scheme: &Scheme,
    versions: &'v [GroupVersionKind],
) -> Option<(&'v GroupVersionKind, &'v GroupVersionKind)> {
    let pairs = versions.iter().flat_map(|from| versions.iter().map(move |to| (from, to)));
    pairs.into_iter().find(|(from, to)| from != to && !scheme.has_conversion(from, to))
}

/// A kind of a scheme.
struct OfScheme {
    scheme: Arc<Scheme>,
    api_versions: Vec<String>,
}

impl Kind for OfScheme {
    fn convert(&self, object: &RawObject, from: &str, to: &str) -> Result<Value, ConversionError> {
        for version in [from, to] {
            if !self.api_versions.iter().any(|known| known == version) {
                let known = self.api_versions.join(", ");
                return Err(ConversionError::new(format!("{version} is not registered; known are {known}")));
            }
        }
        let decoded = self.scheme.decode_value(&object.to_value()?)?;
        let version = to.rsplit('/').next().unwrap_or(to);
        let objects = decoded.into_objects();
        let [object] = &objects[..] else { return Err(ConversionError::new("a list is not an object")) };
        match self.scheme.convert_to_version(&**object, version) {
            Ok(converted) => Ok(converted.to_value()?),
            Err(ConvertError::Failed { message, .. }) => Err(ConversionError::new(message)),
            Err(error) => Err(error.into()),
        }
    }

    fn versions(&self) -> Vec<&str> {
        self.api_versions.iter().map(String::as_str).collect()
    }
}
