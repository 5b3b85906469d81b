//! The operations of resources and of discovery, as the installer of apiserver's endpoints (`pkg/endpoints/installer.go`),
//! its discovery handlers (`pkg/endpoints/discovery`) and apiextensions' builder (`pkg/controller/openapi/builder`)
//! register them with go-restful.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::{META, builtin, capitalized, custom_name, gvk, gvk_of, schemas};
use crate::discovery::{self, Subresource};
use crate::http::negotiate::{self, OBJECT_TYPES};
use crate::registry::{Behaviour, ResourceDef};

/// The query parameters of options, by the options' type.
static OPTIONS: LazyLock<BTreeMap<&'static str, Vec<Query>>> = LazyLock::new(|| {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for line in include_str!("parameters.txt").lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.splitn(4, ' ');
        if let (Some(options), Some(name), Some(kind), Some(description)) =
            (words.next(), words.next(), words.next(), words.next())
        {
            let description = schemas::text(description);
            all.entry(options).or_default().push(Query { name, kind, description });
        }
    }
    all
});

struct Query {
    name: &'static str,
    kind: &'static str,
    description: String,
}

const LIST: &str = "ListOptions";
const CREATE: &str = "CreateOptions";
const DELETE: &str = "DeleteOptions";
const ANY: &[&str] = &["*/*"];
const TEXTS: &[&str] = &["application/json", "application/yaml"];
const STREAMS: &[&str] =
    &["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PROXIED: &[&str] = &["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"];

/// A parameter of a path or query.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// `path` or `query`.
    pub(super) place: &'static str,
    pub(super) kind: &'static str,
    pub(super) description: Cow<'static, str>,
}

/// An operation.
pub(super) struct Route {
    pub(super) path: String,
    /// The method, in lower case.
    pub(super) method: String,
    /// The name, from which the operation's ID is made.
    pub(super) operation: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) consumes: Vec<&'static str>,
    pub(super) produces: Vec<&'static str>,
    /// The definition of the body, and whether a body is required.
    pub(super) body: Option<(String, bool)>,
    pub(super) codes: &'static [(&'static str, &'static str)],
    /// The definition of responses; text if there is none.
    pub(super) answer: Option<String>,
    /// The value of `x-kubernetes-action`.
    pub(super) action: Option<&'static str>,
    /// The value of `x-kubernetes-group-version-kind`.
    pub(super) kind: Option<Value>,
}

impl Route {
    /// Returns the names of the definitions that it refers to.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &String> {
        self.answer.iter().chain(self.body.iter().map(|(name, _)| name))
    }

    /// As [`Route::definitions`], to rename them.
    pub(super) fn definitions_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.answer.iter_mut().chain(self.body.iter_mut().map(|(name, _)| name))
    }

    /// Returns its ID and tag (`GetOperationIDAndTags` of apiserver's `pkg/endpoints/openapi`).
    pub(super) fn id_and_tag(&self) -> (String, String) {
        const VERBS: [&str; 9] =
            ["get", "read", "replace", "patch", "delete", "watch", "connect", "list", "create"];
        let verb = VERBS.into_iter().find(|verb| self.operation.starts_with(verb)).unwrap_or_default();
        let rest = self.operation.strip_prefix(verb).unwrap_or_default();
        let parts: Vec<&str> = self.path.trim_matches('/').split('/').collect();
        let (group, version) = match parts.as_slice() {
            ["api", rest @ ..] => ("core", rest.first()),
            ["apis", group, rest @ ..] => (group.strip_suffix(".k8s.io").unwrap_or(group), rest.first()),
            [first, ..] => {
                return (format!("{verb}{}", identifier(rest, true)), identifier(first, false));
            }
            [] => return (verb.to_owned(), String::new()),
        };
        let mut id = format!("{verb}{}", identifier(group, true));
        let mut tag = identifier(group, false);
        if let Some(version) = version {
            id.push_str(&identifier(version, true));
            tag.push('_');
            tag.push_str(&identifier(version, false));
        }
        (id + &identifier(rest, true), tag)
    }
}

/// Removes what identifiers cannot have, and capitalizes what follows it (`ToValidOperationID`).
fn identifier(text: &str, capital: bool) -> String {
    let mut out = String::new();
    let mut capital = capital;
    for (at, char) in text.char_indices() {
        if !(char.is_alphabetic() || char == '_' || (at != 0 && char.is_numeric())) {
            capital = true;
        } else if std::mem::take(&mut capital) {
            out.extend(char.to_uppercase());
        } else {
            out.push(char);
        }
    }
    out
}

const OK: (&str, &str) = ("200", "OK");
const CREATED: (&str, &str) = ("201", "Created");
const ACCEPTED: (&str, &str) = ("202", "Accepted");

/// Returns the definition of a type of `meta/v1`.
fn meta(kind: &str) -> String {
    format!("{META}.{kind}")
}

/// Returns the path of a group and version.
fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}

/// Returns the operation of a discovery path.
pub(super) fn discovery(path: &str) -> Option<Route> {
    let (operation, description, answer): (_, _, Option<String>) = match path {
        "/.well-known/openid-configuration/" => (
            "getServiceAccountIssuerOpenIDConfiguration",
            "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
            None,
        ),
        "/openid/v1/jwks/" => (
            "getServiceAccountIssuerOpenIDKeyset",
            "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
            None,
        ),
        "/version/" => (
            "getCodeVersion",
            "get the version information for this server",
            Some("io.k8s.apimachinery.pkg.version.Info".to_owned()),
        ),
        "/api/" => ("getAPIVersions", "get available API versions", Some(meta("APIVersions"))),
        "/apis/" => ("getAPIVersions", "get available API versions", Some(meta("APIGroupList"))),
        _ => match path.trim_matches('/').split('/').collect::<Vec<_>>().as_slice() {
            ["apis", _] => ("getAPIGroup", "get information of a group", Some(meta("APIGroup"))),
            ["api", _] | ["apis", _, _] => {
                ("getAPIResources", "get available resources", Some(meta("APIResourceList")))
            }
            _ => return None,
        },
    };
    let (consumes, produces) = match path {
        "/.well-known/openid-configuration/" => (Vec::new(), vec!["application/json"]),
        "/openid/v1/jwks/" => (Vec::new(), vec!["application/jwk-set+json"]),
        "/version/" => (vec!["application/json"], vec!["application/json"]),
        _ => (OBJECT_TYPES.to_vec(), OBJECT_TYPES.to_vec()),
    };
    Some(Route {
        path: path.to_owned(),
        method: "get".to_owned(),
        operation: operation.to_owned(),
        description: description.to_owned(),
        parameters: Vec::new(),
        consumes,
        produces,
        body: None,
        codes: &[OK],
        answer,
        action: None,
        kind: None,
    })
}

/// Returns the operations of a group version's resources, and of its list of resources if it has built-in ones.
pub(super) fn of_version(group: &str, version: &str, defs: &[std::sync::Arc<ResourceDef>]) -> Vec<Route> {
    let mut out: Vec<Route> = defs.iter().flat_map(|def| Resource::new(def).routes()).collect();
    if defs.iter().any(|def| !def.is_custom()) {
        out.extend(discovery(&format!("{}/", root(group, version))));
    }
    out
}

/// A resource or a subresource whose operations are described.
struct Resource<'a> {
    def: &'a ResourceDef,
    /// The definition of its objects.
    object: String,
    /// The path of the collection below the group version.
    collection: String,
    /// The name of the subresource; empty for the resource itself.
    part: &'static str,
    /// The kind of the subresource's objects, of which built-in kinds have their own.
    part_kind: String,
    kind: Value,
}

/// What differs between operations of a resource.
struct Details<'a> {
    action: &'static str,
    verb: &'a str,
    description: String,
    /// The types of options whose members are query parameters.
    options: &'a [&'static str],
    body: Option<(String, bool)>,
    codes: &'static [(&'static str, &'static str)],
    answer: Option<String>,
}

impl<'a> Resource<'a> {
    fn new(def: &'a ResourceDef) -> Self {
        let object = if def.is_custom() { custom_name(def, &def.kind) } else { builtin::name(def) };
        let place = if def.namespaced { "namespaces/{namespace}/" } else { "" };
        let collection = format!("{place}{}", def.plural);
        Self { def, object, collection, part: "", part_kind: def.kind.clone(), kind: gvk(def) }
    }

    fn subresource(&self, of: &Subresource) -> Self {
        let def = self.def;
        let scale = of.name == "scale";
        let (object, part_kind, kind) = if def.is_custom() {
            let object = if scale { builtin::SCALE.to_owned() } else { self.object.clone() };
            (object, def.kind.clone(), gvk(def))
        } else {
            let (group, version) = of.group_version.unwrap_or((&def.group, &def.version));
            let kind = gvk_of(group, version, &of.kind);
            (builtin::name_of(group, version, &of.kind), of.kind.clone(), kind)
        };
        Self { def, object, collection: self.collection.clone(), part: of.name, part_kind, kind }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/{rest}", root(&self.def.group, &self.def.version))
    }

    fn routes(&self) -> Vec<Route> {
        let def = self.def;
        let verbs = discovery::verbs(def);
        let (collection, item) =
            (self.path(&self.collection), self.path(&format!("{}/{{name}}", self.collection)));
        let mut out = Vec::new();
        if verbs.contains(&"list") {
            out.push(self.list(collection.clone(), ""));
            if def.namespaced {
                out.push(self.list(self.path(&def.plural), "ForAllNamespaces"));
            }
        }
        if verbs.contains(&"create") {
            out.push(self.create(collection.clone()));
        }
        if verbs.contains(&"deletecollection") {
            out.push(self.delete_collection(collection));
        }
        out.extend(self.reads_and_writes(&item, &verbs));
        if verbs.contains(&"delete") {
            out.push(self.delete(item));
        }
        if verbs.contains(&"watch") && !def.is_custom() {
            out.extend(self.watches());
        }
        for of in discovery::subresources(def) {
            let part = self.subresource(&of);
            let path = self.path(&format!("{}/{{name}}/{}", self.collection, of.name));
            if of.kind.ends_with("Options") {
                out.extend(part.connections(&path, of.verbs));
                continue;
            }
            if of.verbs.contains(&"create") {
                out.push(part.create(path.clone()));
            }
            out.extend(part.reads_and_writes(&path, of.verbs));
        }
        out
    }

    /// Builds GET, PUT and PATCH of objects, or of a part of them.
    fn reads_and_writes(&self, path: &str, verbs: &[&str]) -> Vec<Route> {
        let mut out = Vec::new();
        for verb in verbs {
            match *verb {
                "get" => out.push(self.read(path.to_owned())),
                "update" => out.push(self.replace(path.to_owned())),
                "patch" => out.push(self.patch(path.to_owned())),
                _ => {}
            }
        }
        out
    }

    fn described(&self, verb: &str) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!("{} of ", self.part) };
        format!("{verb} {part}the specified {}", self.def.kind)
    }

    fn read(&self, path: String) -> Route {
        let log = self.part == "log";
        let mut read = self.route(
            path,
            "get",
            "",
            Details {
                action: "get",
                verb: "read",
                description: self.described("read"),
                options: match (self.def.is_custom(), log) {
                    (true, _) => &["GetOptions"],
                    (false, true) => &["PodLogOptions"],
                    (false, false) => &[],
                },
                body: None,
                codes: &[OK],
                answer: Some(self.object.clone()).filter(|_| !log),
            },
        );
        if log {
            read.produces.insert(0, "text/plain");
        }
        read
    }

    fn replace(&self, path: String) -> Route {
        self.route(
            path,
            "put",
            "",
            Details {
                action: "put",
                verb: "replace",
                description: self.described("replace"),
                options: &[CREATE],
                body: Some((self.object.clone(), true)),
                codes: &[OK, CREATED],
                answer: Some(self.object.clone()),
            },
        )
    }

    fn patch(&self, path: String) -> Route {
        let custom = self.def.is_custom();
        let mut patch = self.route(
            path,
            "patch",
            "",
            Details {
                action: "patch",
                verb: "patch",
                description: self.described("partially update"),
                options: &["PatchOptions"],
                body: Some((meta("Patch"), true)),
                codes: if custom { &[OK] } else { &[OK, CREATED] },
                answer: Some(self.object.clone()),
            },
        );
        // CBOR is behind a feature gate, without which kube-apiserver's routes do not name it.
        let types = negotiate::patch_types(custom).iter();
        patch.consumes = types.copied().filter(|media_type| !media_type.ends_with("+cbor")).collect();
        patch
    }

    fn create(&self, path: String) -> Route {
        let of = if self.part.is_empty() { String::new() } else { format!(" {} of", self.part) };
        self.route(
            path,
            "post",
            "",
            Details {
                action: "post",
                verb: "create",
                description: format!("create{of}{}{}", article(&self.def.kind), self.def.kind),
                options: &[CREATE],
                body: Some((self.object.clone(), true)),
                codes: &[OK, CREATED, ACCEPTED],
                answer: Some(self.object.clone()),
            },
        )
    }

    fn list(&self, path: String, suffix: &str) -> Route {
        let def = self.def;
        let watched = !def.is_custom() && discovery::verbs(def).contains(&"watch");
        let answer =
            if def.is_custom() { custom_name(def, &def.list_kind) } else { format!("{}List", self.object) };
        let mut list = self.route(
            path,
            "get",
            suffix,
            Details {
                action: "list",
                verb: "list",
                description: format!(
                    "list{} objects of kind {}",
                    if watched { " or watch" } else { "" },
                    def.kind
                ),
                options: &[LIST],
                body: None,
                codes: &[OK],
                answer: Some(answer),
            },
        );
        if !def.is_custom() {
            list.produces.extend(STREAMS);
        }
        list
    }

    fn delete_collection(&self, path: String) -> Route {
        let custom = self.def.is_custom();
        let mut delete = self.route(
            path,
            "delete",
            "",
            Details {
                action: "deletecollection",
                verb: "deletecollection",
                description: format!("delete collection of {}", self.def.kind),
                options: if custom { &[LIST] } else { &[LIST, DELETE] },
                body: (!custom).then(|| (meta(DELETE), false)),
                codes: &[OK],
                answer: Some(meta("Status")),
            },
        );
        if !custom {
            delete.parameters.retain(|known| !matches!(known.name, "watch" | "allowWatchBookmarks"));
        }
        delete
    }

    fn delete(&self, path: String) -> Route {
        let returns = matches!(&self.def.behaviour, Behaviour::BuiltIn(kind) if kind.returns_deleted);
        self.route(
            path,
            "delete",
            "",
            Details {
                action: "delete",
                verb: "delete",
                description: format!("delete{}{}", article(&self.def.kind), self.def.kind),
                options: &[DELETE],
                body: Some((meta(DELETE), false)),
                codes: &[OK, ACCEPTED],
                answer: Some(if returns { self.object.clone() } else { meta("Status") }),
            },
        )
    }

    /// Builds the deprecated operations that only watch.
    fn watches(&self) -> Vec<Route> {
        let def = self.def;
        let instead = "deprecated: use the 'watch' parameter with a list operation instead";
        let watch = |path: String, suffix: &str, action, description| {
            let mut route = self.route(
                self.path(&format!("watch/{path}")),
                "get",
                suffix,
                Details {
                    action,
                    verb: "watch",
                    description,
                    options: &[LIST],
                    body: None,
                    codes: &[OK],
                    answer: Some(meta("WatchEvent")),
                },
            );
            route.produces.extend(STREAMS);
            route
        };
        let list = format!("watch individual changes to a list of {}. {instead}.", def.kind);
        let one = format!(
            "watch changes to an object of kind {}. {instead}, filtered to a single item with the 'fieldSelector' \
             parameter.",
            def.kind
        );
        let mut out = vec![
            watch(self.collection.clone(), "List", "watchlist", list.clone()),
            watch(format!("{}/{{name}}", self.collection), "", "watch", one),
        ];
        if def.namespaced {
            out.push(watch(def.plural.clone(), "ListForAllNamespaces", "watchlist", list));
        }
        out
    }

    /// Builds the operations that connect a client with a container or another server.
    fn connections(&self, path: &str, verbs: &[&str]) -> Vec<Route> {
        let proxied = verbs.contains(&"update");
        let methods = if proxied { PROXIED } else { &["GET", "POST"] };
        let connect = |path: &str, suffix: &str, method: &str| {
            let verb = format!("connect{}", capitalized(&method.to_lowercase()));
            let mut route = self.route(
                path.to_owned(),
                method,
                suffix,
                Details {
                    action: "connect",
                    verb: &verb,
                    description: format!("connect {method} requests to {} of {}", self.part, self.def.kind),
                    options: &[],
                    body: None,
                    codes: &[OK],
                    answer: None,
                },
            );
            route.parameters.retain(|known| known.place == "path");
            let options = OPTIONS.get(self.part_kind.as_str()).into_iter().flatten();
            route.parameters.extend(options.map(Query::parameter));
            route.produces = ANY.to_vec();
            route
        };
        let mut out: Vec<Route> = methods.iter().map(|method| connect(path, "", method)).collect();
        if proxied {
            let below = format!("{path}/{{path}}");
            out.extend(methods.iter().map(|method| connect(&below, "WithPath", method)));
        }
        out
    }

    fn route(&self, path: String, method: &str, suffix: &str, details: Details<'_>) -> Route {
        let def = self.def;
        let in_path = [
            ("name", format!("name of the {}", self.part_kind).into()),
            ("namespace", "object name and auth scope, such as for teams and projects".into()),
            ("path", "path to the resource".into()),
        ];
        let in_path = in_path.into_iter().filter(|(name, _)| path.contains(&format!("{{{name}}}")));
        let in_path =
            in_path.map(|(name, description)| Parameter { name, place: "path", kind: "string", description });
        let options =
            ["*"].iter().chain(details.options).filter_map(|options| OPTIONS.get(options)).flatten();
        let parameters = in_path.chain(options.map(Query::parameter)).collect();
        let scope = if def.namespaced && !suffix.ends_with("ForAllNamespaces") { "Namespaced" } else { "" };
        let (consumes, produces) = if def.is_custom() { (TEXTS, TEXTS) } else { (ANY, OBJECT_TYPES) };
        Route {
            operation: format!("{}{scope}{}{}{suffix}", details.verb, def.kind, capitalized(self.part)),
            path,
            method: method.to_lowercase(),
            description: details.description,
            parameters,
            consumes: consumes.to_vec(),
            produces: produces.to_vec(),
            body: details.body,
            codes: details.codes,
            answer: details.answer,
            action: Some(details.action),
            kind: Some(self.kind.clone()),
        }
    }
}

impl Query {
    fn parameter(&'static self) -> Parameter {
        let description = Cow::Borrowed(self.description.as_str());
        Parameter { name: self.name, place: "query", kind: self.kind, description }
    }
}

/// Returns the article of a kind between spaces (`GetArticleForNoun` of apiserver's endpoints).
fn article(kind: &str) -> &'static str {
    if kind.ends_with('s') && !kind.ends_with("ss") {
        " "
    } else if kind.starts_with(|first: char| "aeiou".contains(first.to_ascii_lowercase())) {
        " an "
    } else {
        " a "
    }
}
