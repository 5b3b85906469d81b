//! Upgrades of definitions that other clients have written, and of those whose objects would lose fields.

use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kubesmith_runtime::crd::{Action, ChangeCode, CrdError, Outcome, Upgrade};
use serde_json::{Value, json};

use super::{create, live, server, size, version, widgets};

fn upgrade(version: &str) -> Upgrade {
    Upgrade::new("widget-operator", version)
}

async fn apply(client: &kube::Client, upgrade: Upgrade, definition: &Value) -> Result<Outcome, CrdError> {
    Ok(upgrade.apply(client, std::slice::from_ref(definition)).await?.remove(0))
}

fn definitions(client: &kube::Client) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &super::upgrade::definitions_resource())
}

#[tokio::test(start_paused = true)]
async fn field_that_a_new_storage_version_lacks_is_reported() {
    let (env, client) = server().await;
    let more = json!({"size": {"type": "integer"}, "color": {"type": "string"}});
    let stored = |alpha: bool| widgets(&[version("v1alpha1", alpha, &more), version("v1", !alpha, &size())]);
    let diverging = |version: &str| upgrade(version).allow(ChangeCode::VersionsDiverge);
    apply(&client, diverging("1.0.0"), &stored(true)).await.unwrap();
    create(&client, "v1alpha1", "a", json!({"size": 1, "color": "red"})).await;
    let refused =
        apply(&client, upgrade("1.1.0").check_objects(), &stored(false)).await.unwrap_err().to_string();
    assert!(refused.contains("field spec.color is dropped in v1; objects that use it: 1"), "{refused}");
    assert!(refused.contains("versions-diverge"), "{refused}");
    let done = apply(&client, diverging("1.1.0").check_objects(), &stored(false)).await.unwrap();
    assert_eq!((done.action, done.objects.unwrap().dropped.len()), (Action::Updated, 1));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn conversion_webhook_is_removed_with_what_others_wrote_into_it() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    let mut converted = plain.clone();
    converted["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "a", "name": "b", "path": "/convert", "port": 443}}}});
    apply(&client, upgrade("1.0.0"), &converted).await.unwrap();
    let pem = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";
    let bundle = json!(k8s_openapi::ByteString(pem.into()));
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}});
    definitions(&client).patch(super::WIDGETS, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    let dry = apply(&client, upgrade("1.1.0").dry_run(), &plain).await.unwrap();
    assert_eq!(dry.action, Action::Updated);
    assert_eq!(live(&client).await["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(apply(&client, upgrade("1.1.0"), &plain).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(apply(&client, upgrade("1.1.0"), &plain).await.unwrap().action, Action::Unchanged);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn names_are_removed_from_a_definition_that_kubectl_wrote() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    let mut named = plain.clone();
    named["spec"]["names"]["shortNames"] = json!(["wg"]);
    let kubectl =
        PostParams { field_manager: Some("kubectl-client-side-apply".to_owned()), ..PostParams::default() };
    definitions(&client).create(&kubectl, &serde_json::from_value(named).unwrap()).await.unwrap();
    let allowed = || upgrade("1.0.0").allow(ChangeCode::ShortNameRemoved);
    assert_eq!(apply(&client, allowed(), &plain).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["spec"]["names"].get("shortNames"), None);
    assert_eq!(apply(&client, allowed(), &plain).await.unwrap().action, Action::Unchanged);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changed_annotation_is_an_update() {
    let (env, client) = server().await;
    let mut wanted = widgets(&[version("v1", true, &size())]);
    apply(&client, upgrade("1.0.0"), &wanted).await.unwrap();
    wanted["metadata"]["annotations"] = json!({"cert-manager.io/inject-ca-from": "a/b"});
    assert_eq!(apply(&client, upgrade("1.0.0"), &wanted).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], "a/b");
    assert_eq!(apply(&client, upgrade("1.0.0"), &wanted).await.unwrap().action, Action::Unchanged);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unknown_field_of_a_new_definition_is_refused() {
    let (env, client) = server().await;
    let mut wanted = widgets(&[version("v1", true, &size())]);
    wanted["spec"]["versions"][0]["srved"] = json!(true);
    let error = apply(&client, upgrade("1.0.0"), &wanted).await.unwrap_err().to_string();
    assert!(error.contains("unknown field \"spec.versions[0].srved\""), "{error}");
    env.stop().await;
}
