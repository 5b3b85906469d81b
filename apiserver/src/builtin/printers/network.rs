//! The tables of services, endpoints, ingresses and network policies.

use serde_json::Value;

use super::{AGE, BuiltInColumn, Cell, NAME, labels, list, made, or_none, selector, string, text, wide};

pub(super) const SERVICES: &[BuiltInColumn] = &[
    NAME,
    text("Type", Cell::At("/spec/type")),
    made("Cluster-IP", |o, _| or_none(string(&o["spec"], "clusterIP").to_owned())),
    made("External-IP", |o, _| external(o).into()),
    made("Port(s)", |o, _| or_none(service_ports(o))),
    AGE,
    wide(made("Selector", |o, _| labels(&o["spec"]["selector"]).into())),
];

pub(super) const ENDPOINTS: &[BuiltInColumn] =
    &[NAME, made("Endpoints", |o, _| or_none(few(&addresses(o), 3))), AGE];

pub(super) const ENDPOINT_SLICES: &[BuiltInColumn] = &[
    NAME,
    text("AddressType", Cell::At("/addressType")),
    made("Ports", |o, _| slice_ports(o).into()),
    made("Endpoints", |o, _| slice_addresses(o).into()),
    AGE,
];

pub(super) const INGRESSES: &[BuiltInColumn] = &[
    NAME,
    made("Class", |o, _| or_none(string(&o["spec"], "ingressClassName").to_owned())),
    made("Hosts", |o, _| hosts(o).into()),
    made("Address", |o, _| balancer(o).into()),
    made("Ports", |o, _| if list(&o["spec"]["tls"]).is_empty() { "80" } else { "80, 443" }.into()),
    AGE,
];

pub(super) const INGRESS_CLASSES: &[BuiltInColumn] = &[
    NAME,
    text("Controller", Cell::At("/spec/controller")),
    made("Parameters", |o, _| parameters(&o["spec"]["parameters"])),
    AGE,
];

pub(super) const NETWORK_POLICIES: &[BuiltInColumn] =
    &[NAME, made("Pod-Selector", |o, _| selector(&o["spec"]["podSelector"]).into()), AGE];

/// Addresses of the load balancer, shortened as the printer does.
fn balancer(object: &Value) -> String {
    let mut all: Vec<&str> = list(&object["status"]["loadBalancer"]["ingress"])
        .iter()
        .map(
            |point| {
                if string(point, "ip").is_empty() { string(point, "hostname") } else { string(point, "ip") }
            },
        )
        .filter(|address| !address.is_empty())
        .collect();
    all.sort_unstable();
    all.dedup();
    all.join(",")
}

fn external(service: &Value) -> String {
    let spec = &service["spec"];
    let own: Vec<&str> = crate::meta::strings(&spec["externalIPs"]);
    match string(spec, "type") {
        "ExternalName" => string(spec, "externalName").to_owned(),
        "LoadBalancer" => {
            let balancer = balancer(service);
            let all: Vec<&str> =
                std::iter::once(balancer.as_str()).filter(|b| !b.is_empty()).chain(own).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        _ if own.is_empty() => "<none>".to_owned(),
        _ => own.join(","),
    }
}

fn service_ports(service: &Value) -> String {
    let ports: Vec<String> = list(&service["spec"]["ports"])
        .iter()
        .map(|port| match port["nodePort"].as_i64().unwrap_or(0) {
            0 => format!("{}/{}", port["port"], string(port, "protocol")),
            node => format!("{}:{node}/{}", port["port"], string(port, "protocol")),
        })
        .collect();
    ports.join(",")
}

/// Joins the first items of a list and counts the rest.
fn few(all: &[String], most: usize) -> String {
    let shown = all[..all.len().min(most)].join(",");
    if all.len() > most { format!("{shown} + {} more...", all.len() - most) } else { shown }
}

fn addresses(endpoints: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for subset in list(&endpoints["subsets"]) {
        let addresses = list(&subset["addresses"]);
        if list(&subset["ports"]).is_empty() {
            out.extend(addresses.iter().map(|address| string(address, "ip").to_owned()));
        }
        for port in list(&subset["ports"]) {
            out.extend(addresses.iter().map(|a| host_port(string(a, "ip"), &port["port"])));
        }
    }
    out
}

fn host_port(host: &str, port: &Value) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn slice_ports(slice: &Value) -> String {
    let ports: Vec<String> = list(&slice["ports"])
        .iter()
        .map(|port| match (&port["port"], string(port, "name")) {
            (Value::Null, "") => "*".to_owned(),
            (Value::Null, name) => name.to_owned(),
            (number, _) => number.to_string(),
        })
        .collect();
    if ports.is_empty() { "<unset>".to_owned() } else { few(&ports, 3) }
}

fn slice_addresses(slice: &Value) -> String {
    let all: Vec<String> = list(&slice["endpoints"])
        .iter()
        .flat_map(|endpoint| crate::meta::strings(&endpoint["addresses"]))
        .map(str::to_owned)
        .collect();
    if all.is_empty() { "<unset>".to_owned() } else { few(&all, 3) }
}

fn hosts(ingress: &Value) -> String {
    let rules = list(&ingress["spec"]["rules"]);
    let named: Vec<String> =
        rules.iter().map(|rule| string(rule, "host").to_owned()).filter(|host| !host.is_empty()).collect();
    if named.is_empty() { "*".to_owned() } else { few(&named, 3) }
}

fn parameters(parameters: &Value) -> Value {
    if parameters.is_null() {
        return "<none>".into();
    }
    let group = string(parameters, "apiGroup");
    let group = if group.is_empty() { String::new() } else { format!(".{group}") };
    format!("{}{group}/{}", string(parameters, "kind"), string(parameters, "name")).into()
}

pub(super) const SERVICE_CIDRS: &[BuiltInColumn] =
    &[NAME, made("CIDRs", |o, _| crate::meta::strings(&o["spec"]["cidrs"]).join(",").into()), AGE];

pub(super) const ADDRESSES: &[BuiltInColumn] = &[
    NAME,
    made("ParentRef", |o, _| {
        let parent = &o["spec"]["parentRef"];
        let of_group = ["resource", "group"].map(|part| string(parent, part));
        let of_group = of_group.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        let of_group = of_group.to_lowercase();
        let parts = [of_group.as_str(), string(parent, "namespace"), string(parent, "name")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>();
        if parts.is_empty() { "<none>".into() } else { parts.join("/").into() }
    }),
    // `printIPAddress` has a cell more than there are columns.
    text("", Cell::Age),
];

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use serde_json::json;

    fn row(columns: &[BuiltInColumn], item: &Value) -> Vec<Value> {
        columns.iter().map(|column| column.cell(item, Timestamp::UNIX_EPOCH)).collect()
    }

    #[test]
    fn service_row_shows_type_addresses_and_ports() {
        let ports =
            json!([{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "nodePort": 30053}]);
        let plain = json!({"spec": {"type": "ClusterIP", "clusterIP": "10.0.0.1", "ports": ports}});
        assert_eq!(row(&SERVICES[1..5], &plain), ["ClusterIP", "10.0.0.1", "<none>", "80/TCP,53:30053/UDP"]);
        let pending = json!({"spec": {"type": "LoadBalancer"}});
        assert_eq!(row(&SERVICES[1..5], &pending), ["LoadBalancer", "<none>", "<pending>", "<none>"]);
        let alias = json!({"spec": {"type": "ExternalName", "externalName": "a.b"}});
        assert_eq!(row(&SERVICES[3..4], &alias), ["a.b"]);
    }

    #[test]
    fn long_list_in_a_cell_is_truncated() {
        let addresses = json!([{"ip": "1"}, {"ip": "2"}, {"ip": "3"}, {"ip": "4"}]);
        let endpoints = json!({"subsets": [{"addresses": addresses, "ports": [{"port": 80}]}]});
        assert_eq!(row(&ENDPOINTS[1..2], &endpoints), ["1:80,2:80,3:80 + 1 more..."]);
        assert_eq!(row(&ENDPOINTS[1..2], &json!({})), ["<none>"]);
        assert_eq!(row(&INGRESSES[1..5], &json!({"spec": {}})), ["<none>", "*", "", "80"]);
    }
}
