//! Manifests to objects.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use kube::core::{DynamicObject, GroupVersionKind};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::Value;

use super::decoded::{Content, Decoded};
#[cfg(feature = "yaml")]
use super::hint;
use super::path::{self, Path, Step};
use super::{Decode, Scheme, describe, nulls, text};

/// How many mistakes of a document have their own lines; each is looked for in the whole document.
const LOOKUPS: usize = 100;

/// How many fields strict decoding names in an object, as client-go does.
const STRICT_FAULTS: usize = 100;

/// How long the names of those fields may be together, in bytes; one is named whatever its length.
const STRICT_NAMES: usize = 1 << 20;

/// Reads manifests, JSON or YAML, into the types of a scheme: client-go's `UniversalDeserializer`.
///
/// A text may hold several documents, JSON values that follow each other, and lists (`kind: List`), whose items come one by
/// one. What is wrong with one of them does not stop the others. Null is taken for a field that is absent wherever the type
/// does not take it, as Go does; `<<` merges. Texts of any size and with any aliases are read in bounded time and space.
///
/// YAML is read as version 1.2 has it: `yes`, `no`, `on`, `off`, `0644` and `1_000` are texts. kubectl reads them as version 1.1
/// had it, as booleans and numbers; where a field is one of these, the error says what to write, which both read alike. What a
/// scheme writes is quoted so that both read it alike.
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

    /// Makes fields that the type does not have, or that are given twice, an error (client-go's strict serializers).
    ///
    /// What a type does not have is what its `Deserialize` ignores: nothing is known of the fields beside a flattened map.
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

    /// Sets the defaults that are registered for the type ([`Scheme::add_type_defaulting_func`]).
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
    /// [`ManifestError`] in the place of each object that cannot be read.
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
        // Lines are counted once, whatever the number of documents.
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
    /// [`ManifestError`]: the object cannot be read, or there is none or more than one.
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

    /// Reads an object that has been parsed.
    ///
    /// # Errors
    /// [`DecodeError`]; `strict` cannot know of fields that were given twice.
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

    /// The object, or those of a list of objects of any kinds.
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
        // What is given twice in the list itself.
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

    /// The object with its defaults, if strictness allows it.
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

    /// The object, and the fields in it that its type does not have, if they matter.
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
                #[cfg(feature = "yaml")]
                let message = match hint::of(value, &path, &message) {
                    Some(hint) => message + &hint,
                    None => message,
                };
                let (gvk, field) = (Box::new(gvk), path::text(&path));
                Err(Fault { reason: DecodeError::Invalid { gvk, field, message }, path })
            }
        }
    }
}

/// Where a document stands.
struct Place<'t> {
    document: usize,
    first_line: usize,
    text: &'t str,
    /// How many lines may still be looked for.
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

/// What is wrong, and where.
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
    // As in `schema.ParseGroupVersion`; without a version nothing could be looked up or written again.
    if version.is_empty() || version.contains('/') {
        let message = format!("{api_version:?} is no apiVersion: write it like \"v1\" or \"apps/v1\"");
        return Err(serde_json::Error::custom(message));
    }
    Ok(GroupVersionKind::gvk(group, version, &kind))
}

/// The typed object, and the fields that its type does not have, if it is read strictly.
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

/// Fields that a type does not have, as many as are named.
struct Unknown {
    paths: Vec<Path>,
    /// How long further names may be.
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

/// Not every type reads what it is.
fn is_type_meta(path: &[Step]) -> bool {
    let of_object =
        |last: &Step| matches!(last, Step::Member(name) if name == "apiVersion" || name == "kind");
    match path {
        [last] => of_object(last),
        [Step::Member(items), Step::Item(_), last] => items == "items" && of_object(last),
        _ => false,
    }
}

/// Why an object of a text could not be read. [`Decoder`] has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("document {document}, line {line}: {reason}")]
pub struct ManifestError {
    /// The document in the text, from 1. Documents that say nothing are not counted.
    pub document: usize,
    /// The line in the text, from 1. Of the mistakes in a document the first hundred have their own; others have that of the
    /// document.
    pub line: usize,
    /// What is wrong.
    #[source]
    pub reason: DecodeError,
}

/// What is wrong with an object. [`Decoder`] has an example.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The text is not UTF-8.
    #[error("the text is not UTF-8; write it so")]
    Encoding,
    /// The text is neither JSON nor YAML.
    #[error("cannot be parsed: {message}")]
    Syntax {
        /// What the parser says.
        message: String,
    },
    /// There is not exactly one object.
    #[error("one object is expected, the text has {count}; read several with `decode_all`")]
    Count {
        /// How many there are.
        count: usize,
    },
    /// It says neither or only one of `apiVersion` and `kind`.
    #[error("no object of Kubernetes: {message}")]
    NoType {
        /// What is missing.
        message: String,
    },
    /// No type is registered for the kind.
    #[error("unknown kind: {}; register its type in the scheme, or ask for dynamic objects", describe(.gvk))]
    Unknown {
        /// What the object says it is.
        gvk: Box<GroupVersionKind>,
    },
    /// The object does not fit its type.
    #[error("invalid {}: {}{message}", describe(.gvk), prefix(.field))]
    Invalid {
        /// What the object says it is.
        gvk: Box<GroupVersionKind>,
        /// The path of the field, `spec.containers[0].name`; empty: the object itself.
        field: String,
        /// What does not fit.
        message: String,
    },
    /// The object has fields that its type does not have, or that are given twice.
    #[error("strict decoding of {}: {}", describe(.gvk), list(.faults))]
    Strict {
        /// What the object says it is.
        gvk: Box<GroupVersionKind>,
        /// Up to a hundred of each sort, in the order of their lines.
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
    /// Its path.
    pub field: String,
    /// It is given twice; otherwise the type does not have it.
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
