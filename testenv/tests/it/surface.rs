//! Other served resources: APIServices, components, policies, devices and OpenAPI.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, send, widgets};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

async fn read(env: &TestEnv, path: &str) -> (u16, Value) {
    call(env, Method::GET, path, Value::Null).await
}

#[tokio::test]
async fn api_services_follow_what_is_served() {
    let env = TestEnv::builder().start().await.unwrap();
    let services = "/apis/apiregistration.k8s.io/v1/apiservices";
    let (code, apps) = read(&env, &format!("{services}/v1.apps")).await;
    assert_eq!(code, 200);
    assert_eq!(
        apps["spec"],
        json!({"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15})
    );
    assert_eq!(apps["status"]["conditions"][0]["reason"], "Local");
    let _api = widgets(&env).await;
    let (_, own) = read(&env, &format!("{services}/v1.a.example")).await;
    assert_eq!(own["metadata"]["labels"]["kube-aggregator.kubernetes.io/automanaged"], "true");
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.a.example";
    assert_eq!(call(&env, Method::DELETE, definition, Value::Null).await.0, 200);
    assert_eq!(read(&env, &format!("{services}/v1.a.example")).await.0, 404);
    env.stop().await;
}

#[tokio::test]
async fn groups_are_named_in_the_order_of_their_priorities() {
    let env = TestEnv::builder().start().await.unwrap();
    let _api = widgets(&env).await;
    let (_, list) = read(&env, "/apis").await;
    let names: Vec<&str> =
        list["groups"].as_array().unwrap().iter().filter_map(|g| g["name"].as_str()).collect();
    assert_eq!(&names[..3], ["apiregistration.k8s.io", "apps", "events.k8s.io"]);
    assert_eq!(names.last(), Some(&"a.example"));
    env.stop().await;
}

#[tokio::test]
async fn component_statuses_are_read_only() {
    let env = TestEnv::builder().start().await.unwrap();
    let (code, list) = read(&env, "/api/v1/componentstatuses").await;
    assert_eq!((code, &list["items"][0]["conditions"][0]["type"]), (200, &json!("Healthy")));
    let names: Vec<&Value> =
        list["items"].as_array().unwrap().iter().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, ["controller-manager", "etcd-0", "scheduler"]);
    for (name, health) in [("etcd-0", "True"), ("scheduler", "False")] {
        let (_, component) = read(&env, &format!("/api/v1/componentstatuses/{name}")).await;
        assert_eq!(
            (&component["metadata"]["name"], &component["conditions"][0]["status"]),
            (&json!(name), &json!(health))
        );
    }
    let component = json!({"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": "x"}});
    assert_eq!(call(&env, Method::POST, "/api/v1/componentstatuses", component).await.0, 405);
    env.stop().await;
}

#[tokio::test]
async fn admission_policy_is_stored_with_its_defaults() {
    let env = TestEnv::builder().start().await.unwrap();
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
            ]},
            "validations": [{"expression": "object.metadata.name != ''"}],
        },
    });
    let path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let (code, stored) = call(&env, Method::POST, path, policy).await;
    assert_eq!(code, 201, "{stored}");
    assert_eq!(stored["spec"]["failurePolicy"], "Fail");
    let constraints = &stored["spec"]["matchConstraints"];
    assert_eq!(
        (&constraints["matchPolicy"], &constraints["objectSelector"]),
        (&json!("Equivalent"), &json!({}))
    );
    assert_eq!(constraints["resourceRules"][0]["scope"], "*");
    env.stop().await;
}

#[tokio::test]
async fn lists_that_schedulers_and_controllers_need_are_served() {
    let env = TestEnv::builder().start().await.unwrap();
    for path in [
        "/apis/resource.k8s.io/v1/deviceclasses",
        "/apis/resource.k8s.io/v1/resourceclaims",
        "/apis/resource.k8s.io/v1/resourceclaimtemplates",
        "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn",
        "/apis/storage.k8s.io/v1/csistoragecapacities",
        "/apis/storage.k8s.io/v1/volumeattributesclasses",
        "/apis/networking.k8s.io/v1/servicecidrs",
        "/apis/networking.k8s.io/v1/ipaddresses",
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    ] {
        let (code, list) = read(&env, path).await;
        assert_eq!((code, list["items"].is_array()), (200, true), "{path}");
    }
    env.stop().await;
}

#[tokio::test]
async fn open_api_has_every_path_of_a_custom_resource() {
    let env = TestEnv::builder().start().await.unwrap();
    let _api = widgets(&env).await;
    let (_, document) = read(&env, "/openapi/v3/apis/a.example/v1").await;
    let root = "/apis/a.example/v1";
    let one = format!("{root}/namespaces/{{namespace}}/widgets/{{name}}");
    let operations = |path: &str| -> Vec<String> {
        document["paths"][path].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    assert_eq!(operations(&format!("{root}/widgets")), ["get", "parameters"]);
    assert_eq!(operations(&one), ["delete", "get", "parameters", "patch", "put"]);
    assert_eq!(operations(&format!("{one}/status")), ["get", "parameters", "patch", "put"]);
    let patch = &document["paths"][&one]["patch"];
    assert_eq!(patch["operationId"], "patchAExampleV1NamespacedWidget");
    assert_eq!(patch["requestBody"]["required"], true);
    let (code, all) = read(&env, "/openapi/v2").await;
    assert_eq!((code, &all["swagger"]), (200, &json!("2.0")));
    let widget = &all["definitions"]["example.a.v1.Widget"];
    let metadata = &widget["properties"]["metadata"];
    assert_eq!(metadata["$ref"], "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    assert_eq!(read(&env, "/openapi/v3/api/v9").await, (404, json!("")));
    env.stop().await;
}

#[tokio::test]
async fn flow_schemas_are_listed_in_matching_order() {
    let env = TestEnv::builder().start().await.unwrap();
    let shown = async |resource: &str| -> Vec<Value> {
        let path = format!("/apis/flowcontrol.apiserver.k8s.io/v1/{resource}");
        let (code, table) = send(&env, Method::GET, &path, &[("accept", TABLE)], "").await;
        assert_eq!(code, 200, "{table}");
        table["rows"].as_array().unwrap().iter().map(|row| row["cells"].clone()).collect()
    };
    let schemas = shown("flowschemas").await;
    let names: Vec<&Value> = schemas.iter().map(|cells| &cells[0]).collect();
    assert_eq!(names[..3], ["exempt", "probes", "system-leader-election"]);
    assert_eq!(names[names.len() - 1], "catch-all");
    let levels = shown("prioritylevelconfigurations").await;
    assert_eq!(levels[1].as_array().unwrap()[..3], ["exempt", "Exempt", "<none>"]);
    env.stop().await;
}
