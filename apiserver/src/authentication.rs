//! Authentication: the sender of a request, and the user that it acts for.

use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;
use serde_json::{Map, Value, json};

use crate::authorization::{self, Attributes, AuthorizationMode, Resource, Target};
use crate::error::Error;
use crate::listen::Certified;
use crate::server::{Origin, Server};
use crate::status::{ApiError, ApiResult};
use crate::tls::{Authority, Pair};
use crate::tokens;

/// The user of requests with the server's own token, or without one where the server needs none.
const USER: &str = "kubesmith-testenv";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

fn own_user() -> Value {
    json!({"username": USER, "groups": [authorization::MASTERS, AUTHENTICATED]})
}

/// Issues a certificate that authenticates a client as the server's own user.
pub(crate) fn certificate(authority: &Authority) -> Result<Pair, Error> {
    authority.client(USER, &[authorization::MASTERS.to_owned()])
}

/// Returns the user that a request acts for: the one of its token or certificate, or the user that this one
/// impersonates.
///
/// # Errors
/// Returns `Unauthorized` for an invalid token, and `Forbidden` for an impersonation that no rule allows.
pub(crate) fn user(server: &Server, parts: &Parts) -> ApiResult<Value> {
    let user = sender(server, parts)?;
    Ok(impersonated(server, &user, &parts.headers)?.unwrap_or(user))
}

/// Checks the token of a request if it carries one.
///
/// # Errors
/// Returns `Unauthorized` for an invalid token.
pub(crate) fn check(server: &Server, parts: &Parts) -> ApiResult<()> {
    if bearer(parts).is_some() { sender(server, parts).map(drop) } else { Ok(()) }
}

/// Returns the user and the audiences of a token: the server's own token is for this server.
pub(crate) fn reviewed(server: &Server, own: Option<&str>, token: &str) -> Option<(Value, Vec<String>)> {
    if own == Some(token) {
        return Some((own_user(), vec![tokens::ISSUER.to_owned()]));
    }
    tokens::user_and_audiences(server, token)
}

fn bearer(parts: &Parts) -> Option<&str> {
    let given = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    given.strip_prefix("Bearer ").map(str::trim)
}

fn sender(server: &Server, parts: &Parts) -> ApiResult<Value> {
    let given = bearer(parts);
    let own = parts.extensions.get::<Origin>().and_then(|origin| origin.token.clone());
    let certified = parts.extensions.get::<Certified>().filter(|_| given.is_none());
    if let Some(Certified(subject)) = certified {
        let groups: Vec<&str> = subject.groups.iter().map(String::as_str).chain([AUTHENTICATED]).collect();
        return Ok(json!({"username": subject.name, "groups": groups}));
    }
    match (given, own) {
        (Some(given), Some(own)) if given == &*own => Ok(own_user()),
        (Some(given), own) => match tokens::user(server, given) {
            Some(user) => Ok(user),
            None if own.is_none() => Ok(own_user()),
            None => Err(ApiError::unauthorized()),
        },
        (None, None) => Ok(own_user()),
        // kube-apiserver's `--anonymous-auth`, which matters only if rules decide.
        (None, Some(_)) if server.options().authorization == AuthorizationMode::Rbac => {
            Ok(json!({"username": ANONYMOUS, "groups": [UNAUTHENTICATED]}))
        }
        (None, Some(_)) => Err(ApiError::unauthorized()),
    }
}

/// The user in the impersonation headers (`WithImpersonation` of apiserver/pkg/endpoints/filters/impersonation.go).
fn impersonated(server: &Server, user: &Value, headers: &HeaderMap) -> ApiResult<Option<Value>> {
    let all = |name: &str| headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).collect::<Vec<_>>();
    let (names, groups, uids) = (all("impersonate-user"), all("impersonate-group"), all("impersonate-uid"));
    let extra = extra(headers);
    let Some(name) = names.first().filter(|name| !name.is_empty()) else {
        if groups.is_empty() && uids.is_empty() && extra.is_empty() {
            return Ok(None);
        }
        let asked: Vec<String> = groups.iter().map(|group| format!("{{Group  {group}    }}")).collect();
        let text = format!("requested [{}] without impersonating a user", asked.join(" "));
        return Err(ApiError::internal_of(text));
    };
    let may = |on: Resource<'_>| {
        let attributes = Attributes { user, verb: "impersonate", target: Target::Resource(on) };
        authorization::authorize(server, &attributes)
    };
    let account = account(name);
    may(match account {
        Some((namespace, name)) => {
            Resource { resource: "serviceaccounts", namespace, name, ..Resource::default() }
        }
        None => Resource { resource: "users", name, ..Resource::default() },
    })?;
    for &name in &groups {
        may(Resource { resource: "groups", name, ..Resource::default() })?;
    }
    let group = "authentication.k8s.io";
    for (key, values) in &extra {
        for name in crate::meta::strings(values) {
            may(Resource { group, resource: "userextras", subresource: key, namespace: "", name })?;
        }
    }
    for &name in &uids {
        may(Resource { group, resource: "uids", name, ..Resource::default() })?;
    }
    let mut acting = json!({"username": name, "groups": with_implied(name, &groups, account)});
    if let Some(uid) = uids.first() {
        acting["uid"] = (*uid).into();
    }
    if !extra.is_empty() {
        acting["extra"] = Value::Object(extra);
    }
    Ok(Some(acting))
}

/// Returns the requested groups and those that the user's name implies.
fn with_implied(name: &str, asked: &[&str], account: Option<(&str, &str)>) -> Vec<String> {
    let mut groups: Vec<String> = asked.iter().map(|group| (*group).to_owned()).collect();
    if let Some((namespace, _)) = account.filter(|_| asked.is_empty()) {
        groups.extend(["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]);
    }
    let implied = if name == ANONYMOUS { UNAUTHENTICATED } else { AUTHENTICATED };
    if !groups.iter().any(|group| group == AUTHENTICATED || group == UNAUTHENTICATED) {
        groups.push(implied.to_owned());
    }
    groups
}

/// Namespace and name of the service account whose user name this is.
fn account(name: &str) -> Option<(&str, &str)> {
    let (namespace, name) = name.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

/// `Impersonate-Extra-KEY` headers by key, which is in lower case and percent-encoded.
fn extra(headers: &HeaderMap) -> Map<String, Value> {
    let mut extra = Map::new();
    for (header, value) in headers {
        let Some(key) = header.as_str().strip_prefix("impersonate-extra-") else { continue };
        let key = crate::http::path::decode(key).unwrap_or_else(|| key.to_owned());
        if let (Ok(value), Some(values)) =
            (value.to_str(), extra.entry(key).or_insert_with(|| json!([])).as_array_mut())
        {
            values.push(value.into());
        }
    }
    extra
}
