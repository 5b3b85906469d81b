//! Runs the PostgresWriter operator against a cluster and a database.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Parser;
use kubesmith_runtime::client::{build_config_from_flags, connect};
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::leaderelection::{LeaderElector, default_identity};
use kubesmith_runtime::manager::{BindAddress, Manager, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use postgreswriter_controller::LEASE_NAME;
use postgreswriter_controller::database::{Database, DatabaseError};
use postgreswriter_controller::settings::Settings;
use tracing_subscriber::EnvFilter;

/// Keeps a row for each PostgresWriter in the database of $PSQL_HOST, $PSQL_PORT, $PSQL_DBNAME, $PSQL_USER and
/// $PSQL_PASSWORD.
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
    /// The only namespace whose objects are rows; all of them unless given
    #[arg(long)]
    namespace: Option<String>,
    /// How many objects are worked on at a time
    #[arg(long, default_value_t = 4)]
    workers: usize,
    /// After how many seconds a row is looked at though nobody is known to have changed it; 0 for never
    #[arg(long, default_value_t = 600)]
    resync: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();

    let stop = shutdown_signal()?;
    let database = database().await?;
    let config = build_config_from_flags(flags.master.as_deref(), flags.kubeconfig.as_deref()).await?;
    let client = connect(config).await?;
    let registry = Registry::new();
    let factory = SharedInformerFactory::builder(client.clone()).metrics(&registry);
    let mut builder = Manager::builder(client.clone())
        .metrics(&registry)
        .factory(factory.namespaces(flags.namespace).build())
        .metrics_address(flags.metrics_bind_address)
        .health_address(flags.health_probe_bind_address);
    if flags.leader_elect {
        let namespace = flags.leader_election_namespace.unwrap_or(client.default_namespace().to_owned());
        let elector = LeaderElector::builder(client, namespace, LEASE_NAME, default_identity());
        builder = builder.leader_election(elector.metrics(&registry).build()?);
    }
    let mut manager = builder.build();
    manager.add_healthz_check("ping", || Ok(()));
    let resync = Duration::from_secs(flags.resync);
    postgreswriter_controller::add_to(&mut manager, &database, flags.workers, resync)?;
    manager.run(stop).await?;
    Ok(())
}

/// The database of the environment, tried once: what it refuses it will refuse for ever, and what is only away may come back.
async fn database() -> anyhow::Result<Database> {
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let database = Database::new(&settings);
    match database.check().await {
        Ok(()) => {}
        Err(DatabaseError::Unreachable(why)) => {
            tracing::warn!(%why, ?settings, "PSQL_HOST and PSQL_PORT lead to no database yet; going on");
        }
        Err(refused) => bail!("{} is of no use: {refused}", refused.variables()),
    }
    Ok(database)
}
