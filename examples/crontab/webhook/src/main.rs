//! Runs the conversion webhook of CronTabs, or checks manifests.

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Parser, Subcommand};
use kubesmith_runtime::manager::{ManagerFlags, shutdown_signal};
use kubesmith_runtime::metrics::Registry;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::reload::Handle;

/// Converts CronTabs between versions, or checks manifests.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    manager: ManagerFlags,
    /// Whether webhooks are served; they need a certificate
    #[arg(long, env = "ENABLE_WEBHOOKS", default_value_t = true, action = clap::ArgAction::Set)]
    webhooks: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Checks manifests of any version and prints them as they would be stored
    Check {
        /// A file of YAML documents
        file: PathBuf,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env();
    let filter = filter.context("RUST_LOG is not a valid filter: write info or kube=debug")?;
    // Standard output is for manifests only.
    let colors = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colors).with_writer(stderr);
    let log = log.with_filter_reloading();
    let levels = log.reload_handle();
    log.init();
    let flags = Flags::parse();
    match &flags.command {
        Some(Command::Check { file }) => check(file),
        None => serve(flags.manager, flags.webhooks, levels).await,
    }
}

fn check(file: &Path) -> anyhow::Result<()> {
    let scheme = crontab_webhook::scheme();
    for tab in crontab_webhook::check(&std::fs::read_to_string(file)?)? {
        print!("---\n{}", scheme.encode_yaml(&tab)?);
    }
    Ok(())
}

async fn serve<S: 'static>(
    flags: ManagerFlags,
    webhooks: bool,
    levels: Handle<EnvFilter, S>,
) -> anyhow::Result<()> {
    let stop = shutdown_signal()?;
    let registry = Registry::new();
    let client = flags.connect(&registry).await?;
    let builder = flags.builder(client, &registry, "crontab-webhook")?;
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
    if webhooks {
        manager.add_webhooks(crontab_webhook::server().build()?);
    }
    manager.run(stop).await?;
    Ok(())
}
