//! An API server, the operator on it, and what tests ask of both.

use balancer_api::v1alpha1::Balancer;
use balancer_client::clientset::Clientset;
use balancer_client::clientset::typed::exposer::v1alpha1::NamespacedBalancers;
use balancer_controller::NGINX_IMAGE;
use balancer_controller::children::{CONFIGURATION_KEY, labels};
use balancer_controller::status::READY;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::controllerutil::is_status_condition_true;
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::kube::api::{ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::kube::{Api, Client, ResourceExt};
use kubesmith_runtime::manager::{Manager, ManagerError};
use operator_testing::{Cluster, Needs, eventually, in_time};
use tokio::task::JoinHandle;

pub(crate) const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");
pub(crate) const ROLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/rbac");

/// The sample, as its file has it.
pub(crate) fn sample() -> Balancer {
    serde_yaml::from_str(include_str!("../../../config/samples/exposer_v1alpha1_balancer.yaml"))
        .expect("the sample is a Balancer")
}

pub(crate) async fn cluster(needs: Needs) -> Cluster {
    Cluster::start(needs, Some(CRDS)).await.with_roles(ROLES).await
}

/// The operator on a server.
pub(crate) struct Operator {
    pub(crate) cluster: Cluster,
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Operator {
    pub(crate) async fn start() -> Self {
        Self::on(cluster(Needs::Controllers).await)
    }

    pub(crate) fn on(cluster: Cluster) -> Self {
        let client = cluster.operator_client();
        Self::with(cluster, client, &[])
    }

    /// The operator uses `client`, which may be a broken one, and works in these namespaces beside the cluster's own.
    pub(crate) fn with(cluster: Cluster, client: Client, further: &[&str]) -> Self {
        let namespaces = further.iter().copied().chain([cluster.namespace.as_str()]);
        let factory = SharedInformerFactory::builder(client.clone()).namespaces(namespaces).build();
        let mut manager = Manager::builder(client).factory(factory).build();
        balancer_controller::add_to(&mut manager, 2, NGINX_IMAGE).expect("a new manager takes controllers");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        Operator { cluster, stop, manager }
    }

    pub(crate) fn namespace(&self) -> String {
        self.cluster.namespace.clone()
    }

    pub(crate) fn client(&self) -> Client {
        self.cluster.client()
    }

    pub(crate) fn balancers(&self, namespace: &str) -> NamespacedBalancers {
        Clientset::new(self.client()).exposer_v1alpha1().balancers().namespace(namespace)
    }

    pub(crate) async fn create(&self, balancer: &Balancer) -> Balancer {
        self.balancers(&self.cluster.namespace)
            .create(balancer, &PostParams::default())
            .await
            .expect("created")
    }

    /// Brings the stored Balancer in line with `change` and waits until the operator has seen it.
    pub(crate) async fn change(&self, name: &str, spec: serde_json::Value) -> Balancer {
        let patch = Patch::Merge(serde_json::json!({ "spec": spec }));
        let changed =
            self.balancers(&self.cluster.namespace).patch(name, &PatchParams::default(), &patch).await;
        let generation = changed.expect("changed").metadata.generation;
        self.ready(&self.cluster.namespace, name, generation).await
    }

    /// Waits until the status says that the spec of this generation, at least, is in force.
    pub(crate) async fn ready(&self, namespace: &str, name: &str, generation: Option<i64>) -> Balancer {
        let balancers = self.balancers(namespace);
        eventually("ready", async || {
            let balancer = balancers.get(name).await.expect("the Balancer is there");
            let status = &balancer.status;
            let seen = status.observed_generation >= generation;
            (seen && is_status_condition_true(&status.conditions, READY)).then_some(balancer)
        })
        .await
    }

    pub(crate) async fn configuration(&self, namespace: &str, name: &str) -> String {
        let maps: Api<ConfigMap> = Api::namespaced(self.client(), namespace);
        let map = maps.get(&format!("{name}-proxy-configmap")).await.expect("the configuration is there");
        map.data.and_then(|mut data| data.remove(CONFIGURATION_KEY)).expect("it has a nginx.conf")
    }

    /// The names of the Services in `namespace` that some Balancer of this name has for its backends.
    pub(crate) async fn backends(&self, namespace: &str, name: &str) -> Vec<String> {
        let [(key, value)] = labels(name).into_iter().collect::<Vec<_>>().try_into().expect("one label");
        let params = ListParams::default().labels(&format!("{key}={value}"));
        let services =
            Api::<Service>::namespaced(self.client(), namespace).list(&params).await.expect("a list");
        services.iter().map(ResourceExt::name_any).collect()
    }

    /// Kind and name of every child that there is in `namespace`.
    pub(crate) async fn children(&self, namespace: &str) -> Vec<String> {
        let params = ListParams::default();
        let services =
            Api::<Service>::namespaced(self.client(), namespace).list(&params).await.expect("a list");
        let maps =
            Api::<ConfigMap>::namespaced(self.client(), namespace).list(&params).await.expect("a list");
        let proxies =
            Api::<Deployment>::namespaced(self.client(), namespace).list(&params).await.expect("a list");
        let services = services
            .iter()
            .filter(|it| it.name_any() != "kubernetes")
            .map(|it| format!("Service {}", it.name_any()));
        let maps = maps.iter().filter(|it| it.name_any() != "kube-root-ca.crt");
        let maps = maps.map(|it| format!("ConfigMap {}", it.name_any()));
        let proxies = proxies.iter().map(|it| format!("Deployment {}", it.name_any()));
        services.chain(maps).chain(proxies).collect()
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        in_time("the manager ends", self.manager).await.expect("no panic").expect("no error");
        self.cluster.stop().await;
    }
}
