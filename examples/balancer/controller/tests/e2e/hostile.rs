//! Names that want to be directives: the CRD refuses them, and where it does not, the operator does.

use std::collections::BTreeMap;

use balancer_api::v1alpha1::{Balancer, LabelValue, Port, Protocol};
use balancer_controller::status::READY;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::client::Error as ClientError;
use kubesmith_runtime::controllerutil::find_status_condition;
use kubesmith_runtime::kube::api::PostParams;
use operator_testing::{Cluster, Needs, eventually};
use serde_json::Value;

use crate::support::{CRDS, Operator, cluster, sample};

/// What somebody could write, each with the text that a refusal names.
fn hostile() -> Vec<(Balancer, &'static str)> {
    let change = |name: &str, change: &dyn Fn(&mut Balancer)| {
        let mut balancer = sample();
        balancer.metadata.name = Some(name.to_owned());
        change(&mut balancer);
        balancer
    };
    let label = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), LabelValue(value.to_owned()))]);
    let inject = "v1:80; } server { listen 81; proxy_pass 10.0.0.1:22; } #";
    vec![
        (change("backend", &|it| it.spec.backends[0].name = inject.to_owned()), "the name of a backend"),
        (
            change("port", &|it| it.spec.ports[0].name = "http;\nload_module x.so;".to_owned()),
            "the name of a port",
        ),
        (
            change("protocol", &|it| it.spec.ports[0].protocol = Some(Protocol("TCP; }".to_owned()))),
            "neither TCP nor UDP",
        ),
        (change("number", &|it| it.spec.ports[0].port = Port(-1)), "not within 1 and 65535"),
        (change("weight", &|it| it.spec.backends[0].weight = -5), "below 1"),
        (change("dotted.name", &|_| ()), "the Balancer's name"),
        (change("1st", &|_| ()), "begins with a letter"),
        (
            change("selector", &|it| it.spec.selector = label("app", "test\"; } server { listen 81; } #")),
            "the Balancer's selector",
        ),
        (
            change("backend-key", &|it| it.spec.backends[0].selector = label("version\n  evil", "v1")),
            "the selector of backend v1",
        ),
        (
            change("backend-value", &|it| it.spec.backends[0].selector = label("version", &"v".repeat(64))),
            "the selector of backend v1",
        ),
        (
            change("target", &|it| it.spec.ports[0].target_port = Some(IntOrString::Int(65536))),
            "not within 1 and 65535",
        ),
        (
            change("target-name", &|it| {
                it.spec.ports[0].target_port = Some(IntOrString::String("http; } #".to_owned()));
            }),
            "not the name of a container's port",
        ),
        (change("twice", &|it| it.spec.backends[1].name = "v1".to_owned()), "listed twice"),
        (change("longer", &|it| it.spec.backends[0].name = "a".repeat(49)), "a backend's Service"),
    ]
}

/// The CRD as somebody has it who has thrown every check away.
fn crd_without_checks() -> CustomResourceDefinition {
    fn strip(schema: &mut Value) {
        match schema {
            Value::Object(members) => {
                // A property may well be called like one of these; ours are not.
                let checks = [
                    "pattern",
                    "enum",
                    "minimum",
                    "maximum",
                    "minLength",
                    "maxLength",
                    "minItems",
                    "maxItems",
                    "maxProperties",
                ];
                let extensions =
                    ["x-kubernetes-validations", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"];
                checks.iter().chain(&extensions).for_each(|check| drop(members.remove(*check)));
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let path = format!("{CRDS}/exposer.hliangzhao.io_balancers.yaml");
    let text = std::fs::read_to_string(path).expect("the CRD is there");
    let mut crd: Value = serde_yaml::from_str(text.trim_start_matches("---\n")).expect("YAML");
    strip(&mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]);
    let root = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].as_object_mut();
    root.and_then(|root| root.remove("x-kubernetes-validations")).expect("the root has rules");
    serde_json::from_value(crd).expect("a CRD")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crd_refuses_hostile_balancers() {
    let cluster = cluster(Needs::Api).await;
    let operator = Operator::on(cluster);
    for (balancer, what) in hostile() {
        let refused =
            operator.balancers(&operator.cluster.namespace).create(&balancer, &PostParams::default()).await;
        assert!(refused.as_ref().is_err_and(ClientError::is_invalid), "{what}: {refused:?}");
    }
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "existing_cluster", ignore = "a cluster's CRDs are everybody's")]
async fn operator_refuses_hostile_balancers_when_the_crd_has_no_checks() {
    let cluster = Cluster::start_with_own_crds([crd_without_checks()]).await;
    let operator = Operator::on(cluster);
    for (balancer, what) in hostile() {
        let name = balancer.metadata.name.clone().expect("named");
        operator.create(&balancer).await;
        let event = operator.cluster.event(&name, "InvalidSpec").await;
        assert_eq!(event.type_.as_deref(), Some("Warning"));
        assert!(event.message.as_ref().is_some_and(|it| it.contains(what)), "{what}: {:?}", event.message);
        let balancers = operator.balancers(&operator.cluster.namespace);
        let condition = eventually("the condition", async || {
            let balancer = balancers.get(&name).await.expect("there");
            find_status_condition(&balancer.status.conditions, READY).cloned()
        })
        .await;
        assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "InvalidSpec"));
    }
    assert!(operator.children(&operator.cluster.namespace).await.is_empty());
    operator.stop().await;
}
