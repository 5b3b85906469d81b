//! The roles and bindings that every cluster has: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go.
//!
//! The roles of kube-controller-manager, kube-scheduler, kubelets and other parts of a cluster are left out: here they connect
//! with all rights.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// Verbs that only read.
const READ: &[&str] = &["get", "list", "watch"];
/// Verbs that change objects.
const WRITE: &[&str] = &["create", "delete", "deletecollection", "patch", "update"];

/// Resources, the verbs for them and their API group.
struct Rule {
    verbs: &'static [&'static str],
    group: &'static str,
    resources: &'static [&'static str],
}

const fn rule(
    verbs: &'static [&'static str],
    group: &'static str,
    resources: &'static [&'static str],
) -> Rule {
    Rule { verbs, group, resources }
}

/// What an aggregated role is made of, and what it is part of.
const AGGREGATE: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// Roles by name, the role that they are part of, and their rules for resources.
const ROLES: &[(&str, &str, &[Rule])] = &[
    ("cluster-admin", "", &[rule(&["*"], "*", &["*"])]),
    ("system:aggregate-to-admin", "admin", ADMIN),
    ("system:aggregate-to-edit", "edit", EDIT),
    ("system:aggregate-to-view", "view", VIEW),
    (
        "system:auth-delegator",
        "",
        &[
            rule(&["create"], "authentication.k8s.io", &["tokenreviews"]),
            rule(&["create"], "authorization.k8s.io", &["subjectaccessreviews"]),
        ],
    ),
    (
        "system:basic-user",
        "",
        &[
            rule(
                &["create"],
                "authorization.k8s.io",
                &["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
            ),
            rule(&["create"], "authentication.k8s.io", &["selfsubjectreviews"]),
        ],
    ),
    (
        "system:persistent-volume-provisioner",
        "",
        &[
            rule(&["get", "list", "watch", "create", "delete"], "", &["persistentvolumes"]),
            rule(&["get", "list", "watch", "update"], "", &["persistentvolumeclaims"]),
            rule(READ, "storage.k8s.io", &["storageclasses"]),
            rule(&["watch"], "", &["events"]),
            rule(&["create", "update", "patch"], "", &["events"]),
        ],
    ),
];

/// Aggregated roles, and the roles that they are part of.
const AGGREGATED: &[(&str, &str)] = &[("admin", ""), ("edit", "admin"), ("view", "edit")];

/// Roles by name, and the paths that they allow to get.
const PATHS: &[(&str, &[&str])] = &[
    (
        "system:discovery",
        &[
            "/api",
            "/api/*",
            "/apis",
            "/apis/*",
            "/healthz",
            "/livez",
            "/openapi",
            "/openapi/*",
            "/readyz",
            "/version",
            "/version/",
        ],
    ),
    (
        "system:monitoring",
        &[
            "/healthz",
            "/healthz/*",
            "/livez",
            "/livez/*",
            "/metrics",
            "/metrics/slis",
            "/readyz",
            "/readyz/*",
        ],
    ),
    ("system:public-info-viewer", &["/healthz", "/livez", "/readyz", "/version", "/version/"]),
    (
        "system:service-account-issuer-discovery",
        &[
            "/.well-known/openid-configuration",
            "/.well-known/openid-configuration/",
            "/openid/v1/jwks",
            "/openid/v1/jwks/",
        ],
    ),
];

/// The groups to which roles of the same name as the binding are bound.
const BINDINGS: &[(&str, &[&str])] = &[
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    ("system:monitoring", &["system:monitoring"]),
    ("system:public-info-viewer", &["system:authenticated", "system:unauthenticated"]),
    ("system:service-account-issuer-discovery", &["system:serviceaccounts"]),
];

const ADMIN: &[Rule] = &[
    rule(&["create"], "authorization.k8s.io", &["localsubjectaccessreviews"]),
    rule(READ, "rbac.authorization.k8s.io", &["rolebindings", "roles"]),
    rule(WRITE, "rbac.authorization.k8s.io", &["rolebindings", "roles"]),
];

const EDIT: &[Rule] = &[
    rule(
        READ,
        "",
        &["pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy"],
    ),
    rule(&["impersonate"], "", &["serviceaccounts"]),
    rule(WRITE, "", &["pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy"]),
    rule(&["create"], "", &["pods/eviction"]),
    rule(
        WRITE,
        "",
        &[
            "configmaps",
            "events",
            "persistentvolumeclaims",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "secrets",
            "serviceaccounts",
            "services",
            "services/proxy",
        ],
    ),
    rule(&["create"], "", &["serviceaccounts/token"]),
    rule(
        WRITE,
        "apps",
        &[
            "daemonsets",
            "deployments",
            "deployments/rollback",
            "deployments/scale",
            "replicasets",
            "replicasets/scale",
            "statefulsets",
            "statefulsets/scale",
        ],
    ),
    rule(WRITE, "autoscaling", &["horizontalpodautoscalers"]),
    rule(WRITE, "batch", &["cronjobs", "jobs"]),
    rule(
        WRITE,
        "extensions",
        &[
            "daemonsets",
            "deployments",
            "deployments/rollback",
            "deployments/scale",
            "ingresses",
            "networkpolicies",
            "replicasets",
            "replicasets/scale",
            "replicationcontrollers/scale",
        ],
    ),
    rule(WRITE, "policy", &["poddisruptionbudgets"]),
    rule(WRITE, "networking.k8s.io", &["ingresses", "networkpolicies"]),
    rule(WRITE, "coordination.k8s.io", &["leases"]),
    rule(READ, "coordination.k8s.io", &["leases"]),
    rule(WRITE, "resource.k8s.io", &["resourceclaims", "resourceclaimtemplates"]),
];

const VIEW: &[Rule] = &[
    rule(
        READ,
        "",
        &[
            "configmaps",
            "endpoints",
            "persistentvolumeclaims",
            "persistentvolumeclaims/status",
            "pods",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "serviceaccounts",
            "services",
            "services/status",
        ],
    ),
    rule(
        READ,
        "",
        &[
            "bindings",
            "events",
            "limitranges",
            "namespaces/status",
            "pods/log",
            "pods/status",
            "replicationcontrollers/status",
            "resourcequotas",
            "resourcequotas/status",
        ],
    ),
    rule(READ, "", &["namespaces"]),
    rule(READ, "discovery.k8s.io", &["endpointslices"]),
    rule(
        READ,
        "apps",
        &[
            "controllerrevisions",
            "daemonsets",
            "daemonsets/status",
            "deployments",
            "deployments/scale",
            "deployments/status",
            "replicasets",
            "replicasets/scale",
            "replicasets/status",
            "statefulsets",
            "statefulsets/scale",
            "statefulsets/status",
        ],
    ),
    rule(READ, "autoscaling", &["horizontalpodautoscalers", "horizontalpodautoscalers/status"]),
    rule(READ, "batch", &["cronjobs", "cronjobs/status", "jobs", "jobs/status"]),
    rule(
        READ,
        "extensions",
        &[
            "daemonsets",
            "daemonsets/status",
            "deployments",
            "deployments/scale",
            "deployments/status",
            "ingresses",
            "ingresses/status",
            "networkpolicies",
            "replicasets",
            "replicasets/scale",
            "replicasets/status",
            "replicationcontrollers/scale",
        ],
    ),
    rule(READ, "policy", &["poddisruptionbudgets", "poddisruptionbudgets/status"]),
    rule(READ, "networking.k8s.io", &["ingresses", "ingresses/status", "networkpolicies"]),
    rule(READ, "resource.k8s.io", &["resourceclaims", "resourceclaims/status", "resourceclaimtemplates"]),
];

/// The objects without the metadata that a server adds; made once for all servers of a process.
pub(crate) fn objects() -> &'static [Value] {
    static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(make_objects);
    &OBJECTS
}

fn make_objects() -> Vec<Value> {
    let roles = ROLES.iter().map(|(name, part_of, rules)| {
        let mut rules: Vec<Value> = rules.iter().map(resource_rule).collect();
        if *name == "cluster-admin" {
            rules.push(json!({"verbs": ["*"], "nonResourceURLs": ["*"]}));
        }
        object("ClusterRole", name, part_of, json!({"rules": rules}))
    });
    let paths = PATHS.iter().map(|(name, paths)| {
        let rules = json!([{"verbs": ["get"], "nonResourceURLs": paths}]);
        object("ClusterRole", name, "", json!({"rules": rules}))
    });
    let aggregated = AGGREGATED.iter().map(|(name, part_of)| {
        let mut labels = serde_json::Map::new();
        labels.insert(format!("{AGGREGATE}{name}"), "true".into());
        let selectors = json!([{"matchLabels": labels}]);
        let content = json!({"aggregationRule": {"clusterRoleSelectors": selectors}, "rules": null});
        object("ClusterRole", name, part_of, content)
    });
    let bindings = BINDINGS.iter().map(|(name, groups)| {
        let group = |group: &&str| json!({"kind": "Group", "apiGroup": API_GROUP, "name": group});
        let subjects: Vec<Value> = groups.iter().map(group).collect();
        let role = json!({"apiGroup": API_GROUP, "kind": "ClusterRole", "name": name});
        object("ClusterRoleBinding", name, "", json!({"roleRef": role, "subjects": subjects}))
    });
    roles.chain(paths).chain(aggregated).chain(bindings).collect()
}

const API_GROUP: &str = "rbac.authorization.k8s.io";

fn resource_rule(rule: &Rule) -> Value {
    json!({"verbs": rule.verbs, "apiGroups": [rule.group], "resources": rule.resources})
}

fn object(kind: &str, name: &str, part_of: &str, content: Value) -> Value {
    let mut object = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
            "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
        },
    });
    if !part_of.is_empty() {
        object["metadata"]["labels"][format!("{AGGREGATE}{part_of}")] = "true".into();
    }
    if let (Some(object), Value::Object(content)) = (object.as_object_mut(), content) {
        object.extend(content);
    }
    object
}
