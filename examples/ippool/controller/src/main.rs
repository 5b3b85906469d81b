//! Runs the controllers of ippool against a cluster.

use std::io::{IsTerminal, stdout};

use anyhow::Context;
use clap::Parser;
use ippool_controller::LEADER_ELECTION_ID;
use kubesmith_runtime::manager::{ManagerFlags, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// The manager of ippool.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    manager: ManagerFlags,
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
    let registry = Registry::new();
    let client = flags.manager.connect(&registry).await?;
    let builder = flags.manager.builder(client, &registry, LEADER_ELECTION_ID)?;
    // `/debug/flags/v` of --debug-bind-address changes log levels without a restart.
    let current = levels.clone();
    let mut manager = builder
        .log_levels(
            move || current.with_current(ToString::to_string).unwrap_or_default(),
            move |text| {
                let filter = EnvFilter::try_new(text).map_err(|error| error.to_string())?;
                levels.reload(filter).map_err(|error| error.to_string())
            },
        )
        .build();
    manager.add_healthz_check("ping", || Ok(()));
    manager.add_readyz_check("ping", || Ok(()));
    ippool_controller::ip_pool::add_to_manager(&mut manager, flags.manager.workers)?;
    // +kubesmith:scaffold:controllers
    // +kubesmith:scaffold:webhooks

    manager.run(stop).await?;
    Ok(())
}
