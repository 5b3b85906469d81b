//! The rights that `crd_upgrade` generates are those of upgrades and migrations, and no others.

use std::fs;

use k8s_openapi::api::rbac::v1::PolicyRule;
use kubesmith_runtime::crd::{Action, ChangeCode, Migration, Upgrade, status};
use kubesmith_testenv::{TestEnv, User};
use serde_json::{Value, json};

use crate::deploy::{apply, documents};
use crate::support::Crate;

const API: &str = "use kubesmith_runtime::{Resource, Schema};\nuse serde::{Deserialize, Serialize};\n\
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\n\
    #[derive(Clone, Debug, Default, Resource)]\n#[resource(group = \"a.example.com\", version = \"v1\", kind = \"Thing\")]\n\
    pub struct Thing { pub metadata: ObjectMeta, pub spec: Spec }\n\
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]\npub struct Spec { pub size: i32 }\n";

/// The objects that are applied, and the definition, which the manager installs.
fn installer(deploy: &str) -> (Vec<Value>, Value) {
    let project = Crate::new(API);
    let head = "input = [\"api\"]\nonly = [\"crd\", \"rbac\", \"deploy\"]\n[deploy]\noutput = \"config\"\nname = \"thing\"\n\
        installer = \"dist/install.yaml\"\n";
    project.write("kubesmith.toml", format!("{head}{deploy}"));
    let out = project.run(&["generate"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let definition = fs::read_to_string(project.path("config/crd/bases/a.example.com_things.yaml")).unwrap();
    let objects = documents(&fs::read_to_string(project.path("dist/install.yaml")).unwrap());
    (objects, serde_yaml::from_str(&definition).unwrap())
}

fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> Option<&'a Value> {
    objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_rights_suffice_for_upgrades_and_migrations() {
    let role = "thing-crd-upgrade-role";
    assert!(find(&installer("").0, "ClusterRole", role).is_none());
    let (objects, mut definition) = installer("crd_upgrade = true\n");
    let mut env = TestEnv::builder().rbac(true).start().await.unwrap();
    for object in &objects {
        apply(&env.client(), object).await.unwrap();
    }
    let user = User {
        name: "system:serviceaccount:thing-system:thing-controller-manager".to_owned(),
        groups: vec!["system:serviceaccounts".to_owned(), "system:authenticated".to_owned()],
    };
    let client = env.add_user(&user).await.unwrap().client();
    let upgrade = |version| Upgrade::new("thing-operator", version).check_objects();
    let outcomes = upgrade("1.0.0").apply(&client, &[definition.clone()]).await.unwrap();
    assert_eq!(outcomes[0].action, Action::Created);
    let thing = json!({"apiVersion": "a.example.com/v1", "kind": "Thing",
        "metadata": {"name": "t", "namespace": "default"}, "spec": {"size": 1}});
    apply(&env.client(), &thing).await.unwrap();

    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let mut next = versions[0].clone();
    next["name"] = json!("v2");
    versions[0]["storage"] = json!(false);
    versions.push(next);
    let outcomes = upgrade("2.0.0").apply(&client, &[definition.clone()]).await.unwrap();
    assert_eq!(outcomes[0].action, Action::Updated);
    let rehearsed = Migration::new("things.a.example.com").dry_run().run(&client, |_| {}).await.unwrap();
    assert_eq!((rehearsed.rewritten, rehearsed.changes_total), (1, 0));
    let migrated = Migration::new("things.a.example.com").run(&client, |_| {}).await.unwrap();
    assert_eq!((migrated.rewritten, migrated.pruned), (1, vec!["v1".to_owned()]));
    definition["spec"]["versions"][0]["served"] = json!(false);
    let unserved = upgrade("2.1.0").allow(ChangeCode::VersionUnserved);
    unserved.apply(&client, &[definition]).await.unwrap();
    status(&client, "things.a.example.com").await.unwrap();

    let rules = find(&objects, "ClusterRole", role).unwrap()["rules"].clone();
    let rules: Vec<PolicyRule> = serde_json::from_value(rules).unwrap();
    assert_eq!(env.unused_permissions(&user, &rules).unwrap(), Vec::<String>::new());
    env.stop().await;
}
