//! Authentication: the sender of a request, and the user that it acts for.

mod impersonation;

use http::header::AUTHORIZATION;
use http::request::Parts;
use serde_json::{Value, json};

use crate::access::{self, AuthorizationMode, MASTERS};
use crate::error::Error;
use crate::impersonation::wanted;
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
    json!({"username": USER, "groups": [MASTERS, AUTHENTICATED]})
}

/// Issues a certificate that authenticates a client as the server's own user.
pub(crate) fn certificate(authority: &Authority) -> Result<Pair, Error> {
    authority.client(USER, &[MASTERS.to_owned()])
}

/// Returns the user that a request acts for: the one of its token or certificate, or the user that this one
/// impersonates.
///
/// # Errors
/// Returns `Unauthorized` for an invalid token, and `Forbidden` for an impersonation that no rule allows.
pub(crate) fn user(server: &Server, parts: &Parts, request: &access::Request<'_>) -> ApiResult<Value> {
    let user = sender(server, parts)?;
    match wanted(&parts.headers)? {
        Some(wanted) => impersonation::user(server, &wanted, &request.attributes(&user)),
        None => Ok(user),
    }
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
    let decides_by_rules = server.options().authorization == AuthorizationMode::Rbac;
    match (given, own) {
        (Some(given), Some(own)) if given == &*own => Ok(own_user()),
        (Some(given), own) => match tokens::user(server, given) {
            Some(user) => Ok(user),
            None if own.is_none() && !decides_by_rules => Ok(own_user()),
            None => Err(ApiError::unauthorized()),
        },
        (None, None) => Ok(own_user()),
        // kube-apiserver's `--anonymous-auth`, which matters only if rules decide.
        (None, Some(_)) if decides_by_rules => {
            Ok(json!({"username": ANONYMOUS, "groups": [UNAUTHENTICATED]}))
        }
        (None, Some(_)) => Err(ApiError::unauthorized()),
    }
}
