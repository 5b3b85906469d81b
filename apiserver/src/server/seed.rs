//! What every cluster has from its start: namespaces, the service of the server itself, default roles and bindings.

use serde_json::{Value, json};

use super::Server;
use crate::registry::Registry;
use crate::{authorization, meta};

/// The classes of pods that a cluster cannot do without (`SystemPriorityClasses` of pkg/apis/scheduling/v1/helpers.go).
const PRIORITIES: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];

impl Server {
    /// Adds what is not there yet. Nobody else writes meanwhile, so a name that is free stays free.
    pub(super) fn seed(&self) {
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            self.seed_namespace(name);
        }
        self.seed_service();
        self.seed_policy();
        for (name, value, description) in PRIORITIES {
            self.seed_priority_class(name, value, description);
        }
        // Since when tokens in secrets have a label that says when they were last used (pkg/controlplane/controller/legacytokentracking).
        let since = self.now();
        let date = since.split('T').next().unwrap_or_default();
        self.seed_config_map("kube-apiserver-legacy-service-account-token-tracking", &json!({"since": date}));
    }

    /// Tells other servers and the control plane which authority signs the certificates of clients
    /// (pkg/controlplane/controller/clusterauthenticationtrust).
    pub(crate) fn publish_authority(&self, pem: &str) {
        if !self.options.bare {
            self.seed_config_map("extension-apiserver-authentication", &json!({"client-ca-file": pem}));
        }
    }

    fn seed_priority_class(&self, name: &str, value: i64, description: &str) {
        let collection = "priorityclasses.scheduling.k8s.io";
        if self.store.get(collection, name).is_some() {
            return;
        }
        let value = json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": value, "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
            "metadata": {"name": name, "uid": self.ids.uid(), "creationTimestamp": self.now(), "generation": 1},
        });
        let _ = self.store.create(collection, name, value);
    }

    fn seed_config_map(&self, name: &str, data: &Value) {
        let (namespace, key) = ("kube-system", format!("kube-system/{name}"));
        if self.store.get("configmaps", &key).is_some() {
            return;
        }
        let value = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": name, "namespace": namespace, "uid": self.ids.uid(), "creationTimestamp": self.now()},
        });
        // Who was faster has written the same.
        let _ = self.store.create("configmaps", &key, value);
    }

    fn seed_namespace(&self, name: &str) {
        if self.store.get("namespaces", name).is_some() {
            return;
        }
        let value = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "uid": self.ids.uid(), "creationTimestamp": self.now(),
                         "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
        });
        let _ = self.store.create("namespaces", name, value);
    }

    /// The service at which pods find the server itself.
    fn seed_service(&self) {
        if self.store.get("services", "default/kubernetes").is_some() {
            return;
        }
        let address = self.service_address();
        let value = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "kubernetes", "namespace": "default", "uid": self.ids.uid(),
                         "creationTimestamp": self.now(),
                         "labels": {"component": "apiserver", "provider": "kubernetes"}},
            "spec": {"type": "ClusterIP", "clusterIP": address, "clusterIPs": [address], "sessionAffinity": "None",
                     "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
                     "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"},
            "status": {"loadBalancer": {}},
        });
        let _ = self.store.create("services", "default/kubernetes", value);
    }

    fn seed_policy(&self) {
        let registry = Registry::new(std::iter::empty());
        for mut object in authorization::default_policy().iter().cloned() {
            let kind = object["kind"].as_str().unwrap_or_default();
            let Some(def) = registry.all().find(|def| def.kind == kind) else { continue };
            let name = meta::name(&object).to_owned();
            if self.store.get(&def.collection, &name).is_none() {
                meta::set(&mut object, "uid", self.ids.uid());
                meta::set(&mut object, "creationTimestamp", self.now());
                let _ = self.store.create(&def.collection, &name, object);
            }
        }
        self.refresh_roles();
    }
}
