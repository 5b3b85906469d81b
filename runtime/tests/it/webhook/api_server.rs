//! Admission, called by an API server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::pending;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kubesmith_runtime::webhook::{
    AdmissionContext, AdmissionError, AdmissionResponse, Chain, Defaulter, FieldError, FieldErrors,
    FieldPath, ServerBuilder, Validator, Warnings, admission_fn, mutate_path, validate_path,
};
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::support::Running;

/// A server that an API server can call.
pub(super) struct Serving {
    pub(super) running: Running,
}

pub(super) async fn serving(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Serving {
    Serving { running: Running::start(settings).await }
}

impl Serving {
    /// The `clientConfig` for a path.
    pub(super) fn client_config(&self, path: &str) -> Value {
        client_config(self.running.address, path, &self.running.authority.pem)
    }

    pub(super) async fn stop(self) {
        self.running.stop().await;
    }
}

pub(super) fn client_config(address: std::net::SocketAddr, path: &str, ca: &str) -> Value {
    json!({"url": format!("https://{address}{path}"), "caBundle": STANDARD.encode(ca)})
}

/// A webhook for config maps.
fn hook(serving: &Serving, path: &str, extra: &Value) -> Value {
    let mut hook = json!({
        "name": "maps.hooks.example", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": serving.client_config(path),
        "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    });
    for (key, value) in extra.as_object().into_iter().flatten() {
        hook[key] = value.clone();
    }
    hook
}

async fn mutating(env: &TestEnv, hook: Value) {
    let configurations: Api<MutatingWebhookConfiguration> = Api::all(env.client());
    let name = hook["clientConfig"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let configuration = json!({"metadata": {"name": name}, "webhooks": [hook]});
    let configuration = serde_json::from_value(configuration).unwrap();
    configurations.create(&PostParams::default(), &configuration).await.unwrap();
}

async fn validating(env: &TestEnv, hook: Value) {
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(env.client());
    let name = hook["clientConfig"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let configuration = json!({"metadata": {"name": name}, "webhooks": [hook]});
    let configuration = serde_json::from_value(configuration).unwrap();
    configurations.create(&PostParams::default(), &configuration).await.unwrap();
}

fn map(name: &str, data: &Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).unwrap()
}

/// Config maps have a mode, which is fast or slow and does not change. Those with `keep` cannot be deleted.
struct Maps;

impl Defaulter<ConfigMap> for Maps {
    async fn default(&self, ctx: &AdmissionContext, map: &mut ConfigMap) -> Result<(), AdmissionError> {
        assert_eq!(ctx.request().name, map.metadata.name.clone().unwrap_or_default());
        map.data.get_or_insert_default().entry("mode".to_owned()).or_insert("slow".to_owned());
        map.metadata.annotations.get_or_insert_default().insert("example.com/by".to_owned(), "us".to_owned());
        Ok(())
    }
}

fn mode(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("mode")).map_or("", String::as_str)
}

impl Validator<ConfigMap> for Maps {
    async fn validate_create(
        &self,
        _: &AdmissionContext,
        map: &ConfigMap,
    ) -> Result<Warnings, AdmissionError> {
        let mut errors = FieldErrors::new();
        if !["fast", "slow"].contains(&mode(map)) {
            let path = FieldPath::new("data").key("mode");
            errors.push(FieldError::not_supported(path, mode(map), &["fast", "slow"]));
        }
        errors.into_result()?;
        Ok(vec![format!("{} is the mode", mode(map))])
    }

    async fn validate_update(
        &self,
        _: &AdmissionContext,
        old: &ConfigMap,
        new: &ConfigMap,
    ) -> Result<Warnings, AdmissionError> {
        if mode(old) != mode(new) {
            return Err(AdmissionError::denied("the mode cannot change"));
        }
        Ok(vec![])
    }

    async fn validate_delete(
        &self,
        ctx: &AdmissionContext,
        map: &ConfigMap,
    ) -> Result<Warnings, AdmissionError> {
        if map.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key("keep")) && !ctx.is_dry_run()
        {
            return Err(std::io::Error::other("it is kept").into());
        }
        Ok(vec![])
    }
}

fn message(error: kube::Error) -> (u16, String) {
    let kube::Error::Api(status) = error else { panic!("{error}") };
    (status.code, status.message)
}

#[tokio::test]
async fn typed_webhooks_default_and_validate() {
    let env = TestEnv::builder().start().await.unwrap();
    let serving = serving(|server| server.defaulter::<ConfigMap>(Maps).validator::<ConfigMap>(Maps)).await;
    mutating(&env, hook(&serving, &mutate_path::<ConfigMap>(), &json!({}))).await;
    validating(&env, hook(&serving, &validate_path::<ConfigMap>(), &json!({}))).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(env.client());
    let post = PostParams::default();
    let mut created = maps.create(&post, &map("a", &json!({"x": "y"}))).await.unwrap();
    assert_eq!(mode(&created), "slow");
    assert_eq!(created.metadata.annotations.as_ref().unwrap()["example.com/by"], "us");
    let error = maps.create(&post, &map("b", &json!({"mode": "never"}))).await.unwrap_err();
    let kube::Error::Api(status) = error else { panic!("{error}") };
    assert_eq!(
        (status.code, status.message.as_str()),
        (
            422,
            "admission webhook \"maps.hooks.example\" denied the request: ConfigMap \"b\" is invalid: data[mode]: \
             Unsupported value: \"never\": supported values: \"fast\", \"slow\""
        )
    );
    let details = status.details.unwrap();
    let cause = &details.causes[0];
    assert_eq!((cause.field.as_str(), cause.reason.as_str()), ("data[mode]", "FieldValueNotSupported"));
    created.metadata.labels = Some([("keep".to_owned(), String::new())].into());
    let kept = maps.replace("a", &post, &created).await.unwrap();
    assert_eq!(mode(&kept), "slow");
    let fast = Patch::Merge(json!({"data": {"mode": "fast"}}));
    let error = maps.patch("a", &PatchParams::default(), &fast).await.unwrap_err();
    let denied = "admission webhook \"maps.hooks.example\" denied the request: ";
    assert_eq!(message(error), (403, format!("{denied}the mode cannot change")));
    let error = maps.delete("a", &DeleteParams::default()).await.unwrap_err();
    assert_eq!(message(error), (403, format!("{denied}it is kept")));
    maps.delete("a", &DeleteParams::default().dry_run()).await.unwrap();
    env.stop().await;
    serving.stop().await;
}

#[tokio::test]
async fn chain_warnings_and_patches_reach_the_client() {
    let env = TestEnv::builder().start().await.unwrap();
    let adding = |key: &'static str| {
        admission_fn(move |ctx: AdmissionContext| async move {
            let object = ctx.request().object.as_ref().unwrap().to_value().unwrap();
            let mut next = object.clone();
            next["data"][key] = json!(object["data"].as_object().map_or(0, |data| data.len()).to_string());
            AdmissionResponse::patched_from(&object, &next).with_warnings([format!("{key} added")])
        })
    };
    let chain = Chain::mutating().then(adding("a")).then(adding("b"));
    let serving = serving(|server| server.admission("/chain", chain)).await;
    mutating(&env, hook(&serving, "/chain", &json!({}))).await;
    let body = serde_json::to_vec(&map("m", &json!({}))).unwrap();
    let request = http::Request::post("/api/v1/namespaces/default/configmaps")
        .header("content-type", "application/json")
        .body(kube::client::Body::from(body));
    let response = env.client().send(request.unwrap()).await.unwrap();
    assert_eq!(response.status(), 201);
    let warnings: Vec<_> =
        response.headers().get_all("warning").iter().map(|w| w.to_str().unwrap()).collect();
    assert_eq!(warnings, ["299 - \"a added\"", "299 - \"b added\""]);
    let maps: Api<ConfigMap> = Api::default_namespaced(env.client());
    let stored = maps.get("m").await.unwrap().data.unwrap();
    assert_eq!((stored["a"].as_str(), stored["b"].as_str()), ("0", "1"));
    env.stop().await;
    serving.stop().await;
}

#[tokio::test]
async fn failure_policy_decides_without_a_response() {
    let env = TestEnv::builder().start().await.unwrap();
    let handler = admission_fn(|ctx: AdmissionContext| async move {
        if ctx.request().name.starts_with("hangs") { pending().await } else { panic!("broken") }
    });
    let serving = serving(|server| server.admission("/broken", handler)).await;
    let maps: Api<ConfigMap> = Api::default_namespaced(env.client());
    let create = async |name: &str| maps.create(&PostParams::default(), &map(name, &json!({}))).await;
    let ignoring = json!({"failurePolicy": "Ignore", "timeoutSeconds": 1});
    validating(&env, hook(&serving, "/broken", &ignoring)).await;
    create("panics").await.unwrap();
    create("hangs").await.unwrap();
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(env.client());
    configurations.delete("broken", &DeleteParams::default()).await.unwrap();
    for (extra, path, text) in [
        (json!({}), "/broken", "the webhook panicked; its log says more"),
        (json!({}), "/none", "there is no webhook at /none"),
        (
            json!({"admissionReviewVersions": ["v1beta1"]}),
            "/broken",
            "list only \"v1\" in admissionReviewVersions",
        ),
    ] {
        validating(&env, hook(&serving, path, &extra)).await;
        let (_, message) = message(create("fails").await.unwrap_err());
        assert!(message.contains(text), "{message}");
        let name = path.trim_start_matches('/');
        configurations.delete(name, &DeleteParams::default()).await.unwrap();
    }
    env.stop().await;
    serving.stop().await;
}
