//! The paths of an OpenAPI document: every operation of a resource, as the installer of apiserver's endpoints
//! (`pkg/endpoints/installer.go`) and apiextensions' builder (`pkg/controller/openapi/builder`) describe them.

use serde_json::{Map, Value, json};

use super::{PATCH, builtin, custom_name, reference};
use crate::discovery;
use crate::http::negotiate;
use crate::registry::ResourceDef;

/// A query parameter: its name and type.
type Parameter = (&'static str, &'static str);

const LIST: &[Parameter] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("shardSelector", "string"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];
const DELETE: &[Parameter] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];
const WRITE: &[Parameter] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];
const APPLY: &[Parameter] =
    &[("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];
const VERSION: &[Parameter] = &[("resourceVersion", "string")];
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Returns the media types of responses; kube-apiserver writes its own kinds in protobuf as well.
fn answers(def: &ResourceDef, stream: bool) -> Vec<&'static str> {
    let mut types = vec!["application/json", "application/yaml"];
    if !def.is_custom() {
        types.insert(1, "application/vnd.kubernetes.protobuf");
        if stream {
            types.extend([
                "application/json;stream=watch",
                "application/vnd.kubernetes.protobuf;stream=watch",
            ]);
        }
    }
    types
}

fn content(types: &[&str], definition: &str) -> Value {
    let of = json!({"schema": reference(definition)});
    Value::Object(types.iter().map(|media_type| ((*media_type).to_owned(), of.clone())).collect())
}

/// Returns the paths of a resource with their operations.
pub(super) fn of(def: &ResourceDef) -> Vec<(String, Value)> {
    let object = if def.is_custom() { custom_name(def, &def.kind) } else { builtin::name(def) };
    let list = if def.is_custom() { custom_name(def, &def.list_kind) } else { format!("{object}List") };
    let paths = Paths { def, object, list, verbs: discovery::verbs(def) };
    let root = match def.group.as_str() {
        "" => format!("/api/{}", def.version),
        group => format!("/apis/{group}/{}", def.version),
    };
    let place = if def.namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{root}{place}/{}", def.plural);
    let mut out = vec![(collection.clone(), paths.collection())];
    if def.namespaced && paths.has("list") {
        out.push((format!("{root}/{}", def.plural), paths.everywhere()));
    }
    if paths.has("get") {
        out.push((format!("{collection}/{{name}}"), paths.item()));
    }
    for part in ["status", "scale"] {
        if (part == "status" && def.status) || (part == "scale" && def.scale.is_some()) {
            out.push((format!("{collection}/{{name}}/{part}"), paths.part(part)));
        }
    }
    out
}

struct Paths<'a> {
    def: &'a ResourceDef,
    /// The name of the kind's definition.
    object: String,
    /// The name of the list's definition.
    list: String,
    verbs: Vec<&'static str>,
}

/// One operation of a path.
struct Operation<'a> {
    /// The value of `x-kubernetes-action`.
    action: &'a str,
    /// The beginning of the operation's ID.
    verb: &'a str,
    /// The end of the operation's ID.
    subject: &'a str,
    description: String,
    parameters: &'a [Parameter],
    body: Option<Value>,
    codes: &'a [(&'a str, &'a str)],
    answer: &'a str,
}

const OK: (&str, &str) = ("200", "OK");
const CREATED: (&str, &str) = ("201", "Created");
const ACCEPTED: (&str, &str) = ("202", "Accepted");

impl Paths<'_> {
    fn has(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }

    /// Returns the kind as in operation IDs.
    fn subject(&self, part: &str) -> String {
        let scope = if self.def.namespaced { "Namespaced" } else { "" };
        format!("{scope}{}{}", self.def.kind, capitalized(part))
    }

    fn write_body(&self, definition: &str) -> Value {
        let types: &[&str] =
            if self.def.is_custom() { &["application/json", "application/yaml"] } else { &["*/*"] };
        json!({"content": content(types, definition), "required": true})
    }

    fn collection(&self) -> Value {
        let (kind, subject) = (&self.def.kind, self.subject(""));
        let mut item = self.path_parameters(false);
        if self.has("list") {
            item.insert("get".to_owned(), self.operation(&self.listing(&subject)));
        }
        if self.has("create") {
            let post = self.operation(&Operation {
                action: "post",
                verb: "create",
                subject: &subject,
                description: format!("create {} {kind}", article(kind)),
                parameters: WRITE,
                body: Some(self.write_body(&self.object)),
                codes: &[OK, CREATED, ACCEPTED],
                answer: &self.object,
            });
            item.insert("post".to_owned(), post);
        }
        if self.has("deletecollection") {
            let collection = format!("Collection{subject}");
            let parameters: Vec<Parameter> =
                if self.def.is_custom() { LIST.to_vec() } else { [LIST, DELETE].concat() };
            let delete = self.operation(&Operation {
                action: "deletecollection",
                verb: "delete",
                subject: &collection,
                description: format!("delete collection of {kind}"),
                parameters: &parameters,
                body: None,
                codes: &[OK],
                answer: &format!("{META}.Status"),
            });
            item.insert("delete".to_owned(), delete);
        }
        Value::Object(item)
    }

    fn everywhere(&self) -> Value {
        let subject = format!("{}ForAllNamespaces", self.def.kind);
        let mut item = Map::from_iter([("parameters".to_owned(), json!([pretty()]))]);
        item.insert("get".to_owned(), self.operation(&self.listing(&subject)));
        Value::Object(item)
    }

    fn listing<'a>(&'a self, subject: &'a str) -> Operation<'a> {
        let watched = if self.def.is_custom() { "list" } else { "list or watch" };
        Operation {
            action: "list",
            verb: "list",
            subject,
            description: format!("{watched} objects of kind {}", self.def.kind),
            parameters: LIST,
            body: None,
            codes: &[OK],
            answer: &self.list,
        }
    }

    fn item(&self) -> Value {
        let mut item = self.reads_and_writes("", &self.object);
        let (kind, subject) = (&self.def.kind, self.subject(""));
        if self.has("delete") {
            let delete = self.operation(&Operation {
                action: "delete",
                verb: "delete",
                subject: &subject,
                description: format!("delete {} {kind}", article(kind)),
                parameters: DELETE,
                body: Some(json!({"content": self.write_body(&format!("{META}.DeleteOptions"))["content"]})),
                codes: &[OK, ACCEPTED],
                answer: &format!("{META}.Status"),
            });
            item.insert("delete".to_owned(), delete);
        }
        Value::Object(item)
    }

    fn part(&self, part: &str) -> Value {
        let definition = if part == "scale" { builtin::SCALE } else { &self.object };
        Value::Object(self.reads_and_writes(part, definition))
    }

    /// Builds GET, PUT and PATCH of objects, or of a part of them.
    fn reads_and_writes(&self, part: &str, definition: &str) -> Map<String, Value> {
        let (kind, subject) = (&self.def.kind, self.subject(part));
        let of = if part.is_empty() { String::new() } else { format!("{part} of ") };
        let mut item = self.path_parameters(true);
        let read = self.operation(&Operation {
            action: "get",
            verb: "read",
            subject: &subject,
            description: format!("read {of}the specified {kind}"),
            parameters: if self.def.is_custom() { VERSION } else { &[] },
            body: None,
            codes: &[OK],
            answer: definition,
        });
        item.insert("get".to_owned(), read);
        if self.has("update") {
            let replace = self.operation(&Operation {
                action: "put",
                verb: "replace",
                subject: &subject,
                description: format!("replace {of}the specified {kind}"),
                parameters: WRITE,
                body: Some(self.write_body(definition)),
                codes: &[OK, CREATED],
                answer: definition,
            });
            item.insert("put".to_owned(), replace);
            let types = content(negotiate::patch_types(self.def.is_custom()), PATCH);
            let patch = self.operation(&Operation {
                action: "patch",
                verb: "patch",
                subject: &subject,
                description: format!("partially update {of}the specified {kind}"),
                parameters: APPLY,
                body: Some(json!({"content": types, "required": true})),
                codes: if self.def.is_custom() { &[OK] } else { &[OK, CREATED] },
                answer: definition,
            });
            item.insert("patch".to_owned(), patch);
        }
        item
    }

    /// Builds a path item with the parameters that all of its operations share.
    fn path_parameters(&self, named: bool) -> Map<String, Value> {
        let in_path = |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "uniqueItems": true}});
        let mut parameters = Vec::new();
        if named {
            parameters.push(in_path("name"));
        }
        if self.def.namespaced {
            parameters.push(in_path("namespace"));
        }
        parameters.push(pretty());
        Map::from_iter([("parameters".to_owned(), Value::Array(parameters))])
    }

    fn operation(&self, operation: &Operation<'_>) -> Value {
        let types = answers(self.def, operation.action == "list");
        let of_code = |(code, text): &(&str, &str)| {
            ((*code).to_owned(), json!({"description": text, "content": content(&types, operation.answer)}))
        };
        let mut responses: Map<String, Value> = operation.codes.iter().map(of_code).collect();
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        let group = group_name(&self.def.group);
        let version = capitalized(&self.def.version);
        let mut out = json!({
            "description": operation.description, "tags": [format!("{group}_{}", self.def.version)],
            "operationId": format!("{}{}{version}{}", operation.verb, capitalized(&group), operation.subject),
            "parameters": operation.parameters.iter().map(|(name, kind)| query(name, kind)).collect::<Vec<Value>>(),
            "responses": responses, "x-kubernetes-action": operation.action,
            "x-kubernetes-group-version-kind": super::gvk(self.def),
        });
        if let Some(body) = &operation.body {
            out["requestBody"] = body.clone();
        }
        out
    }
}

fn query(name: &str, kind: &str) -> Value {
    json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
}

fn pretty() -> Value {
    query("pretty", "string")
}

fn article(kind: &str) -> &'static str {
    if kind.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns a group as in tags and operation IDs.
fn group_name(group: &str) -> String {
    if group.is_empty() {
        return "core".to_owned();
    }
    let mut labels = group.strip_suffix(".k8s.io").unwrap_or(group).split('.');
    let first = labels.next().unwrap_or_default().to_owned();
    labels.fold(first, |name, label| name + &capitalized(label))
}
