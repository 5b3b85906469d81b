//! Children and status follow the spec.

use balancer_client::applyconfigurations::exposer::v1alpha1::{
    BalancerApplyConfiguration, BalancerStatusApplyConfiguration, extract_balancer_from,
};
use balancer_client::applyconfigurations::meta::v1::ConditionApplyConfiguration;
use balancer_controller::CONTROLLER_NAME;
use balancer_controller::status::READY;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Event, Namespace, Service, ServicePort, ServiceSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::controllerutil::{find_status_condition, is_controlled_by};
use kubesmith_runtime::kube::Api;
use kubesmith_runtime::kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
use operator_testing::{Needs, eventually};
use serde_json::json;

use crate::support::{Operator, cluster, sample};

pub(crate) const ALL: [&str; 6] = [
    "Service balancer-sample",
    "Service balancer-sample-v1-backend",
    "Service balancer-sample-v2-backend",
    "Service balancer-sample-v3-backend",
    "ConfigMap balancer-sample-proxy-configmap",
    "Deployment balancer-sampleproxy",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn balancer_gets_its_children_and_status() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    let created = operator.create(&sample()).await;
    let balancer = operator.ready(&namespace, "balancer-sample", created.metadata.generation).await;

    assert_eq!((balancer.status.active_backends_num, balancer.status.obsolete_backends_num), (3, 0));
    assert_eq!(operator.children(&namespace).await, ALL);
    let proxies: Api<Deployment> = Api::namespaced(operator.client(), &namespace);
    let proxy = proxies.get("balancer-sampleproxy").await.expect("the proxy is there");
    assert!(is_controlled_by(&proxy, &balancer));
    let image = proxy.spec.and_then(|spec| spec.template.spec?.containers.remove(0).image);
    assert_eq!(image.as_deref(), Some("nginx:1.15.9"));
    let event = operator.cluster.event("balancer-sample", "Synced").await;
    assert!(event.message.unwrap_or_default().contains("ConfigMap balancer-sample-proxy-configmap"));
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn children_are_changed_and_deleted_with_the_spec() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    operator.create(&sample()).await;
    operator.ready(&namespace, "balancer-sample", Some(1)).await;

    let backends = json!([
        { "name": "v1", "weight": 10, "selector": { "version": "v1" } },
        { "name": "v4", "weight": 90, "selector": { "version": "v4" } },
    ]);
    let changed = operator.change("balancer-sample", json!({ "backends": backends })).await;
    let configuration = operator.configuration(&namespace, "balancer-sample").await;
    assert!(configuration.contains("server balancer-sample-v1-backend:80 weight=10;"), "{configuration}");
    assert!(!configuration.contains("v2"), "{configuration}");
    assert_eq!((changed.status.active_backends_num, changed.status.obsolete_backends_num), (2, 0));
    let expected = ["balancer-sample-v1-backend", "balancer-sample-v4-backend"];
    assert_eq!(operator.backends(&namespace, "balancer-sample").await, expected);

    operator
        .balancers(&namespace)
        .delete("balancer-sample", &DeleteParams::default())
        .await
        .expect("deleted");
    eventually("no children", async || operator.children(&namespace).await.is_empty().then_some(())).await;
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(not(backend = "embedded"), ignore = "only the embedded server knows what a role is used for")]
async fn role_allows_exactly_the_requests_of_the_operator() {
    let operator = Operator::start().await;
    operator.create(&sample()).await;
    operator.ready(&operator.namespace(), "balancer-sample", Some(1)).await;
    operator.change("balancer-sample", json!({ "backends": [{ "name": "v1", "weight": 1 }] })).await;
    // An event that comes again is patched.
    for port in [81, 82, 81, 82] {
        let ports = json!([{ "name": "http", "protocol": "TCP", "port": port, "targetPort": 80 }]);
        operator.change("balancer-sample", json!({ "ports": ports })).await;
    }
    let unused = [
        "list balancers.exposer.hliangzhao.io",
        "list configmaps",
        "list deployments.apps",
        "list services",
        // For OwnerReferencesPermissionEnforcement, an admission plugin that not every cluster has.
        "update balancers.exposer.hliangzhao.io/finalizers",
    ];
    operator.cluster.role_is_minimal(&unused).await;
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn backend_without_selector_is_not_served() {
    let operator = Operator::start().await;
    let mut balancer = sample();
    balancer.spec.selector.clear();
    balancer.spec.backends[1].selector.clear();
    operator.create(&balancer).await;

    let balancers = operator.balancers(&operator.namespace());
    let (status, ready) = eventually("the condition", async || {
        let status = balancers.get("balancer-sample").await.expect("there").status;
        let ready = find_status_condition(&status.conditions, READY).cloned()?;
        (ready.reason == "NoSelector").then_some((status, ready))
    })
    .await;
    assert_eq!((ready.status.as_str(), status.active_backends_num), ("False", 2));
    assert_eq!(ready.message, "no selector gives these Services pods: balancer-sample-v2-backend");
    assert_eq!(operator.children(&operator.namespace()).await, ALL);
    operator.change("balancer-sample", json!({ "selector": { "app": "test" } })).await;
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn changed_or_deleted_children_are_restored() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    operator.create(&sample()).await;
    operator.ready(&namespace, "balancer-sample", Some(1)).await;
    let services: Api<Service> = Api::namespaced(operator.client(), &namespace);
    let before = services.get("balancer-sample-v2-backend").await.expect("a Service").spec;

    services.delete("balancer-sample-v1-backend", &DeleteParams::default()).await.expect("deleted");
    let patch = Patch::Merge(json!({ "spec": { "selector": { "version": "other", "more": "labels" } } }));
    services.patch("balancer-sample-v2-backend", &PatchParams::default(), &patch).await.expect("patched");
    eventually("the children come back", async || {
        let second = services.get("balancer-sample-v2-backend").await.expect("a Service").spec;
        let first = services.get_opt("balancer-sample-v1-backend").await.expect("an answer");
        (first.is_some() && second == before).then_some(())
    })
    .await;
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn balancers_of_one_name_in_two_namespaces_are_independent() {
    let cluster = cluster(Needs::Controllers).await;
    let (client, namespace) = (cluster.client(), cluster.namespace.clone());
    let other = format!("{namespace}-other");
    let meta = ObjectMeta { name: Some(other.clone()), ..ObjectMeta::default() };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let wanted = Namespace { metadata: meta, ..Namespace::default() };
    namespaces.create(&PostParams::default(), &wanted).await.expect("created");
    let operator = Operator::with(cluster, client, &[&other]);
    operator.create(&sample()).await;
    let mut smaller = sample();
    smaller.spec.backends.truncate(1);
    operator.balancers(&other).create(&smaller, &PostParams::default()).await.expect("created");

    operator.ready(&namespace, "balancer-sample", Some(1)).await;
    operator.ready(&other, "balancer-sample", Some(1)).await;
    operator.change("balancer-sample", json!({ "selector": { "app": "other" } })).await;
    assert_eq!(operator.backends(&namespace, "balancer-sample").await.len(), 3);
    assert_eq!(operator.backends(&other, "balancer-sample").await, ["balancer-sample-v1-backend"]);
    namespaces.delete(&other, &DeleteParams::default()).await.expect("deleted");
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn status_keeps_conditions_of_others() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    operator.create(&sample()).await;
    operator.ready(&namespace, "balancer-sample", Some(1)).await;
    let audited = ConditionApplyConfiguration::default()
        .with_type("Audited")
        .with_status("True")
        .with_reason("Tested")
        .with_message("")
        .with_last_transition_time(Time(Timestamp::UNIX_EPOCH));
    let status = BalancerStatusApplyConfiguration::default().with_conditions([audited]);
    let audit = BalancerApplyConfiguration::new("balancer-sample", &namespace).with_status(status);
    let balancers = operator.balancers(&namespace);
    balancers.apply_status(&audit, &PatchParams::apply("auditor")).await.expect("applied");

    let changed =
        operator.change("balancer-sample", json!({ "backends": [{ "name": "v1", "weight": 1 }] })).await;
    for (manager, type_) in [(CONTROLLER_NAME, READY), ("auditor", "Audited")] {
        let own = extract_balancer_from(&changed, manager, "status").expect("the server has managedFields");
        let conditions = own.status.and_then(|status| status.conditions).unwrap_or_default();
        let types: Vec<_> = conditions.iter().map(|it| it.type_.as_deref()).collect();
        assert_eq!(types, [Some(type_)], "{manager}");
    }
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn foreign_service_is_reported_and_its_name_is_retried() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    let services: Api<Service> = Api::namespaced(operator.client(), &namespace);
    let port = ServicePort { port: 9, ..ServicePort::default() };
    let foreign = Service {
        metadata: ObjectMeta { name: Some("balancer-sample-v2-backend".to_owned()), ..ObjectMeta::default() },
        spec: Some(ServiceSpec { ports: Some(vec![port]), ..ServiceSpec::default() }),
        ..Service::default()
    };
    let foreign = services.create(&PostParams::default(), &foreign).await.expect("created");
    operator.create(&sample()).await;

    let event = operator.cluster.event("balancer-sample", "ErrResourceExists").await;
    let message = r#"Service "balancer-sample-v2-backend" exists and does not belong to this Balancer"#;
    assert_eq!(event.message.as_deref(), Some(message));
    assert_eq!(services.get("balancer-sample-v2-backend").await.expect("still there"), foreign);
    let expected = [
        "Service balancer-sample-v1-backend",
        "Service balancer-sample-v2-backend",
        "Service balancer-sample-v3-backend",
    ];
    assert_eq!(operator.children(&namespace).await, expected, "no proxy starts without its backends");

    services.delete("balancer-sample-v2-backend", &DeleteParams::default()).await.expect("deleted");
    operator.ready(&namespace, "balancer-sample", Some(1)).await;
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn conflicting_delete_of_a_backend_service_is_no_failure() {
    let cluster = cluster(Needs::Controllers).await;
    let rule = Rule::new(Fault::Status(409)).resource("services").verb(Verb::Delete).times(1);
    let proxy = cluster.env.fault_proxy(Schedule::new().rule(rule)).await.expect("a proxy");
    let operator = Operator::with(cluster, proxy.client(), &[]);
    let namespace = operator.namespace();
    operator.create(&sample()).await;
    operator.ready(&namespace, "balancer-sample", Some(1)).await;

    operator.change("balancer-sample", json!({ "backends": [{ "name": "v1", "weight": 1 }] })).await;
    eventually("only the listed backend is left", async || {
        (operator.backends(&namespace, "balancer-sample").await.len() == 1).then_some(())
    })
    .await;
    let events: Api<Event> = Api::namespaced(operator.client(), &namespace);
    let events = events.list(&ListParams::default()).await.expect("a list");
    let reasons: Vec<_> = events.iter().filter_map(|event| event.reason.as_deref()).collect();
    assert!(!reasons.contains(&"SyncFailed"), "{reasons:?} {}", proxy.report());
    operator.stop().await;
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn errors_of_every_step_are_retried_and_reported() {
    for (resource, verb) in
        [("configmaps", Verb::Patch), ("deployments", Verb::Patch), ("services", Verb::Patch)]
    {
        let cluster = cluster(Needs::Controllers).await;
        let rule = Rule::new(Fault::Status(500)).resource(resource).verb(verb).times(3);
        let proxy = cluster.env.fault_proxy(Schedule::new().rule(rule)).await.expect("a proxy");
        let operator = Operator::with(cluster, proxy.client(), &[]);
        let namespace = operator.namespace();
        operator.create(&sample()).await;

        operator.cluster.event("balancer-sample", "SyncFailed").await;
        let balancer = operator.ready(&namespace, "balancer-sample", Some(1)).await;
        assert_eq!(operator.children(&namespace).await, ALL);
        let ready = find_status_condition(&balancer.status.conditions, READY).expect("a condition");
        assert_eq!(ready.message, "traffic is shared over 3 backends", "{}", proxy.report());
        operator.stop().await;
        proxy.stop().await;
    }
}
