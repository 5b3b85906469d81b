//! The children of a Balancer in a cluster, as functions of the plan.

use std::collections::BTreeMap;

use balancer_api::v1alpha1::{
    ADDRESSES_HASH_ANNOTATION, BALANCER_NAME_LABEL, Balancer, CONFIGMAP_HASH_ANNOTATION,
};
use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    ConfigMap, ConfigMapVolumeSource, Container, ContainerPort, PodSpec, PodTemplateSpec, Service,
    ServicePort, ServiceSpec, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kubesmith_runtime::controllerutil::{OwnerError, set_controller_reference};
use kubesmith_runtime::kube::Resource;

use crate::plan::{Backend, Plan, Port};
use crate::{hash, nginx};

/// The key of the configuration in its ConfigMap, and so the name of the file.
pub const CONFIGURATION_KEY: &str = "nginx.conf";

/// nginx's folder of configuration.
const CONFIGURATION_FOLDER: &str = "/etc/nginx";

/// The name of the proxy's container and of its volume's.
const CONTAINER: &str = "nginx";
const VOLUME: &str = "nginx-config";

/// All children of a Balancer in their wanted state.
#[derive(Clone, Debug, PartialEq)]
pub struct Children {
    /// A Service for each backend, which selects its pods.
    pub backends: Vec<Service>,
    /// The ConfigMap of nginx's configuration.
    pub configuration: ConfigMap,
    /// The Deployment of nginx.
    pub proxy: Deployment,
    /// The Service for clients.
    pub frontend: Service,
}

impl Children {
    /// Returns the children of `balancer`, whose spec is `plan`; nginx is of `image`.
    ///
    /// # Errors
    ///
    /// Returns an error if `balancer` was not read from a server.
    pub fn new(balancer: &Balancer, plan: &Plan, image: &str) -> Result<Self, OwnerError> {
        let configuration = configuration(plan);
        let hash = hash::of_data(configuration.data.as_ref().unwrap_or(&BTreeMap::new()));
        let mut children = Children {
            backends: plan.backends.iter().map(|it| backend(plan, it)).collect(),
            proxy: proxy(plan, image, hash),
            frontend: frontend(plan),
            configuration,
        };
        children.backends.iter_mut().try_for_each(|it| belong(it, balancer))?;
        belong(&mut children.configuration, balancer)?;
        belong(&mut children.proxy, balancer)?;
        belong(&mut children.frontend, balancer)?;
        Ok(children)
    }
}

/// Writes the addresses of the backends' Services into the template of `proxy`'s pods.
///
/// nginx only resolves names when it starts: if a Service was recreated with another address, only new pods find it.
/// Nothing else about a Service matters.
pub fn note_addresses<'s>(proxy: &mut Deployment, backends: impl IntoIterator<Item = &'s Service>) {
    let addresses = backends.into_iter().map(|service| {
        let spec = service.spec.clone().unwrap_or_default();
        let all = spec.cluster_ips.or(spec.cluster_ip.map(|address| vec![address])).unwrap_or_default();
        (service.metadata.name.clone().unwrap_or_default(), all.join(","))
    });
    let hash = hash::of_data(&addresses.collect());
    let template = &mut proxy.spec.get_or_insert_default().template;
    let annotations = template.metadata.get_or_insert_default().annotations.get_or_insert_default();
    annotations.insert(ADDRESSES_HASH_ANNOTATION.to_owned(), hash);
}

/// Returns the labels that select the children of the Balancer with this name.
#[must_use]
pub fn labels(balancer: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(BALANCER_NAME_LABEL.to_owned(), balancer.to_owned())])
}

fn belong<K: Resource<DynamicType = ()>>(child: &mut K, balancer: &Balancer) -> Result<(), OwnerError> {
    child.meta_mut().namespace.clone_from(&balancer.metadata.namespace);
    set_controller_reference(balancer, child)
}

fn meta(name: String, labels: Option<BTreeMap<String, String>>) -> ObjectMeta {
    ObjectMeta { name: Some(name), labels, ..ObjectMeta::default() }
}

fn frontend(plan: &Plan) -> Service {
    let ports = plan.ports.iter().map(service_port).collect();
    // Without labels, so that it is never mistaken for a backend's.
    service(meta(plan.name.to_string(), None), labels(plan.name.as_str()), ports)
}

fn backend(plan: &Plan, backend: &Backend) -> Service {
    let ports = plan.ports.iter();
    let ports =
        ports.map(|it| ServicePort { target_port: Some(it.target.clone()), ..service_port(it) }).collect();
    let meta = meta(backend.service.to_string(), Some(labels(plan.name.as_str())));
    service(meta, backend.selector.clone(), ports)
}

fn service(metadata: ObjectMeta, selector: BTreeMap<String, String>, ports: Vec<ServicePort>) -> Service {
    let spec = ServiceSpec {
        type_: Some("ClusterIP".to_owned()),
        selector: Some(selector),
        ports: Some(ports),
        ..ServiceSpec::default()
    };
    Service { metadata, spec: Some(spec), ..Service::default() }
}

fn service_port(port: &Port) -> ServicePort {
    ServicePort {
        name: Some(port.name.to_string()),
        protocol: Some(port.transport.to_string()),
        port: i32::from(port.number),
        ..ServicePort::default()
    }
}

fn configuration_name(plan: &Plan) -> String {
    format!("{}-proxy-configmap", plan.name)
}

fn configuration(plan: &Plan) -> ConfigMap {
    let data = BTreeMap::from([(CONFIGURATION_KEY.to_owned(), nginx::configuration(plan))]);
    ConfigMap { metadata: meta(configuration_name(plan), None), data: Some(data), ..ConfigMap::default() }
}

fn proxy(plan: &Plan, image: &str, hash: String) -> Deployment {
    let labels = labels(plan.name.as_str());
    let pods = ObjectMeta {
        labels: Some(labels.clone()),
        // A new configuration replaces the pods: nginx reads it when it starts.
        annotations: Some(BTreeMap::from([(CONFIGMAP_HASH_ANNOTATION.to_owned(), hash)])),
        ..ObjectMeta::default()
    };
    let spec = DeploymentSpec {
        replicas: Some(1),
        selector: LabelSelector { match_labels: Some(labels), ..LabelSelector::default() },
        template: PodTemplateSpec { metadata: Some(pods), spec: Some(pod(plan, image)) },
        ..DeploymentSpec::default()
    };
    Deployment {
        metadata: meta(format!("{}proxy", plan.name), None),
        spec: Some(spec),
        ..Deployment::default()
    }
}

fn pod(plan: &Plan, image: &str) -> PodSpec {
    let container_port = |port: &Port| ContainerPort {
        container_port: i32::from(port.number),
        protocol: Some(port.transport.to_string()),
        ..ContainerPort::default()
    };
    let mount = VolumeMount {
        name: VOLUME.to_owned(),
        mount_path: CONFIGURATION_FOLDER.to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    };
    let container = Container {
        name: CONTAINER.to_owned(),
        image: Some(image.to_owned()),
        ports: Some(plan.ports.iter().map(container_port).collect()),
        volume_mounts: Some(vec![mount]),
        ..Container::default()
    };
    let source = ConfigMapVolumeSource { name: configuration_name(plan), ..ConfigMapVolumeSource::default() };
    let volume = Volume { name: VOLUME.to_owned(), config_map: Some(source), ..Volume::default() };
    PodSpec { containers: vec![container], volumes: Some(vec![volume]), ..PodSpec::default() }
}

#[cfg(test)]
mod tests {
    use balancer_api::v1alpha1::LabelValue;
    use k8s_openapi::api::core::v1::ServiceStatus;
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use kubesmith_runtime::controllerutil::is_controlled_by;

    use super::*;
    use crate::fixtures::balancer;

    fn children(balancer: &Balancer) -> Children {
        Children::new(balancer, &Plan::new(balancer).expect("accepted"), "nginx:1.15.9").expect("owned")
    }

    fn annotation(proxy: &Deployment, name: &str) -> Option<String> {
        proxy.spec.as_ref()?.template.metadata.as_ref()?.annotations.as_ref()?.get(name).cloned()
    }

    fn hash(children: &Children) -> Option<String> {
        annotation(&children.proxy, CONFIGMAP_HASH_ANNOTATION)
    }

    /// The backends' Services as a server has them.
    fn served(balancer: &Balancer) -> Vec<Service> {
        let mut services = children(balancer).backends;
        for (number, service) in services.iter_mut().enumerate() {
            let spec = service.spec.get_or_insert_default();
            spec.cluster_ip = Some(format!("10.0.0.{number}"));
            spec.cluster_ips = spec.cluster_ip.clone().map(|address| vec![address]);
        }
        services
    }

    fn addresses(services: &[Service]) -> Option<String> {
        let mut proxy = children(&balancer()).proxy;
        note_addresses(&mut proxy, services);
        assert!(annotation(&proxy, CONFIGMAP_HASH_ANNOTATION).is_some(), "the other hash stays");
        annotation(&proxy, ADDRESSES_HASH_ANNOTATION)
    }

    #[test]
    fn children_are_owned_by_the_balancer_and_named_after_it() {
        let balancer = balancer();
        let Children { backends, configuration, proxy, frontend } = children(&balancer);
        assert!(backends.iter().all(|it| is_controlled_by(it, &balancer)));
        assert!(is_controlled_by(&configuration, &balancer) && is_controlled_by(&proxy, &balancer));
        assert!(is_controlled_by(&frontend, &balancer));
        let names =
            [&configuration.metadata, &proxy.metadata, &frontend.metadata].map(|it| it.name.as_deref());
        let expected = ["balancer-sample-proxy-configmap", "balancer-sampleproxy", "balancer-sample"];
        assert_eq!(names, expected.map(Some));
    }

    #[test]
    fn only_backend_services_have_the_label_and_target_ports() {
        let children = children(&balancer());
        assert_eq!(children.frontend.metadata.labels, None);
        assert_eq!(children.backends[0].metadata.labels, Some(labels("balancer-sample")));
        let target = |service: &Service| service.spec.as_ref()?.ports.as_ref()?[0].target_port.clone();
        assert_eq!(target(&children.frontend), None);
        assert_eq!(target(&children.backends[0]), Some(IntOrString::Int(5678)));
    }

    #[test]
    fn template_hash_changes_only_with_the_configuration() {
        let before = children(&balancer());
        let mut changed = balancer();
        changed.spec.backends[0].selector.insert("tier".to_owned(), LabelValue("gold".to_owned()));
        assert_eq!(hash(&children(&changed)), hash(&before), "selectors are not part of the configuration");
        changed.spec.backends[0].weight = 41;
        assert_ne!(hash(&children(&changed)), hash(&before));
    }

    #[test]
    fn address_hash_changes_only_with_backend_addresses() {
        let before = served(&balancer());
        let mut services = before.clone();
        services[1].metadata.uid = Some("another".to_owned());
        services[1].metadata.resource_version = Some("7".to_owned());
        services[1].metadata.labels = None;
        services[1].status = Some(ServiceStatus::default());
        assert_eq!(addresses(&services), addresses(&before));
        services.swap(0, 2);
        assert_eq!(addresses(&services), addresses(&before), "their order does not count");
        let spec = services[1].spec.get_or_insert_default();
        spec.cluster_ips.get_or_insert_default().push("fd00::1".to_owned());
        assert_ne!(addresses(&services), addresses(&before), "nginx uses every address of a name");
        spec_without_list(&mut services[1], "10.0.0.9");
        assert_ne!(addresses(&services), addresses(&before));
    }

    /// Makes the spec that of a server before 1.20.
    fn spec_without_list(service: &mut Service, address: &str) {
        let spec = service.spec.get_or_insert_default();
        (spec.cluster_ip, spec.cluster_ips) = (Some(address.to_owned()), None);
    }
}
