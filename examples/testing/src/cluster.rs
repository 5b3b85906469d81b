//! A server for one test, and a namespace on it that no other test uses.

use k8s_openapi::api::core::v1::{Event, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::kube::api::{DeleteParams, ListParams, PostParams};
use kubesmith_runtime::kube::{Api, Client, ResourceExt};
use kubesmith_testenv::{Backend, TestEnv, TestEnvBuilder};

use crate::role;
use crate::wait::eventually;

/// The requirements of a test beside the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Api,
    /// The controllers of kube-controller-manager, and nodes that run pods, or simulate that.
    Controllers,
}

/// A server and a namespace for one test.
#[derive(Debug)]
pub struct Cluster {
    /// The server.
    pub env: TestEnv,
    /// The namespace.
    pub namespace: String,
    /// The operator, if it has roles of its own.
    pub(crate) operator: Option<role::Operator>,
}

impl Cluster {
    /// Starts the server that the environment variables of [`Backend`] choose, with CRDs of this folder.
    ///
    /// # Panics
    ///
    /// Panics if the server does not start, lacks the test's requirements, or refuses a CRD. A test lists with
    /// `cfg(backend = "...")` the back ends on which it is ignored (see `backend.rs` of this package).
    pub async fn start(needs: Needs, crds: Option<&str>) -> Self {
        let builder = TestEnv::builder().rbac(true).crd_paths(crds);
        Self::on(with(builder, needs).start().await.expect("the server starts")).await
    }

    /// As [`start`](Self::start), with these CRDs.
    ///
    /// # Panics
    ///
    /// As there, and on an existing cluster, whose CRDs are shared.
    pub async fn start_with_own_crds(crds: impl IntoIterator<Item = CustomResourceDefinition>) -> Self {
        assert_crds_are_the_tests();
        Self::on(TestEnv::builder().rbac(true).crds(crds).start().await.expect("the server starts")).await
    }

    /// As [`start`](Self::start), with the subresources of all kinds removed.
    ///
    /// # Panics
    ///
    /// As there, and on an existing cluster, whose CRDs are shared.
    pub async fn start_without_subresources(crds: &str) -> Self {
        assert_crds_are_the_tests();
        let cluster = Self::start(Needs::Api, Some(crds)).await;
        let crds: Api<CustomResourceDefinition> = Api::all(cluster.client());
        for mut crd in crds.list(&ListParams::default()).await.expect("a list") {
            crd.spec.versions.iter_mut().for_each(|version| version.subresources = None);
            crds.replace(&crd.name_any(), &PostParams::default(), &crd).await.expect("replaced");
        }
        cluster
    }

    /// Returns a namespace on a running server.
    ///
    /// # Panics
    ///
    /// Panics if the namespace cannot be created.
    pub async fn on(env: TestEnv) -> Self {
        let namespace = make_namespace(env.client()).await;
        Cluster { env, namespace, operator: None }
    }

    /// A client with all rights.
    #[must_use]
    pub fn client(&self) -> Client {
        self.env.client()
    }

    /// Waits for an event of this reason about the object of this name.
    pub async fn event(&self, name: &str, reason: &str) -> Event {
        let events: Api<Event> = Api::namespaced(self.client(), &self.namespace);
        eventually(&format!("event {reason}"), async || {
            let all = events.list(&ListParams::default()).await.expect("a list");
            let is_it = |event: &Event| {
                event.involved_object.name.as_deref() == Some(name) && event.reason.as_deref() == Some(reason)
            };
            all.into_iter().find(is_it)
        })
        .await
    }

    /// Deletes the namespace, which matters to an existing cluster, and stops other servers. After a failed test, the
    /// namespace stays for inspection.
    ///
    /// # Panics
    ///
    /// Panics if the namespace cannot be deleted.
    pub async fn stop(self) {
        let namespaces: Api<Namespace> = Api::all(self.client());
        namespaces.delete(&self.namespace, &DeleteParams::default()).await.expect("the namespace is deleted");
        self.env.stop().await;
    }
}

fn assert_crds_are_the_tests() {
    assert_ne!(
        Backend::from_env(),
        Backend::ExistingCluster,
        "a cluster's CRDs are everybody's: leave this test out"
    );
}

fn with(builder: TestEnvBuilder, needs: Needs) -> TestEnvBuilder {
    match (needs, Backend::from_env()) {
        (Needs::Controllers, Backend::Embedded) => builder.controllers(true).simulated_node(true),
        // The cluster has its own.
        (Needs::Controllers, Backend::ExistingCluster) | (Needs::Api, _) => builder,
        (Needs::Controllers, backend) => {
            panic!("{backend} runs no controllers and no pods: leave this test out")
        }
    }
}

async fn make_namespace(client: Client) -> String {
    let namespaces: Api<Namespace> = Api::all(client);
    let metadata = ObjectMeta { generate_name: Some("operator-test-".to_owned()), ..ObjectMeta::default() };
    let wanted = Namespace { metadata, ..Namespace::default() };
    let made = namespaces.create(&PostParams::default(), &wanted).await.expect("a namespace");
    made.metadata.name.expect("a stored object has a name")
}
