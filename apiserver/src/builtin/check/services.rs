//! Services. Source: `ValidateService` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::addresses;
use super::field::{Errors, Field, go_struct};
use crate::names::NameRule;
use crate::status::Cause;

pub(in crate::builtin) fn service(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let spec = root.child("spec");
        if let Some(old) = old {
            updated(&spec, &Field::root(old).child("spec"), errors);
        }
        topology(&root.child("metadata").child("annotations"), errors);
        let type_ = spec.child("type");
        let headless = spec.child("clusterIP").text() == "None";
        let ports = spec.child("ports");
        if ports.is_empty() && !headless && type_.text() != "ExternalName" {
            errors.required(&ports, "");
        }
        by_type(&spec, headless, errors);
        each_port(&ports, errors);
        errors.labels(&spec.child("selector"));
        affinity(&spec, errors);
        let before = old.map(|old| Field::root(old).child("spec"));
        let kept = |list: &str| before.iter().flat_map(|spec| spec.child(list).texts()).collect::<Vec<_>>();
        cluster_ips(&spec, &kept("clusterIPs"), errors);
        for address in spec.child("externalIPs").items() {
            if addresses::ip(&address, &kept("externalIPs"), errors).is_some() {
                addresses::of_endpoint(&address, errors);
            }
        }
        errors.one_of(&type_, &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
        node_ports(&spec, errors);
        repeated_ports(&ports, errors);
        source_ranges(&root, old, errors);
        load_balancer(&spec, errors);
        traffic(&spec, errors);
    })
}

/// Checks that both annotations of a topology's mode agree.
fn topology(annotations: &Field<'_>, errors: &mut Errors) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    let mode = annotations.key("service.kubernetes.io/topology-mode");
    let hints = annotations.key(HINTS);
    if mode.is_set() && hints.is_set() && mode.value != hints.value {
        errors.invalid(&mode, &format!("must match annotations[{HINTS}] when both are specified"));
    }
}

/// `validateUpgradeDowngradeClusterIPs`, of the first address; changes from or to `ExternalName` are allowed.
fn updated(spec: &Field<'_>, old: &Field<'_>, errors: &mut Errors) {
    let external = |spec: &Field<'_>| spec.child("type").text() == "ExternalName";
    let before = old.child("clusterIP");
    if !before.is_empty()
        && !external(spec)
        && !external(old)
        && spec.child("clusterIP").text() != before.text()
    {
        let place = spec.child("clusterIPs").at("spec.clusterIPs[0]");
        errors.invalid(&place, "may not change once set");
    }
    let families =
        |spec: &Field<'_>| spec.child("ipFamilies").texts().first().map(|family| (*family).to_owned());
    if !external(spec) && !external(old) && families(old).is_some() && families(spec) != families(old) {
        let place = spec.child("ipFamilies").at("spec.ipFamilies[0]");
        errors.invalid(&place, "may not change once set");
    }
    let class = spec.child("loadBalancerClass");
    let balances = |spec: &Field<'_>| spec.child("type").text() == "LoadBalancer";
    if balances(spec) && balances(old) && class.value != old.child("loadBalancerClass").value {
        errors.invalid(&class, "may not change once set");
    }
    load_balancer_class(spec, errors);
    let (health, before) = (spec.child("healthCheckNodePort"), old.child("healthCheckNodePort"));
    let is_checked =
        |spec: &Field<'_>| balances(spec) && spec.child("externalTrafficPolicy").text() == "Local";
    if is_checked(spec) && is_checked(old) && health.number_or_zero() != before.number_or_zero() {
        errors.forbidden(&health, "field is immutable");
    }
}

/// `validateLoadBalancerClassField`, which an update calls twice.
fn load_balancer_class(spec: &Field<'_>, errors: &mut Errors) {
    let class = spec.child("loadBalancerClass");
    if class.is_set() {
        if spec.child("type").text() == "LoadBalancer" {
            errors.qualified_name(&class);
        } else {
            errors.forbidden(&class, ONLY_BALANCERS);
        }
    }
}

const ONLY_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";

fn by_type(spec: &Field<'_>, headless: bool, errors: &mut Errors) {
    match spec.child("type").text() {
        kind @ ("LoadBalancer" | "NodePort") if headless => {
            let none = Value::from("None");
            let place = Field::root(&none).at("spec.clusterIPs[0]");
            errors.invalid(&place, &format!("may not be set to 'None' for {kind} services"));
        }
        "ExternalName" => {
            for list in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                let list = spec.child(list);
                // An empty policy is a policy, too.
                if !list.is_empty() || *list.value == "" {
                    errors.forbidden(&list, "may not be set for ExternalName services");
                }
            }
            // A trailing dot makes the name absolute.
            let name = spec.child("externalName");
            let text = Value::from(name.text().strip_suffix('.').unwrap_or(name.text()));
            errors.required_name(&name.holding(&text), NameRule::Subdomain);
        }
        _ => {}
    }
}

fn each_port(ports: &Field<'_>, errors: &mut Errors) {
    let needs_name = ports.items().count() > 1;
    let mut seen: Vec<&str> = Vec::new();
    for port in ports.items() {
        let name = port.child("name");
        if !name.is_empty() {
            errors.all_invalid(&name, NameRule::Label.check(name.text()));
            if seen.contains(&name.text()) {
                errors.duplicate(&name);
            }
            seen.push(name.text());
        } else if needs_name {
            errors.required(&name, "");
        }
        errors.port_number(&port.child("port"));
        errors.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
        errors.port(&port.child("targetPort"));
        if port.child("appProtocol").is_set() {
            errors.qualified_name(&port.child("appProtocol"));
        }
    }
}

/// The longest time that a client keeps its endpoint, in seconds: `MaxClientIPServiceAffinitySeconds`.
const LONGEST_AFFINITY: i64 = 86_400;

fn affinity(spec: &Field<'_>, errors: &mut Errors) {
    let affinity = spec.child("sessionAffinity");
    errors.one_of(&affinity, &["ClientIP", "None"]);
    let config = spec.child("sessionAffinityConfig");
    match affinity.text() {
        "ClientIP" => {
            let seconds = config.child("clientIP").child("timeoutSeconds");
            let missing =
                [&config, &config.child("clientIP"), &seconds].into_iter().find(|it| !it.is_set()).cloned();
            if let Some(missing) = missing {
                errors.required(&missing, "when session affinity type is ClientIP");
            } else if !(1..=LONGEST_AFFINITY).contains(&seconds.number_or_zero()) {
                errors.invalid(&seconds, "must be greater than 0 and less than 86400");
            }
        }
        "None" if config.is_set() => {
            errors.forbidden(&config, "must not be set when session affinity is None");
        }
        _ => {}
    }
}

/// The faults of the fields that the allocation of addresses needs.
pub(crate) fn address_fields(service: &Value, old: Option<&Value>) -> Vec<Cause> {
    let kept = old.map(|old| Field::root(old).child("spec").child("clusterIPs").texts()).unwrap_or_default();
    Errors::of(|errors| cluster_ips(&Field::root(service).child("spec"), &kept, errors))
}

/// `ValidateServiceClusterIPsRelatedFields`.
fn cluster_ips(spec: &Field<'_>, kept: &[&str], errors: &mut Errors) {
    if spec.child("type").text() == "ExternalName" {
        return;
    }
    let (first, list, families) =
        (spec.child("clusterIP"), spec.child("clusterIPs"), spec.child("ipFamilies"));
    match (first.is_empty(), list.texts().first()) {
        (false, None) => errors.required(&list, ""),
        (false, Some(listed)) if *listed != first.text() => {
            errors.invalid(&list, "first value must match `clusterIP`");
        }
        (true, Some(_)) => errors.invalid(&list, "must be empty when `clusterIP` is not specified"),
        _ => {}
    }
    let mut seen: Vec<&str> = Vec::new();
    for family in families.items() {
        errors.optional_one_of(&family, &["IPv4", "IPv6"]);
        if seen.contains(&family.text()) {
            errors.duplicate(&family);
        }
        seen.push(family.text());
    }
    let policies = &["PreferDualStack", "RequireDualStack", "SingleStack"];
    errors.optional_one_of(&spec.child("ipFamilyPolicy"), policies);
    if cluster_addresses(&list, kept, errors) {
        families_of(&list, &families, errors);
    }
}

/// Checks the addresses themselves; returns whether each of them is valid. Those of the old object stay valid.
fn cluster_addresses(list: &Field<'_>, kept: &[&str], errors: &mut Errors) -> bool {
    let before = errors.len();
    let count = list.texts().len();
    for (i, address) in list.items().enumerate() {
        if i == 0 && address.text() == "None" {
            if count > 1 {
                errors.invalid(list, "'None' must be the first and only value");
            }
            continue;
        }
        addresses::ip(&address, kept, errors);
    }
    let all_valid = errors.len() == before;
    if count > 2 {
        errors.invalid(list, "may only hold up to 2 values");
    }
    all_valid
}

/// Checks that the addresses are of different families, and of those that the service names.
fn families_of(list: &Field<'_>, families: &Field<'_>, errors: &mut Errors) {
    let parsed: Vec<_> = list.texts().into_iter().filter_map(addresses::parse).collect();
    let is_dual = parsed.iter().any(|one| one.is_ipv4()) && parsed.iter().any(|one| one.is_ipv6());
    if parsed.len() > 1 && !is_dual {
        errors.invalid(list, "may specify no more than one IP for each IP family");
    }
    for (address, family) in list.items().zip(families.texts()) {
        let Some(parsed) = addresses::parse(address.text()) else { continue };
        if (family == "IPv4" && parsed.is_ipv6()) || (family == "IPv6" && parsed.is_ipv4()) {
            let place = address.path.trim_start_matches("spec.clusterIPs");
            errors.invalid(
                &address,
                &format!("expected an {family} value as indicated by `ipFamilies{place}`"),
            );
        }
    }
}

/// Checks that only services that are reachable from outside have node ports, and each only once.
fn node_ports(spec: &Field<'_>, errors: &mut Errors) {
    let given =
        |port: &Field<'_>| Some(port.child("nodePort").number_or_zero()).filter(|number| *number != 0);
    let ports = || spec.child("ports").items().filter(|port| given(port).is_some());
    if spec.child("type").text() == "ClusterIP" {
        for port in ports() {
            errors.forbidden(&port.child("nodePort"), "may not be used when `type` is 'ClusterIP'");
        }
    }
    let mut seen = Vec::new();
    for port in ports() {
        let key = (given(&port), port.child("protocol").text());
        if seen.contains(&key) {
            errors.duplicate(&port.child("nodePort"));
        }
        seen.push(key);
    }
}

/// Refuses ports with the same number and protocol.
fn repeated_ports(ports: &Field<'_>, errors: &mut Errors) {
    let mut seen = Vec::new();
    for port in ports.items() {
        let (number, protocol) = (port.child("port").number_or_zero(), port.child("protocol").text());
        if seen.contains(&(number, protocol)) {
            let key =
                serde_json::json!({"name": "", "protocol": protocol, "port": number, "target": 0, "node": 0});
            let fields = [
                ("Name", "name"),
                ("Protocol", "protocol"),
                ("AppProtocol", "none"),
                ("Port", "port"),
                ("TargetPort", "target"),
                ("NodePort", "node"),
            ];
            let shown = go_struct(&key, &fields);
            errors.duplicate_as(&port, &shown);
        }
        seen.push((number, protocol));
    }
}

/// The annotation that ranges come from if the field has none: `AnnotationLoadBalancerSourceRangesKey`.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

/// Checks the ranges of clients, which may have spaces around them.
fn source_ranges(service: &Field<'_>, old: Option<&Value>, errors: &mut Errors) {
    let spec = service.child("spec");
    let balances = spec.child("type").text() == "LoadBalancer";
    let ranges = spec.child("loadBalancerSourceRanges").at("spec.LoadBalancerSourceRanges");
    if !ranges.is_empty() {
        if !balances {
            errors.forbidden(&ranges, ONLY_BALANCERS);
        }
        let before = old.map(|old| Field::root(old).child("spec").child("loadBalancerSourceRanges").texts());
        let kept: Vec<&str> = before.into_iter().flatten().map(str::trim).collect();
        for range in ranges.items() {
            let text = Value::from(range.text().trim());
            addresses::range(&range.holding(&text), &kept, errors);
        }
        return;
    }
    let annotation = service.child("metadata").child("annotations").key(SOURCE_RANGES);
    if !annotation.is_set() {
        return;
    }
    if !balances {
        errors.forbidden(&annotation, ONLY_BALANCERS);
    }
    let before = old.map(|old| &old["metadata"]["annotations"][SOURCE_RANGES]);
    let listed = annotation.text().trim();
    if before != Some(annotation.value) && !listed.is_empty() {
        for range in listed.split(',') {
            let text = Value::from(range.trim());
            addresses::range(&annotation.holding(&text), &[], errors);
        }
    }
}

fn load_balancer(spec: &Field<'_>, errors: &mut Errors) {
    let balances = spec.child("type").text() == "LoadBalancer";
    let allocates = spec.child("allocateLoadBalancerNodePorts");
    if allocates.is_set() && !balances {
        errors.forbidden(&allocates, ONLY_BALANCERS);
    }
    load_balancer_class(spec, errors);
}

/// `validateServiceExternalTrafficPolicy` and its siblings.
fn traffic(spec: &Field<'_>, errors: &mut Errors) {
    let type_ = spec.child("type").text();
    let external = spec.child("externalTrafficPolicy");
    let reachable = matches!(type_, "LoadBalancer" | "NodePort")
        || (type_ == "ClusterIP" && !spec.child("externalIPs").is_empty());
    if reachable {
        errors.one_of(&external, &["Cluster", "Local"]);
    } else if !external.is_empty() {
        errors.invalid(&external, "may only be set for externally-accessible services");
    }
    let health = spec.child("healthCheckNodePort");
    let checked = type_ == "LoadBalancer" && external.text() == "Local";
    if checked && health.number_or_zero() != 0 {
        errors.port_number(&health);
    }
    if !checked && health.number_or_zero() != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        errors.invalid(&health, detail);
    }
    errors.optional_one_of(&spec.child("internalTrafficPolicy"), &["Cluster", "Local"]);
    let distributions = &["PreferClose", "PreferSameZone", "PreferSameNode"];
    errors.optional_one_of(&spec.child("trafficDistribution"), distributions);
}

/// `ValidateLoadBalancerStatus`.
pub(in crate::builtin) fn service_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(new);
        let ingress = root.child("status").child("loadBalancer").child("ingress");
        if !ingress.is_empty() && root.child("spec").child("type").text() != "LoadBalancer" {
            errors.forbidden(&ingress, "may only be used when `spec.type` is 'LoadBalancer'");
            return;
        }
        load_balancer_ingress(&ingress, old, &["Proxy", "VIP"], errors);
    })
}

/// `ValidateLoadBalancerStatus` and `ValidateIngressLoadBalancerStatus`: addresses of a load balancer. Those of the old
/// object stay valid. Each address has one of these modes; those of an Ingress have none.
pub(super) fn load_balancer_ingress(list: &Field<'_>, old: &Value, modes: &[&str], errors: &mut Errors) {
    let before = Field::root(old).child("status").child("loadBalancer").child("ingress");
    let kept: Vec<&str> = before.items().map(|entry| entry.child("ip").text()).collect();
    for entry in list.items() {
        let (address, name, mode) = (entry.child("ip"), entry.child("hostname"), entry.child("ipMode"));
        if !address.is_empty() {
            addresses::ip(&address, &kept, errors);
        }
        if mode.is_set() {
            if address.is_empty() {
                errors.forbidden(&mode, "may not be specified when `ip` is not set");
            } else {
                errors.optional_one_of(&mode, modes);
            }
        } else if !modes.is_empty() && !address.is_empty() {
            errors.required(&mode, "must be specified when `ip` is set");
        }
        if !name.is_empty() {
            errors.all_invalid(&name, NameRule::Subdomain.check(name.text()));
            if addresses::parse(name.text()).is_some() {
                errors.invalid(&name, "must be a DNS name, not an IP address");
            }
        }
    }
}
