//! The settings of a test environment.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, Config};
use kubesmith_apiserver::{AuthorizationMode, Clock, Containers, FeatureGates};
use tokio::time::Instant;

use super::TestEnv;
use crate::backend::{Arguments, Options, Running, Variables};
use crate::crds::Wait;
use crate::error::Error;
use crate::kind::Backend;
use crate::webhook::{Configurations, LocalServing};

/// Timeout and interval of waiting for the namespace `default` of a running server; envtest's numbers.
const NAMESPACE_TIMEOUT: Duration = Duration::from_secs(5);
const NAMESPACE_INTERVAL: Duration = Duration::from_millis(50);

/// Builds a [`TestEnv`].
#[derive(Debug, Default)]
pub struct TestEnvBuilder {
    crd_paths: Vec<PathBuf>,
    crds: Vec<CustomResourceDefinition>,
    webhook_paths: Vec<PathBuf>,
    webhooks: Configurations,
    webhooks_on_host: Option<(SocketAddr, PathBuf)>,
    skip_missing_paths: bool,
    clean_up_after_use: bool,
    wait: Wait,
    options: Options,
}

impl TestEnvBuilder {
    /// Uses `backend`, regardless of the environment variables; see [`Backend`].
    #[must_use]
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = Some(backend);
        self
    }

    /// Installs the CRDs of these files and folders at the start; of folders, files ending in `yaml`, `yml` or `json`.
    /// Of several CRDs with one name in a folder, the last counts.
    #[must_use]
    pub fn crd_paths<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.crd_paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Installs these CRDs at the start.
    #[must_use]
    pub fn crds(mut self, crds: impl IntoIterator<Item = CustomResourceDefinition>) -> Self {
        self.crds.extend(crds);
        self
    }

    /// Installs the webhook configurations of these files and folders at the start, after the CRDs; see
    /// [`TestEnv::install_webhooks`].
    #[must_use]
    pub fn webhook_paths<P: Into<PathBuf>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.webhook_paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Installs these configurations of mutating webhooks at the start, after the CRDs; see
    /// [`TestEnv::install_webhooks`].
    #[must_use]
    pub fn mutating_webhooks(
        mut self,
        configurations: impl IntoIterator<Item = MutatingWebhookConfiguration>,
    ) -> Self {
        self.webhooks.mutating.extend(configurations);
        self
    }

    /// Installs these configurations of validating webhooks at the start, after the CRDs; see
    /// [`TestEnv::install_webhooks`].
    #[must_use]
    pub fn validating_webhooks(
        mut self,
        configurations: impl IntoIterator<Item = ValidatingWebhookConfiguration>,
    ) -> Self {
        self.webhooks.validating.extend(configurations);
        self
    }

    /// Sets whether a missing path is an error. It is by default, unlike in envtest.
    #[must_use]
    pub fn error_if_crd_path_missing(mut self, error: bool) -> Self {
        self.skip_missing_paths = !error;
        self
    }

    /// Sets the timeout from the installation of CRDs until discovery serves them; 10 seconds by default.
    #[must_use]
    pub fn crd_max_time(mut self, time: Duration) -> Self {
        self.wait.max_time = time;
        self
    }

    /// Sets the interval of checks whether the server serves the CRDs; 100 ms by default.
    #[must_use]
    pub fn crd_poll_interval(mut self, interval: Duration) -> Self {
        self.wait.poll_interval = interval;
        self
    }

    /// Deletes from an existing cluster, when the environment stops, every CRD and webhook configuration that it
    /// installed or updated, and waits until the CRDs and their objects are gone. Off by default. Other back ends end
    /// with all of their objects.
    #[must_use]
    pub fn clean_up_after_use(mut self, clean: bool) -> Self {
        self.clean_up_after_use = clean;
        self
    }

    /// Uses the time of `clock` in metadata, not the machine's. Only for the embedded server: an error at the start on
    /// other back ends, as are the next four.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.options.embedded.clock = Some(clock);
        self
    }

    /// Makes UIDs and generated names the same in every run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.embedded.seed = Some(seed);
        self
    }

    /// Sets the number of events of each resource that are kept for watches from the past; 10,000 by default. A watch
    /// from an older version gets 410.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.options.embedded.history = Some(events);
        self
    }

    /// Runs the controllers of kube-controller-manager: dependents are deleted with their owners, namespaces that are
    /// being deleted are emptied, workloads create their pods, services get Endpoints and EndpointSlices, and every
    /// namespace gets its service account `default` and the config map `kube-root-ca.crt`. The admission plugin
    /// ServiceAccount, which needs these, is on as well. Off by default, as with
    /// kube-apiserver alone; an existing cluster has its own. Pods stay pending without a
    /// [`simulated_node`](Self::simulated_node).
    #[must_use]
    pub fn controllers(mut self, run: bool) -> Self {
        self.options.embedded.controllers = run;
        self
    }

    /// Empties and removes namespaces five seconds after their deletion, as the namespace controller does, without any other
    /// controller. Off by default, as with kube-apiserver alone; [`controllers`](Self::controllers) do it at once.
    #[must_use]
    pub fn namespace_deletion(mut self, run: bool) -> Self {
        self.options.embedded.namespace_deletion = run;
        self
    }

    /// Simulates a node with its kubelet, and the scheduler: pods become running and ready at once, with an address,
    /// and end when they are deleted; a job's pods succeed. A pod that does not fit the node, or refers to a missing
    /// Secret, ConfigMap or claim, stays pending as on a cluster. No container is run. Off by default; only for the
    /// embedded server.
    #[must_use]
    pub fn simulated_node(mut self, run: bool) -> Self {
        self.options.embedded.simulated_node = run;
        self
    }

    /// Sets the responses of containers to `log`, `exec` and `attach`, though none runs. The pod's annotations
    /// `log.kubesmith.dev/CONTAINER` and `exec.kubesmith.dev/CONTAINER` take precedence. Without a response, a request
    /// is an error. Only for the embedded server.
    #[must_use]
    pub fn containers(mut self, containers: Containers) -> Self {
        self.options.embedded.containers = containers;
        self
    }

    /// Authorizes users by roles and bindings, as on a cluster. By default, the embedded server allows every user
    /// everything; a control plane and a cluster have rules of their own. [`TestEnv::client`] keeps all rights; clients
    /// of [`TestEnv::add_user`] and of service accounts' tokens have none until a binding grants them.
    #[must_use]
    pub fn rbac(mut self, evaluate: bool) -> Self {
        self.options.embedded.authorization = match evaluate {
            true => AuthorizationMode::Rbac,
            false => AuthorizationMode::AlwaysAllow,
        };
        self
    }

    /// Sets feature gates: `builder.feature_gates("ShardedListAndWatch=true".parse()?)`. All have kube-apiserver's defaults.
    /// Only for the embedded server; a control plane has [`api_server_arguments`](Self::api_server_arguments).
    #[must_use]
    pub fn feature_gates(mut self, gates: FeatureGates) -> Self {
        self.options.embedded.feature_gates = gates;
        self
    }

    /// Sets the folder of a control plane's binaries, in case neither `TEST_ASSET_ETCD` and `TEST_ASSET_KUBE_APISERVER`
    /// nor `KUBEBUILDER_ASSETS` are set; `/usr/local/kubebuilder/bin` by default. It does not choose a control plane.
    #[must_use]
    pub fn binary_assets_directory(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.control_plane.assets = Some(folder.into());
        self
    }

    /// Sets the start timeout of each process of a control plane; it takes precedence over
    /// `KUBEBUILDER_CONTROLPLANE_START_TIMEOUT` (a Go duration). The default is 20 seconds.
    #[must_use]
    pub fn control_plane_start_timeout(mut self, timeout: Duration) -> Self {
        self.options.control_plane.start_timeout = Some(timeout);
        self
    }

    /// Sets the timeout after which a process of a control plane is killed when it does not stop; it takes precedence
    /// over `KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT` (a Go duration). The default is 20 seconds.
    #[must_use]
    pub fn control_plane_stop_timeout(mut self, timeout: Duration) -> Self {
        self.options.control_plane.stop_timeout = Some(timeout);
        self
    }

    /// Attaches a control plane's output to this process's instead of logs, as does
    /// `KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT=true`.
    #[must_use]
    pub fn attach_control_plane_output(mut self, attach: bool) -> Self {
        self.options.control_plane.attach_output = attach;
        self
    }

    /// Changes etcd's flags. An error at the start on back ends other than a control plane.
    #[must_use]
    pub fn etcd_arguments(mut self, arguments: Arguments) -> Self {
        self.options.control_plane.etcd = arguments;
        self
    }

    /// Changes kube-apiserver's flags. An error at the start on back ends other than a control plane.
    #[must_use]
    pub fn api_server_arguments(mut self, arguments: Arguments) -> Self {
        self.options.control_plane.api_server = arguments;
        self
    }

    /// Connects to an existing cluster with `config`. By default it is found as in controller-runtime: in the files
    /// that `KUBECONFIG` names, the service account of a pod, `~/.kube/config`. An error at the start on other back
    /// ends.
    #[must_use]
    pub fn cluster_config(mut self, config: Config) -> Self {
        self.options.cluster = Some(config);
        self
    }

    /// Calls the webhooks of services at this address, as nothing routes their cluster IPs, and writes the certificate for
    /// it into `folder`: `tls.crt` and `tls.key`, as [`TestEnv::local_serving`], which then has this address and folder.
    /// Only for the embedded server.
    #[must_use]
    pub fn webhooks_on_host(mut self, address: SocketAddr, folder: impl Into<PathBuf>) -> Self {
        self.webhooks_on_host = Some((address, folder.into()));
        self
    }

    /// Stores all data in this folder, which is created if it is missing, and continues from its content. Without it
    /// all data is in memory.
    ///
    /// Writes survive a crash of the process and of the machine once a response was sent, which waits for the disk.
    /// Watches continue from the last version that they have seen, or get 410 when it is older than the kept history.
    /// One environment at a time can use a folder.
    #[must_use]
    pub fn data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.embedded.data_dir = Some(folder.into());
        self
    }

    /// Starts the environment.
    ///
    /// # Errors
    /// Returns an error when the back end does not start or cannot be reached, the data folder cannot be used, an
    /// option has no effect on the back end, or a CRD is unreadable or refused.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future kills the started processes, and leaves installed objects in an existing cluster.
    pub async fn start(mut self) -> Result<TestEnv, Error> {
        let serving = self.webhooks_on_host.take();
        let serving = serving.map(|(address, folder)| LocalServing::at(address, folder)).transpose()?;
        self.options.embedded.webhook_host = serving.as_ref().map(LocalServing::host_of_webhooks);
        let variables = Variables::of_process();
        let kubectl = variables.kubectl(self.options.control_plane.assets.as_deref());
        let (backend, client) = Running::start(self.options, &variables).await?;
        wait_for_default_namespace(&client).await?;
        let env = TestEnv::new(backend, client, kubectl, self.wait, self.clean_up_after_use, serving);
        let wanted = |path: &PathBuf| !self.skip_missing_paths || path.exists();
        let mut crds = Vec::new();
        for path in self.crd_paths.iter().filter(|path| wanted(path)) {
            crds.extend(crate::files::read_crds(path)?);
        }
        crds.extend(self.crds);
        env.install_crds(crds).await?;
        let mut webhooks = Configurations::default();
        for path in self.webhook_paths.iter().filter(|path| wanted(path)) {
            webhooks.append(crate::files::read_webhooks(path)?);
        }
        webhooks.append(self.webhooks);
        env.install(webhooks).await?;
        Ok(env)
    }
}

/// Waits for the namespace, which a server that has just started may still lack.
async fn wait_for_default_namespace(client: &Client) -> Result<(), Error> {
    let api: Api<Namespace> = Api::all(client.clone());
    let deadline = Instant::now() + NAMESPACE_TIMEOUT;
    while let Err(error) = api.get("default").await {
        if Instant::now() >= deadline {
            return Err(Error::NotReady { reason: error.to_string() });
        }
        tokio::time::sleep(NAMESPACE_INTERVAL).await;
    }
    Ok(())
}
