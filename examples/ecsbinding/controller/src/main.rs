//! Runs the EcsBinding controller against a cluster.

use std::io::{IsTerminal, stdout};

use anyhow::Context;
use clap::Parser;
use ecsbinding_controller::LEASE_NAME;
use kubesmith_runtime::manager::{ManagerFlags, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// Puts a label on every EcsBinding.
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
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colors).init();

    let stop = shutdown_signal()?;
    let client = flags.manager.connect().await?;
    let mut manager = flags.manager.builder(client, &Registry::new(), LEASE_NAME)?.build();
    manager.add_healthz_check("ping", || Ok(()));
    manager.add_readyz_check("ping", || Ok(()));
    ecsbinding_controller::add_to(&mut manager, flags.manager.workers)?;
    manager.run(stop).await?;
    Ok(())
}
