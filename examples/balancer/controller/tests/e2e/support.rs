//! An API server, the operator on it, and what tests ask of both.

use std::future::Future;
use std::time::Duration;

use balancer_api::v1alpha1::Balancer;
use balancer_client::clientset::Clientset;
use balancer_client::clientset::typed::exposer::v1alpha1::NamespacedBalancers;
use balancer_controller::NGINX_IMAGE;
use balancer_controller::children::{CONFIGURATION_KEY, labels};
use balancer_controller::status::READY;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Service};
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::controllerutil::is_status_condition_true;
use kubesmith_runtime::kube::api::{ListParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::kube::{Api, Client, ResourceExt};
use kubesmith_runtime::manager::{Manager, ManagerError};
use kubesmith_testenv::{TestEnv, TestEnvBuilder};
use tokio::task::JoinHandle;

pub(crate) const CRDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/crd/bases");

/// Longer than anything here takes; only a failing test waits for it.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.unwrap_or_else(|_| panic!("{what}: not within {LIMIT:?}"))
}

/// Asks until there is an answer.
pub(crate) async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    in_time(what, async {
        loop {
            match ask().await {
                Some(answer) => return answer,
                None => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    })
    .await
}

/// The sample, as its file has it.
pub(crate) fn sample() -> Balancer {
    serde_yaml::from_str(include_str!("../../../config/samples/exposer_v1alpha1_balancer.yaml"))
        .expect("the sample is a Balancer")
}

pub(crate) fn server() -> TestEnvBuilder {
    TestEnv::builder().crd_paths([CRDS]).controllers(true).simulated_node(true)
}

/// The operator on a server.
pub(crate) struct Operator {
    pub(crate) env: TestEnv,
    stop: CancellationToken,
    manager: JoinHandle<Result<(), ManagerError>>,
}

impl Operator {
    pub(crate) async fn start() -> Self {
        Self::start_on(server().start().await.expect("the server starts")).await
    }

    pub(crate) async fn start_on(env: TestEnv) -> Self {
        let client = env.client();
        Self::start_with(env, client).await
    }

    /// The operator uses `client`, which may be a broken one.
    pub(crate) async fn start_with(env: TestEnv, client: Client) -> Self {
        let mut manager = Manager::builder(client).build();
        balancer_controller::add_to(&mut manager, 2, NGINX_IMAGE).expect("a new manager takes controllers");
        let stop = CancellationToken::new();
        let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
        Operator { env, stop, manager }
    }

    pub(crate) fn client(&self) -> Client {
        self.env.client()
    }

    pub(crate) fn balancers(&self, namespace: &str) -> NamespacedBalancers {
        Clientset::new(self.client()).exposer_v1alpha1().balancers().namespace(namespace)
    }

    pub(crate) async fn create(&self, balancer: &Balancer) -> Balancer {
        self.balancers("default").create(balancer, &PostParams::default()).await.expect("created")
    }

    /// Brings the stored Balancer in line with `change` and waits until the operator has seen it.
    pub(crate) async fn change(&self, name: &str, spec: serde_json::Value) -> Balancer {
        let patch = Patch::Merge(serde_json::json!({ "spec": spec }));
        let changed = self.balancers("default").patch(name, &PatchParams::default(), &patch).await;
        let generation = changed.expect("changed").metadata.generation;
        self.ready("default", name, generation).await
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

    /// Waits for an event of this reason about the Balancer.
    pub(crate) async fn event(&self, name: &str, reason: &str) -> Event {
        let events: Api<Event> = Api::namespaced(self.client(), "default");
        eventually(&format!("event {reason}"), async || {
            let all = events.list(&ListParams::default()).await.expect("a list");
            let is_it = |event: &Event| {
                event.involved_object.name.as_deref() == Some(name) && event.reason.as_deref() == Some(reason)
            };
            all.into_iter().find(is_it)
        })
        .await
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        in_time("the manager ends", self.manager).await.expect("no panic").expect("no error");
        self.env.stop().await;
    }
}
