//! Runs the controllers of ippool against a cluster.

use std::path::PathBuf;

use clap::Parser;
use kubesmith_runtime::client::{build_config_from_flags, connect};
use kubesmith_runtime::leaderelection::{LeaderElector, default_identity};
use kubesmith_runtime::manager::{BindAddress, Manager, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use tracing_subscriber::EnvFilter;

/// The lease that says which replica leads.
const LEADER_ELECTION_ID: &str = "ippool.tiduyun.com";

/// The manager of ippool.
#[derive(Parser)]
struct Flags {
    /// The kubeconfig file; without it $KUBECONFIG, ~/.kube/config or the pod's service account is used
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The address of the API server; overrides the kubeconfig's
    #[arg(long)]
    master: Option<String>,
    /// Where /metrics is served, such as :8080; 0 for nowhere
    #[arg(long, default_value = "0")]
    metrics_bind_address: BindAddress,
    /// Where /healthz and /readyz are served; 0 for nowhere
    #[arg(long, default_value = ":8081")]
    health_probe_bind_address: BindAddress,
    /// Works only while this replica holds the lease
    #[arg(long)]
    leader_elect: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();

    let stop = shutdown_signal()?;
    let config = build_config_from_flags(flags.master.as_deref(), flags.kubeconfig.as_deref()).await?;
    let client = connect(config).await?;
    let registry = Registry::new();
    let mut builder = Manager::builder(client.clone())
        .metrics(&registry)
        .metrics_address(flags.metrics_bind_address)
        .health_address(flags.health_probe_bind_address);
    if flags.leader_elect {
        let namespace = client.default_namespace().to_owned();
        let elector = LeaderElector::builder(client, &namespace, LEADER_ELECTION_ID, default_identity());
        builder = builder.leader_election(elector.metrics(&registry).build()?);
    }
    let mut manager = builder.build();
    manager.add_healthz_check("ping", || Ok(()));
    ippool_controller::ip_pool::add_to_manager(&mut manager)?;
    // +kubesmith:scaffold:controllers
    // +kubesmith:scaffold:webhooks

    manager.run(stop).await?;
    Ok(())
}
