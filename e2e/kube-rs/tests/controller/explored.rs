//! Controllers of kube-runtime, unmodified, explored in the simulation: one that marks a shirt as printed before its config map
//! is there, and one that does it the right way round.

use std::path::Path;

use kubesmith_testenv::{Explore, Failed, Report};

use super::{
    Action, Api, Arc, Client, ConfigMap, Controller, Duration, DynamicObject, ObjectMeta, Patch, PatchParams,
    Resource, ResourceExt, StreamExt, json, shirts, watcher,
};

const SHIRT: &str = "
apiVersion: shop.example.com/v1
kind: Shirt
metadata: {name: blue, namespace: default}
spec: {color: blue}
";

async fn print(shirt: &DynamicObject, client: &Client) -> kube::Result<()> {
    let owner = shirt.controller_owner_ref(&shirts()).unwrap();
    let metadata = ObjectMeta {
        name: Some(shirt.name_any()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    let map = ConfigMap { metadata, ..ConfigMap::default() };
    let mut map = serde_json::to_value(map).unwrap();
    (map["apiVersion"], map["kind"]) = (json!("v1"), json!("ConfigMap"));
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    maps.patch(&shirt.name_any(), &PatchParams::apply("printer").force(), &Patch::Apply(map)).await?;
    Ok(())
}

async fn mark(shirt: &DynamicObject, client: &Client) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &shirts());
    let mark = json!({"metadata": {"annotations": {"printed": "yes"}}});
    all.patch(&shirt.name_any(), &PatchParams::default(), &Patch::Merge(mark)).await?;
    Ok(())
}

async fn marks_first(shirt: Arc<DynamicObject>, client: Arc<Client>) -> kube::Result<Action> {
    if !shirt.annotations().contains_key("printed") {
        mark(&shirt, &client).await?;
        print(&shirt, &client).await?;
    }
    Ok(Action::await_change())
}

async fn marks_last(shirt: Arc<DynamicObject>, client: Arc<Client>) -> kube::Result<Action> {
    print(&shirt, &client).await?;
    mark(&shirt, &client).await?;
    Ok(Action::requeue(Duration::from_secs(300)))
}

fn explored<F, Fut>(schedules: usize, reconcile: F) -> Result<Report, Box<Failed>>
where
    F: Fn(Arc<DynamicObject>, Arc<Client>) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = kube::Result<Action>> + Send + 'static,
{
    Explore::new("shirts").schedules(schedules).run(move |sim| {
        let reconcile = reconcile.clone();
        async move {
            sim.crds(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crds"));
            sim.operator(move |client| {
                let all = Api::all_with(client.clone(), &shirts());
                let controller = Controller::new_with(all, watcher::Config::default(), shirts());
                let owned = Api::<ConfigMap>::all(client.clone());
                let again = |_: Arc<DynamicObject>, _: &kube::Error, _: Arc<Client>| {
                    Action::requeue(Duration::from_secs(5))
                };
                let controller = controller.owns(owned, watcher::Config::default());
                controller.run(reconcile.clone(), again, Arc::new(client)).for_each(|_| async {})
            });
            sim.apply(SHIRT);
        }
    })
}

#[test]
fn intermediate_state_is_found_when_the_mark_comes_first() {
    let failed = explored(60, marks_first).unwrap_err();
    assert!(failed.to_string().contains("ConfigMap default/blue is missing"), "{failed}");
}

#[test]
fn controller_survives_when_the_mark_comes_last() {
    let report = explored(30, marks_last).unwrap_or_else(|failed| panic!("{failed}"));
    assert!(report.schedules() >= 30, "{report}");
}
