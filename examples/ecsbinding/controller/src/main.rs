//! Runs the EcsBinding controller against a cluster.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use ecsbinding_client::clientset::Clientset;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::kube::Config;
use kubesmith_runtime::kube::config::{KubeConfigOptions, Kubeconfig};
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

    let clients = Clientset::try_from_config(config(&flags).await?).await?;
    let stop = CancellationToken::new();
    tokio::spawn(cancel_on_signal(stop.clone())?);
    ecsbinding_controller::run(clients, flags.workers, stop).await?;
    Ok(())
}

async fn config(flags: &Flags) -> anyhow::Result<Config> {
    let mut config = match &flags.kubeconfig {
        Some(path) => {
            let kubeconfig =
                Kubeconfig::read_from(path).with_context(|| format!("--kubeconfig {}", path.display()))?;
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?
        }
        None => Config::infer().await?,
    };
    if let Some(master) = &flags.master {
        config.cluster_url = master.parse().with_context(|| format!("--master {master} is no URL"))?;
    }
    Ok(config)
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
