use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::webhook::{FieldError, FieldErrors, FieldPath, Patch};

/// A call about pods or maps; `extra` is put into the request.
fn call(operation: &str, extra: Value) -> AdmissionContext {
    let mut request = json!({
        "uid": "u", "operation": operation, "name": "a", "namespace": "default",
        "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
        "resource": {"group": "", "version": "v1", "resource": "configmaps"},
        "userInfo": {"username": "jane"},
    });
    if let (Value::Object(request), Value::Object(extra)) = (&mut request, extra) {
        request.extend(extra);
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    AdmissionContext::new(serde_json::from_value(request).unwrap(), deadline)
}

fn map(extra: Value) -> Value {
    let mut map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    if let (Value::Object(map), Value::Object(extra)) = (&mut map, extra) {
        map.extend(extra);
    }
    map
}

fn patch(value: Value) -> Patch {
    serde_json::from_value(value).unwrap()
}

/// Says who made a map, and refuses maps without data.
struct By;

impl Defaulter<ConfigMap> for By {
    async fn default(&self, ctx: &AdmissionContext, map: &mut ConfigMap) -> Result<(), AdmissionError> {
        let Some(data) = &mut map.data else { return Err(io::Error::other("no data").into()) };
        data.insert("by".to_owned(), ctx.user().username.clone().unwrap_or_default());
        Ok(())
    }
}

#[tokio::test]
async fn defaulter_patches_only_its_changes() {
    // Neither the field that the type does not know nor the empty binaryData goes.
    let raw = map(json!({"data": {"x": "y"}, "unknown": {"k": 1}, "binaryData": {}}));
    let ctx = call("CREATE", json!({"object": raw}));
    let handler = Defaulting::<ConfigMap, _>::new(By);
    let response = AdmissionHandler::handle(&handler, &ctx).await;
    let added = json!([{"op": "add", "path": "/data/by", "value": "jane"}]);
    assert_eq!((response.allowed, response.patch), (true, patch(added.clone())));
    let handler = handler.removing_unknown_fields();
    let response = AdmissionHandler::handle(&handler, &ctx).await;
    let mut removing = added.as_array().unwrap().clone();
    removing.push(json!({"op": "remove", "path": "/unknown"}));
    assert_eq!(response.patch, patch(json!(removing)));
}

#[tokio::test]
async fn defaulter_without_changes_has_an_empty_patch() {
    let raw = map(json!({"data": {"by": "jane"}, "unknown": 1}));
    let ctx = call("UPDATE", json!({"object": raw, "oldObject": raw}));
    let response = AdmissionHandler::handle(&Defaulting::<ConfigMap, _>::new(By), &ctx).await;
    assert_eq!(response, AdmissionResponse::allowed());
}

#[tokio::test]
async fn defaulter_error_refuses_and_deletions_are_allowed() {
    let handler = Defaulting::<ConfigMap, _>::new(By);
    for (operation, request, code, text) in [
        ("DELETE", json!({"oldObject": map(json!({}))}), 200, ""),
        ("CREATE", json!({"object": map(json!({}))}), 403, "no data"),
        ("CREATE", json!({}), 400, "the request has no object to set defaults on"),
        ("CREATE", json!({"object": null}), 400, "the request has no object to set defaults on"),
        (
            "CREATE",
            json!({"object": {"apiVersion": "v1", "kind": "Pod"}}),
            400,
            "expected an object of v1, Kind=ConfigMap, got one of v1, Kind=Pod; check the rules of the webhook",
        ),
    ] {
        let response = AdmissionHandler::handle(&handler, &call(operation, request)).await;
        assert_eq!((response.status.code, response.status.message.as_str()), (code, text));
        assert_eq!(response.allowed, code == 200);
    }
}

/// Notes what it is asked; maps must not lose data.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<String>>>);

impl Noting {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

fn text(map: &ConfigMap) -> String {
    map.data.iter().flatten().map(|(_, value)| value.as_str()).collect()
}

impl Validator<ConfigMap> for Noting {
    async fn validate_create(
        &self,
        _: &AdmissionContext,
        map: &ConfigMap,
    ) -> Result<Warnings, AdmissionError> {
        self.note(&format!("create {}", text(map)));
        Ok(vec!["careful".to_owned()])
    }

    async fn validate_update(
        &self,
        _: &AdmissionContext,
        old: &ConfigMap,
        new: &ConfigMap,
    ) -> Result<Warnings, AdmissionError> {
        self.note(&format!("update {} {}", text(old), text(new)));
        let mut errors = FieldErrors::new();
        if new.data.is_none() {
            errors.push(FieldError::required(FieldPath::new("data"), ""));
        }
        let lost = |errors| AdmissionError::from(errors).with_warnings(["lost".to_owned()]);
        errors.into_result().map_err(lost)?;
        Ok(Warnings::new())
    }

    async fn validate_delete(
        &self,
        _: &AdmissionContext,
        map: &ConfigMap,
    ) -> Result<Warnings, AdmissionError> {
        self.note(&format!("delete {}", text(map)));
        Err(AdmissionError::denied("it stays"))
    }
}

#[tokio::test]
async fn validator_is_called_by_operation() {
    let validator = Noting::default();
    let log = validator.0.clone();
    let handler = Validating::<ConfigMap, _>::new(validator);
    let (one, two, none) =
        (map(json!({"data": {"k": "1"}})), map(json!({"data": {"k": "2"}})), map(json!({})));
    for (operation, request, code, warnings) in [
        ("CREATE", json!({"object": one}), 200, &["careful"][..]),
        ("UPDATE", json!({"object": two, "oldObject": one}), 200, &[]),
        ("UPDATE", json!({"object": none, "oldObject": one}), 422, &["lost"]),
        ("DELETE", json!({"oldObject": one}), 403, &[]),
        ("CONNECT", json!({}), 200, &[]),
        ("CREATE", json!({"oldObject": one}), 400, &[]),
        ("UPDATE", json!({"object": one}), 400, &[]),
        ("DELETE", json!({"object": one}), 400, &[]),
    ] {
        let response = AdmissionHandler::handle(&handler, &call(operation, request)).await;
        assert_eq!(
            (response.status.code, &response.warnings[..]),
            (code, &warnings.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>()[..])
        );
    }
    assert_eq!(*log.lock().unwrap(), ["create 1", "update 1 2", "update 1 ", "delete 1"]);
}

struct Quiet;

impl Validator<Pod> for Quiet {
    async fn validate_create(&self, _: &AdmissionContext, _: &Pod) -> Result<Warnings, AdmissionError> {
        Ok(Warnings::new())
    }

    async fn validate_update(
        &self,
        _: &AdmissionContext,
        _: &Pod,
        _: &Pod,
    ) -> Result<Warnings, AdmissionError> {
        Ok(Warnings::new())
    }
}

#[tokio::test]
async fn deletions_are_allowed_unless_the_validator_checks_them() {
    let ctx = call("DELETE", json!({"oldObject": {"apiVersion": "v1", "kind": "Pod"}}));
    assert!(AdmissionHandler::handle(&Validating::<Pod, _>::new(Quiet), &ctx).await.allowed);
}

fn adding(key: &'static str) -> impl AdmissionHandler {
    admission_fn(move |ctx: AdmissionContext| async move {
        let object = ctx.request().object.as_ref().unwrap().to_value().unwrap();
        let mut next = object.clone();
        next["data"][key] = json!(object["data"].as_object().map_or(0, |data| data.len()).to_string());
        AdmissionResponse::patched_from(&object, &next)
            .with_warnings([key.to_owned()])
            .with_audit_annotation(key, "added")
    })
}

#[tokio::test]
async fn mutating_chain_collects_all_patches_in_order() {
    let raw = map(json!({}));
    let ctx = call("CREATE", json!({"object": raw}));
    let chain = Chain::mutating().then(adding("a")).then(adding("b"));
    let response = AdmissionHandler::handle(&chain, &ctx).await;
    let mut object = raw.clone();
    json_patch::patch(&mut object, &response.patch).unwrap();
    assert_eq!(object["data"], json!({"a": "0", "b": "1"}), "the second saw what the first did");
    assert_eq!(response.warnings, ["a", "b"]);
    assert_eq!(response.audit_annotations.len(), 2);
    let refusing = chain.then(admission_fn(|_| async { AdmissionResponse::denied("no") })).then(adding("c"));
    let response = AdmissionHandler::handle(&refusing, &ctx).await;
    assert_eq!((response.status.code, response.patch.len()), (403, 0));
    assert_eq!(response.warnings, ["a", "b"], "nobody is asked after the refusal");
}

#[tokio::test]
async fn invalid_patches_are_errors() {
    let wrong = || {
        admission_fn(|_| async {
            AdmissionResponse::patched(patch(json!([{"op": "remove", "path": "/none"}])))
        })
    };
    let object = json!({"object": map(json!({}))});
    for (chain, request, text) in [
        (Chain::mutating().then(wrong()), object.clone(), "does not apply"),
        (Chain::mutating().then(wrong()), json!({}), "the request has no object"),
        (Chain::validating().then(wrong()), object, "a handler of a validating chain returned a patch"),
    ] {
        let response = AdmissionHandler::handle(&chain, &call("CREATE", request)).await;
        assert_eq!(response.status.code, 500);
        assert!(response.status.message.contains(text), "{}", response.status.message);
    }
}

#[tokio::test]
async fn call_has_user_operation_and_resource() {
    let ctx = call("UPDATE", json!({"dryRun": true, "subResource": "status"}));
    assert_eq!(
        (ctx.operation(), ctx.is_dry_run(), ctx.sub_resource()),
        (Operation::Update, true, Some("status"))
    );
    assert_eq!(ctx.user().username.as_deref(), Some("jane"));
    assert_eq!(call("CREATE", json!({"subResource": ""})).sub_resource(), None);
}
