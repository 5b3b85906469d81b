//! The alerts of generated managers: a running manager has their metrics, and Prometheus' own evaluation
//! (`promtool test rules`) fires them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use clap::Parser;
use k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::controller::{Action, CancellationToken, ControllerBuilder, reconcile_fn};
use kubesmith_runtime::manager::{Manager, ManagerFlags};
use kubesmith_runtime::metrics::Registry;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::support::Crate;

/// Series of two hours with an interval of a minute: an operator with three replicas, of which one leads. The label `@` stands
/// for the job and the namespace.
const HEALTHY: &[(&str, &str)] = &[
    ("up{@,pod=\"a\"}", "1x120"),
    ("up{@,pod=\"b\"}", "1x120"),
    ("up{@,pod=\"c\"}", "1x120"),
    ("leader_election_master_status{@,name=\"shop\",pod=\"a\"}", "1x120"),
    ("leader_election_master_status{@,name=\"shop\",pod=\"b\"}", "0x120"),
    ("controller_runtime_reconcile_total{@,controller=\"item\",result=\"success\"}", "0+60x120"),
    ("controller_runtime_reconcile_total{@,controller=\"item\",result=\"error\"}", "0+4x120"),
    ("controller_runtime_reconcile_errors_total{@,controller=\"item\"}", "0+4x120"),
    ("controller_runtime_reconcile_panics_total{@,controller=\"item\"}", "0x120"),
    ("workqueue_longest_running_processor_seconds{@,name=\"item\"}", "0 30 590 0 20x116"),
    ("workqueue_queue_duration_seconds_bucket{@,name=\"item\",le=\"0.1\"}", "0+50x120"),
    ("workqueue_queue_duration_seconds_bucket{@,name=\"item\",le=\"100\"}", "0+64x120"),
    ("workqueue_queue_duration_seconds_bucket{@,name=\"item\",le=\"1000\"}", "0+64x120"),
    ("workqueue_queue_duration_seconds_bucket{@,name=\"item\",le=\"+Inf\"}", "0+64x120"),
    ("rest_client_requests_total{@,code=\"200\",method=\"GET\"}", "0+80x120"),
    ("rest_client_requests_total{@,code=\"409\",method=\"PUT\"}", "0+20x120"),
    ("rest_client_requests_total{@,code=\"503\",method=\"GET\"}", "0+4x120"),
    ("rest_client_requests_total{@,code=\"<error>\",method=\"GET\"}", "0+4x120"),
    // One failure, after which the rotator succeeds.
    ("cert_rotator_errors_total{@,pod=\"a\"}", "0x10 1x110"),
    ("certwatcher_read_certificate_errors_total{@,pod=\"a\"}", "0x10 1x110"),
    ("certwatcher_certificate_not_before_timestamp_seconds{@,certificate=\"tls.crt\",pod=\"a\"}", "0x120"),
    (
        "certwatcher_certificate_expiration_timestamp_seconds{@,certificate=\"tls.crt\",pod=\"a\"}",
        "86400x120",
    ),
    // Another operator, in which everything is wrong.
    ("up{job=\"other\",pod=\"a\"}", "0x120"),
    // The same operator in another namespace.
    ("up{job=\"shop-controller-manager-metrics-service\",namespace=\"elsewhere\",pod=\"a\"}", "0x120"),
    (
        "leader_election_master_status{job=\"shop-controller-manager-metrics-service\",namespace=\"elsewhere\",name=\"shop\"}",
        "0x120",
    ),
    ("controller_runtime_reconcile_panics_total{job=\"other\",controller=\"item\"}", "0+1x120"),
    ("rest_client_requests_total{job=\"other\",code=\"500\",method=\"GET\"}", "0+9x120"),
];

/// A fault: changed series, and the alert that fires, with its labels.
struct Fault {
    alert: &'static str,
    series: &'static [(&'static str, &'static str)],
    labels: &'static [(&'static str, &'static str)],
    /// The last minute in which the alert is quiet.
    quiet: u32,
    /// Alerts that fire as well.
    also: &'static [&'static str],
}

const FAULTS: &[Fault] = &[
    Fault {
        alert: "ManagerDown",
        series: &[("up{@,pod=\"a\"}", "0x120"), ("up{@,pod=\"b\"}", "0x120"), ("up{@,pod=\"c\"}", "0x120")],
        labels: &[("job", "shop-controller-manager-metrics-service"), ("namespace", "shop-system")],
        quiet: 4,
        also: &["ShardDown"],
    },
    Fault {
        alert: "ShardDown",
        series: &[("up{@,pod=\"c\"}", "0x120")],
        labels: &[
            ("job", "shop-controller-manager-metrics-service"),
            ("namespace", "shop-system"),
            ("pod", "c"),
        ],
        quiet: 4,
        also: &[],
    },
    Fault {
        alert: "NoLeader",
        series: &[("leader_election_master_status{@,name=\"shop\",pod=\"a\"}", "0x120")],
        labels: &[("name", "shop"), ("namespace", "shop-system")],
        quiet: 4,
        also: &[],
    },
    Fault {
        alert: "ReconcileErrors",
        series: &[
            ("controller_runtime_reconcile_total{@,controller=\"item\",result=\"error\"}", "0+20x120"),
            ("controller_runtime_reconcile_errors_total{@,controller=\"item\"}", "0+20x120"),
        ],
        labels: &[("controller", "item"), ("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
    Fault {
        alert: "ReconcilePanics",
        series: &[("controller_runtime_reconcile_panics_total{@,controller=\"item\"}", "0x50 1x70")],
        labels: &[("controller", "item"), ("namespace", "shop-system")],
        quiet: 50,
        also: &[],
    },
    Fault {
        alert: "ReconcileStuck",
        series: &[("workqueue_longest_running_processor_seconds{@,name=\"item\"}", "0+60x120")],
        labels: &[("name", "item"), ("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
    Fault {
        alert: "QueueLags",
        series: &[
            ("workqueue_queue_duration_seconds_bucket{@,name=\"item\",le=\"1000\"}", "0+80x120"),
            ("workqueue_queue_duration_seconds_bucket{@,name=\"item\",le=\"+Inf\"}", "0+80x120"),
        ],
        labels: &[("name", "item"), ("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
    Fault {
        alert: "ServerErrors",
        series: &[("rest_client_requests_total{@,code=\"<error>\",method=\"GET\"}", "0+14x120")],
        labels: &[("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
    Fault {
        alert: "CertificateErrors",
        series: &[("cert_rotator_errors_total{@,pod=\"a\"}", "0+6x120")],
        labels: &[("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
    Fault {
        alert: "CertificateUnusable",
        series: &[("certwatcher_read_certificate_errors_total{@,pod=\"a\"}", "0+6x120")],
        labels: &[("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
    Fault {
        alert: "CertificateExpires",
        series: &[(
            "certwatcher_certificate_not_before_timestamp_seconds{@,certificate=\"tls.crt\",pod=\"a\"}",
            "-7776000x120",
        )],
        labels: &[("namespace", "shop-system")],
        quiet: 14,
        also: &[],
    },
];

/// A project that has every alert.
fn rules() -> (Crate, Value) {
    let project = Crate::new(
        "use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\nuse kubesmith_runtime::{Resource, webhook};\n\
         #[derive(Clone, Debug, Default, Resource)]\n#[resource(group = \"shop.example.com\", version = \"v1\", kind = \"Item\")]\n\
         #[webhook(path = \"/validate\", mutating = false, failure_policy = \"Ignore\", groups = \"shop.example.com\", \
         resources = \"items\", verbs(\"create\"), versions = \"v1\", name = \"items.shop.example.com\", side_effects = \"None\", \
         admission_review_versions = \"v1\")]\n\
         pub struct Item { pub metadata: ObjectMeta }\n",
    );
    project.write(
        "kubesmith.toml",
        "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"webhook\", \"deploy\"]\n\
         [deploy]\noutput = \"config\"\nname = \"shop\"\nshards = 3\nalerts = true\ncertificates = \"self-managed\"\n",
    );
    let out = project.run(&["generate"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let rule = fs::read_to_string(project.path("config/prometheus/rules.yaml")).unwrap();
    let rule: Value = serde_yaml::from_str(&rule).unwrap();
    (project, rule["spec"].clone())
}

/// A test of promtool: the healthy operator with these series instead.
fn test(name: &str, changed: &[(&str, &str)], alerts: &[Value]) -> Value {
    let mut series: BTreeMap<&str, &str> = HEALTHY.iter().copied().collect();
    for (one, values) in changed {
        assert!(series.insert(one, values).is_some(), "{one}");
    }
    let labels = "job=\"shop-controller-manager-metrics-service\",namespace=\"shop-system\"";
    let series =
        series.iter().map(|(one, values)| json!({"series": one.replace('@', labels), "values": values}));
    json!({
        "name": name, "interval": "1m", "input_series": series.collect::<Vec<_>>(), "alert_rule_test": alerts,
    })
}

fn expected(alert: &str, minute: u32, firing: &[Value]) -> Value {
    json!({"alertname": alert, "eval_time": format!("{minute}m"), "exp_alerts": firing})
}

/// A program with the flags of a manager.
#[derive(Parser)]
struct Program {
    #[command(flatten)]
    manager: ManagerFlags,
}

impl Program {
    /// Creates its manager with a controller, like the program of a new project.
    async fn manager(&self) -> Manager {
        let registry = Registry::new();
        let client = self.manager.connect(&registry).await.unwrap();
        let mut manager = self.manager.builder(client, &registry, "shop").unwrap().build();
        let maps = manager.factory().informer_for::<ConfigMap>();
        let controller = ControllerBuilder::new("item").for_(&maps).metrics(manager.metrics());
        let reconciler = reconcile_fn(async |_: ObjectKey| Ok(Action::done()));
        manager.add(controller.complete(reconciler).unwrap());
        manager
    }
}

/// The metrics of all alerts, without `up`, which Prometheus makes.
fn metrics(spec: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rule in spec["groups"][0]["rules"].as_array().unwrap() {
        let mut parts = rule["expr"].as_str().unwrap().split('{');
        parts.next_back();
        let is_sign = |c: char| !c.is_ascii_lowercase() && c != '_';
        names.extend(parts.map(|part| part.rsplit(is_sign).next().unwrap().to_owned()));
    }
    assert!(names.remove("up") && !names.contains(""), "{names:?}");
    names
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_use_metrics_of_a_running_manager() {
    let (project, spec) = rules();
    let mut env = TestEnv::builder().start().await.unwrap();
    project.write("kubeconfig", env.kubeconfig().await.unwrap());
    let kubeconfig = format!("--kubeconfig={}", project.path("kubeconfig").display());
    let program = Program::parse_from([
        "shop",
        &kubeconfig,
        "--leader-elect",
        "--leader-election-namespace=default",
        "--metrics-bind-address=127.0.0.1:0",
        "--metrics-secure",
        "--health-probe-bind-address=0",
        "--webhook-cert-secret=certs",
        "--webhook-service=webhooks",
    ]);
    let manager = program.manager().await;
    let registry = manager.metrics().clone();
    let stop = CancellationToken::new();
    let run = tokio::spawn(manager.run(stop.clone().cancelled_owned()));
    let missing = || {
        let text = registry.encode();
        let is_shown = |name: &str| text.lines().any(|line| line.split(['{', ' ']).next() == Some(name));
        metrics(&spec).into_iter().filter(|name| !is_shown(name)).collect::<Vec<_>>()
    };
    // Requests are counted once the first response arrives.
    let shown = timeout(Duration::from_secs(30), async {
        while !missing().is_empty() {
            sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(shown.await.is_ok(), "{:?} in {}", missing(), registry.encode());
    stop.cancel();
    run.await.unwrap().unwrap();
    env.stop().await;
}

#[test]
fn every_alert_has_a_fault() {
    let (_project, spec) = rules();
    let alerts = spec["groups"][0]["rules"].as_array().unwrap();
    let names: Vec<&str> = alerts.iter().map(|rule| rule["alert"].as_str().unwrap()).collect();
    assert_eq!(names, FAULTS.iter().map(|fault| fault.alert).collect::<Vec<_>>());
}

#[test]
#[ignore = "needs promtool: hack/alerts.sh"]
fn alerts_fire_on_their_faults_only() {
    let (project, spec) = rules();
    let alerts = spec["groups"][0]["rules"].as_array().unwrap().clone();
    let names = || alerts.iter().map(|rule| rule["alert"].as_str().unwrap());
    let quiet: Vec<Value> = names().map(|name| expected(name, 100, &[])).collect();
    let mut tests = vec![test("healthy", &[], &quiet)];
    for Fault { alert, series, labels, quiet, also } in FAULTS {
        let rule = alerts.iter().find(|rule| rule["alert"] == *alert).unwrap();
        let labels: BTreeMap<_, _> = labels.iter().copied().collect();
        let mut firing = json!({"exp_labels": labels, "exp_annotations": rule["annotations"]});
        firing["exp_labels"]["severity"] = rule["labels"]["severity"].clone();
        let mut wanted: Vec<Value> = names()
            .filter(|name| name != alert && !also.contains(name))
            .map(|name| expected(name, 55, &[]))
            .collect();
        wanted.push(expected(alert, *quiet, &[]));
        wanted.push(expected(alert, 55, &[firing]));
        tests.push(test(alert, series, &wanted));
    }
    project.write("rules.json", spec.to_string());
    let file = json!({"rule_files": ["rules.json"], "evaluation_interval": "1m", "tests": tests});
    project.write("tests.json", file.to_string());
    let out = project
        .command("promtool")
        .args(["test", "rules", "tests.json"])
        .output()
        .expect("promtool is installed");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{text}");
    // The test fails when an alert does not fire.
    project.write("tests.json", file.to_string().replace("0+20x120", "0+5x120"));
    let out = project.command("promtool").args(["test", "rules", "tests.json"]).output().unwrap();
    assert!(!out.status.success());
}
