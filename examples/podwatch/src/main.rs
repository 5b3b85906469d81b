//! Watches pods in one of three ways.

use std::io::{IsTerminal, stderr, stdout};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, Subcommand};
use kubesmith_runtime::client::{build_config_from_flags, connect};
use kubesmith_runtime::manager::shutdown_signal;
use podwatch::generated::clientset::Clientset;
use podwatch::{informer, plain, typed};
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// Watches pods, in three steps from an HTTP request to the frame of a controller.
#[derive(Parser)]
struct Flags {
    /// The kubeconfig file; without it $KUBECONFIG, ~/.kube/config or the pod's service account is used
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// The address of the API server; overrides the kubeconfig's
    #[arg(long, global = true)]
    master: Option<String>,
    /// The namespace of the pods
    #[arg(long, global = true, default_value = "default")]
    namespace: String,
    #[command(subcommand)]
    step: Step,
}

#[derive(Subcommand)]
enum Step {
    /// A plain HTTP request, and the lines of its answer
    Http,
    /// The watch of a typed client
    Client,
    /// An informer, its cache and a work queue
    Informer {
        /// The node whose pods are looked at; all pods unless given
        #[arg(long)]
        node: Option<String>,
    },
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env();
    let filter = filter.context("RUST_LOG is not a valid filter: write info or kube=debug")?;
    let colors = stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colors).with_writer(stderr).init();

    let stop = shutdown_signal()?;
    let config = build_config_from_flags(flags.master.as_deref(), flags.kubeconfig.as_deref()).await?;
    let client = connect(config).await?;
    let (clients, namespace, mut out) = (Clientset::new(client.clone()), &flags.namespace, stdout());
    match flags.step {
        Step::Http => until(stop, plain::watch(&client, namespace, &mut out)).await,
        Step::Client => until(stop, typed::watch(&clients, namespace, &mut out)).await,
        Step::Informer { node } => {
            let factory = informer::factory(&clients, namespace, node.as_deref());
            informer::watch(&factory, &mut out, stop).await
        }
    }
}

/// Gives a watch up when the program is to end.
async fn until(
    stop: impl Future<Output = ()>,
    watch: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::select! {
        () = stop => return Ok(()),
        result = watch => result?,
    }
    tracing::info!("the server has ended the watch");
    Ok(())
}
