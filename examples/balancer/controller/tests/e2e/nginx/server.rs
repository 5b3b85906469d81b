//! nginx and what stands behind it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::exists;
use operator_testing::eventually;

/// Where Debian keeps the module that its nginx is told to load.
const STREAM_MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";

/// The port of the sample, of nginx and of every backend's Service.
pub(super) const PORT: u16 = 80;

/// nginx's program, with a stream module.
pub(super) fn nginx() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Users' PATH often lacks the folder that Debian has it in.
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let program = folders.map(|folder| folder.join("nginx")).find(|program| program.is_file());
    let program = program.ok_or("there is no nginx (Debian: nginx and libnginx-mod-stream)")?;
    let built = Command::new(&program).arg("-V").output().map_err(|error| format!("nginx -V: {error}"))?;
    let built = String::from_utf8_lossy(&built.stderr).into_owned();
    let has_stream = built.split_whitespace().any(|word| word == "--with-stream");
    if has_stream || exists(STREAM_MODULE) {
        return Ok(program);
    }
    Err("nginx has no stream module (Debian: libnginx-mod-stream)".to_owned())
}

/// A network of this process alone, in which backends have names.
pub(super) struct Network {
    folder: TempDir,
    backends: JoinSet<()>,
}

impl Network {
    /// # Panics
    /// Outside of namespaces: it replaces the hosts file.
    pub(super) fn new() -> Self {
        assert!(std::env::var_os(super::INSIDE).is_some(), "this would change the machine's own network");
        let network = Network { folder: TempDir::new().expect("a folder"), backends: JoinSet::new() };
        std::fs::write(network.hosts(), "127.0.0.1 localhost\n").expect("written");
        run("ip", &["link", "set", "lo", "up"]);
        run("mount", &["--bind", network.hosts().to_str().expect("UTF-8"), "/etc/hosts"]);
        network
    }

    fn hosts(&self) -> PathBuf {
        self.folder.path().join("hosts")
    }

    /// Gives the names addresses, all others none.
    pub(super) fn names<'n>(&self, names: impl Iterator<Item = (&'n str, Ipv6Addr)>) {
        let lines = names.map(|(name, address)| format!("{address} {name}\n"));
        // Into the same file: it is mounted.
        std::fs::write(self.hosts(), format!("127.0.0.1 localhost\n{}", lines.collect::<String>()))
            .expect("written");
    }

    /// Starts an HTTP server at each address that answers with the text. They are of IPv6, so that nginx can listen on all
    /// addresses of IPv4 at the same port.
    pub(super) async fn serve(&mut self, servers: &[(Ipv6Addr, &'static str)]) {
        for (address, text) in servers {
            run("ip", &["-6", "address", "add", &format!("{address}/128"), "dev", "lo", "nodad"]);
            let listener = TcpListener::bind(SocketAddr::from((*address, PORT))).await.expect("bound");
            self.backends.spawn(answer(listener, text));
        }
    }

    /// What `nginx -t` says of the configuration.
    pub(super) fn check(&self, configuration: &str) -> Result<(), String> {
        self.write(configuration);
        let output = self.command("").arg("-t").output().expect("nginx runs");
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// nginx with the configuration, as a pod of the proxy runs it. It ends with the value.
    pub(super) async fn start(&self, configuration: &str) -> Nginx {
        self.write(configuration);
        let mut nginx = Nginx(self.command("daemon off;").spawn().expect("nginx starts"));
        eventually("nginx listens", async || {
            assert_eq!(nginx.0.try_wait().expect("a state"), None, "nginx has ended");
            TcpStream::connect((Ipv4Addr::LOCALHOST, PORT)).await.ok()
        })
        .await;
        nginx
    }

    fn write(&self, configuration: &str) {
        std::fs::write(self.folder.path().join("nginx.conf"), configuration).expect("written");
    }

    /// The configuration is used as it is; what a container brings along is said beside it.
    fn command(&self, directives: &str) -> Command {
        let module =
            if exists(STREAM_MODULE) { format!("load_module {STREAM_MODULE};") } else { String::new() };
        let folder = self.folder.path().to_str().expect("UTF-8");
        let mut command = Command::new(nginx().expect("found before"));
        command.args(["-e", "stderr", "-p", folder, "-c", "nginx.conf"]);
        command.args(["-g", &format!("{module} user root; pid {folder}/nginx.pid; {directives}")]);
        command.stdin(Stdio::null());
        command
    }
}

/// A running nginx, with its workers.
pub(super) struct Nginx(Child);

impl Drop for Nginx {
    /// A master that is killed would leave its workers behind.
    fn drop(&mut self) {
        run("kill", &["-TERM", &self.0.id().to_string()]);
        self.0.wait().expect("nginx ends");
    }
}

impl Drop for Network {
    /// The file goes with its folder; the next network mounts its own.
    fn drop(&mut self) {
        run("umount", &["/etc/hosts"]);
    }
}

async fn answer(listener: TcpListener, text: &'static str) {
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        connections.spawn(async move {
            let mut request = [0; 1024];
            // A connection that says nothing was only to see whether somebody listens.
            if stream.read(&mut request).await.is_ok_and(|length| length > 0) {
                let length = text.len();
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
    }
}

/// How often each text was the answer to so many requests, each over a connection of its own.
pub(super) async fn answers(requests: usize) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for _ in 0..requests {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, PORT)).await.expect("connected");
        stream.write_all(b"GET / HTTP/1.1\r\nHost: balancer-sample\r\n\r\n").await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("answered");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        *counts.entry(body.to_owned()).or_default() += 1;
    }
    counts
}

fn run(program: &str, arguments: &[&str]) {
    let Output { status, stderr, .. } = Command::new(program).args(arguments).output().expect("it runs");
    assert!(status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&stderr));
}
