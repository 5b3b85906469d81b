//! A Balancer's spec, parsed once into values that nginx or a Service cannot misunderstand.
//!
//! The CRD refuses all of this already. It is checked again here since a CRD can be older than the program, or changed
//! by hand, and these texts become part of a configuration file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use balancer_api::v1alpha1::{BackendSpec, Balancer, BalancerPort, LabelValue, Protocol};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubesmith_runtime::labels::Selector;

/// The length limit of a label, and so of a Service's name.
const LABEL_LENGTH: usize = 63;

/// The length limit of a container port's name.
const PORT_NAME_LENGTH: usize = 15;

/// A valid spec of a Balancer.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The Balancer's name.
    pub name: Label,
    /// The ports that clients connect to, in the order of the spec.
    pub ports: Vec<Port>,
    /// The backends, in the order of the spec.
    pub backends: Vec<Backend>,
}

/// A port that clients connect to.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its name.
    pub name: Label,
    /// The transport protocol.
    pub transport: Transport,
    /// The number, for clients and for the backends' Services.
    pub number: u16,
    /// The port of the backends' pods.
    pub target: IntOrString,
}

/// A transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
}

/// A weighted target.
#[derive(Clone, Debug, PartialEq)]
pub struct Backend {
    /// The name of its Service.
    pub service: Label,
    /// Its share of the traffic, relative to the other backends'.
    pub weight: u32,
    /// The labels of its pods: those of the Balancer and its own, which win.
    pub selector: BTreeMap<String, String>,
}

/// A DNS label (RFC 1123): it has no special meaning in YAML, in nginx's configuration and in host names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label(String);

/// All faults of a spec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct Refusal(Vec<String>);

impl Plan {
    /// Parses the spec of `balancer`.
    ///
    /// # Errors
    ///
    /// Returns [`Refusal`]: names that are no labels, malformed selectors, numbers out of range, names and ports that
    /// are listed twice.
    pub fn new(balancer: &Balancer) -> Result<Plan, Refusal> {
        let mut refusals = Vec::new();
        let name = service_name("the Balancer's name", balancer.metadata.name.as_deref().unwrap_or_default());
        let name = name.map_err(|why| refusals.push(why)).ok();
        let spec = &balancer.spec;
        let shared = selector("the Balancer's selector", &spec.selector);
        let shared = shared.map_err(|why| refusals.push(why)).unwrap_or_default();
        let ports: Vec<Port> = accepted(spec.ports.iter().map(port), &mut refusals);
        let backends = match &name {
            Some(name) => {
                let backends = spec.backends.iter().map(|it| backend(name, &shared, it));
                accepted(backends, &mut refusals)
            }
            None => Vec::new(),
        };
        refusals.extend(repeated("port name", ports.iter().map(|it| it.name.to_string())));
        let numbers = ports.iter().map(|it| format!("{}/{}", it.number, it.transport));
        refusals.extend(repeated("port", numbers));
        refusals.extend(repeated("backend", spec.backends.iter().map(|it| format!("{:?}", it.name))));
        if spec.ports.is_empty() {
            refusals.push("there is no port".to_owned());
        }
        if spec.backends.is_empty() {
            refusals.push("there is no backend".to_owned());
        }
        match name {
            Some(name) if refusals.is_empty() => Ok(Plan { name, ports, backends }),
            _ => Err(Refusal(refusals)),
        }
    }
}

fn accepted<T>(items: impl Iterator<Item = Result<T, String>>, refusals: &mut Vec<String>) -> Vec<T> {
    items.filter_map(|item| item.map_err(|why| refusals.push(why)).ok()).collect()
}

fn repeated(what: &str, items: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    items
        .filter(|item| !seen.insert(item.clone()))
        .map(|item| format!("{what} {item} is listed twice"))
        .collect()
}

fn port(port: &BalancerPort) -> Result<Port, String> {
    let name = Label::new("the name of a port", &port.name)?;
    let transport = match port.protocol.as_ref().map_or(Protocol::TCP, |protocol| &protocol.0) {
        Protocol::TCP => Transport::Tcp,
        Protocol::UDP => Transport::Udp,
        other => return Err(format!("the protocol of port {name} is {other:?}, neither TCP nor UDP")),
    };
    let number = u16::try_from(port.port.0).ok().filter(|number| *number > 0);
    let number = number.ok_or_else(|| format!("port {name} is {}, not within 1 and 65535", port.port.0))?;
    let target = target(&name, port)?;
    Ok(Port { name, transport, number, target })
}

/// Returns the target port: the port itself if the target is absent, 0 or empty, as in a Service.
fn target(name: &Label, port: &BalancerPort) -> Result<IntOrString, String> {
    match &port.target_port {
        None | Some(IntOrString::Int(0)) => Ok(IntOrString::Int(port.port.0)),
        Some(IntOrString::String(text)) if text.is_empty() => Ok(IntOrString::Int(port.port.0)),
        Some(IntOrString::Int(number)) if !(1..=65535).contains(number) => {
            Err(format!("the target of port {name} is {number}, not within 1 and 65535"))
        }
        Some(IntOrString::String(text)) if !is_port_name(text) => Err(format!(
            "the target of port {name} is {text:?}, not the name of a container's port: 1 to {PORT_NAME_LENGTH} lower-case \
             letters, digits and single '-', at least one letter, neither first nor last a '-'"
        )),
        Some(target) => Ok(target.clone()),
    }
}

/// Reports whether the text is a valid name of a container's port (RFC 6335).
fn is_port_name(text: &str) -> bool {
    text.len() <= PORT_NAME_LENGTH
        && text.bytes().all(is_label_byte)
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && text.split('-').all(|part| !part.is_empty())
}

/// Checks labels of pods.
fn selector(what: &str, labels: &BTreeMap<String, LabelValue>) -> Result<BTreeMap<String, String>, String> {
    let labels = labels.iter().map(|(key, value)| (key.clone(), value.0.clone())).collect();
    match Selector::from_labels(&labels) {
        Ok(_) => Ok(labels),
        Err(why) => Err(format!("{what} selects nothing: {why}")),
    }
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

fn backend(
    balancer: &Label,
    shared: &BTreeMap<String, String>,
    backend: &BackendSpec,
) -> Result<Backend, String> {
    Label::new("the name of a backend", &backend.name)?;
    let service =
        service_name("the name of a backend's Service", &format!("{balancer}-{}-backend", backend.name))?;
    let weight = u32::try_from(backend.weight).ok().filter(|weight| *weight > 0);
    let weight = weight
        .ok_or_else(|| format!("the weight of backend {} is {}, below 1", backend.name, backend.weight))?;
    let own = selector(&format!("the selector of backend {}", backend.name), &backend.selector)?;
    let mut selector = shared.clone();
    selector.extend(own);
    Ok(Backend { service, weight, selector })
}

/// Checks a label that begins with a letter, as names of Services do.
fn service_name(what: &str, text: &str) -> Result<Label, String> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(format!("{what} is {text:?}, and the name of a Service begins with a letter"));
    }
    Label::new(what, text)
}

impl Label {
    fn new(what: &str, text: &str) -> Result<Self, String> {
        let is_label = !text.is_empty()
            && text.len() <= LABEL_LENGTH
            && text.bytes().all(is_label_byte)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if is_label {
            return Ok(Label(text.to_owned()));
        }
        Err(format!(
            "{what} is {text:?}, not 1 to {LABEL_LENGTH} lower-case letters, digits and '-', neither first nor last a '-'"
        ))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Transport {
    /// Writes the protocol as Services do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transport::Tcp => Protocol::TCP,
            Transport::Udp => Protocol::UDP,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::balancer;

    fn refusal(change: impl FnOnce(&mut Balancer)) -> String {
        let mut balancer = balancer();
        change(&mut balancer);
        Plan::new(&balancer).map(|plan| format!("{plan:?}")).expect_err("refused").to_string()
    }

    #[test]
    fn plan_of_the_sample_has_its_ports_and_backends() {
        let plan = Plan::new(&balancer()).expect("the sample is accepted");
        assert_eq!(plan.ports[0].target, IntOrString::Int(5678));
        let services: Vec<_> = plan.backends.iter().map(|it| (it.service.as_str(), it.weight)).collect();
        let expected = [
            ("balancer-sample-v1-backend", 40),
            ("balancer-sample-v2-backend", 20),
            ("balancer-sample-v3-backend", 40),
        ];
        assert_eq!(services, expected);
        let selector =
            [("app", "test"), ("version", "v1")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(plan.backends[0].selector, BTreeMap::from(selector));
    }

    #[test]
    fn port_is_its_own_target_when_none_is_given() {
        let mut balancer = balancer();
        // Go writes a target that is not set as 0.
        for none in [None, Some(IntOrString::Int(0)), Some(IntOrString::String(String::new()))] {
            balancer.spec.ports[0].target_port = none;
            assert_eq!(Plan::new(&balancer).expect("accepted").ports[0].target, IntOrString::Int(80));
        }
    }

    #[test]
    fn refusal_names_every_invalid_field() {
        let text = refusal(|it| {
            it.spec.ports[0].name = "http; } stream {".to_owned();
            it.spec.backends[0].weight = 0;
            it.spec.backends[1].name = "v3".to_owned();
        });
        assert!(text.contains(r#"the name of a port is "http; } stream {", not 1 to 63"#), "{text}");
        assert!(text.contains("the weight of backend v1 is 0, below 1"), "{text}");
        assert!(text.contains(r#"backend "v3" is listed twice"#), "{text}");
    }

    #[test]
    fn name_is_refused_when_no_service_can_have_it() {
        assert!(refusal(|it| it.metadata.name = Some("1st".to_owned())).contains("begins with a letter"));
        assert!(refusal(|it| it.metadata.name = Some("a.b".to_owned())).contains("the Balancer's name"));
        assert!(refusal(|it| it.metadata.name = Some("a".repeat(54))).contains("a backend's Service"));
    }

    #[test]
    fn selector_is_refused_when_no_labels_can_match() {
        let label = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), LabelValue(value.to_owned()))]);
        let text = refusal(|it| it.spec.selector = label("app", "a b"));
        let wanted = r#"the Balancer's selector selects nothing: values[0][app]: Invalid value: "a b""#;
        assert!(text.starts_with(wanted), "{text}");
        let text = refusal(|it| it.spec.backends[0].selector = label("-/x", "y"));
        assert!(
            text.starts_with(r#"the selector of backend v1 selects nothing: key: Invalid value: "-/x""#),
            "{text}"
        );
    }

    #[test]
    fn target_port_is_refused_when_no_container_can_have_it() {
        let target = |target| move |it: &mut Balancer| it.spec.ports[0].target_port = Some(target);
        let named = |text: &str| target(IntOrString::String(text.to_owned()));
        for number in [-1, 65536] {
            let text = refusal(target(IntOrString::Int(number)));
            assert_eq!(text, format!("the target of port http is {number}, not within 1 and 65535"));
        }
        for text in ["80", "a--b", "-a", "a-", "A", "a b", "a;", "sixteen-letters-"] {
            assert!(refusal(named(text)).contains("not the name of a container's port"), "{text}");
        }
        for text in ["http", "a", "8a", "1-2-a-3", "fifteen-letters"] {
            let mut balancer = balancer();
            named(text)(&mut balancer);
            assert!(Plan::new(&balancer).is_ok(), "{text}");
        }
    }

    #[test]
    fn duplicate_and_invalid_ports_are_refused() {
        assert!(refusal(|it| it.spec.ports[0].port.0 = 65536).contains("not within 1 and 65535"));
        assert!(
            refusal(|it| it.spec.ports[0].protocol = Some(Protocol("SCTP".to_owned()))).contains("neither")
        );
        let again = refusal(|it| {
            let mut port = it.spec.ports[0].clone();
            port.name = "again".to_owned();
            it.spec.ports.push(port);
        });
        assert_eq!(again, "port 80/TCP is listed twice");
        assert_eq!(refusal(|it| it.spec.ports.clear()), "there is no port");
        assert_eq!(refusal(|it| it.spec.backends.clear()), "there is no backend");
    }
}
