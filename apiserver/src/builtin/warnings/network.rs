//! Warnings about services, their endpoints and the objects that route to them.

use serde_json::Value;

use super::{items, texts};
use crate::builtin::check::{INGRESS_CLASS, address_warning, range_warnings};
use crate::names::quoted;

/// `GetWarningsForService`.
pub(super) fn service(service: &Value) -> Vec<String> {
    let spec = &service["spec"];
    let text = |field: &str| spec[field].as_str().unwrap_or_default();
    let is_external = spec["type"] == "ExternalName";
    let is_headless = spec["type"] == "ClusterIP" && spec["clusterIP"] == "None";
    let addresses = items(&spec["externalIPs"]).count() > 0;
    let mut warnings = Vec::new();
    let warn =
        |warnings: &mut Vec<String>, when: bool, text: &str| warnings.extend(when.then(|| text.to_owned()));
    let hints = "service.kubernetes.io/topology-aware-hints";
    if service["metadata"]["annotations"].get(hints).is_some() {
        let instead = "please use service.kubernetes.io/topology-mode instead";
        warnings.push(format!("annotation {hints} is deprecated, {instead}"));
    }
    if !["", "None"].contains(&text("clusterIP")) {
        warnings.extend(listed(&spec["clusterIPs"], "spec.clusterIPs"));
    }
    let has_balancer = !text("loadBalancerIP").is_empty();
    warn(&mut warnings, is_headless && has_balancer, "spec.loadBalancerIP is ignored for headless services");
    warn(&mut warnings, is_headless && addresses, "spec.externalIPs is ignored for headless services");
    let has_affinity = spec["sessionAffinity"] != "None";
    warn(&mut warnings, is_headless && has_affinity, "spec.SessionAffinity is ignored for headless services");
    warnings.extend(listed(&spec["externalIPs"], "spec.externalIPs"));
    warn(
        &mut warnings,
        addresses && !is_headless && !is_external,
        "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
    );
    warnings.extend(address_warning("spec.loadBalancerIP", text("loadBalancerIP")));
    for (i, range) in texts(&spec["loadBalancerSourceRanges"]) {
        warnings.extend(range_warnings(&format!("spec.loadBalancerSourceRanges[{i}]"), range));
    }
    let ignored = "spec.externalIPs is ignored when spec.type is \"ExternalName\"";
    warn(&mut warnings, is_external && addresses, ignored);
    let ignored = "spec.externalName is ignored when spec.type is not \"ExternalName\"";
    warn(&mut warnings, !is_external && !text("externalName").is_empty(), ignored);
    let deprecated = "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"";
    warn(&mut warnings, spec["trafficDistribution"] == "PreferClose", deprecated);
    warnings
}

/// Warns about addresses of a list in another form than the canonical one.
pub(super) fn listed(list: &Value, path: &str) -> Vec<String> {
    texts(list).filter_map(|(i, text)| address_warning(&format!("{path}[{i}]"), text)).collect()
}

/// As [`listed`], for objects with the member `ip`.
pub(super) fn entries(list: &Value, path: &str) -> Vec<String> {
    let at = |(i, entry): (usize, &Value)| {
        address_warning(&format!("{path}[{i}].ip"), entry["ip"].as_str().unwrap_or_default())
    };
    items(list).enumerate().filter_map(at).collect()
}

/// The warnings of a status with a load balancer: their path is that of the entry.
pub(super) fn balancer_addresses(status: &Value) -> Vec<String> {
    let at = |(i, entry): (usize, &Value)| {
        let path = format!("status.loadBalancer.ingress[{i}]");
        address_warning(&path, entry["ip"].as_str().unwrap_or_default())
    };
    items(&status["loadBalancer"]["ingress"]).enumerate().filter_map(at).collect()
}

/// `endpointsWarnings`
pub(super) fn endpoints(endpoints: &Value) -> Vec<String> {
    let of = |(i, subset): (usize, &Value)| {
        ["addresses", "notReadyAddresses"]
            .map(|list| entries(&subset[list], &format!("subsets[{i}].{list}")))
            .concat()
    };
    items(&endpoints["subsets"]).enumerate().flat_map(of).collect()
}

/// `warnOnDeprecatedAddressType`, of new slices, and `warnOnBadIPs`.
pub(super) fn endpoint_slice(slice: &Value, old: Option<&Value>) -> Vec<String> {
    let is_new = old.is_none() && slice["addressType"] == "FQDN";
    let deprecated = is_new.then(|| "spec.addressType: FQDN endpoints are deprecated".to_owned());
    let of =
        |(i, endpoint): (usize, &Value)| listed(&endpoint["addresses"], &format!("endpoints[{i}].addresses"));
    deprecated.into_iter().chain(items(&slice["endpoints"]).enumerate().flat_map(of)).collect()
}

/// `WarningsOnCreate` of pkg/registry/networking/ingress.
pub(super) fn ingress(ingress: &Value, old: Option<&Value>) -> Vec<String> {
    let is_set = ingress["metadata"]["annotations"].get(INGRESS_CLASS).is_some();
    let is_only = is_set && old.is_none() && ingress["spec"]["ingressClassName"].is_null();
    let text = format!(
        "annotation {} is deprecated, please use 'spec.ingressClassName' instead",
        quoted(INGRESS_CLASS)
    );
    is_only.then_some(text).into_iter().collect()
}

/// `networkPolicyWarnings`
pub(super) fn network_policy(spec: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for (i, rule) in items(&spec[rules]).enumerate() {
            for (j, peer) in items(&rule[peers]).enumerate() {
                let (block, path) = (&peer["ipBlock"], format!("spec.{rules}[{i}].{peers}[{j}].ipBlock"));
                let range = block["cidr"].as_str().unwrap_or_default();
                warnings.extend(range_warnings(&format!("{path}.cidr"), range));
                for (k, range) in texts(&block["except"]) {
                    warnings.extend(range_warnings(&format!("{path}.except[{k}]"), range));
                }
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_kind;
    use super::*;
    use serde_json::json;

    const CANONICAL: &str =
        "IPv6 address \"2001:DB8::1\" should be in RFC 5952 canonical format (\"2001:db8::1\")";
    const CANONICAL_RANGE: &str =
        "IPv6 CIDR value \"2001:DB8::/64\" should be in RFC 5952 canonical format (\"2001:db8::/64\")";

    #[test]
    fn fields_of_a_service_without_effect_get_a_warning() {
        let spec = json!({"type": "ClusterIP", "clusterIP": "None", "externalIPs": ["1.2.3.4"], "sessionAffinity": "None"});
        let ignored = "spec.externalIPs is ignored for headless services";
        assert_eq!(of_kind("Service", &json!({"spec": spec})), [ignored]);
    }

    #[test]
    fn addresses_in_another_form_get_a_warning() {
        let address = "2001:DB8::1";
        let spec = json!({"type": "LoadBalancer", "clusterIP": address, "clusterIPs": [address], "loadBalancerIP": "010.1.1.1",
            "loadBalancerSourceRanges": ["2001:DB8::/64"]});
        assert_eq!(
            of_kind("Service", &json!({"spec": spec})),
            [
                format!("spec.clusterIPs[0]: {CANONICAL}"),
                "spec.loadBalancerIP: non-standard IP address \"010.1.1.1\" is invalid: use \"10.1.1.1\""
                    .to_owned(),
                format!("spec.loadBalancerSourceRanges[0]: {CANONICAL_RANGE}"),
            ]
        );
        let entries = json!([{"ip": address}]);
        assert_eq!(
            balancer_addresses(&json!({"loadBalancer": {"ingress": entries}})),
            [format!("status.loadBalancer.ingress[0]: {CANONICAL}")]
        );
        assert_eq!(
            of_kind("Endpoints", &json!({"subsets": [{"notReadyAddresses": entries}]})),
            [format!("subsets[0].notReadyAddresses[0].ip: {CANONICAL}")]
        );
        let slice = json!({"addressType": "FQDN", "endpoints": [{"addresses": [address]}]});
        assert_eq!(
            of_kind("EndpointSlice", &slice),
            [
                "spec.addressType: FQDN endpoints are deprecated".to_owned(),
                format!("endpoints[0].addresses[0]: {CANONICAL}")
            ]
        );
        let rules = json!([{"to": [{"ipBlock": {"cidr": "2001:DB8::/64"}}]}]);
        assert_eq!(
            of_kind("NetworkPolicy", &json!({"spec": {"egress": rules}})),
            [format!("spec.egress[0].to[0].ipBlock.cidr: {CANONICAL_RANGE}")]
        );
    }

    #[test]
    fn class_of_an_ingress_in_an_annotation_gets_a_warning() {
        let annotations = json!({"kubernetes.io/ingress.class": "x"});
        let text = "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead";
        assert_eq!(of_kind("Ingress", &json!({"metadata": {"annotations": annotations}})), [text]);
        let both = json!({"metadata": {"annotations": annotations}, "spec": {"ingressClassName": "x"}});
        assert!(of_kind("Ingress", &both).is_empty());
    }
}
