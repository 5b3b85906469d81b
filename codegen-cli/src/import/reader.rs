//! Reads CustomResourceDefinitions from YAML: several documents, lists, `v1` and `v1beta1`. An error in one
//! does not affect the others.

mod beta;
mod checked;
mod members;
mod mended;
mod place;
mod refused;
mod text;
mod truths;

use std::collections::BTreeSet;
use std::ops::Range;

use kubesmith_core::diag::Code;
use kubesmith_core::model::{ColumnPathError, check_column_path};
use serde_json::Value;

use checked::Read;
pub(crate) use place::{Place, Sites};

use super::strict;
use crate::diag::Diagnostic;
use crate::schema::Schema;
use crate::source::{FileId, Loc, SourceMap};
use kubesmith_apiextensions::diff::{canonical, is_mark};

/// A definition.
#[derive(Clone, Debug)]
pub(crate) struct Crd {
    /// The definition in its [`canonical`] form.
    pub(crate) object: Value,
    /// Its versions' schemas, in the order of `object`.
    pub(super) schemas: Vec<Schema>,
    /// Its place in the file.
    pub(crate) place: Place,
    /// Whether it says `preserveUnknownFields`.
    pub(super) says_preserve: bool,
    /// The position of each version of `object` in the written list.
    pub(crate) order: Vec<usize>,
    /// `status.storedVersions`
    pub(crate) stored: Vec<String>,
    /// Whether objects with exactly one of several members become enums.
    pub(super) has_choices: bool,
}

impl Crd {
    /// The line of a path in the canonical object.
    pub(super) fn loc(&self, sites: &mut Sites<'_>, path: &[String]) -> Loc {
        let mut path = path.to_vec();
        if let [spec, versions, at, ..] = &mut path[..]
            && spec == "spec"
            && versions == "versions"
            && let Some(written) = at.parse::<usize>().ok().and_then(|at| self.order.get(at))
        {
            *at = written.to_string();
        }
        self.place.loc(sites, &path)
    }
}

/// The purpose of reading definitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To make types: an attribute must reproduce every member.
    #[default]
    Import,
    /// To compare them: everything that API servers have is accepted.
    Compare,
}

impl Purpose {
    /// The help for templates.
    fn render_first(self) -> &'static str {
        match self {
            Purpose::Import => "render it first: helm template CHART | kubesmith import - --output DIR",
            Purpose::Compare => "render it first: helm template CHART | kubesmith diff OLD -",
        }
    }

    /// The help for patches.
    fn build_first(self) -> &'static str {
        match self {
            Purpose::Import => "put it together first: kustomize build DIR | kubesmith import - --output DIR",
            Purpose::Compare => "put it together first: kustomize build DIR | kubesmith diff OLD -",
        }
    }
}

/// The definitions and diagnostics of files.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) crds: Vec<Crd>,
    /// The number of objects of other kinds.
    pub(super) others: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) purpose: Purpose,
}

impl Found {
    /// Reads a file of the source map.
    pub(super) fn read(&mut self, sources: &SourceMap, file: FileId) {
        let text = &sources.file(file).text;
        let before = (self.crds.len(), self.diagnostics.len());
        for document in text::documents(text) {
            let place = Place { file, document: document.clone(), prefix: Vec::new(), moved: Vec::new() };
            // Only positions in this document are needed.
            let mut sites = Sites::new(sources);
            match parse(&text[document.clone()]) {
                Ok(Read { value: Value::Null, .. }) => {}
                Ok(Read { value, repeated }) => {
                    let before = (self.crds.len(), self.diagnostics.len());
                    self.object(&mut sites, place.clone(), value);
                    if before != (self.crds.len(), self.diagnostics.len()) {
                        self.repeated(&mut sites, &place, &repeated);
                    }
                }
                Err(error) => {
                    self.diagnostics.push(unreadable(text, file, &document, error, self.purpose));
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

    /// Reports members that occur more than once in a document.
    fn repeated(&mut self, sites: &mut Sites<'_>, place: &Place, paths: &BTreeSet<Vec<String>>) {
        for path in paths.iter().take(MOST_TOLD) {
            let message = format!("`{}` is given more than once, and the last one is taken", path.join("."));
            self.diagnostics.push(
                Diagnostic::warning(Code::REPEATED_MEMBER, place.loc(sites, path), message)
                    .note("readers that are strict refuse it, as kubectl does where it validates")
                    .help("remove one of them"),
            );
        }
        if let Some(last) = self.diagnostics.last_mut().filter(|_| paths.len() > MOST_TOLD) {
            last.notes.push(format!("and {} more of this document", paths.len() - MOST_TOLD));
        }
    }

    fn object(&mut self, sites: &mut Sites<'_>, place: Place, mut value: Value) {
        let is_list = value["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
        if let Some(Value::Array(items)) = value.get_mut("items").filter(|_| is_list).map(Value::take) {
            for (at, item) in items.into_iter().enumerate() {
                let below = ["items".to_string(), at.to_string()];
                let prefix = place.prefix.iter().cloned().chain(below).collect();
                self.object(sites, Place { prefix, ..place.clone() }, item);
            }
            return;
        }
        if value["kind"] != "CustomResourceDefinition" {
            self.others += 1;
            return;
        }
        let purpose = self.purpose;
        let mut reader =
            Reader { sites, place, errors: Vec::new(), warnings: Vec::new(), purpose, untold: 0 };
        let crd = reader.crd(value);
        self.diagnostics.append(&mut reader.finish());
        self.crds.extend(crd);
    }
}

/// The deepest nesting of brackets; the parser allows less.
const DEEPEST: usize = 200;

/// Reads a document; the error has the reason and, if it is known, the position.
fn parse(text: &str) -> Result<Read, (String, Option<usize>)> {
    // JSON is YAML, but a JSON parser takes a fraction of the time.
    if text.trim_start().starts_with('{')
        && let Ok(read) = read_json(text)
    {
        return Ok(read);
    }
    if text::is_deeper(text, DEEPEST) {
        return Err(("it is too deep".to_string(), None));
    }
    checked::read(serde_yaml::Deserializer::from_str(text), Some(text)).map_err(|error| {
        // The error's lines are those of the document.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default().to_string();
        (reason, error.location().map(|location| location.index()))
    })
}

fn read_json(text: &str) -> Result<Read, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = checked::read(&mut json, None)?;
    json.end()?;
    Ok(read)
}

fn unreadable(
    text: &str,
    file: FileId,
    document: &Range<usize>,
    (reason, place): (String, Option<usize>),
    purpose: Purpose,
) -> Diagnostic {
    let at = |start: usize| {
        let offset = u32::try_from(start).unwrap_or(u32::MAX);
        Loc { file, start: offset, end: offset }
    };
    if let Some(brace) = text::template(&text[document.clone()]) {
        return Diagnostic::error(Code::TEMPLATE, at(document.start + brace), "the file is a template")
            .note("`{{` is for Helm or another template engine; what the text will be is not known before it has run")
            .help(purpose.render_first());
    }
    let start = document.start + place.unwrap_or_default();
    let message = format!("the document is not valid YAML: {reason}");
    Diagnostic::error(Code::INVALID_YAML, at(start.min(document.end)), message)
        .note("other documents of the file are read all the same")
        .help("correct the document, or remove it")
}

struct Reader<'s, 'a> {
    sites: &'s mut Sites<'a>,
    place: Place,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    purpose: Purpose,
    /// The number of diagnostics beyond [`MOST_TOLD`].
    untold: usize,
}

/// The most errors, and the most warnings, reported per definition: repeated errors mostly have one cause,
/// and locating each costs time.
const MOST_TOLD: usize = 20;

impl Reader<'_, '_> {
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
        if self.purpose == Purpose::Import && self.errors.is_empty() {
            self.mend(&mut value);
            self.truths(&value["spec"]["versions"]);
        }
        let (schemas, order) = self.schemas(&mut value);
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
        // An API server validates the whole definition once its parts parse.
        if self.purpose == Purpose::Import && self.errors.is_empty() {
            self.columns(&value);
            self.refusals(&object, &value, &order);
        }
        let place = self.place.clone();
        self.errors.is_empty().then_some(Crd {
            object,
            schemas,
            place,
            says_preserve,
            order,
            stored,
            has_choices: true,
        })
    }

    /// Reports columns that API servers accept but do not show; `refusals` reports the others.
    fn columns(&mut self, value: &Value) {
        for (at, version) in list(&value["spec"]["versions"]) {
            for (index, column) in list(&version["additionalPrinterColumns"]) {
                let path = column["jsonPath"].as_str().unwrap_or_default();
                let Err(ColumnPathError { reason, is_refused: false }) = check_column_path(path) else {
                    continue;
                };
                let (at, index) = (at.to_string(), index.to_string());
                let place = ["spec", "versions", &at, "additionalPrinterColumns", &index, "jsonPath"];
                let message = format!("invalid JSON path {path:?}: {reason}");
                let help = "correct it, or remove the column: if API servers cannot read a path, they show neither its \
                    column nor those after it";
                self.warn(&place, Code::INVALID_JSON_PATH, message, help);
            }
        }
    }

    /// The schemas of the versions in the order of their names, and the position of each in the list.
    fn schemas(&mut self, value: &mut Value) -> (Vec<Schema>, Vec<usize>) {
        let versions = value.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
        let mut found: Vec<(usize, &mut Value)> = versions.into_iter().flatten().enumerate().collect();
        found.sort_by(|(_, a), (_, b)| a["name"].as_str().cmp(&b["name"].as_str()));
        let order = found.iter().map(|(at, _)| *at).collect();
        let schemas = found.into_iter().filter_map(|(at, version)| self.schema(version, at)).collect();
        (schemas, order)
    }

    fn fail<S: AsRef<str>>(&mut self, path: &[S], code: Code, message: impl Into<String>, help: &str) {
        match self.loc(path, self.errors.len()) {
            Some(loc) => self.errors.push(Diagnostic::error(code, loc, message).help(help)),
            None => self.untold += 1,
        }
    }

    fn warn<S: AsRef<str>>(&mut self, path: &[S], code: Code, message: impl Into<String>, help: &str) {
        match self.loc(path, self.warnings.len()) {
            Some(loc) => self.warnings.push(Diagnostic::warning(code, loc, message).help(help)),
            None => self.untold += 1,
        }
    }

    /// The line of a path, unless `told` reaches [`MOST_TOLD`].
    fn loc<S: AsRef<str>>(&mut self, path: &[S], told: usize) -> Option<Loc> {
        let path = || path.iter().map(|step| step.as_ref().to_string()).collect::<Vec<_>>();
        (told < MOST_TOLD).then(|| self.place.loc(self.sites, &path()))
    }

    /// Returns the diagnostics; the last one counts the dropped ones.
    fn finish(mut self) -> Vec<Diagnostic> {
        self.warnings.append(&mut self.errors);
        if let Some(last) = self.warnings.last_mut().filter(|_| self.untold > 0) {
            last.notes.push(format!("and {} more of this definition", self.untold));
        }
        self.warnings
    }

    /// Reports quoted templates, which are valid YAML. kubectl's annotation repeats every description, and
    /// these may have braces.
    fn templates(&mut self, value: &Value) {
        let mut metadata = value.get("metadata").cloned().unwrap_or_default();
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.retain(|name, _| !is_mark(name));
        }
        let metadata = metadata.to_string();
        let spec =
            ["group", "names", "scope", "conversion"].map(|key| value["spec"][key].to_string()).concat();
        let mut found = vec![(vec!["metadata".to_string()], metadata), (vec!["spec".to_string()], spec)];
        let versions = value["spec"]["versions"].as_array().into_iter().flatten();
        for (at, version) in versions.enumerate() {
            // Descriptions may have braces.
            let written = ["name", "served", "storage", "deprecated", "subresources"];
            let members = written.iter().map(|key| (*key, &version[*key]));
            let schema = [("schema", &version["schema"]), ("schema", &version["schema"]["openAPIV3Schema"])];
            let texts = schema.into_iter().filter(|(_, schema)| schema.is_string());
            found.extend(members.chain(texts).map(|(key, value)| {
                (["spec", "versions", &at.to_string(), key].map(str::to_string).to_vec(), value.to_string())
            }));
        }
        for (path, _) in found.iter().filter(|(_, text)| text.contains("{{")) {
            let help = self.purpose.render_first();
            self.fail(path, Code::TEMPLATE, "the definition is a template", help);
        }
    }

    /// Checks the members that every import needs.
    fn shape(&mut self, value: &Value) {
        if ["group", "names", "versions"].iter().all(|key| value["spec"].get(key).is_none()) {
            let message = "this is a part of a definition, such as a patch";
            return self.fail(&["spec"], Code::UNKNOWN_DEFINITION, message, self.purpose.build_first());
        }
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

    /// The schema of a version, without keywords that API servers drop.
    fn schema(&mut self, version: &mut Value, at: usize) -> Option<Schema> {
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
        let strict::Strict { schema: read, mistakes, unknown } = strict::read(schema);
        let full = |below: &[String]| -> Vec<String> {
            path.iter().map(ToString::to_string).chain(below.iter().cloned()).collect()
        };
        for mistake in mistakes {
            let place = match &mistake.path[..] {
                [] => String::new(),
                path => format!(" at {}", path.join(".")),
            };
            let message = format!("{}{place}", mistake.message);
            self.fail(&full(&mistake.path), Code::REFUSED_SCHEMA, message, mistake.help);
        }
        for below in unknown {
            if self.purpose == Purpose::Import {
                let message =
                    format!("`{}` is left out: a CRD's schema has no such keyword", below.join("."));
                let help = "API servers drop it; a description can say it to people";
                self.warn(&full(&below), Code::LEFT_OUT, message, help);
            }
            remove(&mut version["schema"]["openAPIV3Schema"], &below);
        }
        read
    }
}

/// The items of a list, numbered.
fn list(value: &Value) -> impl Iterator<Item = (usize, &Value)> {
    value.as_array().into_iter().flatten().enumerate()
}

/// Removes the member at a path.
pub(super) fn remove(value: &mut Value, path: &[String]) {
    let Some((last, before)) = path.split_last() else { return };
    let parent = before.iter().try_fold(value, |at, step| match at {
        Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get_mut(index)),
        other => other.get_mut(step),
    });
    if let Some(Value::Object(members)) = parent {
        members.remove(last);
    }
}
