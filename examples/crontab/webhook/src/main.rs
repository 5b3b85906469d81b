//! Serves the conversion webhook of CronTabs, or checks manifests.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, Subcommand};
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::manager::shutdown_signal;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// The versions of CronTab.
#[derive(Parser)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves the webhook that API servers ask
    Serve {
        /// The folder of tls.crt and tls.key, which are read again when they change
        #[arg(long)]
        cert_dir: PathBuf,
        /// The port to listen on
        #[arg(long, default_value_t = 9443)]
        port: u16,
    },
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
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colors).with_writer(stderr).init();
    match Flags::parse().command {
        Command::Serve { cert_dir, port } => {
            let server = crontab_webhook::server().cert_dir(cert_dir).port(port).build()?;
            let (signal, stop) = (shutdown_signal()?, CancellationToken::new());
            let serving = server.bind().await?.run(stop.clone());
            tokio::join!(serving, async {
                signal.await;
                stop.cancel();
            });
        }
        Command::Check { file } => {
            let scheme = crontab_webhook::scheme();
            for tab in crontab_webhook::check(&std::fs::read_to_string(file)?)? {
                print!("---\n{}", scheme.encode_yaml(&tab)?);
            }
        }
    }
    Ok(())
}
