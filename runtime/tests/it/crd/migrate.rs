//! Objects are rewritten to the storage version.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use kube::api::{Patch, PatchParams};
use kubesmith_runtime::crd::{CrdError, Migrated, Migration, Progress, Upgrade, status};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{WIDGETS, api, create, killed_at, live, objects, server, version, widgets};

const OBJECTS: usize = 7;

/// With a bound, because servers write its number in another form.
fn size() -> Value {
    json!({"size": {"type": "integer", "maximum": 100}})
}

/// A definition whose storage version changed from v1 to v2 after objects were made.
async fn upgraded() -> (TestEnv, kube::Client) {
    let (env, client) = server().await;
    let versions = |storage: &str| {
        let version = |name: &str| version(name, name == storage, &size());
        [widgets(&[version("v1"), version("v2")])]
    };
    let upgrade = Upgrade::new("widget-operator", "1.0.0");
    upgrade.apply(&client, &versions("v1")).await.unwrap();
    for at in 0..OBJECTS {
        create(&client, "v1", &format!("w{at}"), json!({"size": at})).await;
    }
    upgrade.apply(&client, &versions("v2")).await.unwrap();
    (env, client)
}

fn migration() -> Migration {
    Migration::new(WIDGETS).page(3).rate(1000)
}

async fn run(client: &kube::Client, migration: &Migration) -> Result<Migrated, CrdError> {
    migration.run(client, |_| {}).await
}

async fn stored(client: &kube::Client) -> serde_json::Value {
    live(client).await["status"]["storedVersions"].clone()
}

#[tokio::test(start_paused = true)]
async fn objects_are_rewritten_and_the_old_version_is_pruned() {
    let (env, client) = upgraded().await;
    let before = objects(&client, "v2").await;
    let found = status(&client, WIDGETS).await.unwrap();
    assert_eq!(found.advice, ["objects may be stored in v1: run `kubesmith crd migrate widgets.a.example`"]);

    let dry = run(&client, &migration().dry_run()).await.unwrap();
    assert_eq!((dry.rewritten, dry.pruned), (7, vec!["v1".to_owned()]));
    assert_eq!((objects(&client, "v2").await, stored(&client).await), (before.clone(), json!(["v1", "v2"])));

    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let show = move |progress: &Progress| log.lock().unwrap().push((progress.done, progress.left));
    let done = migration().run(&client, show).await.unwrap();
    assert_eq!((done.storage.as_str(), done.rewritten, done.skipped), ("v2", 7, 0));
    assert_eq!(*seen.lock().unwrap(), [(3, Some(4)), (6, Some(1)), (7, Some(0))]);
    assert_eq!(stored(&client).await, json!(["v2"]));
    for (old, new) in before.iter().zip(objects(&client, "v2").await) {
        assert_eq!((&old.0, &old.2), (&new.0, &new.2), "nothing of the object changes");
        assert_ne!(old.1, new.1, "{} was not written", old.0);
    }
    assert_eq!(live(&client).await["metadata"]["annotations"].get("kubesmith.dev/migration"), None);

    // There is nothing left to do, and the old version can be removed.
    let again = run(&client, &migration()).await.unwrap();
    assert_eq!((again.rewritten, again.pruned.len()), (0, 0));
    let without = [widgets(&[version("v2", true, &size())])];
    let allowed = kubesmith_runtime::crd::ChangeCode::VersionRemoved;
    Upgrade::new("widget-operator", "2.0.0").allow(allowed).apply(&client, &without).await.unwrap();
    assert_eq!(objects(&client, "v2").await.len(), OBJECTS);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn migration_continues_when_it_was_killed_at_any_request() {
    let mut continued = 0;
    for after_request in [false, true] {
        for at in 0.. {
            let (env, client) = upgraded().await;
            let before = objects(&client, "v2").await;
            let (killed, sent) = killed_at(&client, at, after_request);
            let first = run(&killed, &migration()).await;
            let done = run(&client, &migration()).await.unwrap();
            continued += usize::from(done.skipped > 0);
            assert_eq!(stored(&client).await, json!(["v2"]), "killed at {at}");
            assert_eq!(
                live(&client).await["metadata"]["annotations"].get("kubesmith.dev/migration"),
                None,
                "killed at {at}"
            );
            for (old, new) in before.iter().zip(objects(&client, "v2").await) {
                assert_eq!((&old.0, &old.2), (&new.0, &new.2), "killed at {at}");
                assert_ne!(old.1, new.1, "{} was not written, killed at {at}", old.0);
            }
            env.stop().await;
            if first.is_ok() {
                assert!(sent.load(Ordering::Relaxed) > OBJECTS + 6);
                break;
            }
        }
    }
    assert!(continued > 10, "{continued} runs continued where another one stopped");
}

#[tokio::test(start_paused = true)]
async fn migration_starts_again_when_the_definition_was_changed() {
    let (env, client) = upgraded().await;
    // The process is killed in its second page.
    let (killed, _) = killed_at(&client, 9, false);
    assert!(run(&killed, &migration()).await.is_err());
    let halfway = status(&client, WIDGETS).await.unwrap();
    assert_eq!(halfway.migrated_to.as_deref(), Some("default/w2"));
    // The storage version changes forth and back: the mark of an earlier migration does not apply to the
    // objects now.
    for storage in ["v1", "v2"] {
        let version = |name: &str| version(name, name == storage, &size());
        let definition = [widgets(&[version("v1"), version("v2")])];
        Upgrade::new("widget-operator", "1.0.0").apply(&client, &definition).await.unwrap();
    }
    assert_eq!(status(&client, WIDGETS).await.unwrap().migrated_to, None);
    assert_eq!(run(&client, &migration()).await.unwrap().skipped, 0);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn stored_versions_are_kept_when_the_definition_changes_meanwhile() {
    let (env, client) = upgraded().await;
    let other = client.clone();
    let mut changes = Vec::new();
    let pages = |progress: &Progress| {
        if progress.left == Some(0) {
            let other = other.clone();
            changes.push(tokio::spawn(async move {
                let version = |name: &str| version(name, name == "v1", &size());
                let definition = [widgets(&[version("v1"), version("v2")])];
                Upgrade::new("widget-operator", "1.0.0").apply(&other, &definition).await.unwrap();
            }));
        }
    };
    let (slow, _) = slowed(&client);
    let changed = migration().run(&slow, pages).await.unwrap_err();
    assert!(matches!(changed, CrdError::Changed { .. }), "{changed}");
    assert_eq!(stored(&client).await, json!(["v1", "v2"]));
    env.stop().await;
}

/// A client each of whose requests takes ten seconds.
fn slowed(client: &kube::Client) -> (kube::Client, ()) {
    let client = client.clone();
    let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
        let client = client.clone();
        async move {
            tokio::time::sleep(std::time::Duration::from_secs(10)).await;
            client.send(request).await
        }
    });
    (kube::Client::new(service, "default"), ())
}

#[tokio::test(start_paused = true)]
async fn objects_changed_or_deleted_meanwhile_count_as_migrated() {
    let (env, client) = upgraded().await;
    let mut pages = 0;
    let other = client.clone();
    let show = |_: &Progress| {
        pages += 1;
        if pages == 1 {
            let other = other.clone();
            tokio::spawn(async move {
                api(&other, "v1").delete("w4", &kube::api::DeleteParams::default()).await.unwrap();
                let patch = Patch::Merge(json!({"spec": {"size": 50}}));
                api(&other, "v2").patch("w5", &PatchParams::default(), &patch).await.unwrap();
            });
        }
    };
    let (slow, ()) = slowed(&client);
    migration().run(&slow, show).await.unwrap();
    let found = objects(&client, "v2").await;
    assert_eq!(found.len(), OBJECTS - 1);
    assert_eq!(found[4].2, json!({"size": 50}));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn objects_are_rewritten_no_faster_than_the_rate() {
    let (env, client) = upgraded().await;
    let start = Instant::now();
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = sent.clone();
    let timed = super::answering(&client, move |request, _| {
        let is_rewrite = request.method() == "PATCH" && request.uri().path().contains("/widgets/");
        is_rewrite.then(|| log.lock().unwrap().push(start.elapsed().as_millis() / 500));
        None
    });
    run(&timed, &Migration::new(WIDGETS).rate(2)).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), [0, 1, 2, 3, 4, 5, 6]);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rate_is_kept_after_a_server_was_slow() {
    let (env, client) = upgraded().await;
    let (slow, ()) = slowed(&client);
    let time = async |rate| {
        let start = Instant::now();
        Migration::new(WIDGETS).page(3).rate(rate).dry_run().run(&slow, |_| {}).await.unwrap();
        start.elapsed()
    };
    let waited = time(1).await - time(10_000).await;
    // Two seconds for each of the two full pages, although the requests between them took longer.
    assert!(waited.as_secs_f64() > 3.5, "{waited:?}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn denied_object_is_reported_and_the_others_are_rewritten() {
    let (env, client) = upgraded().await;
    let is_rewrite = |request: &http::Request<kube::client::Body>, name: &str| {
        request.method() == "PATCH" && request.uri().path().ends_with(&format!("/widgets/{name}"))
    };
    let denied = "admission webhook \"a.example.com\" denied the request: not now";
    let denying =
        super::answering(&client, move |request, _| is_rewrite(request, "w1").then_some((403, denied)));
    let error = run(&denying, &migration()).await.unwrap_err();
    let CrdError::Unmigrated { failed, total, .. } = &error else { panic!("{error}") };
    assert_eq!((failed[0].reason.as_str(), *total), (denied, 1));
    assert_eq!(stored(&client).await, json!(["v1", "v2"]));

    let right = "widgets.a.example \"w1\" is forbidden: User \"u\" cannot patch resource \"widgets\"";
    let forbidding =
        super::answering(&client, move |request, _| is_rewrite(request, "w1").then_some((403, right)));
    let error = run(&forbidding, &migration()).await.unwrap_err();
    assert!(matches!(&error, CrdError::Request(error) if error.is_forbidden()), "{error}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unconvertible_objects_of_a_later_page_are_reported() {
    let (env, client) = upgraded().await;
    let broken = super::answering(&client, |request, _| {
        let is_list = request.method() == "GET" && request.uri().path().ends_with("/v2/widgets");
        let is_later = request.uri().query().is_some_and(|query| query.contains("continue="));
        let is_object = request.method() == "PATCH" && request.uri().path().ends_with("/widgets/w4");
        ((is_list && is_later) || is_object).then_some((500, "conversion webhook for a.example/v1 failed"))
    });
    let error = run(&broken, &migration()).await.unwrap_err();
    let CrdError::Unmigrated { failed, total, .. } = &error else { panic!("{error}") };
    assert_eq!((failed[0].object.as_str(), *total), ("default/w4", 1));
    // The next run begins with it.
    let done = run(&client, &migration()).await.unwrap();
    assert_eq!((done.rewritten, done.skipped), (1, OBJECTS as u64 - 1));
    assert_eq!(stored(&client).await, json!(["v2"]));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn missing_definition_is_reported() {
    let (env, client) = server().await;
    let missing = run(&client, &migration()).await.unwrap_err();
    assert_eq!(missing.to_string(), "the cluster has no definition widgets.a.example: install it first");
    assert!(matches!(status(&client, WIDGETS).await, Err(CrdError::Missing { .. })));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dry_run_names_the_fields_that_a_rewrite_would_lose_or_add() {
    let (env, client) = server().await;
    let old = json!({"size": {"type": "integer"}, "color": {"type": "string"}, "tags": {"type": "array", "items": {
        "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}}});
    let mut new = old.clone();
    new.as_object_mut().unwrap().remove("color");
    new["tags"]["items"]["properties"].as_object_mut().unwrap().remove("b");
    new["mode"] = json!({"type": "string", "default": "on"});
    let versions = |storage: &str| {
        [widgets(&[version("v1", storage == "v1", &old), version("v2", storage == "v2", &new)])]
    };
    let upgrade =
        Upgrade::new("widget-operator", "1.0.0").allow(kubesmith_runtime::crd::ChangeCode::VersionsDiverge);
    upgrade.apply(&client, &versions("v1")).await.unwrap();
    create(&client, "v1", "full", json!({"color": "red", "tags": [{"a": "1", "b": "2"}]})).await;
    create(&client, "v1", "plain", json!({"size": 1})).await;
    for at in 0..120 {
        create(&client, "v1", &format!("w{at:03}"), json!({"color": "red"})).await;
    }
    upgrade.apply(&client, &versions("v2")).await.unwrap();
    let before = objects(&client, "v1").await;
    let dry = run(&client, &migration().dry_run()).await.unwrap();
    assert_eq!(objects(&client, "v1").await, before, "nothing is written");
    assert_eq!((dry.changes.len(), dry.changes_total, dry.rewritten), (100, 122, 122));
    let full = &dry.changes[0];
    assert_eq!(full.object.to_string(), "default/full");
    assert_eq!(full.lost, ["spec.color", "spec.tags[0].b"]);
    assert_eq!((full.changed.len(), full.more), (0, false));
    assert_eq!(full.added, ["spec.mode"]);
    let plain = dry.changes.iter().find(|change| change.object.name() == "plain").unwrap();
    assert_eq!((plain.lost.len(), &plain.added), (0, &vec!["spec.mode".to_owned()]));
    // After the migration, nothing more is lost, and a run that writes compares nothing.
    let done = run(&client, &migration()).await.unwrap();
    assert_eq!((done.changes.len(), done.changes_total), (0, 0));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dry_run_counts_objects_that_it_may_not_read() {
    let (env, client) = upgraded().await;
    let right = "widgets.a.example \"w1\" is forbidden: User \"u\" cannot get resource \"widgets\"";
    let forbidding = super::answering(&client, move |request, _| {
        let is_read = request.method() == "GET" && request.uri().path().ends_with("/widgets/w1");
        is_read.then_some((403, right))
    });
    let dry = run(&forbidding, &migration().dry_run()).await.unwrap();
    assert_eq!((dry.rewritten, dry.changes_total, dry.uncompared), (7, 0, 1));
    // A run that writes reads no object.
    let done = run(&forbidding, &migration()).await.unwrap();
    assert_eq!((done.rewritten, done.uncompared), (7, 0));
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dry_run_reports_no_change_when_versions_have_the_same_fields() {
    let (env, client) = upgraded().await;
    let dry = run(&client, &migration().dry_run()).await.unwrap();
    assert_eq!((dry.rewritten, dry.changes, dry.changes_total), (7, Vec::new(), 0));
    assert_eq!(dry.compared, ["v2", "v1"]);

    // The server does not show the storage version.
    let mut unserved = version("v2", true, &size());
    unserved["served"] = json!(false);
    let allowed = kubesmith_runtime::crd::ChangeCode::VersionUnserved;
    let upgrade = Upgrade::new("widget-operator", "1.0.0").allow(allowed);
    upgrade.apply(&client, &[widgets(&[version("v1", false, &size()), unserved])]).await.unwrap();
    let dry = run(&client, &migration().dry_run()).await.unwrap();
    assert_eq!((dry.rewritten, dry.compared), (7, Vec::<String>::new()));
    env.stop().await;
}
