//! The handle of a running server.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::access::AuthorizationMode;
use crate::authentication;
use crate::clock::{Clock, SystemClock};
use crate::containers::Containers;
use crate::controllers::{Controllers, Selection};
use crate::error::Error;
use crate::features::FeatureGates;
use crate::identity::Identity;
use crate::kubeconfig::Credentials;
use crate::lifecycle;
use crate::listen::{Listener, Sockets};
use crate::objects::Objects;
use crate::server::{Origin, Server, ServerOptions, Snapshot};
use crate::serving::ApiService;
use crate::startup;
use crate::store::{NotDurable, Store};
use crate::tokens;
use crate::webhook::{WebhookHost, WebhookTransport};

/// The default of [`ApiServerOptions::history`].
const HISTORY: usize = 10_000;

/// The time that clients have to finish when the server stops.
const GRACE: Duration = Duration::from_secs(1);

/// The options of [`ApiServer::start`]; `None` means the server's default.
#[derive(Debug, Default)]
pub struct ApiServerOptions {
    /// The clock of timestamps in metadata.
    pub clock: Option<Arc<dyn Clock>>,
    /// Makes UIDs and generated names the same in every run.
    pub seed: Option<u64>,
    /// The number of events of each resource that watches can replay.
    pub history: Option<usize>,
    /// Whether the controllers of kube-controller-manager run.
    pub controllers: bool,
    /// Whether terminating namespaces are emptied and removed, also without controllers.
    pub namespace_deletion: bool,
    /// Whether a node and a scheduler are simulated.
    pub simulated_node: bool,
    /// The folder of persistent data.
    pub data_dir: Option<PathBuf>,
    /// The initial state, in memory: `data_dir` and `history` have no effect then, and `bare` adds or removes no objects.
    pub snapshot: Option<Snapshot>,
    /// Starts without objects, and accepts objects in namespaces that do not exist.
    pub bare: bool,
    /// The authorization mode.
    pub authorization: AuthorizationMode,
    /// The feature gates.
    pub feature_gates: FeatureGates,
    /// The responses of containers.
    pub containers: Containers,
    /// Calls webhooks without connections.
    pub webhooks: Option<Arc<dyn WebhookTransport>>,
    /// Calls the webhooks of services on this host.
    pub webhook_host: Option<WebhookHost>,
}

/// The credentials of a user.
#[derive(Clone)]
pub struct UserCredentials {
    /// A kubeconfig for the server's socket, as YAML.
    pub kubeconfig: String,
    /// The bearer token.
    pub token: String,
}

/// A running API server, its controllers and the socket it may have.
#[derive(Debug)]
pub struct ApiServer {
    server: Arc<Server>,
    listener: Option<Listener>,
    controllers: Option<Controllers>,
}

impl ApiServer {
    /// Starts a server.
    ///
    /// # Errors
    /// Returns an error if the data folder cannot be used, or certificates cannot be made.
    ///
    /// # Panics
    /// With controllers, outside of a tokio runtime.
    pub fn start(options: ApiServerOptions) -> Result<Self, Error> {
        let clock = options.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let history = options.history.unwrap_or(HISTORY);
        let server_options = ServerOptions {
            seed: options.seed,
            controllers: options.controllers,
            namespace_deletion: options.namespace_deletion,
            simulated_node: options.simulated_node,
            bare: options.bare,
            authorization: options.authorization,
            feature_gates: options.feature_gates,
            containers: options.containers,
            webhooks: options.webhooks,
            webhook_host: options.webhook_host,
        };
        let server = match (&options.snapshot, &options.data_dir) {
            (Some(snapshot), _) => startup::resume(snapshot, clock, server_options),
            (None, Some(folder)) => {
                let store = Store::open(folder, history);
                let store = store.map_err(|(path, source)| Error::Data { path, source })?;
                startup::start(Arc::new(store), clock, server_options)
            }
            (None, None) => startup::start(Arc::new(Store::new(history)), clock, server_options),
        };
        let selection = Selection { manager: options.controllers, node: options.simulated_node };
        let controllers = match selection == Selection::default() {
            true => None,
            false => {
                // Made here, so that listener and controllers do not race for it.
                Identity::of(&server.store)?;
                Some(Controllers::start(&server, selection))
            }
        };
        Ok(Self { server, listener: None, controllers })
    }

    /// Returns a client service that needs no socket.
    #[must_use]
    pub fn service(&self) -> ApiService {
        ApiService::new(self.server.clone(), Origin::default())
    }

    /// Gives access to the stored objects, past admission and validation.
    #[must_use]
    pub fn objects(&self) -> Objects {
        Objects::new(self.server.clone())
    }

    /// Returns the present state, from which other servers can start. It is consistent only while nobody writes: a
    /// definition, webhook configuration or policy that is written meanwhile may be stored in it without effect.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.server.snapshot()
    }

    /// Makes a token for a user, and a kubeconfig with it; opens a socket on loopback if there is none.
    ///
    /// # Errors
    /// Returns an error if no socket can be opened, or the server's identity cannot be read.
    pub async fn add_user(&mut self, name: &str, groups: &[String]) -> Result<UserCredentials, Error> {
        if self.listener.is_none() {
            self.kubeconfig().await?;
        }
        let token = tokens::issue_to_user(&self.server, name, groups)?;
        let credentials = Credentials::Token(&token);
        let kubeconfig = self.listener.as_ref().map(|listener| listener.kubeconfig_for(&credentials));
        Ok(UserCredentials { kubeconfig: kubeconfig.unwrap_or_default(), token })
    }

    /// Lists the permissions of these rules that no request of the user has needed so far, each as `verb
    /// resource.group/subresource` or `verb path`, sorted. Only [`AuthorizationMode::Rbac`] records requests, at most
    /// 10,000 permissions of all users: those needed first after that count as unused.
    #[must_use]
    pub fn unused_permissions(&self, user: &str, rules: &[PolicyRule]) -> Vec<String> {
        self.server.usage.unused(user, rules)
    }

    /// The server itself.
    #[cfg(test)]
    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Opens a socket on `addr` in place of the previous one, with TLS unless `plain`; returns its URL.
    ///
    /// # Errors
    /// Returns an error if the address cannot be listened on, or the data cannot be written.
    pub async fn listen(&mut self, addr: SocketAddr, plain: bool) -> Result<String, Error> {
        if let Some(old) = self.listener.take() {
            old.stop().await;
        }
        let identity = if plain { None } else { Some(Identity::of(&self.server.store)?) };
        if let Some(identity) = &identity {
            startup::publish_authority(&self.server, &identity.authority.pem);
        }
        let token = identity.as_ref().map(|identity| identity.token.clone());
        let service = ApiService::new(self.server.clone(), Origin { token });
        let certificate = identity.as_ref().map(|identity| authentication::certificate(&identity.authority));
        let sockets = Sockets { identity, http2: true, grace: GRACE, certificate: certificate.transpose()? };
        let listener = Listener::start(addr, sockets, service).await?;
        let url = listener.url();
        self.listener = Some(listener);
        // Authority and token are durable before a client gets them.
        self.server.store.settled().await.map_err(lost)?;
        Ok(url)
    }

    /// The address of the socket.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        self.listener.as_ref().map(Listener::url)
    }

    /// Returns a kubeconfig for the socket; opens one on loopback if there is none.
    ///
    /// # Errors
    /// Returns an error if no socket can be opened.
    pub async fn kubeconfig(&mut self) -> Result<String, Error> {
        if self.listener.is_none() {
            self.listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), false).await?;
        }
        Ok(self.listener.as_ref().map(Listener::kubeconfig).unwrap_or_default())
    }

    /// Drops the history of all resources: watches and lists from older versions get 410.
    pub fn compact(&self) {
        self.server.store.compact();
    }

    /// Pauses the garbage collector, which deletes the dependents of deleted owners, and the namespace controller, which
    /// empties and removes terminating namespaces; or lets them continue.
    pub fn pause_garbage_collection(&self, paused: bool) {
        lifecycle::garbage::pause(&self.server, paused);
    }

    /// Ends all watches and connections, and waits until everything has stopped and is written.
    pub async fn stop(mut self) {
        self.server.stop();
        if let Some(controllers) = self.controllers.take() {
            controllers.stop().await;
        }
        if let Some(listener) = self.listener.take() {
            listener.stop().await;
        }
        self.server.sessions.ended().await;
        self.server.webhooks.stop().await;
        let store = self.server.store.clone();
        // Waits for the disk; if the runtime refuses, dropping does the same.
        let _ = tokio::task::spawn_blocking(move || store.shut_down()).await;
    }

    /// Resolves when the store can no longer make writes durable.
    pub async fn failed(&self) -> Error {
        lost(self.server.store.failed().await)
    }
}

fn lost(NotDurable(why): NotDurable) -> Error {
    Error::Storage(why.to_string())
}

impl Drop for ApiServer {
    fn drop(&mut self) {
        self.server.stop();
        // At most one write is left to wait for.
        self.server.store.shut_down();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn servers_that_begin_with_a_snapshot_share_nothing_that_they_write() {
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let names = |server: &ApiServer| -> Vec<String> {
            let all = server.objects().list("v1", "ConfigMap", "default").unwrap_or_default();
            all.iter().map(|map| map["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect()
        };
        let first = ApiServer::start(ApiServerOptions::default()).unwrap();
        first.objects().add(map("first")).unwrap();
        let options = ApiServerOptions { snapshot: Some(first.snapshot()), ..ApiServerOptions::default() };
        let second = ApiServer::start(options).unwrap();
        assert_eq!(second.objects().version(), first.objects().version());
        second.objects().add(map("second")).unwrap();
        first.objects().delete("v1", "ConfigMap", "default", "first").unwrap();
        assert_eq!((names(&first).len(), names(&second)), (0, vec!["first".to_owned(), "second".to_owned()]));
    }

    #[test]
    fn added_object_has_no_managers_when_their_list_is_empty() {
        let server = ApiServer::start(ApiServerOptions::default()).unwrap();
        let metadata = json!({"name": "a", "managedFields": []});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        server.objects().add(map).unwrap();
        let stored = server.objects().get("v1", "ConfigMap", "default", "a").unwrap().unwrap();
        assert_eq!(stored["metadata"].get("managedFields"), None);
    }

    async fn request(server: &ApiServer, method: &str, path: &str, body: &Value) -> u16 {
        let request =
            http::Request::builder().method(method).uri(path).header("content-type", "application/json");
        let body = http_body_util::Full::new(bytes::Bytes::from(body.to_string()));
        let Ok(response) = tower::Service::call(&mut server.service(), request.body(body).unwrap()).await;
        response.status().as_u16()
    }

    #[tokio::test]
    async fn dependents_stay_while_the_garbage_collector_pauses() {
        let options = ApiServerOptions { controllers: true, ..ApiServerOptions::default() };
        let server = ApiServer::start(options).unwrap();
        let maps = "/api/v1/namespaces/default/configmaps";
        let get = |name: &str| server.objects().get("v1", "ConfigMap", "default", name).unwrap();
        assert_eq!(request(&server, "POST", maps, &json!({"metadata": {"name": "owner"}})).await, 201);
        let uid = get("owner").unwrap()["metadata"]["uid"].clone();
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
        let owned = json!({"metadata": {"name": "owned", "ownerReferences": [owner]}});
        assert_eq!(request(&server, "POST", maps, &owned).await, 201);
        server.pause_garbage_collection(true);
        assert_eq!(request(&server, "DELETE", &format!("{maps}/owner"), &json!({})).await, 200);
        assert!(get("owner").is_none() && get("owned").is_some());
        server.pause_garbage_collection(false);
        assert!(get("owned").is_none());

        let namespace = |name: &str| format!("/api/v1/namespaces{name}");
        let made = json!({"metadata": {"name": "a"}});
        assert_eq!(request(&server, "POST", &namespace(""), &made).await, 201);
        server.pause_garbage_collection(true);
        assert_eq!(request(&server, "DELETE", &namespace("/a"), &json!({})).await, 200);
        assert_eq!(request(&server, "GET", &namespace("/a"), &json!({})).await, 200);
        let maps = "/api/v1/namespaces/a/configmaps";
        assert_eq!(request(&server, "POST", maps, &json!({"metadata": {"name": "b"}})).await, 403);
        server.pause_garbage_collection(false);
        assert_eq!(request(&server, "GET", &namespace("/a"), &json!({})).await, 404);
        server.stop().await;
    }

    #[tokio::test]
    async fn server_with_other_options_finishes_what_its_snapshot_left_open() {
        let first = ApiServer::start(ApiServerOptions::default()).unwrap();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
        assert_eq!(request(&first, "POST", "/api/v1/namespaces", &namespace).await, 201);
        let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "u"});
        let orphan = json!({"metadata": {"name": "orphan", "ownerReferences": [owner]}});
        for namespace in ["a", "default"] {
            let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
            assert_eq!(request(&first, "POST", &maps, &orphan).await, 201);
        }
        // No controller empties the namespace, collects garbage or aggregates roles.
        assert_eq!(request(&first, "DELETE", "/api/v1/namespaces/a", &json!({})).await, 200);
        let has = |server: &ApiServer, kind: &str, namespace: &str, name: &str| {
            server.objects().get("v1", kind, namespace, name).unwrap().is_some()
        };
        let rules = |server: &ApiServer| {
            let role = server.objects().get("rbac.authorization.k8s.io/v1", "ClusterRole", "", "admin");
            role.unwrap().unwrap()["rules"].as_array().map_or(0, Vec::len)
        };
        assert_eq!(rules(&first), 0);
        let snapshot = first.snapshot();
        let resumed = |change: fn(&mut ApiServerOptions)| {
            let mut options =
                ApiServerOptions { snapshot: Some(snapshot.clone()), ..ApiServerOptions::default() };
            change(&mut options);
            ApiServer::start(options).unwrap()
        };

        let same = resumed(|_| {});
        assert!(has(&same, "Namespace", "", "a") && has(&same, "ConfigMap", "default", "orphan"));
        let with_rbac = resumed(|options| options.authorization = AuthorizationMode::Rbac);
        assert!(rules(&with_rbac) > 0 && has(&with_rbac, "ConfigMap", "default", "orphan"));
        // The initial objects of the snapshot stay.
        let bare = resumed(|options| options.bare = true);
        assert!(has(&bare, "Namespace", "", "default"));

        let with_controllers = resumed(|options| options.controllers = true);
        while has(&with_controllers, "Namespace", "", "a")
            || has(&with_controllers, "ConfigMap", "default", "orphan")
        {
            tokio::task::yield_now().await;
        }
        assert!(rules(&with_controllers) > 0);
        // A snapshot of a server with controllers has no open work.
        let options =
            ApiServerOptions { snapshot: Some(with_controllers.snapshot()), ..ApiServerOptions::default() };
        let without = ApiServer::start(options).unwrap();
        assert_eq!(rules(&without), rules(&with_controllers));
        assert!(!has(&without, "Namespace", "", "a") && has(&first, "Namespace", "", "a"));
        with_controllers.stop().await;
    }

    #[tokio::test]
    async fn server_from_a_snapshot_serves_its_definitions_and_changes_of_them() {
        let definition = |short: &str| {
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "as.a.example"},
                "spec": {"group": "a.example", "scope": "Namespaced", "names": {"plural": "as", "kind": "A", "shortNames": [short]},
                         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
            })
        };
        let first = ApiServer::start(ApiServerOptions::default()).unwrap();
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        assert_eq!(request(&first, "POST", crds, &definition("x")).await, 201);
        let options = ApiServerOptions { snapshot: Some(first.snapshot()), ..ApiServerOptions::default() };
        let second = ApiServer::start(options).unwrap();
        let version = second.objects().version();
        let watched = format!("/apis/a.example/v1/as?watch=true&timeoutSeconds=1&resourceVersion={version}");
        assert_eq!(request(&second, "GET", &watched, &json!({})).await, 200);
        let path = format!("{crds}/as.a.example");
        let mut changed =
            second.objects().get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "as.a.example");
        let changed = changed.as_mut().unwrap().as_mut().unwrap();
        changed["spec"]["names"]["shortNames"] = json!(["y"]);
        assert_eq!(request(&second, "PUT", &path, changed).await, 200);
        let (_, mut cursor) = second.server().store.list_and_watch(&crate::crd::collection(changed), "");
        assert!(cursor.take().is_ok());
        let store = &second.server().store;
        assert!(store.watch(&crate::crd::collection(changed), version).take().is_err());
    }
}
