//! Hubs and spokes.

use std::collections::BTreeMap;
use std::fmt;

use kube::core::Resource;
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use super::{ConversionError, ConversionSetupError, Kind};
use crate::json::path;
use crate::scheme::nulls;
use crate::webhook::{DecodeError, RawObject};

/// The version of a kind that all others convert to and from; often the stored version.
///
/// See [`Convertible`].
pub trait Hub: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static {}

/// A version of a kind that converts to and from its hub: a spoke.
///
/// Pass the metadata on unchanged. Name, namespace and uid must stay; labels and annotations may change; the
/// webhook restores everything else.
///
/// API servers also convert parts of objects, when a manager gives up fields by server-side apply. So fields should
/// have defaults (`#[serde(default)]`), and a conversion should not require them.
///
/// A client that reads an object in one version and writes it back must not lose data, so put what a version cannot
/// express into an annotation.
///
/// ```
/// use kubesmith_runtime::webhook::{ConversionError, Convertible, Hub};
/// # use kubesmith_runtime::kube::core::{ObjectMeta, Resource};
/// # use serde::{Deserialize, Serialize};
/// # use std::borrow::Cow;
/// # #[derive(Serialize, Deserialize)] pub struct WidgetV1 { metadata: ObjectMeta, size: u32 }
/// # #[derive(Serialize, Deserialize)] pub struct WidgetV2 { metadata: ObjectMeta, width: u32 }
/// # macro_rules! resource { ($($name:ident $version:literal)*) => { $(impl Resource for $name {
/// #     type DynamicType = (); type Scope = kubesmith_runtime::kube::core::NamespaceResourceScope;
/// #     fn kind(_: &()) -> Cow<'_, str> { "Widget".into() }
/// #     fn group(_: &()) -> Cow<'_, str> { "example.com".into() }
/// #     fn version(_: &()) -> Cow<'_, str> { $version.into() }
/// #     fn plural(_: &()) -> Cow<'_, str> { "widgets".into() }
/// #     fn meta(&self) -> &ObjectMeta { &self.metadata }
/// #     fn meta_mut(&mut self) -> &mut ObjectMeta { &mut self.metadata }
/// # })* } }
/// # resource! { WidgetV1 "v1" WidgetV2 "v2" }
///
/// impl Hub for WidgetV2 {}
///
/// impl Convertible<WidgetV2> for WidgetV1 {
///     fn convert_to(self) -> Result<WidgetV2, ConversionError> {
///         Ok(WidgetV2 { metadata: self.metadata, width: self.size })
///     }
///
///     fn convert_from(hub: WidgetV2) -> Result<Self, ConversionError> {
///         Ok(WidgetV1 { metadata: hub.metadata, size: hub.width })
///     }
/// }
/// ```
pub trait Convertible<H: Hub>:
    Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Converts the object to the hub's version.
    ///
    /// # Errors
    ///
    /// [`ConversionError`] if the hub cannot express the object.
    fn convert_to(self) -> Result<H, ConversionError>;

    /// Converts the hub's object to this version.
    ///
    /// # Errors
    ///
    /// [`ConversionError`] if this version cannot express the hub's object.
    fn convert_from(hub: H) -> Result<Self, ConversionError>;
}

/// Decodes an object. API servers may leave nulls where they remove fields in server-side apply; these count as
/// absent.
fn decoded<K>(raw: &RawObject) -> Result<K, ConversionError>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let expected = match raw.decode() {
        Ok(object) => return Ok(object),
        Err(DecodeError::Json { expected, .. }) => expected,
        Err(error) => return Err(error.into()),
    };
    let decode = |value: &Value| {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = path::of_error(error.path());
            (serde_json::Error::custom(error), path)
        })
    };
    nulls::read_without(&raw.to_value()?, decode)
        .map_err(|(source, _)| DecodeError::Json { expected, source }.into())
}

type ToHub<H> = dyn Fn(&RawObject) -> Result<H, ConversionError> + Send + Sync;
type FromHub<H> = dyn Fn(H) -> Result<Value, ConversionError> + Send + Sync;

struct Spoke<H> {
    to_hub: Box<ToHub<H>>,
    from_hub: Box<FromHub<H>>,
}

/// A kind: its hub and its spokes.
///
/// Pass it to [`Conversions`](super::Conversions).
///
/// ```
/// use kubesmith_runtime::webhook::{Convertible, Hub, HubSpokes};
///
/// // A kind that is stored in one version and served in two others as well.
/// fn kind<V3: Hub, V1: Convertible<V3>, V2: Convertible<V3>>() -> HubSpokes<V3> {
///     HubSpokes::new().spoke::<V1>().spoke::<V2>()
/// }
/// ```
#[must_use = "give it to the conversions"]
pub struct HubSpokes<H> {
    /// The spokes by `group/version`.
    spokes: BTreeMap<String, Spoke<H>>,
    mistake: Option<ConversionSetupError>,
    hub: String,
}

impl<H> HubSpokes<H>
where
    H: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    /// Makes a kind with only its hub.
    pub fn new() -> Self {
        HubSpokes { spokes: BTreeMap::new(), mistake: None, hub: H::api_version(&()).into_owned() }
    }

    /// Adds a version.
    pub fn spoke<S: Convertible<H>>(self) -> Self
    where
        H: Hub,
    {
        self.spoke_with(S::convert_to, S::convert_from)
    }

    /// Adds a version by two functions, for types of other crates, which cannot implement the traits.
    ///
    /// ```
    /// use k8s_openapi::api::autoscaling::{v1, v2};
    /// use kubesmith_runtime::webhook::HubSpokes;
    ///
    /// let _ = HubSpokes::<v2::HorizontalPodAutoscaler>::new().spoke_with(
    ///     |old: v1::HorizontalPodAutoscaler| {
    ///         Ok(v2::HorizontalPodAutoscaler { metadata: old.metadata, ..Default::default() })
    ///     },
    ///     |hub| Ok(v1::HorizontalPodAutoscaler { metadata: hub.metadata, ..Default::default() }),
    /// );
    /// ```
    pub fn spoke_with<S>(
        mut self,
        to_hub: impl Fn(S) -> Result<H, ConversionError> + Send + Sync + 'static,
        from_hub: impl Fn(H) -> Result<S, ConversionError> + Send + Sync + 'static,
    ) -> Self
    where
        S: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        let (api_version, kind) = (S::api_version(&()).into_owned(), S::kind(&()).into_owned());
        let is_same_kind = S::group(&()) == H::group(&()) && kind == H::kind(&());
        let mistake = if !is_same_kind {
            let hub = format!("{}, Kind={}", self.hub, H::kind(&()));
            Some(ConversionSetupError::OtherKind { spoke: format!("{api_version}, Kind={kind}"), hub })
        } else if api_version == self.hub || self.spokes.contains_key(&api_version) {
            Some(ConversionSetupError::Duplicate { api_version: api_version.clone(), kind })
        } else {
            None
        };
        self.mistake = self.mistake.or(mistake);
        let spoke = Spoke {
            to_hub: Box::new(move |raw| to_hub(decoded::<S>(raw)?)),
            from_hub: Box::new(move |hub| Ok(serde_json::to_value(from_hub(hub)?)?)),
        };
        self.spokes.insert(api_version, spoke);
        self
    }

    pub(super) fn finish(mut self) -> Result<Self, ConversionSetupError> {
        self.mistake.take().map_or(Ok(self), Err)
    }

    fn known(&self, api_version: &str) -> Result<&Spoke<H>, ConversionError> {
        self.spokes.get(api_version).ok_or_else(|| {
            let known = self.versions().join(", ");
            ConversionError::new(format!("{api_version} is not registered; known are {known}"))
        })
    }
}

impl<H> Default for HubSpokes<H>
where
    H: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<H> Kind for HubSpokes<H>
where
    H: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    fn convert(&self, object: &RawObject, from: &str, to: &str) -> Result<Value, ConversionError> {
        let hub: H = match from == self.hub {
            true => decoded(object)?,
            false => (self.known(from)?.to_hub)(object)?,
        };
        let mut value = match to == self.hub {
            true => serde_json::to_value(hub)?,
            false => (self.known(to)?.from_hub)(hub)?,
        };
        // Not every type writes its type meta.
        if let Value::Object(members) = &mut value {
            members.insert("apiVersion".to_owned(), Value::from(to));
            members.insert("kind".to_owned(), Value::from(H::kind(&())));
        }
        Ok(value)
    }

    fn versions(&self) -> Vec<&str> {
        let spokes = self.spokes.keys().map(String::as_str);
        std::iter::once(self.hub.as_str()).chain(spokes).collect()
    }
}

impl<H> fmt::Debug for HubSpokes<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubSpokes")
            .field("hub", &self.hub)
            .field("spokes", &self.spokes.keys().collect::<Vec<_>>())
            .finish()
    }
}
