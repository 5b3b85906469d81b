//! Upgrades of definitions that other clients have written, and of those whose objects would lose fields.

use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kubesmith_runtime::crd::{Action, ChangeCode, CrdError, Outcome, Upgrade};
use serde_json::{Value, json};

use super::{create, killed_at, live, server, size, version, widgets};

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

fn converted(plain: &Value) -> Value {
    let mut converted = plain.clone();
    converted["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "a", "name": "b", "path": "/convert", "port": 443}}}});
    converted
}

/// Writes the authority of the conversion webhook, as a certificate manager does.
async fn write_authority(client: &kube::Client) {
    let pem = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";
    let bundle = json!(k8s_openapi::ByteString(pem.into()));
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}});
    definitions(client).patch(super::WIDGETS, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn conversion_webhook_is_removed_with_what_others_wrote_into_it() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    let converted = converted(&plain);
    apply(&client, upgrade("1.0.0"), &converted).await.unwrap();
    write_authority(&client).await;
    let dry = apply(&client, upgrade("1.1.0").dry_run(), &plain).await.unwrap();
    assert_eq!(dry.action, Action::Updated);
    assert_eq!(live(&client).await["spec"]["conversion"]["strategy"], "Webhook");
    assert_eq!(apply(&client, upgrade("1.1.0"), &plain).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(apply(&client, upgrade("1.1.0"), &plain).await.unwrap().action, Action::Unchanged);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn conversion_webhook_stays_when_the_server_refuses_the_new_versions() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    apply(&client, upgrade("1.0.0"), &converted(&plain)).await.unwrap();
    write_authority(&client).await;
    let before = live(&client).await;
    let refused =
        widgets(&[version("v1", true, &json!({"size": {"type": "integer"}, "note": {"type": "text"}}))]);
    for next in [upgrade("1.1.0").dry_run(), upgrade("1.1.0")] {
        let error = apply(&client, next, &refused).await.unwrap_err().to_string();
        assert!(error.contains("properties[note].type"), "{error}");
        assert_eq!(live(&client).await, before);
    }
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn removal_of_a_webhook_continues_when_it_was_killed_at_any_request() {
    let wanted = widgets(&[version("v1", true, &size())]);
    for (at, after_request) in (0..).flat_map(|at| [(at, false), (at, true)]) {
        let (env, client) = server().await;
        apply(&client, upgrade("1.0.0"), &converted(&wanted)).await.unwrap();
        write_authority(&client).await;
        let (killed, _) = killed_at(&client, at, after_request);
        let is_done = apply(&killed, upgrade("1.1.0"), &wanted).await.is_ok();
        apply(&client, upgrade("1.1.0"), &wanted).await.unwrap();
        let now = live(&client).await;
        assert_eq!(now["spec"]["conversion"], json!({"strategy": "None"}), "killed at {at}, {after_request}");
        assert_eq!(now["metadata"]["annotations"]["kubesmith.dev/operator-version"], "1.1.0");
        assert_eq!(apply(&client, upgrade("1.1.0"), &wanted).await.unwrap().action, Action::Unchanged);
        env.stop().await;
        if is_done {
            assert!(at >= 4, "requests: {at}");
            break;
        }
    }
}

/// An upgrade of these definitions takes several writes.
#[tokio::test(start_paused = true)]
async fn unknown_field_changes_neither_the_webhook_nor_the_managers() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    let mut wrong = plain.clone();
    wrong["spec"]["bogus"] = json!(true);
    let mut labelled = plain.clone();
    labelled["metadata"]["labels"] = json!({"a": "not valid!"});
    let refused = async || {
        let before = live(&client).await;
        for next in [upgrade("1.1.0").dry_run(), upgrade("1.1.0")] {
            for (wrong, text) in [(&wrong, "spec.bogus"), (&labelled, "metadata.labels")] {
                let error = apply(&client, next.clone(), wrong).await.unwrap_err().to_string();
                assert!(error.contains(text) && !error.contains("creationTimestamp"), "{error}");
                assert_eq!(live(&client).await, before);
            }
        }
    };
    apply(&client, upgrade("1.0.0"), &converted(&plain)).await.unwrap();
    refused().await;
    definitions(&client).delete(super::WIDGETS, &DeleteParams::default()).await.unwrap();
    definitions(&client)
        .patch(super::WIDGETS, &PatchParams::apply("other"), &Patch::Apply(plain.clone()))
        .await
        .unwrap();
    refused().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn annotation_of_helm_stays() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    let mut charted = plain.clone();
    charted["metadata"]["annotations"] = json!({"helm.sh/resource-policy": "keep"});
    charted["spec"]["names"]["shortNames"] = json!(["wg"]);
    let helm = PostParams { field_manager: Some("helm".to_owned()), ..PostParams::default() };
    definitions(&client).create(&helm, &serde_json::from_value(charted).unwrap()).await.unwrap();
    let next = || upgrade("1.0.0").allow(ChangeCode::ShortNameRemoved);
    assert_eq!(apply(&client, next(), &plain).await.unwrap().action, Action::Updated);
    let now = live(&client).await;
    assert_eq!(now["spec"]["names"].get("shortNames"), None);
    assert_eq!(now["metadata"]["annotations"]["helm.sh/resource-policy"], "keep");
    assert_eq!(apply(&client, next(), &plain).await.unwrap().action, Action::Unchanged);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn names_are_removed_from_a_definition_that_kubectl_wrote() {
    let (env, client) = server().await;
    let plain = widgets(&[version("v1", true, &size())]);
    let mut named = plain.clone();
    named["spec"]["names"]["shortNames"] = json!(["wg"]);
    // As `kubectl apply --server-side` does, then `kubectl edit`.
    let kubectl = PatchParams::apply("kubectl");
    definitions(&client).patch(super::WIDGETS, &kubectl, &Patch::Apply(&named)).await.unwrap();
    let edit = PatchParams { field_manager: Some("kubectl-edit".to_owned()), ..PatchParams::default() };
    let categories = json!({"spec": {"names": {"categories": ["all"]}}});
    definitions(&client).patch(super::WIDGETS, &edit, &Patch::Merge(categories)).await.unwrap();
    let allowed = || upgrade("1.0.0").allow(ChangeCode::ShortNameRemoved).allow(ChangeCode::CategoryRemoved);
    assert_eq!(apply(&client, allowed(), &plain).await.unwrap().action, Action::Updated);
    let names = live(&client).await["spec"]["names"].clone();
    assert_eq!((names.get("shortNames"), names.get("categories")), (None, None));
    assert_eq!(apply(&client, allowed(), &plain).await.unwrap().action, Action::Unchanged);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changed_or_dropped_annotation_is_an_update() {
    let (env, client) = server().await;
    let mut wanted = widgets(&[version("v1", true, &size())]);
    apply(&client, upgrade("1.0.0"), &wanted).await.unwrap();
    wanted["metadata"]["annotations"] = json!({"cert-manager.io/inject-ca-from": "a/b"});
    assert_eq!(apply(&client, upgrade("1.0.0"), &wanted).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], "a/b");
    assert_eq!(apply(&client, upgrade("1.0.0"), &wanted).await.unwrap().action, Action::Unchanged);
    wanted["metadata"]["annotations"] = json!({});
    assert_eq!(apply(&client, upgrade("1.0.0"), &wanted).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["metadata"]["annotations"].get("cert-manager.io/inject-ca-from"), None);
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
