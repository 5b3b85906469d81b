//! The chart of the example crontab on the embedded server, upgraded from a release whose API has only v1beta1. The program
//! runs with the arguments of its Deployment, as its service account.

use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, ListParams, PostParams};
use kubesmith_testenv::{TestEnv, User, free_address};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::{generate, merge, real, rendered, schema, values};
use crate::deploy::apply;
use crate::support::{Crate, testdata};

const NAMESPACE: &str = "crontab-system";
const MANAGER: &str = "crontab-controller-manager";

/// Objects of the older release. v1beta1 has the time zone as an annotation.
const OBJECTS: [&str; 3] = [
    "{metadata: {name: nightly}, spec: {schedule: '*/5 4 * * *', image: backup}}",
    "{metadata: {name: zoned, annotations: {stable.example.com/time-zone: Europe/Rome}}, \
     spec: {schedule: '0 4 * * 1', image: report, replicas: 0, concurrencyPolicy: Forbid}}",
    "{metadata: {name: labelled, labels: {a: b}, annotations: {c: d}}, spec: {schedule: '1,2 0-3 1 */2 *', image: 'x:1'}}",
];

/// The older release: the example without v1 and without the conversion webhook.
fn older_release() -> Crate {
    let example = testdata().join("../examples/crontab");
    let types = fs::read_to_string(example.join("api/src/v1beta1.rs")).unwrap();
    let project = Crate::with_files(&[("src/lib.rs", "pub mod v1beta1;\n"), ("src/v1beta1.rs", &types)]);
    project.write(
        "kubesmith.toml",
        "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"webhook\", \"deploy\", \"helm\"]\n\
         [deploy]\noutput = \"config\"\nname = \"crontab\"\nimage = \"crontab:v0\"\nleader_election = false\n\
         [helm]\noutput = \"chart\"\nversion = \"0.0.9\"\n",
    );
    generate(&project, &[]);
    project
}

/// The cluster, and the work of Helm and the kubelet in it.
struct Cluster {
    env: TestEnv,
    /// The folder with the kubeconfig files, and with the files that Helm reads.
    folder: Crate,
    program: OsString,
}

impl Cluster {
    async fn start(webhooks: SocketAddr) -> Self {
        let program =
            std::env::var_os("CRONTAB_WEBHOOK").expect("CRONTAB_WEBHOOK is the path of crontab-webhook");
        let folder = Crate::with_files(&[]);
        let mut env = TestEnv::builder()
            .rbac(true)
            .controllers(true)
            .simulated_node(true)
            .webhooks_on_host(webhooks, folder.path("certificates"))
            .start()
            .await
            .unwrap();
        folder.write("kubeconfig", env.kubeconfig().await.unwrap());
        Self { env, folder, program }
    }

    async fn run(&self, program: &str, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::from(self.folder.command(program));
        let out = command.args(arguments).env("KUBECONFIG", "kubeconfig").output().await.unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        (out.status.success(), text)
    }

    /// `helm upgrade --install`, where Helm is installed.
    async fn install(&self, chart: &Path, changes: &Value) {
        if real::is_installed() {
            self.folder.write("values.yaml", changes.to_string());
            let chart = fs::canonicalize(chart).unwrap();
            let arguments = [
                "upgrade",
                "--install",
                "crontab",
                chart.to_str().unwrap(),
                "--values",
                "values.yaml",
                "--wait",
            ];
            let place = ["--namespace", NAMESPACE, "--create-namespace"];
            let (succeeded, text) = self.run("helm", &[&arguments[..], &place].concat()).await;
            assert!(succeeded, "{text}");
            return;
        }
        let text = fs::read_to_string(chart.join("values.schema.json")).unwrap();
        let mut values = values(chart);
        merge(&mut values, changes);
        assert_eq!(schema::refusals(&serde_json::from_str(&text).unwrap(), &values), [""; 0]);
        let client = self.env.client();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        apply(&client, &namespace).await.unwrap();
        for object in rendered(chart, &values, NAMESPACE).values() {
            apply(&client, object).await.unwrap();
        }
        let deployments: Api<Deployment> = Api::namespaced(client, NAMESPACE);
        until("the Deployment is available", async || {
            let found = deployments.get(MANAGER).await.unwrap();
            let generation = found.metadata.generation;
            found
                .status
                .is_some_and(|now| now.observed_generation == generation && now.available_replicas == Some(1))
        })
        .await;
    }

    /// Starts the program as a kubelet does, and waits until it is ready.
    async fn start_program(&mut self) -> Child {
        let deployments: Api<Deployment> = Api::namespaced(self.env.client(), NAMESPACE);
        let pod = deployments.get(MANAGER).await.unwrap().spec.unwrap().template.spec.unwrap();
        let account = pod.service_account_name.unwrap();
        let container = pod.containers.into_iter().next().unwrap();
        let user = User {
            name: format!("system:serviceaccount:{NAMESPACE}:{account}"),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{NAMESPACE}")],
        };
        let kubeconfig = self.env.add_user(&user).await.unwrap().kubeconfig().to_owned();
        let mut kubeconfig: Value = serde_yaml::from_str(&kubeconfig).unwrap();
        kubeconfig["contexts"][0]["context"]["namespace"] = json!(NAMESPACE);
        self.folder.write("pod.kubeconfig", kubeconfig.to_string());
        // A pod has a network of its own.
        let health = free_address().unwrap();
        let args =
            container.args.unwrap().into_iter().map(|arg| arg.replace("=:8081", &format!("={health}")));
        let env = container.env.unwrap_or_default();
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .envs(env.into_iter().map(|variable| (variable.name, variable.value.unwrap())))
            .env("KUBECONFIG", self.folder.path("pod.kubeconfig"))
            .kill_on_drop(true);
        let mut program = command.spawn().unwrap();
        until("the program is ready", async || {
            assert_eq!(program.try_wait().unwrap(), None, "the program has ended");
            is_ready(health).await
        })
        .await;
        program
    }

    fn tabs(&self, version: &str) -> Api<DynamicObject> {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("stable.example.com", version, "CronTab"));
        Api::default_namespaced_with(self.env.client(), &kind)
    }

    /// The objects in a version, without the fields that a migration changes.
    async fn objects(&self, version: &str) -> kube::Result<Vec<Value>> {
        let found = self.tabs(version).list(&ListParams::default()).await?;
        let kept = found.items.into_iter().map(|mut object| {
            object.metadata.managed_fields = None;
            object.metadata.resource_version = None;
            json!(object)
        });
        Ok(kept.collect())
    }

    async fn stored_versions(&self) -> Vec<String> {
        let definitions: Api<CustomResourceDefinition> = Api::all(self.env.client());
        let found = definitions.get("crontabs.stable.example.com").await.unwrap();
        found.status.unwrap().stored_versions.unwrap()
    }
}

/// What an `httpGet` probe of `/readyz` sees.
async fn is_ready(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address).await else { return false };
    let mut answer = String::new();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.is_ok()
        && stream.read_to_string(&mut answer).await.is_ok()
        && answer.starts_with("HTTP/1.1 200 ")
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .unwrap_or_else(|_| panic!("not within a minute: {what}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the program of the example crontab: hack/e2e-operators.sh crontab"]
async fn release_is_upgraded_from_an_older_api() {
    let webhooks = free_address().unwrap();
    let mut cluster = Cluster::start(webhooks).await;
    let old = older_release();
    // This program is newer than its release: without the variable it would serve webhooks.
    let without_webhooks = json!([{"name": "ENABLE_WEBHOOKS", "value": "false"}]);
    let changes = json!({"manager": {"env": without_webhooks}, "metrics": {"enabled": false}});
    cluster.install(&old.path("chart"), &changes).await;
    let old_program = cluster.start_program().await;
    for object in OBJECTS {
        let mut object: Value = serde_yaml::from_str(object).unwrap();
        merge(&mut object, &json!({"apiVersion": "stable.example.com/v1beta1", "kind": "CronTab"}));
        let object = serde_json::from_value(object).unwrap();
        cluster.tabs("v1beta1").create(&PostParams::default(), &object).await.unwrap();
    }
    let before = cluster.objects("v1beta1").await.unwrap();
    assert_eq!((before.len(), cluster.stored_versions().await), (3, vec!["v1beta1".to_owned()]));

    let changes = json!({"manager": {"args": [format!("--webhook-port={}", webhooks.port())]}, "metrics": {"enabled": false}});
    cluster.install(&testdata().join("../examples/crontab/charts/crontab"), &changes).await;
    // The older program still runs, and no webhook converts yet. Old clients can still read, and others get
    // an error.
    assert_eq!(cluster.objects("v1beta1").await.unwrap(), before);
    let error = cluster.objects("v1").await.unwrap_err().to_string();
    assert!(
        error.contains("conversion webhook for stable.example.com/v1beta1, Kind=CronTab failed"),
        "{error}"
    );
    drop(old_program);
    let mut program = cluster.start_program().await;
    until("the webhook converts", async || cluster.objects("v1").await.is_ok()).await;

    let after = cluster.objects("v1").await.unwrap();
    let specs: Vec<&Value> = after.iter().map(|object| &object["spec"]).collect();
    let schedule = |parts: [&str; 5]| {
        let [minute, hour, day_of_month, month, day_of_week] = parts;
        json!({"minute": minute, "hour": hour, "dayOfMonth": day_of_month, "month": month, "dayOfWeek": day_of_week})
    };
    let wanted = [
        json!({"schedule": schedule(["1,2", "0-3", "1", "*/2", "*"]), "image": "x:1", "replicas": 1, "concurrencyPolicy": "Allow"}),
        json!({"schedule": schedule(["*/5", "4", "*", "*", "*"]), "image": "backup", "replicas": 1, "concurrencyPolicy": "Allow"}),
        json!({"schedule": schedule(["0", "4", "*", "*", "1"]), "image": "report", "replicas": 0, "concurrencyPolicy": "Forbid",
            "timeZone": "Europe/Rome"}),
    ];
    assert_eq!(specs, wanted.iter().collect::<Vec<_>>());
    assert_eq!(cluster.objects("v1beta1").await.unwrap(), before);

    let (succeeded, text) = cluster
        .run(env!("CARGO_BIN_EXE_kubesmith"), &["crd", "migrate", "crontabs.stable.example.com"])
        .await;
    assert!(
        succeeded && text.contains("3 objects rewritten; v1beta1 removed from status.storedVersions"),
        "{text}"
    );
    assert_eq!(cluster.stored_versions().await, ["v1"]);
    assert_eq!(cluster.objects("v1").await.unwrap(), after);
    assert_eq!(cluster.objects("v1beta1").await.unwrap(), before);
    assert_eq!(program.try_wait().unwrap(), None, "the program has ended");
    drop(program);
    cluster.env.stop().await;
}
