//! Emits `values.yaml` and its schema.

use std::collections::BTreeSet;

use kubesmith_apimachinery::yaml;
use serde_json::{Map, Value, json};

use super::types::Types;
use super::{Has, kept, mark_with_kept};
use crate::config::{EnvSource, HelmSettings, PullPolicy};

/// The names of the tables of values. A chart has the last two only with webhooks and policies.
pub const VALUES: &[&str] =
    &["manager", "crds", "rbac", "serviceAccount", "leaderElection", "metrics", "webhooks", "policies"];

/// The names of service accounts (apimachinery's `IsDNS1123Subdomain`).
const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The values without which templates cannot be rendered. Helm removes a value that is set to `null`.
const REQUIRED: [(&str, &[&str]); 3] = [
    ("manager", &["image", "replicas"]),
    ("metrics", &["port", "serviceMonitor"]),
    ("serviceAccount", &["name"]),
];

/// A value of the chart: its key, purpose, default and schema.
struct Entry {
    key: &'static str,
    text: &'static str,
    value: Value,
    schema: Value,
}

fn entry(key: &'static str, text: &'static str, value: Value, schema: Value) -> Entry {
    Entry { key, text, value, schema }
}

fn switch(key: &'static str, text: &'static str, is_on: bool) -> Entry {
    entry(key, text, json!(is_on), json!({"type": "boolean"}))
}

/// The sources of the values.
pub(super) struct Values<'a> {
    pub(super) settings: &'a HelmSettings,
    pub(super) has: Has,
    /// The manager's pod in the installer, whose fields are defaults.
    pub(super) pod: &'a Value,
}

/// The tables of the values.
fn tables(source: &Values<'_>, types: &mut Types) -> Vec<(&'static str, Vec<Entry>)> {
    let mut entries = |name: &str| entries_of(name, source, types);
    VALUES.iter().filter_map(|name| Some((*name, entries(name)?))).collect()
}

/// The values of a table; `None` if the chart does not have it.
fn entries_of(table: &str, source: &Values<'_>, types: &mut Types) -> Option<Vec<Entry>> {
    let Values { settings, has, .. } = source;
    Some(match table {
        "manager" => {
            let mut manager = program(source, types);
            manager.extend(pod(source, types));
            manager
        }
        "crds" => vec![
            switch(
                "install",
                "Install and upgrade the CRDs with the chart. Without it, the operator or `kubesmith crd apply` does.",
                !settings.deploy.crd_upgrade,
            ),
            switch(
                "keep",
                "Keep the CRDs, and with them all objects, when the release is uninstalled.",
                true,
            ),
        ],
        "rbac" => vec![
            switch("create", "Create the manager's roles and bindings.", true),
            switch("userRoles", "Create the roles for people: admin, editor and viewer of each kind.", true),
        ],
        "serviceAccount" => service_account(settings),
        "leaderElection" => vec![switch("enabled", "Let replicas elect a leader.", settings.leader_election)],
        "metrics" => metrics(settings),
        "webhooks" if has.webhooks => {
            vec![switch("enabled", "Serve webhooks, with their configurations and certificate.", true)]
        }
        "policies" if has.policies => {
            vec![switch("enabled", "Install the admission policies with their bindings.", true)]
        }
        _ => return None,
    })
}

/// The values of the manager's service account.
fn service_account(settings: &HelmSettings) -> Vec<Entry> {
    let account = json!(settings.deploy.object("controller-manager"));
    vec![
        switch("create", "Create the service account.", true),
        entry(
            "name",
            "Its name; with `create: false` that of an existing one.",
            account,
            json!({"type": "string", "maxLength": 253, "pattern": SUBDOMAIN}),
        ),
        entry(
            "annotations",
            "Annotations, such as a cloud's identity.",
            json!({}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
        ),
    ]
}

/// The values of the metrics.
fn metrics(settings: &HelmSettings) -> Vec<Entry> {
    vec![
        switch("enabled", "Serve metrics, with a Service.", settings.has_metrics),
        entry(
            "port",
            "Their port.",
            json!(settings.deploy.metrics_port),
            json!({"type": "integer", "minimum": 1, "maximum": 65535}),
        ),
        entry(
            "serviceMonitor",
            "A ServiceMonitor, whose kind is the Prometheus operator's.",
            json!({"enabled": settings.has_monitor}),
            json!({"type": "object", "additionalProperties": false, "properties": {"enabled": {"type": "boolean"}}}),
        ),
    ]
}

/// The values of the manager's program.
fn program(source: &Values<'_>, types: &mut Types) -> Vec<Entry> {
    let deploy = &source.settings.deploy;
    let (repository, tag) = image(&source.settings.image);
    let text = || json!({"type": "string"});
    let env = deploy.env.iter().map(|(name, value)| json!({"name": name, "value": value}));
    let env_from = deploy.env_from.iter().map(|source| match source {
        EnvSource::Secret(name) => json!({"secretRef": {"name": name}}),
        EnvSource::ConfigMap(name) => json!({"configMapRef": {"name": name}}),
    });
    let policy = deploy.image_pull_policy.map_or("", PullPolicy::name);
    let image = json!({"repository": repository, "tag": tag, "pullPolicy": policy});
    let container = |field: &str| source.pod["containers"][0][field].clone();
    let mut of_container =
        |key, text, value| entry(key, text, value, types.field("io.k8s.api.core.v1.Container", key));
    vec![
        entry(
            "image",
            "The manager's image. `pullPolicy` is the cluster's if it is empty.",
            image,
            json!({"type": "object", "additionalProperties": false, "required": ["repository"], "properties": {
                "repository": {"type": "string", "minLength": 1}, "tag": text(),
                "pullPolicy": {"enum": ["", "Always", "IfNotPresent", "Never"]},
            }}),
        ),
        entry(
            "replicas",
            match deploy.is_sharded {
                true => "How many replicas run, each with one shard. Scale to 0 before each change.",
                false => "How many replicas run.",
            },
            json!(deploy.replicas),
            json!({"type": "integer", "minimum": 0, "maximum": i32::MAX}),
        ),
        entry(
            "args",
            "Further arguments.",
            json!(source.settings.args),
            json!({"type": "array", "items": text()}),
        ),
        of_container("env", "Environment, as in a container.", env.collect()),
        of_container("envFrom", "Secrets and ConfigMaps whose keys become environment.", env_from.collect()),
        of_container(
            "resources",
            "Requests and limits.",
            json!({"limits": deploy.resources.limits, "requests": deploy.resources.requests}),
        ),
        of_container("livenessProbe", "The check that restarts the manager.", container("livenessProbe")),
        of_container(
            "readinessProbe",
            "The check that lets Services use the manager.",
            container("readinessProbe"),
        ),
        of_container("securityContext", "The rights of the container.", container("securityContext")),
        of_container("volumeMounts", "Mounts of `volumes`.", json!([])),
    ]
}

/// The values of the manager's pod.
fn pod(source: &Values<'_>, types: &mut Types) -> Vec<Entry> {
    const POD: &str = "io.k8s.api.core.v1.PodSpec";
    let mut of_pod = |key, text, value| entry(key, text, value, types.field(POD, key));
    let mut out = vec![
        of_pod("imagePullSecrets", "Secrets with credentials for the image.", json!([])),
        of_pod("nodeSelector", "Labels of nodes.", json!({})),
        of_pod("tolerations", "Taints of nodes that do not matter.", json!([])),
        of_pod("affinity", "Where pods are to run.", json!({})),
        of_pod("topologySpreadConstraints", "How pods spread over nodes and zones.", json!([])),
        of_pod("priorityClassName", "The PriorityClass of the pods.", json!("")),
        of_pod("volumes", "Further volumes.", json!([])),
    ];
    out.push(entry(
        "terminationGracePeriodSeconds",
        "The seconds that the manager has to stop.",
        source.pod["terminationGracePeriodSeconds"].clone(),
        json!({"type": "integer", "minimum": 1}),
    ));
    out.push(entry(
        "podSecurityContext",
        "The rights of the pods.",
        source.pod["securityContext"].clone(),
        types.field(POD, "securityContext"),
    ));
    out
}

/// Repository and tag; the tag is empty for an image with a digest.
fn image(image: &str) -> (&str, &str) {
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') && !image.contains('@') => (repository, tag),
        _ => (image, ""),
    }
}

impl Values<'_> {
    /// `values.yaml`
    pub(super) fn file(&self) -> String {
        let mut out = mark_with_kept();
        for (table, entries) in tables(self, &mut Types::default()) {
            out.push_str(&format!("{table}:\n"));
            for Entry { key, text, value, .. } in entries {
                out.push_str(&format!("  # {text}\n"));
                for line in yaml::to_yaml(&json!({key: value})).lines() {
                    out.push_str(&format!("  {line}\n"));
                }
            }
        }
        out.push_str(&kept("values", 0));
        out
    }

    /// `values.schema.json`. Beside the tables it admits the user's own values, what charts that depend on this one use (`global`,
    /// and `enabled` for a condition), and `tags`, by which Helm chooses dependencies.
    pub(super) fn schema(&self, own: &BTreeSet<String>) -> String {
        let mut properties: Map<String, Value> = own.iter().map(|name| (name.clone(), json!({}))).collect();
        let outer = [
            ("enabled", "boolean", "The condition of a chart that depends on this one."),
            ("global", "object", "Values that charts share."),
            ("tags", "object", "Tags of dependencies, and whether these are installed."),
        ];
        properties.extend(
            outer.map(|(name, kind, text)| (name.to_owned(), json!({"description": text, "type": kind}))),
        );
        let mut required = Vec::new();
        let mut types = Types::default();
        for (name, entries) in tables(self, &mut types) {
            properties.insert(name.to_string(), table(name, entries));
            required.push(name);
        }
        let schema = json!({
            "$comment": format!("Code generated by kubesmith helm v{}. DO NOT EDIT.", env!("CARGO_PKG_VERSION")),
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "additionalProperties": false,
            "properties": properties,
            "required": required,
        });
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default();
        format!("{},\n{}}}\n", text.trim_end_matches("\n}"), types.text())
    }
}

/// The schema of a table.
fn table(name: &str, entries: Vec<Entry>) -> Value {
    let entries: Map<String, Value> = entries
        .into_iter()
        .map(|Entry { key, text, mut schema, .. }| {
            schema["description"] = json!(text);
            (key.to_string(), schema)
        })
        .collect();
    let mut table = json!({"type": "object", "additionalProperties": false, "properties": entries});
    if let Some((_, needed)) = REQUIRED.iter().find(|(known, _)| *known == name) {
        table["required"] = json!(needed);
    }
    table
}
