//! Builds the Deployment or StatefulSet of the chart.

use kubesmith_apimachinery::yaml;
use serde_json::{Value, json};

use super::template::{Action, Template};
use crate::config::{POD_INDEX, REPLICAS, WEBHOOK_PORT};

/// Replaces the installer's values by those of the chart.
pub(super) fn workload(object: &mut Value, template: &mut Template, has_webhooks: bool) {
    object["spec"]["replicas"] = json!(template.inline("{{ .Values.manager.replicas }}"));
    let pod = &mut object["spec"]["template"]["spec"];
    pod["serviceAccountName"] = json!(template.inline("{{ .Values.serviceAccount.name | quote }}"));
    for key in ["affinity", "imagePullSecrets", "nodeSelector", "tolerations"] {
        pod[key] = json!(template.add(Action::With(format!(".Values.manager.{key}"))));
    }
    under_condition(pod, "volumes", template);
    let container = &mut pod["containers"][0];
    container["image"] = json!(template.inline(
        "\"{{ .Values.manager.image.repository }}{{ with .Values.manager.image.tag }}:{{ . }}{{ end }}\""
    ));
    let policy = json!(template.inline("{{ .Values.manager.image.pullPolicy }}"));
    let has_policy = ".Values.manager.image.pullPolicy".to_string();
    container["imagePullPolicy"] = json!(template.add(Action::If(has_policy, policy)));
    container["resources"] = json!(template.add(Action::Yaml(".Values.manager.resources".to_string())));
    container["env"] = json!(template.add(environment(&container["env"], has_webhooks)));
    container["envFrom"] = json!(template.add(Action::With(".Values.manager.envFrom".to_string())));
    under_condition(container, "volumeMounts", template);
    arguments(container, template);
    ports(container, template);
}

/// Returns the variables: `ENABLE_WEBHOOKS`, which programs of `kubesmith init` read as kubebuilder's do, those of the shard,
/// and those of the values.
fn environment(env: &Value, has_webhooks: bool) -> Action {
    let shard: Vec<String> = env.as_array().into_iter().flatten().flat_map(shard_variable).collect();
    let more = ["{{- with .Values.manager.env }}", "  {{- toYaml . | nindent INDENT }}", "{{- end }}"];
    let off = [
        "{{- if not .Values.webhooks.enabled }}",
        "- name: ENABLE_WEBHOOKS",
        "  value: \"false\"",
        "{{- end }}",
    ];
    let off = off.into_iter().filter(|_| has_webhooks).map(str::to_string);
    let is_sharded = !shard.is_empty();
    let lines = off.chain(shard).chain(more.map(str::to_string)).collect();
    let condition = match has_webhooks {
        _ if is_sharded => "",
        true => "or .Values.manager.env (not .Values.webhooks.enabled)",
        false => ".Values.manager.env",
    };
    Action::Lines(condition.to_string(), lines)
}

/// Returns the lines of a variable of the shard; none for one of the values.
fn shard_variable(variable: &Value) -> Vec<String> {
    let text = match variable["name"].as_str() {
        Some(POD_INDEX) => yaml::to_yaml(&json!([variable])),
        Some(REPLICAS) => format!("- name: {REPLICAS}\n  value: {{{{ .Values.manager.replicas | quote }}}}"),
        _ => String::new(),
    };
    text.lines().map(str::to_string).collect()
}

/// Volumes of certificates, or their mounts, under the condition of their feature.
fn under_condition(object: &mut Value, key: &str, template: &mut Template) {
    let Some(items) = object.get_mut(key).and_then(Value::as_array_mut) else { return };
    let is_for = |item: &Value| match item["name"].as_str() {
        Some("metrics-certs") => ".Values.metrics.enabled",
        _ => ".Values.webhooks.enabled",
    };
    let conditions: Vec<&str> = items.iter().map(is_for).collect();
    let any = match conditions.as_slice() {
        [only] => (*only).to_string(),
        all => format!("or {}", all.join(" ")),
    };
    if conditions.len() > 1 {
        for (item, condition) in items.iter_mut().zip(conditions) {
            *item = json!(template.add(Action::If(condition.to_string(), item.take())));
        }
    }
    let items = Value::Array(std::mem::take(items));
    object[key] = json!(template.add(Action::If(any, items)));
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
