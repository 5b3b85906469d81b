//! Endpoints and their slices. Source: `ValidateEndpoints` and `pkg/apis/discovery/validation`.

use kubesmith_apimachinery::names;
use serde_json::Value;

use super::addresses;
use super::field::{Errors, Field};
use crate::names::NameRule;
use crate::status::Cause;

/// `ValidateEndpoints`, which accepts subsets that the old object has.
pub(in crate::builtin) fn endpoints(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    if old.is_some_and(|old| old["subsets"] == object["subsets"]) {
        return Vec::new();
    }
    Errors::of(|errors| {
        for subset in Field::root(object).child("subsets").items() {
            let lists = [subset.child("addresses"), subset.child("notReadyAddresses")];
            if lists.iter().all(Field::is_empty) {
                errors.required(&subset, "must specify `addresses` or `notReadyAddresses`");
            }
            for address in lists.iter().flat_map(Field::items) {
                let ip = address.child("ip");
                addresses::ip(&ip, &[], errors);
                errors.optional_name(&address.child("hostname"), NameRule::Label);
                let node = address.child("nodeName");
                if node.is_set() {
                    errors.all_invalid(&node, NameRule::Subdomain.check(node.text()));
                }
                addresses::of_endpoint(&ip, errors);
            }
            let ports = subset.child("ports");
            let needs_name = ports.items().count() > 1;
            for port in ports.items() {
                let name = port.child("name");
                if needs_name && name.is_empty() {
                    errors.required(&name, "");
                }
                errors.optional_name(&name, NameRule::Label);
                errors.port_number(&port.child("port"));
                errors.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
                if port.child("appProtocol").is_set() {
                    errors.qualified_name(&port.child("appProtocol"));
                }
            }
        }
    })
}

/// Endpoints that a slice may hold: `maxEndpoints`.
const MOST_ENDPOINTS: usize = 1000;
/// Zones and nodes that an endpoint's hints may name: `maxZoneHints` and `maxNodeHints`.
const MOST_HINTS: usize = 8;
/// Ports that a slice may hold: `maxPorts`.
const MOST_PORTS: usize = 20_000;
/// Addresses that an endpoint may have: `maxAddresses`.
const MOST_ADDRESSES: usize = 100;

/// `ValidateEndpointSlice`, which accepts endpoints that the old object has.
pub(in crate::builtin) fn endpoint_slice(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let type_ = root.child("addressType");
        errors.one_of(&type_, &["FQDN", "IPv4", "IPv6"]);
        slice_ports(&root.child("ports"), errors);
        if old.is_none_or(|old| old["endpoints"] != object["endpoints"]) {
            slice_endpoints(&root.child("endpoints"), type_.text(), errors);
        }
        if let Some(old) = old {
            errors.immutable(&type_, &Field::root(old).child("addressType"));
        }
    })
}

/// `validateEndpoints`
fn slice_endpoints(endpoints: &Field<'_>, type_: &str, errors: &mut Errors) {
    if !errors.at_most(endpoints, MOST_ENDPOINTS) {
        return;
    }
    for endpoint in endpoints.items() {
        let addresses = endpoint.child("addresses");
        if addresses.is_empty() {
            errors.required(&addresses, "must contain at least 1 address");
        }
        errors.at_most(&addresses, MOST_ADDRESSES);
        for address in addresses.items() {
            slice_address(type_, &address, &addresses, errors);
        }
        for (name, rule) in [("nodeName", NameRule::Subdomain), ("hostname", NameRule::Label)] {
            let name = endpoint.child(name);
            if name.is_set() {
                errors.all_invalid(&name, rule.check(name.text()));
            }
        }
        let hints = endpoint.child("hints");
        if self::hints(&hints.child("forZones"), names::label_value, errors) {
            self::hints(&hints.child("forNodes"), |name| NameRule::Subdomain.check(name), errors);
        }
    }
}

/// `validateHints`: checks the zones or nodes of a hint; returns whether their number is allowed.
fn hints(hints: &Field<'_>, check: impl Fn(&str) -> Vec<String>, errors: &mut Errors) -> bool {
    if !errors.at_most(hints, MOST_HINTS) {
        return false;
    }
    let mut seen: Vec<&str> = Vec::new();
    for hint in hints.items() {
        let name = hint.child("name");
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        errors.all_invalid(&name, check(name.text()));
    }
    true
}

/// Checks an address of a slice; the error about its family names the list.
fn slice_address(type_: &str, address: &Field<'_>, list: &Field<'_>, errors: &mut Errors) {
    let family = address.at(list.path.clone());
    match type_ {
        "IPv4" => {
            if let Some(parsed) = addresses::ip(address, &[], errors) {
                if parsed.is_ipv6() {
                    errors.invalid(&family, "must be an IPv4 address");
                }
                addresses::of_endpoint(address, errors);
            }
        }
        "IPv6" => {
            if let Some(parsed) = addresses::canonical_ip(address, errors) {
                if parsed.is_ipv4() {
                    errors.invalid(&family, "must be an IPv6 address");
                }
                addresses::of_endpoint(address, errors);
            }
        }
        "FQDN" => full_name(address, errors),
        _ => {}
    }
}

/// `IsFullyQualifiedDomainName`
fn full_name(field: &Field<'_>, errors: &mut Errors) {
    let name = field.text().strip_suffix('.').unwrap_or(field.text());
    let faults = NameRule::Subdomain.check(name);
    let shown = Value::from(name);
    if field.text().is_empty() {
        errors.required(field, "");
    } else if !faults.is_empty() {
        errors.invalid(&field.holding(&shown), &faults.join(","));
    } else if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.invalid(&field.holding(&shown), detail);
    } else if let Some(label) = name.split('.').find(|label| !NameRule::Label.check(label).is_empty()) {
        errors.invalid(&field.holding(&label.into()), &NameRule::Label.check(label).join(","));
    }
}

fn slice_ports(ports: &Field<'_>, errors: &mut Errors) {
    if !errors.at_most(ports, MOST_PORTS) {
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    for port in ports.items() {
        let name = port.child("name");
        errors.optional_name(&name, NameRule::Label);
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        errors.optional_one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
        if port.child("appProtocol").is_set() {
            errors.qualified_name(&port.child("appProtocol"));
        }
    }
}
