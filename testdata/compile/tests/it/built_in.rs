//! Clients, informers and listers of Kubernetes' own kinds, on the embedded server.

use std::time::Duration;

use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use k8s_openapi::api::authorization::v1::{
    LocalSubjectAccessReview, ResourceAttributes, SubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PatchParams, PostParams};
use kube::core::{GroupVersionKind, GroupVersionResource};
use kubesmith_expected::built_in::applyconfigurations::coordination::v1::{
    LeaseApplyConfiguration, LeaseSpecApplyConfiguration, extract_lease,
};
use kubesmith_expected::built_in::applyconfigurations::core::v1::ConfigMapApplyConfiguration;
use kubesmith_expected::built_in_mixed::informers::GenericInformer;
use kubesmith_expected::{built_in, built_in_mixed};
use kubesmith_runtime::labels::Selector;
use kubesmith_testenv::TestEnv;

const LONG: Duration = Duration::from_secs(30);

pub(super) fn pod(name: &str) -> Pod {
    let container = Container { name: "a".into(), image: Some("a".into()), ..Container::default() };
    Pod {
        metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
        spec: Some(PodSpec { containers: vec![container], ..PodSpec::default() }),
        status: None,
    }
}

#[tokio::test]
async fn built_in_kinds_have_clients_informers_and_listers() {
    let env = TestEnv::builder().start().await.unwrap();
    let clients = built_in_mixed::Clientset::new(env.client());
    let pods = clients.core_v1().pods().namespace("default");
    pods.create(&pod("web"), &PostParams::default()).await.unwrap();

    let factory = built_in_mixed::SharedInformerFactory::builder(clients.clone()).build();
    let lister = factory.core().v1().pods().lister();
    let by_resource = factory.for_resource(&GroupVersionResource::gvr("apps", "v1", "deployments")).unwrap();
    assert!(matches!(by_resource, GenericInformer::AppsV1Deployments(_)), "{by_resource:?}");
    let _roles = factory.rbac().v1().roles().lister();
    factory.start();
    factory.wait_for_cache_sync(LONG).await.unwrap();
    let web = lister.namespace("default").get("web").unwrap();
    assert_eq!(web.spec.as_ref().unwrap().containers[0].name, "a");
    assert_eq!(lister.list(&Selector::everything()).len(), 1);
    assert_eq!(pods.list(&ListParams::default()).await.unwrap().items.len(), 1);
    pods.delete("web", &DeleteParams::default()).await.unwrap();
    factory.shutdown().await;
    env.stop().await;
}

#[tokio::test]
async fn built_in_apply_configurations_are_applied_and_extracted() {
    let env = TestEnv::builder().start().await.unwrap();
    let clients = built_in::Clientset::new(env.client());
    let me = PatchParams::apply("me");
    let leases = clients.coordination_v1().leases().namespace("default");
    let spec =
        LeaseSpecApplyConfiguration::default().with_holder_identity("a").with_lease_duration_seconds(3);
    let lease =
        leases.apply(&LeaseApplyConfiguration::new("l", "default").with_spec(spec), &me).await.unwrap();
    assert_eq!(lease.spec.as_ref().unwrap().lease_duration_seconds, Some(3));
    let mine = extract_lease(&lease, "me").unwrap();
    assert_eq!(mine.spec.unwrap().holder_identity.as_deref(), Some("a"));
    let map = ConfigMapApplyConfiguration::new("m", "default").with_data([("a".to_owned(), "b".to_owned())]);
    let maps = clients.core_v1().config_maps().namespace("default");
    assert_eq!(maps.apply(&map, &me).await.unwrap().data.unwrap()["a"], "b");
    env.stop().await;
}

#[tokio::test]
async fn kind_that_is_not_stored_has_only_create() {
    let env = TestEnv::builder().start().await.unwrap();
    let clients = built_in::Clientset::new(env.client());
    let question = TokenReview {
        spec: TokenReviewSpec { token: "nobody's".into(), ..TokenReviewSpec::default() },
        ..TokenReview::default()
    };
    let answer =
        clients.authentication_v1().token_reviews().create(&question, &PostParams::default()).await.unwrap();
    assert_ne!(answer.status.unwrap().authenticated, Some(true));
    let reviews = clients.authorization_v1().local_subject_access_reviews().namespace("default");
    let resource_attributes =
        Some(ResourceAttributes { namespace: Some("default".into()), ..ResourceAttributes::default() });
    let spec = SubjectAccessReviewSpec {
        user: Some("joe".into()),
        resource_attributes,
        ..SubjectAccessReviewSpec::default()
    };
    let question = LocalSubjectAccessReview { spec, ..LocalSubjectAccessReview::default() };
    let answer = reviews.create(&question, &PostParams::default()).await.unwrap();
    assert!(answer.status.is_some());
    env.stop().await;
}

#[test]
fn scheme_has_built_in_kinds() {
    let scheme = built_in_mixed::clientset::scheme::scheme();
    for (group, version, kind) in [
        ("", "v1", "PodList"),
        ("shop.example.com", "v1", "Cart"),
        ("events.k8s.io", "v1", "Event"),
        ("apps", "v1", "StatefulSetList"),
    ] {
        assert!(scheme.get(&GroupVersionKind::gvk(group, version, kind)).is_some(), "{kind}");
    }
    assert!(scheme.kind_of::<CustomResourceDefinition>().is_some_and(|kind| !kind.is_namespaced()));
    let scheme = built_in::clientset::scheme::scheme();
    let reviews = "authentication.k8s.io";
    assert!(scheme.get(&GroupVersionKind::gvk(reviews, "v1", "TokenReview")).is_some());
    assert!(scheme.get(&GroupVersionKind::gvk(reviews, "v1", "TokenReviewList")).is_none());
}
