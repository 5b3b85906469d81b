//! Services, endpoints, ingresses and network policies.

use super::kind;
use crate::builtin::{BuiltIn, Generation, check, defaults};
use crate::names::NameRule;

const GROUP: &str = "networking.k8s.io";

pub(super) static KINDS: &[BuiltIn] = &[
    BuiltIn {
        status: true,
        create_on_update: true,
        returns_deleted: true,
        categories: &["all"],
        name_rule: NameRule::Label,
        selectable: &["spec.clusterIP", "spec.type"],
        default: defaults::service,
        check: check::service,
        check_status: check::service_status,
        ..kind("", "Service", "services", "service", &["svc"])
    },
    BuiltIn {
        create_on_update: true,
        default: defaults::endpoints,
        deprecated: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
        check: check::endpoints,
        ..kind("", "Endpoints", "endpoints", "endpoints", &["ep"])
    },
    BuiltIn {
        generation: Generation::Counted,
        default: defaults::endpoint_slice,
        check: check::endpoint_slice,
        ..kind("discovery.k8s.io", "EndpointSlice", "endpointslices", "endpointslice", &[])
    },
    BuiltIn {
        status: true,
        generation: Generation::Counted,
        check: check::ingress,
        check_status: check::ingress_status,
        ..kind(GROUP, "Ingress", "ingresses", "ingress", &["ing"])
    },
    BuiltIn {
        namespaced: false,
        status: true,
        check: check::service_cidr,
        ..kind(GROUP, "ServiceCIDR", "servicecidrs", "servicecidr", &[])
    },
    BuiltIn {
        namespaced: false,
        check: check::ip_address,
        name_rule: NameRule::Ip,
        ..kind(GROUP, "IPAddress", "ipaddresses", "ipaddress", &["ip"])
    },
    BuiltIn {
        generation: Generation::Counted,
        namespaced: false,
        default: defaults::ingress_class,
        check: check::ingress_class,
        ..kind(GROUP, "IngressClass", "ingressclasses", "ingressclass", &[])
    },
    BuiltIn {
        generation: Generation::Counted,
        default: defaults::network_policy,
        check: check::network_policy,
        ..kind(GROUP, "NetworkPolicy", "networkpolicies", "networkpolicy", &["netpol"])
    },
];
