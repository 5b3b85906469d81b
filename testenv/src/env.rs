//! The handle that tests hold.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, Config};
use tokio::time::Instant;

use crate::backend::{Arguments, Backend, Options, Running, Variables};
use crate::clock::Clock;
use crate::crds::{self, Wait};
use crate::error::Error;
use crate::fault::{FaultProxy, Schedule};
use crate::installed::Installed;
use crate::kubeconfig;
use crate::kubectl::Kubectl;
use crate::user::{AuthenticatedUser, User};
use crate::webhook::{self, Configurations, LocalServing};

/// How long a server that is up may take to make the namespace `default`, and how often it is asked; envtest's numbers.
const NAMESPACE_TIMEOUT: Duration = Duration::from_secs(5);
const NAMESPACE_INTERVAL: Duration = Duration::from_millis(50);

/// Describes a [`TestEnv`] before it starts.
#[derive(Debug, Default)]
pub struct TestEnvBuilder {
    crd_paths: Vec<PathBuf>,
    crds: Vec<CustomResourceDefinition>,
    webhook_paths: Vec<PathBuf>,
    webhooks: Configurations,
    skip_missing_paths: bool,
    clean_up_after_use: bool,
    wait: Wait,
    options: Options,
}

impl TestEnvBuilder {
    /// Runs on `backend`, whatever the environment variables say; see [`Backend`].
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

    /// Whether a path that is not there is an error. It is unless set to false, other than for envtest, which leaves out
    /// what is missing unless told not to.
    #[must_use]
    pub fn error_if_crd_path_missing(mut self, error: bool) -> Self {
        self.skip_missing_paths = !error;
        self
    }

    /// How long CRDs may take from their installation until discovery serves them; 10 seconds unless set.
    #[must_use]
    pub fn crd_max_time(mut self, time: Duration) -> Self {
        self.wait.max_time = time;
        self
    }

    /// How often the server is asked whether it serves the CRDs; every 100 ms unless set.
    #[must_use]
    pub fn crd_poll_interval(mut self, interval: Duration) -> Self {
        self.wait.poll_interval = interval;
        self
    }

    /// Deletes from an existing cluster, when the environment is stopped, every CRD and webhook configuration that it
    /// installed or brought up to date, and waits until the CRDs and their objects are gone. Off unless set. Other back
    /// ends end with all they hold.
    #[must_use]
    pub fn clean_up_after_use(mut self, clean: bool) -> Self {
        self.clean_up_after_use = clean;
        self
    }

    /// Takes the time that metadata carries from `clock` instead of the machine. Only for the embedded server: an error
    /// at the start on other back ends, as are the next four.
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

    /// How many events of each resource are kept for watches that start in the past; 10,000 unless set. A watch from an
    /// older version is answered with 410.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.options.embedded.history = Some(events);
        self
    }

    /// Runs what a cluster's controller manager does: dependents go with their owners, namespaces that are being deleted are
    /// emptied, deployments make replica sets and those make pods, and every namespace has its service account `default` and
    /// the config map `kube-root-ca.crt`. Off unless set, as beside a kube-apiserver that runs alone; an existing cluster
    /// has them anyway. Pods stay pending unless there is a [`simulated_node`](Self::simulated_node).
    #[must_use]
    pub fn controllers(mut self, run: bool) -> Self {
        self.options.embedded.controllers = run;
        self
    }

    /// Runs a stand-in for a node with its kubelet and for the scheduler: pods become running and ready at once, with an
    /// address, and end when they are deleted; a job's pods succeed. No container is run. Off unless set; only for the
    /// embedded server.
    #[must_use]
    pub fn simulated_node(mut self, run: bool) -> Self {
        self.options.embedded.simulated_node = run;
        self
    }

    /// Where a control plane's binaries are if neither `TEST_ASSET_ETCD` and `TEST_ASSET_KUBE_APISERVER` nor
    /// `KUBEBUILDER_ASSETS` tell; `/usr/local/kubebuilder/bin` unless set. Does not by itself choose a control plane.
    #[must_use]
    pub fn binary_assets_directory(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.control_plane.assets = Some(folder.into());
        self
    }

    /// How long each process of a control plane may take to start; before `KUBEBUILDER_CONTROLPLANE_START_TIMEOUT` (a Go
    /// duration), and 20 seconds if neither is set.
    #[must_use]
    pub fn control_plane_start_timeout(mut self, timeout: Duration) -> Self {
        self.options.control_plane.start_timeout = Some(timeout);
        self
    }

    /// How long each process of a control plane may take to stop before it is killed; before
    /// `KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT` (a Go duration), and 20 seconds if neither is set.
    #[must_use]
    pub fn control_plane_stop_timeout(mut self, timeout: Duration) -> Self {
        self.options.control_plane.stop_timeout = Some(timeout);
        self
    }

    /// Lets a control plane print to this process's output instead of into logs, as does
    /// `KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT=true`.
    #[must_use]
    pub fn attach_control_plane_output(mut self, attach: bool) -> Self {
        self.options.control_plane.attach_output = attach;
        self
    }

    /// Changes etcd's flags. An error at the start on back ends without one.
    #[must_use]
    pub fn etcd_arguments(mut self, arguments: Arguments) -> Self {
        self.options.control_plane.etcd = arguments;
        self
    }

    /// Changes kube-apiserver's flags. An error at the start on back ends without one that is started for the test.
    #[must_use]
    pub fn api_server_arguments(mut self, arguments: Arguments) -> Self {
        self.options.control_plane.api_server = arguments;
        self
    }

    /// Reaches an existing cluster with `config`. Unless set it is looked for as controller-runtime does: in the files
    /// that `KUBECONFIG` names, the service account of a pod, `~/.kube/config`. An error at the start on other back ends.
    #[must_use]
    pub fn cluster_config(mut self, config: Config) -> Self {
        self.options.cluster = Some(config);
        self
    }

    /// Keeps everything in this folder, which is made if there is none, and goes on from what is there. Without it
    /// everything is in memory.
    ///
    /// What has been answered survives a crash of the process and of the machine: an answer waits until the disk has what
    /// it tells. Watches go on from the version they have seen, or are answered with 410 when it is older than the history
    /// that is kept. One environment at a time can use a folder.
    #[must_use]
    pub fn data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.embedded.data_dir = Some(folder.into());
        self
    }

    /// Starts the environment.
    ///
    /// # Errors
    /// When the back end does not start or cannot be reached, the data folder cannot be used, an option means nothing to
    /// the back end, or a CRD cannot be read or is refused.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future kills the processes that were started, and leaves in an existing cluster what was installed.
    pub async fn start(self) -> Result<TestEnv, Error> {
        let variables = Variables::of_process();
        let kubectl = variables.kubectl(self.options.control_plane.assets.as_deref());
        let (backend, client) = Running::start(self.options, &variables).await?;
        wait_for_default_namespace(&client).await?;
        let (wait, clean_up) = (self.wait, self.clean_up_after_use);
        let env = TestEnv {
            backend,
            client,
            kubectl,
            wait,
            clean_up,
            installed: Mutex::default(),
            serving: OnceLock::new(),
        };
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

/// A server that has just come up may not have made it yet.
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

/// A Kubernetes API server for one test.
///
/// Unless told otherwise it lives in this process and needs no socket; [`TestEnv::serve`] opens one for other processes.
/// [`Backend`] says how a test gets a real control plane or an existing cluster instead, without being changed.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::api::{Api, ObjectMeta, PostParams};
/// use kubesmith_testenv::TestEnv;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let env = TestEnv::builder().start().await?;
/// let maps: Api<ConfigMap> = Api::namespaced(env.client(), "default");
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("settings".to_owned());
/// let stored = maps.create(&PostParams::default(), &map).await?;
/// assert!(stored.metadata.uid.is_some());
/// env.stop().await;
/// # Ok(())
/// # }
/// ```
pub struct TestEnv {
    backend: Running,
    client: Client,
    kubectl: PathBuf,
    wait: Wait,
    clean_up: bool,
    installed: Mutex<Installed>,
    /// Made when it is first needed.
    serving: OnceLock<LocalServing>,
}

impl std::fmt::Debug for TestEnv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestEnv").field("backend", &self.backend).finish_non_exhaustive()
    }
}

impl TestEnv {
    /// Starts to describe an environment.
    #[must_use]
    pub fn builder() -> TestEnvBuilder {
        TestEnvBuilder::default()
    }

    /// Where the API server runs.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend.kind()
    }

    /// A client with all rights. To the embedded server it needs no socket.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Installs CRDs and returns when they are served; those that are there already are brought up to date.
    ///
    /// A conversion webhook that is behind a service leads to [`TestEnv::local_serving`] instead.
    ///
    /// # Errors
    /// When a CRD is refused, or its names are in use.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the CRDs installed that were done.
    pub async fn install_crds(&self, mut crds: Vec<CustomResourceDefinition>) -> Result<(), Error> {
        for crd in crds.iter_mut().filter(|crd| webhook::converts_by_service(crd)) {
            webhook::lead_conversion_to(crd, self.local_serving()?);
        }
        self.installed.lock().unwrap_or_else(PoisonError::into_inner).note_crds(&crds);
        crds::install(&self.client, &crds, self.wait).await
    }

    /// Installs the CRDs of a file or of the files in a folder, in the order of their names. Documents of other kinds are
    /// left out.
    ///
    /// # Errors
    /// When a file cannot be read or a CRD is refused.
    pub async fn install_crds_from(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let crds = crate::files::read_crds(path.as_ref())?;
        self.install_crds(crds).await
    }

    /// Installs webhook configurations, or brings those that are there up to date. Their webhooks lead to
    /// [`TestEnv::local_serving`] instead of to services, which a test does not have; webhooks with a URL of their own
    /// keep it. All get its `caBundle`. The server there has to be up before anything is written that the webhooks hear of.
    ///
    /// # Errors
    /// When a configuration is refused, or no place for the webhook server can be made.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the configurations installed that were done.
    pub async fn install_webhooks(
        &self,
        mutating: Vec<MutatingWebhookConfiguration>,
        validating: Vec<ValidatingWebhookConfiguration>,
    ) -> Result<(), Error> {
        self.install(Configurations { mutating, validating }).await
    }

    /// Installs the webhook configurations of a file or of the files in a folder, as [`TestEnv::install_webhooks`] does.
    /// Documents of other kinds are left out.
    ///
    /// # Errors
    /// When a file cannot be read, and as for [`TestEnv::install_webhooks`].
    pub async fn install_webhooks_from(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.install(crate::files::read_webhooks(path.as_ref())?).await
    }

    async fn install(&self, webhooks: Configurations) -> Result<(), Error> {
        if webhooks.is_empty() {
            return Ok(());
        }
        self.installed.lock().unwrap_or_else(PoisonError::into_inner).note_webhooks(&webhooks);
        webhook::install(&self.client, webhooks, self.local_serving()?).await
    }

    /// Where the webhook server under test is to listen, and its certificates. Made at the first call.
    ///
    /// # Errors
    /// When there is no free port, or certificates cannot be made or written.
    pub fn local_serving(&self) -> Result<&LocalServing, Error> {
        if let Some(serving) = self.serving.get() {
            return Ok(serving);
        }
        let made = LocalServing::new()?;
        Ok(self.serving.get_or_init(|| made))
    }

    /// Opens a socket with TLS on `addr`; port 0 takes a free one. [`TestEnv::kubeconfig`] then describes it.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the server is not the embedded one.
    pub async fn serve(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.backend.embedded_mut("serve")?.listen(addr, false).await
    }

    /// Opens a socket without TLS and without authentication.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the server is not the embedded one.
    pub async fn serve_plain(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.backend.embedded_mut("serve_plain")?.listen(addr, true).await
    }

    /// The address that other processes reach the server at; `None` before [`TestEnv::serve`] of an embedded one.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.backend.url()
    }

    /// A kubeconfig with all rights, as YAML. The embedded server opens a socket on a free loopback port if it has none.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub async fn kubeconfig(&mut self) -> Result<String, Error> {
        self.backend.kubeconfig().await
    }

    /// A client configuration with all rights. The embedded server opens a socket on a free loopback port if it has none.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub async fn config(&mut self) -> Result<Config, Error> {
        kubeconfig::read(&self.kubeconfig().await?).await
    }

    /// Makes the server know a further user, as envtest's `AddUser`: kube-apiserver by a client certificate.
    ///
    /// # Errors
    /// When certificates cannot be made, or the back end's users are not the environment's to make.
    pub async fn add_user(&mut self, user: &User) -> Result<AuthenticatedUser, Error> {
        AuthenticatedUser::new(self.backend.add_user(&user.name, &user.groups)?).await
    }

    /// kubectl with all rights: the binary that `TEST_ASSET_KUBECTL` or `KUBEBUILDER_ASSETS` names, or the shell's.
    ///
    /// # Errors
    /// When no socket can be opened, or the kubeconfig cannot be written.
    pub async fn kubectl(&mut self) -> Result<Kubectl, Error> {
        Kubectl::new(self.kubectl.clone(), &self.kubeconfig().await?)
    }

    /// A proxy in front of the server that breaks requests as `schedule` says; see [`fault`](crate::fault).
    ///
    /// # Errors
    /// When the server's certificates cannot be used.
    pub async fn fault_proxy(&self, schedule: Schedule) -> Result<FaultProxy, Error> {
        Ok(FaultProxy::new(self.backend.upstream().await?, schedule))
    }

    /// Forgets the history of all resources: watches and lists from older versions are answered with 410.
    ///
    /// # Errors
    /// On another back end than the embedded server, which cannot be told to forget. A fault rule that answers 410 has
    /// the same effect on a client there.
    pub fn compact(&self) -> Result<(), Error> {
        self.backend.embedded("compact")?.compact();
        Ok(())
    }

    /// Resolves when the data folder can no longer be written, after which every request is answered with an error; never
    /// without a folder.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn failed(&self) -> Error {
        match self.backend.embedded("failed") {
            Ok(embedded) => embedded.failed().await,
            Err(_) => std::future::pending().await,
        }
    }

    /// Ends all watches and connections and waits until everything has stopped. What went wrong is logged; see
    /// [`TestEnv::try_stop`].
    pub async fn stop(self) {
        if let Err(error) = self.try_stop().await {
            tracing::error!(%error, "the test environment did not stop as it should");
        }
    }

    /// As [`TestEnv::stop`], and tells what went wrong.
    ///
    /// # Errors
    /// When something did not end in time, or was left behind.
    pub async fn try_stop(self) -> Result<(), Error> {
        let installed = self.installed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.clean_up && self.backend.kind() == Backend::ExistingCluster {
            installed.remove(&self.client, self.wait).await?;
        }
        self.backend.stop().await
    }
}
