//! The last step of hack/quickstart.sh: an API server, the CRD, the controller, and an object that it labels.
//!
//! Run in the folder that holds `config/crd/bases`. With `--keep` everything stays up until Ctrl-C.

use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use ecsbinding_api::v1::{EcsBinding, EcsBindingSpec};
use ecsbinding_client::clientset::Clientset;
use ecsbinding_client::clientset::typed::ecs::v1::EcsBindings;
use ecsbinding_controller::CLUSTER_LABEL;
use futures::StreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::controller::CancellationToken;
use kubesmith_runtime::kube::api::{PostParams, WatchEvent, WatchParams};
use kubesmith_runtime::manager::Manager;
use kubesmith_testenv::TestEnv;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

/// How long the label may take before something is wrong.
const LIMIT: Duration = Duration::from_secs(30);

/// From types to a running controller.
#[derive(Parser)]
struct Flags {
    /// Leave the API server and the controller running until Ctrl-C
    #[arg(long)]
    keep: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env();
    let filter = filter.context("RUST_LOG is not a valid filter: write info or kube=debug")?;
    let colors = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colors).without_time().init();

    let mut env = TestEnv::builder().crd_paths(["config/crd/bases"]).start().await?;
    let url = env.serve(([127, 0, 0, 1], 0).into()).await?;
    let kubeconfig = write_kubeconfig(&env.kubeconfig().await?)?;
    println!("API server at {url} with the CRD of config/crd/bases");

    let clients = Clientset::try_from_config(env.config().await?).await?;
    let bindings = clients.ecs_v1().ecs_bindings();
    let mut manager = Manager::builder(clients.client().clone()).build();
    ecsbinding_controller::add_to(&mut manager, 2)?;
    let stop = CancellationToken::new();
    let manager = tokio::spawn(manager.run(stop.clone().cancelled_owned()));

    bindings.create(&sample(), &PostParams::default()).await?;
    let labelled = tokio::time::timeout(LIMIT, wait_for_label(&bindings))
        .await
        .with_context(|| format!("no label within {LIMIT:?}"))??;
    println!("\nthe controller labelled it:\n\n{}", serde_yaml::to_string(&labelled)?);

    if flags.keep {
        println!("running until Ctrl-C; try:\n\n  export KUBECONFIG={}", kubeconfig.display());
        println!("  kubectl get ecsbinding --show-labels\n");
        tokio::signal::ctrl_c().await?;
    }
    stop.cancel();
    manager.await??;
    env.stop().await;
    Ok(())
}

fn sample() -> EcsBinding {
    EcsBinding {
        metadata: ObjectMeta { name: Some("ecs-sample".to_owned()), ..ObjectMeta::default() },
        spec: EcsBindingSpec {
            id: "i-4711".to_owned(),
            name: "host-1".to_owned(),
            nodename: "node-1".to_owned(),
            innerip: "10.0.0.1".to_owned(),
        },
        ..EcsBinding::default()
    }
}

fn write_kubeconfig(text: &str) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(Path::new("kubeconfig"))?;
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    Ok(path)
}

async fn wait_for_label(bindings: &EcsBindings) -> anyhow::Result<EcsBinding> {
    let mut events = bindings.watch(&WatchParams::default(), "0").await?;
    while let Some(event) = events.next().await {
        if let WatchEvent::Added(seen) | WatchEvent::Modified(seen) = event?
            && seen.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(CLUSTER_LABEL))
        {
            return Ok(seen);
        }
    }
    anyhow::bail!("the watch ended")
}
