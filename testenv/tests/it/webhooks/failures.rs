//! Webhooks that cannot be reached or respond with nonsense, and the effect of their failure policy.

use futures::FutureExt;
use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::server::{Answer, HookServer, answered, hook, mutating, patched, validating};
use crate::support::call;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The response of a webhook to a review.
type Answering = fn(Value) -> Answer;

/// The results of a failing webhook, with both policies.
async fn outcome(env: &TestEnv, extra: &Value) -> Value {
    let mut extra = extra.clone();
    extra["failurePolicy"] = json!("Ignore");
    mutating(env, "m", &[hook("m", &extra)]).await;
    let body = json!({"metadata": {"generateName": "m-"}});
    let (code, answer) = call(env, Method::POST, MAPS, body.clone()).await;
    assert_eq!(code, 201, "{answer}");
    extra["failurePolicy"] = json!("Fail");
    mutating(env, "m", &[hook("m", &extra)]).await;
    let (code, answer) = call(env, Method::POST, MAPS, body).await;
    assert_eq!((code, &answer["reason"]), (500, &json!("InternalError")), "{answer}");
    answer
}

#[tokio::test]
async fn webhook_failures_have_kube_apiservers_text() {
    let cases: [(Answering, &str); 10] = [
        (
            |_| (200, "garbage".to_owned()),
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go \
             value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
             \"json:\\\"kind,omitempty\\\"\" }",
        ),
        (
            |_| (200, String::new()),
            "failed to call webhook: 0-length response with status code: 200 and content type: text/plain",
        ),
        (
            |review| answered(&review, json!({"allowed": "yes"})),
            "failed to call webhook: json: cannot unmarshal string into Go struct field \
             AdmissionResponse.response.allowed of type bool",
        ),
        (
            |_| (200, json!({"apiVersion": "admission.k8s.io/v1", "kind": "Review"}).to_string()),
            "failed to call webhook: no kind \"Review\" is registered for version \"admission.k8s.io/v1\" in scheme \
             \"k8s.io/apiserver/pkg/util/webhook/client.go:71\"",
        ),
        (
            |_| (200, json!({"apiVersion": "v1", "kind": "Status", "status": "Failure"}).to_string()),
            "failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            |review| answered(&review, json!({"allowed": true, "patchType": "X", "patch": "W3t9XQ=="})),
            "unsupported patch type \"X\"",
        ),
        (
            |_| (500, "boom".to_owned()),
            "failed to call webhook: an error on the server (\"boom\") has prevented the request from succeeding",
        ),
        (
            |_| (404, String::new()),
            "failed to call webhook: the server could not find the requested resource",
        ),
        (
            |mut review| {
                review["request"]["uid"] = json!("other");
                answered(&review, json!({"allowed": true}))
            },
            "received invalid webhook response: expected response.uid=\"UID\", got \"other\"",
        ),
        (|_| (200, "{}".to_owned()), "received invalid webhook response: webhook response was absent"),
    ];
    for (answer, expected) in cases {
        let env = TestEnv::builder().start().await.unwrap();
        let server = HookServer::start(&env, move |_, review| async move { answer(review) }.boxed()).await;
        let status = outcome(&env, &json!({})).await;
        let uid = server.calls()[1].1["uid"].as_str().unwrap().to_owned();
        let text = format!("failed calling webhook \"m.hooks.example\": {}", expected.replace("UID", &uid));
        assert_eq!(status["message"], format!("Internal error occurred: {text}"));
        assert_eq!(status["details"], json!({"causes": [{"message": text}]}));
        env.stop().await;
    }
}

#[tokio::test]
async fn call_fails_when_the_connection_is_refused() {
    let env = TestEnv::builder().start().await.unwrap();
    let status = outcome(&env, &json!({})).await;
    let serving = env.local_serving().unwrap();
    let expected = format!(
        "Internal error occurred: failed calling webhook \"m.hooks.example\": failed to call webhook: Post \
         \"{}?timeout=10s\": dial tcp {}:{}: connect: connection refused",
        serving.url("/m"),
        serving.host(),
        serving.port()
    );
    assert_eq!(status["message"], expected);
    env.stop().await;
}

#[tokio::test]
async fn call_fails_when_the_certificate_is_of_another_authority() {
    let env = TestEnv::builder().start().await.unwrap();
    let other = TestEnv::builder().start().await.unwrap();
    let _server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let mut hook = hook("v", &json!({}));
    use base64::Engine as _;
    let authority =
        base64::engine::general_purpose::STANDARD.encode(other.local_serving().unwrap().ca_bundle());
    hook["clientConfig"] = json!({"url": env.local_serving().unwrap().url("/v"), "caBundle": authority});
    let body = json!({"metadata": {"name": "v"}, "webhooks": [hook]});
    let (code, answer) = call(&env, Method::POST, path, body).await;
    assert_eq!(code, 201, "{answer}");
    let (code, answer) = call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await;
    assert_eq!(code, 500);
    let message = answer["message"].as_str().unwrap();
    let expected = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert!(message.ends_with(expected), "{message}");
    env.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn call_fails_when_the_service_does_not_exist() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let body = json!({"metadata": {"name": "v"}, "webhooks": [hook("v", &json!({}))]});
    call(&env, Method::POST, path, body).await;
    let (_, answer) = call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await;
    assert_eq!(
        answer["message"],
        "Internal error occurred: failed calling webhook \"v.hooks.example\": failed to call webhook: Post \
         \"https://hooks.system.svc:443/v?timeout=10s\": service \"hooks\" not found"
    );
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn call_fails_when_the_webhook_times_out() {
    let env = TestEnv::builder().start().await.unwrap();
    let _server = HookServer::start(&env, |_, _| std::future::pending().boxed()).await;
    let status = outcome(&env, &json!({"timeoutSeconds": 3})).await;
    let message = status["message"].as_str().unwrap();
    let expected =
        format!("Post \"{}?timeout=3s\": context deadline exceeded", env.local_serving().unwrap().url("/m"));
    assert!(message.ends_with(&expected), "{message}");
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn request_fails_at_its_deadline_when_the_webhook_is_slow() {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::start(&env, |_, _| std::future::pending().boxed()).await;
    validating(&env, "v", &[hook("v", &json!({"timeoutSeconds": 30}))]).await;
    let body = json!({"metadata": {"name": "m"}});
    for (query, seconds) in [("?timeout=1500ms", 1.5), ("?timeout=20s", 20.0), ("?timeout=0", 30.0)] {
        let start = tokio::time::Instant::now();
        let (code, answer) = call(&env, Method::POST, &format!("{MAPS}{query}"), body.clone()).await;
        let took = start.elapsed().as_secs_f64();
        assert!((seconds..seconds + 0.5).contains(&took), "{query}: {took}");
        if seconds == 30.0 {
            assert_eq!(code, 500, "the webhook's own time is over: {answer}");
            continue;
        }
        let message = "Timeout: request did not complete within the allotted timeout";
        let timeout = json!({"metadata": {}, "status": "Failure", "message": message, "reason": "Timeout",
                             "details": {}, "code": 504});
        assert_eq!((code, answer), (504, timeout), "{query}");
    }
    assert_eq!(server.calls().len(), 3);
    let (code, _) = call(&env, Method::GET, &format!("{MAPS}/m"), Value::Null).await;
    assert_eq!(code, 404, "a write that has failed is not stored");
    env.stop().await;
}

#[tokio::test]
async fn invalid_patch_is_an_error_despite_failure_policy_ignore() {
    let env = TestEnv::builder().start().await.unwrap();
    let _server = HookServer::responding(&env, |_, request| match request["operation"].as_str() {
        Some("CREATE") => patched(&json!([{"op": "add", "path": "/metadata/labels/a", "value": "b"}])),
        _ => patched(&json!([{"op": "add", "path": "/x", "value": 1}])),
    })
    .await;
    mutating(&env, "m", &[hook("m", &json!({"failurePolicy": "Ignore"}))]).await;
    let (code, answer) = call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await;
    let expected = "Internal error occurred: add operation does not apply: doc is missing path: \
                    \"/metadata/labels/a\": missing value";
    assert_eq!((code, &answer["message"]), (500, &json!(expected)));
    let labelled = json!({"metadata": {"name": "m", "labels": {"c": "d"}}});
    let (code, answer) = call(&env, Method::POST, MAPS, labelled).await;
    assert_eq!((code, &answer["metadata"]["labels"]), (201, &json!({"a": "b", "c": "d"})));
    let (code, answer) = call(&env, Method::DELETE, &format!("{MAPS}/m"), Value::Null).await;
    let expected = "Internal error occurred: admission webhook \"m.hooks.example\" attempted to modify the object, which \
                    is not supported for this operation";
    assert_eq!((code, &answer["message"]), (500, &json!(expected)));
    env.stop().await;
}

#[tokio::test]
async fn webhook_configurations_are_validated() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    let body = json!({"metadata": {"name": "m"}, "webhooks": [hook("m", &json!({"sideEffects": "Some", "timeoutSeconds": 60}))]});
    let (code, answer) = call(&env, Method::POST, path, body).await;
    assert_eq!(code, 422);
    assert_eq!(
        answer["message"],
        "MutatingWebhookConfiguration.admissionregistration.k8s.io \"m\" is invalid: [webhooks[0].sideEffects: \
         Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\", webhooks[0].timeoutSeconds: Invalid \
         value: 60: the timeout value must be between 1 and 30 seconds]"
    );
    let (_, stored) = call(
        &env,
        Method::POST,
        path,
        json!({"metadata": {"name": "m"}, "webhooks": [hook("m", &json!({}))]}),
    )
    .await;
    assert_eq!(
        (&stored["metadata"]["generation"], &stored["webhooks"][0]["timeoutSeconds"]),
        (&json!(1), &json!(10))
    );
    let mut next = stored.clone();
    next["webhooks"][0]["timeoutSeconds"] = json!(5);
    let (_, stored) = call(&env, Method::PUT, &format!("{path}/m"), next).await;
    assert_eq!(stored["metadata"]["generation"], 2);
    env.stop().await;
}

#[tokio::test]
async fn deleted_webhook_is_not_called() {
    let env = TestEnv::builder().start().await.unwrap();
    validating(&env, "v", &[hook("v", &json!({}))]).await;
    let (code, _) = call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await;
    assert_eq!(code, 500);
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v";
    call(&env, Method::DELETE, path, Value::Null).await;
    let (code, _) = call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await;
    assert_eq!(code, 201);
    env.stop().await;
}

#[tokio::test]
async fn external_name_service_reaches_the_webhook_without_dns() {
    let env = TestEnv::builder().start().await.unwrap();
    let server = HookServer::responding(&env, |_, _| json!({"allowed": true})).await;
    call(&env, Method::POST, "/api/v1/namespaces", json!({"metadata": {"name": "system"}})).await;
    let service =
        json!({"metadata": {"name": "hooks"}, "spec": {"type": "ExternalName", "externalName": "localhost"}});
    let (code, answer) = call(&env, Method::POST, "/api/v1/namespaces/system/services", service).await;
    assert_eq!(code, 201, "{answer}");
    let serving = env.local_serving().unwrap();
    let mut hook = hook("v", &json!({}));
    use base64::Engine as _;
    hook["clientConfig"]["caBundle"] =
        json!(base64::engine::general_purpose::STANDARD.encode(serving.ca_bundle()));
    hook["clientConfig"]["service"]["port"] = json!(serving.port());
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    call(&env, Method::POST, path, json!({"metadata": {"name": "v"}, "webhooks": [hook]})).await;
    // The webhook is reached, but its certificate is for another name.
    let (code, answer) = call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await;
    assert_eq!(code, 500);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("tls: failed to verify certificate: x509: certificate"), "{message}");
    assert!(message.contains("hooks.system.svc"), "{message}");
    assert!(server.calls().is_empty());
    env.stop().await;
}
