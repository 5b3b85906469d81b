//! The handle that tests hold.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::backend::{Embedded, EmbeddedOptions, Running};
use crate::clock::Clock;
use crate::crds::Wait;
use crate::error::Error;

/// Describes a [`TestEnv`] before it starts.
#[derive(Debug, Default)]
pub struct TestEnvBuilder {
    crd_paths: Vec<PathBuf>,
    crds: Vec<CustomResourceDefinition>,
    wait: Wait,
    embedded: EmbeddedOptions,
}

impl TestEnvBuilder {
    /// Installs the CRDs of these files and folders at the start; of folders, files ending in `yaml`, `yml` or `json`.
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

    /// Takes the time that metadata carries from `clock` instead of the machine.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.embedded.clock = Some(clock);
        self
    }

    /// Makes UIDs and generated names the same in every run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.embedded.seed = Some(seed);
        self
    }

    /// How many events of each resource are kept for watches that start in the past; 10,000 unless set. A watch from an
    /// older version is answered with 410.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.embedded.history = Some(events);
        self
    }

    /// Runs what a cluster's controller manager does to owners and namespaces: dependents go with their owners, and
    /// namespaces that are being deleted are emptied. Off unless set, as beside a kube-apiserver that runs alone.
    #[must_use]
    pub fn controllers(mut self, run: bool) -> Self {
        self.embedded.controllers = run;
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
        self.embedded.data_dir = Some(folder.into());
        self
    }

    /// Starts the environment.
    ///
    /// # Errors
    /// When the data folder cannot be used, or when a CRD cannot be read or is refused.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn start(self) -> Result<TestEnv, Error> {
        let backend = Running::Embedded(Embedded::start(self.embedded)?);
        let env = TestEnv { client: backend.client(), backend, wait: self.wait };
        for path in &self.crd_paths {
            env.install_crds_from(path).await?;
        }
        env.install_crds(self.crds).await?;
        Ok(env)
    }
}

/// A Kubernetes API server for one test.
///
/// It lives in this process and needs no socket; [`TestEnv::serve`] opens one for other processes.
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
    wait: Wait,
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

    /// A client that talks to the server without a socket.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Installs CRDs and returns when they are served; those that are there already are brought up to date.
    ///
    /// # Errors
    /// When a CRD is refused, or its names are in use.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the CRDs installed that were done.
    pub async fn install_crds(&self, crds: Vec<CustomResourceDefinition>) -> Result<(), Error> {
        crate::crds::install(&self.client, &crds, self.wait).await
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

    /// Opens a socket with TLS on `addr`; port 0 takes a free one. [`TestEnv::kubeconfig`] then describes it.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn serve(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.backend.embedded_mut("serve")?.listen(addr, false).await
    }

    /// Opens a socket without TLS and without authentication.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn serve_plain(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.backend.embedded_mut("serve_plain")?.listen(addr, true).await
    }

    /// The address that other processes reach the server at; `None` before [`TestEnv::serve`].
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.backend.url()
    }

    /// A kubeconfig for the socket, as YAML; opens one on a free loopback port if there is none.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub async fn kubeconfig(&mut self) -> Result<String, Error> {
        self.backend.kubeconfig().await
    }

    /// A client configuration for the socket; opens one on a free loopback port if there is none.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub async fn config(&mut self) -> Result<Config, Error> {
        let text = self.kubeconfig().await?;
        let kubeconfig = Kubeconfig::from_yaml(&text).map_err(|e| Error::Config(e.to_string()))?;
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(|e| Error::Config(e.to_string()))
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
        self.backend.stop().await
    }
}
