//! The program of an operator, as its users start it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::wait::in_time;

/// Checks that the program of a manager refuses invalid flags and `RUST_LOG`, serves metrics (those of its client too)
/// and probes, changes its log levels on request, writes a log without colours outside of terminals, and ends on a
/// signal. Returns its log. The program gets these arguments beside those of every manager. For a runtime whose time is
/// not paused.
///
/// # Panics
///
/// Panics if it does not.
pub async fn a_manager_runs(program: &str, arguments: &[&str], mut cluster: Cluster) -> String {
    let refused = Command::new(program).args(["--workers", "0"]).output().expect("the program starts");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("--workers"), "{said}");

    let refused = Command::new(program).env("RUST_LOG", "runtime=loud").output().expect("the program starts");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("RUST_LOG"), "{said}");

    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("kubeconfig");
    fs::write(&kubeconfig, cluster.env.kubeconfig().await.expect("a kubeconfig")).expect("a file");
    let (mut running, stdout) = Running::start(program, arguments, &kubeconfig, &cluster.namespace);
    let id = running.0.id();
    let log = tokio::task::spawn_blocking(move || until_its_end(stdout, id));
    let log = in_time("the end of the program", log).await.expect("no panic");
    let status = running.0.wait().expect("its end");
    assert!(status.success(), "{status}: {log}");
    assert!(!log.contains('\x1b'), "{log:?}");
    cluster.stop().await;
    log
}

/// A program that ends with its test.
struct Running(Child);

impl Running {
    fn start(program: &str, arguments: &[&str], kubeconfig: &Path, namespace: &str) -> (Self, ChildStdout) {
        let mut command = Command::new(program);
        command.arg("--kubeconfig").arg(kubeconfig).args(["--leader-elect", "--workers", "1"]);
        command.args(arguments);
        command.args(["--leader-election-namespace", namespace]);
        for flag in ["--metrics-bind-address", "--health-probe-bind-address", "--debug-bind-address"] {
            command.args([flag, "127.0.0.1:0"]);
        }
        command.env_remove("RUST_LOG").env_remove("NO_COLOR").stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        (Running(child), stdout)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads the log, and terminates the program once its three endpoints are served and checked.
fn until_its_end(stdout: ChildStdout, id: u32) -> String {
    let mut log = String::new();
    let mut served = BTreeMap::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.expect("text");
        log.push_str(&line);
        log.push('\n');
        let Some((_, endpoint)) = line.split_once("serving what=\"") else { continue };
        let fields: Vec<&str> = endpoint.split('"').collect();
        served.insert(fields[0].to_owned(), fields[2].to_owned());
        if served.len() == 3 {
            has_metrics_of_its_client(&served["metrics"]);
            changes_its_log_levels(&served["debug"]);
            Command::new("kill").args(["-TERM", &id.to_string()]).status().expect("kill runs");
        }
    }
    log
}

fn has_metrics_of_its_client(address: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    // Requests are counted when the first response arrives.
    while !http(address, "GET", "/metrics", "").contains("\nrest_client_requests_total{") {
        assert!(Instant::now() < end, "{}", http(address, "GET", "/metrics", ""));
        sleep(Duration::from_millis(20));
    }
}

fn changes_its_log_levels(address: &str) {
    let answer = http(address, "PUT", "/debug/flags/v", "warn");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let answer = http(address, "GET", "/debug/flags/v", "");
    assert!(answer.ends_with("\r\n\r\nwarn\n"), "{answer}");
}

/// Sends a request, and returns the response with its head.
fn http(address: &str, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}"
    );
    write!(stream, "{head}\r\n\r\n{body}").expect("the request is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("a response");
    answer
}
