//! Tokens of service accounts: pkg/registry/core/serviceaccount/storage/token.go.

use serde_json::{Value, json};

use super::run;
use crate::http::query::WriteOptions;
use crate::http::reply::Reply;
use crate::names::quoted;
use crate::server::Call;
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};
use crate::tokens::{self, Bound};
use crate::verbs::write;
use crate::{managed, meta};

/// The default lifetime of a token, in seconds.
const SECONDS: i64 = 3600;
/// The bounds of the lifetime, in seconds (`ValidateTokenRequest` of pkg/apis/authentication/validation).
const SHORTEST: i64 = 600;
const LONGEST: i64 = 1 << 32;

/// Issues a token for a service account.
pub(super) async fn create(call: &Call<'_>) -> ApiResult<Reply> {
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let request = run(call, |_, request| issued(call, request, &options).map(Some)).await?;
    Ok(Reply::value(201, &request, call.accepted.form))
}

/// Sets the default lifetime, when the request is decoded and after admission has changed it (`SetDefaults_TokenRequestSpec` of
/// pkg/apis/authentication/v1).
pub(super) fn default(request: &mut Value) {
    if request["spec"]["expirationSeconds"].is_null() {
        request["spec"]["expirationSeconds"] = SECONDS.into();
    }
}

/// Returns the request with its token.
fn issued(call: &Call<'_>, mut request: Value, options: &WriteOptions) -> ApiResult<Value> {
    default(&mut request);
    let name = meta::name(&request);
    if !name.is_empty() && name != call.path.name {
        let cause =
            Cause::invalid("metadata.name", quoted(name), "must match the service account name if specified");
        return Err(ApiError::invalid(
            ErrorSubject::new(tokens::GROUP, tokens::REQUEST, &call.path.name),
            vec![cause],
        ));
    }
    let account = &write::at_path(call)?.value;
    let (uid, of_account) = (meta::text(&request, "uid"), meta::text(account, "uid"));
    if !uid.is_empty() && uid != of_account {
        let text = format!(
            "the UID in the token request ({uid}) does not match the UID of the service account ({of_account})"
        );
        return Err(ApiError::conflict(
            ErrorSubject::new(tokens::GROUP, tokens::REQUEST, &call.path.name),
            &text,
        ));
    }
    // Only the client's fields and defaults have a manager.
    request = managed::updated_token(call, &request, options);
    let audiences = match request["spec"]["audiences"].as_array() {
        Some(audiences) if !audiences.is_empty() => json!(audiences),
        _ => json!([tokens::ISSUER]),
    };
    let seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or_default();
    check(seconds)?;
    let bound = bound(call, meta::name(account), &request["spec"]["boundObjectRef"])?;
    let signed = tokens::issue(&call.server, account, &bound, &audiences, seconds)
        .map_err(|e| ApiError::internal(e.to_string()))?;
    meta::set(&mut request, "name", call.path.name.clone());
    meta::set(&mut request, "namespace", call.path.namespace.clone());
    meta::set(&mut request, "uid", call.server.ids.uid());
    meta::set(&mut request, "creationTimestamp", call.server.now());
    request["spec"]["audiences"] = audiences;
    request["status"] = json!({"token": signed, "expirationTimestamp": call.server.later(seconds)});
    Ok(request)
}

fn check(seconds: i64) -> ApiResult<()> {
    let text = match seconds {
        ..SHORTEST => "may not specify a duration less than 10 minutes",
        SHORTEST..=LONGEST => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let about = ErrorSubject::new(tokens::GROUP, tokens::REQUEST, "");
    Err(ApiError::invalid(about, vec![Cause::invalid("spec.expirationSeconds", seconds, text)]))
}

/// Returns the object that the token is bound to, and the node of a pod.
fn bound(call: &Call<'_>, account: &str, reference: &Value) -> ApiResult<Vec<Bound>> {
    if reference.is_null() {
        return Ok(Vec::new());
    }
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let (version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
    // The version of the core group does not count (`FromAPIVersionAndKind` of apimachinery's pkg/runtime/schema).
    let group = match version.split('/').collect::<Vec<_>>().as_slice() {
        [group, _] => *group,
        _ => "",
    };
    let (claim, plural) = match (group, kind) {
        ("", "Pod") => ("pod", "pods"),
        ("", "Secret") => ("secret", "secrets"),
        ("", "Node") => ("node", "nodes"),
        _ => {
            let slash = if version.contains('/') { "" } else { "/" };
            let text = format!("cannot bind token to object of type {slash}{version}, Kind={kind}");
            return Err(ApiError::bad_request(text));
        }
    };
    let object = stored(call, plural, name)?;
    if kind == "Pod" && object["spec"]["serviceAccountName"] != account {
        let text = format!(
            "cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name."
        );
        return Err(ApiError::bad_request(text));
    }
    let uid = meta::text(&object, "uid");
    if !text("uid").is_empty() && text("uid") != uid {
        let message = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. The object might have been \
             deleted and then recreated",
            text("uid")
        );
        return Err(ApiError::conflict(ErrorSubject::new("", kind, name), &message));
    }
    let mut bound = vec![Bound { claim, name: name.to_owned(), uid: uid.to_owned() }];
    let node = object["spec"]["nodeName"].as_str().unwrap_or_default();
    if kind == "Pod" && !node.is_empty() {
        let uid = stored(call, "nodes", node).map(|node| meta::text(&node, "uid").to_owned());
        bound.push(Bound { claim: "node", name: node.to_owned(), uid: uid.unwrap_or_default() });
    }
    Ok(bound)
}

fn stored(call: &Call<'_>, plural: &str, name: &str) -> ApiResult<Value> {
    super::has_name(name)?;
    let missing = || ApiError::not_found(ErrorSubject::new("", plural, name));
    let def = call.server.registry().find("", "v1", plural).ok_or_else(missing)?;
    let object = call.server.store.get(&def.collection, &def.key(&call.path.namespace, name));
    object.map(|object| object.value.clone()).ok_or_else(missing)
}
