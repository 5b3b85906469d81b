//! The Deployment of a Foo, as a function of the Foo.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kubesmith_runtime::controllerutil::{OwnerError, set_controller_reference};
use sample_controller_api::v1alpha1::Foo;

/// Returns the labels of a Foo's pods, by which its Deployment selects them.
#[must_use]
pub fn labels(foo: &Foo) -> BTreeMap<String, String> {
    let name = foo.metadata.name.clone().unwrap_or_default();
    BTreeMap::from([("app".to_owned(), "nginx".to_owned()), ("controller".to_owned(), name)])
}

/// Returns the wanted Deployment of `foo`, controlled by it.
///
/// # Errors
///
/// Returns an error if `foo` was not read from a server.
pub fn new_deployment(foo: &Foo) -> Result<Deployment, OwnerError> {
    let labels = labels(foo);
    let container = Container {
        name: "nginx".to_owned(),
        image: Some("nginx:latest".to_owned()),
        ..Container::default()
    };
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels.clone()), ..ObjectMeta::default() }),
        spec: Some(PodSpec { containers: vec![container], ..PodSpec::default() }),
    };
    let mut deployment = Deployment {
        metadata: ObjectMeta {
            name: Some(foo.spec.deployment_name.clone()),
            namespace: foo.metadata.namespace.clone(),
            // The pods' labels too, so that a Foo's Deployments are found by them.
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        },
        spec: Some(DeploymentSpec {
            replicas: foo.spec.replicas,
            selector: LabelSelector { match_labels: Some(labels), ..LabelSelector::default() },
            template,
            ..DeploymentSpec::default()
        }),
        ..Deployment::default()
    };
    set_controller_reference(foo, &mut deployment)?;
    Ok(deployment)
}
