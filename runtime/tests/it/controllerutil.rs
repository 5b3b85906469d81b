//! Finalizers, owner references, conditions, create-or-update.

use std::convert::Infallible;

use http::Method;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kubesmith_runtime::controllerutil::{
    CreateOrUpdateError, OperationResult, OwnerError, add_finalizer, condition, contains_finalizer,
    controller_of, create_or_patch, create_or_update, find_status_condition, has_controller_reference,
    has_owner_reference, is_controlled_by, is_status_condition_false, is_status_condition_present_and_equal,
    is_status_condition_true, remove_controller_reference, remove_finalizer, remove_owner_reference,
    remove_status_condition, set_controller_reference, set_controller_reference_with, set_owner_reference,
    set_status_condition,
};
use serde_json::json;

use crate::scripted::{Asked, client, failure};

fn pod(name: &str, uid: &str) -> Pod {
    let metadata = ObjectMeta {
        namespace: Some("shop".to_owned()),
        name: Some(name.to_owned()),
        uid: Some(uid.to_owned()),
        ..ObjectMeta::default()
    };
    Pod { metadata, ..Pod::default() }
}

fn map() -> ConfigMap {
    let metadata = ObjectMeta {
        namespace: Some("shop".to_owned()),
        name: Some("m".to_owned()),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

#[test]
fn finalizers_are_a_set() {
    let mut pod = pod("web", "1");
    assert!(add_finalizer(&mut pod, "a/x"));
    assert!(add_finalizer(&mut pod, "a/y"));
    assert!(!add_finalizer(&mut pod, "a/x"));
    assert!(remove_finalizer(&mut pod, "a/x"));
    assert!(!remove_finalizer(&mut pod, "a/x"));
    assert!(contains_finalizer(&pod, "a/y") && !contains_finalizer(&pod, "a/x"));
}

#[test]
fn object_has_one_controller() {
    let mut map = map();
    set_controller_reference(&pod("web", "1"), &mut map).unwrap();
    set_controller_reference(&pod("web", "2"), &mut map).unwrap();
    let references = map.metadata.owner_references.clone().unwrap();
    assert_eq!(references.len(), 1, "the same object once more replaces its reference");
    assert_eq!((references[0].uid.as_str(), references[0].block_owner_deletion), ("2", Some(true)));
    assert!(is_controlled_by(&map, &pod("web", "2")) && !is_controlled_by(&map, &pod("web", "1")));

    let error = set_controller_reference(&pod("other", "3"), &mut map).unwrap_err();
    let text = "ConfigMap shop/m is already controlled by Pod web, so Pod shop/other cannot control it";
    assert_eq!(error.to_string(), text);
    set_owner_reference(&pod("other", "3"), &mut map).unwrap();
    assert_eq!(controller_of(&map).unwrap().name, "web");
    assert!(remove_owner_reference(&pod("web", "2"), &mut map));
    assert!(!has_controller_reference(&map));
    assert!(remove_owner_reference(&pod("other", "3"), &mut map));
    assert!(map.metadata.owner_references.is_none());
}

#[test]
fn owners_cannot_own_objects_in_other_namespaces() {
    let mut node =
        Node { metadata: ObjectMeta { name: Some("n".to_owned()), ..Default::default() }, ..Node::default() };
    let error = set_controller_reference(&pod("web", "1"), &mut node).unwrap_err();
    let text = "Pod shop/web is in namespace \"shop\" and cannot own Node n, which is cluster-scoped";
    assert_eq!(error.to_string(), text);
    let mut other = map();
    other.metadata.namespace = Some("bank".to_owned());
    assert!(matches!(
        set_owner_reference(&pod("web", "1"), &mut other),
        Err(OwnerError::OtherNamespace { .. })
    ));
    assert!(other.metadata.owner_references.is_none());
    node.metadata.uid = Some("9".to_owned());
    set_controller_reference(&node, &mut other).unwrap();
}

#[test]
fn owner_needs_name_and_uid() {
    let mut owner = pod("web", "");
    assert!(matches!(
        set_controller_reference(&owner, &mut map()),
        Err(OwnerError::Incomplete { missing: "uid", .. })
    ));
    owner.metadata.name = None;
    assert!(matches!(
        set_owner_reference(&owner, &mut map()),
        Err(OwnerError::Incomplete { missing: "name", .. })
    ));
}

#[test]
fn transition_time_changes_with_the_status() {
    let at = |seconds| Timestamp::from_second(seconds).unwrap();
    let mut conditions = vec![condition("Other", false, "No", "", at(0))];
    assert!(set_status_condition(&mut conditions, condition("Ready", false, "Starting", "0 of 3", at(1))));
    assert!(set_status_condition(&mut conditions, condition("Ready", false, "Starting", "1 of 3", at(2))));
    assert_eq!(find_status_condition(&conditions, "Ready").unwrap().last_transition_time.0, at(1));
    assert!(is_status_condition_false(&conditions, "Ready"));
    assert!(set_status_condition(&mut conditions, condition("Ready", true, "Done", "3 of 3", at(3))));
    assert!(!set_status_condition(&mut conditions, condition("Ready", true, "Done", "3 of 3", at(4))));
    assert_eq!(find_status_condition(&conditions, "Ready").unwrap().last_transition_time.0, at(3));
    assert!(
        is_status_condition_true(&conditions, "Ready") && !is_status_condition_true(&conditions, "Missing")
    );
    assert!(
        remove_status_condition(&mut conditions, "Ready")
            && !remove_status_condition(&mut conditions, "Ready")
    );
    assert_eq!(conditions.len(), 1);
}

/// Sets one key of the data.
fn set(value: &'static str) -> impl FnOnce(&mut ConfigMap) -> Result<(), Infallible> {
    move |map| {
        map.data.get_or_insert_default().insert("key".to_owned(), value.to_owned());
        Ok(())
    }
}

#[tokio::test]
async fn create_or_update_creates_an_absent_object() {
    let (client, log) = client(|request: &Asked| match request.method {
        Method::GET => failure(404, "NotFound"),
        _ => (201, request.body.clone()),
    });
    let (result, created) =
        create_or_update(&Api::namespaced(client, "shop"), map(), set("a")).await.unwrap();
    assert_eq!((result, created.data.unwrap()["key"].as_str()), (OperationResult::Created, "a"));
    let methods: Vec<String> = log.lock().unwrap().iter().map(|request| request.method.to_string()).collect();
    assert_eq!(methods, ["GET", "POST"]);
}

#[tokio::test]
async fn create_or_update_writes_only_differences() {
    let (client, log) = client(|request: &Asked| match request.method {
        Method::GET => {
            let metadata = json!({"name": "m", "namespace": "shop", "resourceVersion": "7"});
            (
                200,
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "a", "own": "b"}}),
            )
        }
        _ => (200, request.body.clone()),
    });
    let api: Api<ConfigMap> = Api::namespaced(client, "shop");
    assert_eq!(create_or_update(&api, map(), set("a")).await.unwrap().0, OperationResult::Unchanged);
    assert_eq!(log.lock().unwrap().len(), 1);
    assert_eq!(create_or_update(&api, map(), set("c")).await.unwrap().0, OperationResult::Updated);
    let written = log.lock().unwrap().last().unwrap().clone();
    assert_eq!((written.method, &written.body["metadata"]["resourceVersion"]), (Method::PUT, &json!("7")));
    assert_eq!(written.body["data"], json!({"key": "c", "own": "b"}));
}

#[tokio::test]
async fn create_or_update_errors_name_the_request() {
    let (client, _) = client(|request: &Asked| match request.method {
        Method::GET => failure(404, "NotFound"),
        _ => failure(403, "Forbidden"),
    });
    let api: Api<ConfigMap> = Api::namespaced(client, "shop");
    let error = create_or_update(&api, map(), set("a")).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot create ConfigMap \"m\": "), "{error}");
    let error = create_or_update(&api, map(), |_| Err("no data")).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot mutate ConfigMap \"m\": no data");
    let rename = |map: &mut ConfigMap| {
        map.metadata.name = Some("x".to_owned());
        Ok::<_, Infallible>(())
    };
    assert!(matches!(create_or_update(&api, map(), rename).await, Err(CreateOrUpdateError::Renamed { .. })));
    let nameless = ConfigMap::default();
    assert!(matches!(
        create_or_update(&api, nameless, set("a")).await,
        Err(CreateOrUpdateError::NoName { .. })
    ));
}

#[test]
fn only_the_controller_can_be_removed_as_controller() {
    let (web, other) = (pod("web", "1"), pod("other", "2"));
    let mut map = map();
    set_owner_reference(&other, &mut map).unwrap();
    set_controller_reference_with(&web, &mut map, false).unwrap();
    let references = map.metadata.owner_references.clone().unwrap();
    assert_eq!(references[1].block_owner_deletion, Some(false));
    let error = remove_controller_reference(&other, &mut map).unwrap_err();
    assert_eq!(error.to_string(), "ConfigMap shop/m is not controlled by Pod shop/other");
    assert!(has_owner_reference(&map, &other) && has_owner_reference(&map, &web));
    remove_controller_reference(&web, &mut map).unwrap();
    assert!(has_owner_reference(&map, &other) && !has_owner_reference(&map, &web));
}

#[test]
fn conditions_can_be_compared_with_any_status() {
    let mut unknown = condition("Ready", true, "Lost", "", Timestamp::UNIX_EPOCH);
    unknown.status = "Unknown".to_owned();
    let conditions = [unknown];
    assert!(is_status_condition_present_and_equal(&conditions, "Ready", "Unknown"));
    assert!(!is_status_condition_present_and_equal(&conditions, "Ready", "True"));
}

#[tokio::test]
async fn create_or_patch_sends_differences_and_the_status_separately() {
    let env = kubesmith_testenv::TestEnv::builder().start().await.unwrap();
    let api: Api<Node> = Api::all(env.client());
    let node = || Node {
        metadata: ObjectMeta { name: Some("n".to_owned()), ..ObjectMeta::default() },
        ..Node::default()
    };
    let phase = |node: &mut Node, phase: &str| {
        node.status.get_or_insert_default().phase = Some(phase.to_owned());
    };
    let label = |node: &mut Node, value: &str| {
        node.metadata.labels.get_or_insert_default().insert("zone".to_owned(), value.to_owned());
    };
    let patched = async |change: &dyn Fn(&mut Node)| {
        let mutate = |node: &mut Node| {
            change(node);
            Ok::<_, Infallible>(())
        };
        let (result, _) = create_or_patch(&api, node(), mutate).await.unwrap();
        let now = api.get("n").await.unwrap();
        let zone = now.metadata.labels.and_then(|labels| labels.get("zone").cloned()).unwrap_or_default();
        (result, zone, now.status.and_then(|status| status.phase).unwrap_or_default())
    };
    let expect = |result, zone: &str, phase: &str| (result, zone.to_owned(), phase.to_owned());
    use OperationResult::{Created, Unchanged, Updated, UpdatedStatus, UpdatedStatusOnly};
    let first = patched(&|node| phase(node, "Pending")).await;
    assert_eq!(first, expect(Created, "", "Pending"));
    assert_eq!(patched(&|_| {}).await, expect(Unchanged, "", "Pending"));
    assert_eq!(patched(&|node| label(node, "a")).await, expect(Updated, "a", "Pending"));
    assert_eq!(patched(&|node| phase(node, "Running")).await, expect(UpdatedStatusOnly, "a", "Running"));
    let both = |node: &mut Node| {
        label(node, "b");
        phase(node, "Pending");
    };
    assert_eq!(patched(&both).await, expect(UpdatedStatus, "b", "Pending"));
    assert_eq!(patched(&|node| node.metadata.labels = None).await, expect(Updated, "", "Pending"));
    let renamed = |node: &mut Node| {
        node.metadata.name = Some("other".to_owned());
        Ok::<_, Infallible>(())
    };
    let error = create_or_patch(&api, node(), renamed).await.unwrap_err();
    assert!(matches!(error, CreateOrUpdateError::Renamed { .. }), "{error}");
    env.stop().await;
}
