//! A real nginx with the operator's configuration, in front of three real HTTP servers.
//!
//! nginx listens where the configuration says, on port 80, and finds the backends by the names of their Services. Both
//! need a network and a hosts file of their own: the tests of [`inside`] run in namespaces, where nothing of the machine
//! is touched, and are started by the one test here.

mod inside;
mod server;

use std::path::Path;
use std::process::{Command, Output};

/// Set where the namespaces are there.
const INSIDE: &str = "KUBESMITH_E2E_NAMESPACE";

#[test]
#[ignore = "needs nginx and the right to make network namespaces: hack/e2e-operators.sh balancer"]
fn nginx_accepts_the_configuration_and_shares_traffic() {
    let namespaces = namespaces().unwrap_or_else(|missing| panic!("{missing}"));
    let this = std::env::current_exe().expect("the test knows its file");
    let run = Command::new("unshare")
        .args(namespaces)
        .arg(this)
        .args(["nginx::inside::", "--ignored", "--test-threads=1", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("unshare has run before");
    let printed = printed(&run);
    println!("{printed}");
    assert!(run.status.success() && printed.contains("2 passed"), "in the namespaces: {printed}");
}

/// The flags with which this user may have namespaces, or what is missing.
fn namespaces() -> Result<&'static [&'static str], String> {
    server::nginx()?;
    for tool in ["ip", "mount"] {
        Command::new(tool).arg("-V").output().map_err(|error| format!("{tool} cannot be run: {error}"))?;
    }
    let mut refusals = Vec::new();
    // Processes too are of their own, so that none outlives the test.
    let root = &["--net", "--mount", "--pid", "--fork", "--kill-child"][..];
    let user = &["--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"];
    for flags in [root, user] {
        let run = Command::new("unshare").args(flags).args(["ip", "link", "set", "lo", "up"]).output();
        let run = run.map_err(|error| format!("unshare cannot be run: {error}"))?;
        if run.status.success() {
            return Ok(flags);
        }
        refusals.push(printed(&run));
    }
    Err(format!("no network namespace can be made here: {}", refusals.join("; ")))
}

fn printed(run: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr))
        .trim()
        .to_owned()
}

/// Whether the file is there.
fn exists(path: &str) -> bool {
    Path::new(path).exists()
}
