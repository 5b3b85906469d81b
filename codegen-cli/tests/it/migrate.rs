//! `kubesmith migrate --from kube-rs`

use kubesmith::migrate::ROWS;

use crate::support::{Crate, testdata};

/// The controller of kube-rs's template, shortened.
const PROGRAM: &str = r#"
use futures::StreamExt;
use kube::{
    CustomResource, Resource,
    api::{Api, Patch},
    client::Client,
    runtime::{
        controller::{Action, Controller},
        events::{Recorder, Reporter},
        finalizer::{Event as Finalizer, finalizer},
        watcher::Config,
    },
};

#[derive(CustomResource, Clone, Debug)]
#[kube(kind = "Document", group = "kube.rs", version = "v1", namespaced)]
pub struct DocumentSpec {
    pub title: String,
}

async fn reconcile(doc: Arc<Document>, ctx: Arc<Context>) -> Result<Action> {
    let docs: Api<Document> = Api::namespaced(ctx.client.clone(), "default");
    finalizer(&docs, "documents.kube.rs", doc, |event| async {
        match event {
            Finalizer::Apply(doc) => doc.reconcile(ctx.clone()).await,
            Finalizer::Cleanup(doc) => doc.cleanup(ctx.clone()).await,
        }
    })
    .await
}

pub async fn run(client: Client) {
    Controller::new(Api::<Document>::all(client), Config::default().any_semantic())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(60)), Arc::new(()))
        .for_each(|_| futures::future::ready(()))
        .await;
}
"#;

const MANIFEST: &str = "[package]\nname = \"documents\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
    [dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";

const DOCUMENT: &str = r#"
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document.
#[derive(Clone, CustomResource, Debug, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Document", namespaced)]
pub struct DocumentSpec {
    pub title: String,
}
"#;

#[test]
fn uses_of_kube_rs_are_listed_with_replacements() {
    let sample = Crate::new(PROGRAM);
    sample.write("api/target/a.rs", "fn a() { kube::runtime::Controller::new() }");
    sample.write("api/src/broken.rs", "fn a( {");
    sample.write("api/Cargo.toml", "[package]\nname = \"api\"\n[dependencies]\nkube = \"3\"\n");
    let out = sample.run(&["migrate", "--from", "kube-rs", "api"]);
    assert_eq!(out.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8_lossy(&out.stdout));
    let warning = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(warning.starts_with("warning: api/src/broken.rs: line 1:"), "{warning}");
}

#[test]
fn settings_of_a_library_generate_crds_and_clients() {
    let sample = Crate::new("");
    sample.write("documents/Cargo.toml", MANIFEST);
    sample.write("documents/src/lib.rs", DOCUMENT);
    let out = sample.run(&["migrate", "--from", "kube-rs", "--write", "documents"]);
    assert_eq!(out.status.code(), Some(0));
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains("wrote documents/kubesmith.toml\nwrote documents/src/lib.rs\nnext: "), "{said}");
    let runtime = "[dependencies]\nkubesmith-runtime = { path = \"";
    assert!(said.contains(runtime) && said.contains("\nkubesmith-testenv = { path = \""), "{said}");
    let before = sample.tree("documents");
    assert!(before["src/lib.rs"].ends_with("}\n\npub mod generated;\n"));

    let again = sample.run(&["migrate", "--from", "kube-rs", "--write", "documents"]);
    assert!(!String::from_utf8_lossy(&again.stdout).contains("wrote"));
    assert_eq!(sample.tree("documents"), before);

    let generated = sample.run(&["generate", "--config", "documents/kubesmith.toml"]);
    assert_eq!(generated.status.code(), Some(0), "{}", String::from_utf8_lossy(&generated.stderr));
    let after = sample.tree("documents");
    assert!(after.contains_key("crds/example.com_documents.yaml"), "{:?}", after.keys());
    let clients = &after["src/generated/clientset/typed/example/v1.rs"];
    assert!(clients.contains("use crate::Document;"), "{clients}");
}

#[test]
fn groups_of_kube_rs_that_share_a_first_part_have_whole_names_in_code() {
    let sample = Crate::new("");
    sample.write("documents/Cargo.toml", MANIFEST);
    let other = "pub mod other {\n".to_owned() + &DOCUMENT.replace("example.com", "example.org") + "}\n";
    sample.write("documents/src/lib.rs", DOCUMENT.to_owned() + &other);
    let out = sample.run(&["generate", "--input", "documents", "--output", "out", "--crate-name", "clients"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let files = sample.tree("out");
    for file in ["src/listers/example_com/v1.rs", "src/listers/example_org/v1.rs"] {
        assert!(files.contains_key(file), "{file}: {:?}", files.keys());
    }
}

#[test]
fn settings_of_a_program_generate_only_crds() {
    let sample = Crate::new("");
    sample.write("documents/Cargo.toml", MANIFEST);
    sample.write("documents/src/main.rs", DOCUMENT);
    assert_eq!(sample.run(&["migrate", "--from", "kube-rs", "--write", "documents"]).status.code(), Some(0));
    let generated = sample.run(&["generate", "--config", "documents/kubesmith.toml"]);
    assert_eq!(generated.status.code(), Some(0), "{}", String::from_utf8_lossy(&generated.stderr));
    let files = sample.tree("documents");
    let expected = ["Cargo.toml", "crds/example.com_documents.yaml", "kubesmith.toml", "src/main.rs"];
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
}

#[test]
fn settings_are_only_written_for_a_package() {
    let sample = Crate::new("");
    sample.write("empty/README.md", "");
    sample.write("all/Cargo.toml", "[workspace]\nmembers = [\"*\"]\n");
    sample.write("all/documents/Cargo.toml", MANIFEST);
    sample.write("all/documents/src/lib.rs", DOCUMENT);
    sample.write("all/other/Cargo.toml", MANIFEST);
    sample.write("all/other/src/lib.rs", "");
    for (folder, help) in [
        ("empty", "name the folder with the Cargo.toml of the package that has the types"),
        ("all", "run `kubesmith migrate --from kube-rs --write all/documents`"),
    ] {
        let before = sample.tree(folder);
        let out = sample.run(&["migrate", "--from", "kube-rs", "--write", folder]);
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        let expected =
            format!("error: cannot write to {folder}: it is not the folder of a package\n  = help: {help}\n");
        assert_eq!((out.status.code(), told), (Some(1), expected));
        assert_eq!(sample.tree(folder), before);
    }
}

#[test]
fn version_of_kube_is_found_in_the_workspace() {
    let sample = Crate::new("");
    sample.write(
        "all/Cargo.toml",
        "[workspace]\nmembers = [\"documents\"]\n\n[workspace.dependencies]\nkube = \"0.98\"\n",
    );
    let member = MANIFEST.replace("kube = \"5\"", "kube.workspace = true");
    sample.write("all/documents/Cargo.toml", &member);
    sample.write("all/documents/src/lib.rs", DOCUMENT);
    for folder in ["all", "all/documents"] {
        let out = sample.run(&["migrate", "--from", "kube-rs", folder]);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert_eq!(said.matches("  all/Cargo.toml:5:1: kube 0.98\n").count(), 1, "{said}");
    }
}

#[test]
fn migration_of_a_missing_folder_fails() {
    let sample = Crate::new("");
    let out = sample.run(&["migrate", "--from", "kube-rs", "nowhere"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&out.stderr).contains("name the folder with the sources"));
    assert_eq!(sample.run(&["migrate", "api"]).status.code(), Some(2), "--from is missing");
}

#[test]
fn advice_names_items_that_the_migration_guide_names() {
    let guide = std::fs::read_to_string(testdata().join("../docs/from-kube-rs/migration.md")).unwrap();
    for word in [
        "ControllerBuilder",
        "finalizer_fn",
        "informer_for",
        "Predicate::generation_changed",
        "event_recorder",
    ] {
        assert!(ROWS.iter().any(|row| row.advice.contains(word)), "{word}");
        assert!(guide.contains(word), "{word}");
    }
}
