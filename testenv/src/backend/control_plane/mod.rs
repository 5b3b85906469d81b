//! etcd and kube-apiserver as processes of this environment, as in envtest.
//!
//! Certificates, data and logs are in one temporary folder. Nothing outlives the environment: dropping it kills the
//! processes, also on a panic.

mod arguments;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::{Client, Config};
use kubesmith_apiserver::kubeconfig::{Credentials, write};
use kubesmith_apiserver::tls::Authority;
use tempfile::TempDir;

pub use arguments::Arguments;

use super::choice::Variables;
use crate::error::Error;
use crate::kind::Backend;
use crate::kubeconfig;
use crate::process::{self, Process, ProcessError, Program};

/// The limit of attempts to start; envtest's number.
const TRIES: u32 = 5;
/// The prefix of temporary folders; envtest's.
const FOLDER: &str = "k8s_test_framework_";
const CLIENT_AUTHORITY: &str = "client-cert-auth-ca.crt";
const ACCOUNT_KEY: &str = "sa-signer.key";
const ACCOUNT_PUBLIC_KEY: &str = "sa-signer.pub";
const ETCD: &str = "etcd";
const KUBE_APISERVER: &str = "kube-apiserver";
/// Flags for the addresses of the processes, on which the environment depends.
const OWN_ETCD_FLAGS: &[&str] =
    &["advertise-client-urls", "data-dir", "listen-client-urls", "listen-peer-urls"];
const OWN_API_SERVER_FLAGS: &[&str] =
    &["bind-address", "cert-dir", "client-ca-file", "etcd-servers", "secure-port"];

/// Settings for a control plane that the environment starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlPlaneOptions {
    pub(crate) assets: Option<PathBuf>,
    pub(crate) start_timeout: Option<Duration>,
    pub(crate) stop_timeout: Option<Duration>,
    pub(crate) attach_output: bool,
    pub(crate) etcd: Arguments,
    pub(crate) api_server: Arguments,
}

impl ControlPlaneOptions {
    /// Returns the first option that has no effect on `backend`. Timeouts and paths of processes may be set for any.
    pub(crate) fn unknown_to(&self, backend: Backend) -> Option<&'static str> {
        let set = [(&self.etcd, "etcd_arguments"), (&self.api_server, "api_server_arguments")];
        let mut set =
            set.into_iter().filter(|(flags, _)| !flags.is_empty() && backend != Backend::ControlPlane);
        set.next().map(|(_, name)| name)
    }
}

/// The result of [`ControlPlaneOptions`] and environment variables.
#[derive(Debug)]
pub(crate) struct Plan {
    etcd: PathBuf,
    kube_apiserver: PathBuf,
    start_timeout: Duration,
    stop_timeout: Duration,
    attach_output: bool,
    etcd_arguments: Arguments,
    api_server_arguments: Arguments,
}

impl Plan {
    pub(crate) fn new(options: ControlPlaneOptions, variables: &Variables) -> Result<Self, Error> {
        let folder = options.assets.as_deref();
        Ok(Self {
            etcd: variables.etcd(folder),
            kube_apiserver: variables.kube_apiserver(folder),
            start_timeout: variables.start_timeout(options.start_timeout)?,
            stop_timeout: variables.stop_timeout(options.stop_timeout)?,
            attach_output: options.attach_output || variables.attach_output(),
            etcd_arguments: options.etcd,
            api_server_arguments: options.api_server,
        })
    }
}

/// A running control plane. Fields are dropped in order: processes before the folder that they write to.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    api_server: Process,
    etcd: Process,
    access: Access,
    stop_timeout: Duration,
    _folder: TempDir,
}

impl ControlPlane {
    /// Starts both processes and waits until they are ready; retries if another process takes a port.
    pub(crate) async fn start(plan: &Plan) -> Result<Self, Error> {
        let reserved = plan.etcd_arguments.changes_any(OWN_ETCD_FLAGS);
        let reserved = reserved.or(plan.api_server_arguments.changes_any(OWN_API_SERVER_FLAGS));
        if let Some(flag) = reserved {
            return Err(Error::ReservedFlag { flag });
        }
        let mut tries = 1;
        loop {
            let folder = tempfile::Builder::new().prefix(FOLDER).tempdir().map_err(Error::Folder)?;
            match Attempt::new(plan, folder.path())?.start().await {
                Ok((etcd, api_server, access)) => {
                    let stop_timeout = plan.stop_timeout;
                    return Ok(Self { api_server, etcd, access, stop_timeout, _folder: folder });
                }
                Err(source) if tries == TRIES => {
                    let logs = tail(ETCD, folder.path()) + &tail(KUBE_APISERVER, folder.path());
                    return Err(Error::ControlPlane { tries, source, logs });
                }
                Err(error) => tracing::warn!(%error, tries, "unable to start the controlplane"),
            }
            tries += 1;
        }
    }

    pub(crate) async fn client(&self) -> Result<Client, Error> {
        let config = kubeconfig::read(&self.access.kubeconfig).await?;
        Client::try_from(config).map_err(|e| Error::Config(e.to_string()))
    }

    pub(crate) fn url(&self) -> &str {
        &self.access.url
    }

    pub(crate) fn kubeconfig(&self) -> &str {
        &self.access.kubeconfig
    }

    /// Returns a kubeconfig for another user, with a certificate that also names the groups.
    pub(crate) fn add_user(&self, name: &str, groups: &[String]) -> Result<String, Error> {
        let pair = self.access.authority.client(name, groups)?;
        let credentials = Credentials::Certificate(&pair);
        Ok(write(&self.access.url, Some(&self.access.authority.pem), &credentials))
    }

    /// Stops kube-apiserver, then etcd, and returns the error of the first that had to be killed.
    pub(crate) async fn stop(self) -> Result<(), Error> {
        let api_server = self.api_server.stop(self.stop_timeout).await;
        let etcd = self.etcd.stop(self.stop_timeout).await;
        api_server.and(etcd).map_err(Error::Stop)
    }
}

/// The access to the API server, with all rights.
#[derive(Debug)]
struct Access {
    authority: Authority,
    url: String,
    kubeconfig: String,
}

/// One attempt to start both processes.
struct Attempt<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    ports: Ports,
    access: Access,
}

/// Free ports on loopback. Each is reserved until its process starts.
struct Ports {
    client: Port,
    peer: Port,
    secure: Port,
}

struct Port {
    addr: SocketAddr,
    socket: Option<TcpListener>,
}

impl Port {
    fn take() -> io::Result<Self> {
        let socket = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Self { addr: socket.local_addr()?, socket: Some(socket) })
    }
}

impl<'a> Attempt<'a> {
    fn new(plan: &'a Plan, folder: &'a Path) -> Result<Self, Error> {
        let ports = || -> io::Result<Ports> {
            Ok(Ports { client: Port::take()?, peer: Port::take()?, secure: Port::take()? })
        };
        let ports = ports().map_err(Error::Ports)?;
        let url = format!("https://{}", ports.secure.addr);
        let authority = Authority::new()?;
        let admin = authority.client("admin", &["system:masters".to_owned()])?;
        let credentials = Credentials::Certificate(&admin);
        let kubeconfig = write(&url, Some(&authority.pem), &credentials);
        write_pki(folder, &authority)?;
        Ok(Self { plan, folder, ports, access: Access { authority, url, kubeconfig } })
    }

    async fn start(mut self) -> Result<(Process, Process, Access), ProcessError> {
        let etcd = self.start_etcd().await?;
        match self.start_api_server().await {
            Ok(api_server) => Ok((etcd, api_server, self.access)),
            Err(error) => {
                // Of two errors, the first one is returned.
                let _ = etcd.stop(self.plan.stop_timeout).await;
                Err(error)
            }
        }
    }

    async fn start_etcd(&mut self) -> Result<Process, ProcessError> {
        let plan = self.plan;
        let program = self.program(ETCD, &plan.etcd);
        let url = format!("http://{}", self.ports.client.addr);
        let mut flags = vec![
            ("advertise-client-urls", url.clone()),
            ("data-dir", path(&self.folder.join("etcd"))),
            ("listen-client-urls", url.clone()),
            ("listen-peer-urls", format!("http://{}", self.ports.peer.addr)),
        ];
        // Since etcd 3.5; no data has to survive the machine.
        if program.knows("unsafe-no-fsync", plan.start_timeout).await {
            flags.push(("unsafe-no-fsync", "true".to_owned()));
        }
        self.ports.client.socket = None;
        self.ports.peer.socket = None;
        let mut etcd = program.spawn(&plan.etcd_arguments.over(&flags))?;
        let client = probe(url.parse().ok().map(Config::new));
        etcd.ready(plan.start_timeout, || answers(client.clone(), "/health")).await?;
        Ok(etcd)
    }

    async fn start_api_server(&mut self) -> Result<Process, ProcessError> {
        let plan = self.plan;
        let program = self.program(KUBE_APISERVER, &plan.kube_apiserver);
        let flags = self.api_server_flags();
        self.ports.secure.socket = None;
        let mut api_server = program.spawn(&plan.api_server_arguments.over(&flags))?;
        let client = probe(kubeconfig::read(&self.access.kubeconfig).await.ok());
        // Unlike envtest's /healthz, /readyz also waits for the roles that users need.
        api_server.ready(plan.start_timeout, || answers(client.clone(), "/readyz")).await?;
        Ok(api_server)
    }

    /// envtest's flags for Kubernetes 1.24 and later.
    fn api_server_flags(&self) -> Vec<(&'static str, String)> {
        let file = |name: &str| path(&self.folder.join(name));
        let addr = self.ports.secure.addr;
        vec![
            ("allow-privileged", "true".to_owned()),
            ("authorization-mode", "RBAC".to_owned()),
            ("bind-address", addr.ip().to_string()),
            ("cert-dir", path(self.folder)),
            ("client-ca-file", file(CLIENT_AUTHORITY)),
            // Pods would wait for service accounts, as no controller creates them.
            ("disable-admission-plugins", "ServiceAccount".to_owned()),
            ("etcd-servers", format!("http://{}", self.ports.client.addr)),
            ("secure-port", addr.port().to_string()),
            ("service-account-issuer", format!("{}/", self.access.url)),
            ("service-account-key-file", file(ACCOUNT_PUBLIC_KEY)),
            ("service-account-signing-key-file", file(ACCOUNT_KEY)),
            ("service-cluster-ip-range", "10.0.0.0/24".to_owned()),
        ]
    }

    fn program(&self, name: &'static str, path: &'a Path) -> Program<'a> {
        let log = (!self.plan.attach_output).then(|| log(name, self.folder));
        Program { name, path, log }
    }
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn log(name: &str, folder: &Path) -> PathBuf {
    folder.join(format!("{name}.log"))
}

fn tail(name: &str, folder: &Path) -> String {
    process::tail(name, &log(name, folder))
}

/// Returns a client without retries. It is never `None`, since the configuration is ours, and that would count as not
/// ready.
fn probe(config: Option<Config>) -> Option<Client> {
    let mut config = config?;
    config.default_retry = false;
    Client::try_from(config).ok()
}

/// Reports whether a server returns 200 for a path.
async fn answers(client: Option<Client>, path: &'static str) -> bool {
    let (Some(client), Ok(request)) = (client, http::Request::get(path).body(Vec::new())) else {
        return false;
    };
    client.request_text(request).await.is_ok()
}

/// Writes kube-apiserver's files: its certificate under the name that it expects in its folder, the authority of its
/// clients, and the keys of service accounts' tokens.
fn write_pki(folder: &Path, authority: &Authority) -> Result<(), Error> {
    let server = authority.server_pair(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    let accounts = rcgen::KeyPair::generate().map_err(|e| Error::Certificates(e.to_string()))?;
    let files = [
        ("apiserver.crt", server.certificate),
        ("apiserver.key", server.key),
        (CLIENT_AUTHORITY, authority.pem.clone()),
        (ACCOUNT_KEY, accounts.serialize_pem()),
        (ACCOUNT_PUBLIC_KEY, accounts.public_key_pem()),
    ];
    files.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text)).map_err(Error::Folder)
}
