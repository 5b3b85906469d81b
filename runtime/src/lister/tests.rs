use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::ObjectMeta;

use super::Lister;
use crate::cache::{ObjectKey, store};
use crate::labels::Selector;

fn map(namespace: &str, name: &str, tier: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some([("tier".to_owned(), tier.to_owned())].into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

fn names(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    objects.iter().map(|object| ObjectKey::of(&**object).to_string()).collect()
}

#[test]
fn lists_are_sorted_and_filtered() {
    let mut writer = store();
    for (namespace, name, tier) in
        [("b", "x", "gold"), ("a", "z", "gold"), ("a", "y", "tin"), ("a-b", "w", "gold")]
    {
        let object = map(namespace, name, tier);
        writer.insert(&ObjectKey::of(&object), Arc::new(object));
    }
    let lister = Lister::new(writer.reader());
    assert_eq!(names(&lister.list(&Selector::everything())), ["a/y", "a/z", "a-b/w", "b/x"]);
    let gold: Selector = "tier=gold".parse().unwrap();
    assert_eq!(names(&lister.list(&gold)), ["a/z", "a-b/w", "b/x"]);
    assert_eq!(names(&lister.namespace("a").list(&gold)), ["a/z"]);
    assert!(lister.list(&Selector::nothing()).is_empty());
    assert!(lister.namespace("a").get("y").is_ok());
}

#[test]
fn not_found_error_has_client_gos_text() {
    let nodes = Lister::<Node>::new(store().reader());
    assert_eq!(nodes.get("x").unwrap_err().to_string(), "node \"x\" not found");
    let deployments = Lister::<k8s_openapi::api::apps::v1::Deployment>::new(store().reader());
    assert_eq!(
        deployments.namespace("default").get("x").unwrap_err().to_string(),
        "deployment.apps \"x\" not found"
    );
}
