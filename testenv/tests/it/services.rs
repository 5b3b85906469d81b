//! Addresses and ports of Services. The answers are those of kube-apiserver 1.36.2, with the range of the embedded server.

use std::sync::Arc;

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::{call, patch};

mod invalid;

const SERVICES: &str = "/api/v1/namespaces/default/services";

/// Creates a Service; returns it, or the message of the error.
async fn create(env: &TestEnv, query: &str, name: &str, spec: Value) -> Result<Value, String> {
    let body = json!({"metadata": {"name": name}, "spec": spec});
    let (code, answer) = call(env, Method::POST, &format!("{SERVICES}{query}"), body).await;
    if code == 201 { Ok(answer["spec"].clone()) } else { Err(answer["message"].as_str().unwrap().to_owned()) }
}

fn node_port(port: u16) -> Value {
    json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": port}]})
}

#[tokio::test]
async fn chosen_node_port_is_not_one_that_the_service_requests() {
    let env = TestEnv::builder().start().await.unwrap();
    // The first numbers that the server would choose.
    let spec = json!({"type": "NodePort", "ports": [
        {"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30_086},
        {"name": "c", "port": 82}, {"name": "d", "port": 83, "nodePort": 30_087}]});
    let ports = create(&env, "", "a", spec).await.unwrap()["ports"].clone();
    let numbers: std::collections::BTreeSet<_> =
        ports.as_array().unwrap().iter().map(|port| port["nodePort"].as_u64().unwrap()).collect();
    assert_eq!(numbers.len(), 4, "{ports}");
}

#[tokio::test]
async fn node_port_is_given_once() {
    let env = TestEnv::builder().start().await.unwrap();
    assert_eq!(create(&env, "", "a", node_port(30_080)).await.unwrap()["ports"][0]["nodePort"], 30_080);
    let port = "spec.ports[0].nodePort: Invalid value";
    for query in ["", "?dryRun=All"] {
        assert_eq!(
            create(&env, query, "b", node_port(30_080)).await.unwrap_err(),
            format!("Service \"b\" is invalid: {port}: 30080: provided port is already allocated")
        );
    }
    let range = "provided port is not in the valid range. The range of valid ports is 30000-32767";
    assert_eq!(
        create(&env, "", "b", node_port(80)).await.unwrap_err(),
        format!("Service \"b\" is invalid: {port}: 80: {range}")
    );
    let balanced = |health: u16| {
        json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 80}],
               "healthCheckNodePort": health})
    };
    let refused = "Internal error occurred: failed to allocate requested HealthCheck NodePort 30080: provided port is \
                   already allocated";
    assert_eq!(create(&env, "", "b", balanced(30_080)).await.unwrap_err(), refused);
    create(&env, "", "b", balanced(30_090)).await.unwrap();
    assert!(create(&env, "", "c", node_port(30_090)).await.is_err());

    // A name is refused after the ports and addresses that the object asks for.
    for query in ["", "?dryRun=All"] {
        let again = create(&env, query, "a", node_port(30_080)).await.unwrap_err();
        assert_eq!(
            again,
            format!("Service \"a\" is invalid: {port}: 30080: provided port is already allocated")
        );
    }

    // Its own port stays, another one's is refused.
    let path = format!("{SERVICES}/a");
    let service =
        |port: u16| json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": node_port(port)});
    assert_eq!(call(&env, Method::PUT, &path, service(30_080)).await.0, 200);
    assert_eq!(call(&env, Method::PUT, &path, service(30_090)).await.0, 422);
    assert_eq!(call(&env, Method::PUT, &path, service(30_081)).await.0, 200);
    create(&env, "", "c", node_port(30_080)).await.unwrap();
}

#[tokio::test]
async fn ports_of_one_number_share_a_node_port() {
    let env = TestEnv::builder().start().await.unwrap();
    let ports = json!([{"name": "a", "port": 53}, {"name": "b", "port": 53, "protocol": "UDP"}, {"name": "c", "port": 54}]);
    let spec = create(&env, "", "a", json!({"type": "NodePort", "ports": ports})).await.unwrap();
    let port = |i: usize| spec["ports"][i]["nodePort"].clone();
    assert_eq!(port(0), port(1));
    assert_ne!(port(0), port(2));
}

/// A Service of two ports with these numbers, protocols and node ports.
fn two_ports(kind: &str, ports: [(u16, &str, u16); 2]) -> Value {
    let port = |(port, protocol, node_port): (u16, &str, u16)| {
        let mut port = json!({"name": protocol.to_lowercase(), "port": port, "protocol": protocol, "nodePort": node_port});
        if node_port == 0 {
            port.as_object_mut().unwrap().remove("nodePort");
        }
        port
    };
    json!({"type": kind, "ports": ports.map(port)})
}

#[tokio::test]
async fn ports_of_different_numbers_share_a_node_port_only_after_an_update() {
    let env = TestEnv::builder().start().await.unwrap();
    let both = two_ports("NodePort", [(80, "TCP", 30_080), (81, "UDP", 30_080)]);
    assert_eq!(
        create(&env, "", "a", both.clone()).await.unwrap_err(),
        "Service \"a\" is invalid: spec.ports[1].nodePort: Invalid value: 30080: provided port is already allocated"
    );
    create(&env, "", "a", two_ports("ClusterIP", [(80, "TCP", 0), (80, "UDP", 0)])).await.unwrap();
    let path = format!("{SERVICES}/a");
    let update = async |spec: Value| {
        let (code, answer) =
            call(&env, Method::PUT, &path, json!({"metadata": {"name": "a"}, "spec": spec})).await;
        assert_eq!(code, 200, "{answer}");
        answer["spec"]["ports"].clone()
    };
    let ports = update(two_ports("NodePort", [(80, "TCP", 0), (80, "UDP", 0)])).await;
    assert_ne!(ports[0]["nodePort"], ports[1]["nodePort"]);
    let ports = update(both).await;
    assert_eq!((&ports[0]["nodePort"], &ports[1]["nodePort"]), (&json!(30_080), &json!(30_080)));
}

#[tokio::test]
async fn port_for_health_checks_is_none_of_the_other_ports() {
    let env = TestEnv::builder().start().await.unwrap();
    let balanced = |port: u16, health: u16| {
        json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": health,
               "ports": [{"port": 80, "nodePort": port}]})
    };
    let allocated = "provided port is already allocated";
    assert_eq!(
        create(&env, "", "a", balanced(30_080, 30_080)).await.unwrap_err(),
        format!(
            "Internal error occurred: failed to allocate requested HealthCheck NodePort 30080: {allocated}"
        )
    );
    create(&env, "", "a", balanced(30_080, 30_090)).await.unwrap();
    let body = json!({"metadata": {"name": "a"}, "spec": balanced(30_090, 30_090)});
    let (code, answer) = call(&env, Method::PUT, &format!("{SERVICES}/a"), body).await;
    let port = "spec.ports[0].nodePort: Invalid value: 30090";
    assert_eq!(
        (code, answer["message"].as_str().unwrap()),
        (422, &*format!("Service \"a\" is invalid: {port}: {allocated}"))
    );
}

#[tokio::test]
async fn balancer_without_node_ports_does_not_share_a_requested_one() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut spec = two_ports("LoadBalancer", [(80, "TCP", 30_080), (80, "UDP", 0)]);
    spec["allocateLoadBalancerNodePorts"] = json!(false);
    let spec = create(&env, "", "a", spec).await.unwrap();
    assert_eq!(
        (&spec["ports"][0]["nodePort"], &spec["ports"][1]["nodePort"]),
        (&json!(30_080), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn node_port_is_given_once_when_requests_are_simultaneous() {
    let env = Arc::new(TestEnv::builder().start().await.unwrap());
    for round in 0..150 {
        let requests = (0..8).map(|i| {
            let env = env.clone();
            tokio::spawn(
                async move { create(&env, "", &format!("{round}-{i}"), node_port(30_000 + round)).await },
            )
        });
        let created = futures::future::join_all(requests.collect::<Vec<_>>()).await;
        assert_eq!(created.into_iter().filter(|created| created.as_ref().unwrap().is_ok()).count(), 1);
    }
}

#[tokio::test]
async fn headless_service_without_selector_has_both_families() {
    let env = TestEnv::builder().start().await.unwrap();
    let spec = json!({"clusterIP": "None", "ports": [{"port": 80}], "ipFamilies": ["IPv6"]});
    let spec = create(&env, "", "a", spec).await.unwrap();
    assert_eq!(
        (&spec["ipFamilies"], &spec["ipFamilyPolicy"]),
        (&json!(["IPv6", "IPv4"]), &json!("RequireDualStack"))
    );
}

#[tokio::test]
async fn second_family_is_released_only_by_the_policy() {
    let env = TestEnv::builder().start().await.unwrap();
    create(&env, "", "a", json!({"clusterIP": "None", "ports": [{"port": 80}]})).await.unwrap();
    let path = format!("{SERVICES}/a");
    let change = async |spec: Value| patch(&env, &path, "merge-patch+json", json!({"spec": spec})).await;
    let (code, answer) = change(json!({"ipFamilies": ["IPv4"]})).await;
    let detail = "must be 'SingleStack' to release the secondary IP family";
    let policy = "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\"";
    let text = format!("Service \"a\" is invalid: {policy}: {detail}");
    assert_eq!((code, answer["message"].as_str().unwrap()), (422, text.as_str()));
    let (code, answer) = change(json!({"ipFamilies": null})).await;
    assert_eq!((code, &answer["spec"]["ipFamilies"]), (200, &json!(["IPv4", "IPv6"])), "{answer}");
    let (code, answer) = change(json!({"ipFamilyPolicy": "SingleStack"})).await;
    assert_eq!((code, &answer["spec"]["ipFamilies"]), (200, &json!(["IPv4"])), "{answer}");
}

#[tokio::test]
async fn update_keeps_the_family_of_a_service_that_prefers_both() {
    let env = TestEnv::builder().start().await.unwrap();
    let spec = json!({"clusterIP": "None", "ipFamilyPolicy": "PreferDualStack", "selector": {"a": "b"}, "ports": [{"port": 80}]});
    assert_eq!(create(&env, "", "a", spec).await.unwrap()["ipFamilies"], json!(["IPv4"]));
    let path = format!("{SERVICES}/a");
    let (code, answer) = patch(&env, &path, "merge-patch+json", json!({"spec": {"selector": null}})).await;
    assert_eq!((code, &answer["spec"]["ipFamilies"]), (200, &json!(["IPv4"])), "{answer}");
}

#[tokio::test]
async fn update_that_repeats_a_node_port_fails() {
    let env = TestEnv::builder().start().await.unwrap();
    create(&env, "", "a", node_port(30_080)).await.unwrap();
    let mut spec = two_ports("NodePort", [(80, "TCP", 30_081), (81, "TCP", 30_081)]);
    spec["ports"][1]["name"] = "other".into();
    let body = json!({"metadata": {"name": "a"}, "spec": spec});
    let (code, answer) = call(&env, Method::PUT, &format!("{SERVICES}/a"), body).await;
    assert_eq!((code, &answer["message"]), (500, &json!("duplicate nodePort: {TCP 30081}")));
}

#[tokio::test]
async fn cluster_type_drops_node_ports_when_other_ports_change() {
    let env = TestEnv::builder().start().await.unwrap();
    create(&env, "", "a", node_port(30_080)).await.unwrap();
    let path = format!("{SERVICES}/a");
    let ports = json!([{"name": "a", "port": 80, "nodePort": 30_080}, {"name": "b", "port": 81}]);
    let spec = json!({"spec": {"type": "ClusterIP", "ports": ports}});
    let (code, service) = patch(&env, &path, "merge-patch+json", spec).await;
    assert_eq!((code, &service["spec"]["ports"][0]["nodePort"]), (200, &Value::Null));

    // Another node port is a mistake.
    create(&env, "", "b", node_port(30_081)).await.unwrap();
    let ports = json!([{"port": 80, "nodePort": 30_082}]);
    let spec = json!({"spec": {"type": "ClusterIP", "ports": ports}});
    assert_eq!(patch(&env, &format!("{SERVICES}/b"), "merge-patch+json", spec).await.0, 422);
}

#[tokio::test]
async fn node_ports_stay_when_the_balancer_needs_none() {
    let env = TestEnv::builder().start().await.unwrap();
    let balanced = json!({"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30_080}]});
    create(&env, "", "a", balanced).await.unwrap();
    let path = format!("{SERVICES}/a");
    let change = json!({"spec": {"allocateLoadBalancerNodePorts": false}});
    let (code, service) = patch(&env, &path, "merge-patch+json", change).await;
    assert_eq!((code, &service["spec"]["ports"][0]["nodePort"]), (200, &json!(30_080)));
    create(&env, "", "b", node_port(30_080)).await.unwrap_err();
    // A client that leaves them out releases them.
    let change = json!({"spec": {"ports": [{"port": 80}]}});
    let (code, service) = patch(&env, &path, "merge-patch+json", change).await;
    assert_eq!((code, &service["spec"]["ports"][0]["nodePort"]), (200, &Value::Null));
    create(&env, "", "b", node_port(30_080)).await.unwrap();
}

#[tokio::test]
async fn other_types_lose_the_status_of_the_balancer() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = format!("{SERVICES}/a");
    let balanced = json!({"type": "LoadBalancer", "ports": [{"port": 80}]});
    create(&env, "", "a", balanced).await.unwrap();
    let ingress = json!({"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}});
    let status = format!("{path}/status");
    let (code, service) = patch(&env, &status, "merge-patch+json", json!({"status": ingress})).await;
    assert_eq!((code, &service["status"]["loadBalancer"]["ingress"][0]["ip"]), (200, &json!("1.2.3.4")));
    let change = json!({"spec": {"type": "ClusterIP"}});
    let (code, service) = patch(&env, &path, "merge-patch+json", change).await;
    assert_eq!((code, &service["status"]["loadBalancer"]), (200, &json!({})));
    let (code, _) = patch(&env, &status, "merge-patch+json", json!({"status": ingress})).await;
    assert_eq!(code, 422);
}

#[tokio::test]
async fn mode_of_a_balancer_s_address_depends_on_the_type_in_the_body() {
    let env = TestEnv::builder().start().await.unwrap();
    create(&env, "", "a", json!({"type": "LoadBalancer", "ports": [{"port": 80}]})).await.unwrap();
    let status = |kind: &str| {
        let status = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
        let body = json!({"metadata": {"name": "a"}, "spec": {"type": kind, "ports": [{"port": 80}]}, "status": status});
        call(&env, Method::PUT, "/api/v1/namespaces/default/services/a/status", body)
    };
    let (code, answer) = status("ClusterIP").await;
    let fault = "Service \"a\" is invalid: status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` \
                 is set";
    assert_eq!((code, answer["message"].as_str().unwrap()), (422, fault));
    let (code, answer) = status("LoadBalancer").await;
    assert_eq!((code, &answer["status"]["loadBalancer"]["ingress"][0]["ipMode"]), (200, &json!("VIP")));
}

#[tokio::test]
async fn service_with_external_addresses_keeps_its_traffic_policy() {
    let env = TestEnv::builder().start().await.unwrap();
    let spec = json!({"type": "NodePort", "externalTrafficPolicy": "Local", "externalIPs": ["8.8.8.8"],
                      "ports": [{"port": 80}]});
    create(&env, "", "a", spec).await.unwrap();
    let change = json!({"spec": {"type": "ClusterIP"}});
    let (code, service) = patch(&env, &format!("{SERVICES}/a"), "merge-patch+json", change).await;
    assert_eq!((code, &service["spec"]["externalTrafficPolicy"]), (200, &json!("Local")));
}

#[tokio::test]
async fn service_without_its_address_has_no_list_of_addresses() {
    let env = TestEnv::builder().start().await.unwrap();
    let mut spec = create(&env, "", "a", json!({"ports": [{"port": 80}]})).await.unwrap();
    spec.as_object_mut().unwrap().remove("clusterIP");
    (spec["type"], spec["externalName"]) = (json!("ExternalName"), json!("a.example"));
    let path = format!("{SERVICES}/a");
    let (_, stored) = call(&env, Method::GET, &path, Value::Null).await;
    let metadata = json!({"name": "a", "resourceVersion": stored["metadata"]["resourceVersion"]});
    let (code, service) = call(&env, Method::PUT, &path, json!({"metadata": metadata, "spec": spec})).await;
    assert_eq!((code, service["spec"].get("clusterIPs")), (200, None), "{service}");
}

#[tokio::test]
async fn cluster_address_is_given_once() {
    let env = TestEnv::builder().start().await.unwrap();
    let at = |address: &str| json!({"ports": [{"port": 80}], "clusterIP": address});
    assert_eq!(create(&env, "", "a", at("10.0.0.77")).await.unwrap()["clusterIPs"], json!(["10.0.0.77"]));
    let text = |address: &str, why: &str| {
        format!(
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"{address}\"]: failed to allocate IP {address}: {why}"
        )
    };
    let taken = create(&env, "", "b", at("10.0.0.77")).await.unwrap_err();
    assert_eq!(taken, text("10.0.0.77", "provided IP is already allocated"));
    create(&env, "?dryRun=All", "b", at("10.0.0.77")).await.unwrap();
    let foreign = create(&env, "", "b", at("1.2.3.4")).await.unwrap_err();
    assert_eq!(foreign, text("1.2.3.4", "the provided network does not match the current range"));
    let foreign = create(&env, "?dryRun=All", "b", at("1.2.3.4")).await.unwrap_err();
    let range = "the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.0.0.0/16";
    assert_eq!(foreign, text("1.2.3.4", range));
    for end in ["10.0.0.0", "10.0.255.255"] {
        let refused = create(&env, "", "b", at(end)).await.unwrap_err();
        assert_eq!(refused, text(end, "the provided network does not match the current range"));
    }
}

#[tokio::test]
async fn addresses_and_families_have_to_fit() {
    let env = TestEnv::builder().start().await.unwrap();
    for (spec, wanted) in [
        (
            json!({"clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.8"]}),
            "spec.clusterIPs: Invalid value: [\"10.0.0.8\"]: first value must match `clusterIP`",
        ),
        (
            json!({"type": "ExternalName", "externalName": "a.b", "clusterIP": "10.0.0.9"}),
            "spec.clusterIPs: Forbidden: may not be set for ExternalName services",
        ),
        (
            json!({"ipFamilies": ["IPv6"]}),
            "spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster",
        ),
        (
            json!({"ipFamilies": ["IPv4", "IPv6"]}),
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when \
             multiple IP families are specified",
        ),
        (
            json!({"clusterIPs": ["10.0.0.8", "10.0.0.9"]}),
            "[spec.clusterIPs: Invalid value: [\"10.0.0.8\",\"10.0.0.9\"]: must be empty when `clusterIP` is not \
             specified, spec.clusterIPs: Invalid value: [\"10.0.0.8\",\"10.0.0.9\"]: may specify no more than one IP for \
             each IP family]",
        ),
    ] {
        let mut whole = json!({"ports": [{"port": 80}]});
        whole.as_object_mut().unwrap().extend(spec.as_object().cloned().unwrap());
        let refused = create(&env, "", "a", whole).await.unwrap_err();
        assert_eq!(refused, format!("Service \"a\" is invalid: {wanted}"));
    }
}

#[tokio::test]
async fn service_keeps_its_address_and_gets_node_ports() {
    let env = TestEnv::builder().start().await.unwrap();
    let body = json!({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (_, service) = call(&env, Method::POST, SERVICES, body).await;
    assert_eq!(service["spec"]["ports"][0]["nodePort"], 30_086);
    let mut moved = service.clone();
    moved["spec"]["clusterIP"] = json!("10.0.9.9");
    moved["spec"]["clusterIPs"] = json!(["10.0.9.9"]);
    let (code, status) = call(&env, Method::PUT, &format!("{SERVICES}/s"), moved).await;
    assert_eq!(code, 422, "{status}");
    assert_eq!(status["details"]["causes"][0]["field"], "spec.clusterIPs[0]");
    let plain = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let (code, kept) = call(&env, Method::PUT, &format!("{SERVICES}/s"), plain).await;
    assert_eq!(code, 200, "{kept}");
    assert_eq!(kept["spec"]["clusterIP"], service["spec"]["clusterIP"]);
    assert!(kept["spec"]["ports"][0].get("nodePort").is_none());
}
