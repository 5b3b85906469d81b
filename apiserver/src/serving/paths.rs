//! Paths other than those of resources and discovery.

use ::http::Method;
use ::http::request::Parts;
use serde_json::{Value, json};

use crate::access::AuthorizationMode;
use crate::discovery::check_route;
use crate::features::MINOR;
use crate::http::negotiate;
use crate::http::query::Query;
use crate::http::reply::Reply;
use crate::registry::Registry;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};
use crate::{metrics, openapi, tokens};

/// Whether everybody may see a path, with or without credentials. With roles, only reads of whole checks are for everybody:
/// the role `system:public-info-viewer`.
pub(super) fn is_public(path: &str, method: &Method, mode: AuthorizationMode) -> bool {
    if mode == AuthorizationMode::Rbac {
        return *method == Method::GET && (path == "/version" || HEALTH.contains(&path));
    }
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    matches!(first, "version" | "healthz" | "livez" | "readyz")
}

/// The response to a path that begins with a verb and names nothing: kube-apiserver's filter for it fails.
pub(super) fn no_request_info(parts: &Parts) -> Reply {
    let uri = parts.uri.path_and_query().map_or_else(|| parts.uri.path(), |path| path.as_str());
    let why = "failed to create RequestInfo: unable to determine kind and namespace from url";
    Reply::text(500, format!("Internal Server Error: {uri:?}: {why}, {uri}\n"))
}

/// Handles the request of a path.
pub(super) fn answer(server: &Server, path: &str, parts: &Parts) -> ApiResult<Reply> {
    let json = negotiate::Form::Json.media_type();
    match path {
        // These are routes of go-restful, the others handlers of exact paths that take any method.
        "/version" => check_route(parts, &[json]).map(|()| Reply::json(200, &version())),
        "/.well-known/openid-configuration" => {
            check_route(parts, &[json]).map(|()| Reply::json(200, &tokens::configuration()))
        }
        "/openid/v1/jwks" => check_route(parts, &[KEYS]).map(|()| Reply::typed(KEYS, &json!({"keys": []}))),
        "/" => Ok(Reply::json(200, &json!({"paths": root_paths(&server.registry())}))),
        // kube-aggregator has a handler for what is below.
        "/openapi/v3" if parts.uri.path().ends_with('/') => Ok(Reply::empty(404)),
        _ if parts.uri.path().ends_with('/') => Err(ApiError::NoSuchPath),
        "/metrics" => Ok(Reply::text_of(metrics::CONTENT_TYPE, metrics::text(server))),
        "/metrics/slis" => Ok(Reply::text_of(metrics::CONTENT_TYPE, metrics::health())),
        path if is_health(path) => Ok(health(path, parts.uri.query().unwrap_or_default())),
        path => openapi::answer(server, path, parts),
    }
}

/// The only media type of keys.
const KEYS: &str = "application/jwk-set+json";

/// The paths that `/` lists.
fn root_paths(registry: &Registry) -> Vec<String> {
    let mut paths = vec!["/.well-known/openid-configuration".to_owned()];
    paths.extend(["/api", "/api/v1", "/apis", "/apis/"].map(str::to_owned));
    for (group, versions) in registry.groups().iter().filter(|(group, _)| !group.is_empty()) {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    let rest = [
        "/healthz",
        "/livez",
        "/metrics",
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
    ];
    paths.extend(rest.into_iter().chain(["/readyz", "/version"]).map(str::to_owned));
    paths
}

const HEALTH: [&str; 3] = ["/healthz", "/livez", "/readyz"];

/// Whether this is the path of all checks, or of one that kube-apiserver has.
fn is_health(path: &str) -> bool {
    let rest = HEALTH.iter().find_map(|all| path.strip_prefix(all).map(|rest| (*all, rest)));
    match rest {
        Some((_, "" | "/ping" | "/log" | "/etcd")) => true,
        Some(("/readyz", "/etcd-readiness" | "/informer-sync" | "/shutdown")) => true,
        Some((_, rest)) => rest.starts_with("/poststarthook/"),
        None => false,
    }
}

/// A health check, which lists its checks if the client requests that.
fn health(path: &str, query: &str) -> Reply {
    let name = path.trim_start_matches('/');
    match Query::parse(query).has("verbose") && !name.contains('/') {
        true => Reply::text(200, format!("[+]ping ok\n[+]log ok\n[+]etcd ok\n{name} check passed\n")),
        false => Reply::text(200, "ok"),
    }
}

fn version() -> Value {
    json!({
        "major": "1", "minor": MINOR, "emulationMajor": "1", "emulationMinor": MINOR,
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": format!("v1.{MINOR}.0+kubesmith"), "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, go_arch(std::env::consts::ARCH)),
    })
}

/// Go's name of a processor.
fn go_arch(arch: &str) -> &str {
    match arch {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
