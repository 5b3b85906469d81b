//! Fake clientsets: recorded requests, reactors, and the initial objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Pod, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{
    Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::Status;
use kube::{Client, ResourceExt as _};
use kubesmith_testenv::fake::{self, Fake, FakeError, FakeWatcher, Object, PatchType, Reaction};
use kubesmith_testenv::{ManualClock, objects};
use serde_json::{Value, json};

use crate::support::{widget, widget_crd, widget_resource};

fn map(namespace: &str, name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.metadata.namespace = Some(namespace.to_owned());
    map
}

fn empty() -> Fake<Client> {
    Fake::builder().build().unwrap()
}

fn maps(fake: &Fake<Client>) -> Api<ConfigMap> {
    Api::namespaced(fake.client(), "a")
}

fn seen(fake: &Fake<Client>) -> Vec<String> {
    fake.actions().iter().map(ToString::to_string).collect()
}

fn code<T: std::fmt::Debug>(result: Result<T, kube::Error>) -> (u16, String) {
    match result {
        Err(kube::Error::Api(status)) => (status.code, status.reason.clone()),
        other => panic!("no status: {other:?}"),
    }
}

#[tokio::test]
async fn each_request_is_recorded_as_an_action() {
    let fake = empty();
    let maps = maps(&fake);
    maps.create(&PostParams { field_manager: Some("me".into()), ..PostParams::default() }, &map("a", "x"))
        .await
        .unwrap();
    maps.get("x").await.unwrap();
    maps.list(&ListParams::default().labels("b=c")).await.unwrap();
    drop(maps.watch(&WatchParams::default(), "0").await.unwrap());
    let stored = maps.get("x").await.unwrap();
    maps.replace("x", &PostParams::default(), &stored).await.unwrap();
    maps.patch("x", &PatchParams::default(), &Patch::Merge(json!({"data": {"a": "b"}}))).await.unwrap();
    maps.delete("x", &DeleteParams::background()).await.unwrap();
    maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    Api::<ConfigMap>::all(fake.client()).list(&ListParams::default()).await.unwrap();
    Api::<Node>::all(fake.client()).get("n").await.unwrap_err();
    fake.client().apiserver_version().await.unwrap();
    fake.client().list_api_groups().await.unwrap();
    fake.client().list_api_group_resources("apps/v1").await.unwrap();
    let expected = [
        "create configmaps a/x",
        "get configmaps a/x",
        "list configmaps a/",
        "watch configmaps a/",
        "get configmaps a/x",
        "update configmaps a/x",
        "patch configmaps a/x",
        "delete configmaps a/x",
        "deletecollection configmaps a/",
        "list configmaps",
        "get nodes n",
        "get version",
        "get group",
        "get resource.apps",
    ];
    assert_eq!(seen(&fake), expected);
    let actions = fake.actions();
    assert_eq!(actions[0].object::<ConfigMap>(), Some(map("a", "x")));
    assert_eq!(actions[0].option("fieldManager"), Some("me"));
    assert_eq!(actions[2].option("labelSelector"), Some("b=c"));
    assert_eq!((actions[6].patch_type(), actions[5].patch_type()), (Some(PatchType::Merge), None));
    assert_eq!(actions[6].patch(), Some(&json!({"data": {"a": "b"}})));
    assert_eq!(actions[7].body().unwrap()["propagationPolicy"], "Background");
    assert_eq!(actions.iter().filter(|action| !action.is_read()).count(), 5);
    assert_eq!((actions[10].namespace(), actions[10].name()), ("", "n"));
    fake.clear_actions();
    assert!(fake.actions().is_empty());
}

#[tokio::test]
async fn actions_match_as_in_client_go() {
    let fake = empty();
    let deployments: Api<Deployment> = Api::namespaced(fake.client(), "a");
    deployments.patch_status("d", &PatchParams::default(), &Patch::Merge(json!({}))).await.unwrap_err();
    let action = fake.actions().remove(0);
    assert_eq!(action.to_string(), "patch deployments.apps/status a/d");
    for (verb, resource) in [
        ("patch", "deployments"),
        ("*", "deployments/status"),
        ("patch", "*"),
        ("patch", "deployments.apps"),
        ("*", "deployments.apps/status"),
        ("*", "deployments/*"),
    ] {
        assert!(action.matches(verb, resource), "{verb} {resource}");
    }
    for (verb, resource) in
        [("update", "*"), ("*", "deployments/scale"), ("*", "deployment"), ("*", "deployments.extensions")]
    {
        assert!(!action.matches(verb, resource), "{verb} {resource}");
    }
    maps(&fake).delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    assert!(fake.actions()[1].matches("delete-collection", "configmaps"), "client-go's name of the verb");
}

#[tokio::test]
async fn seeded_objects_are_unchanged_and_not_recorded_as_actions() {
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p", "namespace": "a", "uid": "my-uid", "finalizers": ["a.b/c"], "generation": 7,
                     "deletionTimestamp": "2026-01-02T03:04:05Z", "resourceVersion": "9999"},
        "status": {"phase": "Running", "podIP": "10.1.2.3"},
    }))
    .unwrap();
    let fake =
        Fake::<Client>::new(objects![pod.clone(), map("b", "m"), widget_crd("a.example", "Namespaced")]);
    let fake = fake.unwrap();
    assert!(fake.actions().is_empty());

    let stored: Pod = Api::namespaced(fake.client(), "a").get("p").await.unwrap();
    assert_eq!(stored.status, pod.status, "though pods have a status subresource");
    assert_eq!((stored.uid().as_deref(), stored.metadata.generation), (Some("my-uid"), Some(7)));
    assert_eq!(stored.metadata.deletion_timestamp, pod.metadata.deletion_timestamp);
    assert_ne!(stored.resource_version().as_deref(), Some("9999"), "versions are the server's");
    let other: ConfigMap = Api::namespaced(fake.client(), "b").get("m").await.unwrap();
    assert!(other.uid().is_some() && other.creation_timestamp().is_some());

    let widgets = Api::<DynamicObject>::namespaced_with(fake.client(), "a", &widget_resource("a.example"));
    widgets.create(&PostParams::default(), &widget("w", json!({"spec": {"a": 1}}))).await.unwrap();
}

#[tokio::test]
async fn fake_begins_empty_and_needs_no_namespaces() {
    let fake = empty();
    assert!(fake.tracker().list::<Namespace>("").unwrap().is_empty());
    assert!(fake.tracker().list::<Service>("").unwrap().is_empty());
    maps(&fake).create(&PostParams::default(), &map("a", "x")).await.unwrap();
    assert!(fake.tracker().list::<Namespace>("").unwrap().is_empty());
    let generated = ConfigMap {
        metadata: serde_json::from_value(json!({"generateName": "x-"})).unwrap(),
        ..ConfigMap::default()
    };
    let made = maps(&fake).create(&PostParams::default(), &generated).await.unwrap();
    assert!(made.name_any().starts_with("x-") && made.name_any().len() == 7);
}

#[tokio::test]
async fn tracker_writes_reach_watches_but_are_not_actions() {
    let fake = Fake::<Client>::new([map("a", "x")]).unwrap();
    let tracker = fake.tracker();
    let mut events =
        Box::pin(maps(&fake).watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap());
    fake.clear_actions();

    let mut next = async || events.try_next().await.unwrap().unwrap();
    assert!(matches!(next().await, WatchEvent::Added(map) if map.name_any() == "x"));
    let mut changed = map("a", "x");
    changed.data = Some([("k".to_owned(), "v".to_owned())].into());
    let before = tracker.get::<ConfigMap>("a", "x").unwrap().unwrap();
    tracker.update(changed).unwrap();
    let after = tracker.get::<ConfigMap>("a", "x").unwrap().unwrap();
    assert_eq!((before.uid(), before.creation_timestamp()), (after.uid(), after.creation_timestamp()));
    assert_ne!(before.resource_version(), after.resource_version());
    assert!(matches!(next().await, WatchEvent::Modified(map) if map.data == after.data));
    tracker.delete::<ConfigMap>("a", "x").unwrap();
    assert!(matches!(next().await, WatchEvent::Deleted(_)));
    assert_eq!(tracker.get::<ConfigMap>("a", "x").unwrap(), None);
    assert!(fake.actions().is_empty());
}

#[tokio::test]
async fn tracker_accepts_lists_and_yaml() {
    let fake = empty();
    let list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "items": [
        {"metadata": {"name": "one"}}, {"metadata": {"name": "two", "namespace": "b"}},
    ]});
    fake.tracker().add(Object::from_value(list)).unwrap();
    for object in
        Object::from_yaml("kind: Node\napiVersion: v1\nmetadata: {name: a, namespace: x}\n").unwrap()
    {
        fake.tracker().add(object).unwrap();
    }
    let listed = fake.tracker().list::<ConfigMap>("").unwrap();
    let places: Vec<_> = listed.iter().map(|map| (map.namespace().unwrap(), map.name_any())).collect();
    assert_eq!(places, [("b".to_owned(), "two".to_owned()), ("default".to_owned(), "one".to_owned())]);
    assert_eq!(fake.tracker().get::<Node>("", "a").unwrap().unwrap().namespace(), None);
    fake.tracker().add(widget_crd("a.example", "Cluster")).unwrap();
    fake.tracker().add(Object::from_dynamic(&widget("w", json!({"status": {"a": 1}})))).unwrap();
}

#[tokio::test]
async fn invalid_object_is_refused_by_the_tracker() {
    let fake = Fake::<Client>::new([map("a", "x")]).unwrap();
    let tracker = fake.tracker();
    let gone = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "y", "deletionTimestamp": "2026-01-02T03:04:05Z"}});
    let nested = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}, "data": [1]});
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    let deep = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}, "data": deep});
    let crd = || {
        let mut crd = widget_crd("a.example", "Cluster");
        crd.spec.versions[0].storage = false;
        crd
    };
    let messages = [
        tracker.add(map("a", "x")).unwrap_err().to_string(),
        tracker.update(map("a", "y")).unwrap_err().to_string(),
        tracker.delete::<ConfigMap>("a", "y").unwrap_err().to_string(),
        tracker.add(ConfigMap::default()).unwrap_err().to_string(),
        tracker.add(Object::from_dynamic(&widget("w", json!({})))).unwrap_err().to_string(),
        tracker.add(Object::from_value(gone)).unwrap_err().to_string(),
        tracker.add(Object::from_value(nested)).unwrap_err().to_string(),
        tracker.add(Object::from_value(deep)).unwrap_err().to_string(),
        tracker.add(Object::from_value(json!(3))).unwrap_err().to_string(),
        tracker.add(crd()).unwrap_err().to_string(),
        Fake::<Client>::builder().crds([crd()]).build().unwrap_err().to_string(),
        Object::from_yaml("a: 1\n---\n]").unwrap_err().to_string(),
    ];
    let parts = [
        "configmaps \"x\" already exists",
        "configmaps \"y\" not found",
        "configmaps \"y\" not found",
        "name or generateName is required",
        "the fake does not know the kind \"Widget\" of \"a.example/v1\"",
        "give it a finalizer, or leave it out",
        "cannot be handled as a ConfigMap",
        "nested deeper than 100 levels",
        "has to be a JSON object",
        "must have exactly one version marked as storage version",
        "the CRD \"widgets.a.example\" was refused",
        "document 2",
    ];
    for (message, part) in messages.iter().zip(parts) {
        assert!(message.contains(part), "{message:?} should say {part:?}");
    }
}

#[test]
fn fake_is_an_error_outside_of_a_runtime() {
    let error = Fake::<Client>::builder().build().unwrap_err();
    assert!(matches!(error, FakeError::NoRuntime), "{error}");
}

#[tokio::test]
async fn reactors_are_called_in_their_order() {
    let fake = Fake::<Client>::new([map("a", "x")]).unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    fake.add_reactor("*", "*", {
        let asked = asked.clone();
        move |_| {
            asked.fetch_add(1, Ordering::SeqCst);
            Reaction::pass()
        }
    });
    fake.add_reactor("get", "configmaps", |action| match action.name() {
        "made" => Reaction::object(map(action.namespace(), "made")),
        _ => Reaction::pass(),
    });
    assert_eq!(maps(&fake).get("made").await.unwrap().name_any(), "made");
    maps(&fake).get("x").await.unwrap();
    assert_eq!(asked.load(Ordering::SeqCst), 2);

    fake.prepend_reactor("get", "configmaps", Reaction::not_found);
    assert_eq!(code(maps(&fake).get("made").await), (404, "NotFound".to_owned()));
    assert_eq!(asked.load(Ordering::SeqCst), 2, "who is behind is not asked");
    assert_eq!(fake.actions().len(), 3, "what fails is recorded as well");
}

#[tokio::test]
async fn reactor_errors_are_those_of_a_server() {
    let fake = Fake::<Client>::new([map("a", "x")]).unwrap();
    fake.prepend_reactor("*", "configmaps", |action| match action.verb() {
        "create" => Reaction::already_exists(action),
        "update" => Reaction::conflict(action),
        "patch" => Reaction::forbidden(action, "no"),
        "delete" => Reaction::internal("oh"),
        "list" => Reaction::list(&[map("a", "one"), map("a", "two")]),
        "watch" => Reaction::expired(),
        "deletecollection" => Reaction::error(&Status::failure("slow down", "TooManyRequests")),
        _ => Reaction::broken("the cable"),
    });
    let maps = maps(&fake);
    let post = PostParams::default();
    assert_eq!(code(maps.create(&post, &map("a", "y")).await), (409, "AlreadyExists".to_owned()));
    assert_eq!(code(maps.replace("x", &post, &map("a", "x")).await), (409, "Conflict".to_owned()));
    let patch = Patch::Merge(json!({}));
    assert_eq!(code(maps.patch("x", &PatchParams::default(), &patch).await), (403, "Forbidden".to_owned()));
    let delete = DeleteParams::default();
    assert_eq!(code(maps.delete("x", &delete).await), (500, "InternalError".to_owned()));
    let all = ListParams::default();
    assert_eq!(code(maps.delete_collection(&delete, &all).await), (429, "TooManyRequests".to_owned()));
    assert_eq!(maps.list(&all).await.unwrap().items.len(), 2);
    assert_eq!(code(maps.watch(&WatchParams::default(), "0").await.map(|_| ())), (410, "Expired".to_owned()));
    let error = maps.get("x").await.unwrap_err();
    assert!(
        matches!(error, kube::Error::Service(_)) && format!("{error:?}").contains("the cable"),
        "{error:?}"
    );
}

#[tokio::test]
async fn reactor_is_reported_when_its_reaction_does_not_fit_the_verb() {
    let fake = empty();
    fake.prepend_watch_reactor("configmaps", |_| Reaction::object(map("a", "x")));
    fake.prepend_reactor("get", "configmaps", |_| Reaction::watch(&FakeWatcher::new()));
    let watch = maps(&fake).watch(&WatchParams::default(), "0").await.map(|_| ());
    assert!(watch.unwrap_err().to_string().contains("a watch with an object: watch configmaps a/"));
    assert!(maps(&fake).get("x").await.unwrap_err().to_string().contains("another request with a watch"));
}

#[tokio::test]
async fn first_requests_fail_by_reactor() {
    let fake = Fake::<Client>::new([map("a", "x")]).unwrap();
    fake.prepend_reactor("update", "configmaps", fake::first(2, Reaction::conflict));
    let stored = maps(&fake).get("x").await.unwrap();
    let update = async || maps(&fake).replace("x", &PostParams::default(), &stored).await;
    assert_eq!(code(update().await).0, 409);
    assert_eq!(code(update().await).0, 409);
    update().await.unwrap();
}

#[tokio::test]
async fn fake_watcher_sends_its_events() {
    let fake = empty();
    let watcher = FakeWatcher::new();
    fake.prepend_watch_reactor("configmaps", watcher.reactor());
    let events = maps(&fake).watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap();
    let reader = tokio::spawn(events.map(|event| format!("{:?}", event.unwrap())).collect::<Vec<_>>());
    watcher.add(map("a", "x"));
    tokio::task::yield_now().await;
    watcher.modify(map("a", "x"));
    watcher.delete(map("a", "x"));
    watcher.error(&Status::failure("too old", "Expired").with_code(410));
    watcher.stop();
    let events = reader.await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.split(['(', ' ']).next().unwrap()).collect();
    assert_eq!(kinds, ["Added", "Modified", "Deleted", "Error"]);
}

#[tokio::test]
async fn reactor_may_use_the_tracker_and_add_reactors() {
    let fake = empty();
    let own = fake.clone();
    fake.prepend_reactor("get", "configmaps", move |action| {
        // Another client was faster.
        own.tracker().add(map(action.namespace(), action.name())).unwrap();
        own.prepend_reactor("get", "configmaps", |_| Reaction::pass());
        Reaction::pass()
    });
    maps(&fake).get("x").await.unwrap();
}

#[tokio::test]
async fn server_side_apply_tracks_its_managers() {
    let fake = empty();
    let maps = maps(&fake);
    let with = |colour: &str| {
        let metadata = json!({"name": "x"});
        Patch::Apply(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": colour}}),
        )
    };
    maps.patch("x", &PatchParams::apply("one"), &with("red")).await.unwrap();
    let error = maps.patch("x", &PatchParams::apply("two"), &with("blue")).await.unwrap_err();
    let kube::Error::Api(status) = &error else { panic!("{error}") };
    let causes = &status.details.as_ref().unwrap().causes;
    assert_eq!(
        (causes[0].field.as_str(), causes[0].reason.as_str()),
        (".data.colour", "FieldManagerConflict")
    );
    assert!(causes[0].message.contains("\"one\""), "{}", causes[0].message);
    let forced = maps.patch("x", &PatchParams::apply("two").force(), &with("blue")).await.unwrap();
    assert_eq!(forced.data.unwrap()["colour"], "blue");
    let action = fake.actions().remove(2);
    assert_eq!((action.patch_type(), action.option("force")), (Some(PatchType::Apply), Some("true")));
}

#[tokio::test]
async fn dependents_are_deleted_only_with_controllers() {
    for controllers in [false, true] {
        let fake =
            Fake::<Client>::builder().controllers(controllers).object(map("a", "owner")).build().unwrap();
        let owner = maps(&fake).get("owner").await.unwrap();
        let mut owned = map("a", "owned");
        owned.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            name: "owner".into(),
            uid: owner.uid().unwrap(),
            ..OwnerReference::default()
        }]);
        maps(&fake).create(&PostParams::default(), &owned).await.unwrap();
        maps(&fake).delete("owner", &DeleteParams::default()).await.unwrap();
        assert_eq!(maps(&fake).get("owned").await.is_ok(), !controllers);
        fake.stop().await;
    }
}

#[tokio::test]
async fn finalizer_delays_deletion_as_on_a_server() {
    let mut held = map("a", "x");
    held.metadata.finalizers = Some(vec!["a.b/c".to_owned()]);
    let fake = Fake::<Client>::new([held]).unwrap();
    maps(&fake).delete("x", &DeleteParams::default()).await.unwrap();
    let mut marked = maps(&fake).get("x").await.unwrap();
    assert!(marked.metadata.deletion_timestamp.is_some());
    marked.metadata.finalizers = None;
    maps(&fake).replace("x", &PostParams::default(), &marked).await.unwrap();
    assert_eq!(code(maps(&fake).get("x").await).0, 404);
}

#[tokio::test]
async fn stopping_and_dropping_end_watches() {
    let fake = empty();
    let events = maps(&fake).watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap();
    fake.stop().await;
    assert_eq!(events.count().await, 0);

    let fake = empty();
    let events = maps(&fake).watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap();
    drop(fake);
    assert_eq!(events.count().await, 0);
}

#[tokio::test]
async fn objects_repeat_with_seed_and_clock() {
    let make = || {
        let clock = Arc::new(ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap()));
        Fake::<Client>::builder().seed(1).clock(clock).object(map("a", "x")).build().unwrap()
    };
    let [one, two] = [make(), make()].map(|fake| fake.tracker().get::<ConfigMap>("a", "x").unwrap());
    assert_eq!(one, two);
    assert_eq!(one.unwrap().creation_timestamp().unwrap().0.to_string(), "2026-01-01T00:00:00Z");
}

#[tokio::test]
async fn objects_of_another_version_are_converted_by_name_only() {
    let mut crd = serde_json::to_value(widget_crd("a.example", "Cluster")).unwrap();
    let mut older = crd["spec"]["versions"][0].clone();
    (older["name"], older["storage"]) = (json!("v1beta1"), json!(false));
    crd["spec"]["versions"].as_array_mut().unwrap().push(older);
    crd["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://nowhere.example/convert"}}});
    let fake = Fake::<Client>::builder().crds([serde_json::from_value(crd).unwrap()]);
    let mut old = widget("w", json!({"spec": {"a": 1}}));
    old.types.as_mut().unwrap().api_version = "a.example/v1beta1".to_owned();
    let fake = fake.object(Object::from_dynamic(&old)).build().unwrap();
    let widgets = Api::<DynamicObject>::all_with(fake.client(), &widget_resource("a.example"));
    assert_eq!(widgets.get("w").await.unwrap().data["spec"]["a"], 1);
}

/// bench/server measures the time of a fake.
#[tokio::test]
async fn fake_reads_crds_from_a_folder() {
    for (example, path) in [
        ("balancer", "/apis/exposer.hliangzhao.io/v1alpha1/balancers"),
        ("ecsbinding", "/apis/hopegi.com/v1/ecsbinding"),
    ] {
        let folder = format!("../examples/{example}/config/crd/bases");
        let fake = Fake::<Client>::builder().crd_paths([folder]).object(map("a", "x")).build().unwrap();
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        let list: Value = fake.client().request(request).await.unwrap();
        assert_eq!(list["items"], json!([]), "{list}");
    }
}
