//! Methods with names and types of their own, on the embedded server.

use case_methods::{Crane, Dock, Fleet, Gate, Lamp, Wanted, views};
use k8s_openapi::ByteString;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::autoscaling::v1::{Scale, ScaleSpec};
use k8s_openapi::api::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
    CertificateSigningRequestStatus,
};
use k8s_openapi::api::core::v1::{EphemeralContainer, ResourceRequirements, ServiceAccount};
use k8s_openapi::api::policy::v1::Eviction;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::ResourceExt as _;
use kube::api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kubesmith_expected::methods::Clientset;
use kubesmith_expected::methods::applyconfigurations::autoscaling::v1::{
    ScaleApplyConfiguration, ScaleSpecApplyConfiguration,
};
use kubesmith_expected::methods::applyconfigurations::harbour::v1::{
    GateApplyConfiguration, LampApplyConfiguration, SeenApplyConfiguration, WantedApplyConfiguration,
};
use kubesmith_expected::methods::clientset::typed::harbour::v1::FleetInterface;
use kubesmith_expected::{built_in, built_in_mixed};
use kubesmith_runtime::client::Error;
use kubesmith_testenv::TestEnv;
use serde_json::json;

use super::built_in::pod;
use super::crds;

fn meta(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn sized(size: i32) -> ScaleApplyConfiguration {
    ScaleApplyConfiguration::new().with_spec(ScaleSpecApplyConfiguration::default().with_replicas(size))
}

fn replicas(scale: &Scale) -> Option<i32> {
    scale.spec.as_ref().and_then(|spec| spec.replicas)
}

/// As a controller would be written: against any client.
async fn double(fleets: &impl FleetInterface, name: &str) -> Result<Scale, Error> {
    let mut scale = fleets.get_scale(name).await?;
    scale.spec = Some(ScaleSpec { replicas: replicas(&scale).map(|replicas| replicas * 2) });
    fleets.update_scale(name, &scale, &PostParams::default()).await
}

#[tokio::test]
async fn scale_subresource_has_its_methods() {
    let env = crds::server("methods").await;
    let clients = Clientset::new(env.client());
    let fleets = clients.harbour_v1().fleets().namespace("default");
    let fleet = Fleet { metadata: meta("north"), spec: Wanted { size: 3 }, ..Fleet::default() };
    let mut fleet = fleets.create(&fleet, &PostParams::default()).await.unwrap();
    fleet.status = case_methods::Seen { size: 1, selector: "fleet=north".to_owned() };
    fleets.update_status(&fleet, &PostParams::default()).await.unwrap();

    let scale = fleets.get_scale("north").await.unwrap();
    assert_eq!((scale.name_any().as_str(), replicas(&scale)), ("north", Some(3)));
    let status = scale.status.as_ref().unwrap();
    assert_eq!((status.replicas, status.selector.as_deref()), (1, Some("fleet=north")));

    assert_eq!(replicas(&double(&fleets, "north").await.unwrap()), Some(6));
    let stale = fleets.update_scale("north", &scale, &PostParams::default()).await.unwrap_err();
    assert!(stale.is_conflict(), "{stale}");
    let refused = fleets.apply_scale("north", &sized(9), &PatchParams::apply("me")).await.unwrap_err();
    let conflicts = refused.apply_conflicts();
    assert_eq!(
        conflicts.iter().map(|c| c.field.as_str()).collect::<Vec<_>>(),
        [".spec.replicas"],
        "{refused}"
    );
    let same = fleets.apply_scale("north", &sized(6), &PatchParams::apply("me")).await.unwrap();
    assert_eq!(replicas(&same), Some(6));
    // kube-apiserver 1.36.2 cannot apply a change to the scale of a custom resource.
    let refused =
        fleets.apply_scale("north", &sized(9), &PatchParams::apply("me").force()).await.unwrap_err();
    assert!(refused.to_string().contains("request to convert CR to an invalid group/version"), "{refused}");
    assert_eq!(fleets.get("north").await.unwrap().spec.size, 6);
    let missing = fleets.get_scale("south").await.unwrap_err();
    assert!(
        missing.to_string().starts_with("cannot get fleets.yard.example.com/scale \"default/south\""),
        "{missing}"
    );
    let nameless = fleets.apply_scale("north", &sized(9), &PatchParams::default()).await.unwrap_err();
    assert!(matches!(nameless, Error::BadRequest { .. }), "{nameless}");

    let docks = clients.harbour_v1().docks();
    let dock = Dock { metadata: meta("east"), spec: Wanted { size: 2 }, ..Dock::default() };
    kube::Api::<Dock>::all(env.client()).create(&PostParams::default(), &dock).await.unwrap();
    assert_eq!(replicas(&docks.get_scale("east").await.unwrap()), Some(2));
    env.stop().await;
}

/// What is written down takes the place of what would come by itself; the rest of it comes.
#[tokio::test]
async fn declared_scale_methods_replace_generated_ones() {
    let env = crds::server("methods").await;
    let cranes = Clientset::new(env.client()).harbour_v1().cranes().namespace("default");
    let crane = Crane { metadata: meta("tall"), ..Crane::default() };
    cranes.create(&crane, &PostParams::default()).await.unwrap();
    let mut scale = cranes.get_scale("tall").await.unwrap();
    scale.spec = Some(ScaleSpec { replicas: Some(4) });
    let scale = cranes.resize("tall", &scale, &PostParams::default()).await.unwrap();
    assert_eq!(replicas(&scale), Some(4));
    let scale = cranes.apply_scale("tall", &sized(4), &PatchParams::apply("me")).await.unwrap();
    assert_eq!(replicas(&scale), Some(4));
    env.stop().await;
}

#[tokio::test]
async fn methods_of_a_resource_have_their_own_types() {
    let env = crds::server("methods").await;
    let gates = Clientset::new(env.client()).harbour_v1().gates().namespace("default");
    let gate = Gate { metadata: meta("west"), spec: Wanted { size: 1 } };
    assert_eq!(gates.open(&gate, &PostParams::default()).await.unwrap().name_any(), "west");
    assert_eq!(gates.inspect("west").await.unwrap().spec.size, 1);
    let names = gates.inspect_all(&ListParams::default()).await.unwrap().items;
    assert_eq!(names.iter().map(|gate| gate.metadata.name.as_deref()).collect::<Vec<_>>(), [Some("west")]);

    let named = views::Named {
        api_version: "yard.example.com/v1".to_owned(),
        kind: "Gate".to_owned(),
        metadata: ObjectMeta { resource_version: gates_version(&names), ..meta("west") },
        spec: Wanted { size: 2 },
    };
    assert_eq!(gates.repaint("west", &named, &PostParams::default()).await.unwrap().spec.size, 2);
    let patch = Patch::Merge(json!({"spec": {"size": 3}}));
    let adjusted = gates.adjust("west", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(adjusted["spec"]["size"], 3);
    let wanted = GateApplyConfiguration::new("west", "default")
        .with_spec(WantedApplyConfiguration::default().with_size(4));
    let declared = gates.declare("west", &wanted, &PatchParams::apply("me").force()).await.unwrap();
    assert_eq!(declared.spec.size, 4);
    env.stop().await;
}

fn gates_version(names: &[views::Name]) -> Option<String> {
    names.first().and_then(|gate| gate.metadata.resource_version.clone())
}

/// `create` is a method, not the verb that is left out, and the plural is the resource's name.
#[tokio::test]
async fn methods_are_added_to_selected_verbs() {
    let env = crds::server("methods").await;
    let lamps = Clientset::new(env.client()).harbour_v1().lamps();
    let lamp = Lamp { metadata: meta("red"), spec: Wanted { size: 7 }, ..Lamp::default() };
    assert_eq!(lamps.create(&lamp, &PostParams::default()).await.unwrap().spec.size, 7);
    assert_eq!(lamps.get_status("red").await.unwrap().spec.size, 7);
    let mut lamp = lamps.get("red").await.unwrap();
    lamp.status.size = 1;
    let mut lamp = lamps.replace_status("red", &lamp, &PostParams::default()).await.unwrap();
    lamp.status.size = 2;
    assert_eq!(lamps.update_status(&lamp, &PostParams::default()).await.unwrap().status.size, 2);
    let patch = Patch::Merge(json!({"status": {"size": 3}}));
    let patched = lamps.patch_status("red", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(patched.status.size, 3);
    let wanted =
        LampApplyConfiguration::new("red").with_status(SeenApplyConfiguration::default().with_size(4));
    let me = PatchParams::apply("me").force();
    assert_eq!(lamps.apply_status("red", &wanted, &me).await.unwrap().spec.size, 7);
    assert_eq!(lamps.get("red").await.unwrap().status.size, 4);
    // A status has no list or create, and a gate is not a lamp.
    assert!(lamps.create_status("red", &lamp, &PostParams::default()).await.is_err());
    assert!(lamps.list_status("red", &ListParams::default()).await.is_err());
    assert!(lamps.type_("red", &GateApplyConfiguration::new("red", ""), &me).await.is_err());
    assert!(lamps.delete("red", &DeleteParams::default()).await.unwrap().is_deleted());
    env.stop().await;
}

#[tokio::test]
async fn built_in_kinds_have_methods_of_client_go() {
    let env = TestEnv::builder().start().await.unwrap();
    let accounts = built_in::Clientset::new(env.client()).core_v1().service_accounts().namespace("default");
    let account = ServiceAccount { metadata: meta("me"), ..ServiceAccount::default() };
    accounts.create(&account, &PostParams::default()).await.unwrap();
    let token = accounts.create_token("me", &TokenRequest::default(), &PostParams::default()).await.unwrap();
    assert!(token.status.is_some_and(|status| !status.token.unwrap_or_default().is_empty()));

    let clients = built_in_mixed::Clientset::new(env.client());
    let pods = clients.core_v1().pods().namespace("default");
    pods.create(&pod("last"), &PostParams::default()).await.unwrap();
    let eviction = Eviction { metadata: meta("last"), delete_options: None };
    let answer = pods.evict("last", &eviction, &PostParams::default()).await.unwrap();
    assert_eq!(answer.status.as_deref(), Some("Success"));
    let deployments = clients.apps_v1().deployments().namespace("default");
    let deployment = serde_json::from_value(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web"}]},
            },
        },
    }));
    deployments.create(&deployment.unwrap(), &PostParams::default()).await.unwrap();
    let mut scale = deployments.get_scale("web").await.unwrap();
    assert_eq!(replicas(&scale), Some(1));
    // The deployment may be written at any time.
    scale.metadata.resource_version = None;
    scale.spec = Some(ScaleSpec { replicas: Some(2) });
    let scale = deployments.update_scale("web", &scale, &PostParams::default()).await.unwrap();
    assert_eq!(replicas(&scale), Some(2));
    let wanted = Scale { spec: Some(ScaleSpec { replicas: Some(3) }), ..Scale::default() };
    let scale = deployments.apply_scale("web", &wanted, &PatchParams::apply("me").force()).await.unwrap();
    assert_eq!(replicas(&scale), Some(3));
    env.stop().await;
}

fn cpu(amount: &str) -> Option<ResourceRequirements> {
    let requests = [("cpu".to_owned(), Quantity(amount.to_owned()))].into();
    Some(ResourceRequirements { requests: Some(requests), ..ResourceRequirements::default() })
}

#[tokio::test]
async fn running_pod_gets_ephemeral_containers_and_is_resized() {
    let env = TestEnv::builder().start().await.unwrap();
    let pods = built_in_mixed::Clientset::new(env.client()).core_v1().pods().namespace("default");
    let mut new = pod("web");
    new.spec.as_mut().unwrap().containers[0].resources = cpu("1");
    let mut web = pods.create(&new, &PostParams::default()).await.unwrap();
    let debug = EphemeralContainer {
        name: "debug".into(),
        image: Some("busybox".into()),
        ..EphemeralContainer::default()
    };
    web.spec.as_mut().unwrap().ephemeral_containers = Some(vec![debug]);
    web.spec.as_mut().unwrap().containers[0].resources = cpu("2");
    let web = pods.update_ephemeral_containers("web", &web, &PostParams::default()).await.unwrap();
    let spec = web.spec.as_ref().unwrap();
    assert_eq!(spec.ephemeral_containers.as_ref().unwrap()[0].name, "debug");
    assert_eq!(spec.containers[0].resources, cpu("1"), "nothing else is changed");
    let mut web = web;
    web.spec.as_mut().unwrap().containers[0].resources = cpu("2");
    let web = pods.update_resize("web", &web, &PostParams::default()).await.unwrap();
    assert_eq!(web.spec.as_ref().unwrap().containers[0].resources, cpu("2"));
    let mut web = web;
    web.spec.as_mut().unwrap().containers[0].resources = None;
    let refused = pods.update_resize("web", &web, &PostParams::default()).await.unwrap_err();
    assert!(refused.to_string().contains("resource requests cannot be removed"), "{refused}");
    env.stop().await;
}

fn request(name: &str) -> CertificateSigningRequest {
    let pem = "-----BEGIN CERTIFICATE REQUEST-----
MIGOMEICAQAwDzENMAsGA1UEAwwEbWluZTAqMAUGAytlcAMhAMEF7y4ZmqP/kgvu
nYWNsUujNzVZdPzptv8KACCcslVSoAAwBQYDK2VwA0EAQAh2OeYKx3RN4tdZpHZx
52Mz51A23+U/PuBEwjIO3o1owELNercckSGoW3KTLLiV6Fpr0T8jde6822O8a/XG
BQ==
-----END CERTIFICATE REQUEST-----
";
    let spec = CertificateSigningRequestSpec {
        request: ByteString(pem.into()),
        signer_name: "example.com/mine".into(),
        usages: Some(vec!["client auth".into()]),
        ..CertificateSigningRequestSpec::default()
    };
    CertificateSigningRequest { metadata: meta(name), spec, status: None }
}

#[tokio::test]
async fn certificate_signing_request_is_approved() {
    let env = TestEnv::builder().start().await.unwrap();
    let requests =
        built_in_mixed::Clientset::new(env.client()).certificates_v1().certificate_signing_requests();
    let mut mine = requests.create(&request("mine"), &PostParams::default()).await.unwrap();
    assert!(mine.spec.username.is_some(), "the server knows who asks");
    let approved = CertificateSigningRequestCondition {
        type_: "Approved".into(),
        status: "True".into(),
        ..CertificateSigningRequestCondition::default()
    };
    let status = CertificateSigningRequestStatus { conditions: Some(vec![approved]), certificate: None };
    mine.status = Some(status);
    let unapproved = requests.update_status(&mine, &PostParams::default()).await.unwrap_err();
    assert!(unapproved.to_string().contains("updates may not add a condition"), "{unapproved}");
    let mine = requests.update_approval("mine", &mine, &PostParams::default()).await.unwrap();
    let conditions = mine.status.unwrap().conditions.unwrap();
    assert!(conditions[0].last_update_time.is_some());
    env.stop().await;
}
