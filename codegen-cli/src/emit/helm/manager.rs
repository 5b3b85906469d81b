//! Builds the Deployment or StatefulSet of the chart.

use serde_json::{Value, json};

use super::template::{Action, Template};
use crate::config::{POD_INDEX, REPLICAS, WEBHOOK_PORT};

/// The keys of the pod that its template writes.
pub const POD_KEYS: [&str; 11] = [
    "affinity",
    "containers",
    "imagePullSecrets",
    "nodeSelector",
    "priorityClassName",
    "securityContext",
    "serviceAccountName",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
];

/// The column of these keys.
pub const POD_COLUMN: usize = 6;

/// The pod's fields whose value in the chart has the same name and replaces them.
const POD: [&str; 6] = [
    "affinity",
    "imagePullSecrets",
    "nodeSelector",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
];

/// The same for the container.
const CONTAINER: [&str; 4] = ["envFrom", "livenessProbe", "readinessProbe", "securityContext"];

/// Replaces the installer's values by those of the chart.
pub(super) fn workload(object: &mut Value, template: &mut Template, has_webhooks: bool) {
    object["spec"]["replicas"] = json!(template.inline("{{ int .Values.manager.replicas }}"));
    let pod = &mut object["spec"]["template"]["spec"];
    pod["serviceAccountName"] = json!(template.inline("{{ .Values.serviceAccount.name | quote }}"));
    let class = json!(template.inline("{{ .Values.manager.priorityClassName | quote }}"));
    pod["priorityClassName"] =
        json!(template.add(Action::If(".Values.manager.priorityClassName".to_string(), class)));
    pod["securityContext"] =
        json!(template.add(Action::With(".Values.manager.podSecurityContext".to_string())));
    for key in POD {
        pod[key] = json!(template.add(Action::With(format!(".Values.manager.{key}"))));
    }
    with_more(pod, "volumes", template);
    let container = &mut pod["containers"][0];
    container["image"] = json!(template.inline(
        "\"{{ .Values.manager.image.repository }}{{ with .Values.manager.image.tag }}:{{ . }}{{ end }}\""
    ));
    let policy = json!(template.inline("{{ .Values.manager.image.pullPolicy }}"));
    let has_policy = ".Values.manager.image.pullPolicy".to_string();
    container["imagePullPolicy"] = json!(template.add(Action::If(has_policy, policy)));
    container["resources"] = json!(template.add(Action::Yaml(".Values.manager.resources".to_string())));
    for key in CONTAINER {
        container[key] = json!(template.add(Action::With(format!(".Values.manager.{key}"))));
    }
    environment(container, template, has_webhooks);
    with_more(container, "volumeMounts", template);
    arguments(container, template);
    ports(container, template);
}

/// Writes the variables: `ENABLE_WEBHOOKS`, which programs of `kubesmith init` read as kubebuilder's do, those of the shard,
/// and those of the values.
fn environment(container: &mut Value, template: &mut Template, has_webhooks: bool) {
    const MORE: &str = ".Values.manager.env";
    let mut items = Vec::new();
    if has_webhooks {
        let off = json!({"name": "ENABLE_WEBHOOKS", "value": "false"});
        items.push(json!(template.add(Action::If("not .Values.webhooks.enabled".to_string(), off))));
    }
    let mut is_sharded = false;
    for variable in container["env"].as_array().into_iter().flatten() {
        let mut variable = variable.clone();
        match variable["name"].as_str() {
            Some(POD_INDEX) => {}
            Some(REPLICAS) => {
                variable["value"] = json!(template.inline("{{ int .Values.manager.replicas | quote }}"));
            }
            _ => continue,
        }
        is_sharded = true;
        items.push(variable);
    }
    if items.is_empty() {
        container["env"] = json!(template.add(Action::With(MORE.to_string())));
        return;
    }
    items.push(json!(template.add(Action::Items(MORE.to_string()))));
    let condition = format!("or {MORE} (not .Values.webhooks.enabled)");
    container["env"] = match is_sharded {
        true => Value::Array(items),
        false => json!(template.add(Action::If(condition, Value::Array(items)))),
    };
}

/// Volumes of certificates, or their mounts, each under the condition of its feature, and those of the values.
fn with_more(object: &mut Value, key: &str, template: &mut Template) {
    let more = format!(".Values.manager.{key}");
    let mut conditions = vec![more.clone()];
    let mut items = Vec::new();
    for item in object[key].as_array().into_iter().flatten() {
        let condition = match item["name"].as_str() {
            Some("metrics-certs") => ".Values.metrics.enabled",
            _ => ".Values.webhooks.enabled",
        };
        conditions.push(condition.to_string());
        items.push(json!(template.add(Action::If(condition.to_string(), item.clone()))));
    }
    object[key] = if items.is_empty() {
        json!(template.add(Action::With(more)))
    } else {
        items.push(json!(template.add(Action::Items(more))));
        json!(template.add(Action::If(format!("or {}", conditions.join(" ")), Value::Array(items))))
    };
}

fn arguments(container: &mut Value, template: &mut Template) {
    let Some(args) = container["args"].as_array_mut() else { return };
    for arg in args.iter_mut() {
        let text = arg.as_str().unwrap_or_default().to_string();
        if text == "--leader-elect" {
            *arg = json!(template.add(Action::If(".Values.leaderElection.enabled".to_string(), arg.take())));
        } else if text.starts_with("--webhook-") || text.starts_with("--metrics-service=") {
            *arg = json!(template.add(Action::If(".Values.webhooks.enabled".to_string(), arg.take())));
        } else if ["--metrics-secure", "--metrics-authorize", "--metrics-cert-path"]
            .iter()
            .any(|flag| text.starts_with(flag))
        {
            *arg = json!(template.add(Action::If(".Values.metrics.enabled".to_string(), arg.take())));
        } else if let Some((flag, _)) =
            text.split_once("=").filter(|(flag, _)| *flag == "--metrics-bind-address")
        {
            let port = "{{ if .Values.metrics.enabled }}:{{ .Values.metrics.port }}{{ else }}0{{ end }}";
            *arg = json!(format!("{flag}={}", template.inline(port)));
        }
    }
    args.push(json!(template.add(Action::Items(".Values.manager.args".to_string()))));
}

/// Refuses a metrics port on which the manager already listens. A schema can refuse it too, but not say why.
pub(super) fn port_clashes(health: u16, has_webhooks: bool) -> String {
    let webhooks = (WEBHOOK_PORT, " .Values.webhooks.enabled", "webhooks");
    let others = std::iter::once((health, "", "the probes")).chain(has_webhooks.then_some(webhooks));
    let check = |(port, condition, what): (u16, &str, &str)| {
        format!(
            "{{{{- if and .Values.metrics.enabled{condition} (eq (int .Values.metrics.port) {port}) }}}}\n\
             {{{{- fail \"metrics.port: {port} is the port of {what}\" }}}}\n{{{{- end }}}}\n"
        )
    };
    others.map(check).collect()
}

fn ports(container: &mut Value, template: &mut Template) {
    for port in container["ports"].as_array_mut().into_iter().flatten() {
        let condition = match port["name"].as_str() {
            Some("metrics") => {
                port["containerPort"] = json!(template.inline("{{ .Values.metrics.port }}"));
                ".Values.metrics.enabled"
            }
            Some("webhook-server") => ".Values.webhooks.enabled",
            _ => continue,
        };
        *port = json!(template.add(Action::If(condition.to_string(), port.take())));
    }
}
