//! The Balancer that the tests begin with.

use std::collections::BTreeMap;

use balancer_api::v1alpha1::{BackendSpec, Balancer, BalancerPort, BalancerSpec, LabelValue, Port, Protocol};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

fn labels(key: &str, value: &str) -> BTreeMap<String, LabelValue> {
    BTreeMap::from([(key.to_owned(), LabelValue(value.to_owned()))])
}

/// Returns the balancer of config/samples, as a server returns it.
pub(crate) fn balancer() -> Balancer {
    let backends = [("v1", 40), ("v2", 20), ("v3", 40)];
    let backend = |(name, weight): (&str, i32)| BackendSpec {
        name: name.to_owned(),
        weight,
        selector: labels("version", name),
    };
    Balancer {
        metadata: ObjectMeta {
            name: Some("balancer-sample".to_owned()),
            namespace: Some("default".to_owned()),
            uid: Some("c0ffee".to_owned()),
            generation: Some(1),
            ..ObjectMeta::default()
        },
        spec: BalancerSpec {
            backends: backends.map(backend).to_vec(),
            selector: labels("app", "test"),
            ports: vec![BalancerPort {
                name: "http".to_owned(),
                protocol: Some(Protocol(Protocol::TCP.to_owned())),
                port: Port(80),
                target_port: Some(IntOrString::Int(5678)),
            }],
        },
        ..Balancer::default()
    }
}
