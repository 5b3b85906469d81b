//! Kinds that are known only at run time, and metadata alone: informers, listers, factories, controllers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Request;
use http::header::ACCEPT;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube::client::Body;
use kube::core::{DynamicObject, GroupVersionKind, GroupVersionResource, PartialObjectMeta};
use kubesmith_runtime::cache::{Compact, ObjectKey};
use kubesmith_runtime::client::Discovery;
use kubesmith_runtime::controller::{Action, CancellationToken, ControllerBuilder, reconcile_fn};
use kubesmith_runtime::informer::{
    Cached, DynamicKind, InformerOptions, SharedInformer, SharedInformerFactory,
};
use kubesmith_runtime::labels::Selector;
use kubesmith_runtime::metrics::Registry;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(3600);

fn crd(kind: &str, plural: &str, scope: &str) -> CustomResourceDefinition {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    serde_json::from_value(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.a.example")},
        "spec": {
            "group": "a.example", "scope": scope,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open}}},
            }],
        },
    }))
    .unwrap()
}

/// A server with the kind `Widget` in namespaces and `Gadget` in none.
async fn server() -> (TestEnv, DynamicKind, DynamicKind) {
    let env = TestEnv::builder().start().await.unwrap();
    let crds = vec![crd("Widget", "widgets", "Namespaced"), crd("Gadget", "gadgets", "Cluster")];
    env.install_crds(crds).await.unwrap();
    let discovery = Discovery::new(env.client());
    let widgets = GroupVersionResource::gvr("a.example", "v1", "widgets");
    let widgets = discovery.kind_of(&widgets).await.unwrap();
    let gadgets = discovery.kind(&GroupVersionKind::gvk("a.example", "v1", "Gadget")).await.unwrap();
    (env, widgets, gadgets)
}

fn api(env: &TestEnv, kind: &DynamicKind) -> Api<DynamicObject> {
    match kind.scope {
        kube::core::discovery::Scope::Namespaced => {
            Api::namespaced_with(env.client(), "default", &kind.resource)
        }
        kube::core::discovery::Scope::Cluster => Api::all_with(env.client(), &kind.resource),
    }
}

fn object(kind: &DynamicKind, name: &str, size: u64) -> DynamicObject {
    let mut object = DynamicObject::new(name, &kind.resource).data(json!({"spec": {"size": size}}));
    object.metadata.labels = Some([("app".to_owned(), name.to_owned())].into());
    object
}

async fn create(env: &TestEnv, kind: &DynamicKind, name: &str, size: u64) {
    api(env, kind).create(&PostParams::default(), &object(kind, name, size)).await.unwrap();
}

fn started<K>(client: kube::Client, kind: &DynamicKind, paged: bool) -> SharedInformer<K>
where
    K: Cached<DynamicType = kube::core::ApiResource>,
{
    let options = InformerOptions::new();
    let options = if paged { options.paged_lists() } else { options };
    let informer = SharedInformer::new_with(client, kind, options);
    informer.start();
    informer
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let held = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, held).await.unwrap_or_else(|_| panic!("never: {what}"));
}

fn size(object: &DynamicObject) -> &Value {
    &object.data["spec"]["size"]
}

#[tokio::test(start_paused = true)]
async fn objects_of_a_kind_known_at_run_time_are_cached() {
    let (env, widgets, _) = server().await;
    create(&env, &widgets, "a", 1).await;
    for paged in [false, true] {
        let informer = started::<DynamicObject>(env.client(), &widgets, paged);
        informer.wait_for_sync(PATIENCE).await.unwrap();
        assert_eq!(informer.resource(), "widgets.a.example");
        let lister = informer.lister();
        let a = lister.namespace("default").get("a").unwrap();
        assert_eq!(size(&a), &json!(1));
        assert_eq!(a.metadata.managed_fields, None);
        assert_eq!(a.types.as_ref().unwrap().kind, "Widget");
        assert_eq!(lister.list(&"app=a".parse::<Selector>().unwrap()).len(), 1);
        let missing = lister.namespace("default").get("b").unwrap_err();
        assert_eq!(missing.to_string(), "widget.a.example \"b\" not found");

        let patch = Patch::Merge(json!({"spec": {"size": 2}}));
        api(&env, &widgets).patch("a", &PatchParams::default(), &patch).await.unwrap();
        create(&env, &widgets, "b", 7).await;
        until("b", || lister.namespace("default").get("b").is_ok()).await;
        assert_eq!(size(&lister.namespace("default").get("a").unwrap()), &json!(2));
        api(&env, &widgets).delete("b", &DeleteParams::default()).await.unwrap();
        until("b is gone", || lister.namespace("default").get("b").is_err()).await;
        let patch = Patch::Merge(json!({"spec": {"size": 1}}));
        let written = api(&env, &widgets).patch("a", &PatchParams::default(), &patch).await.unwrap();
        informer.wait_for_write(&written, PATIENCE).await.unwrap();
        assert_eq!(size(&lister.namespace("default").get("a").unwrap()), &json!(1));
        informer.shutdown().await;
    }
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_kept_on_request() {
    let (env, widgets, _) = server().await;
    create(&env, &widgets, "a", 1).await;
    let options = InformerOptions::new().keep_managed_fields();
    let informer = SharedInformer::<DynamicObject>::new_with(env.client(), &widgets, options);
    informer.start();
    informer.wait_for_sync(PATIENCE).await.unwrap();
    assert!(informer.store().get("default", "a").unwrap().metadata.managed_fields.is_some());
    env.stop().await;
}

/// The informer adds the type, which the server omits in the items of built-in kinds.
#[tokio::test(start_paused = true)]
async fn objects_from_lists_have_their_type() {
    let (env, _, _) = server().await;
    let maps: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let map = json!({"metadata": {"name": "a"}, "data": {"x": "y"}});
    maps.create(&PostParams::default(), &serde_json::from_value(map).unwrap()).await.unwrap();
    let kind =
        Discovery::new(env.client()).kind(&GroupVersionKind::gvk("", "v1", "ConfigMap")).await.unwrap();
    let whole = started::<DynamicObject>(env.client(), &kind, true);
    let compact = started::<Compact<DynamicObject>>(env.client(), &kind, true);
    whole.wait_for_sync(PATIENCE).await.unwrap();
    compact.wait_for_sync(PATIENCE).await.unwrap();
    let (whole, compact) = (whole.store().get("default", "a"), compact.store().get("default", "a"));
    let (whole, compact) = (whole.unwrap(), compact.unwrap().object().unwrap());
    for object in [&*whole, &compact] {
        let types = object.types.as_ref().unwrap();
        assert_eq!((types.api_version.as_str(), types.kind.as_str()), ("v1", "ConfigMap"));
        assert_eq!(object.data, json!({"data": {"x": "y"}}));
    }
    env.stop().await;
}

/// A client that records the requests.
fn noting(env: &TestEnv) -> (kube::Client, Arc<Mutex<Vec<String>>>) {
    let (client, asked) = (env.client(), Arc::<Mutex<Vec<String>>>::default());
    let seen = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        let accept = request.headers()[ACCEPT].to_str().unwrap().to_owned();
        seen.lock().unwrap().push(accept);
        let client = client.clone();
        async move { client.send(request).await }
    });
    (kube::Client::new(service, "default"), asked)
}

#[tokio::test(start_paused = true)]
async fn metadata_informers_request_only_metadata() {
    let (env, widgets, _) = server().await;
    create(&env, &widgets, "a", 1).await;
    let (client, asked) = noting(&env);
    let metadata = started::<PartialObjectMeta>(client.clone(), &widgets, true);
    metadata.wait_for_sync(PATIENCE).await.unwrap();
    create(&env, &widgets, "b", 1).await;
    until("b", || metadata.store().get("default", "b").is_some()).await;
    let labels = metadata.store().get("default", "a").unwrap().metadata.labels.clone().unwrap();
    assert_eq!(labels["app"], "a");
    assert_eq!(
        *asked.lock().unwrap(),
        [
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        ]
    );
    let compact = started::<Compact<PartialObjectMeta>>(client.clone(), &widgets, false);
    compact.wait_for_sync(PATIENCE).await.unwrap();
    let a = compact.store().get("default", "a").unwrap();
    assert_eq!((a.label("app"), a.field::<Value>("spec").unwrap()), (Some("a"), None));
    metadata.shutdown().await;

    // The same of a kind that is known when compiling.
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pods: Api<Pod> = Api::namespaced(env.client(), "default");
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    asked.lock().unwrap().clear();
    let informer = SharedInformer::<PartialObjectMeta<Pod>>::new(client, InformerOptions::new());
    informer.start();
    informer.wait_for_sync(PATIENCE).await.unwrap();
    assert_eq!(informer.resource(), "pods");
    assert!(informer.lister().namespace("default").get("p").is_ok());
    assert_eq!(*asked.lock().unwrap(), ["application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"]);
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_form_and_kind_has_its_own_informer() {
    let (env, widgets, gadgets) = server().await;
    create(&env, &widgets, "a", 1).await;
    create(&env, &gadgets, "g", 1).await;
    let registry = Registry::new();
    let builder = SharedInformerFactory::builder(env.client()).namespace("default").metrics(&registry);
    let factory: SharedInformerFactory = builder.build();
    let objects = factory.informer_for_kind::<DynamicObject>(&widgets);
    let metadata = factory.informer_for_kind::<PartialObjectMeta>(&widgets);
    let others = factory.informer_for_kind::<DynamicObject>(&gadgets);
    let again = factory.informer_for_kind::<DynamicObject>(&widgets);
    let _ = (factory.informer_for::<Pod>(), factory.informer_for::<PartialObjectMeta<Pod>>());
    let states = factory.states();
    let named: Vec<&str> = states.iter().map(|state| state.resource.as_str()).collect();
    assert_eq!(
        named,
        ["widgets.a.example", "widgets.a.example (metadata)", "gadgets.a.example", "pods", "pods (metadata)"]
    );
    factory.start();
    factory.wait_for_cache_sync(PATIENCE).await.unwrap();
    assert!(std::ptr::eq(
        &*objects.store().get("default", "a").unwrap(),
        &*again.store().get("default", "a").unwrap()
    ));
    assert_eq!((objects.store().len(), metadata.store().len()), (1, 1));
    let resource = r#"{name="",group="a.example",version="v1",resource="widgets""#;
    for form in ["", r#",form="metadata""#] {
        let line = format!("informer_objects{resource}{form}}} 1.0\n");
        assert!(registry.encode().contains(&line), "no {line} in {}", registry.encode());
    }
    // The namespace of the factory does not matter to a kind without namespaces.
    assert_eq!(size(&others.lister().get("g").unwrap()), &json!(1));
    factory.shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn controllers_take_kinds_known_at_run_time() {
    let (env, widgets, gadgets) = server().await;
    let factory: SharedInformerFactory = SharedInformerFactory::builder(env.client()).build();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let controller = ControllerBuilder::new("gadgets")
        .for_(&factory.informer_for_kind::<DynamicObject>(&gadgets))
        .owns(&factory.informer_for_kind::<PartialObjectMeta>(&widgets))
        .watches(&factory.informer_for_kind::<Compact<DynamicObject>>(&widgets), |widget| {
            widget.label("gadget").map(ObjectKey::cluster)
        })
        .complete(reconcile_fn(move |key: ObjectKey| {
            log.lock().unwrap().push(key.to_string());
            async { Ok(Action::done()) }
        }))
        .unwrap();
    factory.start();
    let stop = CancellationToken::new();
    let running = tokio::spawn(controller.run(stop.clone()));
    let saw = |key: &'static str| {
        let seen = Arc::clone(&seen);
        async move { until(key, || std::mem::take(&mut *seen.lock().unwrap()).contains(&key.to_owned())).await }
    };
    create(&env, &gadgets, "primary", 1).await;
    saw("primary").await;

    let mut owned = object(&widgets, "owned", 1);
    let owner = json!({"apiVersion": "a.example/v1", "kind": "Gadget", "name": "owner", "uid": "u", "controller": true});
    owned.metadata.owner_references = Some(vec![serde_json::from_value(owner).unwrap()]);
    api(&env, &widgets).create(&PostParams::default(), &owned).await.unwrap();
    saw("owner").await;

    let mut watched = object(&widgets, "watched", 1);
    watched.metadata.labels = Some([("gadget".to_owned(), "mapped".to_owned())].into());
    api(&env, &widgets).create(&PostParams::default(), &watched).await.unwrap();
    saw("mapped").await;

    stop.cancel();
    running.await.unwrap().unwrap();
    factory.shutdown().await;
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unknown_kind_is_named() {
    let (env, _, _) = server().await;
    let discovery = Discovery::new(env.client());
    for resource in [
        GroupVersionResource::gvr("a.example", "v1", "gizmos"),
        GroupVersionResource::gvr("b.example", "v1", "gizmos"),
    ] {
        let error = discovery.kind_of(&resource).await.unwrap_err();
        assert!(error.is_not_found(), "{error:?}");
    }
    let error = discovery.kind(&GroupVersionKind::gvk("a.example", "v1", "Gizmo")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot discover a.example/v1: the server has no \"Gizmo\" in a.example/v1; is the CRD installed and served? \
         (NotFound, code 404)"
    );
    env.stop().await;
}

/// A CRD that is installed later: its informer waits, reports the reason, and shows the objects afterwards.
#[tokio::test(start_paused = true)]
async fn kind_may_be_installed_after_its_informer_starts() {
    let env = TestEnv::builder().start().await.unwrap();
    let gvk = GroupVersionKind::gvk("a.example", "v1", "Widget");
    let widgets = DynamicKind::namespaced(kube::core::ApiResource::from_gvk_with_plural(&gvk, "widgets"));
    let informer = started::<DynamicObject>(env.client(), &widgets, false);
    until("it fails", || informer.last_error().is_some_and(|error| error.contains("widgets.a.example")))
        .await;
    assert!(!informer.has_synced());
    env.install_crds(vec![crd("Widget", "widgets", "Namespaced")]).await.unwrap();
    create(&env, &widgets, "a", 1).await;
    until("a", || informer.store().get("default", "a").is_some()).await;
    assert_eq!(informer.last_error(), None);
    env.stop().await;
}
