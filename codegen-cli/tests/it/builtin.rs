//! Kinds of Kubernetes in kubesmith.toml: the generated code, and the errors about unknown names.

use std::path::Path;

use kubesmith::config::{self, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::ir::{Scope, Verb};
use kubesmith::known::kinds;
use kubesmith::pipeline::{self, Generated};
use kubesmith_testenv::TestEnv;
use serde_json::Value;

use crate::support::{Crate, USES};

/// Generates from the configuration in the sample's folder.
fn generate(sample: &Crate, configuration: &str) -> Generated {
    sample.write("kubesmith.toml", configuration);
    let file = sample.path("kubesmith.toml");
    pipeline::generate(&config::settings(Some(&file), Overrides::default()).unwrap()[0])
}

/// The output for the user, without the folder.
fn shown(sample: &Crate, generated: &Generated) -> String {
    let text =
        diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Human, diag::Style::Plain);
    text.replace(&format!("{}/", sample.dir.path().display()), "")
}

fn files(generated: &Generated) -> Vec<String> {
    let trees = generated.targets.iter().flat_map(|target| target.tree.iter());
    trees.map(|(path, _)| path.to_string()).collect()
}

/// A kind in this group.
fn own(group: &str, kind: &str) -> Crate {
    Crate::new(&format!(
        "{USES}\n#[derive(Clone, Debug, Default, PartialEq, Resource)]\n\
         #[resource(group = \"{group}\", version = \"v1\")]\n#[genclient]\npub struct {kind} {{\n    \
         pub metadata: ObjectMeta,\n    pub spec: {kind}Spec,\n}}\n\n\
         #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\npub struct {kind}Spec {{}}\n"
    ))
}

#[test]
fn unknown_built_in_kinds_are_errors_with_help() {
    let sample = Crate::new("");
    let generated = generate(
        &sample,
        r#"[client]
output = "out"
crate_name = "client"
kinds = [
    "v1/Pod",
    "apps/v1/Deploymnet",
    "apps/v1beta1/Deployment",
    "deployments.apps",
    "app/v1",
    "Lease",
    "HorizontalPodAutoscaler",
    "v1/Pod",
    "apps/v1/StatefulSet",
    "apps/v1",
    "policy/v1/Eviction",
    "",
    "\"\n",
]
"#,
    );
    assert!(generated.targets.is_empty());
    insta::assert_snapshot!(shown(&sample, &generated));
}

#[test]
fn own_groups_and_kinds_do_not_collide_with_built_in_ones() {
    let configuration = |kinds: &str| {
        format!("input = [\"api\"]\n[crd]\noutput = \"crds\"\n[client]\noutput = \"out\"\nkinds = {kinds}\n")
    };
    let sample = own("core.example.com", "Part");
    let generated = generate(&sample, &configuration("[\"v1/Pod\"]"));
    insta::assert_snapshot!("own_group_of_the_same_name", shown(&sample, &generated));
    let sample = own("gateway.example.com", "Gateway");
    let generated = generate(&sample, &configuration("[\"networking.k8s.io/v1/Ingress\"]"));
    assert_eq!(shown(&sample, &generated), "");
    let sample = own("coordination.k8s.io", "Lease");
    let text = std::fs::read_to_string(sample.path("api/src/lib.rs")).unwrap();
    let approved = "api_approved = \"https://github.com/kubernetes/kubernetes/pull/1\", version =";
    sample.write("api/src/lib.rs", text.replace("version =", approved));
    let generated = generate(&sample, &configuration("[\"coordination.k8s.io/v1\"]"));
    insta::assert_snapshot!("own_kind_of_the_same_name", shown(&sample, &generated));
}

#[test]
fn built_in_kinds_add_only_clients() {
    let sample = own("shop.example.com", "Cart");
    let tables = "[crd]\noutput = \"crds\"\n[openapi]\noutput = \"openapi\"\n[docs]\noutput = \"docs\"\n[rbac]\noutput = \"rbac\"\n";
    let configuration = format!("input = [\"api\"]\n{tables}[client]\noutput = \"out\"\n");
    let alone = generate(&sample, &configuration);
    let both = generate(&sample, &format!("{configuration}kinds = [\"v1/ConfigMap\"]\n"));
    assert_eq!(shown(&sample, &both), "");
    let tree = |generated: &Generated, at: usize| {
        let tree = &generated.targets[at].tree;
        tree.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect::<Vec<_>>()
    };
    for (at, target) in alone.targets.iter().enumerate() {
        if target.root.ends_with("out") {
            continue;
        }
        assert_eq!(tree(&alone, at), tree(&both, at), "{}", target.root.display());
    }
    assert!(files(&both).contains(&"src/informers/core/v1.rs".to_string()), "{:?}", files(&both));
    assert!(files(&both).contains(&"src/applyconfigurations/core/v1.rs".to_string()));
    let without =
        generate(&sample, &format!("only = [\"crd\"]\n{configuration}kinds = [\"v1/ConfigMap\"]\n"));
    assert_eq!(files(&without), ["shop.example.com_carts.yaml"]);
}

/// No two groups or kinds of the whole table collide, and there is a client for each.
#[test]
fn all_built_in_kinds_fit_one_client() {
    let sample = Crate::new("");
    let mut names: Vec<String> =
        kinds::all().iter().map(|kind| format!("{:?}", kind.api_version())).collect();
    names.dedup();
    let configuration =
        format!("[client]\noutput = \"out\"\ncrate_name = \"client\"\nkinds = [{}]\n", names.join(", "));
    let generated = generate(&sample, &configuration);
    assert_eq!(shown(&sample, &generated), "");
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    let clients = files.filter(|(path, _)| path.starts_with("src/clientset/typed/"));
    let interfaces = clients.map(|(_, text)| text.matches("/// The verbs of a client of `").count());
    assert_eq!(interfaces.sum::<usize>(), kinds::all().len());
}

#[test]
fn only_a_client_is_generated_without_inputs() {
    let refused = |configuration: &str| {
        let sample = Crate::new("");
        sample.write("kubesmith.toml", configuration);
        config::settings(Some(&sample.path("kubesmith.toml")), Overrides::default()).unwrap_err().to_string()
    };
    let client = "[client]\noutput = \"out\"\nkinds = [\"v1/Pod\"]\n";
    assert!(refused(client).contains("set `crate_name` or `module`"));
    assert!(refused("[client]\noutput = \"out\"\ncrate_name = \"client\"\n").starts_with("no input"));
    let crds = format!("only = [\"crd\"]\n{client}crate_name = \"client\"\n[crd]\noutput = \"crds\"\n");
    assert!(refused(&crds).contains("only client, lister and informer are generated"));
    assert!(Path::new("../testdata/cases/built-in/expected/mod.rs").is_file());
}

/// The embedded server's discovery of its kinds, which was compared with kube-apiserver.
#[tokio::test]
async fn table_of_built_in_kinds_agrees_with_the_server() {
    let env = TestEnv::builder().start().await.unwrap();
    let client = env.client();
    let mut seen = 0;
    for kind in kinds::all() {
        let root = if kind.group.is_empty() { "api" } else { "apis" };
        let request = http::Request::get(format!("/{root}/{}", kind.api_version())).body(Vec::new()).unwrap();
        // Not every group-version is served.
        let Ok(list) = client.request::<Value>(request).await else { continue };
        let resources = list["resources"].as_array().unwrap();
        let Some(resource) = resources.iter().find(|it| it["name"] == kind.plural) else { continue };
        // client-go has all verbs for component statuses, which a server only lists and gets.
        if kind.plural == "componentstatuses" {
            continue;
        }
        seen += 1;
        assert_eq!(resource["kind"], kind.kind);
        assert_eq!(resource["namespaced"], kind.scope == Scope::Namespaced, "{}", kind.path);
        let served: Vec<&str> =
            resource["verbs"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for (verb, name) in
            [(Verb::Create, "create"), (Verb::Get, "get"), (Verb::List, "list"), (Verb::Watch, "watch")]
        {
            assert_eq!(kind.verbs.contains(&verb), served.contains(&name), "{name} {}", kind.path);
        }
        let status = format!("{}/status", kind.plural);
        let has_status = resources.iter().any(|it| it["name"] == status.as_str());
        assert_eq!(kind.verbs.contains(&Verb::UpdateStatus), has_status, "{}", kind.path);
    }
    assert!(seen > 40, "{seen}");
    env.stop().await;
}
