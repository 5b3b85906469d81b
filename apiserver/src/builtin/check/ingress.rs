//! Ingresses and network policies. Source: `pkg/apis/networking/validation`.

use serde_json::Value;

use super::addresses::{self, Range};
use super::field::{Errors, Field};
use crate::names::NameRule;
use crate::status::Cause;

/// The annotation that a class had before it was a field.
pub(in crate::builtin) const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";

/// `ValidateIngressCreate` and `ValidateIngressUpdate`.
pub(in crate::builtin) fn ingress(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        let spec = root.child("spec");
        let (rules, default) = (spec.child("rules"), spec.child("defaultBackend"));
        if rules.is_empty() && !default.is_set() {
            errors
                .invalid(&spec.holding(rules.value), "either `defaultBackend` or `rules` must be specified");
        }
        if default.is_set() {
            backend(&default, errors);
        }
        for rule in rules.items() {
            let host = rule.child("host");
            if !host.is_empty() {
                if addresses::parse(host.text()).is_some() {
                    errors.invalid(&host, "must be a DNS name, not an IP address");
                }
                host_name(&host, errors);
            }
            if !host.text().contains('*') || !old.is_some_and(has_invalid_wildcard) {
                http(&rule.child("http"), errors);
            }
        }
        for tls in spec.child("tls").items() {
            for host in tls.child("hosts").items() {
                host_name(&host, errors);
            }
            if !old.is_some_and(has_invalid_secret) {
                errors.optional_name(&tls.child("secretName"), NameRule::Subdomain);
            }
        }
        let class = spec.child("ingressClassName");
        if class.is_set() {
            errors.all_invalid(&class, NameRule::Subdomain.check(class.text()));
        }
        let annotation = root.child("metadata").child("annotations").key(INGRESS_CLASS);
        if old.is_none() && class.is_set() && annotation.is_set() && annotation.text() != class.text() {
            let place = annotation.at(format!("annotations.{INGRESS_CLASS}"));
            errors.invalid(&place, "must match `ingressClassName` when both are specified");
        }
    })
}

/// `allowInvalidSecretName`, of the stored object.
fn has_invalid_secret(old: &Value) -> bool {
    let mut secrets = Field::root(old).child("spec").child("tls").items().map(|tls| tls.child("secretName"));
    secrets.any(|name| !name.is_empty() && !NameRule::Subdomain.check(name.text()).is_empty())
}

/// `allowInvalidWildcardHostRule`, of the stored object.
fn has_invalid_wildcard(old: &Value) -> bool {
    let is_invalid = |rule: &Field<'_>| !Errors::of(|errors| http(&rule.child("http"), errors)).is_empty();
    let mut rules = Field::root(old).child("spec").child("rules").items();
    rules.any(|rule| rule.child("host").text().contains('*') && is_invalid(&rule))
}

/// Checks a name, which may begin with a wildcard: `IsWildcardDNS1123Subdomain`.
fn host_name(host: &Field<'_>, errors: &mut Errors) {
    if !host.text().contains('*') {
        errors.all_invalid(host, NameRule::Subdomain.check(host.text()));
        return;
    }
    let rest = host.text().strip_prefix("*.");
    if rest.is_none_or(|rest| !NameRule::Subdomain.check(rest).is_empty()) {
        let detail = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
                      consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character \
                      (e.g. '*.example.com', regex used for validation is \
                      '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
        errors.invalid(host, detail);
    }
}

fn http(http: &Field<'_>, errors: &mut Errors) {
    if !http.is_set() {
        return;
    }
    let paths = http.child("paths");
    if paths.is_empty() {
        errors.required(&paths, "");
    }
    for at in paths.items() {
        let (path, type_) = (at.child("path"), at.child("pathType"));
        match type_.text() {
            "" if !type_.is_set() => {
                errors.required(&type_, "pathType must be specified");
                continue;
            }
            "Exact" | "Prefix" => rooted_path(&path, errors),
            "ImplementationSpecific" => {
                if !path.is_empty() && !path.text().starts_with('/') {
                    errors.invalid(&path, "must be an absolute path");
                }
            }
            _ => errors.not_supported(&type_, &["Exact", "ImplementationSpecific", "Prefix"]),
        }
        backend(&at.child("backend"), errors);
    }
}

fn rooted_path(path: &Field<'_>, errors: &mut Errors) {
    let text = Value::from(path.text());
    let path = path.holding(&text);
    if !path.text().starts_with('/') {
        errors.invalid(&path, "must be an absolute path");
    }
    for sequence in ["//", "/./", "/../", "%2f", "%2F"] {
        if path.text().contains(sequence) {
            errors.invalid(&path, &format!("must not contain '{sequence}'"));
        }
    }
    for suffix in ["/..", "/."] {
        if path.text().ends_with(suffix) {
            errors.invalid(&path, &format!("cannot end with '{suffix}'"));
        }
    }
}

/// The value in errors of a backend.
const EMPTY: &str = "\"\"";

/// `validateIngressBackend`.
fn backend(backend: &Field<'_>, errors: &mut Errors) {
    let (service, resource) = (backend.child("service"), backend.child("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => errors.invalid_as(backend, EMPTY, "cannot set both resource and service backends"),
        (false, false) => errors.invalid_as(backend, EMPTY, "resource or service backend is required"),
        (false, true) => {
            let group = resource.child("apiGroup");
            if group.is_set() {
                errors.all_invalid(&group, NameRule::Subdomain.check(group.text()));
            }
            errors.required_name(&resource.child("kind"), NameRule::PathSegment);
            errors.required_name(&resource.child("name"), NameRule::PathSegment);
        }
        (true, false) => {
            let name = service.child("name");
            errors.required_name(&name, NameRule::Label);
            let port = service.child("port");
            let (number, port_name) = (port.child("number"), port.child("name"));
            let numbered = number.number_or_zero() != 0;
            if numbered && !port_name.is_empty() {
                errors.invalid_as(backend, EMPTY, "cannot set both port name & port number");
            } else if numbered {
                errors.port_number(&number);
            } else if !port_name.is_empty() {
                errors.port(&port_name);
            } else {
                errors.required(backend, "port name or number is required");
            }
        }
    }
}

pub(in crate::builtin) fn ingress_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let list = Field::root(new).child("status").child("loadBalancer").child("ingress");
        super::services::load_balancer_ingress(&list, old, &[], errors);
    })
}

/// The ingress and egress rules of a policy and their peers, as the fields name them.
const RULES: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

/// The ranges of all peers of a policy, which stay valid on an update.
fn ranges<'v>(spec: &Field<'v>) -> Vec<&'v str> {
    let rules = RULES.iter().flat_map(|(list, peers)| {
        spec.child(list)
            .items()
            .flat_map(|rule| rule.child(peers).items().collect::<Vec<_>>())
            .collect::<Vec<_>>()
    });
    let blocks = rules.map(|peer| peer.child("ipBlock"));
    blocks
        .flat_map(|block| {
            let mut ranges = block.child("except").texts();
            ranges.push(block.child("cidr").text());
            ranges
        })
        .collect()
}

/// `ValidateNetworkPolicy` and `ValidateNetworkPolicyUpdate`.
pub(in crate::builtin) fn network_policy(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let spec = Field::root(object).child("spec");
        let kept = old.map(|old| ranges(&Field::root(old).child("spec"))).unwrap_or_default();
        errors.label_selector(&spec.child("podSelector"));
        for (list, peers) in RULES {
            for rule in spec.child(list).items() {
                for port in rule.child("ports").items() {
                    policy_port(&port, errors);
                }
                for peer in rule.child(peers).items() {
                    policy_peer(&peer, &kept, errors);
                }
            }
        }
        let types = spec.child("policyTypes");
        if types.texts().len() > 2 {
            errors.invalid(&types, "may not specify more than two policyTypes");
            return;
        }
        for type_ in types.items() {
            errors.optional_one_of(&type_, &["Ingress", "Egress"]);
        }
    })
}

fn policy_port(port: &Field<'_>, errors: &mut Errors) {
    let (protocol, number, end) = (port.child("protocol"), port.child("port"), port.child("endPort"));
    errors.optional_one_of(&protocol, &["TCP", "UDP", "SCTP"]);
    match number.number() {
        None if end.is_set() && number.is_set() => {
            errors.invalid(&end, "may not be specified when `port` is non-numeric");
            errors.port(&number);
        }
        None if end.is_set() => errors.invalid(&end, "may not be specified when `port` is not specified"),
        None if number.is_set() => errors.port(&number),
        None => {}
        Some(start) => {
            errors.port(&number);
            if end.is_set() {
                if end.number_or_zero() < start {
                    // The error shows the port.
                    errors.invalid(&number.at(end.path.clone()), "must be greater than or equal to `port`");
                }
                errors.port_number(&end);
            }
        }
    }
}

/// `ValidateIPBlock`.
fn ip_block(block: &Field<'_>, kept: &[&str], errors: &mut Errors) {
    let range = block.child("cidr");
    if range.is_empty() {
        errors.required(&range, "");
        return;
    }
    addresses::range(&range, kept, errors);
    let Some(whole) = Range::parse(range.text()) else { return };
    for except in block.child("except").items() {
        addresses::range(&except, kept, errors);
        if Range::parse(except.text()).is_some_and(|part| !whole.has_part(part)) {
            errors.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}

fn policy_peer(peer: &Field<'_>, kept: &[&str], errors: &mut Errors) {
    let (pods, namespaces, block) =
        (peer.child("podSelector"), peer.child("namespaceSelector"), peer.child("ipBlock"));
    errors.label_selector(&pods);
    errors.label_selector(&namespaces);
    if block.is_set() {
        ip_block(&block, kept, errors);
    }
    if !pods.is_set() && !namespaces.is_set() && !block.is_set() {
        errors.required(peer, "must specify a peer");
    } else if block.is_set() && (pods.is_set() || namespaces.is_set()) {
        errors.forbidden(peer, "may not specify both ipBlock and another peer");
    }
}
