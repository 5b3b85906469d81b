//! The operations of resources and of discovery, as the installer of apiserver's endpoints (`pkg/endpoints/installer.go`),
//! its discovery handlers (`pkg/endpoints/discovery`) and apiextensions' builder (`pkg/controller/openapi/builder`)
//! register them with go-restful.

use serde_json::Value;

use super::route::{Parameter, Route, parameters};
use super::{META, builtin, capitalized, custom_name, gvk, gvk_of};
use crate::discovery::{self, Subresource};
use crate::http::negotiate::{self, OBJECT_TYPES};
use crate::registry::{Behaviour, ResourceDef};

const LIST: &str = "ListOptions";
const CREATE: &str = "CreateOptions";
const DELETE: &str = "DeleteOptions";
const ANY: &[&str] = &["*/*"];
const TEXTS: &[&str] = &["application/json", "application/yaml"];
const STREAMS: &[&str] =
    &["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const PROXIED: &[&str] = &["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH"];

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

/// The differences between operations of a resource.
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
            route.parameters.extend(parameters(&self.part_kind));
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
        let options = ["*"].iter().chain(details.options).flat_map(|options| parameters(options));
        let parameters = in_path.chain(options).collect();
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
