//! Charts rendered with many values: Helm, if it is on the PATH, and the renderer of these tests have the
//! same result.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::{charts, installed, installer, merge, rendered, schema, values};
use crate::deploy::{by_key, documents};
use crate::support::testdata;

/// The output of Helm; `None` if it is not installed, which is an error if `EXPECT_HELM` is set.
pub(super) fn helm(arguments: &[&str], chart: &Path, values: &Value) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.yaml");
    fs::write(&file, values.to_string()).unwrap();
    let mut command = Command::new("helm");
    match command.args(arguments).arg(chart).arg("--values").arg(&file).output() {
        Ok(out) => Some(out),
        Err(error) => {
            assert!(!is_expected(), "helm: {error}");
            None
        }
    }
}

/// Reports whether Helm is on the PATH.
pub(super) fn is_installed() -> bool {
    let found = Command::new("helm").arg("version").output();
    assert!(found.is_ok() || !is_expected(), "helm does not run");
    found.is_ok()
}

/// Reports whether the script that runs the tests has found Helm.
fn is_expected() -> bool {
    std::env::var_os("EXPECT_HELM").is_some_and(|value| !value.is_empty())
}

/// The objects that Helm prints.
fn rendered_by_helm(chart: &Path, changes: &Value, namespace: &str) -> Option<BTreeMap<String, Value>> {
    let out = helm(&["template", "release", "--namespace", namespace], chart, changes)?;
    assert!(out.status.success(), "{changes}: {}", String::from_utf8_lossy(&out.stderr));
    Some(by_key(documents(&String::from_utf8(out.stdout).unwrap())))
}

/// Values that users set, each of another part of the chart.
fn parts() -> Vec<Value> {
    let term = json!({"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": "kubernetes.io/hostname"});
    vec![
        json!({"manager": {"image": {"repository": "localhost:5000/a/b", "tag": "", "pullPolicy": "Always"}}}),
        json!({"manager": {"replicas": 0, "priorityClassName": "system-cluster-critical", "terminationGracePeriodSeconds": 1_000_000}}),
        json!({"manager": {"args": ["-v=2", "yes", "--x=\"y z\"", "012", "a: b", "{{ .Values }}"]}}),
        json!({"manager": {"env": [
            {"name": "A", "value": "yes"}, {"name": "N", "value": "1e3"}, {"name": "LINES", "value": "a\nb\n"},
            {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}}]}}),
        json!({"manager": {"envFrom": [{"prefix": "P_", "configMapRef": {"name": "c"}}, {"secretRef": {"name": "s"}}]}}),
        json!({"manager": {"resources": {"limits": {"cpu": 2, "memory": "1Gi"}, "requests": {"cpu": "0.5"}}}}),
        json!({"manager": {"resources": {"limits": null, "requests": null}}}),
        json!({"manager": {"nodeSelector": {"kubernetes.io/os": "linux", "on": "true"}}}),
        json!({"manager": {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}]}}),
        json!({"manager": {"affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}]}},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}}}}),
        json!({"manager": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]}}),
        json!({"manager": {"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}}),
        json!({"manager": {"podSecurityContext": {"fsGroup": 2_000_000, "seccompProfile": null}}}),
        json!({"manager": {"securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"]}, "runAsUser": 1_000_001}}}),
        json!({"manager": {"securityContext": null, "podSecurityContext": null}}),
        json!({"manager": {"livenessProbe": {"periodSeconds": 5}, "readinessProbe": {"httpGet": null, "exec": {"command": ["true"]}}}}),
        json!({"manager": {"volumes": [{"name": "cache", "emptyDir": {"sizeLimit": "1Gi"}}],
            "volumeMounts": [{"name": "cache", "mountPath": "/cache"}]}}),
        json!({"crds": {"install": false}}),
        json!({"crds": {"keep": false}}),
        json!({"rbac": {"create": false, "userRoles": false}}),
        json!({"serviceAccount": {"create": false, "name": "other"}}),
        json!({"serviceAccount": {"annotations": {"a.b/c": "arn:aws:iam::1:role/x", "n": "1"}}}),
        json!({"leaderElection": {"enabled": true}}),
        json!({"leaderElection": {"enabled": false}}),
        json!({"metrics": {"enabled": false}}),
        json!({"metrics": {"port": 9090, "serviceMonitor": {"enabled": true}}}),
        json!({"webhooks": {"enabled": false}, "crds": {"install": false}}),
        json!({"policies": {"enabled": false}}),
        json!({"global": {"registry": "r"}, "enabled": true}),
    ]
}

/// The parts of a chart, one by one, and in mixtures.
fn mixtures(chart: &Path) -> Vec<Value> {
    let usual = values(chart);
    let has = |part: &Value| {
        part.as_object()
            .unwrap()
            .keys()
            .all(|table| usual.get(table).is_some() || table == "global" || table == "enabled")
    };
    let parts: Vec<Value> = parts().into_iter().filter(has).collect();
    let mut out = parts.clone();
    let mut seed: usize = 1;
    while out.len() < 55 {
        let mut mixture = json!({});
        for _ in 0..4 {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
            merge(&mut mixture, &parts[(seed >> 8) % parts.len()]);
        }
        out.push(mixture);
    }
    out
}

/// Removes what is `null`, as Helm does.
fn without_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, member| !member.is_null());
        members.values_mut().for_each(without_nulls);
    }
}

#[test]
fn helm_renders_the_installers_objects() {
    for chart in charts() {
        let (path, namespace) = installer(&chart);
        let wanted = installed(&fs::read_to_string(path).unwrap());
        let ours = rendered(&chart, &values(&chart), &namespace);
        let helms = rendered_by_helm(&chart, &json!({}), &namespace);
        for found in std::iter::once(ours).chain(helms) {
            assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
            for (key, object) in &wanted {
                assert_eq!(found[key], *object, "{}: {key}", chart.display());
            }
        }
        if let Some(out) = helm(&["lint"], &chart, &json!({})) {
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
        }
    }
}

#[test]
fn renderer_agrees_with_helm_for_many_values() {
    for chart in charts() {
        let schema = fs::read_to_string(chart.join("values.schema.json")).unwrap();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let usual = values(&chart);
        for changes in mixtures(&chart) {
            let mut values = usual.clone();
            merge(&mut values, &changes);
            without_nulls(&mut values);
            assert_eq!(schema::refusals(&schema, &values), [""; 0], "{changes}");
            // For Helm, a missing value is null.
            for (table, keys) in usual.as_object().unwrap() {
                for key in keys.as_object().unwrap().keys() {
                    let table = values[table].as_object_mut().unwrap();
                    table.entry(key.clone()).or_insert(Value::Null);
                }
            }
            let ours = rendered(&chart, &values, "there");
            // The templates of other charts are the same.
            if !chart.ends_with("crontab") && !chart.ends_with("chart") {
                continue;
            }
            let Some(helms) = rendered_by_helm(&chart, &changes, "there") else { continue };
            assert_eq!(ours.keys().collect::<Vec<_>>(), helms.keys().collect::<Vec<_>>(), "{changes}");
            for (key, object) in &helms {
                assert_eq!(ours[key], *object, "{changes}: {key}");
            }
        }
    }
}

/// A value that Kubernetes would refuse, or that Helm would print as `5e+09`.
#[test]
fn replicas_and_names_of_accounts_are_those_of_kubernetes() {
    let chart = testdata().join("cases/deploy/expected/chart");
    let schema = fs::read_to_string(chart.join("values.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let replicas = |number: u64| json!({"manager": {"replicas": number}});
    let account = |name: &str| json!({"serviceAccount": {"name": name}});
    for (changes, is_valid) in [
        (replicas(2_147_483_647), true),
        (replicas(5_000_000_000), false),
        (account("a.b-c"), true),
        (account("Bad Name"), false),
        (account(""), false),
        (account(&"a".repeat(254)), false),
    ] {
        let mut values = values(&chart);
        merge(&mut values, &changes);
        assert_eq!(schema::refusals(&schema, &values).is_empty(), is_valid, "{changes}");
        if let Some(out) = helm(&["template", "a"], &chart, &changes) {
            assert_eq!(out.status.success(), is_valid, "{changes}: {}", String::from_utf8_lossy(&out.stderr));
            let printed = String::from_utf8_lossy(&out.stdout);
            assert!(!is_valid || !printed.contains("replicas: 2.147"), "{printed}");
        }
    }
}

#[test]
fn reserved_keys_of_the_pod_are_those_of_its_template() {
    let chart = testdata().join("cases/deploy/expected/chart");
    let text = fs::read_to_string(chart.join("templates").join(kubesmith::emit::helm::MANAGER)).unwrap();
    let (_, pod) = text.split_once("\n    spec:\n").unwrap();
    let indent = " ".repeat(kubesmith::emit::helm::POD_COLUMN);
    let keys = pod.lines().filter_map(|line| {
        let (key, _) = line.strip_prefix(&indent)?.split_once(':')?;
        key.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(key)
    });
    assert_eq!(keys.collect::<BTreeSet<_>>(), BTreeSet::from(kubesmith::emit::helm::POD_KEYS));
}
