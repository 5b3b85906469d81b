//! Several policies together, policies with webhooks, and policies on requests of several kinds.

use futures::FutureExt as _;
use http::Method;
use kubesmith_testenv::{TestEnv, User};
use serde_json::{Value, json};

use super::{MAPS, install};
use crate::support::call;
use crate::webhooks::{HookServer, answered, hook, mutating, patched};

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// A mutating policy that appends a letter to a label.
fn appending(letter: &str, again: &str) -> Value {
    let expression = format!(
        "Object{{metadata: Object.metadata{{labels: {{'seen': object.metadata.?labels.?seen.orValue('') + '{letter}'}}}}}}"
    );
    let mutation =
        json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}});
    json!({"reinvocationPolicy": again, "mutations": [mutation]})
}

#[tokio::test]
async fn policy_is_reinvoked_when_a_later_one_changes_the_object() {
    let env = TestEnv::builder().start().await.unwrap();
    install(&env, "mutating", "a", &appending("a", "IfNeeded"), &json!({})).await;
    install(&env, "mutating", "b", &appending("b", "Never"), &json!({})).await;
    let (code, made) = call(&env, Method::POST, MAPS, map("m")).await;
    assert_eq!((code, &made["metadata"]["labels"]["seen"]), (201, &json!("aba")), "{made}");
    env.stop().await;
}

#[tokio::test]
async fn policies_change_objects_before_webhooks_and_again_after_them() {
    let env = TestEnv::builder().start().await.unwrap();
    install(&env, "mutating", "a", &appending("a", "IfNeeded"), &json!({})).await;
    let server = HookServer::start(&env, |_, review| {
        let seen =
            review["request"]["object"]["metadata"]["labels"]["seen"].as_str().unwrap_or_default().to_owned();
        let operation =
            json!([{"op": "replace", "path": "/metadata/labels/seen", "value": format!("{seen}w")}]);
        let answer = answered(&review, patched(&operation));
        async move { answer }.boxed()
    })
    .await;
    let rules = json!([{"operations": ["CREATE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps"]}]);
    mutating(&env, "m", &[hook("mutate", &json!({"rules": rules}))]).await;
    let (code, made) = call(&env, Method::POST, MAPS, map("m")).await;
    assert_eq!((code, &made["metadata"]["labels"]["seen"]), (201, &json!("awa")), "{made}");
    assert_eq!(server.calls().len(), 1);
    env.stop().await;
}

#[tokio::test]
async fn validating_policy_sees_changes_of_mutating_policies() {
    let env = TestEnv::builder().start().await.unwrap();
    install(&env, "mutating", "a", &appending("a", "Never"), &json!({})).await;
    let spec = json!({"validations": [{"expression": "object.metadata.labels.seen == ''", "messageExpression": "string(object.metadata.labels.seen)"}]});
    install(&env, "validating", "v", &spec, &json!({})).await;
    let (code, refused) = call(&env, Method::POST, MAPS, map("m")).await;
    assert_eq!(code, 422);
    assert!(refused["message"].as_str().unwrap().ends_with("denied request: a"), "{refused}");
    env.stop().await;
}

#[tokio::test]
async fn refusal_names_the_first_policy_and_its_object() {
    let env = TestEnv::builder().start().await.unwrap();
    let spec = |message: &str| json!({"validations": [{"expression": "false", "message": message}]});
    install(&env, "validating", "b", &spec("second"), &json!({})).await;
    install(&env, "validating", "a", &spec("first"), &json!({})).await;
    let (_, refused) = call(&env, Method::POST, MAPS, json!({"metadata": {"generateName": "m-"}})).await;
    let message = "ValidatingAdmissionPolicy 'a' with binding 'a-binding' denied request: first";
    let details = &refused["details"];
    assert_eq!(
        (&details["kind"], &details["causes"]),
        (&json!("configmaps"), &json!([{"message": message}])),
        "{refused}"
    );
    assert!(details["name"].as_str().unwrap().starts_with("m-"), "{refused}");
    assert!(refused["message"].as_str().unwrap().ends_with(message), "{refused}");
    env.stop().await;
}

#[tokio::test]
async fn policies_check_connect_requests() {
    let env = TestEnv::builder().start().await.unwrap();
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CONNECT"], "resources": ["pods/exec"]});
    let spec = json!({
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{
            "expression": "request.operation != 'CONNECT' || object.command != ['sh']", "reason": "Forbidden",
            "messageExpression": "'no shell in ' + object.container + ' of ' + request.name + ' as ' + request.kind.kind",
        }],
    });
    install(&env, "validating", "no-shell", &spec, &json!({})).await;
    let exec = "/api/v1/namespaces/default/pods/web/exec?container=main&stdin=true&command=";
    let (code, refused) = call(&env, Method::POST, &format!("{exec}sh"), Value::Null).await;
    let text = "denied request: no shell in main of web as PodExecOptions";
    assert_eq!(code, 403, "{refused}");
    assert!(refused["message"].as_str().unwrap().ends_with(text), "{refused}");
    let (code, _) = call(&env, Method::POST, &format!("{exec}ls"), Value::Null).await;
    assert_eq!(code, 404, "admission lets it through to a pod that is not there");
    env.stop().await;
}

#[tokio::test]
async fn policies_never_apply_to_policies() {
    let env = TestEnv::builder().start().await.unwrap();
    let rule = json!({"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]});
    let spec =
        json!({"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "false"}]});
    install(&env, "validating", "all", &spec, &json!({})).await;
    assert_eq!(call(&env, Method::POST, MAPS, map("m")).await.0, 422);
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(call(&env, Method::POST, path, review).await.0, 201);
    super::remove(&env, "validating", "all").await;
    assert_eq!(call(&env, Method::POST, MAPS, map("m")).await.0, 201);
    env.stop().await;
}

#[tokio::test]
async fn authorizer_follows_the_rules_of_the_user() {
    let mut env = TestEnv::builder().rbac(true).start().await.unwrap();
    let spec = json!({"validations": [{
        "expression": "authorizer.requestResource.check('publish').allowed()", "message": "publishers only",
    }]});
    install(&env, "validating", "p", &spec, &json!({})).await;
    let role = json!({"metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    assert_eq!(call(&env, Method::POST, roles, role).await.0, 201);
    let binding = json!({
        "metadata": {"name": "r"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "cooks"}],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    assert_eq!(call(&env, Method::POST, bindings, binding).await.0, 201);
    let jane =
        env.add_user(&User { name: "jane".to_owned(), groups: vec!["cooks".to_owned()] }).await.unwrap();
    let maps: kube::Api<k8s_openapi::api::core::v1::ConfigMap> = kube::Api::default_namespaced(jane.client());
    let map = serde_json::from_value(map("m")).unwrap();
    let error = maps.create(&kube::api::PostParams::default(), &map).await.unwrap_err();
    assert!(error.to_string().contains("publishers only"), "{error}");
    assert_eq!(
        call(&env, Method::POST, MAPS, json!({"metadata": {"name": "m"}})).await.0,
        201,
        "masters may do everything"
    );
    env.stop().await;
}
