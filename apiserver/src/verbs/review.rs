//! Reviews: queries about users and rights, which are not stored.
//!
//! kube-apiserver's pkg/registry/authorization and pkg/registry/authentication.

mod selectors;

use serde_json::{Value, json};

use crate::access::{Attributes, AuthorizationMode, Resource, Target};
use crate::authentication;
use crate::authorization;
use crate::bodies::{self, identity};
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::{encode, managed, meta, tokens, types};

/// The fields that clients cannot set (`WipeObjectMetaSystemFields` of apiserver's pkg/registry/rest/meta.go).
const SYSTEM_FIELDS: [&str; 5] =
    ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "selfLink"];

/// Evaluates a review.
pub(super) async fn create(call: &Call<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let decoded = bodies::read_object(call)?;
    let mut review = decoded.value;
    identity::check(call, &mut review)?;
    bodies::settle_fields(call, &mut review, &decoded.duplicates, &options)?;
    bodies::check_place(call, &mut review, "")?;
    meta::map_at(&mut review, "metadata");
    for field in SYSTEM_FIELDS {
        meta::remove(&mut review, field);
    }
    managed::updated(call, None, &mut review, &options).await;
    let status = answer(call, &review)?;
    review["status"] = status;
    if call.def.kind == "SelfSubjectReview" {
        // `Create` of pkg/registry/authentication/selfsubjectreview.
        review["metadata"] = json!({"creationTimestamp": call.server.now()});
    }
    if call.def.kind == "SelfSubjectRulesReview" {
        // The response is a new review (`Create` of pkg/registry/authorization/selfsubjectrulesreview).
        review["metadata"] = json!({});
        review["spec"] = json!({});
    }
    Ok(Reply::value(201, &review, call.accepted.form))
}

fn answer(call: &Call<'_>, review: &Value) -> ApiResult<Value> {
    let spec = &review["spec"];
    match call.def.kind.as_str() {
        "SelfSubjectReview" => Ok(json!({"userInfo": call.user})),
        "TokenReview" => token(call, spec),
        "SelfSubjectRulesReview" => rules(call, spec),
        "SelfSubjectAccessReview" => {
            check(review, Vec::new(), Vec::new())?;
            Ok(access(call, &call.user, spec))
        }
        kind => {
            let nobody = spec["user"].as_str().unwrap_or_default().is_empty()
                && spec["groups"].as_array().is_none_or(Vec::is_empty);
            let mut causes = Vec::new();
            if nobody {
                let text = "at least one of user or group must be specified";
                causes.push(Cause::invalid("spec.user", "\"\"", text));
            }
            let is_local = kind == "LocalSubjectAccessReview";
            if is_local && call.path.empty_namespace {
                return Err(ApiError::bad_request("namespace is required on this type: "));
            }
            check(review, causes, if is_local { local_causes(call, spec) } else { Vec::new() })?;
            let user = json!({"username": spec["user"], "groups": spec["groups"], "uid": spec["uid"],
                              "extra": spec["extra"]});
            Ok(access(call, &user, spec))
        }
    }
}

/// `ValidateSubjectAccessReview` of pkg/apis/authorization/validation, with the faults of the user and those of a local
/// review.
fn check(review: &Value, user: Vec<Cause>, local: Vec<Cause>) -> ApiResult<()> {
    let spec = &review["spec"];
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let mut causes = Vec::new();
    if !resource.is_null() && !path.is_null() {
        // The fields are those of Go's internal type, which has no JSON names.
        let shown = json!({"Path": meta::member(path, "path"), "Verb": meta::member(path, "verb")});
        let text = "cannot be specified in combination with resourceAttributes";
        causes.push(Cause::invalid("spec.nonResourceAttributes", shown, text));
    }
    if resource.is_null() && path.is_null() {
        let text = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        causes.push(Cause::invalid("spec.resourceAttributes", "null", text));
    }
    causes.extend(user);
    causes.extend(selectors::check(resource));
    causes.extend(check_metadata(review));
    causes.extend(local);
    if causes.is_empty() {
        return Ok(());
    }
    // kube-apiserver omits the kind here.
    Err(ApiError::invalid(ErrorSubject::new("authorization.k8s.io", "", ""), causes))
}

/// Checks that the metadata of a review is empty, except for the namespace of a local one.
fn check_metadata(review: &Value) -> Option<Cause> {
    let is_local = review["kind"] == "LocalSubjectAccessReview";
    let may_have = |name: &String| name == "managedFields" || (is_local && name == "namespace");
    if review["metadata"].as_object().into_iter().flatten().all(|(name, _)| may_have(name)) {
        return None;
    }
    let shown = types::find("meta.ObjectMeta")
        .map_or(Value::Null.to_string(), |of| encode::message(&review["metadata"], of));
    let text = if is_local { "must be empty except for namespace" } else { "must be empty" };
    Some(Cause::invalid("metadata", shown, text))
}

fn local_causes(call: &Call<'_>, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let asked = meta::member(&spec["resourceAttributes"], "namespace");
    if !spec["resourceAttributes"].is_null() && asked != call.path.namespace {
        let quoted = format!("{asked:?}");
        causes.push(Cause::invalid(
            "spec.resourceAttributes.namespace",
            quoted,
            "must match metadata.namespace",
        ));
    }
    if !spec["nonResourceAttributes"].is_null() {
        let path = &spec["nonResourceAttributes"];
        let shown = json!({"Path": meta::member(path, "path"), "Verb": meta::member(path, "verb")});
        causes.push(Cause::invalid(
            "spec.nonResourceAttributes",
            shown,
            "disallowed on this kind of request",
        ));
    }
    causes
}

/// Returns the status of an access review.
fn access(call: &Call<'_>, user: &Value, spec: &Value) -> Value {
    let on = match &spec["resourceAttributes"] {
        Value::Null => Target::Path(meta::member(&spec["nonResourceAttributes"], "path")),
        on => Target::Resource(Resource {
            group: meta::member(on, "group"),
            resource: meta::member(on, "resource"),
            subresource: meta::member(on, "subresource"),
            namespace: meta::member(on, "namespace"),
            name: meta::member(on, "name"),
        }),
    };
    let asked =
        if spec["resourceAttributes"].is_null() { "nonResourceAttributes" } else { "resourceAttributes" };
    let attributes = Attributes { user, verb: meta::member(&spec[asked], "verb"), target: on };
    let decision = authorization::decide(&call.server, &attributes);
    let mut status = json!({"allowed": decision.is_allowed()});
    if !decision.reason().is_empty() {
        status["reason"] = decision.reason().into();
    }
    let error = selectors::evaluation_error(&spec["resourceAttributes"]);
    if !error.is_empty() {
        status["evaluationError"] = error.into();
    }
    status
}

/// Returns the rules of the user in a namespace (pkg/registry/authorization/selfsubjectrulesreview).
fn rules(call: &Call<'_>, spec: &Value) -> ApiResult<Value> {
    let namespace = meta::member(spec, "namespace");
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let all = json!(["*"]);
    let (rules, fault) = match call.server.options().authorization {
        AuthorizationMode::AlwaysAllow => (
            vec![
                json!({"verbs": all, "apiGroups": all, "resources": all}),
                json!({"verbs": all, "nonResourceURLs": all}),
            ],
            String::new(),
        ),
        AuthorizationMode::Rbac => {
            authorization::rules_of(&call.server, &call.user, namespace, authorization::Reader::Lister)
        }
    };
    let of = |field: &str, kept: &[&str]| -> Vec<Value> {
        let rules = rules.iter().filter(|rule| rule[field].as_array().is_some_and(|list| !list.is_empty()));
        let keep = |rule: &Value| {
            let pairs = kept.iter().filter(|key| !rule[**key].is_null());
            pairs.map(|key| ((*key).to_owned(), rule[*key].clone())).collect()
        };
        rules.map(|rule| Value::Object(keep(rule))).collect()
    };
    let mut status = json!({
        "resourceRules": of("resources", &["verbs", "apiGroups", "resources", "resourceNames"]),
        "nonResourceRules": of("nonResourceURLs", &["verbs", "nonResourceURLs"]),
        "incomplete": false,
    });
    if !fault.is_empty() {
        status["evaluationError"] = fault.into();
    }
    Ok(status)
}

/// Returns the user of a token, if the token is for one of the requested audiences.
fn token(call: &Call<'_>, spec: &Value) -> ApiResult<Value> {
    let given = meta::member(spec, "token");
    if given.is_empty() {
        return Err(ApiError::bad_request("token is required for TokenReview in authentication"));
    }
    let asked = meta::strings(&spec["audiences"]);
    let asked = if asked.is_empty() { vec![tokens::ISSUER] } else { asked };
    let own = call.own_token.as_deref();
    let Some((user, audiences)) = authentication::reviewed(&call.server, own, given) else {
        return Ok(json!({"user": {}, "error": "invalid bearer token"}));
    };
    let shared: Vec<&str> =
        asked.iter().copied().filter(|asked| audiences.iter().any(|own| own == asked)).collect();
    if shared.is_empty() {
        let error = format!(
            "[invalid bearer token, token audiences {audiences:?} is invalid for the target audiences {asked:?}]"
        );
        return Ok(json!({"user": {}, "error": error.replace(", \"", " \"")}));
    }
    Ok(json!({"authenticated": true, "user": user, "audiences": shared}))
}
