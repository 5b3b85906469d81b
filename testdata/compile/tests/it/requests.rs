//! The request of each generated verb.

use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex};

use case_cluster_scope::EcsBinding;
use case_namespaced_scope::Cart;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchParams};
use kube::client::Body;
use kubesmith_expected::cluster_scope::applyconfigurations::ecs::v1::EcsBindingApplyConfiguration;
use kubesmith_expected::{cluster_scope, namespaced_scope};
use kubesmith_runtime::client::ClientOptions;
use serde_json::json;

/// A client of a server that knows nothing, and what it was asked.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Vec<String>>>);

impl Server {
    fn client(&self) -> kube::Client {
        let asked = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let query = request
                .uri()
                .query()
                .filter(|query| query.contains("fieldManager") || query.contains("watch"));
            let query = query.map(|query| format!(" {query}")).unwrap_or_default();
            let line = format!("{} {}{query}", request.method(), request.uri().path());
            asked.0.lock().unwrap().push(line);
            let status = json!({
                "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound",
                "message": "there is nothing here",
            });
            let body = Body::from(status.to_string().into_bytes());
            ready(Ok::<_, Infallible>(http::Response::builder().status(404).body(body).unwrap()))
        });
        kube::Client::new(service, "default")
    }

    /// The requests since the last call.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn named<K: kube::Resource + Default>() -> K {
    let mut object = K::default();
    object.meta_mut().name = Some("x".to_owned());
    object
}

#[tokio::test]
async fn cluster_scoped_kind_has_every_verb() {
    let server = Server::default();
    let clients = cluster_scope::Clientset::new(server.client());
    let bindings = clients.ecs_v1().ecs_bindings();
    let object: EcsBinding = named();
    let (post, apply) = (PostParams::default(), PatchParams::apply("me"));
    let patch = Patch::Merge(json!({}));

    assert!(bindings.create(&object, &post).await.unwrap_err().is_not_found());
    assert!(bindings.update(&object, &post).await.unwrap_err().is_not_found());
    assert!(bindings.update_status(&object, &post).await.unwrap_err().is_not_found());
    assert!(bindings.delete("x", &DeleteParams::default()).await.unwrap_err().is_not_found());
    let all = ListParams::default();
    assert!(bindings.delete_collection(&DeleteParams::default(), &all).await.unwrap_err().is_not_found());
    assert!(bindings.get("x").await.unwrap_err().is_not_found());
    assert!(bindings.list(&all).await.unwrap_err().is_not_found());
    assert!(bindings.watch(&WatchParams::default(), "7").await.is_err());
    assert!(bindings.patch("x", &PatchParams::default(), &patch).await.unwrap_err().is_not_found());
    let sub = bindings.patch_subresource("status", "x", &PatchParams::default(), &patch).await;
    assert!(sub.unwrap_err().is_not_found());
    let configuration = EcsBindingApplyConfiguration::new("x");
    assert!(bindings.apply(&configuration, &apply).await.unwrap_err().is_not_found());
    assert!(bindings.apply_status(&configuration, &apply).await.unwrap_err().is_not_found());

    let asked = server.asked();
    let expected = [
        "POST /apis/hopegi.com/v1/ecsbinding",
        "PUT /apis/hopegi.com/v1/ecsbinding/x",
        "PUT /apis/hopegi.com/v1/ecsbinding/x/status",
        "DELETE /apis/hopegi.com/v1/ecsbinding/x",
        "DELETE /apis/hopegi.com/v1/ecsbinding",
        "GET /apis/hopegi.com/v1/ecsbinding/x",
        "GET /apis/hopegi.com/v1/ecsbinding",
        "GET /apis/hopegi.com/v1/ecsbinding",
        "PATCH /apis/hopegi.com/v1/ecsbinding/x",
        "PATCH /apis/hopegi.com/v1/ecsbinding/x/status",
        "PATCH /apis/hopegi.com/v1/ecsbinding/x",
        "PATCH /apis/hopegi.com/v1/ecsbinding/x/status",
    ];
    assert_eq!(asked.len(), expected.len(), "{asked:#?}");
    for (asked, expected) in asked.iter().zip(expected) {
        assert_eq!(asked.split(' ').take(2).collect::<Vec<_>>().join(" "), expected);
    }
    assert!(asked[7].contains("watch=true") && asked[7].contains("resourceVersion=7"), "{}", asked[7]);
    assert!(asked[10].contains("fieldManager=me"), "{}", asked[10]);
}

#[tokio::test]
async fn namespaced_client_is_of_all_namespaces_or_one() {
    let server = Server::default();
    let clients = namespaced_scope::Clientset::new(server.client());
    let carts = clients.shop_v1().carts();
    assert!(carts.list(&ListParams::default()).await.is_err());
    let one = carts.namespace("default");
    assert!(one.get("x").await.is_err());
    assert!(one.create(&named::<Cart>(), &PostParams::default()).await.is_err());
    let expected = [
        "GET /apis/shop.example.com/v1/carts",
        "GET /apis/shop.example.com/v1/namespaces/default/carts/x",
        "POST /apis/shop.example.com/v1/namespaces/default/carts",
    ];
    assert_eq!(server.asked(), expected);
    assert_eq!(clients.shop_v1().rest_client().group_version(), "shop.example.com/v1");
}

#[tokio::test]
async fn discovery_uses_the_server_of_the_clientset() {
    let server = Server::default();
    let clients = cluster_scope::Clientset::new(server.client());
    assert!(clients.discovery().server_version().await.is_err());
    assert_eq!(server.asked(), ["GET /version"]);
}

/// A configuration leads to the server over the network, with its credentials; what is wrong with it is told at once.
#[tokio::test]
async fn clientset_is_built_from_a_configuration() {
    let mut env = super::crds::server("namespaced-scope").await;
    let config = env.config().await.unwrap();
    let options = ClientOptions::new().user_agent("shopkeeper/1.0");
    let clients =
        namespaced_scope::Clientset::try_from_config_with_options(config.clone(), options).await.unwrap();
    let carts = clients.shop_v1().carts().namespace("default");
    let stored = carts.create(&named::<Cart>(), &PostParams::default()).await.unwrap();
    let manager = stored.metadata.managed_fields.unwrap().remove(0).manager;
    assert_eq!(manager.as_deref(), Some("shopkeeper"));
    let clients = namespaced_scope::Clientset::try_from_config(config).await.unwrap();
    assert!(clients.shop_v1().carts().namespace("default").get("x").await.is_ok());
    let limitless = ClientOptions::new().rate_limit(5.0, 0);
    let config = env.config().await.unwrap();
    assert!(namespaced_scope::Clientset::try_from_config_with_options(config, limitless).await.is_err());
    env.stop().await;
}
