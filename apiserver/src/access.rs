//! Access reviews: everybody may do everything here.

use http::Method;
use http::header::AUTHORIZATION;
use http::request::Parts;
use serde_json::{Value, json};

use crate::http::path::ResourcePath;
use crate::http::reply::Reply;
use crate::http::{decode, protobuf};
use crate::server::{Origin, Server};
use crate::status::{ApiError, ApiResult};
use crate::tokens;

/// The user that requests without a name of their own come from.
const USER: &str = "kubesmith-testenv";

/// Who sends requests that carry no token of a user.
fn user_info() -> Value {
    json!({"username": USER, "groups": ["system:masters", "system:authenticated"]})
}

/// The user that a request acts for: the one whose token it carries, or whom it impersonates.
///
/// # Errors
/// `Unauthorized` when the request came over a listener that asks for a token and has none that is good.
pub(crate) fn user(server: &Server, parts: &Parts) -> ApiResult<Value> {
    let given = parts.headers.get(AUTHORIZATION).and_then(|v| v.to_str().ok());
    let given = given.and_then(|v| v.strip_prefix("Bearer ")).map(str::trim);
    let own = parts.extensions.get::<Origin>().and_then(|origin| origin.token.clone());
    let user = match (given, own) {
        (Some(given), Some(own)) if given == &*own => user_info(),
        (Some(given), own) => match tokens::user(server, given) {
            Some(user) => user,
            None if own.is_none() => user_info(),
            None => return Err(ApiError::unauthorized()),
        },
        (None, None) => user_info(),
        (None, Some(_)) => return Err(ApiError::unauthorized()),
    };
    Ok(impersonated(parts).unwrap_or(user))
}

/// Everybody may act for everybody.
fn impersonated(parts: &Parts) -> Option<Value> {
    let name = parts.headers.get("impersonate-user")?.to_str().ok()?;
    let groups = parts.headers.get_all("impersonate-group").iter().filter_map(|v| v.to_str().ok());
    let mut groups: Vec<&str> = groups.collect();
    if !groups.contains(&"system:authenticated") {
        groups.push("system:authenticated");
    }
    Some(json!({"username": name, "groups": groups}))
}

/// Answers a review; `None` when the path names something else.
pub(crate) fn review(
    server: &Server,
    user: &Value,
    path: &ResourcePath,
    parts: &Parts,
    body: &[u8],
) -> Option<ApiResult<Reply>> {
    let kind = match (path.group.as_str(), path.version.as_str(), path.resource.as_str()) {
        ("authorization.k8s.io", "v1", "selfsubjectaccessreviews") => "SelfSubjectAccessReview",
        ("authorization.k8s.io", "v1", "subjectaccessreviews") => "SubjectAccessReview",
        ("authorization.k8s.io", "v1", "localsubjectaccessreviews") => "LocalSubjectAccessReview",
        ("authorization.k8s.io", "v1", "selfsubjectrulesreviews") => "SelfSubjectRulesReview",
        ("authentication.k8s.io", "v1", "selfsubjectreviews") => "SelfSubjectReview",
        ("authentication.k8s.io", "v1", "tokenreviews") => "TokenReview",
        _ => return None,
    };
    if parts.method != Method::POST || !path.name.is_empty() {
        return Some(Err(ApiError::method_not_allowed()));
    }
    Some(answer(server, user, path, kind, body))
}

fn answer(server: &Server, user: &Value, path: &ResourcePath, kind: &str, body: &[u8]) -> ApiResult<Reply> {
    let mut review = match body.starts_with(protobuf::MAGIC) {
        true => protobuf::decode(body).map_err(ApiError::bad_request)?,
        false => decode::json(body).or_else(|_| decode::yaml(body)).map_err(ApiError::bad_request)?.value,
    };
    if !review.is_object() {
        return Err(ApiError::bad_request("the body is no object"));
    }
    let all = json!(["*"]);
    review["kind"] = Value::from(kind);
    review["apiVersion"] = Value::from(format!("{}/{}", path.group, path.version));
    review["status"] = match kind {
        "SelfSubjectReview" => json!({"userInfo": user}),
        "TokenReview" => match tokens::user(server, review["spec"]["token"].as_str().unwrap_or_default()) {
            Some(user) => json!({"authenticated": true, "user": user, "audiences": [tokens::ISSUER]}),
            None => json!({"user": {}, "error": "invalid bearer token"}),
        },
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{"verbs": all, "apiGroups": all, "resources": all}],
            "nonResourceRules": [{"verbs": all, "nonResourceURLs": all}], "incomplete": false,
        }),
        _ => json!({"allowed": true}),
    };
    crate::meta::map_at(&mut review, "metadata");
    Ok(Reply::json(201, &review))
}
