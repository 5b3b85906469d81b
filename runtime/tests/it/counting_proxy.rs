//! A TCP proxy that counts connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kubesmith_testenv::TestEnv;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Forwards connections to a server and counts them.
pub(crate) struct CountingProxy {
    pub(crate) addr: SocketAddr,
    opened: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl CountingProxy {
    pub(crate) async fn before(server: SocketAddr) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").await.unwrap(), server)
    }

    pub(crate) fn at(listener: TcpListener, server: SocketAddr) -> Self {
        let addr = listener.local_addr().unwrap();
        let (opened, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = JoinSet::new();
        let (all, now) = (Arc::clone(&opened), Arc::clone(&open));
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                all.fetch_add(1, Ordering::Relaxed);
                let now = Arc::clone(&now);
                connections.spawn(async move {
                    now.fetch_add(1, Ordering::Relaxed);
                    let mut server = TcpStream::connect(server).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                    now.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        Self { addr, opened, open, _tasks: tasks }
    }

    /// Returns the configuration of a client that connects through a new proxy.
    pub(crate) async fn config(env: &mut TestEnv) -> (kube::Config, Self) {
        let mut config = env.config().await.unwrap();
        let server = config.cluster_url.authority().unwrap().as_str().parse().unwrap();
        let counter = Self::before(server).await;
        config.cluster_url = format!("https://{}", counter.addr).parse().unwrap();
        (config, counter)
    }

    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}
