//! The handle that tests hold.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, Config};

use crate::backend::{Backend, Running};
use crate::builder::TestEnvBuilder;
use crate::crds::{self, Wait};
use crate::error::Error;
use crate::fault::{FaultProxy, Schedule};
use crate::installed::Installed;
use crate::kubeconfig;
use crate::kubectl::Kubectl;
use crate::user::{AuthenticatedUser, User};
use crate::webhook::{self, Configurations, LocalServing};

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
    /// The handle of a back end that is ready, before anything was installed.
    pub(crate) fn new(
        backend: Running,
        client: Client,
        kubectl: PathBuf,
        wait: Wait,
        clean_up: bool,
    ) -> Self {
        let (installed, serving) = (Mutex::default(), OnceLock::new());
        Self { backend, client, kubectl, wait, clean_up, installed, serving }
    }

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

    pub(crate) async fn install(&self, webhooks: Configurations) -> Result<(), Error> {
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
        Ok(self.backend.embedded_mut("serve")?.listen(addr, false).await?)
    }

    /// Opens a socket without TLS and without authentication.
    ///
    /// # Errors
    /// When the address cannot be listened on, or the server is not the embedded one.
    pub async fn serve_plain(&mut self, addr: SocketAddr) -> Result<String, Error> {
        Ok(self.backend.embedded_mut("serve_plain")?.listen(addr, true).await?)
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

    /// Makes the server know a further user, as envtest's `AddUser`: kube-apiserver by a client certificate, the embedded
    /// server, which opens a socket if it has none, by a token. What the user may do is up to the server; the embedded one
    /// lets everybody do everything unless [`rbac`](crate::TestEnvBuilder::rbac) is set.
    ///
    /// # Errors
    /// When certificates cannot be made or no socket can be opened, and for an existing cluster, whose users are not the
    /// environment's to make.
    pub async fn add_user(&mut self, user: &User) -> Result<AuthenticatedUser, Error> {
        self.backend.add_user(user).await
    }

    /// What these rules allow that no request of the user has needed so far. A role is minimal when a test that takes the operator
    /// through all of its work leaves nothing. Each permission reads as `kubectl auth can-i` takes it: `patch deployments.apps/scale`,
    /// `get /metrics`. `resourceNames` are not looked at. Requests count from the server's start, and only with
    /// [`rbac`](crate::TestEnvBuilder::rbac), without which no rule is evaluated. The server keeps account of no more than
    /// 10,000 permissions of all users; what is needed first after that counts as unused.
    ///
    /// # Errors
    /// On another back end than the embedded server, which alone keeps account of requests.
    pub fn unused_permissions(&self, user: &User, rules: &[PolicyRule]) -> Result<Vec<String>, Error> {
        Ok(self.backend.embedded("unused_permissions")?.unused_permissions(&user.name, rules))
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
            Ok(server) => server.failed().await.into(),
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
