//! The JSON of the objects that the server has, the same at every run.
//!
//! `small` is a custom resource of about 1 KB, 28 % of it managedFields; `pod` is a Pod of about 8 KB, 25 % of it
//! managedFields. Both spread over a hundred namespaces. The resource version and an annotation have a fixed width, so
//! that the server can write them into the ready bytes.

use serde_json::{Map, Value, json};

/// The number of namespaces.
pub const NAMESPACES: usize = 100;
/// The annotation with the time of sending.
pub const STAMP: &str = "bench/sent";
/// Digits of the time of sending.
pub const STAMP_WIDTH: usize = 20;
/// Version of the first object; versions always have ten digits.
pub const FIRST_VERSION: u64 = 1_000_000_000;

/// The kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Small,
    Pod,
}

impl Shape {
    /// By the name given on the command line.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "small" => Some(Self::Small),
            "pod" => Some(Self::Pod),
            _ => None,
        }
    }

    /// Kind and apiVersion of lists.
    pub fn type_meta(self) -> (&'static str, &'static str) {
        match self {
            Self::Small => ("Claim", "bench.example.com/v1"),
            Self::Pod => ("Pod", "v1"),
        }
    }
}

/// Name of the object.
pub fn name(number: usize) -> String {
    format!("web-{:08x}-{number:07}", mixed(number as u64 / 25) as u32)
}

/// Namespace of the object.
pub fn namespace(number: usize) -> String {
    format!("team-{:03}", number % NAMESPACES)
}

/// Well spread numbers (splitmix64's finalizer).
pub fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An object's bytes and the offsets of the changing parts.
pub struct Bytes {
    pub json: Vec<u8>,
    pub version_at: usize,
    pub stamp_at: usize,
}

/// The bytes of an object.
pub fn object(shape: Shape, number: usize) -> Bytes {
    let value = match shape {
        Shape::Small => small(number),
        Shape::Pod => pod(number),
    };
    let json = value.to_string().into_bytes();
    let after = |text: &str| find(&json, text.as_bytes()) + text.len();
    let version_at = after("\"resourceVersion\":\"");
    let stamp_at = after(&format!("\"{STAMP}\":\""));
    Bytes { version_at, stamp_at, json }
}

fn find(haystack: &[u8], needle: &[u8]) -> usize {
    haystack.windows(needle.len()).position(|window| window == needle).expect("every object has it")
}

fn uid(number: u64) -> String {
    let (a, b) = (mixed(number), mixed(number ^ 0xabcd));
    format!(
        "{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}",
        a as u32,
        a >> 48,
        a >> 36 & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}

fn time(number: u64) -> String {
    format!("2026-03-{:02}T{:02}:{:02}:07Z", number % 28 + 1, (number >> 8) % 24, (number >> 16) % 60)
}

/// A field set of managedFields from `f:a/f:b` paths.
fn fields(paths: &[&str]) -> Value {
    let mut root = Map::new();
    for path in paths {
        let mut here = &mut root;
        for step in path.split('/') {
            let next = here.entry(step).or_insert_with(|| json!({}));
            here = next.as_object_mut().expect("only objects are put there");
        }
    }
    Value::Object(root)
}

fn owner(manager: &str, api_version: &str, time: &str, subresource: &str, paths: &[&str]) -> Value {
    let mut entry = json!({
        "apiVersion": api_version, "fieldsType": "FieldsV1", "fieldsV1": fields(paths),
        "manager": manager, "operation": "Update", "time": time,
    });
    if !subresource.is_empty() {
        entry["subresource"] = json!(subresource);
    }
    entry
}

fn small(number: usize) -> Value {
    let random = mixed(number as u64);
    let (created, zone) = (time(random), ["eu-west-1a", "eu-west-1b", "us-east-1d"][(random % 3) as usize]);
    let paths = [
        "f:metadata/f:labels/f:tier",
        "f:metadata/f:labels/f:zone",
        "f:spec/f:instance",
        "f:spec/f:nodeName",
        "f:spec/f:weight",
    ];
    json!({
        "apiVersion": "bench.example.com/v1", "kind": "Claim",
        "metadata": {
            "annotations": { STAMP: "0".repeat(STAMP_WIDTH) },
            "creationTimestamp": created, "generation": random % 9 + 1,
            "labels": { "app.kubernetes.io/managed-by": "claims", "tier": format!("t{}", (random >> 32) % 10), "zone": zone },
            "managedFields": [owner("claims-controller", "bench.example.com/v1", &created, "", &paths)],
            "name": name(number), "namespace": namespace(number),
            "resourceVersion": (FIRST_VERSION + number as u64).to_string(), "uid": uid(number as u64),
        },
        "spec": {
            "addresses": [format!("10.{}.{}.{}", random >> 40 & 255, random >> 48 & 255, random >> 56)],
            "instance": format!("i-{:016x}", mixed(random)), "nodeName": format!("node-{:04}", number % 5000),
            "paused": false, "region": &zone[..zone.len() - 1], "weight": random >> 12 & 63,
        },
        "status": {
            "conditions": [{
                "lastTransitionTime": created, "message": "the instance is bound", "reason": "Bound",
                "status": "True", "type": "Ready",
            }],
            "observedGeneration": random % 9 + 1, "phase": "Bound",
        },
    })
}

fn pod(number: usize) -> Value {
    let random = mixed(number as u64);
    let set = number as u64 / 25;
    let app = format!("web-{:03}", set % 400);
    let (created, started) = (time(random), time(random >> 3));
    let (ip, host) =
        (format!("10.64.{}.{}", number >> 8 & 255, number & 255), format!("192.168.7.{}", random & 255));
    let hash = format!("{:08x}", mixed(set) as u32);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "annotations": {
                STAMP: "0".repeat(STAMP_WIDTH), "checksum/config": digest(set), "prometheus.io/port": "9090",
                "prometheus.io/scrape": "true", "kubectl.kubernetes.io/restartedAt": created,
            },
            "creationTimestamp": created, "generateName": format!("web-{hash}-"), "generation": 1,
            "labels": {
                "app.kubernetes.io/instance": app, "app.kubernetes.io/name": app, "app.kubernetes.io/part-of": "shop",
                "pod-template-hash": hash, "tier": format!("t{}", random % 10), "topology.kubernetes.io/zone": "eu-west-1a",
            },
            "managedFields": pod_owners(&created, &started, &ip),
            "name": name(number), "namespace": namespace(number),
            "ownerReferences": [{
                "apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet",
                "name": format!("web-{hash}"), "uid": uid(set),
            }],
            "resourceVersion": (FIRST_VERSION + number as u64).to_string(), "uid": uid(number as u64),
        },
        "spec": pod_spec(&app, random),
        "status": {
            "conditions": (["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
                .map(|kind| json!({ "lastProbeTime": null, "lastTransitionTime": started, "status": "True", "type": kind }))),
            "containerStatuses": [container_status("web", &app, random, &started), container_status("proxy", "mesh", random, &started)],
            "hostIP": host, "hostIPs": [{ "ip": host }], "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }],
            "qosClass": "Burstable", "startTime": created,
        },
    })
}

fn digest(number: u64) -> String {
    (0..4).map(|part| format!("{:016x}", mixed(number + part))).collect()
}

fn pod_spec(app: &str, random: u64) -> Value {
    json!({
        "containers": [container("web", app, true), container("proxy", "mesh", false)],
        "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "nodeName": format!("node-{:04}", random % 2000),
        "preemptionPolicy": "PreemptLowerPriority", "priority": 0, "restartPolicy": "Always", "schedulerName": "default-scheduler",
        "securityContext": { "fsGroup": 10001, "runAsNonRoot": true, "runAsUser": 10001, "seccompProfile": { "type": "RuntimeDefault" } },
        "serviceAccount": app, "serviceAccountName": app, "terminationGracePeriodSeconds": 30,
        "tolerations": (["not-ready", "unreachable"].map(|key| json!({
            "effect": "NoExecute", "key": format!("node.kubernetes.io/{key}"), "operator": "Exists", "tolerationSeconds": 300,
        }))),
        "volumes": [
            { "configMap": { "defaultMode": 420, "name": format!("{app}-config") }, "name": "config" },
            { "emptyDir": {}, "name": "tmp" },
            { "name": "kube-api-access", "projected": { "defaultMode": 420, "sources": [
                { "serviceAccountToken": { "expirationSeconds": 3607, "path": "token" } },
                { "configMap": { "items": [{ "key": "ca.crt", "path": "ca.crt" }], "name": "kube-root-ca.crt" } },
                { "downwardAPI": { "items": [{ "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" }, "path": "namespace" }] } },
            ] } },
        ],
    })
}

fn container(name: &str, image: &str, probes: bool) -> Value {
    let probe = |path: &str| {
        json!({
            "failureThreshold": 3, "httpGet": { "path": path, "port": "http", "scheme": "HTTP" }, "initialDelaySeconds": 5,
            "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1,
        })
    };
    let mut container = json!({
        "args": ["--config=/etc/app/config.yaml", "--listen=:8080"],
        "env": [
            { "name": "LOG_LEVEL", "value": "info" },
            { "name": "DATABASE_HOST", "value": "postgres-primary.data.svc.cluster.local" },
            { "name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://otel-collector.observability.svc:4317" },
            { "name": "POD_NAME", "valueFrom": { "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.name" } } },
        ],
        "image": format!("registry.example.com/platform/{image}:1.27.0"), "imagePullPolicy": "IfNotPresent", "name": name,
        "ports": [{ "containerPort": 8080, "name": "http", "protocol": "TCP" }, { "containerPort": 9090, "name": "metrics", "protocol": "TCP" }],
        "resources": { "limits": { "cpu": "1", "memory": "512Mi" }, "requests": { "cpu": "100m", "memory": "256Mi" } },
        "securityContext": { "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] }, "readOnlyRootFilesystem": true },
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "volumeMounts": [
            { "mountPath": "/etc/app", "name": "config", "readOnly": true }, { "mountPath": "/tmp", "name": "tmp" },
            { "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access", "readOnly": true },
        ],
    });
    if probes {
        container["livenessProbe"] = probe("/healthz");
        container["readinessProbe"] = probe("/readyz");
    }
    container
}

fn container_status(name: &str, image: &str, random: u64, started: &str) -> Value {
    json!({
        "containerID": format!("containerd://{}", digest(random)), "image": format!("registry.example.com/platform/{image}:1.27.0"),
        "imageID": format!("registry.example.com/platform/{image}@sha256:{}", digest(7)), "lastState": {}, "name": name,
        "ready": true, "restartCount": random >> 50 & 3, "started": true, "state": { "running": { "startedAt": started } },
    })
}

fn pod_owners(created: &str, started: &str, ip: &str) -> Value {
    let labels = [
        "app.kubernetes.io/instance",
        "app.kubernetes.io/name",
        "app.kubernetes.io/part-of",
        "pod-template-hash",
        "tier",
    ];
    let containers = ["web", "proxy"].map(|name| format!("f:spec/f:containers/k:{{\"name\":\"{name}\"}}"));
    let mut manager: Vec<String> =
        labels.iter().map(|label| format!("f:metadata/f:labels/f:{}", label.replace('/', "~1"))).collect();
    for container in &containers {
        manager.extend(
            [
                "f:args",
                "f:env/k:{\"name\":\"LOG_LEVEL\"}/f:value",
                "f:image",
                "f:imagePullPolicy",
                "f:name",
                "f:ports",
                "f:resources/f:limits/f:cpu",
                "f:securityContext/f:capabilities/f:drop",
                "f:terminationMessagePath",
                "f:volumeMounts/k:{\"mountPath\":\"~1tmp\"}/f:name",
            ]
            .map(|field| format!("{container}/{field}")),
        );
    }
    manager.extend(
        [
            "f:dnsPolicy",
            "f:enableServiceLinks",
            "f:restartPolicy",
            "f:schedulerName",
            "f:securityContext/f:fsGroup",
            "f:serviceAccount",
            "f:terminationGracePeriodSeconds",
            "f:volumes/k:{\"name\":\"config\"}/f:configMap/f:name",
        ]
        .map(|field| format!("f:spec/{field}")),
    );
    let mut kubelet: Vec<String> = ["Initialized", "Ready", "ContainersReady"]
        .iter()
        .flat_map(|kind| {
            ["f:lastProbeTime", "f:lastTransitionTime", "f:status", "f:type"]
                .map(|field| format!("f:status/f:conditions/k:{{\"type\":\"{kind}\"}}/{field}"))
        })
        .collect();
    kubelet.push(format!("f:status/f:podIPs/k:{{\"ip\":\"{ip}\"}}/f:ip"));
    let manager: Vec<&str> = manager.iter().map(String::as_str).collect();
    let kubelet: Vec<&str> = kubelet.iter().map(String::as_str).collect();
    json!([
        owner("kube-controller-manager", "v1", created, "", &manager),
        owner("kubelet", "v1", started, "status", &kubelet)
    ])
}
