//! The Helm chart renders the objects of the installer.

mod crds;
mod namespace;
mod real;
mod render;
mod schema;
mod upgrade;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use kubesmith_testenv::TestEnv;

use crate::deploy::{apply, by_key, documents};
use crate::support::{Crate, testdata};

const API: &str = "use kubesmith_runtime::{Resource, Schema, rbac, webhook};\nuse serde::{Deserialize, Serialize};\n\
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\n\
    /// Braces stay: {{ .Values.manager.replicas }} and }}.\n\
    #[derive(Clone, Debug, Default, Resource)]\n\
    #[resource(group = \"shop.example.com\", version = \"v1\", kind = \"Item\", conversion(strategy = \"Webhook\", \
    service_namespace = \"shop-system\", service_name = \"shop-webhook-service\", path = \"/convert\"))]\n\
    #[rbac(groups = \"apps\", resources = \"deployments\", verbs = \"get\")]\n\
    #[rbac(groups = \"\", resources = \"secrets\", verbs = \"get\", namespace = \"elsewhere\")]\n\
    #[webhook(path = \"/validate\", mutating = false, failure_policy = \"Fail\", groups = \"shop.example.com\", \
    resources = \"items\", verbs(\"create\"), versions = \"v1\", name = \"items.shop.example.com\", side_effects = \"None\", \
    admission_review_versions = \"v1\")]\n\
    pub struct Item { pub metadata: ObjectMeta, pub spec: ItemSpec }\n\
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]\npub struct ItemSpec { pub size: i32 }\n";

fn shop(more: &str) -> Crate {
    let project = Crate::new(API);
    let config = format!(
        "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"webhook\", \"deploy\", \"helm\"]\n[deploy]\noutput = \"config\"\nname = \"shop\"\n\
         installer = \"dist/install.yaml\"\n{more}[helm]\noutput = \"charts/shop\"\n"
    );
    project.write("kubesmith.toml", config);
    generate(&project, &[]);
    project
}

fn generate(project: &Crate, more: &[&str]) {
    let out = project.run(&[&["generate"], more].concat());
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{text}");
}

fn values(chart: &Path) -> Value {
    serde_yaml::from_str(&fs::read_to_string(chart.join("values.yaml")).unwrap()).unwrap()
}

/// The values with these changes.
fn with(mut values: Value, changes: &[(&str, Value)]) -> Value {
    for (place, value) in changes {
        *values.pointer_mut(place).unwrap() = value.clone();
    }
    values
}

/// The text with which a template fails for these values.
fn failure(template: &str, values: &Value) -> Option<String> {
    let failed = std::panic::catch_unwind(|| render::render(template, values, "here")).err()?;
    failed.downcast_ref::<String>().cloned()
}

/// The objects of a chart.
fn rendered(chart: &Path, values: &Value, namespace: &str) -> BTreeMap<String, Value> {
    let mut out = Vec::new();
    for folder in fs::read_dir(chart.join("templates")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            out.extend(documents(&render::render(&text, values, namespace)));
        }
    }
    by_key(out)
}

/// The objects of an installer, as a chart has them: without the Namespace, and with CRDs that stay.
fn installed(text: &str) -> BTreeMap<String, Value> {
    let mut objects = by_key(documents(text));
    objects.retain(|_, object| object["kind"] != "Namespace");
    for object in objects.values_mut().filter(|object| object["kind"] == "CustomResourceDefinition") {
        object["metadata"]["annotations"]["helm.sh/resource-policy"] = json!("keep");
    }
    objects
}

/// The installer beside a chart of the repository, and its namespace.
fn installer(chart: &Path) -> (PathBuf, String) {
    let folders = chart.ancestors().skip(1);
    let found = folders.map(|folder| folder.join("dist/install.yaml")).find(|path| path.exists()).unwrap();
    let objects = documents(&fs::read_to_string(&found).unwrap());
    let namespace = objects.iter().find(|object| object["kind"] == "Namespace").unwrap();
    (found, namespace["metadata"]["name"].as_str().unwrap().to_owned())
}

#[test]
fn rendered_chart_equals_the_installer() {
    let projects = [
        shop(""),
        shop(
            "certificates = \"self-managed\"\nprometheus = true\nalerts = true\nargs = [\"-v=2\", \"--x=\\\"y\\\"\"]\n",
        ),
        shop("leader_election = false\nmetrics_port = 0\nimage = \"localhost:5000/a\"\nreplicas = 3\n"),
        shop(
            "certificates = \"self-managed\"\nmetrics_secure = false\ncrd_upgrade = true\nprometheus = true\n",
        ),
        shop("shards = 5\nenv = { LOG = \"debug\" }\n"),
    ];
    for project in projects {
        let chart = project.path("charts/shop");
        let wanted = installed(&fs::read_to_string(project.path("dist/install.yaml")).unwrap());
        let found = rendered(&chart, &values(&chart), "shop-system");
        assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
        for (key, object) in wanted {
            assert_eq!(found[&key], object, "{key}");
        }
    }
}

/// `shards` makes a StatefulSet. In the chart, one value sets the replicas and their number in the environment.
#[test]
fn sharded_manager_is_a_stateful_set() {
    let project = shop("shards = 5\n");
    let text = |path: &str| fs::read_to_string(project.path(path)).unwrap();
    insta::assert_snapshot!("sharded_manager", text("config/manager/manager.yaml"));
    insta::assert_snapshot!("sharded_manager_of_chart", text("charts/shop/templates/manager/manager.yaml"));
    let chart = project.path("charts/shop");
    let mut values = values(&chart);
    values["manager"]["replicas"] = json!(3);
    let key = "StatefulSet shop-system/shop-controller-manager";
    let set = rendered(&chart, &values, "shop-system").remove(key).unwrap();
    let env = set.pointer("/spec/template/spec/containers/0/env").unwrap();
    let replicas = env.as_array().unwrap().iter().find(|variable| variable["name"] == "REPLICAS").unwrap();
    assert_eq!((&set["spec"]["replicas"], &replicas["value"]), (&json!(3), &json!("3")));
}

#[tokio::test]
async fn server_accepts_a_sharded_manager() {
    let project = shop("shards = 5\n");
    let env = TestEnv::builder().start().await.unwrap();
    let installer = documents(&fs::read_to_string(project.path("dist/install.yaml")).unwrap());
    let is_needed = |object: &&Value| object["kind"] == "Namespace" || object["kind"] == "StatefulSet";
    let objects: Vec<&Value> = installer.iter().filter(is_needed).collect();
    assert_eq!(objects.len(), 2);
    for object in objects {
        apply(&env.client(), object).await.unwrap();
    }
    env.stop().await;
}

#[test]
fn chart_follows_namespace_and_values() {
    let project = shop("prometheus = true\nalerts = true\n");
    let chart = project.path("charts/shop");
    let usual = values(&chart);
    let with = |changes: &[(&str, Value)]| rendered(&chart, &with(usual.clone(), changes), "here");
    let all = with(&[]);
    let text = json!(all).to_string();
    assert!(!text.contains("shop-system"), "{text}");
    let rule = all["PrometheusRule here/shop-controller-manager-alerts"].to_string();
    assert!(rule.contains("namespace=\\\"here\\\""), "{rule}");
    let host = &all["Certificate here/shop-serving-cert"]["spec"]["dnsNames"][0];
    assert_eq!(host, "shop-webhook-service.here.svc");
    assert!(all.contains_key("Role elsewhere/shop-manager-role"), "{:?}", all.keys());
    for (place, gone) in [
        ("/crds/install", vec!["CustomResourceDefinition -/items.shop.example.com"]),
        ("/rbac/userRoles", vec!["ClusterRole -/shop-shop-item-viewer-role"]),
        ("/rbac/create", vec!["ClusterRole -/shop-manager-role", "Role here/shop-leader-election-role"]),
        ("/serviceAccount/create", vec!["ServiceAccount here/shop-controller-manager"]),
        ("/metrics/enabled", vec!["Service here/shop-controller-manager-metrics-service"]),
        (
            "/webhooks/enabled",
            vec![
                "ValidatingWebhookConfiguration -/shop-validating-webhook-configuration",
                "Service here/shop-webhook-service",
                "Certificate here/shop-serving-cert",
            ],
        ),
    ] {
        let less = with(&[(place, json!(false)), ("/crds/install", json!(false))]);
        for key in gone {
            assert!(all.contains_key(key) && !less.contains_key(key), "{place}: {key} of {:?}", all.keys());
        }
    }
    let container = |objects: &BTreeMap<String, Value>| {
        objects["Deployment here/shop-controller-manager"]
            .pointer("/spec/template/spec/containers/0")
            .unwrap()
            .clone()
    };
    let off = |place| (place, json!(false));
    let bare = container(&with(&[off("/webhooks/enabled"), off("/crds/install"), off("/metrics/enabled")]));
    assert_eq!(bare["env"], json!([{"name": "ENABLE_WEBHOOKS", "value": "false"}]));
    assert!(bare.get("volumeMounts").is_none_or(Value::is_null), "{bare}");
    assert!(bare["args"].as_array().unwrap().contains(&json!("--metrics-bind-address=0")), "{bare}");
    let changed = container(&with(&[
        ("/manager/image/tag", json!("v9")),
        ("/manager/image/pullPolicy", json!("Always")),
        ("/manager/env", json!([{"name": "A", "value": "b: c"}])),
        ("/metrics/port", json!(9090)),
    ]));
    assert_eq!((&changed["image"], &changed["imagePullPolicy"]), (&json!("controller:v9"), &json!("Always")));
    assert_eq!(changed["env"], json!([{"name": "A", "value": "b: c"}]));
    assert_eq!(changed["ports"][0]["containerPort"], 9090);
    assert_eq!(monitor_tls(&with(&[])), json!({"insecureSkipVerify": true}));
    let unkept = with(&[("/crds/keep", json!(false))]);
    let annotations = &unkept["CustomResourceDefinition -/items.shop.example.com"]["metadata"]["annotations"];
    assert!(annotations.get("helm.sh/resource-policy").is_none());
}

fn monitor_tls(objects: &BTreeMap<String, Value>) -> Value {
    let monitor = &objects["ServiceMonitor here/shop-controller-manager-metrics-monitor"];
    monitor.pointer("/spec/endpoints/0/tlsConfig").unwrap().clone()
}

/// Without webhooks, the manager has no certificate that Prometheus could verify.
#[test]
fn monitor_verifies_the_certificate_of_the_webhooks_if_there_is_one() {
    let project = shop("certificates = \"self-managed\"\nprometheus = true\n");
    let chart = project.path("charts/shop");
    let mut values = values(&chart);
    let tls = monitor_tls(&rendered(&chart, &values, "here"));
    let host = "shop-controller-manager-metrics-service.here.svc";
    let authority = json!({"secret": {"key": "ca.crt", "name": "shop-webhook-server-cert"}});
    assert_eq!(tls, json!({"ca": authority, "serverName": host}));
    values["webhooks"]["enabled"] = json!(false);
    values["crds"]["install"] = json!(false);
    let objects = rendered(&chart, &values, "here");
    assert_eq!(monitor_tls(&objects), json!({"insecureSkipVerify": true}));
    let manager = objects["Deployment here/shop-controller-manager"].to_string();
    assert!(manager.contains("--metrics-secure") && !manager.contains("--metrics-service"), "{manager}");
}

/// A schema could not say why a port is refused.
#[test]
fn metrics_port_that_the_manager_listens_on_already_fails_the_template() {
    let project = shop("");
    let chart = project.path("charts/shop");
    let manager = fs::read_to_string(chart.join("templates/manager/manager.yaml")).unwrap();
    let failure = |changes: &[(&str, Value)]| failure(&manager, &with(values(&chart), changes));
    let port = |port: u16| ("/metrics/port", json!(port));
    assert_eq!(failure(&[port(8081)]).unwrap(), "\"metrics.port: 8081 is the port of the probes\"");
    assert_eq!(failure(&[port(9443)]).unwrap(), "\"metrics.port: 9443 is the port of webhooks\"");
    assert_eq!(failure(&[port(9443), ("/webhooks/enabled", json!(false))]), None);
    assert_eq!(failure(&[port(8081), ("/metrics/enabled", json!(false))]), None);
    assert_eq!(failure(&[port(9090)]), None);
}

/// Helm removes a value that is `null`. The schema names the values that the templates need.
#[test]
fn schema_knows_needed_values_and_those_of_other_charts() {
    let chart = testdata().join("../examples/crontab/charts/crontab");
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(chart.join("values.schema.json")).unwrap()).unwrap();
    let said = |change: &dyn Fn(&mut Value)| {
        let mut values = values(&chart);
        change(&mut values);
        schema::refusals(&schema, &values)
    };
    for place in ["/manager", "/manager/image", "/manager/image/repository", "/metrics/port", "/metrics"] {
        let (parent, key) = place.rsplit_once('/').unwrap();
        let found =
            said(&|values| drop(values.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key)));
        assert!(matches!(&found[..], [one] if one.contains("required")), "{place}: {found:?}");
    }
    assert_eq!(said(&|values| drop(values["manager"].as_object_mut().unwrap().remove("resources"))), [""; 0]);
    assert_eq!(said(&|values| values["global"] = json!({"registry": "r"})), [""; 0]);
    assert_eq!(said(&|values| values["enabled"] = json!(true)), [""; 0]);
    let number = json!([{"name": "PORT", "value": 8080}]);
    let found = said(&|values| values["manager"]["env"] = number.clone());
    assert!(matches!(&found[..], [one] if one.starts_with(".manager.env[0].value: ")), "{found:?}");
}

#[test]
fn values_schema_has_every_value() {
    fn same(values: &Value, schema: &Value, place: &str) {
        let Some(properties) = schema.get("properties") else { return };
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert!(keys(values).is_subset(&keys(properties)), "{place}");
        for (key, value) in values.as_object().unwrap() {
            same(value, &properties[key], &format!("{place}.{key}"));
        }
    }
    let chart = testdata().join("cases/deploy/expected/chart");
    let schema = fs::read_to_string(chart.join("values.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    same(&values(&chart), &schema, "");
    assert_eq!(schema["properties"]["manager"]["properties"]["replicas"]["type"], "integer");
}

/// Overwrites values, as Helm does with those of `--values`.
fn merge(values: &mut Value, changes: &Value) {
    match (values, changes) {
        (Value::Object(values), Value::Object(changes)) => {
            for (key, change) in changes {
                merge(values.entry(key).or_insert(Value::Null), change);
            }
        }
        (values, changes) => *values = changes.clone(),
    }
}

/// A value with nothing but what the schema requires.
fn least(root: &Value, schema: &Value) -> Value {
    let schema = schema::resolved(root, schema);
    let name = match &schema["type"] {
        Value::Array(types) => &types[0],
        one => one,
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let of = |key: &Value| {
        let key = key.as_str().unwrap();
        (key.to_owned(), least(root, &schema["properties"][key]))
    };
    match name.as_str() {
        Some("object") => required.iter().map(of).collect(),
        Some("array") => json!([]),
        Some("string") if schema.get("pattern").is_some() => json!("1"),
        Some("string") => json!("a"),
        Some("boolean") => json!(false),
        _ => json!(1),
    }
}

/// Returns values that a schema refuses at one place, with that place. `seen` has the definitions that
/// already have values.
fn wrong_values(root: &Value, schema: &Value, seen: &mut BTreeSet<String>) -> Vec<(String, Value)> {
    if schema.get("$ref").is_some_and(|name| !seen.insert(name.to_string())) {
        return Vec::new();
    }
    let schema = schema::resolved(root, schema);
    let mut out = Vec::new();
    for value in [json!(true), json!("x"), json!(7), json!(1.5), json!([]), json!({})] {
        if schema
            .get("type")
            .is_some_and(|_| !schema::refusals(&json!({"type": schema["type"]}), &value).is_empty())
        {
            out.push((String::new(), value));
        }
    }
    let mut inside = |schema: &Value, place: &str, around: &dyn Fn(Value) -> Value| {
        let inner = wrong_values(root, schema, seen).into_iter();
        out.extend(inner.map(|(inner, value)| (format!("{place}{inner}"), around(value))));
    };
    let with = |key: &str, value: Value| {
        let mut object = least(root, schema);
        object[key] = value;
        object
    };
    for (keyword, limit) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "items" => inside(limit, "[0]", &|value| json!([value])),
            "properties" => {
                for (key, schema) in limit.as_object().unwrap() {
                    inside(schema, &format!(".{key}"), &|value| with(key, value));
                }
            }
            "additionalProperties" if limit.is_object() => inside(limit, ".a", &|value| json!({"a": value})),
            _ => {}
        }
    }
    for (keyword, limit) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "enum" => out.push((String::new(), json!("Sometimes"))),
            "pattern" => out.push((String::new(), json!("1 Mi"))),
            "minLength" => out.push((String::new(), json!(""))),
            "maxLength" => {
                let length = usize::try_from(limit.as_u64().unwrap()).unwrap();
                out.push((String::new(), json!("a".repeat(length + 1))));
            }
            "minimum" => out.push((String::new(), json!(limit.as_i64().unwrap() - 1))),
            "maximum" => out.push((String::new(), json!(limit.as_i64().unwrap() + 1))),
            "additionalProperties" if *limit == json!(false) => {
                out.push((".misspelt".to_owned(), with("misspelt", json!(1))));
            }
            _ => {}
        }
    }
    out
}

/// The charts of the repository.
fn charts() -> Vec<PathBuf> {
    let examples = fs::read_dir(testdata().join("../examples")).unwrap();
    let folders = examples.filter_map(|example| fs::read_dir(example.unwrap().path().join("charts")).ok());
    let mut out: Vec<PathBuf> = folders.flatten().map(|chart| chart.unwrap().path()).collect();
    assert!(out.len() >= 4, "{out:?}");
    out.push(testdata().join("cases/deploy/expected/chart"));
    out
}

/// Every value of a wrong type, out of its range or with a misspelt name is refused at its place. Where Helm is installed, it
/// refuses those of one chart too.
#[test]
fn wrong_values_are_refused_at_their_place() {
    let mut count: usize = 0;
    for chart in charts() {
        let text = fs::read_to_string(chart.join("values.schema.json")).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        let usual = values(&chart);
        assert_eq!(schema::refusals(&schema, &usual), [""; 0], "{}", chart.display());
        let wrongs = wrong_values(&schema, &schema, &mut BTreeSet::new());
        // The schemas of charts have the same parts.
        let every = if chart.ends_with("crontab") { 1 } else { 10 };
        for (place, wrong) in wrongs.into_iter().filter(|(_, wrong)| wrong.is_object()).step_by(every) {
            let mut values = usual.clone();
            merge(&mut values, &wrong);
            let refusals = schema::refusals(&schema, &values);
            assert!(
                matches!(&refusals[..], [one] if one.starts_with(&format!("{place}: "))),
                "{}: {wrong}: {refusals:?}",
                chart.display()
            );
            count += 1;
            if every > 1 || !count.is_multiple_of(25) {
                continue;
            }
            if let Some(out) = real::helm(&["template", "a"], &chart, &wrong) {
                let said = String::from_utf8_lossy(&out.stderr);
                assert!(
                    !out.status.success() && said.contains("values don't meet the specifications"),
                    "{wrong}: {said}"
                );
            }
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn hand_edits_survive_a_second_run() {
    let project = shop("");
    let add = |file: &str, name: &str, lines: &str| {
        let text = fs::read_to_string(project.path(file)).unwrap();
        let begin = format!("# +kubesmith:keep begin {name}\n");
        assert!(text.contains(&begin), "{file}");
        project.write(file, text.replace(&begin, &format!("{begin}{lines}")));
    };
    add(
        "charts/shop/Chart.yaml",
        "chart",
        "icon: https://example.com/i.png\ndependencies: [{name: postgresql, version: 1.0.0, repository: 'oci://a', alias: db}]\n",
    );
    add("charts/shop/values.yaml", "values", "mine:\n  size: 3\n");
    add(
        "charts/shop/templates/manager/manager.yaml",
        "pod",
        "      hostNetwork: {{ gt .Values.mine.size 2 }}\n",
    );
    project.write("charts/shop/templates/mine.yaml", "kind: ConfigMap\n");
    // The schema refuses unused values, so it has to contain the new ones.
    generate(&project, &[]);
    let schema = fs::read_to_string(project.path("charts/shop/values.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    for name in ["mine", "db"] {
        assert_eq!(schema["properties"][name], json!({}), "{name}");
    }
    let before = project.tree("charts/shop");
    generate(&project, &["--check"]);
    project.write("api/src/lib.rs", API.replace("pub size: i32", "pub size: i32, pub color: String"));
    generate(&project, &[]);
    let after = project.tree("charts/shop");
    for file in ["Chart.yaml", "values.yaml", "templates/manager/manager.yaml", "templates/mine.yaml"] {
        assert_eq!(before[file], after[file], "{file}");
    }
    let crd = "templates/crd/shop.example.com_items.yaml";
    assert!(after[crd].contains("color") && !before[crd].contains("color"));

    // A file without its first comment belongs to the user. A section without an end is an error.
    project.write("charts/shop/values.yaml", "mine: {}\n");
    generate(&project, &[]);
    assert_eq!(project.tree("charts/shop")["values.yaml"], "mine: {}\n");
    let text = after["Chart.yaml"].replace("# +kubesmith:keep end chart\n", "");
    project.write("charts/shop/Chart.yaml", text);
    let out = project.run(&["generate"]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && said.contains("the section `chart`"), "{said}");
}
