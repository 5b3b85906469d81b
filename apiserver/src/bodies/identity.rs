//! The kind that a body states: `Decode` of apimachinery's pkg/runtime/serializer/json and the conversion after it.

use kubesmith_apimachinery::golang;
use serde_json::Value;

use crate::registry::{Registry, ResourceDef};
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::types;

/// The scheme of the built-in kinds in messages.
pub(crate) const SCHEME: &str = "pkg/api/legacyscheme/scheme.go:30";
/// Kinds that every group and version has (`AddToGroupVersion` of apimachinery's pkg/apis/meta/v1).
const EVERYWHERE: [&str; 8] = [
    "Status",
    "DeleteOptions",
    "WatchEvent",
    "ListOptions",
    "GetOptions",
    "CreateOptions",
    "UpdateOptions",
    "PatchOptions",
];

/// The reason why a body is not of the resource's kind.
pub(crate) enum Fault {
    /// The body states no kind.
    Unrecognised(String),
    /// It is an object of this kind and version, which cannot be converted to the resource's kind.
    Other { kind: String, version: String, why: String },
    /// It is of the right kind, but of this other version.
    Version(String),
}

impl Fault {
    /// Returns the bare reason, as patches show it.
    pub(crate) fn into_reason(self, def: &ResourceDef) -> String {
        match self {
            Self::Unrecognised(why) | Self::Other { why, .. } => why,
            Self::Version(version) => other_version(def, &version),
        }
    }
}

/// A kind's group and version, its name aside.
pub(crate) struct GroupVersion<'v> {
    pub(crate) group: &'v str,
    pub(crate) version: &'v str,
}

impl<'v> GroupVersion<'v> {
    /// `ParseGroupVersion` of apimachinery's pkg/runtime/schema.
    ///
    /// # Errors
    /// Returns the fault of a malformed text.
    pub(crate) fn parse(text: &'v str) -> Result<Self, String> {
        let (group, version) = text.split_once('/').unwrap_or(("", text));
        if version.contains('/') {
            return Err(format!("unexpected GroupVersion string: {text}"));
        }
        Ok(Self { group, version })
    }

    /// Fills in an absent version (`gvkWithDefaults` of apimachinery's pkg/runtime/serializer/json).
    pub(crate) fn or(self, group: &'v str, version: &'v str) -> Self {
        let is_absent = self.version.is_empty() && (self.group.is_empty() || self.group == group);
        if is_absent { Self { group, version } } else { self }
    }

    pub(crate) fn shown(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }
}

/// Checks that the body's kind is that of the path, and fills in absent parts for built-in kinds.
pub(crate) fn check(call: &Call<'_>, value: &mut Value) -> ApiResult<()> {
    if call.def.is_custom() {
        return custom(call, value);
    }
    check_as(call, &call.def, value)
}

/// As [`check`], for a built-in kind that may be that of a subresource.
pub(crate) fn check_as(call: &Call<'_>, def: &ResourceDef, value: &mut Value) -> ApiResult<()> {
    let body = || String::from_utf8_lossy(&call.body).into_owned();
    built_in(&call.server.registry(), def, value, body).map_err(|fault| match fault {
        Fault::Unrecognised(why) => super::unrecognised(&def.kind, &why, &call.body),
        Fault::Other { kind, version, why } => ApiError::bad_request(format!(
            "{kind} in version {} cannot be handled as a {}: {why}",
            golang::quote(&version),
            def.kind
        )),
        Fault::Version(version) => ApiError::bad_request(other_version(def, &version)),
    })
}

fn other_version(def: &ResourceDef, version: &str) -> String {
    format!(
        "the API version in the data ({version}) does not match the expected API version ({})",
        def.api_version()
    )
}

/// Returns `apiVersion` and kind of an object, empty when absent (`Interpret` of apimachinery's
/// pkg/runtime/serializer/json).
///
/// # Errors
/// Returns the fault of a value that is no text.
pub(crate) fn interpret(value: &Value) -> Result<(String, String), String> {
    let text = |field: &str| match &value[field] {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        other => Err(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field .{field} of type \
             string",
            golang::json_type(other)
        )),
    };
    Ok((text("apiVersion")?, text("kind")?))
}

/// Refuses a patched object of the internal version, from which the decoder reads no name: fields of the internal types have no
/// names in JSON. An object without a version is of this one, except for scales of custom resources.
pub(crate) fn not_internal(call: &Call<'_>, def: &ResourceDef, value: &Value) -> ApiResult<()> {
    let Ok((version, kind)) = interpret(value) else { return Ok(()) };
    let is_internal = match version.as_str() {
        "" => !call.def.is_custom(),
        version => version == format!("{}/__internal", def.group),
    };
    if is_internal && (kind.is_empty() || kind == def.kind) {
        return Err(super::nameless(&call.path.name));
    }
    Ok(())
}

/// Returns the fault of a kind that a scheme does not have.
pub(crate) fn unregistered(kind: &str, version: &GroupVersion<'_>, scheme: &str) -> String {
    format!(
        "no kind {} is registered for version {} in scheme {}",
        golang::quote(kind),
        golang::quote(&version.shown()),
        golang::quote(scheme)
    )
}

/// As [`check`], for an object of a built-in kind; errors show its `body`.
pub(crate) fn built_in(
    registry: &Registry,
    def: &ResourceDef,
    value: &mut Value,
    body: impl Fn() -> String,
) -> Result<(), Fault> {
    let (api_version, kind) = interpret(value).map_err(Fault::Unrecognised)?;
    let kind = if kind.is_empty() { def.kind.clone() } else { kind };
    let given = GroupVersion::parse(&api_version).map_err(Fault::Unrecognised)?;
    let given = given.or(&def.group, &def.version);
    let other = |why: String| Fault::Other { kind: kind.clone(), version: given.version.to_owned(), why };
    if given.version.is_empty() {
        return Err(other(format!("Object 'apiVersion' is missing in '{}'", body())));
    }
    let is_own =
        kind == def.kind && (given.shown() == def.api_version() || is_old_scale(&given.shown(), &kind));
    if !is_own && !is_registered(registry, def, &given, &kind) {
        return Err(other(unregistered(&kind, &given, scheme(def))));
    }
    if !is_own && (kind != def.kind || package(given.group) != package(&def.group)) {
        if let Some(of) = types::of_kind(&given.shown(), &kind) {
            types::decode::settle(&mut value.clone(), of).map_err(&other)?;
        }
        let (from, to) = (given.version, package(&def.group));
        return Err(other(format!("converting ({from}.{kind}) to ({to}.{}): unknown conversion", def.kind)));
    }
    let version = given.shown();
    value["kind"] = kind.into();
    value["apiVersion"] = version.clone().into();
    if version == def.api_version() { Ok(()) } else { Err(Fault::Version(version)) }
}

/// Reports whether this is a scale of versions that are no longer served, which still convert to the internal one
/// (`AddToScheme` of pkg/apis/extensions and pkg/apis/apps).
fn is_old_scale(version: &str, kind: &str) -> bool {
    kind == "Scale" && matches!(version, "extensions/v1beta1" | "apps/v1beta1" | "apps/v1beta2")
}

/// Reports whether the scheme of a resource includes a kind.
fn is_registered(registry: &Registry, def: &ResourceDef, given: &GroupVersion<'_>, kind: &str) -> bool {
    let has_own_scheme = |group: &str| scheme_of(group).is_some();
    let in_scheme = given.group == def.group || !has_own_scheme(&def.group) && !has_own_scheme(given.group);
    if !in_scheme || !registry.has_version(given.group, given.version) {
        return false;
    }
    let is_kind =
        |kind: &str| types::message_of_kind(&given.shown(), kind).is_some_and(types::Type::has_type_meta);
    EVERYWHERE.contains(&kind) || is_kind(kind) || kind.strip_suffix("List").is_some_and(is_kind)
}

/// Returns the scheme of a group's kinds, unless it is the common one.
fn scheme_of(group: &str) -> Option<&'static str> {
    match group {
        "apiextensions.k8s.io" => Some("k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55"),
        "apiregistration.k8s.io" => Some("k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"),
        _ => None,
    }
}

fn scheme(def: &ResourceDef) -> &'static str {
    scheme_of(&def.group).unwrap_or(SCHEME)
}

/// Returns the Go package of a group's internal types.
fn package(group: &str) -> &str {
    match group {
        // Both kinds of events are one type.
        "" | "events.k8s.io" => "core",
        group => group.split('.').next().unwrap_or_default(),
    }
}

/// Checks that a custom resource states its kind and version.
fn custom(call: &Call<'_>, value: &Value) -> ApiResult<()> {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() {
        let shown = match call.body.first() {
            Some(b'{') => String::from_utf8_lossy(&call.body).into_owned(),
            _ => golang::json(value),
        };
        let why = format!("Object 'Kind' is missing in '{shown}'");
        return Err(super::unrecognised(&call.def.kind, &why, &call.body));
    }
    if version.is_empty() {
        return Err(ApiError::bad_request("Object 'apiVersion' is missing in the body"));
    }
    if version != call.def.api_version() {
        return Err(ApiError::bad_request(other_version(&call.def, version)));
    }
    Ok(())
}
