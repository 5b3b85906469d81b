//! The controller on a server, and what tests ask of both.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::kube::api::{Patch, PatchParams, PostParams};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_testenv::Backend;
use operator_testing::{Cluster, Needs, eventually, in_time};
use sample_controller::WORKERS;
use sample_controller_api::v1alpha1::Foo;
use sample_controller_client::clientset::Clientset;
use sample_controller_client::clientset::typed::apps::v1::NamespacedDeployments;
use sample_controller_client::clientset::typed::samplecontroller::v1alpha1::NamespacedFoos;
use tokio::task::JoinHandle;

const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac");

/// What happens before this does not come of a resync: every Foo comes by again after 30 s.
const BEFORE_RESYNC: Duration = Duration::from_secs(25);

/// The sample, as its file has it, under another name.
pub(crate) fn foo(name: &str) -> Foo {
    let mut foo: Foo =
        serde_yaml::from_str(include_str!("../../../config/samples/samplecontroller_v1alpha1_foo.yaml"))
            .expect("the sample is a Foo");
    foo.metadata.name = Some(name.to_owned());
    foo.spec.deployment_name = name.to_owned();
    foo
}

pub(crate) async fn cluster(needs: Needs) -> Cluster {
    Cluster::start(needs, Some(CRDS)).await.with_roles(ROLES).await
}

/// The controller on a server.
pub(crate) struct Running {
    pub(crate) cluster: Cluster,
    pub(crate) foos: NamespacedFoos,
    pub(crate) deployments: NamespacedDeployments,
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Running {
    pub(crate) fn on(cluster: Cluster) -> Self {
        let client = cluster.operator_client();
        Self::with(cluster, client)
    }

    /// The controller uses `client`, which may be a broken one.
    pub(crate) fn with(cluster: Cluster, client: Client) -> Self {
        let mut manager = Manager::builder(client).build();
        sample_controller::add_to(&mut manager, WORKERS, Some(&cluster.namespace))
            .expect("a new manager takes controllers");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        let clients = Clientset::new(cluster.client());
        let foos = clients.samplecontroller_v1alpha1().foos().namespace(&cluster.namespace);
        let deployments = clients.apps_v1().deployments().namespace(&cluster.namespace);
        Running { cluster, foos, deployments, stop, manager }
    }

    /// What has taken so long did not wait for a resync. Only where time is paused: a busy machine may need as long.
    pub(crate) fn assert_before_resync(&self, taken: Duration) {
        let is_paused = self.cluster.env.backend() == Backend::Embedded;
        assert!(taken < BEFORE_RESYNC || !is_paused, "{taken:?}");
    }

    pub(crate) async fn create(&self, foo: &Foo) -> Foo {
        self.foos.create(foo, &PostParams::default()).await.expect("created")
    }

    pub(crate) async fn change(&self, name: &str, spec: serde_json::Value) {
        let patch = Patch::Merge(serde_json::json!({ "spec": spec }));
        self.foos.patch(name, &PatchParams::default(), &patch).await.expect("changed");
    }

    /// Waits until the status says so.
    pub(crate) async fn available(&self, name: &str, replicas: i32) {
        eventually(&format!("{name} has {replicas}"), async || {
            let foo = self.foos.get(name).await.expect("the Foo is there");
            foo.status.filter(|status| status.available_replicas == replicas).map(drop)
        })
        .await;
    }

    /// Waits for a Deployment with another uid than this.
    pub(crate) async fn deployment(&self, name: &str, other_than: Option<&str>) -> Deployment {
        eventually(&format!("Deployment {name}"), async || {
            let found = self.deployments.get(name).await.ok();
            found.filter(|found| found.metadata.uid.as_deref() != other_than)
        })
        .await
    }

    /// Waits until there is none.
    pub(crate) async fn no_deployment(&self, name: &str) {
        let gone = async || self.deployments.get(name).await.is_err_and(|error| error.is_not_found());
        eventually(&format!("Deployment {name} goes"), async || gone().await.then_some(())).await;
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        in_time("the manager ends", self.manager).await.expect("no panic").expect("no error");
        self.cluster.stop().await;
    }
}
