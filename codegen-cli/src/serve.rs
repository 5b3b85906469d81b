//! `kubesmith serve`: the embedded API server for people, with `kubectl` or any other client.
//!
//! A thin shell around [`TestEnv`]: it starts one, writes a kubeconfig, reports when both are ready, and
//! waits for a signal.

mod host;

use std::future::Future;
use std::io::{self, Write as _};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kubesmith_testenv::{Backend, Containers, DataError, Error as EnvError, FeatureGates, TestEnv};
use serde::Deserialize as _;
use serde_yaml::Value;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::diag;
use crate::notice::Notice;

/// The log filter without `RUST_LOG`: warnings of the server, not of its libraries.
const LOGGED: &str = "kubesmith_apiserver=warn,kubesmith_testenv=warn";

/// The address without `--addr`: kube-apiserver's port. It is fixed so that a kubeconfig stays right from run to run.
const DEFAULT_ADDR: &str = "127.0.0.1:6443";

/// The address without `--webhook-addr`: that of controller-runtime's webhook servers.
const WEBHOOK_ADDR: &str = "127.0.0.1:9443";

/// The settings of the server: contents, address, kubeconfig.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 selects a free port.
    #[arg(long, value_name = "HOST:PORT", default_value = DEFAULT_ADDR, value_parser = address)]
    addr: SocketAddr,
    /// Serves HTTP without TLS and without authentication.
    #[arg(long)]
    plain_http: bool,
    /// File for the kubeconfig; default: `kubeconfig` in the folder of --data, or a new private file that is removed
    /// when the server ends. A file with other clusters is an error and is not changed.
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// CRDs to install: a file, or a folder with files ending in yaml, yml or json; may be repeated.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    crds: Vec<PathBuf>,
    /// Stores all objects in this folder and loads them at the next start; default: in memory.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Also runs the controllers of a cluster: garbage collection, Deployments, ReplicaSets and others.
    #[arg(long)]
    controllers: bool,
    /// Keeps deleted namespaces as kube-apiserver alone does; without it, they are emptied and removed after five seconds.
    #[arg(long, conflicts_with = "controllers")]
    keep_namespaces: bool,
    /// Authorization mode: AlwaysAllow allows all requests, RBAC evaluates roles and bindings.
    #[arg(long, value_name = "MODE", default_value = "AlwaysAllow")]
    authorization_mode: AuthorizationMode,
    /// Also simulates a node and the scheduler: pods become running and ready, but no container runs.
    #[arg(long)]
    simulated_node: bool,
    /// Enables features that are off by default, as in kube-apiserver: `ShardedListAndWatch=true`.
    #[arg(long, value_name = "GATES", default_value = "", hide_default_value = true)]
    feature_gates: FeatureGates,
    /// Calls the webhooks of services on this machine, for a manager in development, and writes their certificate into
    /// this folder: `tls.crt` and `tls.key`, for `--webhook-cert-dir` of the manager.
    #[arg(long, value_name = "DIR")]
    webhook_cert_dir: Option<PathBuf>,
    /// Address of these webhooks.
    #[arg(long, value_name = "HOST:PORT", default_value = WEBHOOK_ADDR, value_parser = address, requires = "webhook_cert_dir")]
    webhook_addr: SocketAddr,
    /// Runs commands of `kubectl exec` on this machine, as the user of this process, unless an annotation of the pod sets the
    /// output. Anyone with the kubeconfig can then run any program.
    #[arg(long, conflicts_with = "plain_http")]
    exec_on_host: bool,
}

/// kube-apiserver's modes that need no nodes, in its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AuthorizationMode {
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    #[value(name = "RBAC")]
    Rbac,
}

/// The reason why the server did not start, or ended by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("{0}")]
    Env(#[from] EnvError),
    #[error("cannot write the kubeconfig {path}: {source}")]
    Kubeconfig { path: PathBuf, source: io::Error },
    #[error("{path} is not a kubeconfig of this command")]
    Foreign { path: PathBuf },
    #[error("RUST_LOG is not a filter: {0}")]
    Log(#[from] ParseError),
    #[error("system error: {0}")]
    System(#[from] io::Error),
}

impl ServeError {
    /// Returns advice for the user.
    pub(crate) fn help(&self) -> &'static str {
        match self {
            ServeError::Env(EnvError::Listen { .. }) => {
                "choose another address with --addr HOST:PORT; port 0 takes a free one"
            }
            ServeError::Env(EnvError::Read { .. } | EnvError::Parse { .. }) => {
                "--crds takes files and folders of YAML or JSON"
            }
            ServeError::Env(EnvError::Install { .. } | EnvError::NotEstablished { .. }) => {
                "correct the CRD; `kubesmith generate` writes one that is accepted"
            }
            ServeError::Env(EnvError::Data { source: DataError::InUse, .. }) => {
                "stop the other server first, or choose another folder with --data DIR"
            }
            ServeError::Env(EnvError::Data { source: DataError::Format { .. }, .. }) => {
                "use the version of kubesmith that wrote it, or choose another folder with --data DIR"
            }
            ServeError::Env(EnvError::ServingCertificates(_)) => {
                "choose another folder with --webhook-cert-dir DIR"
            }
            ServeError::Env(EnvError::Data { .. }) => {
                "nothing was changed; repair or remove the data, or choose another folder with --data DIR"
            }
            ServeError::Env(EnvError::Storage(_)) => {
                "all acknowledged writes are on the disk; free some space and start again"
            }
            ServeError::Env(_) | ServeError::System(_) => "the arguments are not the cause; try again",
            ServeError::Kubeconfig { .. } => "choose a file that you may write with --kubeconfig FILE",
            ServeError::Log(_) => "write a level such as `info`, or `kubesmith_apiserver=debug`",
            ServeError::Foreign { .. } => {
                "the file was not changed: choose another one with --kubeconfig FILE"
            }
        }
    }
}

/// Reads `HOST:PORT`; of a name's addresses, the first.
fn address(text: &str) -> Result<SocketAddr, String> {
    let mut found = text.to_socket_addrs().map_err(|e| format!("{e}; it has to look like {DEFAULT_ADDR}"))?;
    found.next().ok_or_else(|| "the name has no address".to_owned())
}

/// Serves until SIGINT or SIGTERM.
pub(crate) fn serve(arguments: &Serve) -> Result<(), ServeError> {
    log()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(arguments))
}

/// Logs the server's warnings, or the events that `RUST_LOG` selects, on stderr.
fn log() -> Result<(), ServeError> {
    let wanted = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let filter = EnvFilter::try_new(if wanted.is_empty() { LOGGED } else { &wanted })?;
    // An existing log of the process is used.
    let _ =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false).try_init();
    Ok(())
}

async fn run(arguments: &Serve) -> Result<(), ServeError> {
    // From here on, a signal ends the server in order, even before it is ready.
    let interrupted = interrupted()?;
    // The environment variables for the back end are only for tests.
    let builder = TestEnv::builder().backend(Backend::Embedded);
    let mut builder = builder
        .controllers(arguments.controllers)
        .namespace_deletion(!arguments.keep_namespaces)
        .simulated_node(arguments.simulated_node)
        .rbac(arguments.authorization_mode == AuthorizationMode::Rbac)
        .feature_gates(arguments.feature_gates)
        .crd_paths(&arguments.crds);
    if arguments.exec_on_host {
        builder = builder.containers(Containers::new().on_exec(host::run));
    }
    if let Some(folder) = &arguments.webhook_cert_dir {
        builder = builder.webhooks_on_host(arguments.webhook_addr, folder);
    }
    if let Some(folder) = &arguments.data {
        builder = builder.data_dir(folder);
    }
    let notice = Notice::of("starting the API server".to_owned());
    let mut env = builder.start().await?;
    let kubeconfig = KubeconfigFile::choose(arguments)?;
    let url = match arguments.plain_http {
        true => env.serve_plain(arguments.addr).await?,
        false => env.serve(arguments.addr).await?,
    };
    kubeconfig.write(&env.kubeconfig().await?)?;
    drop(notice);
    announce(&url, &kubeconfig.path)?;
    if arguments.plain_http && !arguments.addr.ip().is_loopback() {
        diag::print_to_stderr(&format!(
            "warning: everybody who reaches {} may do everything\n",
            arguments.addr
        ));
    }
    let ended = tokio::select! {
        () = interrupted => Ok(()),
        error = env.failed() => Err(error.into()),
    };
    env.stop().await;
    ended
}

/// Reports that the server is ready, in lines that scripts can read.
fn announce(url: &str, kubeconfig: &Path) -> io::Result<()> {
    let text = format!("url: {url}\nkubeconfig: {}\n", kubeconfig.display());
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A closed pipe is no reason to stop serving.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Resolves on a request to end; signals count from the call on.
#[cfg(unix)]
fn interrupted() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Resolves on a request to end.
#[cfg(not(unix))]
fn interrupted() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a handler the system ends the process itself.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// The kubeconfig's place.
struct KubeconfigFile {
    path: PathBuf,
    /// Removes the file at the end if the user did not name one.
    _folder: Option<tempfile::TempDir>,
}

impl KubeconfigFile {
    fn choose(arguments: &Serve) -> Result<Self, ServeError> {
        let beside_data = || arguments.data.as_ref().map(|folder| folder.join("kubeconfig"));
        if let Some(path) = arguments.kubeconfig.clone().or_else(beside_data) {
            return Ok(Self { path: std::path::absolute(path)?, _folder: None });
        }
        let folder = tempfile::Builder::new().prefix("kubesmith-").tempdir()?;
        Ok(Self { path: folder.path().join("kubeconfig"), _folder: Some(folder) })
    }

    /// Replaces the file atomically; only its owner may read it, as it has a token.
    fn write(&self, text: &str) -> Result<(), ServeError> {
        let failed = |source| ServeError::Kubeconfig { path: self.path.clone(), source };
        match std::fs::read_to_string(&self.path) {
            Ok(old) if !is_ours(&old, text) => return Err(ServeError::Foreign { path: self.path.clone() }),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(ServeError::Foreign { path: self.path.clone() });
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Whether a file may be replaced by `new`: it is empty, or has only clusters of `new`.
fn is_ours(old: &str, new: &str) -> bool {
    let names = |text: &str| -> Option<Vec<Value>> {
        let config = Value::deserialize(serde_yaml::Deserializer::from_str(text)).ok()?;
        Some(config.get("clusters")?.as_sequence()?.iter().map(|c| c["name"].clone()).collect())
    };
    old.trim().is_empty() || names(old).is_some_and(|old| Some(old) == names(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubeconfig_is_replaced_only_when_kubesmith_wrote_it() {
        let ours = "clusters: [{name: kubesmith, cluster: {server: https://a}}]";
        assert!(is_ours("", ours) && is_ours("\n", ours) && is_ours(ours, ours));
        assert!(is_ours("clusters: [{name: kubesmith, cluster: {server: https://b}}]", ours));
        for foreign in
            ["clusters: [{name: prod}]", "clusters: [{name: kubesmith}, {name: prod}]", "a", "{", "{}"]
        {
            assert!(!is_ours(foreign, ours), "{foreign}");
        }
    }

    #[test]
    fn addresses_are_hosts_with_ports() {
        assert_eq!(address("127.0.0.1:0"), Ok(SocketAddr::from(([127, 0, 0, 1], 0))));
        assert!(address("localhost:80").is_ok_and(|a| a.ip().is_loopback() && a.port() == 80));
        for wrong in ["6443", ":", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000"] {
            assert!(address(wrong).is_err_and(|e| e.contains(DEFAULT_ADDR)), "{wrong}");
        }
    }
}
