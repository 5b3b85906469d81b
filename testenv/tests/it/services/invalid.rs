//! Services that are refused, and the order of their field errors.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{SERVICES, create, node_port};
use crate::support::call;

/// Specs of services, each with kube-apiserver's message, or its beginning.
fn invalid_services() -> Vec<(Value, &'static [&'static str])> {
    let http = json!({"name": "http", "port": 80});
    let with = |field: &str, value: Value| {
        let mut port = http.clone();
        port[field] = value;
        json!({"ports": [port]})
    };
    let node_port = |name: &str, port: u16| json!({"name": name, "port": port, "nodePort": 30001});
    vec![
        (
            json!({"selector": {"app": "a b"}, "ports": [http]}),
            &[r#"spec.selector: Invalid value: "a b": a valid label must be an empty string or consist of"#],
        ),
        (
            json!({"selector": {"-/a": "b"}, "ports": [http]}),
            &[r#"spec.selector: Invalid value: "-/a": prefix part a lowercase RFC 1123 subdomain must"#],
        ),
        (with("name", json!("a.b")), &[r#"spec.ports[0].name: Invalid value: "a.b": must not contain dots"#]),
        (
            with("name", json!("A_")),
            &[r#"spec.ports[0].name: Invalid value: "A_": a lowercase RFC 1123 label"#],
        ),
        (
            with("port", json!(65536)),
            &[
                "spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive",
                "spec.ports[0].targetPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
            ],
        ),
        (
            with("protocol", json!("ICMP")),
            &[r#"spec.ports[0].protocol: Unsupported value: "ICMP": supported"#],
        ),
        (
            with("targetPort", json!(-1)),
            &["spec.ports[0].targetPort: Invalid value: -1: must be between 1 and"],
        ),
        (
            with("targetPort", json!("80")),
            &[r#"spec.ports[0].targetPort: Invalid value: "80": must contain at least one letter (a-z)"#],
        ),
        (
            with("targetPort", json!("a--b-")),
            &[
                r#"spec.ports[0].targetPort: Invalid value: "a--b-": must not contain consecutive hyphens"#,
                r#"spec.ports[0].targetPort: Invalid value: "a--b-": must not begin or end with a hyphen"#,
            ],
        ),
        (
            with("appProtocol", json!("a b")),
            &[r#"spec.ports[0].appProtocol: Invalid value: "a b": name part must"#],
        ),
        (
            with("nodePort", json!(30001)),
            &["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        (json!({"ports": [http, {"port": 81}]}), &["spec.ports[1].name: Required value"]),
        (
            json!({"ports": [http, {"name": "http", "port": 81}]}),
            &[r#"spec.ports[1].name: Duplicate value: "http""#],
        ),
        (
            json!({"ports": [http, {"name": "again", "port": 80, "targetPort": 8080}]}),
            &[
                r#"spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}"#,
            ],
        ),
        (
            json!({"type": "NodePort", "ports": [node_port("a", 1), node_port("b", 2)]}),
            &["spec.ports[1].nodePort: Invalid value: 30001: provided port is already allocated"],
        ),
        (json!({"type": "ExternalName"}), &["spec.externalName: Required value"]),
        (
            json!({"type": "ExternalName", "externalName": "a b."}),
            &[r#"spec.externalName: Invalid value: "a b": a lowercase RFC 1123 subdomain must consist of"#],
        ),
    ]
}

#[tokio::test]
async fn service_with_invalid_addresses_or_ports_is_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    for (spec, expected) in invalid_services() {
        let body = json!({"metadata": {"name": "s"}, "spec": spec});
        let (code, status) = call(&env, Method::POST, SERVICES, body).await;
        assert_eq!(code, 422, "{spec}: {status}");
        let causes = status["details"]["causes"].as_array().unwrap();
        let text = |cause: &Value, name: &str| cause[name].as_str().unwrap().to_owned();
        let told: Vec<String> =
            causes.iter().map(|it| format!("{}: {}", text(it, "field"), text(it, "message"))).collect();
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        assert!(told.iter().zip(expected).all(|(told, begin)| told.starts_with(begin)), "{told:#?}");
    }
    let ports = json!([{"name": "http", "port": 53}, {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": "dns-udp",
        "appProtocol": "kubernetes.io/h2c"}]);
    let fine =
        json!({"metadata": {"name": "s"}, "spec": {"selector": {"example.com/app": ""}, "ports": ports}});
    let (code, service) = call(&env, Method::POST, SERVICES, fine).await;
    assert_eq!(code, 201, "{service}");
}

#[tokio::test]
async fn ports_and_addresses_are_checked_before_other_fields() {
    let env = TestEnv::builder().start().await.unwrap();
    create(&env, "", "a", node_port(30_080)).await.unwrap();
    let mut spec = node_port(30_080);
    spec["sessionAffinity"] = "Foo".into();
    let taken = "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated";
    let error = create(&env, "", "A", spec.clone()).await.unwrap_err();
    assert_eq!(error, format!("Service \"A\" is invalid: {taken}"));
    spec["clusterIP"] = "foo".into();
    let error = create(&env, "", "b", spec).await.unwrap_err();
    assert!(
        error.starts_with("Service \"b\" is invalid: spec.clusterIPs[0]: Invalid value: \"foo\": must be"),
        "{error}"
    );
    let dual = json!({"ipFamilyPolicy": "RequireDualStack", "ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 80}]});
    let policy = "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not configured for dual-stack services";
    let family = "spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this cluster";
    assert_eq!(
        create(&env, "", "b", dual).await.unwrap_err(),
        format!("Service \"b\" is invalid: [{policy}, {family}]")
    );
    let port = json!({"name": "x", "port": 80, "nodePort": 30_081});
    let other = json!({"name": "y", "port": 81, "nodePort": 30_081});
    assert_eq!(
        create(&env, "", "b", json!({"type": "NodePort", "ports": [port, other]})).await.unwrap_err(),
        "Service \"b\" is invalid: spec.ports[1].nodePort: Invalid value: 30081: provided port is already allocated"
    );
}
