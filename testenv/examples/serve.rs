//! Serves an API server for people and for tests in other languages until it is interrupted.
//!
//! `cargo run -p kubesmith-testenv --example serve -- --addr 127.0.0.1:0 --plain-http --kubeconfig FILE --crds PATH`

use std::net::SocketAddr;
use std::path::PathBuf;

use kubesmith_testenv::TestEnv;

struct Options {
    addr: SocketAddr,
    plain: bool,
    controllers: bool,
    kubeconfig: Option<PathBuf>,
    crds: Vec<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        addr: SocketAddr::from(([127, 0, 0, 1], 0)),
        plain: false,
        controllers: false,
        kubeconfig: None,
        crds: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--addr" => options.addr = value()?.parse().map_err(|e| format!("--addr: {e}"))?,
            "--plain-http" => options.plain = true,
            "--controllers" => options.controllers = true,
            "--kubeconfig" => options.kubeconfig = Some(value()?.into()),
            "--crds" => options.crds.push(value()?.into()),
            other => return Err(format!("unknown option {other}")),
        }
    }
    Ok(options)
}

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options()?;
    let mut env = TestEnv::builder().controllers(options.controllers).crd_paths(options.crds).start().await?;
    let url =
        if options.plain { env.serve_plain(options.addr).await? } else { env.serve(options.addr).await? };
    if let Some(path) = &options.kubeconfig {
        std::fs::write(path, env.kubeconfig().await?)?;
    }
    println!("{url}");
    tokio::signal::ctrl_c().await?;
    env.stop().await;
    Ok(())
}
