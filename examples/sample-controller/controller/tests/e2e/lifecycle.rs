//! What becomes of a Foo, from its creation to its end.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Event;
use kubesmith_runtime::kube::api::{DeleteParams, PostParams};
use operator_testing::{Needs, run};
use sample_controller::CONTROLLER_NAME;
use sample_controller::deployment::new_deployment;
use sample_controller_api::v1alpha1::Foo;
use serde_json::json;
use tokio::time::Instant;

use crate::support::{Running, cluster, foo};

fn replicas(deployment: &Deployment) -> Option<i32> {
    deployment.spec.as_ref()?.replicas
}

#[test]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
fn foo_has_a_deployment_and_its_available_replicas() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        let running = Running::on(cluster);
        running.create(&foo("web")).await;
        running.available("web", 1).await;
        let event = running.cluster.event("web", "Synced").await;
        assert_eq!(event.message.as_deref(), Some("Foo synced successfully"));
        assert_eq!(event.source.and_then(|source| source.component).as_deref(), Some(CONTROLLER_NAME));

        let changed = Instant::now();
        running.change("web", json!({ "replicas": 3 })).await;
        running.available("web", 3).await;
        running.assert_before_resync(changed.elapsed());
        let deployment = running.deployment("web", None).await;
        assert_eq!(replicas(&deployment), Some(3));
        let managers = deployment.metadata.managed_fields.unwrap_or_default();
        assert!(managers.iter().any(|it| it.manager.as_deref() == Some(CONTROLLER_NAME)), "{managers:?}");

        running.foos.delete("web", &DeleteParams::default()).await.expect("deleted");
        running.no_deployment("web").await;
        running.stop().await;
    });
}

#[test]
#[cfg_attr(backend = "control_plane", ignore = "a control plane runs no controllers and no pods")]
fn changes_of_others_to_the_deployment_are_undone() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        let running = Running::on(cluster);
        running.create(&foo("web")).await;
        let first = running.deployment("web", None).await;
        running.deployments.delete("web", &DeleteParams::background()).await.expect("deleted");
        let mut second = running.deployment("web", first.metadata.uid.as_deref()).await;
        running.available("web", 1).await;

        second.metadata.resource_version = None;
        second.spec.get_or_insert_default().replicas = Some(5);
        running.deployments.update(&second, &PostParams::default()).await.expect("scaled");
        running.available("web", 1).await;
        operator_testing::eventually("the Foo's number", async || {
            let deployment = running.deployments.get("web").await.expect("it is there");
            (replicas(&deployment) == Some(1)).then_some(())
        })
        .await;
        running.stop().await;
    });
}

#[test]
#[cfg_attr(not(backend = "embedded"), ignore = "only the embedded server knows what a role is used for")]
fn role_allows_exactly_the_requests_of_the_operator() {
    run(async {
        let cluster = cluster(Needs::Controllers).await;
        let running = Running::on(cluster);
        running.create(&foo("web")).await;
        running.available("web", 1).await;
        running.change("web", json!({ "replicas": 3 })).await;
        running.available("web", 3).await;
        running.change("web", json!({ "deploymentName": "renamed" })).await;
        running.deployment("renamed", None).await;
        running.no_deployment("web").await;
        let unused = [
            // A Foo is read past the cache only when its status has nowhere to go.
            "get foos.samplecontroller.k8s.io",
            "list deployments.apps",
            "list foos.samplecontroller.k8s.io",
            // For OwnerReferencesPermissionEnforcement, an admission plugin that not every cluster has.
            "update foos.samplecontroller.k8s.io/finalizers",
        ];
        running.cluster.role_is_minimal(&unused).await;
        running.stop().await;
    });
}

#[test]
fn foreign_deployment_is_kept_and_replaced_when_deleted() {
    run(async {
        let cluster = cluster(Needs::Api).await;
        let running = Running::on(cluster);
        let mut foreign = new_deployment(&Foo { metadata: owner(), ..foo("web") }).expect("owned");
        foreign.metadata.owner_references = None;
        foreign.metadata.namespace = None;
        let foreign = running.deployments.create(&foreign, &PostParams::default()).await.expect("created");
        running.create(&foo("web")).await;
        let Event { type_, message, .. } = running.cluster.event("web", "ErrResourceExists").await;
        assert_eq!(type_.as_deref(), Some("Warning"));
        assert_eq!(message.as_deref(), Some("Resource \"web\" already exists and is not managed by Foo"));

        let deleted = Instant::now();
        running.deployments.delete("web", &DeleteParams::background()).await.expect("deleted");
        let own = running.deployment("web", foreign.metadata.uid.as_deref()).await;
        running.assert_before_resync(deleted.elapsed());
        assert_eq!(own.metadata.owner_references.map(|owners| owners.len()), Some(1));
        running.stop().await;
    });
}

fn owner() -> k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
    let mut owner = foo("web").metadata;
    owner.uid = Some("1".to_owned());
    owner
}

#[test]
fn renamed_deployment_replaces_the_old_one() {
    run(async {
        let cluster = cluster(Needs::Api).await;
        let running = Running::on(cluster);
        running.create(&foo("web")).await;
        running.deployment("web", None).await;
        running.change("web", json!({ "deploymentName": "renamed" })).await;
        running.deployment("renamed", None).await;
        running.no_deployment("web").await;
        running.stop().await;
    });
}

#[test]
fn crd_refuses_foos_that_no_deployment_can_have() {
    run(async {
        let cluster = cluster(Needs::Api).await;
        let running = Running::on(cluster);
        let (mut none, mut many, mut unnamed, mut wrong) = (foo("a"), foo("b"), foo("c"), foo("d"));
        none.spec.replicas = Some(0);
        many.spec.replicas = Some(11);
        unnamed.spec.deployment_name.clear();
        "Not a name".clone_into(&mut wrong.spec.deployment_name);
        let long = foo(&"x".repeat(64));
        for refused in [none, many, unnamed, wrong, long] {
            let error = running.foos.create(&refused, &PostParams::default()).await.expect_err("refused");
            assert!(error.is_invalid(), "{error}");
        }
        running.stop().await;
    });
}
