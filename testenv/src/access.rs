//! Access reviews: everybody may do everything here.

use http::Method;
use http::request::Parts;
use serde_json::{Value, json};

use crate::http::decode;
use crate::http::path::ResourcePath;
use crate::http::reply::Reply;
use crate::status::{ApiError, ApiResult};

/// The user that requests without a name of their own come from.
const USER: &str = "kubesmith-testenv";

/// Who sends requests, as `authentication.k8s.io` describes users.
pub(crate) fn user_info() -> Value {
    json!({"username": USER, "groups": ["system:masters", "system:authenticated"]})
}

/// Answers a review; `None` when the path names something else.
pub(crate) fn review(path: &ResourcePath, parts: &Parts, body: &[u8]) -> Option<ApiResult<Reply>> {
    let kind = match (path.group.as_str(), path.version.as_str(), path.resource.as_str()) {
        ("authorization.k8s.io", "v1", "selfsubjectaccessreviews") => "SelfSubjectAccessReview",
        ("authorization.k8s.io", "v1", "subjectaccessreviews") => "SubjectAccessReview",
        ("authorization.k8s.io", "v1", "localsubjectaccessreviews") => "LocalSubjectAccessReview",
        ("authorization.k8s.io", "v1", "selfsubjectrulesreviews") => "SelfSubjectRulesReview",
        ("authentication.k8s.io", "v1", "selfsubjectreviews") => "SelfSubjectReview",
        _ => return None,
    };
    if parts.method != Method::POST || !path.name.is_empty() {
        return Some(Err(ApiError::method_not_allowed()));
    }
    Some(answer(path, kind, body))
}

fn answer(path: &ResourcePath, kind: &str, body: &[u8]) -> ApiResult<Reply> {
    // The answer does not depend on the question, so a body in protobuf need not be read.
    let body = if body.starts_with(b"k8s\0") { b"{}" } else { body };
    let mut review = decode::json(body).or_else(|_| decode::yaml(body)).map_err(ApiError::bad_request)?.value;
    if !review.is_object() {
        return Err(ApiError::bad_request("the body is no object"));
    }
    let all = json!(["*"]);
    review["kind"] = Value::from(kind);
    review["apiVersion"] = Value::from(format!("{}/{}", path.group, path.version));
    review["status"] = match kind {
        "SelfSubjectReview" => {
            json!({"userInfo": user_info()})
        }
        "SelfSubjectRulesReview" => json!({
            "resourceRules": [{"verbs": all, "apiGroups": all, "resources": all}],
            "nonResourceRules": [{"verbs": all, "nonResourceURLs": all}], "incomplete": false,
        }),
        _ => json!({"allowed": true}),
    };
    crate::meta::map_at(&mut review, "metadata");
    Ok(Reply::json(201, &review))
}
