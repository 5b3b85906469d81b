//! Runs the PostgresWriter operator against a cluster and a database.

use std::io::{IsTerminal, stdout};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Parser;
use kubesmith_runtime::informer::SharedInformerFactory;
use kubesmith_runtime::manager::{ManagerFlags, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use postgreswriter_controller::LEASE_NAME;
use postgreswriter_controller::database::{Database, DatabaseError};
use postgreswriter_controller::settings::Settings;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// Keeps a row for each PostgresWriter in the database of $PSQL_HOST, $PSQL_PORT, $PSQL_DBNAME, $PSQL_USER and
/// $PSQL_PASSWORD.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    manager: ManagerFlags,
    /// The only namespace whose objects are rows; all of them unless given
    #[arg(long)]
    namespace: Option<String>,
    /// After how many seconds a row is looked at though nobody is known to have changed it; 0 for never
    #[arg(long, default_value_t = 600)]
    resync: u64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env();
    let filter = filter.context("RUST_LOG is not a valid filter: write info or kube=debug")?;
    let colors = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colors).with_filter_reloading();
    let levels = log.reload_handle();
    log.init();

    let stop = shutdown_signal()?;
    let database = database().await?;
    let registry = Registry::new();
    let client = flags.manager.connect(&registry).await?;
    let factory = SharedInformerFactory::builder(client.clone()).metrics(&registry);
    let builder = flags.manager.builder(client, &registry, LEASE_NAME)?;
    // `/debug/flags/v` of --debug-bind-address changes log levels without a restart.
    let current = levels.clone();
    let mut manager = builder
        .factory(factory.namespaces(flags.namespace).build())
        .log_levels(
            move || current.with_current(ToString::to_string).unwrap_or_default(),
            move |text| {
                let filter = EnvFilter::try_new(text).map_err(|error| error.to_string())?;
                levels.reload(filter).map_err(|error| error.to_string())
            },
        )
        .build();
    manager.add_healthz_check("ping", || Ok(()));
    let resync = Duration::from_secs(flags.resync);
    postgreswriter_controller::add_to(&mut manager, &database, flags.manager.workers, resync)?;
    manager.run(stop).await?;
    Ok(())
}

/// Returns the database of the environment, tried once: a refusal is permanent, an unreachable server may come back.
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
