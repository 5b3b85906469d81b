//! The initial objects of every cluster: namespaces, the service of the server itself, default roles and bindings, flow
//! control.

use serde_json::{Value, json};

use super::initial;
use crate::authorization;
use crate::server::Server;

/// Adds the missing objects. No other writer runs meanwhile, so a free name stays free.
pub(super) fn seed(server: &Server) {
    let now = server.now();
    for it in initial::objects() {
        if server.store.get(&it.collection, &it.key).is_none() {
            let _ = server.store.create(&it.collection, &it.key, it.object(server.ids.uid(), &now));
        }
    }
    seed_service(server);
    authorization::aggregate(server);
    // The day since which tokens in secrets are labelled with their last use
    // (pkg/controlplane/controller/legacytokentracking).
    let date = now.split('T').next().unwrap_or_default();
    seed_config_map(server, "kube-apiserver-legacy-service-account-token-tracking", &json!({"since": date}));
}

/// Publishes the authority of client certificates for other servers and the control plane
/// (pkg/controlplane/controller/clusterauthenticationtrust).
pub(crate) fn publish_authority(server: &Server, pem: &str) {
    if !server.is_bare() {
        seed_config_map(server, "extension-apiserver-authentication", &json!({"client-ca-file": pem}));
    }
}

fn seed_config_map(server: &Server, name: &str, data: &Value) {
    let (namespace, key) = ("kube-system", format!("kube-system/{name}"));
    if server.store.get("configmaps", &key).is_some() {
        return;
    }
    let value = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": name, "namespace": namespace, "uid": server.ids.uid(), "creationTimestamp": server.now()},
    });
    // A concurrent writer has written the same.
    let _ = server.store.create("configmaps", &key, initial::owned(value, &server.now()));
}

/// Adds the service by which pods reach the server itserver.
fn seed_service(server: &Server) {
    if server.store.get("services", "default/kubernetes").is_some() {
        return;
    }
    let address = "10.0.0.1";
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default", "uid": server.ids.uid(),
                     "creationTimestamp": server.now(),
                     "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {"type": "ClusterIP", "clusterIP": address, "sessionAffinity": "None",
                 "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
                 "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"},
        "status": {"loadBalancer": {}},
    });
    let mut service = initial::owned(service, &server.now());
    // Derived fields have no owner.
    service["spec"]["clusterIPs"] = json!([address]);
    service["spec"]["ipFamilies"] = json!(["IPv4"]);
    let _ = server.store.create("services", "default/kubernetes", service);
}
