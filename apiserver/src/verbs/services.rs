//! Allocates and releases a Service's addresses and ports: pkg/registry/core/service/storage and strategy.go.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::MutexGuard;

use serde_json::{Value, json};

use crate::builtin::{address_fields, parse_address};
use crate::meta;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause, ErrorSubject};

/// The fields of addresses, which a Service without its own address lacks.
const ADDRESSES: &[&str] = &["clusterIP", "clusterIPs"];
const LOAD_BALANCER: &str = "LoadBalancer";

/// Completes a new Service.
pub(super) fn created(server: &Server, service: &mut Value) {
    let spec = &mut service["spec"];
    if is_given(&spec["clusterIP"]) && !is_given(&spec["clusterIPs"]) {
        spec["clusterIPs"] = json!([spec["clusterIP"]]);
    }
    if allocates_node_ports(spec) {
        share_node_ports(server, spec);
    }
    allocate(server, spec);
}

/// Completes a Service that replaces another.
pub(super) fn updated(server: &Server, current: &Value, service: &mut Value) {
    let (old, new) = (&current["spec"], &mut service["spec"]);
    keep(old, new);
    normalize(old, new);
    drop_dependent(old, new);
    allocate(server, new);
    if service["spec"]["type"] != LOAD_BALANCER {
        meta::map_at(service, "status").insert("loadBalancer".to_owned(), json!({}));
    }
}

/// Brings `clusterIPs` in line with `clusterIP` for clients that know only the latter (`normalizeClusterIPs`).
fn normalize(old: &Value, new: &mut Value) {
    let same = |new: &Value| old["clusterIPs"] == new["clusterIPs"];
    if old["clusterIP"] == new["clusterIP"] {
        if !is_given(&new["clusterIPs"]) {
            copy(old, new, "clusterIPs");
        }
    } else if is_given(&new["clusterIP"]) && same(new) {
        new["clusterIPs"] = json!([new["clusterIP"]]);
    } else if is_given(&old["clusterIP"]) && same(new) {
        meta::object_mut(new).remove("clusterIPs");
    }
}

/// Keeps allocated values that the client left out (`patchAllocatedValues`).
fn keep(old: &Value, new: &mut Value) {
    if needs_address(old) && needs_address(new) {
        for field in ADDRESSES {
            if new[field].is_null() || new[field] == "" {
                copy(old, new, field);
            }
        }
    }
    if is_checked(old) && is_checked(new) && !is_node_port(&new["healthCheckNodePort"]) {
        copy(old, new, "healthCheckNodePort");
    }
    if allocates_node_ports(old) && allocates_node_ports(new) {
        let used: Vec<Value> = ports(new).filter_map(|port| port.get("nodePort").cloned()).collect();
        for port in new["ports"].as_array_mut().into_iter().flatten() {
            let same = ports(old).find(|own| own["name"] == port["name"]);
            let number = same.map(|own| &own["nodePort"]).filter(|own| !own.is_null() && !used.contains(own));
            if let (false, Some(number)) = (is_node_port(&port["nodePort"]), number) {
                port["nodePort"] = number.clone();
            }
        }
    }
}

/// Drops fields that the new type does not use, unless the client changed them (`dropTypeDependentFields`).
fn drop_dependent(old: &Value, new: &mut Value) {
    let mut unused: Vec<&str> = Vec::new();
    if needs_address(old) && !needs_address(new) {
        if ADDRESSES.iter().all(|field| old[*field] == new[*field]) {
            unused.extend(ADDRESSES);
        }
        unused.extend(["ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    }
    let is_balanced = |spec: &Value| spec["type"] == LOAD_BALANCER;
    if is_balanced(old) && !is_balanced(new) {
        unused.extend(["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    if is_checked(old) && !is_checked(new) {
        unused.push("healthCheckNodePort");
    }
    if is_external(old) && !is_external(new) {
        unused.push("externalTrafficPolicy");
    }
    let numbers = |spec: &Value| -> Vec<Value> {
        ports(spec).map(|port| port["nodePort"].clone()).filter(is_node_port).collect()
    };
    // Ports may come, go and change, as long as no node port is new (`sameNodePorts`).
    let before = numbers(old);
    let none_is_new = numbers(new).iter().all(|number| before.contains(number));
    if needs_node_ports(old) && !needs_node_ports(new) && none_is_new {
        for port in new["ports"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            port.remove("nodePort");
        }
    }
    if let Some(new) = new.as_object_mut() {
        new.retain(|field, value| !unused.contains(&field.as_str()) || old[field] != *value);
    }
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    if !from[field].is_null() {
        to[field] = from[field].clone();
    }
}

fn ports(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["ports"].as_array().into_iter().flatten()
}

fn is_given(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    }
}

/// Gives the ports of a new Service with one number the same node port (`initNodePorts`). An update does not.
fn share_node_ports(server: &Server, spec: &mut Value) {
    let given = |port: &Value| (port["port"].clone(), port["nodePort"].clone());
    let mut shared: Vec<(Value, Value)> =
        ports(spec).filter(|port| is_node_port(&port["nodePort"])).map(given).collect();
    let own = spec.clone();
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if is_node_port(&port["nodePort"]) {
            continue;
        }
        let same = shared.iter().find(|(number, _)| *number == port["port"]);
        port["nodePort"] = same.map_or_else(|| server.node_port(&own).into(), |(_, number)| number.clone());
        shared.push(given(port));
    }
}

fn is_node_port(number: &Value) -> bool {
    number.as_i64().is_some_and(|number| number != 0)
}

/// Allocates the address and the node ports of a Service.
fn allocate(server: &Server, spec: &mut Value) {
    let policy = spec["internalTrafficPolicy"].as_str().unwrap_or_default();
    if spec["type"] == "ExternalName" && ["Cluster", "Local"].contains(&policy) {
        // Upstream drops a valid one when it reads (`defaultOnReadInternalTrafficPolicy`).
        meta::object_mut(spec).remove("internalTrafficPolicy");
    }
    if !needs_address(spec) {
        return;
    }
    // The server has no IPv6 addresses, and the check refuses `clusterIPs` without `clusterIP`.
    let is_free = !is_given(&spec["clusterIP"]) && !is_given(&spec["clusterIPs"]);
    if is_free && spec["ipFamilies"][0] != "IPv6" {
        spec["clusterIP"] = server.service_address().into();
        spec["clusterIPs"] = json!([spec["clusterIP"]]);
    }
    let own = spec.clone();
    if allocates_node_ports(spec) {
        for port in spec["ports"].as_array_mut().into_iter().flatten() {
            if !is_node_port(&port["nodePort"]) {
                port["nodePort"] = server.node_port(&own).into();
            }
        }
    }
    if is_checked(spec) && !is_node_port(&spec["healthCheckNodePort"]) {
        spec["healthCheckNodePort"] = server.node_port(&own).into();
    }
}

/// Reports whether the Service has a port for health checks.
fn is_checked(spec: &Value) -> bool {
    spec["type"] == LOAD_BALANCER && spec["externalTrafficPolicy"] == "Local"
}

/// Reports whether the request writes a Service, not a part of it.
fn is_service(call: &Call<'_>) -> bool {
    call.def.collection == "services" && call.path.subresource.is_empty()
}

fn refused(service: &Value, causes: Vec<Cause>) -> ApiResult<()> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid(ErrorSubject::new("", "Service", meta::name(service)), causes))
}

/// Sets the families of a Service's addresses, and checks its addresses and ports before other fields are validated
/// (`beginCreate` and `beginUpdate` of storage.go). `old` is the Service that it replaces.
pub(crate) fn check(
    call: &Call<'_>,
    old: Option<&Value>,
    service: &mut Value,
    dry_run: bool,
) -> ApiResult<()> {
    if !is_service(call) {
        return Ok(());
    }
    let before = old.map_or(&Value::Null, |old| &old["spec"]);
    if !keeps_families(before, &service["spec"]) {
        refused(service, address_fields(service, old))?;
        let causes = set_families(before, &mut service["spec"]);
        refused(service, causes)?;
    }
    check_free(call, old, service, dry_run).map(drop)
}

/// Checks that a Service can have its addresses and ports and that no other one has them. `old` is the Service that it
/// replaces. Until the result is dropped, no other Service is written. Other kinds are not checked.
/// Source: `allocateCreate` and `allocateUpdate` of pkg/registry/core/service/storage/alloc.go.
pub(crate) fn check_free<'s>(
    call: &'s Call<'_>,
    old: Option<&Value>,
    service: &Value,
    dry_run: bool,
) -> ApiResult<Option<MutexGuard<'s, ()>>> {
    if !is_service(call) {
        return Ok(None);
    }
    let lock = call.server.lock_services();
    let stored = call.server.services();
    // A new Service of a taken name is checked before it is refused for its name.
    let is_other = |other: &Value| old.is_none_or(|old| old["metadata"]["uid"] != other["metadata"]["uid"]);
    let others = stored.iter().filter(|other| is_other(&other.value));
    let others: Vec<&Value> = others.map(|other| &other.value["spec"]).collect();
    let (old, new) = (old.map_or(&Value::Null, |old| &old["spec"]), &service["spec"]);
    refused(service, unavailable_address(old, new, &others, dry_run).into_iter().collect())?;
    for i in 0..ports(new).count() {
        refused(service, unavailable_port(i, old, new, &others, dry_run).into_iter().collect())?;
        check_repeated(i, old, new)?;
    }
    let health = &new["healthCheckNodePort"];
    if is_checked(new) && !is_checked(old) {
        let is_own = node_ports(old).chain(node_ports(new)).any(|own| own == health);
        let fault = if is_own { Some(ALLOCATED) } else { port_fault(health, &others, dry_run) };
        if let Some(fault) = fault {
            let text = format!("failed to allocate requested HealthCheck NodePort {health}: {fault}");
            return Err(ApiError::internal_of(text));
        }
    }
    Ok(Some(lock))
}

/// The number of attempts to choose addresses and ports that other Services take before the write.
pub(crate) const TRIES: usize = 4;

/// Lets a write whose chosen addresses and ports another Service took begin again, or returns the error of the last try.
/// If the client requested them, the next attempt is refused before admission.
pub(crate) fn choose_again<T>(left: &mut usize, error: ApiError) -> ApiResult<Option<T>> {
    *left -= 1;
    if *left == 0 { Err(error) } else { Ok(None) }
}

const ALLOCATED: &str = "provided port is already allocated";

/// Reports whether clients outside of the cluster reach the Service (`ExternallyAccessible` of pkg/api/service/util.go).
fn is_external(spec: &Value) -> bool {
    needs_node_ports(spec) || (spec["type"] == "ClusterIP" && is_given(&spec["externalIPs"]))
}

/// The fault of the node port at an index, if the Service requests one that it cannot have.
fn unavailable_port(i: usize, old: &Value, new: &Value, others: &[&Value], dry_run: bool) -> Option<Cause> {
    let port = &new["ports"][i];
    let number = Some(&port["nodePort"]).filter(|number| needs_node_ports(new) && is_node_port(number))?;
    if node_ports(old).any(|own| own == number) {
        return None;
    }
    // An update may give one node port to several ports, a new Service only to ports with one number.
    let is_repeated = ports(new)
        .take(i)
        .any(|other| old.is_null() && other["nodePort"] == *number && other["port"] != port["port"]);
    let is_taken = is_repeated || old["healthCheckNodePort"] == *number;
    let fault = if is_taken { Some(ALLOCATED) } else { port_fault(number, others, dry_run) };
    Some(Cause::invalid(format!("spec.ports[{i}].nodePort"), number, fault?))
}

/// Refuses an update that gives a node port to several ports of one protocol (`updateNodePorts`).
fn check_repeated(i: usize, old: &Value, new: &Value) -> ApiResult<()> {
    let port = &new["ports"][i];
    let is_same =
        |other: &Value| ["protocol", "nodePort"].into_iter().all(|field| other[field] == port[field]);
    let is_checked = !old.is_null() && needs_node_ports(new) && is_node_port(&port["nodePort"]);
    if is_checked && ports(new).take(i).any(is_same) {
        let protocol = meta::member(port, "protocol");
        return Err(ApiError::unexpected(format!("duplicate nodePort: {{{protocol} {}}}", port["nodePort"])));
    }
    Ok(())
}

/// The reason why a node port cannot be requested.
fn port_fault(number: &Value, others: &[&Value], dry_run: bool) -> Option<&'static str> {
    let is_taken = |spec: &&Value| {
        spec["healthCheckNodePort"] == *number || node_ports(spec).any(|other| other == number)
    };
    match number.as_u64() {
        Some(30_000..=32_767) => others.iter().any(is_taken).then_some(ALLOCATED),
        // A dry run does not look at the range.
        _ if dry_run => None,
        _ => Some("provided port is not in the valid range. The range of valid ports is 30000-32767"),
    }
}

/// The node ports of a Service, without that of its health checks.
fn node_ports(spec: &Value) -> impl Iterator<Item = &Value> {
    ports(spec).map(|port| &port["nodePort"]).filter(|number| is_node_port(number))
}

/// Reports whether an update leaves alone the families of a Service that prefers both
/// (`isMatchingPreferDualStackClusterIPFields`).
fn keeps_families(old: &Value, new: &Value) -> bool {
    let is_same = |field: &str| old[field] == new[field];
    needs_address(new)
        && new["ipFamilyPolicy"] == "PreferDualStack"
        && ["type", "ipFamilyPolicy", "clusterIPs", "ipFamilies"].into_iter().all(is_same)
}

/// Sets the families of addresses, and returns their faults: the server has those of IPv4 alone. A headless Service
/// without selector gets all families (`initIPFamilyFields`).
fn set_families(old: &Value, spec: &mut Value) -> Vec<Cause> {
    if !needs_address(spec) {
        return Vec::new();
    }
    let all = is_headless_alone(spec);
    if spec["ipFamilyPolicy"].is_null() {
        copy(old, spec, "ipFamilyPolicy");
    }
    if spec["ipFamilyPolicy"].is_null() {
        spec["ipFamilyPolicy"] = if all { "RequireDualStack" } else { "SingleStack" }.into();
    }
    let policy = spec["ipFamilyPolicy"].clone();
    let single = policy == "SingleStack";
    let fault = |detail: &str| Cause::invalid("spec.ipFamilyPolicy", &policy, detail);
    let mut causes = Vec::new();
    for (field, one, many) in
        [("clusterIPs", "cluster IP", "cluster IPs"), ("ipFamilies", "IP family", "IP families")]
    {
        let count = |spec: &Value| spec[field].as_array().map_or(0, Vec::len);
        let (before, after) = (count(old), count(spec));
        if !single && (1..before).contains(&after) {
            causes.push(fault(&format!("must be 'SingleStack' to release the secondary {one}")));
        } else if single && old[field] == spec[field] {
            // A client that changes only the policy releases the second one.
            spec[field].as_array_mut().into_iter().for_each(|list| list.truncate(1));
        } else if single && after == 2 {
            causes.push(fault(&format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {many} are specified"
            )));
        }
    }
    let mut families: Vec<String> =
        meta::strings(&spec["ipFamilies"]).into_iter().map(str::to_owned).collect();
    for (i, address) in meta::strings(&spec["clusterIPs"]).into_iter().enumerate().skip(families.len()) {
        match parse_address(address) {
            Some(IpAddr::V6(_)) => {
                let detail = "IPv6 is not configured on this cluster";
                causes.push(Cause::invalid(format!("spec.clusterIPs[{i}]"), &spec["clusterIPs"], detail));
            }
            Some(IpAddr::V4(_)) => families.push("IPv4".to_owned()),
            None => {}
        }
    }
    if causes.is_empty() && !all {
        if policy == "RequireDualStack" {
            causes.push(fault("this cluster is not configured for dual-stack services"));
        }
        let other = families.iter().enumerate().filter(|(_, family)| **family != "IPv4");
        causes.extend(other.map(|(i, family)| {
            Cause::invalid(format!("spec.ipFamilies[{i}]"), json!(family), "not configured on this cluster")
        }));
    }
    if families.is_empty() {
        families.push("IPv4".to_owned());
    }
    if let (true, false, [only]) = (all, single, families.as_slice()) {
        let other = if only == "IPv4" { "IPv6" } else { "IPv4" };
        families.push(other.to_owned());
    }
    spec["ipFamilies"] = families.into();
    causes
}

/// The fault of a requested address. A dry run does not see which ones are taken.
fn unavailable_address(old: &Value, new: &Value, others: &[&Value], dry_run: bool) -> Option<Cause> {
    let address = new["clusterIP"].as_str().filter(|address| !matches!(*address, "" | "None"))?;
    if !needs_address(new) || (needs_address(old) && is_given(&old["clusterIP"])) {
        return None;
    }
    let is_ours = match parse_address(address)? {
        // The addresses of the network and of its broadcasts belong to no service.
        IpAddr::V4(address) => {
            let [a, b, last @ ..] = address.octets();
            [a, b] == RANGE.octets()[..2] && !matches!(last, [0, 0] | [255, 255])
        }
        IpAddr::V6(_) => false,
    };
    let is_taken = || others.iter().any(|spec| meta::strings(&spec["clusterIPs"]).contains(&address));
    let why = match (is_ours, dry_run) {
        (true, false) if is_taken() => "provided IP is already allocated".to_owned(),
        (true, _) => return None,
        (false, false) => "the provided network does not match the current range".to_owned(),
        (false, true) => format!(
            "the provided IP ({address}) is not in the valid range. The range of valid IPs is {RANGE}/16"
        ),
    };
    let detail = format!("failed to allocate IP {address}: {why}");
    Some(Cause::invalid("spec.clusterIPs", &new["clusterIPs"], &detail))
}

/// The first address of the range of services, which has 16 bits.
const RANGE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);

/// Reports whether a Service has neither an address nor a selector, so that nobody needs its families.
fn is_headless_alone(spec: &Value) -> bool {
    spec["clusterIP"] == "None" && spec["selector"].as_object().is_none_or(serde_json::Map::is_empty)
}

fn needs_address(spec: &Value) -> bool {
    spec["type"] != "ExternalName"
}

/// Reports whether the Service may have node ports (`needsNodePort`).
fn needs_node_ports(spec: &Value) -> bool {
    matches!(spec["type"].as_str(), Some("NodePort" | LOAD_BALANCER))
}

/// Reports whether the Service is given node ports (`shouldAllocateNodePorts`).
fn allocates_node_ports(spec: &Value) -> bool {
    needs_node_ports(spec) && (spec["type"] == "NodePort" || spec["allocateLoadBalancerNodePorts"] != false)
}
