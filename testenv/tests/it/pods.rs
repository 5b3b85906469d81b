//! Pods that admission plugins and checks refuse. The messages are those of kube-apiserver 1.36.2.

use http::{Method, Request};
use kube::client::Body;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::call;

const PODS: &str = "/api/v1/namespaces/default/pods";

/// Creates a pod with these members of its spec; returns the spec, or the message of the error.
async fn create(env: &TestEnv, more: Value) -> Result<Value, String> {
    let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
    spec.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    let body = json!({"metadata": {"name": "p", "labels": {"x": "y"}}, "spec": spec});
    let (code, answer) = call(env, Method::POST, &format!("{PODS}?dryRun=All"), body).await;
    if code == 201 { Ok(answer["spec"].clone()) } else { Err(answer["message"].as_str().unwrap().to_owned()) }
}

#[tokio::test]
async fn pod_cannot_set_another_priority_than_its_class() {
    let env = TestEnv::builder().start().await.unwrap();
    let computed = "must not be provided in pod spec; priority admission controller computed";
    assert_eq!(
        create(&env, json!({"priority": 5})).await.unwrap_err(),
        format!(
            "pods \"p\" is forbidden: the integer value of priority (5) {computed} 0 from the given PriorityClass name"
        )
    );
    assert_eq!(
        create(&env, json!({"preemptionPolicy": "Never"})).await.unwrap_err(),
        format!(
            "pods \"p\" is forbidden: the string value of PreemptionPolicy (Never) {computed} PreemptLowerPriority from \
             the given PriorityClass name"
        )
    );
    create(&env, json!({"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})).await.unwrap();
}

#[tokio::test]
async fn pod_gets_overhead_and_scheduling_of_its_runtime_class() {
    let env = TestEnv::builder().start().await.unwrap();
    let refused = create(&env, json!({"runtimeClassName": "x"})).await.unwrap_err();
    assert_eq!(refused, "pods \"p\" is forbidden: pod rejected: RuntimeClass \"x\" not found");
    let refused = create(&env, json!({"runtimeClassName": "a/b"})).await.unwrap_err();
    assert_eq!(refused, "invalid resource name \"a/b\": [may not contain '/']");
    let overhead = json!({"cpu": "1"});
    let refused = create(&env, json!({"overhead": overhead})).await.unwrap_err();
    let alone = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";
    assert_eq!(refused, format!("pods \"p\" is forbidden: {alone}"));

    let toleration = json!({"key": "t", "operator": "Exists"});
    let scheduling = json!({"nodeSelector": {"a": "b"}, "tolerations": [toleration]});
    let class = json!({"metadata": {"name": "x"}, "handler": "h", "overhead": {"podFixed": overhead},
                       "scheduling": scheduling});
    let path = "/apis/node.k8s.io/v1/runtimeclasses";
    assert_eq!(call(&env, Method::POST, path, class).await.0, 201);
    let pod = create(&env, json!({"runtimeClassName": "x"})).await.unwrap();
    assert_eq!((&pod["overhead"], &pod["nodeSelector"]), (&overhead, &json!({"a": "b"})));
    assert!(pod["tolerations"].as_array().unwrap().contains(&toleration));
    let refused = create(&env, json!({"runtimeClassName": "x", "overhead": {"cpu": "2"}})).await.unwrap_err();
    let other = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
    assert_eq!(refused, format!("pods \"p\" is forbidden: {other}"));
    let refused =
        create(&env, json!({"runtimeClassName": "x", "nodeSelector": {"a": "c"}})).await.unwrap_err();
    let conflict = "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c";
    assert_eq!(refused, format!("pods \"p\" is forbidden: {conflict}"));
}

#[tokio::test]
async fn overhead_of_a_pod_may_be_the_same_amount_as_that_of_its_runtime_class() {
    let env = TestEnv::builder().start().await.unwrap();
    let class =
        json!({"metadata": {"name": "x"}, "handler": "h", "overhead": {"podFixed": {"memory": "1Gi"}}});
    assert_eq!(call(&env, Method::POST, "/apis/node.k8s.io/v1/runtimeclasses", class).await.0, 201);
    let pod =
        create(&env, json!({"runtimeClassName": "x", "overhead": {"memory": "1073741824"}})).await.unwrap();
    assert_eq!(pod["overhead"], json!({"memory": "1Gi"}));
}

#[tokio::test]
async fn toleration_of_a_runtime_class_replaces_those_that_it_includes() {
    let env = TestEnv::builder().start().await.unwrap();
    let scheduling = json!({"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]});
    let class = json!({"metadata": {"name": "x"}, "handler": "h", "scheduling": scheduling});
    assert_eq!(call(&env, Method::POST, "/apis/node.k8s.io/v1/runtimeclasses", class).await.0, 201);
    let toleration = |effect: &str| json!({"key": "t", "operator": "Equal", "value": "v", "effect": effect});
    let own = json!([toleration("NoSchedule"), toleration("PreferNoSchedule")]);
    let pod = create(&env, json!({"runtimeClassName": "x", "tolerations": own})).await.unwrap();
    let tolerations: Vec<&Value> =
        pod["tolerations"].as_array().unwrap().iter().filter(|one| one["effect"] != "NoExecute").collect();
    assert_eq!(tolerations, [&own[1], &scheduling["tolerations"][0]]);
}

#[tokio::test]
async fn files_of_the_downward_api_name_fields_of_pods() {
    let env = TestEnv::builder().start().await.unwrap();
    let volume = |path: &str| {
        let items = json!([{"path": "a", "fieldRef": {"fieldPath": path}}]);
        json!({"volumes": [{"name": "v", "downwardAPI": {"items": items}}]})
    };
    create(&env, volume("metadata.labels")).await.unwrap();
    let field = "Pod \"p\" is invalid: spec.volumes[0].downwardAPI.fieldRef.fieldPath";
    assert_eq!(
        create(&env, volume("spec.x")).await.unwrap_err(),
        format!(
            "{field}: Invalid value: \"spec.x\": error converting fieldPath: field label not supported: spec.x"
        )
    );
    assert_eq!(
        create(&env, volume("spec.nodeName")).await.unwrap_err(),
        format!(
            "{field}: Unsupported value: \"spec.nodeName\": supported values: \"metadata.annotations\", \
             \"metadata.labels\", \"metadata.name\", \"metadata.namespace\", \"metadata.uid\""
        )
    );
}

#[tokio::test]
async fn odd_members_of_pods_are_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let windows = json!({"name": "windows"});
    let term = json!({"topologyKey": "a", "matchLabelKeys": ["x"]});
    let spread = json!({"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"x": "y"}}, "matchLabelKeys": ["x"]});
    for (spec, wanted) in [
        (
            json!({"os": windows, "securityContext": {"runAsUser": 1}}),
            "spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
        ),
        (
            json!({"os": windows, "containers": [{"name": "c", "image": "i", "securityContext": {"privileged": false}}]}),
            "spec.containers[0].securityContext.privileged: Forbidden: cannot be set for a windows pod",
        ),
        (
            json!({"os": {"name": "linux"}, "securityContext": {"windowsOptions": {"hostProcess": false}}}),
            "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod",
        ),
        (json!({"volumes": [{"name": "v", "image": {}}]}), "spec.volumes[0].image.reference: Required value"),
        (
            json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}),
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not \
             be specified when labelSelector is not set",
        ),
        (
            json!({"topologySpreadConstraints": [spread]}),
            "spec.topologySpreadConstraints[0][0]: Invalid value: \"x\": exists in both matchLabelKeys and labelSelector",
        ),
    ] {
        assert_eq!(create(&env, spec).await.unwrap_err(), format!("Pod \"p\" is invalid: {wanted}"));
    }
}

#[tokio::test]
async fn label_keys_are_checked_before_their_selector() {
    let env = TestEnv::builder().start().await.unwrap();
    let spread = json!({"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"/": "a"}}, "matchLabelKeys": ["/"]});
    let refused = create(&env, json!({"topologySpreadConstraints": [spread]})).await.unwrap_err();
    let [keys, selector] =
        ["[0].matchLabelKeys[0]: ", "[0].labelSelector.matchLabels: "].map(|field| refused.find(field));
    assert!(keys.is_some() && keys < selector, "{refused}");
}

#[tokio::test]
async fn label_keys_join_the_selectors_of_a_new_pod() {
    let env = TestEnv::builder().start().await.unwrap();
    let keys = json!({"topologyKey": "a", "mismatchLabelKeys": ["x", "z"], "labelSelector": {}});
    let spread = json!({"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {},
                        "matchLabelKeys": ["x"]});
    let affinity = json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
                          [{"weight": 1, "podAffinityTerm": keys}]}});
    let pod =
        create(&env, json!({"affinity": affinity, "topologySpreadConstraints": [spread]})).await.unwrap();
    let joined =
        |operator: &str| json!({"matchExpressions": [{"key": "x", "operator": operator, "values": ["y"]}]});
    let terms = &pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms[0]["podAffinityTerm"]["labelSelector"], joined("NotIn"));
    assert_eq!(pod["topologySpreadConstraints"][0]["labelSelector"], joined("In"));
}

#[tokio::test]
async fn volume_of_an_image_is_pulled_as_the_image_of_a_container() {
    let env = TestEnv::builder().start().await.unwrap();
    let volume = |name: &str, reference: &str| json!({"name": name, "image": {"reference": reference}});
    let volumes = [volume("a", "x"), volume("b", "x:v1")];
    let pod = create(&env, json!({"volumes": volumes})).await.unwrap();
    let policies = |at: usize| pod["volumes"][at]["image"]["pullPolicy"].clone();
    assert_eq!([policies(0), policies(1)], ["Always", "IfNotPresent"]);
}

#[tokio::test]
async fn app_armor_annotation_of_a_new_pod_becomes_a_field_with_a_warning() {
    let env = TestEnv::builder().start().await.unwrap();
    let key = "container.apparmor.security.beta.kubernetes.io/c";
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    let pod = json!({"metadata": {"name": "p", "annotations": {key: "localhost/a"}}, "spec": spec});
    let request = Request::post(PODS).header("content-type", "application/json");
    let request = request.body(Body::from(pod.to_string().into_bytes())).unwrap();
    let response = env.client().send(request).await.unwrap();
    assert_eq!(response.status(), 201);
    let warnings: Vec<_> = response.headers().get_all("warning").iter().collect();
    let text = format!(
        "metadata.annotations[{key}]: deprecated since v1.30; use the \\\"appArmorProfile\\\" field instead"
    );
    assert_eq!(warnings, [&format!("299 - \"{text}\"")]);
    let (_, pod) = call(&env, Method::GET, &format!("{PODS}/p"), Value::Null).await;
    let context = json!({"appArmorProfile": {"type": "Localhost", "localhostProfile": "a"}});
    assert_eq!(pod["spec"]["containers"][0]["securityContext"], context);
    assert_eq!(pod["metadata"]["annotations"][key], "localhost/a");
    env.stop().await;
}

#[tokio::test]
async fn pod_with_an_empty_runtime_class_fails_as_client_go_does() {
    let env = TestEnv::builder().start().await.unwrap();
    let found = create(&env, json!({"runtimeClassName": ""})).await;
    assert_eq!(found.unwrap_err(), "resource name may not be empty");
    env.stop().await;
}
