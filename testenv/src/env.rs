//! The handle that tests hold.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use crate::clock::{Clock, SystemClock};
use crate::error::Error;
use crate::listen::Listener;
use crate::server::{ApiService, Origin, Server};

/// How many events of each resource watches can replay.
const HISTORY: usize = 10_000;

/// Describes a [`TestEnv`] before it starts.
#[derive(Debug)]
pub struct TestEnvBuilder {
    crd_paths: Vec<PathBuf>,
    crds: Vec<CustomResourceDefinition>,
    clock: Arc<dyn Clock>,
    seed: Option<u64>,
    history: usize,
    controllers: bool,
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
        self.clock = clock;
        self
    }

    /// Makes UIDs and generated names the same in every run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// How many events of each resource are kept for watches that start in the past; 10,000 unless set. A watch from an
    /// older version is answered with 410.
    #[must_use]
    pub fn history(mut self, events: usize) -> Self {
        self.history = events;
        self
    }

    /// Runs what a cluster's controller manager does to owners and namespaces: dependents go with their owners, and
    /// namespaces that are being deleted are emptied. Off unless set, as beside a kube-apiserver that runs alone.
    #[must_use]
    pub fn controllers(mut self, run: bool) -> Self {
        self.controllers = run;
        self
    }

    /// Starts the environment.
    ///
    /// # Errors
    /// When a CRD cannot be read or is refused.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn start(self) -> Result<TestEnv, Error> {
        let server = Server::new(self.clock, self.seed, self.history, self.controllers);
        let service = ApiService::new(server.clone(), Origin::default());
        let client = Client::new(service, "default");
        let env = TestEnv { server, client, listener: None };
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
    server: Arc<Server>,
    client: Client,
    listener: Option<Listener>,
}

impl std::fmt::Debug for TestEnv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestEnv").field("server", &self.server).field("listener", &self.listener).finish()
    }
}

impl TestEnv {
    /// Starts to describe an environment.
    #[must_use]
    pub fn builder() -> TestEnvBuilder {
        TestEnvBuilder {
            crd_paths: Vec::new(),
            crds: Vec::new(),
            clock: Arc::new(SystemClock),
            seed: None,
            history: HISTORY,
            controllers: false,
        }
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
        let api: Api<CustomResourceDefinition> = Api::all(self.client());
        for crd in crds {
            let name = crd.metadata.name.clone().unwrap_or_default();
            let refused = |source| Error::Install { name: name.clone(), source: Box::new(source) };
            let exists = api.get_opt(&name).await.map_err(refused)?.is_some();
            if exists {
                let patch = Patch::Merge(&crd);
                api.patch(&name, &PatchParams::default(), &patch).await.map_err(refused)?;
            } else {
                api.create(&PostParams::default(), &crd).await.map_err(refused)?;
            }
            let stored = api.get(&name).await.map_err(refused)?;
            let conditions = stored.status.and_then(|s| s.conditions).unwrap_or_default();
            if !conditions.iter().any(|c| c.type_ == "Established" && c.status == "True") {
                let faults = conditions.iter().filter(|c| c.status != "True");
                let texts: Vec<String> =
                    faults.map(|c| c.message.clone().unwrap_or_else(|| c.type_.clone())).collect();
                return Err(Error::NotEstablished { name, reason: texts.join("; ") });
            }
        }
        Ok(())
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
        self.listen(addr, false).await
    }

    /// Opens a socket without TLS and without authentication.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn serve_plain(&mut self, addr: SocketAddr) -> Result<String, Error> {
        self.listen(addr, true).await
    }

    async fn listen(&mut self, addr: SocketAddr, plain: bool) -> Result<String, Error> {
        if let Some(old) = self.listener.take() {
            old.stop().await;
        }
        let listener = Listener::start(self.server.clone(), addr, plain).await?;
        let url = listener.url();
        self.listener = Some(listener);
        Ok(url)
    }

    /// The address that other processes reach the server at; `None` before [`TestEnv::serve`].
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.listener.as_ref().map(Listener::url)
    }

    /// A kubeconfig for the socket, as YAML; opens one on a free loopback port if there is none.
    ///
    /// # Errors
    /// When no socket can be opened.
    pub async fn kubeconfig(&mut self) -> Result<String, Error> {
        if self.listener.is_none() {
            self.serve(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        }
        Ok(self.listener.as_ref().map(crate::files::kubeconfig).unwrap_or_default())
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
    pub fn compact(&self) {
        self.server.store.compact();
    }

    /// Ends all watches and connections and waits until everything has stopped.
    pub async fn stop(mut self) {
        self.server.stop();
        if let Some(listener) = self.listener.take() {
            listener.stop().await;
        }
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        self.server.stop();
    }
}
