//! The table of kill points in docs/operations/upgrade.md has every request of an upgrade and of a migration.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

use http::Request;
use kube::Client;
use kube::client::Body;
use kubesmith_runtime::crd::{Migration, Upgrade};
use serde_json::json;

use super::{WIDGETS, create, definition, server, size, version, widgets};

/// A client that records its requests.
fn recorded(client: &Client) -> (Client, Arc<Mutex<BTreeSet<String>>>) {
    let log = Arc::new(Mutex::new(BTreeSet::new()));
    let (seen, client) = (log.clone(), client.clone());
    let service = tower::service_fn(move |request: Request<Body>| {
        seen.lock().unwrap().insert(shown(&request));
        let client = client.clone();
        async move { client.send(request).await.map_err(io::Error::other) }
    });
    (Client::new(service, "default"), log)
}

/// The method and the end of the path, without the names of objects, versions and kinds.
fn shown(request: &Request<Body>) -> String {
    let path = request.uri().path();
    let path = path.strip_prefix("/apis/apiextensions.k8s.io/v1/").unwrap_or(path);
    let path = path
        .replace(WIDGETS, "NAME")
        .replace("gadgets.a.example", "NAME")
        .replace("widgets/w0", "widgets/NAME");
    let path = path.replace("/apis/a.example/v1", "VERSION").replace("/apis/a.example/v2", "VERSION");
    let path =
        path.replace("namespaces/default/", "").replace("widgets", "PLURAL").replace("gadgets", "PLURAL");
    let dry = request.uri().query().unwrap_or_default().contains("dryRun=All");
    format!("{} {path}{}", request.method(), if dry { "?dryRun=All" } else { "" })
}

/// The requests in the table of the page.
fn documented() -> BTreeSet<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operations/upgrade.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split_once("<!-- kill points -->").unwrap().1.split_once("<!-- end -->").unwrap().0;
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    // A request has several rows, one for each purpose.
    rows.flat_map(|line| line.split('|').nth(2).unwrap().split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn table_of_kill_points_has_every_request() {
    let (env, client) = server().await;
    let versions = |storage: &str| {
        let version = |name: &str| version(name, name == storage, &size());
        [
            widgets(&[version("v1"), version("v2")]),
            definition("Gadget", "gadgets", &[version("v1"), version("v2")]),
        ]
    };
    let (recorder, log) = recorded(&client);
    let upgrade = Upgrade::new("widget-operator", "1.0.0").check_objects();
    upgrade.apply(&recorder, &versions("v1")).await.unwrap();
    create(&client, "v1", "w0", json!({"size": 1})).await;
    upgrade.apply(&recorder, &versions("v2")).await.unwrap();
    Migration::new(WIDGETS).run(&recorder, |_| {}).await.unwrap();
    env.stop().await;
    assert_eq!(*log.lock().unwrap(), documented());
}
