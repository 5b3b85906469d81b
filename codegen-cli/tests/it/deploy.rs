//! The manifests that run a manager; `testdata/cases/deploy` shows all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kubesmith_testenv::TestEnv;
use serde::Deserialize;
use serde_json::Value;

use crate::support::{self, Crate};

fn case() -> PathBuf {
    support::testdata().join("cases/deploy")
}

pub(crate) fn documents(text: &str) -> Vec<Value> {
    let documents =
        serde_yaml::Deserializer::from_str(text).map(|document| Value::deserialize(document).unwrap());
    documents.filter(|document| !document.is_null()).collect()
}

/// Kind, namespace and name.
fn key(object: &Value) -> String {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
    format!("{} {}/{}", text("/kind"), text("/metadata/namespace"), text("/metadata/name"))
}

/// The output of `kubectl kustomize`, because the tree has only lists of resources.
pub(crate) fn built(folder: &Path) -> Vec<Value> {
    let list = fs::read_to_string(folder.join("kustomization.yaml")).unwrap();
    let list: Value = serde_yaml::from_str(&list).unwrap();
    let mut out = Vec::new();
    for resource in list["resources"].as_array().unwrap() {
        let path = folder.join(resource.as_str().unwrap());
        match path.is_dir() {
            true => out.extend(built(&path)),
            false => out.extend(documents(&fs::read_to_string(&path).unwrap())),
        }
    }
    out
}

pub(crate) fn by_key(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let count = objects.len();
    let out: BTreeMap<String, Value> = objects.into_iter().map(|object| (key(&object), object)).collect();
    assert_eq!(out.len(), count, "an object is there twice");
    out
}

#[test]
fn expected_deployment_is_up_to_date() {
    let config = case().join("kubesmith.toml");
    let out = Command::new(env!("CARGO_BIN_EXE_kubesmith"))
        .args(["generate", "--check", "--config"])
        .arg(config)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
}

#[test]
fn installer_equals_the_built_tree() {
    let expected = case().join("expected");
    let tree = by_key(built(&expected.join("config/default")));
    let installer = by_key(documents(&fs::read_to_string(expected.join("dist/install.yaml")).unwrap()));
    assert_eq!(tree.keys().collect::<Vec<_>>(), installer.keys().collect::<Vec<_>>());
    assert_eq!(tree, installer);
}

#[test]
fn references_between_manifests_have_targets() {
    let objects = by_key(built(&case().join("expected/config/default")));
    let namespace = "library-system";
    for object in objects.values() {
        let kind = object["kind"].as_str().unwrap();
        if kind.ends_with("RoleBinding") {
            let (subject, role) = (&object["subjects"][0], &object["roleRef"]);
            let account = format!("ServiceAccount {namespace}/{}", subject["name"].as_str().unwrap());
            assert!(objects.contains_key(&account), "{account}");
            let of = object["metadata"]["namespace"].as_str().unwrap_or("-");
            let role = format!("{} {of}/{}", role["kind"].as_str().unwrap(), role["name"].as_str().unwrap());
            assert!(objects.contains_key(&role), "{role}");
        }
        if kind == "Service" || kind == "ServiceMonitor" {
            let selector = &object["spec"]["selector"];
            let selector = selector.get("matchLabels").unwrap_or(selector);
            let pods = &objects[&format!("Deployment {namespace}/library-controller-manager")];
            assert_eq!(selector, &pods["spec"]["template"]["metadata"]["labels"], "{kind}");
        }
    }
    let webhooks = &objects["MutatingWebhookConfiguration -/library-mutating-webhook-configuration"];
    let service = &webhooks["webhooks"][0]["clientConfig"]["service"];
    let service =
        format!("Service {}/{}", service["namespace"].as_str().unwrap(), service["name"].as_str().unwrap());
    assert!(objects.contains_key(&service), "{service}");
    let certificate = &webhooks["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
    assert!(objects.contains_key(&format!("Certificate {}", certificate.as_str().unwrap())));
    let certificate =
        &objects[&format!("Certificate {namespace}/library-serving-cert")]["spec"]["secretName"];
    let pod =
        &objects[&format!("Deployment {namespace}/library-controller-manager")]["spec"]["template"]["spec"];
    assert_eq!(&pod["volumes"][0]["secret"]["secretName"], certificate);
}

/// Applies an object with strict decoding.
pub(crate) async fn apply(client: &Client, object: &Value) -> Result<(), String> {
    let (group, version) = object["apiVersion"]
        .as_str()
        .and_then(|text| text.split_once('/'))
        .unwrap_or(("", object["apiVersion"].as_str().unwrap_or_default()));
    let gvk = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap_or_default());
    // The plural that kube guesses is wrong for this one.
    let resource = match gvk.kind.as_str() {
        "Shelf" => ApiResource::from_gvk_with_plural(&gvk, "shelves"),
        _ => ApiResource::from_gvk(&gvk),
    };
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let params = PatchParams {
        field_validation: Some(kube::api::ValidationDirective::Strict),
        ..PatchParams::apply("t")
    };
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let applied = api.patch(name, &params, &Patch::Apply(object)).await;
    applied.map(drop).map_err(|error| format!("{}: {error}", key(object)))
}

#[tokio::test]
async fn server_accepts_the_installer_and_the_samples() {
    let env = TestEnv::builder().start().await.unwrap();
    let client = env.client();
    let expected = case().join("expected");
    apply(
        &client,
        &serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "readers"}}),
    )
    .await
    .unwrap();
    let mut others = Vec::new();
    for object in documents(&fs::read_to_string(expected.join("dist/install.yaml")).unwrap()) {
        let group = object["apiVersion"].as_str().unwrap().split('/').next().unwrap().to_string();
        // Their CRDs belong to other projects.
        if group == "cert-manager.io" || group == "monitoring.coreos.com" {
            others.push(object["kind"].as_str().unwrap().to_string());
            continue;
        }
        if object["kind"] == "MutatingWebhookConfiguration" {
            // It would be called without a server.
            continue;
        }
        apply(&client, &object).await.unwrap();
    }
    assert_eq!(others, ["Issuer", "Certificate", "Certificate", "ServiceMonitor"]);
    for (sample, fault) in [("shelf", None), ("book", Some("begins with Once"))] {
        let text =
            fs::read_to_string(expected.join(format!("config/samples/library.example.com_v1_{sample}.yaml")))
                .unwrap();
        let applied = apply(&client, &documents(&text)[0]).await;
        match fault {
            None => assert_eq!(applied, Ok(())),
            Some(fault) => {
                let refused = applied.unwrap_err();
                assert!(refused.contains(fault), "{refused}");
                assert!(text.contains("# To be completed") && text.contains(fault), "{text}");
            }
        }
    }
}

/// Kubernetes identifies roles by their names alone, and their files are in one folder.
#[test]
fn groups_have_their_own_roles_and_samples() {
    let tree = by_key(built(&case().join("expected/config/rbac")));
    let groups_of = |name: &str| {
        let role = &tree[&format!("ClusterRole -/library-{name}-role")];
        let rules: Vec<&Value> = role["rules"].as_array().unwrap().iter().collect();
        rules
            .iter()
            .map(|rule| format!("{} {}", rule["apiGroups"][0], rule["resources"][0]))
            .collect::<Vec<_>>()
    };
    let of = |group: &str, resource: &str| format!("\"{group}\" \"{resource}\"");
    // The first parts of two groups are the same. A version that its CRD omits does not affect the others.
    // One version with a status is enough.
    for (name, group, status) in [
        ("archive-book-admin", "archive.example.com", false),
        ("library.example.com-book-viewer", "library.example.com", true),
        ("library.example.org-book-editor", "library.example.org", true),
    ] {
        let mut wanted = vec![of(group, "books")];
        wanted.extend(status.then(|| of(group, "books/status")));
        assert_eq!(groups_of(name), wanted, "{name}");
    }
    let samples = built(&case().join("expected/config/samples"));
    let versions: Vec<&str> = samples.iter().map(|object| object["apiVersion"].as_str().unwrap()).collect();
    assert_eq!(
        versions,
        [
            "archive.example.com/v1",
            "library.example.com/v1",
            "library.example.com/v1",
            "library.example.org/v1",
            "library.example.org/v1beta1"
        ]
    );
}

const KIND: &str = "use kubesmith_runtime::{Resource, Schema};\nuse serde::{Deserialize, Serialize};\n\
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\n\
    #[derive(Clone, Debug, Default, Resource)]\n#[resource(group = \"a.example.com\", version = \"v1\", kind = \"Thing\")]\n\
    pub struct Thing { pub metadata: ObjectMeta, pub spec: Spec }\n\
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]\npub struct Spec { pub size: i32 }\n";

fn project(deploy: &str) -> Crate {
    let sample = Crate::new(KIND);
    let head = "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"webhook\", \"deploy\"]\n[deploy]\noutput = \"config\"\nname = \"thing\"\n";
    sample.write("kubesmith.toml", format!("{head}{deploy}"));
    sample
}

fn generate(sample: &Crate, more: &[&str]) -> String {
    let out = sample.run(&[&["generate"], more].concat());
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}\n{}", String::from_utf8_lossy(&out.stderr));
    text
}

#[test]
fn alerts_select_the_metrics_of_the_manager() {
    let sample = project("prometheus = true\nalerts = true\n");
    generate(&sample, &[]);
    let tree = sample.tree("config");
    assert!(tree["prometheus/kustomization.yaml"].contains("- rules.yaml\n"));
    let rule: Value = serde_yaml::from_str(&tree["prometheus/rules.yaml"]).unwrap();
    let monitored: Value = serde_yaml::from_str(&tree["default/metrics_service.yaml"]).unwrap();
    let job = format!("{{job={}", monitored["metadata"]["name"]);
    let alerts = rule["spec"]["groups"][0]["rules"].as_array().unwrap();
    let expressions: Vec<&str> = alerts.iter().map(|alert| alert["expr"].as_str().unwrap()).collect();
    assert_eq!(expressions.len(), 9);
    for expression in expressions {
        let parts: Vec<&str> = expression.split(&job).collect();
        let (last, before) = parts.split_last().unwrap();
        assert!(!before.is_empty() && !last.contains("{job"), "{expression}");
    }

    let sample = project("leader_election = false\nalerts = true\n");
    generate(&sample, &[]);
    assert!(!sample.tree("config")["prometheus/rules.yaml"].contains("leader_election"));

    let sample = project("shards = 3\nalerts = true\n");
    generate(&sample, &[]);
    assert!(sample.tree("config")["prometheus/rules.yaml"].contains("alert: ShardDown"));
}

/// As in kubebuilder's projects: TLS with the manager's own certificate, and users that the cluster authorizes.
#[test]
fn metrics_are_secure_without_cert_manager() {
    let tree = |deploy: &str| {
        let sample = project(deploy);
        generate(&sample, &[]);
        sample.tree("config")
    };
    let endpoint = |tree: &BTreeMap<String, String>| -> Value {
        let monitor: Value = serde_yaml::from_str(&tree["prometheus/monitor.yaml"]).unwrap();
        monitor.pointer("/spec/endpoints/0").unwrap().clone()
    };
    let usual = tree("");
    let manager = &usual["manager/manager.yaml"];
    for arg in ["--metrics-bind-address=:8443\n", "--metrics-secure\n", "--metrics-authorize\n"] {
        assert!(manager.contains(&format!("- {arg}")), "{manager}");
    }
    assert!(!manager.contains("--metrics-cert-path") && !manager.contains("volumes"), "{manager}");
    assert!(!usual.keys().any(|path| path.starts_with("certmanager")), "{:?}", usual.keys());
    assert!(usual["rbac/metrics_auth_role.yaml"].contains("subjectaccessreviews"));
    assert_eq!(endpoint(&usual)["tlsConfig"], serde_json::json!({"insecureSkipVerify": true}));

    let plain = tree("metrics_secure = false\n");
    let manager = &plain["manager/manager.yaml"];
    assert!(
        manager.contains("- --metrics-bind-address=:8080\n        - --metrics-secure=false\n"),
        "{manager}"
    );
    assert!(!plain.contains_key("rbac/metrics_auth_role.yaml"));
    assert_eq!(endpoint(&plain)["scheme"], "http");

    for settings in ["metrics_certificates = \"cert-manager\"\n", "metrics_secure = true\n"] {
        let issued = tree(settings);
        assert!(issued["manager/manager.yaml"].contains("- --metrics-cert-path="));
        assert!(issued.contains_key("certmanager/certificate_metrics.yaml"));
        assert_eq!(endpoint(&issued)["tlsConfig"]["ca"]["secret"]["name"], "thing-metrics-server-cert");
    }
    let own = "metrics_certificates = \"self-managed\"\n";
    for settings in ["certificates = \"self-managed\"\n", own] {
        let own = tree(&format!("metrics_secure = true\n{settings}"));
        assert!(!own.contains_key("certmanager/certificate_metrics.yaml"));
    }

    // The certificate of the webhooks is for the Service of the metrics too.
    let sample = project("certificates = \"self-managed\"\n");
    let conversion = "kind = \"Thing\", conversion(strategy = \"Webhook\", service_namespace = \"thing-system\", \
        service_name = \"thing-webhook-service\", path = \"/convert\")";
    sample.write("api/src/lib.rs", KIND.replace("kind = \"Thing\"", conversion));
    generate(&sample, &[]);
    let kept = sample.tree("config");
    let service = "thing-controller-manager-metrics-service";
    assert!(kept["manager/manager.yaml"].contains(&format!("- --metrics-service={service}\n")));
    let tls = &endpoint(&kept)["tlsConfig"];
    assert_eq!(tls["ca"]["secret"]["name"], "thing-webhook-server-cert");
    assert_eq!(tls["serverName"], format!("{service}.thing-system.svc"));
}

#[test]
fn disabled_parts_are_absent_from_the_tree() {
    let sample = project("leader_election = false\nmetrics_port = 0\n");
    generate(&sample, &[]);
    let tree = sample.tree("config");
    let folders = ["prometheus/", "webhook/", "certmanager/", "rbac/leader", "rbac/role", "default/metrics"];
    assert!(
        !tree.keys().any(|path| folders.iter().any(|folder| path.starts_with(folder))),
        "{:?}",
        tree.keys()
    );
    let manager = &tree["manager/manager.yaml"];
    assert!(manager.contains("--metrics-bind-address=0\n"), "{manager}");
    assert!(!manager.contains("leader-elect") && !manager.contains("volumes"), "{manager}");
    assert!(manager.contains("image: controller:latest\n"), "{manager}");

    // Not every cluster has the kind ServiceMonitor, so it is installed on demand.
    let sample = project("");
    generate(&sample, &[]);
    let tree = sample.tree("config");
    assert!(tree.contains_key("prometheus/monitor.yaml"));
    assert!(!tree["default/kustomization.yaml"].contains("prometheus"));

    // Without a version in a CRD, there is no sample.
    sample.write("api/src/lib.rs", KIND.replace("kind = \"Thing\"", "kind = \"Thing\", skip_version"));
    generate(&sample, &[]);
    let folders: Vec<String> = sample.tree("config").into_keys().collect();
    assert!(
        !folders.iter().any(|path| path.starts_with("samples") || path.starts_with("crd")),
        "{folders:?}"
    );
}

#[test]
fn webhook_service_is_deployed_for_a_conversion_alone() {
    let sample = project("");
    let converted = |service: &str| {
        let conversion = format!(
            "kind = \"Thing\", conversion(strategy = \"Webhook\", service_namespace = \"thing-system\", \
             service_name = \"{service}\", path = \"/convert\")"
        );
        sample.write("api/src/lib.rs", KIND.replace("kind = \"Thing\"", &conversion));
        generate(&sample, &[]);
        sample.tree("config")
    };
    let tree = converted("thing-webhook-service");
    assert!(tree["webhook/kustomization.yaml"].contains("- service.yaml\n"));
    assert!(!tree.contains_key("webhook/manifests.yaml"));
    assert!(tree["default/kustomization.yaml"].contains("- ../certmanager\n"));
    assert!(tree["manager/manager.yaml"].contains("secretName: thing-webhook-server-cert\n"));
    let tree = converted("another");
    assert!(!tree.contains_key("webhook/service.yaml") && !tree["manager/manager.yaml"].contains("volumes"));
}

#[test]
fn image_flag_overrides_the_file_for_one_run() {
    let sample = project("image = \"thing:v1\"\n");
    generate(&sample, &["--only", "deploy", "--image", "thing:v2"]);
    assert!(sample.tree("config")["manager/manager.yaml"].contains("image: thing:v2\n"));
    assert!(!sample.tree("config").contains_key("crd/bases/a.example.com_things.yaml"));
    generate(&sample, &[]);
    assert!(sample.tree("config")["manager/manager.yaml"].contains("image: thing:v1\n"));
    let out = sample.run(&["generate", "--only", "crd", "--image", "thing:v2"]);
    assert!(String::from_utf8_lossy(&out.stderr).contains("--image has no effect"));
}

#[test]
fn installer_has_the_image_of_a_run_and_the_tree_keeps_its_own() {
    let sample = project("image = \"thing:v1\"\ninstaller = \"dist/install.yaml\"\n");
    generate(&sample, &["--only", "deploy", "--image", "thing:v2"]);
    assert!(sample.tree("config")["manager/manager.yaml"].contains("image: thing:v1\n"));
    let installer = std::fs::read_to_string(sample.path("dist/install.yaml")).unwrap();
    assert!(installer.contains("image: thing:v2\n") && !installer.contains("thing:v1"), "{installer}");
}

#[test]
fn file_without_a_mark_is_kept() {
    let sample = project("installer = \"dist/install.yaml\"\n");
    generate(&sample, &[]);
    let mine = "apiVersion: a.example.com/v1\nkind: Thing\nmetadata:\n  name: mine\nspec:\n  size: 7\n";
    sample.write("config/samples/a_v1_thing.yaml", mine);
    sample.write("config/default/kustomization.yaml", "resources: [../manager]\n");
    let said = generate(&sample, &[]);
    assert_eq!(sample.tree("config")["samples/a_v1_thing.yaml"], mine);
    assert!(said.contains("kept files without a marker comment"), "{said}");
    assert!(said.contains("  config/samples/a_v1_thing.yaml\n"), "{said}");
    assert!(said.contains("config/default/kustomization.yaml"), "{said}");
    generate(&sample, &["--check"]);
}

#[test]
fn files_of_removed_kinds_are_removed() {
    let sample = project("");
    generate(&sample, &[]);
    sample.write(
        "config/overlays/mine/kustomization.yaml",
        &sample.tree("config")["default/kustomization.yaml"],
    );
    sample.write("api/src/lib.rs", KIND.replace("Thing", "Other"));
    generate(&sample, &[]);
    let tree = sample.tree("config");
    assert!(
        tree.contains_key("samples/a_v1_other.yaml") && tree.contains_key("rbac/a_other_viewer_role.yaml")
    );
    assert!(!tree.keys().any(|path| path.contains("thing")), "{:?}", tree.keys());
    assert!(tree.contains_key("overlays/mine/kustomization.yaml"), "a folder of another name");
}

#[test]
fn rules_of_programs_are_read_for_any_selection_of_generators() {
    let sample = project("");
    let rule = "#[kubesmith_runtime::rbac(groups = \"apps\", resources = \"deployments\", verbs = \"get\")]\nfn main() {}\n";
    sample.write("api/src/main.rs", rule);
    generate(&sample, &[]);
    assert!(sample.tree("config").contains_key("rbac/role_binding.yaml"));
    generate(&sample, &["--check", "--only", "deploy"]);
}
