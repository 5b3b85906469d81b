//! Content negotiation: the form of a response, and the form of a body.

use ::http::HeaderMap;
use ::http::header::{ACCEPT, CONTENT_TYPE};

use crate::status::{ApiError, ApiResult};

/// The media type of Kubernetes' protobuf encoding.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The media types in kube-apiserver's errors.
pub(crate) const OBJECT_TYPES: &[&str] = &["application/json", "application/yaml", PROTOBUF];
const CUSTOM_PATCHES: &[&str] =
    &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const BUILT_IN_PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
];

/// Media types of watches in kube-apiserver's errors.
const STREAM_TYPES: &[&str] =
    &["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/// The encoding of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Json,
    Yaml,
    Protobuf,
}

impl Form {
    /// The media type of an object.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => PROTOBUF,
        }
    }

    /// The media type of a watch.
    pub(crate) fn stream_type(self) -> &'static str {
        match self {
            Self::Json | Self::Yaml => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        }
    }
}

/// The representation of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    #[default]
    Plain,
    /// `meta.k8s.io` Table of this version.
    Table(String),
    /// `PartialObjectMetadata` of this version.
    Partial(String),
    /// `PartialObjectMetadataList` of this version.
    PartialList(String),
    /// Aggregated discovery.
    Discovery(String),
}

/// The kind of a path, which decides the forms of its responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Object,
    /// Parts of objects whose storage has no `ConvertToTable`.
    Untabled,
    /// Lists and watches.
    Collection,
    /// Custom resources, which kube-apiserver serves without a router.
    Custom,
    /// One group, or one version of it.
    Discovery,
    /// All groups, which may be aggregated.
    AllGroups,
}

/// The outcome of negotiation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) form: Form,
    pub(crate) shape: Shape,
}

/// A media range of an `Accept` header.
struct Range<'a> {
    media_type: &'a str,
    /// The quality value, in thousandths.
    quality: i32,
    parameters: Vec<(&'a str, &'a str)>,
}

/// Returns the ranges in the order of preference, as goautoneg sorts them.
fn ranges(headers: &HeaderMap) -> Vec<Range<'_>> {
    let texts = headers.get_all(ACCEPT).into_iter().filter_map(|header| header.to_str().ok());
    let ranges = texts.flat_map(|text| text.split(',')).map(str::trim).filter(|range| !range.is_empty());
    let mut ranges: Vec<Range<'_>> = ranges.map(range).collect();
    // The sort is stable, which keeps the client's order among equals.
    ranges.sort_by_key(|range| (-range.quality, range.media_type == "*/*", range.media_type.ends_with("/*")));
    ranges
}

fn range(text: &str) -> Range<'_> {
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    let (mut quality, mut parameters) = (1000, Vec::new());
    for part in parts {
        match part.split_once('=').unwrap_or((part, "")) {
            ("q", value) => quality = value.parse::<f32>().map_or(1000, |q| (q * 1000.0) as i32),
            parameter => parameters.push(parameter),
        }
    }
    Range { media_type, quality, parameters }
}

/// Checks that go-restful's router finds a handler.
///
/// # Errors
/// Returns `NotAcceptable` when no media type fits.
pub(crate) fn route(headers: &HeaderMap, endpoint: Endpoint) -> ApiResult<()> {
    let streams = if endpoint == Endpoint::Collection { STREAM_TYPES } else { &[] };
    match endpoint {
        Endpoint::Custom => Ok(()),
        _ => produced(headers, &[OBJECT_TYPES, streams].concat()),
    }
}

/// Checks that a client accepts one of the media types that a route of go-restful produces (`matchesAccept` of its
/// route.go, which ignores parameters and knows no `application/*`).
///
/// # Errors
/// Returns `NotAcceptable` when no media type fits.
pub(crate) fn produced(headers: &HeaderMap, types: &[&str]) -> ApiResult<()> {
    let ranges = ranges(headers);
    let fits = |range: &Range<'_>| range.media_type == "*/*" || types.contains(&range.media_type);
    if ranges.is_empty() || ranges.iter().any(fits) { Ok(()) } else { Err(ApiError::not_routed(types)) }
}

/// Chooses the first acceptable form, as handlers do. Objects of kinds that have a message can be written as protobuf.
///
/// # Errors
/// Returns `NotAcceptable` when there is none.
pub(crate) fn accept(headers: &HeaderMap, endpoint: Endpoint, has_message: bool) -> ApiResult<Accepted> {
    let ranges = ranges(headers);
    if ranges.is_empty() {
        return Ok(Accepted::default());
    }
    let accepted = ranges.iter().find_map(|range| served(range, endpoint, has_message));
    accepted.ok_or_else(|| ApiError::not_acceptable(OBJECT_TYPES))
}

/// Returns the encoding of errors, which ignores converted representations.
pub(crate) fn error_form(headers: &HeaderMap) -> Form {
    let ranges = ranges(headers);
    let plain = ranges.iter().filter(|range| range.parameters.is_empty());
    let accepted = plain.filter_map(|range| served(range, Endpoint::Object, true)).next();
    accepted.map(|accepted| accepted.form).unwrap_or_default()
}

/// Refuses protobuf for an object without a message.
pub(crate) fn without_protobuf() -> ApiError {
    ApiError::not_acceptable(OBJECT_TYPES)
}

/// Checks that the form can be a stream of events; YAML cannot.
///
/// # Errors
/// `NotAcceptable`.
pub(crate) fn check_stream(accepted: &Accepted) -> ApiResult<()> {
    if accepted.form == Form::Yaml { Err(ApiError::not_acceptable(STREAM_TYPES)) } else { Ok(()) }
}

/// Returns the media types that a client accepts, the preferred first; any, if it names none.
pub(crate) fn media_types(headers: &HeaderMap) -> Vec<&str> {
    let types: Vec<&str> = ranges(headers).into_iter().map(|range| range.media_type).collect();
    if types.is_empty() { vec!["*/*"] } else { types }
}

/// Returns the form for a range; `None` when it cannot be served.
fn served(range: &Range<'_>, endpoint: Endpoint, has_message: bool) -> Option<Accepted> {
    let form = match range.media_type {
        "application/json" | "*/*" | "application/*" => Form::Json,
        "application/yaml" => Form::Yaml,
        PROTOBUF => Form::Protobuf,
        _ => return None,
    };
    let (mut kind, mut version, mut group) = ("", "", "");
    for (key, value) in &range.parameters {
        match *key {
            "as" => kind = value,
            "v" => version = value,
            "g" => group = value,
            "stream" if !matches!(*value, "" | "watch") => return None,
            _ => {}
        }
    }
    let tables = matches!(endpoint, Endpoint::Object | Endpoint::Collection | Endpoint::Custom);
    let objects = tables || endpoint == Endpoint::Untabled;
    let owned = version.to_owned();
    let shape = match (kind, group, version) {
        ("", "", "") => Shape::Plain,
        ("Table", "meta.k8s.io", "v1" | "v1beta1") if tables => Shape::Table(owned),
        ("PartialObjectMetadata", "meta.k8s.io", "v1" | "v1beta1") if objects => Shape::Partial(owned),
        ("PartialObjectMetadataList", "meta.k8s.io", "v1" | "v1beta1") if objects => {
            Shape::PartialList(owned)
        }
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2") if endpoint == Endpoint::AllGroups => {
            Shape::Discovery(owned)
        }
        _ => return None,
    };
    let accepted = Accepted { form, shape };
    let is_served = match (form, &accepted.shape) {
        (Form::Protobuf, Shape::Plain) => has_message,
        // Tables have no message (`AllowsMediaTypeTransform` in endpoints/handlers/rest.go).
        (Form::Protobuf, Shape::Table(_)) => false,
        // Metadata of any kind has a message.
        (Form::Protobuf, Shape::Partial(_) | Shape::PartialList(_) | Shape::Discovery(_))
        | (Form::Json | Form::Yaml, _) => true,
    };
    is_served.then_some(accepted)
}

fn media_type(headers: &HeaderMap) -> String {
    content_type(headers).split(';').next().unwrap_or_default().trim().to_lowercase()
}

fn content_type(headers: &HeaderMap) -> &str {
    headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default()
}

/// Returns the form of an object in a body; JSON if the client names none.
///
/// # Errors
/// `UnsupportedMediaType`.
pub(crate) fn object_format(headers: &HeaderMap, custom: bool) -> ApiResult<Form> {
    match media_type(headers).as_str() {
        "" | "application/json" => Ok(Form::Json),
        "application/yaml" => Ok(Form::Yaml),
        PROTOBUF if !custom => Ok(Form::Protobuf),
        _ => Err(ApiError::unsupported_media_type(OBJECT_TYPES)),
    }
}

/// Returns the media types that patches of a resource may have.
pub(crate) fn patch_types(custom: bool) -> &'static [&'static str] {
    if custom { CUSTOM_PATCHES } else { BUILT_IN_PATCHES }
}

/// The kind of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    Strategic,
    Apply,
}

/// Returns the kind of patch in a body. Its media type is compared as it is (`PatchResource` of endpoints/handlers/patch.go).
///
/// # Errors
/// `UnsupportedMediaType`.
pub(crate) fn patch_kind(headers: &HeaderMap, custom: bool) -> ApiResult<PatchKind> {
    match content_type(headers).split(';').next().unwrap_or_default() {
        "application/json-patch+json" => Ok(PatchKind::Json),
        "application/merge-patch+json" => Ok(PatchKind::Merge),
        "application/strategic-merge-patch+json" if !custom => Ok(PatchKind::Strategic),
        "application/apply-patch+yaml" => Ok(PatchKind::Apply),
        _ if custom => Err(ApiError::unsupported_media_type(patch_types(custom))),
        // The router refuses the request before any handler (`Consumes` of endpoints/installer.go).
        _ => Err(ApiError::unroutable_media_type()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str, endpoint: Endpoint) -> ApiResult<Accepted> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, text.parse().unwrap());
        let has_message = endpoint != Endpoint::Custom;
        route(&headers, endpoint)?;
        accept(&headers, endpoint, has_message)
    }

    #[test]
    fn first_media_type_that_can_be_served_is_chosen() {
        let of = |text| accepts(text, Endpoint::Object).unwrap();
        let table = of("application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
        assert_eq!(table.shape, Shape::Table("v1".to_owned()));
        assert_eq!(of("application/vnd.kubernetes.protobuf, application/json").form, Form::Protobuf);
        assert_eq!(of("application/json;q=0.5,application/yaml;q=0.9").form, Form::Yaml);
        assert_eq!(of("*/*,application/yaml").form, Form::Yaml);
        assert_eq!(of("application/json;stream=watch"), Accepted::default());
    }

    #[test]
    fn protobuf_is_for_built_in_kinds_and_metadata() {
        let form = |text, endpoint| accepts(text, endpoint).unwrap().form;
        let both = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(form(both, Endpoint::Collection), Form::Protobuf);
        assert_eq!(form(both, Endpoint::Custom), Form::Json);
        assert_eq!(form(both, Endpoint::Discovery), Form::Protobuf);
        let partial = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        assert_eq!(form(partial, Endpoint::Custom), Form::Protobuf);
    }

    #[test]
    fn refusal_names_the_media_types_of_the_path() {
        let refused = |text, endpoint| accepts(text, endpoint).unwrap_err().message().to_owned();
        let routed = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
                      application/vnd.kubernetes.protobuf";
        assert_eq!(refused("text/csv", Endpoint::Object), routed);
        let streams = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        assert_eq!(refused("text/csv", Endpoint::Collection), format!("{routed}, {streams}"));
        let handled = "only the following media types are accepted: application/json, application/yaml, \
                       application/vnd.kubernetes.protobuf";
        assert_eq!(refused("text/csv", Endpoint::Custom), handled);
        assert_eq!(refused("application/json;as=Other;v=v1;g=x", Endpoint::Object), handled);
        assert_eq!(
            refused("application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io", Endpoint::Object),
            handled
        );
    }
}
