//! Reads CustomResourceDefinitions from YAML: several documents, lists, `v1` and `v1beta1`. What is wrong with one of
//! them does not stop the others.

mod members;

use std::ops::Range;

use kubesmith_core::diag::Code;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::canonical::canonical;
use super::position::Lines;
use super::strict;
use crate::diag::Diagnostic;
use crate::schema::Schema;
use crate::source::{FileId, Loc, Position, SourceMap};

/// A definition that was read.
#[derive(Clone, Debug)]
pub(crate) struct Crd {
    /// Its whole text as data, as [`canonical`] has it.
    pub(crate) object: Value,
    /// Its versions' schemas, in the order of `object`.
    pub(super) schemas: Vec<Schema>,
    /// Where it stands.
    pub(crate) place: Place,
    /// Whether it says `preserveUnknownFields`.
    pub(super) says_preserve: bool,
    /// Where each version of `object` stands in the list as it is written.
    pub(crate) order: Vec<usize>,
    /// `status.storedVersions`
    pub(crate) stored: Vec<String>,
}

/// What definitions are read for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To make types of them: everything has to be brought back by an attribute.
    #[default]
    Import,
    /// To compare them: whatever API servers have is taken.
    Compare,
}

impl Purpose {
    /// How a template becomes something to read.
    fn render_first(self) -> &'static str {
        match self {
            Purpose::Import => "render it first: helm template CHART | kubesmith import - --output DIR",
            Purpose::Compare => "render it first: helm template CHART | kubesmith diff OLD -",
        }
    }
}

/// A document in a file, and where an object stands in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: FileId,
    document: Range<usize>,
    prefix: Vec<String>,
}

impl Place {
    /// The line that a path in the object leads to.
    pub(crate) fn loc(&self, sources: &SourceMap, path: &[String]) -> Loc {
        let range = self.lines(sources).locate(&self.full(path));
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Loc { file: self.file, start: offset(range.start), end: offset(range.end) }
    }

    /// The lines of the document, for those who look for many paths.
    pub(crate) fn lines<'a>(&self, sources: &'a SourceMap) -> Lines<'a> {
        Lines::new(&sources.file(self.file).text, self.document.clone())
    }

    /// The place, in these lines of the document, that a path in the object leads to.
    pub(crate) fn position(&self, lines: &mut Lines<'_>, path: &[String]) -> Position {
        lines.position(&self.full(path))
    }

    /// The number of the file.
    pub(crate) fn file(&self) -> FileId {
        self.file
    }

    fn full(&self, path: &[String]) -> Vec<String> {
        self.prefix.iter().chain(path).cloned().collect()
    }
}

/// What was found in files.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) crds: Vec<Crd>,
    /// How many objects are no definitions.
    pub(super) others: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) purpose: Purpose,
}

impl Found {
    /// Reads a file that is in the map of sources.
    pub(super) fn read(&mut self, sources: &SourceMap, file: FileId) {
        let text = &sources.file(file).text;
        let before = (self.crds.len(), self.diagnostics.len());
        for document in documents(text) {
            let place = Place { file, document: document.clone(), prefix: Vec::new() };
            match parse(&text[document.clone()]) {
                Ok(Value::Null) => {}
                Ok(value) => self.object(sources, place, value),
                Err(error) => {
                    self.diagnostics.push(unreadable(text, file, &document, &error, self.purpose));
                }
            }
        }
        if before == (self.crds.len(), self.diagnostics.len()) {
            let loc = Loc { file, start: 0, end: 0 };
            let message = "no CustomResourceDefinition in the file";
            self.diagnostics.push(
                Diagnostic::error(Code::NO_DEFINITION, loc, message)
                    .help("name files with CRDs; other objects are skipped"),
            );
        }
    }

    fn object(&mut self, sources: &SourceMap, place: Place, value: Value) {
        if let Some(Value::Array(items)) =
            value.get("items").filter(|_| value["kind"].as_str().is_some_and(|k| k.ends_with("List")))
        {
            for (at, item) in items.iter().enumerate() {
                let prefix = vec!["items".to_string(), at.to_string()];
                self.object(sources, Place { prefix, ..place.clone() }, item.clone());
            }
            return;
        }
        if value["kind"] != "CustomResourceDefinition" {
            self.others += 1;
            return;
        }
        let purpose = self.purpose;
        let mut reader =
            Reader { sources, place, diagnostics: Vec::new(), failed: false, purpose, untold: 0 };
        let crd = reader.crd(value);
        self.diagnostics.append(&mut reader.finish());
        self.crds.extend(crd);
    }
}

/// The ranges of the documents of a text.
fn documents(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        if body == "---" || body.starts_with("--- ") || body == "..." {
            out.push(start..at);
            start = if body.starts_with("--- ") { at } else { at + line.len() };
        }
        at += line.len();
    }
    out.push(start..at);
    out.retain(|range| !text[range.clone()].trim().is_empty());
    out
}

fn parse(text: &str) -> Result<Value, serde_yaml::Error> {
    // JSON is YAML, but its parser takes any depth and size in a fraction of the time.
    if text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
    {
        return Ok(value);
    }
    Value::deserialize(serde_yaml::Deserializer::from_str(text))
}

fn unreadable(
    text: &str,
    file: FileId,
    document: &Range<usize>,
    error: &serde_yaml::Error,
    purpose: Purpose,
) -> Diagnostic {
    let at = |start: usize| {
        let offset = u32::try_from(start).unwrap_or(u32::MAX);
        Loc { file, start: offset, end: offset }
    };
    if let Some(brace) = text[document.clone()].find("{{") {
        return Diagnostic::error(Code::TEMPLATE, at(document.start + brace), "the file is a template")
            .note("`{{` is for Helm or another template engine; what the text will be is not known before it has run")
            .help(purpose.render_first());
    }
    let start = error.location().map_or(document.start, |location| document.start + location.index());
    // Its lines are those of the document.
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    Diagnostic::error(
        Code::INVALID_YAML,
        at(start.min(document.end)),
        format!("the document is not valid YAML: {reason}"),
    )
    .note("other documents of the file are read all the same")
    .help("mend the document, or leave it out")
}

struct Reader<'a> {
    sources: &'a SourceMap,
    place: Place,
    diagnostics: Vec<Diagnostic>,
    failed: bool,
    purpose: Purpose,
    /// How many diagnostics are beyond [`MOST_TOLD`].
    untold: usize,
}

/// How many diagnostics of a definition are told: what is wrong again and again is mostly one mistake, and each is looked for
/// in the text.
const MOST_TOLD: usize = 20;

/// Members of `spec` in `v1beta1` that stand in its versions in `v1`.
const PER_VERSION: &[&str] = &["subresources", "additionalPrinterColumns"];

impl Reader<'_> {
    fn crd(&mut self, mut value: Value) -> Option<Crd> {
        self.templates(&value);
        let says_preserve = value["spec"].get("preserveUnknownFields").is_some();
        match value["apiVersion"].as_str() {
            Some("apiextensions.k8s.io/v1") => {}
            Some("apiextensions.k8s.io/v1beta1") => self.convert(&mut value),
            other => {
                let message = format!("definitions of {} are not known", other.unwrap_or("no apiVersion"));
                self.fail(
                    &["apiVersion"],
                    Code::UNKNOWN_DEFINITION,
                    message,
                    "convert it to apiextensions.k8s.io/v1",
                );
            }
        }
        self.shape(&value);
        for path in self.unknown_members(&value) {
            remove(&mut value, &path);
        }
        let versions = value["spec"]["versions"].as_array().cloned().unwrap_or_default();
        let mut order: Vec<usize> = (0..versions.len()).collect();
        order.sort_by_key(|at| versions[*at]["name"].as_str().unwrap_or_default());
        let schemas: Vec<Schema> = order.iter().filter_map(|at| self.schema(&versions[*at], *at)).collect();
        let keeps_all = value["spec"]["preserveUnknownFields"] == true;
        if keeps_all && self.purpose == Purpose::Import {
            let message = "`preserveUnknownFields: true` is for v1beta1 alone";
            let help = "write x-kubernetes-preserve-unknown-fields into the schema";
            self.fail(&["spec", "preserveUnknownFields"], Code::UNKNOWN_DEFINITION, message, help);
        }
        let mut object = canonical(&value);
        if keeps_all {
            object["spec"]["preserveUnknownFields"] = true.into();
        }
        let stored = value.pointer("/status/storedVersions").and_then(Value::as_array);
        let stored =
            stored.into_iter().flatten().filter_map(|name| Some(name.as_str()?.to_string())).collect();
        let place = self.place.clone();
        (!self.failed).then_some(Crd { object, schemas, place, says_preserve, order, stored })
    }

    fn fail(&mut self, path: &[&str], code: Code, message: impl Into<String>, help: &str) {
        self.failed = true;
        self.tell(path, |loc| Diagnostic::error(code, loc, message).help(help));
    }

    fn warn(&mut self, path: &[&str], code: Code, message: impl Into<String>, help: &str) {
        self.tell(path, |loc| Diagnostic::warning(code, loc, message).help(help));
    }

    fn tell(&mut self, path: &[&str], diagnostic: impl FnOnce(Loc) -> Diagnostic) {
        if self.diagnostics.len() >= MOST_TOLD {
            self.untold += 1;
            return;
        }
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        self.diagnostics.push(diagnostic(self.place.loc(self.sources, &path)));
    }

    /// What was found; the last one tells how much more there is.
    fn finish(mut self) -> Vec<Diagnostic> {
        if let Some(last) = self.diagnostics.last_mut().filter(|_| self.untold > 0) {
            last.notes.push(format!("and {} more of this definition", self.untold));
        }
        self.diagnostics
    }

    /// Quoted templates are valid YAML.
    fn templates(&mut self, value: &Value) {
        let metadata = value.get("metadata").map(Value::to_string).unwrap_or_default();
        let spec =
            ["group", "names", "scope", "conversion"].map(|key| value["spec"][key].to_string()).concat();
        for (path, text) in [("metadata", metadata), ("spec", spec)] {
            if text.contains("{{") {
                let help = self.purpose.render_first();
                self.fail(&[path], Code::TEMPLATE, "the definition is a template", help);
            }
        }
    }

    /// What nothing can be imported without.
    fn shape(&mut self, value: &Value) {
        let texts: &[&[&str]] = &[
            &["metadata", "name"],
            &["spec", "group"],
            &["spec", "scope"],
            &["spec", "names", "kind"],
            &["spec", "names", "plural"],
        ];
        for path in texts {
            let found = path.iter().try_fold(value, |at, key| at.get(key));
            if !found.is_some_and(Value::is_string) {
                let message = format!("the definition has no {}", path.join("."));
                self.fail(
                    &path[..path.len() - 1],
                    Code::UNKNOWN_DEFINITION,
                    message,
                    "add it: an API server wants it as well",
                );
            }
        }
        let versions = value["spec"]["versions"].as_array().map_or(&[][..], Vec::as_slice);
        if versions.is_empty() {
            self.fail(
                &["spec"],
                Code::UNKNOWN_DEFINITION,
                "the definition has no versions",
                "add at least one",
            );
        }
        for (at, version) in versions.iter().enumerate() {
            if !version["name"].is_string() {
                let path = ["spec", "versions", &at.to_string()];
                self.fail(&path, Code::UNKNOWN_DEFINITION, "the version has no name", "add it");
            }
        }
    }

    fn schema(&mut self, version: &Value, at: usize) -> Option<Schema> {
        let at = at.to_string();
        let path = ["spec", "versions", &at, "schema", "openAPIV3Schema"];
        let Some(schema) = version["schema"].get("openAPIV3Schema") else {
            let message =
                format!("the version {} has no schema", version["name"].as_str().unwrap_or("without a name"));
            self.fail(
                &path[..3],
                Code::UNKNOWN_DEFINITION,
                message,
                "add one: an API server wants it as well",
            );
            return None;
        };
        match strict::read(schema) {
            Ok(schema) => Some(schema),
            Err(mistakes) => {
                for mistake in mistakes {
                    let path: Vec<&str> =
                        path.iter().copied().chain(mistake.path.iter().map(String::as_str)).collect();
                    let message = format!("{} at {}", mistake.message, mistake.path.join("."));
                    self.fail(&path, Code::REFUSED_SCHEMA, message, mistake.help);
                }
                None
            }
        }
    }

    /// Makes `v1` of `v1beta1`, as an API server does.
    fn convert(&mut self, value: &mut Value) {
        let help = "API servers since 1.22 take v1 only; what is generated is v1";
        self.warn(&["apiVersion"], Code::CONVERTED, "the definition is v1beta1 and is converted to v1", help);
        value["apiVersion"] = "apiextensions.k8s.io/v1".into();
        let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else { return };
        let keeps = spec.remove("preserveUnknownFields") != Some(Value::Bool(false));
        let mut versions = match spec.remove("versions") {
            Some(Value::Array(versions)) if !versions.is_empty() => versions,
            _ => vec![
                serde_json::json!({"name": spec.get("version").cloned(), "served": true, "storage": true}),
            ],
        };
        spec.remove("version");
        let schema = spec.remove("validation");
        let shared: Vec<(&str, Value)> =
            PER_VERSION.iter().filter_map(|key| Some((*key, spec.remove(*key)?))).collect();
        for version in versions.iter_mut().filter_map(Value::as_object_mut) {
            convert_version(version, schema.as_ref(), &shared, keeps);
        }
        spec.insert("versions".to_string(), versions.into());
        if !spec.contains_key("scope") {
            spec.insert("scope".to_string(), "Namespaced".into());
        }
        convert_conversion(spec);
        if keeps {
            let message = "v1beta1 keeps unknown fields by default; the schema now says so";
            let help = "remove `preserve_unknown_fields` where all fields are known";
            self.warn(&["spec"], Code::CONVERTED, message, help);
        }
    }
}

/// Removes the member that a path leads to.
fn remove(value: &mut Value, path: &[String]) {
    let Some((last, before)) = path.split_last() else { return };
    let parent = before.iter().try_fold(value, |at, step| match at {
        Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
        other => other.get_mut(step),
    });
    if let Some(Value::Object(members)) = parent {
        members.remove(last);
    }
}

fn convert_version(
    version: &mut Map<String, Value>,
    schema: Option<&Value>,
    shared: &[(&str, Value)],
    keeps: bool,
) {
    if !version.contains_key("schema")
        && let Some(schema) = schema
    {
        version.insert("schema".to_string(), schema.clone());
    }
    let schema = version.entry("schema").or_insert_with(|| Value::Object(Map::new()));
    if schema.get("openAPIV3Schema").is_none_or(Value::is_null) {
        schema["openAPIV3Schema"] = serde_json::json!({"type": "object"});
    }
    let root = &mut schema["openAPIV3Schema"];
    if root.get("type").is_none() {
        root["type"] = "object".into();
    }
    if keeps {
        root["x-kubernetes-preserve-unknown-fields"] = true.into();
    }
    for (key, value) in shared {
        version.entry(*key).or_insert_with(|| value.clone());
    }
    if let Some(Value::Array(columns)) = version.get_mut("additionalPrinterColumns") {
        for column in columns.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(path) = column.remove("JSONPath") {
                column.insert("jsonPath".to_string(), path);
            }
        }
    }
}

fn convert_conversion(spec: &mut Map<String, Value>) {
    let Some(Value::Object(conversion)) = spec.get_mut("conversion") else { return };
    let (client, versions) =
        (conversion.remove("webhookClientConfig"), conversion.remove("conversionReviewVersions"));
    if let Some(client) = client {
        let versions = versions.unwrap_or_else(|| serde_json::json!(["v1beta1"]));
        let webhook = serde_json::json!({"clientConfig": client, "conversionReviewVersions": versions});
        conversion.insert("webhook".to_string(), webhook);
    }
}
