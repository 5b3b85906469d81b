//! Content negotiation: which form of an answer a client asks for, and in which form a body comes.

use ::http::HeaderMap;
use ::http::header::{ACCEPT, CONTENT_TYPE};

use crate::status::{ApiError, ApiResult};

/// Media types kube-apiserver names in its errors.
const OBJECT_TYPES: &[&str] =
    &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const CUSTOM_PATCHES: &[&str] =
    &["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];
const BUILT_IN_PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
];

/// How objects are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    #[default]
    Plain,
    /// `meta.k8s.io` Table of this version.
    Table(String),
    /// Only the metadata.
    Metadata(String),
    /// Discovery of everything at once.
    Discovery(String),
}

/// What an `Accept` header settles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) yaml: bool,
    pub(crate) shape: Shape,
}

/// Chooses the first acceptable form.
///
/// # Errors
/// `NotAcceptable` when there is none.
pub(crate) fn accept(headers: &HeaderMap, discovery: bool) -> ApiResult<Accepted> {
    let mut ranges: Vec<(i32, Accepted)> = Vec::new();
    let mut any = false;
    for header in headers.get_all(ACCEPT) {
        let Ok(text) = header.to_str() else { continue };
        for range in text.split(',').map(str::trim).filter(|r| !r.is_empty()) {
            any = true;
            ranges.extend(media_range(range, discovery));
        }
    }
    if !any {
        return Ok(Accepted::default());
    }
    // A stable sort keeps the client's order among equals.
    ranges.sort_by_key(|(quality, _)| -quality);
    match ranges.into_iter().next() {
        Some((_, accepted)) => Ok(accepted),
        None => Err(ApiError::not_acceptable(OBJECT_TYPES)),
    }
}

/// One acceptable media range with its quality in thousandths; `None` when it cannot be served.
fn media_range(range: &str, discovery: bool) -> Option<(i32, Accepted)> {
    let mut parts = range.split(';').map(str::trim);
    let yaml = match parts.next()? {
        "application/json" | "*/*" | "application/*" => false,
        "application/yaml" => true,
        _ => return None,
    };
    let (mut kind, mut version, mut group, mut quality) = ("", "", "", 1000);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        match key {
            "as" => kind = value,
            "v" => version = value,
            "g" => group = value,
            "q" => quality = value.parse::<f32>().map_or(1000, |q| (q * 1000.0) as i32),
            _ => {}
        }
    }
    let shape = match (kind, group, version) {
        ("", ..) => Shape::Plain,
        ("Table", "meta.k8s.io", "v1" | "v1beta1") => Shape::Table(version.to_owned()),
        ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1" | "v1beta1") => {
            Shape::Metadata(version.to_owned())
        }
        ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2" | "v2beta1") if discovery => {
            Shape::Discovery(version.to_owned())
        }
        _ => return None,
    };
    Some((quality, Accepted { yaml, shape }))
}

/// The form of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyFormat {
    Json,
    Yaml,
    Protobuf,
}

fn media_type(headers: &HeaderMap) -> String {
    let text = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// The form of an object in a body; JSON when the client does not say.
///
/// # Errors
/// `UnsupportedMediaType`.
pub(crate) fn object_format(headers: &HeaderMap, custom: bool) -> ApiResult<BodyFormat> {
    match media_type(headers).as_str() {
        "" | "application/json" => Ok(BodyFormat::Json),
        "application/yaml" => Ok(BodyFormat::Yaml),
        "application/vnd.kubernetes.protobuf" if !custom => Ok(BodyFormat::Protobuf),
        _ => Err(ApiError::unsupported_media_type(OBJECT_TYPES)),
    }
}

/// The media types that patches of a resource may have.
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

/// The kind of patch that a body carries.
///
/// # Errors
/// `UnsupportedMediaType`.
pub(crate) fn patch_kind(headers: &HeaderMap, custom: bool) -> ApiResult<PatchKind> {
    match media_type(headers).as_str() {
        "application/json-patch+json" => Ok(PatchKind::Json),
        "application/merge-patch+json" => Ok(PatchKind::Merge),
        "application/strategic-merge-patch+json" if !custom => Ok(PatchKind::Strategic),
        "application/apply-patch+yaml" => Ok(PatchKind::Apply),
        _ if custom => Err(ApiError::unsupported_media_type(patch_types(custom))),
        // The router refuses it, before any handler (`Consumes` of endpoints/installer.go).
        _ => Err(ApiError::unroutable_media_type()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> ApiResult<Accepted> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, text.parse().unwrap());
        accept(&headers, false)
    }

    #[test]
    fn the_first_form_that_can_be_served_wins() {
        let table = accepts("application/json;as=Table;v=v1;g=meta.k8s.io,application/json").unwrap();
        assert_eq!(table.shape, Shape::Table("v1".to_owned()));
        let plain = accepts("application/vnd.kubernetes.protobuf, application/json").unwrap();
        assert_eq!(plain, Accepted::default());
        let yaml = accepts("application/json;q=0.5,application/yaml;q=0.9").unwrap();
        assert!(yaml.yaml);
        assert_eq!(accepts("text/csv").unwrap_err().code(), 406);
        assert_eq!(accepts("application/json;as=Other;v=v1;g=x").unwrap_err().code(), 406);
    }
}
