//! nginx looks names up when it starts: its pods are renewed where a backend's Service has another address, and only then.

use balancer_api::v1alpha1::{ADDRESSES_HASH_ANNOTATION, CONFIGMAP_HASH_ANNOTATION};
use balancer_controller::children::labels;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use kubesmith_runtime::kube::Api;
use kubesmith_runtime::kube::api::{DeleteParams, Patch, PatchParams};
use operator_testing::eventually;
use serde_json::json;

use crate::support::{Operator, sample};

const BACKEND: &str = "balancer-sample-v1-backend";

async fn proxy(operator: &Operator) -> Deployment {
    let proxies: Api<Deployment> = Api::namespaced(operator.client(), &operator.namespace());
    proxies.get("balancer-sampleproxy").await.expect("the proxy is there")
}

fn annotation(proxy: &Deployment, name: &str) -> String {
    let template = proxy.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref());
    let annotations = template.and_then(|template| template.annotations.as_ref());
    annotations.and_then(|annotations| annotations.get(name)).expect("the annotation is there").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn proxy_is_renewed_when_a_backend_service_is_recreated() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    operator.create(&sample()).await;
    operator.ready(&namespace, "balancer-sample", Some(1)).await;
    let before = proxy(&operator).await;
    assert_eq!(before.metadata.generation, Some(1), "all addresses are known before the proxy is made");

    let services: Api<Service> = Api::namespaced(operator.client(), &namespace);
    services.delete(BACKEND, &DeleteParams::default()).await.expect("deleted");
    let after = eventually("another template", async || {
        let proxy = proxy(&operator).await;
        (proxy.metadata.generation > before.metadata.generation).then_some(proxy)
    })
    .await;
    let changed = |name| annotation(&after, name) != annotation(&before, name);
    assert!(changed(ADDRESSES_HASH_ANNOTATION) && !changed(CONFIGMAP_HASH_ANNOTATION));
    operator.ready(&namespace, "balancer-sample", Some(1)).await;
    assert_eq!(proxy(&operator).await.metadata.generation, Some(2), "it is renewed once");
    operator.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
async fn proxy_is_not_renewed_when_service_addresses_are_unchanged() {
    let operator = Operator::start().await;
    let namespace = operator.namespace();
    operator.create(&sample()).await;
    operator.ready(&namespace, "balancer-sample", Some(1)).await;

    let services: Api<Service> = Api::namespaced(operator.client(), &namespace);
    let params = PatchParams::default();
    let [(label, _)] = labels("").into_iter().collect::<Vec<_>>().try_into().expect("one label");
    let metadata = json!({ "labels": { "a": "b", label: "other" }, "annotations": { "c": "d" } });
    let patch = Patch::Merge(json!({ "metadata": metadata }));
    services.patch(BACKEND, &params, &patch).await.expect("patched");
    let condition = json!({ "type": "example.com/Seen", "status": "True", "reason": "Test", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let status = Patch::Merge(json!({ "status": { "conditions": [condition] } }));
    services.patch_status(BACKEND, &params, &status).await.expect("patched");
    let patch = Patch::Merge(json!({ "spec": { "selector": { "app": "other" } } }));
    services.patch("balancer-sample", &params, &patch).await.expect("patched");
    eventually("the selector is back", async || {
        let selector = services.get("balancer-sample").await.expect("there").spec?.selector?;
        (selector == labels("balancer-sample")).then_some(())
    })
    .await;
    eventually("the label is back", async || {
        (operator.backends(&namespace, "balancer-sample").await.len() == 3).then_some(())
    })
    .await;
    assert_eq!(proxy(&operator).await.metadata.generation, Some(1));
    operator.stop().await;
}
