//! The proxy's configuration, as a function of the plan.

use std::fmt::Write;

use crate::plan::{Plan, Port, Transport};

/// Returns the text of `nginx.conf`: a server for each port, whose upstream has every backend with its weight.
///
/// Its parts are [`Label`](crate::plan::Label)s and numbers, so that nothing in a Balancer can become a directive.
#[must_use]
pub fn configuration(plan: &Plan) -> String {
    let mut text = "events {\n    worker_connections 1024;\n}\nstream {\n".to_owned();
    for port in &plan.ports {
        server(&mut text, port);
    }
    for port in &plan.ports {
        upstream(&mut text, plan, port);
    }
    text.push_str("}\n");
    text
}

fn server(text: &mut String, port: &Port) {
    // A listener uses TCP by default; there is no keyword for it.
    let transport = match port.transport {
        Transport::Tcp => "",
        Transport::Udp => " udp",
    };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "    server {{\n        listen {}{transport};\n        proxy_pass upstream_{};\n    }}\n",
        port.number, port.name,
    );
}

fn upstream(text: &mut String, plan: &Plan, port: &Port) {
    let _ = writeln!(text, "    upstream upstream_{} {{", port.name);
    for backend in &plan.backends {
        let _ =
            writeln!(text, "        server {}:{} weight={};", backend.service, port.number, backend.weight);
    }
    text.push_str("    }\n");
}

#[cfg(test)]
mod tests {
    use balancer_api::v1alpha1::{Balancer, BalancerPort, LabelValue, Port, Protocol};
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use proptest::prelude::*;

    use super::*;
    use crate::fixtures::balancer;

    fn of(balancer: &Balancer) -> String {
        configuration(&Plan::new(balancer).expect("accepted"))
    }

    #[test]
    fn configuration_shares_a_port_by_weight() {
        let expected = "\
events {
    worker_connections 1024;
}
stream {
    server {
        listen 80;
        proxy_pass upstream_http;
    }
    upstream upstream_http {
        server balancer-sample-v1-backend:80 weight=40;
        server balancer-sample-v2-backend:80 weight=20;
        server balancer-sample-v3-backend:80 weight=40;
    }
}
";
        assert_eq!(of(&balancer()), expected);
    }

    #[test]
    fn listen_directive_names_the_protocol_when_it_is_udp() {
        let mut balancer = balancer();
        balancer.spec.ports.push(BalancerPort {
            name: "dns".to_owned(),
            protocol: Some(Protocol(Protocol::UDP.to_owned())),
            port: Port(53),
            target_port: None,
        });
        let text = of(&balancer);
        assert!(text.contains("        listen 80;\n") && text.contains("        listen 53 udp;\n"), "{text}");
        assert!(text.contains("        server balancer-sample-v3-backend:53 weight=40;\n"), "{text}");
    }

    /// Texts that try to inject directives, and any others.
    fn hostile() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            ";",
            "{",
            "}",
            "\n",
            "\r",
            " ",
            "\t",
            "#",
            "\"",
            "'",
            "\\",
            "$",
            "\0",
            "listen 81",
            "include /etc/passwd",
            "load_module x.so",
            "v1",
            "a",
            "-",
            ".",
            ":80",
            "weight=1",
            "é",
            "\u{2028}",
        ]);
        prop_oneof![
            1 => prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat()),
            1 => ".*",
            1 => "[a-z0-9-]{1,20}",
            // With seven texts at a time, most have to be harmless for some Balancers to be accepted.
            9 => "[a-z]{1,15}",
        ]
    }

    proptest! {
        #[test]
        fn fields_of_a_balancer_cannot_add_directives(
            texts in prop::array::uniform7(hostile()),
            number in prop_oneof![any::<i32>(), 1..=65535],
            weight in prop_oneof![any::<i32>(), 1..=i32::MAX],
        ) {
            let mut balancer = balancer();
            let [name, port, target, protocol, backend, key, value] = texts;
            balancer.metadata.name = Some(name);
            balancer.spec.ports[0].name = port;
            balancer.spec.ports[0].target_port = Some(IntOrString::String(target));
            if !protocol.bytes().all(|byte| byte.is_ascii_lowercase()) {
                balancer.spec.ports[0].protocol = Some(Protocol(protocol));
            }
            balancer.spec.ports[0].port = Port(number);
            balancer.spec.backends[0].name = backend;
            balancer.spec.backends[0].weight = weight;
            balancer.spec.backends[1].selector.insert(key.clone(), LabelValue(value.clone()));
            balancer.spec.selector.insert(value, LabelValue(key));
            let Ok(plan) = Plan::new(&balancer) else { return Ok(()) };
            let (text, expected) = (configuration(&plan), of(&crate::fixtures::balancer()));
            prop_assert_eq!(shape(&text), shape(&expected));
        }
    }

    /// The directives without their arguments.
    fn shape(text: &str) -> Vec<&str> {
        let words = text.lines().map(|line| line.trim().split(' ').next().unwrap_or_default());
        assert!(text.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)), "{text:?}");
        for line in text.lines().map(str::trim).filter(|line| line.len() > 1) {
            assert_eq!(line.matches([';', '{', '}']).count(), 1, "{line:?}");
            assert!(line.ends_with([';', '{']), "{line:?}");
        }
        words.collect()
    }
}
