//! Built-in kinds: how the server completes objects that users write.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch};

const PODS: &str = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SERVICES: &str = "/api/v1/namespaces/default/services";

fn pod(name: &str, container: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}})
}

fn deployment(name: &str) -> Value {
    let labels = json!({"app": name});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}})
}

#[tokio::test]
async fn quantities_are_normalised_and_zero_values_are_omitted() {
    let env = TestEnv::builder().start().await.unwrap();
    let container = json!({"name": "c", "image": "nginx:1", "args": [], "stdin": false,
        "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}}, "ports": [{"containerPort": 80}]});
    let (code, stored) = call(&env, Method::POST, PODS, pod("p", &container)).await;
    assert_eq!(code, 201, "{stored}");
    let container = &stored["spec"]["containers"][0];
    let amounts = json!({"cpu": "500m", "memory": "1Gi"});
    assert_eq!(container["resources"], json!({"limits": amounts, "requests": amounts}));
    assert_eq!(container["ports"], json!([{"containerPort": 80, "protocol": "TCP"}]));
    assert!(container.get("args").is_none() && container.get("stdin").is_none());
}

#[tokio::test]
async fn value_of_the_wrong_type_is_reported_with_its_path() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut wrong = deployment("d");
    wrong["spec"]["replicas"] = json!("3");
    let (code, status) = call(&env, Method::POST, DEPLOYMENTS, wrong).await;
    assert_eq!(code, 400);
    assert_eq!(
        status["message"],
        "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct \
         field DeploymentSpec.spec.replicas of type int32"
    );
}

#[tokio::test]
async fn configuration_is_refused_when_it_does_not_fit_its_kind() {
    let env = TestEnv::builder().start().await.unwrap();
    let refused = async |config: Value| {
        let path = format!("{DEPLOYMENTS}/d?fieldManager=m");
        let (code, status) = patch(&env, &path, "apply-patch+yaml", config).await;
        assert_eq!(code, 500);
        let about = "failed to create typed patch object (/d; apps/v1, Kind=Deployment): ";
        let text = status["message"].as_str().unwrap();
        text.strip_prefix(about).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let mut config = deployment("d");
    config["spec"]["template"]["spec"]["containers"][0]["imagee"] = json!("x");
    let name = config["spec"]["template"]["spec"]["containers"][0]["name"].clone();
    assert_eq!(
        refused(config.clone()).await,
        format!(".spec.template.spec.containers[name={name}].imagee: field not declared in schema")
    );
    let container = &mut config["spec"]["template"]["spec"]["containers"][0];
    *container = json!({"name": "a", "command": "x", "resources": {"limits": {"cpu": {}, "memory": 1}},
        "ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP", "hostPort": "x"}]});
    config["spec"]["replicas"] = json!("3");
    assert_eq!(
        refused(config.clone()).await,
        "errors:\n  .spec.replicas: expected numeric (int or float), got string\n  \
         .spec.template.spec.containers[name=\"a\"].command: expected list, got &{x}\n  \
         .spec.template.spec.containers[name=\"a\"].ports: duplicate entries for key [containerPort=1,protocol=\"TCP\"]\n  \
         .spec.template.spec.containers[name=\"a\"].ports[containerPort=1,protocol=\"TCP\"].hostPort: expected numeric \
         (int or float), got string\n  \
         .spec.template.spec.containers[name=\"a\"].resources.limits.cpu: expected any scalar, got &{map[]}"
    );
}

#[tokio::test]
async fn missing_list_map_key_has_its_zero_value_on_apply() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{DEPLOYMENTS}/d?fieldManager=m");
    let mut config = deployment("d");
    config["spec"]["template"]["spec"]["containers"] = json!([{"image": "x"}]);
    let (code, status) = patch(&env, &path, "apply-patch+yaml", config).await;
    assert_eq!(code, 422, "{status}");
    assert_eq!(status["details"]["causes"][0]["field"], "spec.template.spec.containers[0].name");
}

#[tokio::test]
async fn apply_owns_only_the_fields_of_its_configuration() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{DEPLOYMENTS}/d?fieldManager=m");
    let (code, stored) = patch(&env, &path, "apply-patch+yaml", deployment("d")).await;
    assert_eq!(code, 201, "{stored}");
    assert_eq!(
        stored["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:spec": {"f:selector": {}, "f:template": {
            "f:metadata": {"f:labels": {"f:app": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}, "f:name": {}}}}}}})
    );
    assert_eq!(stored["spec"]["replicas"], 1);
}

#[tokio::test]
async fn strategic_merge_patch_puts_new_items_of_a_list_first() {
    let env = TestEnv::builder().start().await.unwrap();
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
        "spec": {"selector": {"a": "b"}, "ports": [{"name": "a", "port": 80}]}});
    assert_eq!(call(&env, Method::POST, SERVICES, service).await.0, 201);
    let more = json!({"spec": {"ports": [{"name": "b", "port": 81}]}});
    let (code, stored) = patch(&env, &format!("{SERVICES}/s"), "strategic-merge-patch+json", more).await;
    assert_eq!(code, 200, "{stored}");
    let ports: Vec<&Value> = stored["spec"]["ports"].as_array().unwrap().iter().map(|p| &p["port"]).collect();
    assert_eq!(ports, [81, 80]);
}

#[tokio::test]
async fn schemas_of_built_in_kinds_have_extensions_for_clients() {
    let env = TestEnv::builder().start().await.unwrap();
    let (code, document) = call(&env, Method::GET, "/openapi/v3/apis/apps/v1", Value::Null).await;
    assert_eq!(code, 200);
    let schemas = &document["components"]["schemas"];
    let deployment = &schemas["io.k8s.api.apps.v1.Deployment"];
    assert_eq!(
        deployment["x-kubernetes-group-version-kind"],
        json!([{"group": "apps", "version": "v1", "kind": "Deployment"}])
    );
    let containers = &schemas["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["items"]["$ref"], "#/components/schemas/io.k8s.api.core.v1.Container");
    assert!(containers["description"].is_string());
    let patch = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    assert!(patch["requestBody"]["content"]["application/strategic-merge-patch+json"].is_object());
}

#[tokio::test]
async fn replication_controller_without_finalizers_is_deleted_with_a_status() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let body = json!({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "r"},
        "spec": {"selector": {"a": "b"}, "template": template}});
    assert_eq!(call(&env, Method::POST, path, body).await.0, 201);
    let one = format!("{path}/r?propagationPolicy=Background");
    let (code, answer) = call(&env, Method::DELETE, &one, Value::Null).await;
    assert_eq!((code, &answer["kind"], &answer["status"]), (200, &json!("Status"), &json!("Success")));
}

#[tokio::test]
async fn generated_defaults_of_flags_are_false() {
    let env = TestEnv::builder().start().await.unwrap();
    let disk = json!({"diskName": "d", "diskURI": "https://a.blob.core.windows.net/b/c.vhd"});
    let key = json!({"volumeName": "e", "path": "p", "key": "K"});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {
        "volumes": [{"name": "d", "azureDisk": disk}, {"name": "e", "emptyDir": {}}],
        "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "valueFrom": {"fileKeyRef": key}}]}]}});
    let (code, stored) = call(&env, Method::POST, "/api/v1/namespaces/default/pods", pod).await;
    assert_eq!(code, 201, "{stored}");
    assert_eq!(stored.pointer("/spec/volumes/0/azureDisk/readOnly"), Some(&json!(false)));
    let optional = "/spec/containers/0/env/0/valueFrom/fileKeyRef/optional";
    assert_eq!(stored.pointer(optional), Some(&json!(false)));
}

#[tokio::test]
async fn applied_ephemeral_container_owns_variables_by_name() {
    let env = TestEnv::builder().start().await.unwrap();
    let pod = |containers: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": containers});
    let running = pod(json!({"containers": [{"name": "c", "image": "i"}]}));
    assert_eq!(call(&env, Method::POST, "/api/v1/namespaces/default/pods", running).await.0, 201);
    let debug = json!({"name": "d", "image": "i", "env": [{"name": "A", "value": "1"}]});
    let path = "/api/v1/namespaces/default/pods/p/ephemeralcontainers?fieldManager=m";
    let (code, stored) =
        patch(&env, path, "apply-patch+yaml", pod(json!({"ephemeralContainers": [debug]}))).await;
    assert_eq!(code, 200, "{stored}");
    let managers = stored["metadata"]["managedFields"].as_array().unwrap();
    let own = managers.iter().find(|entry| entry["manager"] == "m").unwrap();
    let container = &own["fieldsV1"]["f:spec"]["f:ephemeralContainers"][r#"k:{"name":"d"}"#];
    assert!(container["f:env"][r#"k:{"name":"A"}"#].is_object(), "{own}");
}

#[tokio::test]
async fn empty_list_of_managers_takes_ownership_away_from_built_in_kinds() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/api/v1/namespaces/default/configmaps";
    let body =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "b"}});
    assert_eq!(call(&env, Method::POST, path, body).await.0, 201);
    let empty = json!({"metadata": {"managedFields": [], "labels": {"a": "b"}}});
    for query in ["?dryRun=All", ""] {
        let one = format!("{path}/c{query}");
        let (code, answer) = patch(&env, &one, "merge-patch+json", empty.clone()).await;
        assert_eq!((code, answer["metadata"].get("managedFields")), (200, None), "{query}");
    }
}

#[tokio::test]
async fn generation_of_a_slice_does_not_count_empty_lists() {
    let env = TestEnv::builder().start().await.unwrap();
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice =
        json!({"metadata": {"name": "s"}, "addressType": "IPv4", "endpoints": [], "ports": [{"port": 80}]});
    assert_eq!(call(&env, Method::POST, slices, slice).await.0, 201);
    let path = format!("{slices}/s");
    for (change, generation) in [
        (json!({"ports": []}), 2),
        (json!({"ports": []}), 2),
        (json!({"ports": null}), 2),
        (json!({"endpoints": []}), 2),
        (json!({"ports": [{"port": 81}]}), 3),
    ] {
        let (status, body) = patch(&env, &path, "merge-patch+json", change.clone()).await;
        assert_eq!((status, &body["metadata"]["generation"]), (200, &json!(generation)), "{change}");
    }
    env.stop().await;
}

#[tokio::test]
async fn administrative_access_to_devices_needs_a_label_of_the_namespace() {
    let env = TestEnv::builder().start().await.unwrap();
    let base = "/apis/resource.k8s.io/v1/namespaces/default";
    let spec = json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": true}}]}});
    let text = "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the \
                `resource.kubernetes.io/admin-access: true` label on the containing namespace";
    let claim = json!({"metadata": {"name": "a"}, "spec": spec});
    let template = json!({"metadata": {"name": "a"}, "spec": {"spec": spec}});
    let both = [
        ("resourceclaims", "ResourceClaim", claim),
        ("resourceclaimtemplates", "ResourceClaimTemplate", template),
    ];
    for (plural, kind, object) in &both {
        let (status, body) = call(&env, Method::POST, &format!("{base}/{plural}"), object.clone()).await;
        let text = format!("{kind}.resource.k8s.io \"a\" is invalid: {text}");
        assert_eq!((status, &body["message"]), (422, &json!(text)));
    }
    let label = json!({"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}});
    assert_eq!(patch(&env, "/api/v1/namespaces/default", "merge-patch+json", label).await.0, 200);
    for (plural, _, object) in both {
        assert_eq!(call(&env, Method::POST, &format!("{base}/{plural}"), object).await.0, 201);
    }
    let none = json!({"metadata": {"labels": {"resource.kubernetes.io/admin-access": null}}});
    assert_eq!(patch(&env, "/api/v1/namespaces/default", "merge-patch+json", none).await.0, 200);
    let device = json!({"request": "r", "driver": "d", "pool": "p", "device": "v", "adminAccess": true});
    let status = json!({"status": {"allocation": {"devices": {"results": [device]}}}});
    let (code, body) =
        patch(&env, &format!("{base}/resourceclaims/a/status"), "merge-patch+json", status).await;
    assert_eq!(
        (code, &body["details"]["causes"][0]["field"]),
        (422, &json!("status.allocation.devices.results[0].adminAccess"))
    );
    env.stop().await;
}

#[tokio::test]
async fn status_of_a_device_goes_with_its_allocation() {
    let env = TestEnv::builder().start().await.unwrap();
    let claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    let spec = json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}});
    let claim = json!({"metadata": {"name": "a"}, "spec": spec});
    assert_eq!(call(&env, Method::POST, claims, claim).await.0, 201);
    let write = async |status: Value| {
        let status = json!({"status": status});
        patch(&env, &format!("{claims}/a/status"), "merge-patch+json", status).await
    };
    let device = json!({"driver": "d", "pool": "p", "device": "v"});
    let result = json!({"request": "r", "driver": "d", "pool": "p", "device": "v"});
    assert_eq!(write(json!({"devices": [device]})).await.0, 422);
    let allocation = json!({"devices": {"results": [result]}});
    let (code, body) = write(json!({"allocation": allocation, "devices": [device]})).await;
    assert_eq!((code, &body["status"]["devices"][0]["device"]), (200, &json!("v")), "{body}");
    let (code, body) = write(json!({"allocation": null})).await;
    assert_eq!((code, &body["status"]), (200, &json!({})));
    env.stop().await;
}

#[tokio::test]
async fn prefix_of_a_generated_name_is_not_checked_for_device_classes_and_controllers() {
    let env = TestEnv::builder().start().await.unwrap();
    let classes = "/apis/resource.k8s.io/v1/deviceclasses";
    let class = |metadata: Value| json!({"metadata": metadata, "spec": {}});
    let odd = json!({"name": "a", "generateName": "A_"});
    assert_eq!(call(&env, Method::POST, classes, class(odd.clone())).await.0, 201);
    let (status, body) = call(&env, Method::POST, classes, class(json!({"generateName": "A_"}))).await;
    let fields = body["details"]["causes"].as_array().unwrap().iter().map(|cause| &cause["field"]);
    assert_eq!((status, fields.collect::<Vec<_>>()), (422, vec![&json!("metadata.name")]));
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let controller = json!({"metadata": odd, "spec": {"selector": {"a": "b"}, "template": template}});
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    assert_eq!(call(&env, Method::POST, controllers, controller).await.0, 201);
    env.stop().await;
}

#[tokio::test]
async fn job_whose_pods_have_the_labels_of_another_job_is_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let spec = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    let path = "/apis/batch/v1/namespaces/default/jobs";
    for (labels, code) in [
        (json!({"job-name": "other"}), 422),
        (json!({"batch.kubernetes.io/controller-uid": "u"}), 422),
        (json!({"job-name": "j", "batch.kubernetes.io/job-name": "j"}), 201),
    ] {
        let template = json!({"metadata": {"labels": labels}, "spec": spec});
        let job = json!({"metadata": {"name": "j"}, "spec": {"template": template}});
        let (status, answer) = call(&env, Method::POST, path, job).await;
        assert_eq!(status, code, "{answer}");
    }
}
