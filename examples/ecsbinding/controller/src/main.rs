//! Runs the EcsBinding controller against a cluster.

use std::io::{IsTerminal, stdout};

use anyhow::Context;
use clap::{Parser, ValueEnum};
use ecsbinding_controller::{CRD, LEASE_NAME};
use kubesmith_runtime::crd::Upgrade;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::manager::{ManagerFlags, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// Puts a label on every EcsBinding.
#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    manager: ManagerFlags,
    /// Install or upgrade the CRD; `only` ends the program then, as a Job does
    #[arg(long, value_name = "WHEN", num_args = 0..=1, require_equals = true, default_missing_value = "first")]
    upgrade_crds: Option<UpgradeCrds>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UpgradeCrds {
    /// Before the controller starts
    First,
    /// Without a controller
    Only,
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
    if let Some(when) = flags.upgrade_crds {
        upgrade_crds(&client).await?;
        if when == UpgradeCrds::Only {
            return Ok(());
        }
    }
    let builder = flags.manager.builder(client, &registry, LEASE_NAME)?;
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
    ecsbinding_controller::add_to(&mut manager, flags.manager.workers)?;
    manager.run(stop).await?;
    Ok(())
}

/// Refuses an upgrade that stored objects would not survive. A CRD of a newer version of this program stays.
async fn upgrade_crds(client: &Client) -> anyhow::Result<()> {
    let definitions = [serde_yaml::from_str(CRD)?];
    let upgrade = Upgrade::new("ecsbinding", env!("CARGO_PKG_VERSION")).check_objects();
    for outcome in upgrade.apply(client, &definitions).await? {
        tracing::info!(action = %outcome.action, "CRD {}", outcome.name);
    }
    Ok(())
}
