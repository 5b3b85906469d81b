//! Builds the manager's objects: namespace, Deployment or StatefulSet, the Service of webhooks. Numbers are kubebuilder's.

use serde_json::{Value, json};

use super::certificates::{self, Trusting, secret_name};
use super::metrics;
use crate::config::{Certificates, DeploySettings, EnvSource, POD_INDEX, REPLICAS, WEBHOOK_PORT};

/// The path where controller-runtime expects certificates.
const CERTIFICATES: &str = "/tmp/k8s-webhook-server/serving-certs";

/// Labels that select the manager's pods.
pub(super) fn selector(settings: &DeploySettings) -> Value {
    json!({"app.kubernetes.io/name": settings.name, "control-plane": "controller-manager"})
}

pub(super) fn metadata(settings: &DeploySettings, name: &str) -> Value {
    json!({
        "labels": selector(settings),
        "name": settings.object(name),
        "namespace": settings.namespace,
    })
}

pub(super) fn namespace(settings: &DeploySettings) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"labels": selector(settings), "name": settings.namespace},
    })
}

/// The Deployment, or the StatefulSet of replicas with shards. `webhooks` are the objects that point to the manager's webhooks, if
/// it has any.
pub(super) fn workload(settings: &DeploySettings, webhooks: Option<&Trusting>) -> Value {
    let mut pod = json!({
        "containers": [container(settings, webhooks)],
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "serviceAccountName": settings.object("controller-manager"),
        "terminationGracePeriodSeconds": 10,
    });
    let volumes: Vec<Value> = certificates(settings, webhooks)
        .map(|it| json!({"name": it.volume, "secret": {"secretName": it.secret}}))
        .collect();
    if !volumes.is_empty() {
        pod["volumes"] = Value::Array(volumes);
    }
    let mut out = json!({
        "apiVersion": "apps/v1",
        "kind": if settings.is_sharded { "StatefulSet" } else { "Deployment" },
        "metadata": metadata(settings, "controller-manager"),
        "spec": {
            "replicas": settings.replicas,
            "selector": {"matchLabels": selector(settings)},
            "template": {
                "metadata": {
                    "annotations": {"kubectl.kubernetes.io/default-container": "manager"},
                    "labels": selector(settings),
                },
                "spec": pod,
            },
        },
    });
    if settings.is_sharded {
        // The replicas do not depend on each other.
        out["spec"]["podManagementPolicy"] = json!("Parallel");
    }
    out
}

/// The variables from which a replica reads its shard.
fn shard_env(settings: &DeploySettings) -> Vec<Value> {
    if !settings.is_sharded {
        return Vec::new();
    }
    let index = json!({"fieldPath": "metadata.labels['apps.kubernetes.io/pod-index']"});
    vec![
        json!({"name": POD_INDEX, "valueFrom": {"fieldRef": index}}),
        json!({"name": REPLICAS, "value": settings.replicas.to_string()}),
    ]
}

/// A certificate in files.
struct Mounted {
    volume: &'static str,
    secret: String,
    folder: &'static str,
}

/// The certificates of the webhooks and of the metrics, if they exist.
fn certificates(settings: &DeploySettings, webhooks: Option<&Trusting>) -> impl Iterator<Item = Mounted> {
    let is_read = webhooks.is_some() && settings.certificates == Certificates::CertManager;
    let of_webhooks = is_read.then(|| Mounted {
        volume: "webhook-certs",
        secret: secret_name(settings),
        folder: CERTIFICATES,
    });
    let of_metrics = settings.has_issued_metrics().then(|| Mounted {
        volume: "metrics-certs",
        secret: metrics::secret_name(settings),
        folder: metrics::CERTIFICATES,
    });
    of_webhooks.into_iter().chain(of_metrics)
}

fn container(settings: &DeploySettings, webhooks: Option<&Trusting>) -> Value {
    let mut out = json!({
        "args": args(settings, webhooks),
        "command": ["/manager"],
        "image": settings.image,
        "livenessProbe": probe(settings, "/healthz", 15, 20),
        "name": "manager",
        "ports": ports(settings, webhooks.is_some()),
        "readinessProbe": probe(settings, "/readyz", 5, 10),
        "resources": {"limits": settings.resources.limits, "requests": settings.resources.requests},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
        },
    });
    if let Some(policy) = settings.image_pull_policy {
        out["imagePullPolicy"] = json!(policy.name());
    }
    let variable = |(name, value): (&String, &String)| json!({"name": name, "value": value});
    let env: Vec<Value> = shard_env(settings).into_iter().chain(settings.env.iter().map(variable)).collect();
    if !env.is_empty() {
        out["env"] = Value::Array(env);
    }
    if !settings.env_from.is_empty() {
        let source = |source: &EnvSource| match source {
            EnvSource::Secret(name) => json!({"secretRef": {"name": name}}),
            EnvSource::ConfigMap(name) => json!({"configMapRef": {"name": name}}),
        };
        out["envFrom"] = settings.env_from.iter().map(source).collect();
    }
    let mounts: Vec<Value> = certificates(settings, webhooks)
        .map(|it| json!({"mountPath": it.folder, "name": it.volume, "readOnly": true}))
        .collect();
    if !mounts.is_empty() {
        out["volumeMounts"] = Value::Array(mounts);
    }
    out
}

fn args(settings: &DeploySettings, webhooks: Option<&Trusting>) -> Vec<String> {
    let mut out = metrics::args(settings);
    out.push(format!("--health-probe-bind-address=:{}", settings.health_port));
    if settings.leader_election {
        out.insert(0, "--leader-elect".to_string());
    }
    if let (Certificates::SelfManaged, Some(trusting)) = (settings.certificates, webhooks) {
        out.extend(certificates::args(settings, trusting));
    }
    out.extend(settings.args.iter().cloned());
    out
}

fn ports(settings: &DeploySettings, webhooks: bool) -> Vec<Value> {
    let port = |name: &str, port: u16| json!({"containerPort": port, "name": name, "protocol": "TCP"});
    let metrics = settings.metrics_port.map(|number| port("metrics", number));
    let webhooks = webhooks.then(|| port("webhook-server", WEBHOOK_PORT));
    metrics.into_iter().chain([port("health", settings.health_port)]).chain(webhooks).collect()
}

fn probe(settings: &DeploySettings, path: &str, delay: u32, period: u32) -> Value {
    json!({
        "httpGet": {"path": path, "port": settings.health_port},
        "initialDelaySeconds": delay,
        "periodSeconds": period,
    })
}

pub(super) fn service(settings: &DeploySettings, name: &str, port: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(settings, name),
        "spec": {"ports": [port], "selector": selector(settings)},
    })
}

/// The Service of the webhooks, on port 443, the default of `clientConfig.service`.
pub(super) fn webhook_service(settings: &DeploySettings) -> Value {
    let port = json!({"port": 443, "protocol": "TCP", "targetPort": WEBHOOK_PORT});
    service(settings, "webhook-service", &port)
}
