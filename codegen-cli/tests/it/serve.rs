//! `kubesmith serve` as a process of its own: its output, its files, its end.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubesmith"));
    command.arg("serve").args(arguments).env_remove("RUST_BACKTRACE");
    command
}

/// A server that is ready; killed when it is dropped.
pub(crate) struct Served {
    child: Child,
    out: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) kubeconfig: PathBuf,
}

impl Served {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(command(arguments))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut value = |key: &str| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            line.trim_end().strip_prefix(key).unwrap_or_else(|| panic!("{key:?} in {line:?}")).to_owned()
        };
        let (url, kubeconfig) = (value("url: "), value("kubeconfig: ").into());
        Self { child, out, url, kubeconfig }
    }

    pub(crate) async fn client(&self) -> Client {
        client(&fs::read_to_string(&self.kubeconfig).unwrap()).await
    }

    /// Ends the process as the system does, without asking it.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal, and returns the exit code and the output after the two lines.
    #[cfg(unix)]
    fn end(&mut self, signal: &str) -> (Option<i32>, String) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.out, &mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A process that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client as any program makes one from the file.
pub(crate) async fn client(kubeconfig: &str) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a server that is expected not to start.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command(arguments).output().unwrap();
    assert!(stdout.is_empty(), "{}", text(&stdout));
    (status.code(), text(&stderr))
}

const FREE: &[&str] = &["--addr", "127.0.0.1:0"];

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
#[cfg(unix)]
async fn server_runs_until_it_is_interrupted() {
    use std::os::unix::fs::PermissionsExt;
    for signal in ["-INT", "-TERM"] {
        let mut served = Served::start(FREE);
        assert!(served.url.starts_with("https://127.0.0.1:"), "{}", served.url);
        let mode = fs::metadata(&served.kubeconfig).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "the kubeconfig holds a token");
        let namespaces: Api<Namespace> = Api::all(served.client().await);
        assert_eq!(namespaces.list(&ListParams::default()).await.unwrap().items.len(), 4);
        assert_eq!(served.end(signal), (Some(0), String::new()));
        assert!(!served.kubeconfig.exists(), "nobody asked for this file");
    }
}

#[tokio::test]
async fn server_serves_crds_over_http_with_a_given_kubeconfig() {
    let dir = tempfile::tempdir().unwrap();
    let kubeconfig = dir.path().join("kubeconfig");
    // As `mktemp` creates it.
    fs::write(&kubeconfig, "").unwrap();
    let crds = crate::support::testdata().join("../examples/balancer/config/crd/bases");
    let arguments =
        [FREE, &["--plain-http", "--kubeconfig", path(&kubeconfig), "--crds", path(&crds)]].concat();
    let served = Served::start(&arguments);
    assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
    assert_eq!(served.kubeconfig, kubeconfig);
    let client = served.client().await;
    let groups = client.list_api_groups().await.unwrap().groups;
    assert!(groups.iter().any(|group| group.name == "exposer.hliangzhao.io"), "{groups:?}");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = ConfigMap {
        metadata: ObjectMeta { name: Some("m".to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    maps.create(&PostParams::default(), &map).await.unwrap();
    drop(served);

    // The file of an earlier run is replaced.
    let again = Served::start(&arguments);
    assert!(fs::read_to_string(&kubeconfig).unwrap().contains(&again.url));
}

#[tokio::test]
async fn feature_gates_reach_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let kubeconfig = dir.path().join("kubeconfig");
    let gates = ["--feature-gates", "ShardedListAndWatch=true"];
    let served = Served::start(&[FREE, &["--kubeconfig", path(&kubeconfig)], &gates].concat());
    // Without the feature, the parameter is ignored.
    let request = http::Request::get("/api/v1/namespaces?shardSelector=x").body(Vec::new()).unwrap();
    let refused = served.client().await.request_text(request).await.unwrap_err();
    assert!(refused.to_string().contains("invalid shard selector"), "{refused}");
}

#[test]
fn kubeconfig_with_other_clusters_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config");
    let theirs = "apiVersion: v1\nkind: Config\nclusters:\n- name: production\n";
    fs::write(&file, theirs).unwrap();
    let (code, error) = refused(&[FREE, &["--kubeconfig", path(&file)]].concat());
    assert_eq!(code, Some(1));
    assert!(error.contains(path(&file)) && error.contains("--kubeconfig FILE"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    let missing = dir.path().join("no/such/folder/config");
    let (code, error) = refused(&[FREE, &["--kubeconfig", path(&missing)]].concat());
    assert_eq!(code, Some(1));
    assert!(error.contains("cannot write the kubeconfig"), "{error}");
}

#[tokio::test]
async fn data_survives_a_restart_of_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let served = Served::start(&[FREE, &["--data", path(&data)]].concat());
    assert_eq!(served.kubeconfig, data.join("kubeconfig"));
    let map = ConfigMap {
        metadata: ObjectMeta { name: Some("m".to_owned()), ..ObjectMeta::default() },
        ..ConfigMap::default()
    };
    let client = served.client().await;
    let created =
        Api::<ConfigMap>::default_namespaced(client).create(&PostParams::default(), &map).await.unwrap();

    let (code, error) = refused(&[FREE, &["--data", path(&data)]].concat());
    assert_eq!(code, Some(1));
    assert!(error.contains(path(&data)) && error.contains("--data DIR"), "{error}");

    // At the same address, the old kubeconfig is valid for the new server.
    let old = served.client().await;
    let addr = served.url.strip_prefix("https://").unwrap().to_owned();
    drop(served);
    let _again = Served::start(&["--addr", &addr, "--data", path(&data)]);
    assert_eq!(Api::<ConfigMap>::default_namespaced(old).get("m").await.unwrap(), created);
}

#[test]
fn damaged_data_file_is_named_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("store.log");
    fs::write(&file, "kubesmith store 0001 0123456789abcdef\n").unwrap();
    let (code, error) = refused(&[FREE, &["--data", path(dir.path())]].concat());
    assert_eq!(code, Some(1));
    assert!(error.contains(path(&file)) && error.contains("damaged"), "{error}");
}

#[test]
fn address_in_use_is_named_in_the_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let (code, error) = refused(&["--addr", &addr]);
    assert_eq!(code, Some(1));
    assert!(error.contains(&addr) && error.contains("--addr HOST:PORT"), "{error}");
}

#[test]
fn invalid_crds_are_named_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let (missing, broken, wrong) =
        (dir.path().join("missing"), dir.path().join("broken.yaml"), dir.path().join("wrong.yaml"));
    fs::write(&broken, "kind: [").unwrap();
    fs::write(
        &wrong,
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n\
         spec: {group: c, scope: Cluster, names: {plural: a, kind: A}, versions: []}\n",
    )
    .unwrap();
    for (file, named) in [(&missing, path(&missing)), (&broken, path(&broken)), (&wrong, "a.b")] {
        let (code, error) = refused(&[FREE, &["--crds", path(file)]].concat());
        assert_eq!(code, Some(1), "{error}");
        assert!(error.starts_with("error: ") && error.contains(named) && error.contains("help: "), "{error}");
    }
}

#[test]
fn usage_error_exits_with_2() {
    let gates = &["--feature-gates", "Nonsense=true"];
    for arguments in [&["--addr", "6443"][..], &["--addr"], &["--nonsense"], &["--crds"], gates] {
        assert_eq!(refused(arguments).0, Some(2), "{arguments:?}");
    }
}

#[test]
fn invalid_log_filter_is_refused() {
    let output = command(FREE).env("RUST_LOG", "server=loud").output().unwrap();
    let told = text(&output.stderr);
    assert!(!output.status.success() && told.contains("RUST_LOG is not a filter"), "{told}");
}

#[tokio::test]
async fn unreachable_conversion_webhook_is_logged_with_help() {
    let mut command = command(FREE);
    command.env_remove("RUST_LOG").stderr(Stdio::piped());
    let mut served = Served::of(command);
    let client = served.client().await;
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
               "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let webhook =
        json!({"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"}});
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "pies.bakery.io"},
        "spec": {
            "group": "bakery.io", "scope": "Namespaced", "names": {"kind": "Pie", "plural": "pies"},
            "versions": [version("v1", true), version("v2", false)],
            "conversion": {"strategy": "Webhook", "webhook": webhook},
        },
    });
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&PostParams::default(), &serde_json::from_value(crd).unwrap()).await.unwrap();
    let pies = |version: &str| {
        let resource =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("bakery.io", version, "Pie"), "pies");
        Api::<DynamicObject>::namespaced_with(client.clone(), "default", &resource)
    };
    let pie =
        DynamicObject::new("apple", &ApiResource::from_gvk(&GroupVersionKind::gvk("bakery.io", "v1", "Pie")));
    pies("v1").create(&PostParams::default(), &pie).await.unwrap();
    let error = pies("v2").get("apple").await.unwrap_err();
    assert!(error.to_string().contains("conversion webhook for bakery.io/v1, Kind=Pie failed"), "{error}");
    pies("v1").get("apple").await.unwrap();
    served.kill();
    let mut log = String::new();
    std::io::Read::read_to_string(&mut served.child.stderr.take().unwrap(), &mut log).unwrap();
    assert!(log.contains("WARN") && log.contains("start the program that serves the webhook"), "{log}");
    assert!(log.contains("`kubesmith serve --webhook-cert-dir DIR` calls it on this host"), "{log}");
}

#[test]
fn certificate_of_another_program_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tls.key"), "mine").unwrap();
    let (code, said) = refused(&[FREE, &["--webhook-cert-dir", path(dir.path())]].concat());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("has a certificate of another program"), "{said}");
    assert!(said.contains("choose another folder with --webhook-cert-dir DIR"), "{said}");
    assert_eq!(fs::read_to_string(dir.path().join("tls.key")).unwrap(), "mine");
}
