//! Runs the sample controller against a cluster.

use std::path::PathBuf;

use clap::Parser;
use kubesmith_runtime::client::{build_config_from_flags, connect};
use kubesmith_runtime::leaderelection::{LeaderElector, default_identity};
use kubesmith_runtime::manager::{BindAddress, Manager, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use sample_controller::{LEASE_NAME, WORKERS};
use tracing_subscriber::EnvFilter;

/// Keeps for each Foo the Deployment that it asks for.
#[derive(Parser)]
struct Flags {
    /// The kubeconfig file; without it $KUBECONFIG, ~/.kube/config or the pod's service account is used
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The address of the API server; overrides the kubeconfig's
    #[arg(long)]
    master: Option<String>,
    /// Where /metrics is served; 0 for nowhere
    #[arg(long, default_value = ":8080")]
    metrics_bind_address: BindAddress,
    /// Where /healthz and /readyz are served; 0 for nowhere
    #[arg(long, default_value = ":8081")]
    health_probe_bind_address: BindAddress,
    /// Work only while this replica holds the lease
    #[arg(long)]
    leader_elect: bool,
    /// The namespace of the lease; the kubeconfig's or the pod's own unless given
    #[arg(long)]
    leader_election_namespace: Option<String>,
    /// The only namespace whose Foos are looked at; all unless given
    #[arg(long)]
    namespace: Option<String>,
    /// How many Foos are worked on at a time
    #[arg(long, default_value_t = WORKERS)]
    workers: usize,
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
        let namespace = flags.leader_election_namespace.unwrap_or(client.default_namespace().to_owned());
        let elector = LeaderElector::builder(client, namespace, LEASE_NAME, default_identity());
        builder = builder.leader_election(elector.metrics(&registry).build()?);
    }
    let mut manager = builder.build();
    manager.add_healthz_check("ping", || Ok(()));
    manager.add_readyz_check("ping", || Ok(()));
    sample_controller::add_to(&mut manager, flags.workers, flags.namespace.as_deref())?;
    manager.run(stop).await?;
    Ok(())
}
