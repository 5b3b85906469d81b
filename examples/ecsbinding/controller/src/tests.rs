//! The reconciler alone, on a fake clientset: no API server to start, no controller that runs.

use std::time::Duration;

use ecsbinding_client::clientset::fake::FakeClientset;
use kubesmith_runtime::record::FakeRecorder;
use kubesmith_testenv::fake::{Reaction, first};

use super::*;

/// A reconciler whose cache has what the clients have.
async fn reconciler(clients: &FakeClientset, events: &FakeRecorder) -> LabelBindings {
    let factory = SharedInformerFactory::builder(clients.clone()).build();
    let lister = factory.ecs_bind().v1().ecs_bindings().lister();
    factory.start();
    factory.wait_for_cache_sync(Duration::from_secs(30)).await.expect("a full cache");
    clients.clear_actions();
    LabelBindings { lister, client: clients.ecs_v1().ecs_bindings(), recorder: events.recorder() }
}

fn binding(name: &str) -> EcsBinding {
    let mut binding = EcsBinding::default();
    binding.metadata.name = Some(name.to_owned());
    binding
}

#[tokio::test]
async fn unlabelled_binding_is_patched_once() {
    let (clients, events) = (FakeClientset::new([binding("host")]).expect("a fake"), FakeRecorder::new());
    let reconciler = reconciler(&clients, &events).await;
    let done = reconciler.reconcile(&ObjectKey::cluster("host")).await.expect("reconciled");
    assert_eq!(done, Action::done());

    let actions = clients.actions();
    assert_eq!(actions.len(), 1);
    assert_eq!(actions[0].to_string(), "patch ecsbinding.hopegi.com host");
    assert_eq!(
        actions[0].patch(),
        Some(&json!({ "metadata": { "labels": { CLUSTER_LABEL: CLUSTER_NAME } } }))
    );
    assert_eq!(actions[0].option("fieldManager"), Some(CONTROLLER_NAME));
    assert_eq!(events.take(), ["Normal Labelled labelled hopegi.com/cluster=k8s-cluster"]);
}

#[tokio::test]
async fn labelled_or_absent_binding_causes_no_request() {
    let mut labelled = binding("host");
    labelled.metadata.labels = Some([(CLUSTER_LABEL.to_owned(), CLUSTER_NAME.to_owned())].into());
    let (clients, events) = (FakeClientset::new([labelled]).expect("a fake"), FakeRecorder::new());
    let reconciler = reconciler(&clients, &events).await;
    for name in ["host", "nobody"] {
        let done = reconciler.reconcile(&ObjectKey::cluster(name)).await.expect("reconciled");
        assert_eq!(done, Action::done());
    }
    assert!(clients.actions().is_empty());
}

#[tokio::test]
async fn refused_patch_is_an_error_unless_the_binding_was_deleted() {
    let (clients, events) = (FakeClientset::new([binding("host")]).expect("a fake"), FakeRecorder::new());
    let reconciler = reconciler(&clients, &events).await;
    clients.prepend_reactor("patch", "ecsbinding", first(1, |action| Reaction::forbidden(action, "no")));
    assert!(reconciler.reconcile(&ObjectKey::cluster("host")).await.is_err());
    clients.tracker().delete::<EcsBinding>("", "host").expect("it is there");
    clients.prepend_reactor("patch", "ecsbinding", first(1, Reaction::not_found));
    let done = reconciler.reconcile(&ObjectKey::cluster("host")).await.expect("nothing is left to do");
    assert_eq!(done, Action::done());
    assert!(events.take().is_empty());
}
