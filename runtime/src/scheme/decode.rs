//! Decodes manifests into objects.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use kube::core::{DynamicObject, GroupVersionKind};
use kubesmith_apimachinery::decode::Step;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value;

use super::decoded::{Content, Decoded};
use super::{Decode, Scheme, describe, nulls, text};
use crate::json::path::{self, Path};

/// The limit of errors of a document with their own lines; each look-up scans the document.
const LOOKUPS: usize = 100;

/// The limit of fields that strict decoding names per object (client-go's limit).
const STRICT_FAULTS: usize = 100;

/// The total length of the names of those fields, in bytes; at least one is named.
const STRICT_NAMES: usize = 1 << 20;

/// Reads manifests, JSON or YAML, into the types of a scheme: client-go's `UniversalDeserializer`.
///
/// A text may contain several documents, consecutive JSON values, and lists (`kind: List`), whose items are
/// returned one by one. An error in one of them does not affect the others. Null counts as an absent field if the
/// type does not accept it, as in Go; `<<` merges maps. Time and memory are bounded for texts of any size and with
/// any aliases.
///
/// YAML is read as kubectl reads it, by version 1.1: `yes`, `no`, `on` and `off` are booleans, `0644` and `1_000` are numbers.
/// Quotes make them strings. A scheme quotes its output so that versions 1.1 and 1.2 read it alike.
///
/// ```
/// use kubesmith_runtime::k8s_openapi::api::core::v1::ConfigMap;
/// use kubesmith_runtime::kube::core::DynamicObject;
/// use kubesmith_runtime::scheme::{DecodeError, Scheme};
///
/// let mut scheme = Scheme::new();
/// scheme.register::<ConfigMap>("ConfigMapList");
/// let text = r#"
/// {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
/// ---
/// apiVersion: v1
/// kind: ConfigMap
/// metadata:
///   name: b
///   generation: none
/// ---
/// apiVersion: example.com/v1
/// kind: Widget
/// metadata: {name: c}
/// "#;
/// let decoded = scheme.decoder().unknown_as_dynamic().decode_all(text);
/// assert!(decoded[0].as_ref().is_ok_and(|object| object.downcast_ref::<ConfigMap>().is_some()));
/// assert!(decoded[2].as_ref().is_ok_and(|object| object.downcast_ref::<DynamicObject>().is_some()));
/// let error = decoded[1].as_ref().unwrap_err();
/// assert_eq!((error.document, error.line), (2, 8));
/// assert!(matches!(&error.reason, DecodeError::Invalid { field, .. } if field == "metadata.generation"));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "it reads nothing by itself"]
pub struct Decoder<'s> {
    scheme: &'s Scheme,
    strict: bool,
    defaulting: bool,
    dynamic: bool,
}

impl<'s> Decoder<'s> {
    pub(super) fn new(scheme: &'s Scheme) -> Self {
        Self { scheme, strict: false, defaulting: false, dynamic: false }
    }

    /// Makes unknown and duplicate fields an error (client-go's strict serializers).
    ///
    /// A field is unknown if the type's `Deserialize` ignores it. Fields beside a flattened map are never unknown.
    ///
    /// ```
    /// use kubesmith_runtime::k8s_openapi::api::core::v1::ConfigMap;
    /// use kubesmith_runtime::scheme::Scheme;
    ///
    /// let mut scheme = Scheme::new();
    /// scheme.register::<ConfigMap>("ConfigMapList");
    /// let error = scheme.decoder().strict().decode("apiVersion: v1\nkind: ConfigMap\ndatum: {}\n").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"document 1, line 3: strict decoding of ConfigMap in v1: unknown field "datum" at line 3"#
    /// );
    /// ```
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets the type's registered defaults ([`Scheme::add_type_defaulting_func`]).
    ///
    /// ```
    /// use kubesmith_runtime::k8s_openapi::api::core::v1::ConfigMap;
    /// use kubesmith_runtime::scheme::{ManifestError, Scheme};
    ///
    /// let mut scheme = Scheme::new();
    /// scheme.register::<ConfigMap>("ConfigMapList");
    /// scheme.add_type_defaulting_func(|map: &mut ConfigMap| map.immutable = map.immutable.or(Some(false)));
    /// let map = scheme.decoder().defaulting().decode("{apiVersion: v1, kind: ConfigMap}")?;
    /// assert_eq!(map.downcast_ref::<ConfigMap>().and_then(|map| map.immutable), Some(false));
    /// # Ok::<(), ManifestError>(())
    /// ```
    pub fn defaulting(mut self) -> Self {
        self.defaulting = true;
        self
    }

    /// Reads objects of kinds that the scheme does not know as [`DynamicObject`]s.
    pub fn unknown_as_dynamic(mut self) -> Self {
        self.dynamic = true;
        self
    }

    /// Reads every object of a text, in order.
    ///
    /// # Errors
    /// [`ManifestError`] in place of each object that cannot be read.
    pub fn decode_all(&self, manifests: impl AsRef<[u8]>) -> Vec<Result<Decoded, ManifestError>> {
        let text = match std::str::from_utf8(manifests.as_ref()) {
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(error) => {
                let valid = &manifests.as_ref()[..error.valid_up_to()];
                let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
                return vec![Err(ManifestError { document: 1, line, reason: DecodeError::Encoding })];
            }
        };
        let mut out = Vec::new();
        // Count lines once, whatever the number of documents.
        let (mut first_line, mut counted) = (1, 0);
        for (at, range) in text::documents(text).into_iter().enumerate() {
            first_line += text[counted..range.start].matches('\n').count();
            counted = range.start;
            let place =
                Place { document: at + 1, first_line, text: &text[range], lookups: Cell::new(LOOKUPS) };
            self.document(&place, &mut out);
        }
        out
    }

    /// Reads a text with one object.
    ///
    /// # Errors
    /// [`ManifestError`] if the object cannot be read, or if there is not exactly one.
    pub fn decode(&self, manifest: impl AsRef<[u8]>) -> Result<Decoded, ManifestError> {
        let mut all = self.decode_all(manifest);
        match (all.pop(), all.len()) {
            (Some(object), 0) => object,
            (last, before) => {
                let count = before + usize::from(last.is_some());
                Err(ManifestError { document: 1, line: 1, reason: DecodeError::Count { count } })
            }
        }
    }

    /// Reads an object from a JSON value.
    ///
    /// # Errors
    /// [`DecodeError`]. `strict` cannot find duplicate fields in a JSON value.
    pub fn decode_value(&self, value: &Value) -> Result<Decoded, DecodeError> {
        let (decoded, unknown) = self.object(value).map_err(|fault| fault.reason)?;
        let unknown = unknown.into_iter().map(|path| StrictFault::new(false, &path, None));
        self.checked(decoded, unknown.collect())
    }

    fn document(&self, place: &Place<'_>, out: &mut Vec<Result<Decoded, ManifestError>>) {
        match text::parse(place.text, self.strict) {
            Ok(parsed) if parsed.value.is_null() => {}
            Ok(parsed) => self.items(place, &parsed.value, &mut Path::new(), &parsed.duplicates, out),
            Err(error) => {
                let reason = DecodeError::Syntax { message: error.message };
                out.push(Err(ManifestError { line: place.first_line + error.line, ..place.error(reason) }));
            }
        }
    }

    /// Returns the object, or the items of a list of objects of any kinds.
    fn items(
        &self,
        place: &Place<'_>,
        value: &Value,
        path: &mut Path,
        duplicates: &BTreeSet<Path>,
        out: &mut Vec<Result<Decoded, ManifestError>>,
    ) {
        let items =
            value["items"].as_array().filter(|_| value["kind"] == "List" && value["apiVersion"] == "v1");
        let below = |path: &Path| {
            let path = path.clone();
            duplicates.range(path.clone()..).take_while(move |duplicate| duplicate.starts_with(&path))
        };
        let Some(items) = items else {
            let own: Vec<&Path> = below(path).take(STRICT_FAULTS).collect();
            out.push(self.one(place, value, path, &own));
            return;
        };
        for (at, item) in items.iter().enumerate() {
            path.extend([Step::Member("items".to_owned()), Step::Item(at)]);
            self.items(place, item, path, duplicates, out);
            path.truncate(path.len() - 2);
        }
        // Duplicate fields of the list itself.
        let is_items = |duplicate: &&Path| match duplicate[path.len()..] {
            [Step::Member(ref name), Step::Item(at), ..] => name == "items" && at < items.len(),
            _ => false,
        };
        let own: Vec<&Path> = below(path).filter(|path| !is_items(path)).take(STRICT_FAULTS).collect();
        if let Some(first) = own.first() {
            let faults =
                own.iter().map(|path| StrictFault::new(true, path, Some(place.line(path)))).collect();
            let gvk = Box::new(GroupVersionKind::gvk("", "v1", "List"));
            let reason = DecodeError::Strict { gvk, faults };
            out.push(Err(ManifestError { line: place.line(first), ..place.error(reason) }));
        }
    }

    fn one(
        &self,
        place: &Place<'_>,
        value: &Value,
        prefix: &[Step],
        duplicates: &[&Path],
    ) -> Result<Decoded, ManifestError> {
        let inside = |path: &[Step]| [prefix, path].concat();
        let (decoded, unknown) = match self.object(value) {
            Ok(read) => read,
            Err(Fault { reason, path }) => {
                return Err(ManifestError { line: place.line(&inside(&path)), ..place.error(reason) });
            }
        };
        let fault = |twice: bool, path: &[Step]| {
            StrictFault::new(twice, &path[prefix.len()..], Some(place.line(path)))
        };
        let unknown = unknown.iter().map(|path| fault(false, &inside(path)));
        let mut faults: Vec<_> =
            unknown.chain(duplicates.iter().copied().map(|path| fault(true, path))).collect();
        faults.sort_by_key(|fault| fault.line);
        let line = faults.first().and_then(|fault| fault.line).unwrap_or(place.first_line);
        self.checked(decoded, faults).map_err(|reason| ManifestError { line, ..place.error(reason) })
    }

    /// Sets the defaults of the object, if strict decoding accepts it.
    fn checked(&self, mut decoded: Decoded, faults: Vec<StrictFault>) -> Result<Decoded, DecodeError> {
        if !faults.is_empty() {
            let gvk = Box::new(decoded.group_version_kind().clone());
            return Err(DecodeError::Strict { gvk, faults });
        }
        if self.defaulting {
            decoded.objects_mut().into_iter().for_each(|object| self.scheme.default(object));
        }
        Ok(decoded)
    }

    /// Returns the object and its unknown fields, if they matter.
    fn object(&self, value: &Value) -> Result<(Decoded, Vec<Path>), Fault> {
        let gvk = type_of(value).map_err(|error| Fault {
            reason: DecodeError::NoType { message: error.to_string() },
            path: Path::new(),
        })?;
        let decode: Decode = match self.scheme.get(&gvk) {
            Some(kind) => kind.decode,
            None if self.dynamic => {
                |json| Ok(Content::Object(Box::new(erased_serde::deserialize::<DynamicObject>(json)?)))
            }
            None => {
                let path = vec![Step::Member("kind".to_owned())];
                return Err(Fault { reason: DecodeError::Unknown { gvk: Box::new(gvk) }, path });
            }
        };
        match nulls::read_without(value, |value| typed(decode, value, self.strict)) {
            Ok((content, unknown)) => Ok((Decoded::new(gvk, content), unknown)),
            Err((message, path)) => {
                let (gvk, field) = (Box::new(gvk), path::text(&path));
                Err(Fault { reason: DecodeError::Invalid { gvk, field, message }, path })
            }
        }
    }
}

/// The position of a document.
struct Place<'t> {
    document: usize,
    first_line: usize,
    text: &'t str,
    /// The number of line look-ups left.
    lookups: Cell<usize>,
}

impl Place<'_> {
    fn line(&self, path: &[Step]) -> usize {
        match self.lookups.get().checked_sub(1) {
            Some(left) => {
                self.lookups.set(left);
                self.first_line + path::line(self.text, path)
            }
            None => self.first_line,
        }
    }

    fn error(&self, reason: DecodeError) -> ManifestError {
        ManifestError { document: self.document, line: self.first_line, reason }
    }
}

/// An error and its path.
struct Fault {
    reason: DecodeError,
    path: Path,
}

fn type_of(value: &Value) -> Result<GroupVersionKind, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct TypeMeta {
        api_version: String,
        kind: String,
    }
    let TypeMeta { api_version, kind } = TypeMeta::deserialize(value)?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    // As in `schema.ParseGroupVersion`; without a version the object could not be looked up or written again.
    if version.is_empty() || version.contains('/') {
        let message = format!("{api_version:?} is not an apiVersion: write it like \"v1\" or \"apps/v1\"");
        return Err(serde_json::Error::custom(message));
    }
    Ok(GroupVersionKind::gvk(group, version, &kind))
}

/// Returns the typed object and, for strict decoding, its unknown fields.
fn typed(
    decode: Decode,
    value: &Value,
    strict: bool,
) -> Result<(Content, Vec<Path>), nulls::Located<String>> {
    let mut unknown = Unknown { paths: Vec::new(), room: if strict { STRICT_NAMES } else { 0 } };
    let mut note = |path: serde_ignored::Path<'_>| unknown.note(&path);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(value, &mut track);
    let watched = serde_ignored::Deserializer::new(tracked, &mut note);
    let read = decode(&mut <dyn erased_serde::Deserializer<'_>>::erase(watched));
    let content = read.map_err(|error| (error.to_string(), path::of_error(&track.path())))?;
    Ok((content, unknown.paths))
}

/// The unknown fields, up to the limits.
struct Unknown {
    paths: Vec<Path>,
    /// The length left for further names.
    room: usize,
}

impl Unknown {
    fn note(&mut self, path: &serde_ignored::Path<'_>) {
        if self.room == 0 || self.paths.len() == STRICT_FAULTS {
            return;
        }
        let path = path::of_ignored(path);
        if !is_type_meta(&path) {
            self.room = self.room.saturating_sub(path::size(&path));
            self.paths.push(path);
        }
    }
}

/// Reports whether the path is that of a type meta, which not every type reads.
fn is_type_meta(path: &[Step]) -> bool {
    let of_object =
        |last: &Step| matches!(last, Step::Member(name) if name == "apiVersion" || name == "kind");
    match path {
        [last] => of_object(last),
        [Step::Member(items), Step::Item(_), last] => items == "items" && of_object(last),
        _ => false,
    }
}

/// An object of a text could not be read. [`Decoder`] has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("document {document}, line {line}: {reason}")]
pub struct ManifestError {
    /// The number of the document, from 1. Empty documents do not count.
    pub document: usize,
    /// The line in the text, from 1. The first hundred errors of a document have their own line; others have that
    /// of the document.
    pub line: usize,
    /// The error.
    #[source]
    pub reason: DecodeError,
}

/// An object cannot be decoded. [`Decoder`] has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The text is not UTF-8.
    #[error("the text is not valid UTF-8; encode it as UTF-8")]
    Encoding,
    /// The text is neither JSON nor YAML.
    #[error("cannot be parsed: {message}")]
    Syntax {
        /// The parser's message.
        message: String,
    },
    /// There is not exactly one object.
    #[error("expected one object, found {count}; use `decode_all` for several")]
    Count {
        /// The number of objects.
        count: usize,
    },
    /// `apiVersion` or `kind` is missing.
    #[error("not a Kubernetes object: {message}")]
    NoType {
        /// The missing field.
        message: String,
    },
    /// No type is registered for the kind.
    #[error("unknown kind: {}; register its type in the scheme, or decode dynamic objects", describe(.gvk))]
    Unknown {
        /// The object's kind.
        gvk: Box<GroupVersionKind>,
    },
    /// The object does not fit its type.
    #[error("invalid {}: {}{message}", describe(.gvk), prefix(.field))]
    Invalid {
        /// The object's kind.
        gvk: Box<GroupVersionKind>,
        /// The path of the field, `spec.containers[0].name`; empty for the object itself.
        field: String,
        /// The reason.
        message: String,
    },
    /// The object has unknown or duplicate fields.
    #[error("strict decoding of {}: {}", describe(.gvk), list(.faults))]
    Strict {
        /// The object's kind.
        gvk: Box<GroupVersionKind>,
        /// At most a hundred of each sort, in the order of their lines.
        faults: Vec<StrictFault>,
    },
}

fn prefix(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

fn list(faults: &[StrictFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A field that strict decoding refuses.
///
/// ```
/// use kubesmith_runtime::scheme::{DecodeError, Scheme, StrictFault};
/// use kubesmith_runtime::k8s_openapi::api::core::v1::ConfigMap;
///
/// let mut scheme = Scheme::new();
/// scheme.register::<ConfigMap>("ConfigMapList");
/// let map = "apiVersion: v1\nkind: ConfigMap\ndata: {a: b, a: c}\n";
/// let error = scheme.decoder().strict().decode(map).unwrap_err();
/// let DecodeError::Strict { faults, .. } = error.reason else { panic!("{error}") };
/// assert_eq!(faults, [StrictFault { field: "data.a".to_owned(), duplicate: true, line: Some(3) }]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrictFault {
    /// The path of the field.
    pub field: String,
    /// The field is a duplicate; otherwise it is unknown.
    pub duplicate: bool,
    /// The line in the text, from 1, if there is a text.
    pub line: Option<usize>,
}

impl StrictFault {
    fn new(duplicate: bool, path: &[Step], line: Option<usize>) -> Self {
        Self { field: path::text(path), duplicate, line }
    }
}

impl fmt::Display for StrictFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.duplicate { "duplicate" } else { "unknown" };
        write!(f, "{what} field {:?}", self.field)?;
        self.line.map_or(Ok(()), |line| write!(f, " at line {line}"))
    }
}
