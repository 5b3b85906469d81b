//! Columns that `kubectl get` shows for built-in kinds, as far as a path into the object gives them.

use crate::registry::{Column, ResourceDef};

/// A column's name, type and path.
type Path = (&'static str, &'static str, &'static str);

/// (plural, [(name, type, path)]) in kube-apiserver's order; every kind ends with its age.
const COLUMNS: &[(&str, &[Path])] = &[
    ("namespaces", &[("Status", "string", ".status.phase")]),
    ("pods", &[("Status", "string", ".status.phase"), ("Node", "string", ".spec.nodeName")]),
    (
        "services",
        &[
            ("Type", "string", ".spec.type"),
            ("Cluster-IP", "string", ".spec.clusterIP"),
            ("Port(s)", "string", ".spec.ports[*].port"),
        ],
    ),
    ("secrets", &[("Type", "string", ".type")]),
    (
        "events",
        &[("Type", "string", ".type"), ("Reason", "string", ".reason"), ("Message", "string", ".message")],
    ),
    ("leases", &[("Holder", "string", ".spec.holderIdentity")]),
    (
        "deployments",
        &[
            ("Ready", "integer", ".status.readyReplicas"),
            ("Up-to-date", "integer", ".status.updatedReplicas"),
            ("Available", "integer", ".status.availableReplicas"),
        ],
    ),
    (
        "replicasets",
        &[
            ("Desired", "integer", ".spec.replicas"),
            ("Current", "integer", ".status.replicas"),
            ("Ready", "integer", ".status.readyReplicas"),
        ],
    ),
    ("rolebindings", &[("Role", "string", ".roleRef.name")]),
    ("clusterrolebindings", &[("Role", "string", ".roleRef.name")]),
    (crate::crd::PLURAL, &[("Created At", "string", ".metadata.creationTimestamp")]),
];

/// The columns after the name.
pub(crate) fn columns(def: &ResourceDef) -> Vec<Column> {
    let own =
        COLUMNS.iter().find(|(plural, _)| *plural == def.plural).map_or(&[][..], |(_, columns)| columns);
    let mut out: Vec<Column> = own.iter().map(|(name, kind, path)| column(name, kind, path)).collect();
    if def.plural != crate::crd::PLURAL {
        out.push(column("Age", "date", ".metadata.creationTimestamp"));
    }
    out
}

fn column(name: &str, kind: &str, path: &str) -> Column {
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: String::new(),
        description: String::new(),
        priority: 0,
        path: path.to_owned(),
    }
}
