//! Runs the EcsBinding controller against a cluster.

use std::path::PathBuf;

use clap::Parser;
use ecsbinding_client::clientset::Clientset;
use kubesmith_runtime::client::build_config_from_flags;
use kubesmith_runtime::controller::CancellationToken;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Puts a label on every EcsBinding.
#[derive(Parser)]
struct Flags {
    /// The kubeconfig file; without it $KUBECONFIG, ~/.kube/config or the pod's service account is used
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The address of the API server; overrides the kubeconfig's
    #[arg(long)]
    master: Option<String>,
    /// How many EcsBindings are worked on at a time
    #[arg(long, default_value_t = 2)]
    workers: usize,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();

    let config = build_config_from_flags(flags.master.as_deref(), flags.kubeconfig.as_deref()).await?;
    let clients = Clientset::try_from_config(config).await?;
    let stop = CancellationToken::new();
    tokio::spawn(cancel_on_signal(stop.clone())?);
    ecsbinding_controller::run(clients, flags.workers, stop).await?;
    Ok(())
}

/// Cancels `stop` at SIGINT or SIGTERM.
fn cancel_on_signal(stop: CancellationToken) -> anyhow::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.cancel();
    })
}
