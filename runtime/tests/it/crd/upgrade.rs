//! Definitions are installed, upgraded and refused.

use std::time::Duration;

use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::crd::{Action, ChangeCode, CrdError, Objects, Outcome, Upgrade, owned, status};
use serde_json::{Value, json};

use super::{create, definition, killed_at, live, server, size, version, widgets};

fn upgrade(version: &str) -> Upgrade {
    Upgrade::new("widget-operator", version)
}

async fn apply(client: &kube::Client, upgrade: Upgrade, definitions: &[Value]) -> Result<Outcome, CrdError> {
    Ok(upgrade.apply(client, definitions).await?.remove(0))
}

fn codes(outcome: &[kubesmith_runtime::crd::Change]) -> Vec<&'static str> {
    outcome.iter().map(|change| change.code.rule().name).collect()
}

fn one(spec: &Value) -> [Value; 1] {
    [widgets(&[version("v1", true, spec)])]
}

#[tokio::test(start_paused = true)]
async fn definition_is_installed_once_and_records_its_operator() {
    let (env, client) = server().await;
    let mut foreign = widgets(&[version("v1", true, &size())]);
    foreign["metadata"]["name"] = json!("gadgets.a.example");
    foreign["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget"});
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &definitions_resource());
    api.create(&PostParams::default(), &serde_json::from_value(foreign).unwrap()).await.unwrap();
    assert_eq!(apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap().action, Action::Created);
    assert_eq!(owned(&client).await.unwrap(), [super::WIDGETS]);
    let found = status(&client, super::WIDGETS).await.unwrap();
    assert_eq!(found.owner, Some(("widget-operator".to_owned(), "1.0.0".to_owned())));
    assert_eq!((found.not_established, found.advice.len()), (None, 0));
    let before = live(&client).await;
    assert_eq!(apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap().action, Action::Unchanged);
    assert_eq!(live(&client).await, before);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn definition_is_unchanged_when_others_wrote_its_authority() {
    let (env, client) = server().await;
    let mut wanted = one(&size());
    wanted[0]["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "a", "name": "b", "path": "/convert", "port": 443}}}});
    apply(&client, upgrade("1.0.0"), &wanted).await.unwrap();
    let pem = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n";
    let bundle = json!(k8s_openapi::ByteString(pem.into()));
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}});
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &definitions_resource());
    api.patch(super::WIDGETS, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
    let again = apply(&client, upgrade("1.0.0"), &wanted).await.unwrap();
    assert_eq!((again.action, codes(&again.changes)), (Action::Unchanged, vec![]));
    // A newer version keeps it, too.
    assert_eq!(apply(&client, upgrade("1.1.0"), &wanted).await.unwrap().action, Action::Updated);
    assert_eq!(live(&client).await["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"], bundle);
    env.stop().await;
}

pub(super) fn definitions_resource() -> kube::api::ApiResource {
    kube::api::ApiResource {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn upgrade_waits_until_the_new_version_is_served() {
    let (env, client) = server().await;
    apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap();
    let late = super::answering(&client, |request, asked| {
        (request.uri().path() == "/apis/a.example/v2" && asked < 3)
            .then_some((404, "the server could not find it"))
    });
    let versions = [widgets(&[version("v1", true, &size()), version("v2", false, &size())])];
    let done = apply(&late, upgrade("1.1.0"), &versions).await.unwrap();
    assert_eq!(done.action, Action::Updated);
    let never = super::answering(&client, |request, _| {
        (request.uri().path() == "/apis/a.example/v2").then_some((404, "the server could not find it"))
    });
    let error = apply(&never, upgrade("1.2.0"), &versions).await.unwrap_err().to_string();
    assert!(error.contains("does not serve v2 yet"), "{error}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn added_field_is_installed_and_its_way_back_is_reported() {
    let (env, client) = server().await;
    apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap();
    let color = json!({"size": {"type": "integer"}, "color": {"type": "string"}});
    let dry = apply(&client, upgrade("1.1.0").dry_run(), &one(&color)).await.unwrap();
    assert_eq!(dry.action, Action::Updated);
    assert!(!live(&client).await.to_string().contains("color"), "a dry run writes nothing");
    let done = apply(&client, upgrade("1.1.0").keep_way_back(), &one(&color)).await.unwrap();
    assert_eq!((codes(&done.changes), codes(&done.way_back)), (vec!["field-added"], vec!["field-removed"]));
    assert!(live(&client).await.to_string().contains("color"));

    // The old definition can be put back until an object uses the field.
    create(&client, "v1", "a", json!({"size": 1})).await;
    let back = apply(&client, upgrade("1.0.0").downgrade().dry_run(), &one(&size())).await.unwrap();
    assert_eq!(back.objects.map(|objects| objects.checked), Some(1));
    create(&client, "v1", "b", json!({"size": 1, "color": "red"})).await;
    let refused = apply(&client, upgrade("1.0.0").downgrade(), &one(&size())).await.unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("field spec.color is dropped in v1; objects that use it: 1, the first is default/b"),
        "{told}"
    );
    let forced = upgrade("1.0.0").downgrade().allow(ChangeCode::FieldRemoved);
    assert_eq!(apply(&client, forced, &one(&size())).await.unwrap().action, Action::Updated);
    env.stop().await;
}

/// Each object has keys of its own.
#[tokio::test(start_paused = true)]
async fn dropped_field_below_the_keys_of_a_map_is_one_field() {
    let (env, client) = server().await;
    let zones = |fields: Value| json!({"zones": {"type": "object", "additionalProperties": {"type": "object", "properties": fields}}});
    let whole = zones(json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    apply(&client, upgrade("1.0.0"), &one(&whole)).await.unwrap();
    for name in ["x", "y"] {
        create(&client, "v1", name, json!({"zones": {name: {"a": "1", "b": "2"}}})).await;
    }
    let next = upgrade("1.1.0").check_objects();
    let told =
        apply(&client, next, &one(&zones(json!({"a": {"type": "string"}})))).await.unwrap_err().to_string();
    assert!(told.contains("field spec.zones[*].b is dropped in v1; objects that use it: 2, "), "{told}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn upgrade_is_refused_with_the_objects_that_would_break() {
    let (env, client) = server().await;
    apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap();
    for (name, value) in [("large", 30), ("small", 3)] {
        create(&client, "v1", name, json!({"size": value})).await;
    }
    let bounded = |most: u64| one(&json!({"size": {"type": "integer", "maximum": most}}));
    let before = live(&client).await;

    // Without a check of the objects, the change of the schema decides.
    let Err(CrdError::Refused(refusals)) = apply(&client, upgrade("1.1.0"), &bounded(100)).await else {
        panic!()
    };
    assert_eq!((codes(&refusals[0].changes), &refusals[0].objects), (vec!["bound-tightened"], &None));

    let Err(CrdError::Refused(refusals)) =
        apply(&client, upgrade("1.1.0").check_objects(), &bounded(20)).await
    else {
        panic!()
    };
    let Some(Objects { checked: 2, broken_total: 1, broken, .. }) = &refusals[0].objects else { panic!() };
    assert_eq!(broken[0].object.to_string(), "default/large");
    assert_eq!(
        broken[0].errors,
        ["spec.size: Invalid value: 30: spec.size in body should be less than or equal to 20"]
    );
    assert_eq!(live(&client).await, before, "nothing is written");

    let done = apply(&client, upgrade("1.1.0").check_objects(), &bounded(100)).await.unwrap();
    assert_eq!((done.action, done.objects.map(|objects| objects.checked)), (Action::Updated, Some(2)));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_definition_is_written_when_one_of_them_is_refused() {
    let (env, client) = server().await;
    let gadgets = |spec: &Value| definition("Gadget", "gadgets", &[version("v1", true, spec)]);
    let both = |gadget: &Value, widget: &Value| [gadgets(gadget), one(widget)[0].clone()];
    upgrade("1.0.0").apply(&client, &both(&size(), &size())).await.unwrap();
    let before = definitions(&client).await;
    let wrong = both(&json!({"size": {"type": "integer"}, "color": {"type": "string"}}), &json!({}));
    let Err(CrdError::Refused(refusals)) = upgrade("1.1.0").apply(&client, &wrong).await else { panic!() };
    let [refusal] = &refusals[..] else { panic!("{refusals:?}") };
    assert_eq!((refusal.name.as_str(), codes(&refusal.changes)), (super::WIDGETS, vec!["field-removed"]));
    assert_eq!(definitions(&client).await, before);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_definition_is_written_when_the_server_refuses_one() {
    let (env, client) = server().await;
    let gadgets = |spec: &Value| definition("Gadget", "gadgets", &[version("v1", true, spec)]);
    let wrong = [one(&size())[0].clone(), gadgets(&json!({"size": {"type": "strin"}}))];
    let error = upgrade("1.0.0").apply(&client, &wrong).await.unwrap_err();
    assert!(matches!(error, CrdError::Request(_)), "{error}");
    let twice = [one(&size())[0].clone(), one(&json!({}))[0].clone()];
    let error = upgrade("1.0.0").apply(&client, &twice).await.unwrap_err().to_string();
    assert!(error.contains("it is given twice, with different contents"), "{error}");
    assert_eq!(definitions(&client).await.len(), 0);
    env.stop().await;
}

async fn definitions(client: &kube::Client) -> Vec<DynamicObject> {
    let resource = kube::api::ApiResource {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "apiextensions.k8s.io/v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
    };
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    api.list(&ListParams::default()).await.unwrap().items
}

#[tokio::test(start_paused = true)]
async fn newer_definition_is_kept_when_an_older_operator_starts() {
    let (env, client) = server().await;
    let color = one(&json!({"size": {"type": "integer"}, "color": {"type": "string"}}));
    apply(&client, upgrade("1.10.0"), &color).await.unwrap();
    let before = live(&client).await;
    assert_eq!(apply(&client, upgrade("1.9.0"), &one(&size())).await.unwrap().action, Action::KeptNewer);
    let two = [widgets(&[version("v1", true, &size()), version("v1beta1", false, &size())])];
    let missing = apply(&client, upgrade("1.9.0"), &two).await.unwrap_err();
    assert!(
        matches!(&missing, CrdError::Newer { version, missing, .. } if version == "1.10.0" && missing == &["v1beta1"])
    );
    assert_eq!(live(&client).await, before);

    let other = Upgrade::new("other-operator", "9.0.0");
    let owned = apply(&client, other.clone(), &one(&size())).await.unwrap_err();
    assert!(matches!(&owned, CrdError::Owned { operator, .. } if operator == "widget-operator"), "{owned}");
    let taken = other.take_over().allow(ChangeCode::FieldRemoved);
    assert_eq!(apply(&client, taken, &one(&size())).await.unwrap().action, Action::Updated);
    let broken = apply(&client, upgrade("1.9"), &one(&size())).await.unwrap_err();
    assert!(broken.to_string().contains("write it as 1.2.3"), "{broken}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn definition_is_replaced_only_on_request_when_its_version_cannot_be_ordered() {
    let (env, client) = server().await;
    apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap();
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &definitions_resource());
    for (recorded, shown) in [(json!("latest"), "latest"), (Value::Null, "")] {
        let patch = json!({"metadata": {"annotations": {"kubesmith.dev/operator-version": recorded}}});
        api.patch(super::WIDGETS, &PatchParams::default(), &Patch::Merge(patch)).await.unwrap();
        let before = live(&client).await;
        let error = apply(&client, upgrade("2.0.0"), &one(&size())).await.unwrap_err();
        assert!(matches!(&error, CrdError::OwnerVersion { version, .. } if version == shown), "{error}");
        assert!(error.to_string().contains("downgrade the definition"), "{error}");
        assert_eq!(live(&client).await, before);
    }
    let sizes = json!({"size": {"type": "integer"}, "color": {"type": "string"}});
    let done = apply(&client, upgrade("2.0.0").downgrade(), &one(&sizes)).await.unwrap();
    assert_eq!((done.action, done.objects.is_some()), (Action::Updated, true));
    assert_eq!(status(&client, super::WIDGETS).await.unwrap().owner.unwrap().1, "2.0.0");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn definition_that_is_being_deleted_is_installed_again_when_it_is_gone() {
    let (env, client) = server().await;
    apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap();
    create(&client, "v1", "held", json!({"size": 1})).await;
    let objects = super::api(&client, "v1");
    let finalizers = |list: &[&str]| Patch::Merge(json!({"metadata": {"finalizers": list}}));
    objects.patch("held", &PatchParams::default(), &finalizers(&["a.example/held"])).await.unwrap();
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &definitions_resource());
    api.delete(super::WIDGETS, &DeleteParams::default()).await.unwrap();
    let error = apply(&client, upgrade("1.1.0"), &one(&size())).await.unwrap_err();
    assert!(matches!(error, CrdError::Deleting { .. }), "{error}");
    let (release, none) = (PatchParams::default(), finalizers(&[]));
    let free = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        objects.patch("held", &release, &none).await.unwrap();
    };
    let wanted = one(&size());
    let (done, ()) = tokio::join!(apply(&client, upgrade("1.1.0"), &wanted), free);
    assert_eq!(done.unwrap().action, Action::Created);
    assert!(super::objects(&client, "v1").await.is_empty());
    env.stop().await;
}

/// Several versions of an operator start at the same time, in every order of their requests that the scheduler has.
#[tokio::test(start_paused = true)]
async fn newest_definition_wins_when_versions_start_at_once() {
    let (env, client) = server().await;
    let versions = ["1.2.0", "1.0.0", "1.3.0", "1.1.0"];
    let fields = |count: usize| {
        let fields = (0..count).map(|at| (format!("f{at}"), json!({"type": "string"})));
        one(&Value::Object(fields.collect()))
    };
    let starts = versions.iter().map(|version| {
        let count: usize = version[2..3].parse().unwrap();
        let client = client.clone();
        async move { apply(&client, upgrade(version), &fields(count + 1)).await.unwrap() }
    });
    futures::future::join_all(starts).await;
    let found = status(&client, super::WIDGETS).await.unwrap();
    assert_eq!(found.owner.unwrap().1, "1.3.0");
    assert!(live(&client).await.to_string().contains("\"f3\""));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn upgrade_without_way_back_is_refused_when_requested() {
    let (env, client) = server().await;
    apply(&client, upgrade("1.0.0"), &one(&size())).await.unwrap();
    let next = [widgets(&[version("v1", false, &size()), version("v2", true, &size())])];
    let refused = apply(&client, upgrade("2.0.0").keep_way_back(), &next).await.unwrap_err();
    assert!(
        matches!(&refused, CrdError::OneWay { changes, .. } if codes(changes) == ["stored-version-removed"]),
        "{refused}"
    );
    // With one more step, a rollback is possible: the old definition has the version.
    let step = [widgets(&[version("v1", true, &size()), version("v2", false, &size())])];
    apply(&client, upgrade("1.1.0").keep_way_back(), &step).await.unwrap();
    apply(&client, upgrade("2.0.0").keep_way_back(), &next).await.unwrap();
    apply(&client, upgrade("1.1.0").downgrade(), &step).await.unwrap();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn field_of_a_definition_is_removed_when_a_version_drops_it() {
    let (env, client) = server().await;
    let mut short = one(&size());
    short[0]["spec"]["names"]["shortNames"] = json!(["wd"]);
    apply(&client, upgrade("1.0.0"), &short).await.unwrap();
    // Fields of others stay.
    let label = Patch::Merge(json!({"metadata": {"labels": {"team": "a"}}}));
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}", super::WIDGETS);
    let (base, name) = path.rsplit_once('/').unwrap();
    let request = kube::api::Request::new(base).patch(name, &PatchParams::default(), &label).unwrap();
    client.request::<Value>(request).await.unwrap();
    let next = upgrade("1.1.0").allow(ChangeCode::ShortNameRemoved);
    apply(&client, next, &one(&size())).await.unwrap();
    let now = live(&client).await;
    assert_eq!(now["spec"]["names"].get("shortNames"), None);
    assert_eq!(now["metadata"]["labels"]["team"], "a");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn upgrade_continues_when_it_was_killed_at_any_request() {
    for after_request in [false, true] {
        for at in 0.. {
            let (env, client) = server().await;
            let mut short = one(&size());
            short[0]["spec"]["names"]["shortNames"] = json!(["wd"]);
            let old = [definition("Gadget", "gadgets", &[version("v1", true, &size())]), short[0].clone()];
            let (killed, sent) = killed_at(&client, at, after_request);
            let first = upgrade("1.0.0").apply(&killed, &old).await.is_ok();
            upgrade("1.0.0").apply(&client, &old).await.unwrap();
            let installed = sent.load(std::sync::atomic::Ordering::Relaxed);

            let color = json!({"size": {"type": "integer"}, "color": {"type": "string"}});
            let new =
                [definition("Gadget", "gadgets", &[version("v1", true, &color)]), one(&color)[0].clone()];
            let next = || upgrade("1.1.0").allow(ChangeCode::ShortNameRemoved);
            let (killed, sent) = killed_at(&client, at, after_request);
            let second = next().apply(&killed, &new).await.is_ok();
            let done = next().apply(&client, &new).await.unwrap();
            assert!(done.iter().all(|outcome| outcome.action != Action::Created), "killed at {at}");
            let now = live(&client).await;
            assert!(now.to_string().contains("color"), "killed at {at}: {now}");
            assert_eq!(
                now["spec"]["names"].get("shortNames"),
                None,
                "killed at {at}, after: {after_request}"
            );
            env.stop().await;
            if first && second {
                assert!(installed >= 8 && sent.load(std::sync::atomic::Ordering::Relaxed) >= 6);
                break;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn manifest_that_is_no_definition_is_refused() {
    let (env, client) = server().await;
    let mut misnamed = one(&size());
    misnamed[0]["metadata"]["name"] = json!("gadgets.a.example");
    for (manifest, said) in [
        (json!(3), "manifest 1 cannot be installed: it is not a CustomResourceDefinition"),
        (
            json!({"kind": "ConfigMap", "metadata": {"name": "a"}}),
            "a cannot be installed: it is not a Custom",
        ),
        (misnamed[0].clone(), "its plural and group make the name widgets.a.example"),
    ] {
        let error = apply(&client, upgrade("1.0.0"), &[manifest]).await.unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    env.stop().await;
}
