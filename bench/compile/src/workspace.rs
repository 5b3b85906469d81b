//! The compiled workspace: the packages of both contenders, so that they share a lock file and a target folder.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use kubesmith::config::{self, Overrides};
use kubesmith::{pipeline, write};

use crate::kinds::{self, Dialect};

/// Packages of a contender, in the order in which they are compiled.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) packages: &'static [&'static str],
}

pub(crate) const KUBESMITH: Contender =
    Contender { name: "kubesmith", packages: &["kubesmith-api", "kubesmith-client", "kubesmith-program"] };
pub(crate) const KUBE_RS: Contender =
    Contender { name: "kube-rs", packages: &["kube-rs-api", "kube-rs-program"] };

impl Contender {
    /// Returns the last package of the contender, which depends on the others.
    pub(crate) fn program(&self) -> &'static str {
        self.packages.last().copied().unwrap_or_default()
    }
}

/// Writes the workspace, the generated package included; `project` is the folder of kubesmith's own workspace.
pub(crate) fn write(folder: &Path, project: &Path, kinds: usize) -> io::Result<()> {
    let runtime = project.join("runtime").display().to_string();
    let manifest =
        |name: &str, dependencies: &str| package(name, &dependencies.replace("__runtime__", &runtime));
    put(folder, "Cargo.toml", WORKSPACE)?;
    // The same versions of dependencies as the project's own.
    fs::copy(project.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for (package, dialect, dependencies) in
        [("kubesmith-api", Dialect::Kubesmith, KUBESMITH_API), ("kube-rs-api", Dialect::KubeRs, KUBE_RS_API)]
    {
        put(folder, &format!("{package}/Cargo.toml"), &manifest(package, dependencies))?;
        for (path, text) in kinds::files(dialect, kinds) {
            put(folder, &format!("{package}/{path}"), &text)?;
        }
    }
    generate(folder, kinds);
    for (package, dependencies, main) in [
        ("kubesmith-program", KUBESMITH_PROGRAM, kubesmith_main(kinds)),
        ("kube-rs-program", KUBE_RS_PROGRAM, kube_rs_main(kinds)),
    ] {
        put(folder, &format!("{package}/Cargo.toml"), &manifest(package, dependencies))?;
        put(folder, &format!("{package}/src/main.rs"), &main)?;
    }
    Ok(())
}

/// Runs `kubesmith generate` with its default configuration, and checks that both dialects define the same kinds.
fn generate(folder: &Path, kinds: usize) {
    let client = folder.join("kubesmith-client");
    let flags = Overrides {
        input: vec![folder.join("kubesmith-api")],
        output: Some(client),
        crate_name: Some("kubesmith-client".to_owned()),
        ..Overrides::default()
    };
    let settings = config::settings(None, flags).expect("the configuration is right").remove(0);
    let generated = pipeline::generate(&settings);
    assert!(generated.diagnostics.is_empty(), "{:?}", generated.diagnostics);
    assert_eq!(generated.ir.groups[0].versions[0].resources.len(), kinds);
    let plan = write::plan(&generated.targets).expect("the folder can be read");
    plan.write().expect("the folder can be written");
}

fn put(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text)
}

/// Debug information is that of the dev profile, except for dependencies, which are not compared.
const WORKSPACE: &str = r#"[workspace]
resolver = "3"
members = ["kubesmith-api", "kubesmith-client", "kubesmith-program", "kube-rs-api", "kube-rs-program"]

[profile.dev.package."*"]
debug = false
"#;

fn package(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\n{dependencies}"
    )
}

const KUBESMITH_API: &str = r#"k8s-openapi = "0.29"
kubesmith-runtime = { path = "__runtime__", default-features = false }
serde = { version = "1", features = ["derive"] }
"#;

const KUBE_RS_API: &str = r#"k8s-openapi = { version = "0.29", features = ["schemars"] }
kube = { version = "5", default-features = false, features = ["derive"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
"#;

const KUBESMITH_PROGRAM: &str = r#"k8s-openapi = { version = "0.29", features = ["v1_36"] }
kubesmith-client = { path = "../kubesmith-client" }
kubesmith-runtime = { path = "__runtime__" }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
"#;

const KUBE_RS_PROGRAM: &str = r#"futures = { version = "0.3", default-features = false, features = ["std"] }
k8s-openapi = { version = "0.29", features = ["v1_36"] }
kube = { version = "5", default-features = false, features = ["client", "runtime", "rustls-tls", "ring"] }
kube-rs-api = { path = "../kube-rs-api" }
serde = "1"
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
"#;

/// Returns the program on the generated package: all informers, until their caches are full.
fn kubesmith_main(kinds: usize) -> String {
    let (mut listers, mut counts) = (String::new(), String::new());
    for number in 0..kinds {
        let name = kinds::name(number).to_lowercase();
        let _ = writeln!(listers, "    let {name} = kinds.{name}s().lister();");
        let _ =
            writeln!(counts, "    println!(\"{name} {{}}\", {name}.list(&Selector::everything()).len());");
    }
    format!(
        r#"//! Follows every kind.

use std::time::Duration;

use kubesmith_client::clientset::Clientset;
use kubesmith_client::informers::SharedInformerFactory;
use kubesmith_runtime::labels::Selector;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let factory = SharedInformerFactory::builder(Clientset::try_default().await?).build();
    let kinds = factory.bench().v1();
{listers}    factory.start();
    factory.wait_for_cache_sync(Duration::from_secs(60)).await?;
{counts}    factory.shutdown().await;
    Ok(())
}}
"#
    )
}

/// Returns the same program on kube-runtime.
fn kube_rs_main(kinds: usize) -> String {
    let (mut stores, mut waits, mut counts) = (String::new(), String::new(), String::new());
    for number in 0..kinds {
        let (kind, name) = (kinds::name(number), kinds::name(number).to_lowercase());
        let _ = writeln!(
            stores,
            "    let {name} = follow(&mut tasks, Api::<{name}::{kind}>::all(client.clone()));"
        );
        let _ = writeln!(waits, "        {name}.wait_until_ready().await?;");
        let _ = writeln!(counts, "    println!(\"{name} {{}}\", {name}.state().len());");
    }
    format!(
        r#"//! Follows every kind.

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Duration;

use futures::StreamExt as _;
use kube::runtime::reflector::{{self, Store}};
use kube::runtime::{{WatchStreamExt as _, watcher}};
use kube::{{Api, Client, Resource}};
use kube_rs_api::*;
use serde::de::DeserializeOwned;
use tokio::task::JoinSet;

/// Starts to fill a store.
fn follow<K>(tasks: &mut JoinSet<()>, api: Api<K>) -> Store<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Eq + Hash,
{{
    let (store, writer) = reflector::store();
    let stream = watcher(api, watcher::Config::default()).default_backoff().reflect(writer);
    tasks.spawn(stream.for_each(|_| std::future::ready(())));
    store
}}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {{
    let client = Client::try_default().await?;
    let mut tasks = JoinSet::new();
{stores}    tokio::time::timeout(Duration::from_secs(60), async {{
{waits}        Ok::<_, reflector::store::WriterDropped>(())
    }})
    .await??;
{counts}    tasks.shutdown().await;
    Ok(())
}}
"#
    )
}
