//! Endpoints and their slices. Source: `ValidateEndpoints` and `pkg/apis/discovery/validation`.

use kubesmith_apimachinery::names;
use serde_json::Value;

use super::addresses;
use super::field::{Errors, Field};
use crate::names::NameRule;
use crate::status::Cause;

pub(in crate::builtin) fn endpoints(object: &Value, _: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        for subset in Field::root(object).child("subsets").items() {
            let lists = [subset.child("addresses"), subset.child("notReadyAddresses")];
            if lists.iter().all(Field::is_empty) {
                errors.required(&subset, "must specify `addresses` or `notReadyAddresses`");
            }
            for address in lists.iter().flat_map(Field::items) {
                let ip = address.child("ip");
                let parsed = addresses::ip(&ip, errors);
                errors.optional_name(&address.child("hostname"), NameRule::Label);
                errors.optional_name(&address.child("nodeName"), NameRule::Subdomain);
                match parsed {
                    Some(parsed) => addresses::not_special(parsed, &ip, errors),
                    None => errors.invalid(&ip, "must be a valid IP address"),
                }
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
/// Hints that an endpoint may have: `maxZoneHints`.
const MOST_HINTS: usize = 8;
/// Ports that a slice may hold: `maxPorts`.
const MOST_PORTS: usize = 20_000;
/// Addresses that an endpoint may have: `maxAddresses`.
const MOST_ADDRESSES: usize = 100;

pub(in crate::builtin) fn endpoint_slice(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let type_ = root.child("addressType");
        errors.one_of(&type_, &["FQDN", "IPv4", "IPv6"]);
        let endpoints = root.child("endpoints");
        errors.at_most(&endpoints, MOST_ENDPOINTS);
        for endpoint in endpoints.items() {
            let addresses = endpoint.child("addresses");
            if addresses.is_empty() {
                errors.required(&addresses, "must contain at least 1 address");
            }
            errors.at_most(&addresses, MOST_ADDRESSES);
            for address in addresses.items() {
                slice_address(type_.text(), &address, errors);
            }
            errors.optional_name(&endpoint.child("nodeName"), NameRule::Subdomain);
            errors.optional_name(&endpoint.child("hostname"), NameRule::Label);
            hints(&endpoint.child("hints").child("forZones"), errors);
        }
        slice_ports(&root.child("ports"), errors);
        if let Some(old) = old {
            errors.immutable(&type_, &Field::root(old).child("addressType"));
        }
    })
}

/// `validateHints`, of zones.
fn hints(zones: &Field<'_>, errors: &mut Errors) {
    let before = errors.len();
    errors.at_most(zones, MOST_HINTS);
    if errors.len() > before {
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    for zone in zones.items() {
        let name = zone.child("name");
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        errors.all_invalid(&name, names::label_value(name.text()));
    }
}

fn slice_address(type_: &str, address: &Field<'_>, errors: &mut Errors) {
    if type_ == "FQDN" {
        errors.all_invalid(address, NameRule::Subdomain.check(address.text()));
        return;
    }
    let Some(parsed) = addresses::ip(address, errors) else { return };
    match type_ {
        "IPv4" if parsed.is_ipv6() => errors.invalid(address, "must be an IPv4 address"),
        "IPv6" if parsed.is_ipv4() => errors.invalid(address, "must be an IPv6 address"),
        _ => addresses::not_special(parsed, address, errors),
    }
}

fn slice_ports(ports: &Field<'_>, errors: &mut Errors) {
    errors.at_most(ports, MOST_PORTS);
    let mut seen: Vec<&str> = Vec::new();
    for port in ports.items() {
        let name = port.child("name");
        errors.optional_name(&name, NameRule::Label);
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        errors.one_of(&port.child("protocol"), &["SCTP", "TCP", "UDP"]);
        if port.child("appProtocol").is_set() {
            errors.qualified_name(&port.child("appProtocol"));
        }
    }
}
