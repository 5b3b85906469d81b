//! The handle of a test environment.

mod builder;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, Config};

use crate::backend::Running;
use crate::crds::{self, Wait};
use crate::error::Error;
use crate::fault::{FaultProxy, Schedule};
use crate::installed::Installed;
use crate::kind::Backend;
use crate::kubeconfig;
use crate::kubectl::Kubectl;
use crate::user::{AuthenticatedUser, User};
use crate::webhook::{self, Configurations, LocalServing};

pub use builder::TestEnvBuilder;

/// A Kubernetes API server for one test.
///
/// By default it runs in this process and needs no socket; [`TestEnv::serve`] opens one for other processes.
/// [`Backend`] describes how the same test uses a real control plane or an existing cluster.
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
    /// Created on first use.
    serving: OnceLock<LocalServing>,
}

impl std::fmt::Debug for TestEnv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestEnv").field("backend", &self.backend).finish_non_exhaustive()
    }
}

impl TestEnv {
    /// Creates the handle of a back end that is ready, before anything is installed.
    pub(crate) fn new(
        backend: Running,
        client: Client,
        kubectl: PathBuf,
        wait: Wait,
        clean_up: bool,
        serving: Option<LocalServing>,
    ) -> Self {
        let installed = Mutex::default();
        let serving = serving.map_or_else(OnceLock::new, OnceLock::from);
        Self { backend, client, kubectl, wait, clean_up, installed, serving }
    }

    /// Returns a builder of environments.
    #[must_use]
    pub fn builder() -> TestEnvBuilder {
        TestEnvBuilder::default()
    }

    /// Returns the kind of back end.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend.kind()
    }

    /// Returns a client with all rights. With the embedded server it needs no socket.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Installs CRDs and returns when they are served; existing ones are updated.
    ///
    /// A conversion webhook with a service gets the URL of [`TestEnv::local_serving`] instead.
    ///
    /// # Errors
    /// Returns an error when a CRD is refused, or its names are in use.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the CRDs that are installed so far.
    pub async fn install_crds(&self, mut crds: Vec<CustomResourceDefinition>) -> Result<(), Error> {
        for crd in crds.iter_mut().filter(|crd| webhook::converts_by_service(crd)) {
            webhook::lead_conversion_to(crd, self.local_serving()?);
        }
        self.installed.lock().unwrap_or_else(PoisonError::into_inner).note_crds(&crds);
        crds::install(&self.client, &crds, self.wait).await
    }

    /// Installs the CRDs of a file or of the files in a folder, in the order of their names. Documents of other kinds
    /// are skipped.
    ///
    /// # Errors
    /// Returns an error when a file cannot be read or a CRD is refused.
    pub async fn install_crds_from(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let crds = crate::files::read_crds(path.as_ref())?;
        self.install_crds(crds).await
    }

    /// Installs webhook configurations, or updates existing ones. Webhooks with a service get the URL of
    /// [`TestEnv::local_serving`] instead; webhooks with a URL of their own keep it. All get its `caBundle`. The
    /// webhook server has to run before any write that its webhooks match.
    ///
    /// # Errors
    /// Returns an error when a configuration is refused, or [`TestEnv::local_serving`] fails.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the configurations that are installed so far.
    pub async fn install_webhooks(
        &self,
        mutating: Vec<MutatingWebhookConfiguration>,
        validating: Vec<ValidatingWebhookConfiguration>,
    ) -> Result<(), Error> {
        self.install(Configurations { mutating, validating }).await
    }

    /// Installs the webhook configurations of a file or of the files in a folder, as [`TestEnv::install_webhooks`]
    /// does. Documents of other kinds are skipped.
    ///
    /// # Errors
    /// Returns an error when a file cannot be read, and as for [`TestEnv::install_webhooks`].
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

    /// Returns address and certificates for the webhook server under test. Created on the first call.
    ///
    /// # Errors
    /// Returns an error when no port is free, or certificates cannot be issued or written.
    pub fn local_serving(&self) -> Result<&LocalServing, Error> {
        if let Some(serving) = self.serving.get() {
            return Ok(serving);
        }
        let made = LocalServing::new()?;
        Ok(self.serving.get_or_init(|| made))
    }

    /// Opens a socket with TLS on `addr`; port 0 selects a free one. [`TestEnv::kubeconfig`] then describes it.
    ///
    /// # Errors
    /// Returns an error when the address cannot be listened on, or the server is not the embedded one.
    pub async fn serve(&mut self, addr: SocketAddr) -> Result<String, Error> {
        Ok(self.backend.embedded_mut("serve")?.listen(addr, false).await?)
    }

    /// Opens a socket without TLS and without authentication.
    ///
    /// # Errors
    /// Returns an error when the address cannot be listened on, or the server is not the embedded one.
    pub async fn serve_plain(&mut self, addr: SocketAddr) -> Result<String, Error> {
        Ok(self.backend.embedded_mut("serve_plain")?.listen(addr, true).await?)
    }

    /// Returns the server's address for other processes; `None` before [`TestEnv::serve`] of an embedded one.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.backend.url()
    }

    /// Returns a kubeconfig with all rights, as YAML. The embedded server opens a socket on a free loopback port if it
    /// has none.
    ///
    /// # Errors
    /// Returns an error when no socket can be opened.
    pub async fn kubeconfig(&mut self) -> Result<String, Error> {
        self.backend.kubeconfig().await
    }

    /// Returns a client configuration with all rights. The embedded server opens a socket on a free loopback port if it
    /// has none.
    ///
    /// # Errors
    /// Returns an error when no socket can be opened.
    pub async fn config(&mut self) -> Result<Config, Error> {
        kubeconfig::read(&self.kubeconfig().await?).await
    }

    /// Adds a user, as envtest's `AddUser`: kube-apiserver knows it by a client certificate, the embedded server, which
    /// opens a socket if it has none, by a token. The server decides on its rights; the embedded one allows everything
    /// unless [`rbac`](crate::TestEnvBuilder::rbac) is set.
    ///
    /// # Errors
    /// Returns an error when certificates cannot be issued or no socket can be opened, and for an existing cluster,
    /// which manages its own users.
    pub async fn add_user(&mut self, user: &User) -> Result<AuthenticatedUser, Error> {
        self.backend.add_user(user).await
    }

    /// Lists the permissions of these rules that no request of the user has needed so far. A role is minimal when a
    /// test of all the operator's work leaves none. Each permission has the form of `kubectl auth can-i`: `patch
    /// deployments.apps/scale`, `get /metrics`. `resourceNames` are ignored. Requests count from the server's start,
    /// and only with [`rbac`](crate::TestEnvBuilder::rbac), without which no rule is evaluated. The server records at
    /// most 10,000 permissions of all users; those needed first after that count as unused.
    ///
    /// # Errors
    /// Returns an error on other back ends than the embedded server, as only it records requests.
    pub fn unused_permissions(&self, user: &User, rules: &[PolicyRule]) -> Result<Vec<String>, Error> {
        Ok(self.backend.embedded("unused_permissions")?.unused_permissions(&user.name, rules))
    }

    /// Returns kubectl with all rights: the binary that `TEST_ASSET_KUBECTL` or `KUBEBUILDER_ASSETS` names, or the
    /// shell's.
    ///
    /// # Errors
    /// Returns an error when no socket can be opened, or the kubeconfig cannot be written.
    pub async fn kubectl(&mut self) -> Result<Kubectl, Error> {
        Kubectl::new(self.kubectl.clone(), &self.kubeconfig().await?)
    }

    /// Returns a proxy in front of the server that breaks requests by `schedule`; see [`fault`](crate::fault).
    ///
    /// # Errors
    /// Returns an error when the server's certificates are unusable.
    pub async fn fault_proxy(&self, schedule: Schedule) -> Result<FaultProxy, Error> {
        Ok(FaultProxy::new(self.backend.upstream().await?, schedule))
    }

    /// Drops the history of all resources: watches and lists from older versions get 410.
    ///
    /// # Errors
    /// Returns an error on other back ends than the embedded server. A fault rule with 410 has the same effect on a
    /// client there.
    pub fn compact(&self) -> Result<(), Error> {
        self.backend.embedded("compact")?.compact();
        Ok(())
    }

    /// Resolves when the data folder can no longer be written, after which every request fails; never without a folder.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn failed(&self) -> Error {
        match self.backend.embedded("failed") {
            Ok(server) => server.failed().await.into(),
            Err(_) => std::future::pending().await,
        }
    }

    /// Ends all watches and connections and waits until everything has stopped. Errors are logged; see
    /// [`TestEnv::try_stop`].
    pub async fn stop(self) {
        if let Err(error) = self.try_stop().await {
            tracing::error!(%error, "the test environment did not stop as it should");
        }
    }

    /// As [`TestEnv::stop`], and returns errors.
    ///
    /// # Errors
    /// Returns an error when a process did not end in time, or an object was left behind.
    pub async fn try_stop(self) -> Result<(), Error> {
        let installed = self.installed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if self.clean_up && self.backend.kind() == Backend::ExistingCluster {
            installed.remove(&self.client, self.wait).await?;
        }
        self.backend.stop().await
    }
}
