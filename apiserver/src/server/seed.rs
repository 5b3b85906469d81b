//! The initial objects of every cluster: namespaces, the service of the server itself, default roles and bindings, flow
//! control.

use serde_json::{Value, json};

use super::{Server, initial};

impl Server {
    /// Adds the missing objects. No other writer runs meanwhile, so a free name stays free.
    pub(super) fn seed(&self) {
        let now = self.now();
        for it in initial::objects() {
            if self.store.get(&it.collection, &it.key).is_none() {
                let _ = self.store.create(&it.collection, &it.key, it.object(self.ids.uid(), &now));
            }
        }
        self.seed_service();
        self.refresh_roles();
        // The day since which tokens in secrets are labelled with their last use
        // (pkg/controlplane/controller/legacytokentracking).
        let date = now.split('T').next().unwrap_or_default();
        self.seed_config_map("kube-apiserver-legacy-service-account-token-tracking", &json!({"since": date}));
    }

    /// Publishes the authority of client certificates for other servers and the control plane
    /// (pkg/controlplane/controller/clusterauthenticationtrust).
    pub(crate) fn publish_authority(&self, pem: &str) {
        if !self.options.bare {
            self.seed_config_map("extension-apiserver-authentication", &json!({"client-ca-file": pem}));
        }
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
        // A concurrent writer has written the same.
        let _ = self.store.create("configmaps", &key, initial::owned(value, &self.now()));
    }

    /// Adds the service by which pods reach the server itself.
    fn seed_service(&self) {
        if self.store.get("services", "default/kubernetes").is_some() {
            return;
        }
        let address = "10.0.0.1";
        let service = json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "kubernetes", "namespace": "default", "uid": self.ids.uid(),
                         "creationTimestamp": self.now(),
                         "labels": {"component": "apiserver", "provider": "kubernetes"}},
            "spec": {"type": "ClusterIP", "clusterIP": address, "sessionAffinity": "None",
                     "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
                     "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"},
            "status": {"loadBalancer": {}},
        });
        let mut service = initial::owned(service, &self.now());
        // Derived fields have no owner.
        service["spec"]["clusterIPs"] = json!([address]);
        service["spec"]["ipFamilies"] = json!(["IPv4"]);
        let _ = self.store.create("services", "default/kubernetes", service);
    }
}
