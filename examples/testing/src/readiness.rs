//! `/readyz` of a manager, requested as by a kubelet.

use std::net::SocketAddr;

use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::cluster::Cluster;
use crate::wait::{eventually, in_time};

/// Returns a free address for a manager's probes.
///
/// # Panics
///
/// Panics if there is none.
#[must_use]
pub fn free_address() -> SocketAddr {
    kubesmith_testenv::free_address().expect("a port")
}

/// Waits until `/readyz` reports this.
///
/// # Panics
///
/// Panics if it does not within two minutes.
pub async fn becomes_ready(address: SocketAddr, ready: bool) {
    let what = format!("ready: {ready}");
    eventually(&what, async || (is_ready(address).await == Some(ready)).then_some(())).await;
}

/// Checks that a manager with `add_to` is not ready while `resource` can be neither listed nor watched, and is
/// afterwards.
///
/// # Panics
///
/// Panics if it is not so.
pub async fn is_ready_once_listed(cluster: &Cluster, resource: &str, add_to: impl FnOnce(&mut Manager)) {
    let refused = |verb| Rule::new(Fault::Status(503)).resource(resource).verb(verb);
    let schedule = Schedule::new().rule(refused(Verb::List)).rule(refused(Verb::Watch));
    let proxy = cluster.env.fault_proxy(schedule).await.expect("a proxy");
    let address = free_address();
    let mut manager = Manager::builder(proxy.client()).health_address(address).build();
    add_to(&mut manager);
    let stop = CancellationToken::new();
    let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    becomes_ready(address, false).await;
    proxy.set_schedule(Schedule::new());
    becomes_ready(address, true).await;
    stop.cancel();
    in_time("the manager ends", manager).await.expect("no panic").expect("no error");
    proxy.stop().await;
}

async fn is_ready(address: SocketAddr) -> Option<bool> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    Some(answer.starts_with("HTTP/1.1 200"))
}
