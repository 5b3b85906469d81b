//! Admission policies from the example of docs/guides/policies.md, on an API server.

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind};
use kubesmith_testenv::{TestEnv, User};
use serde_json::{Value, json};

use crate::deploy::{apply, documents};
use crate::support::{Crate, testdata};

/// A Rust listing of the page: of our dialect, or of kube-rs's.
fn listing(number: usize) -> String {
    let page = std::fs::read_to_string(testdata().join("../docs/guides/policies.md")).unwrap();
    page.split("```rust\n").nth(number + 1).unwrap().split("```").next().unwrap().to_owned()
}

fn oven(name: &str, degrees: i32) -> Value {
    json!({
        "apiVersion": "bakery.example.com/v1", "kind": "Oven",
        "metadata": {"name": name, "namespace": "default"}, "spec": {"degrees": degrees},
    })
}

#[tokio::test]
async fn policy_decisions_follow_the_attributes() {
    let project = Crate::new(&listing(0));
    let out = project.run(&["generate", "--input", "api", "--only", "crd,policy", "--output", "config"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let mut env = TestEnv::builder().start().await.unwrap();
    env.install_crds_from(project.path("config/crds")).await.unwrap();
    let client = env.client();
    for object in [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "bakery-system"}}),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "limits", "namespace": "bakery-system"}, "data": {"hottest": "300"},
        }),
    ] {
        apply(&client, &object).await.unwrap();
    }
    let policies = &project.tree("config/policy")["policies.yaml"];
    for object in documents(policies) {
        apply(&client, &object).await.unwrap();
    }
    // The user of a test environment is an administrator, whom the first policy exempts.
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("bakery.example.com", "v1", "Oven"));
    let ovens: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &resource);
    apply(&client, &oven("hot", 400)).await.unwrap();
    let made = ovens.get("hot").await.unwrap();
    assert_eq!(made.metadata.labels.unwrap()["heated"], "true", "the mutating policy has run");
    let refused = ovens.delete("hot", &DeleteParams::default()).await.unwrap_err().to_string();
    assert!(refused.contains("a hot oven cannot be removed"), "{refused}");

    let baker = env.add_user(&User { name: "baker".to_owned(), groups: Vec::new() }).await.unwrap();
    let refused = apply(&baker.client(), &oven("hotter", 301)).await.unwrap_err();
    assert!(refused.contains("an oven has at most 300 degrees"), "{refused}");
    apply(&baker.client(), &oven("warm", 300)).await.unwrap();
    env.stop().await;
}

#[tokio::test]
async fn policies_of_kube_rs_kinds_are_enforced() {
    // With the crate's name, the attribute needs no import.
    let qualified = listing(1).replace("#[policy(", "#[kubesmith_runtime::policy(");
    for source in [listing(1), qualified] {
        let project = Crate::new(&source);
        let out = project.run(&["generate", "--input", "api", "--only", "crd,policy", "--output", "config"]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let env = TestEnv::builder().start().await.unwrap();
        env.install_crds_from(project.path("config/crds")).await.unwrap();
        let objects = documents(&project.tree("config/policy")["policies.yaml"]);
        assert_eq!(objects.len(), 2, "a policy and its binding");
        for object in objects {
            apply(&env.client(), &object).await.unwrap();
        }
        apply(&env.client(), &oven("warm", 300)).await.unwrap();
        let refused = apply(&env.client(), &oven("hot", 301)).await.unwrap_err();
        assert!(refused.contains("heat.bakery.example.com"), "{refused}");
        env.stop().await;
    }
}

#[test]
fn policy_of_a_kube_rs_kind_is_checked_against_its_fields() {
    let source = listing(1).replace("object.spec.degrees <= 300", "object.spec.heat <= 300");
    let project = Crate::new(&source);
    let out = project.run(&["generate", "--input", "api", "--only", "crd,policy", "--output", "config"]);
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && text.contains("KS0805") && text.contains("heat"), "{text}");
}
