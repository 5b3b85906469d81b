//! Access reviews with selectors. The messages are those of kube-apiserver 1.36.2.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use crate::support::call;

#[tokio::test]
async fn given_status_of_a_review_has_a_manager() {
    let env = TestEnv::builder().start().await.unwrap();
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let asked = json!({"user": "a", "nonResourceAttributes": {"path": "/", "verb": "get"}});
    let review = json!({"spec": asked, "status": {"allowed": true, "reason": "x"}});
    let (_, answer) = call(&env, Method::POST, path, review).await;
    let owned = &answer["metadata"]["managedFields"][0]["fieldsV1"]["f:status"];
    assert_eq!(*owned, json!({"f:allowed": {}, "f:reason": {}}));
    assert_eq!(answer["status"]["reason"], Value::Null);
    let asked = json!({"user": "a", "extra": {"k": [null]}, "resourceAttributes": {"verb": "get", "resource": "pods"}});
    let (code, answer) = call(&env, Method::POST, path, json!({"spec": asked})).await;
    assert_eq!((code, &answer["spec"]["extra"]), (201, &json!({"k": [""]})));
}

#[tokio::test]
async fn selectors_of_access_reviews_are_checked() {
    let env = TestEnv::builder().start().await.unwrap();
    let asked = async |selector: &str, value: Value| {
        let review =
            json!({"spec": {"resourceAttributes": {"verb": "list", "resource": "pods", selector: value}}});
        let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
        call(&env, Method::POST, path, review).await
    };
    let key = |key: &str, operator: &str, values: &[&str]| json!({"key": key, "operator": operator, "values": values});
    for (selector, value, wanted) in [
        (
            "fieldSelector",
            json!({}),
            "fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, \
             requirements or rawSelector is required",
        ),
        (
            "labelSelector",
            json!({"rawSelector": "a=b", "requirements": [key("a", "Exists", &[])]}),
            "labelSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements",
        ),
        (
            "fieldSelector",
            json!({"requirements": [key("", "In", &["a"])]}),
            "fieldSelector.requirements[0].key: Required value: must be specified",
        ),
        (
            "labelSelector",
            json!({"requirements": [key("a", "NotIn", &[])]}),
            "labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (
            "labelSelector",
            json!({"requirements": [key("a", "Exists", &["b"])]}),
            "labelSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or \
             'DoesNotExist'",
        ),
    ] {
        let (status, body) = asked(selector, value).await;
        let message = body["message"].as_str().unwrap();
        assert_eq!(
            (status, message.ends_with(&format!("spec.resourceAttributes.{wanted}"))),
            (422, true),
            "{message}"
        );
    }
    for (selector, value, how) in [
        ("labelSelector", json!({"rawSelector": "a in"}), "ignored"),
        ("labelSelector", json!({"requirements": [key("a", "Newer", &[])]}), "ignored"),
        (
            "fieldSelector",
            json!({"requirements": [key("a", "In", &["b"]), key("a", "Exists", &[])]}),
            "partially ignored",
        ),
    ] {
        let (status, body) = asked(selector, value).await;
        let error = format!("spec.resourceAttributes.{selector} {how} due to parse error");
        assert_eq!((status, &body["status"]["evaluationError"]), (201, &json!(error)), "{body}");
    }
    let (_, body) = asked("labelSelector", json!({"rawSelector": "a=b"})).await;
    assert_eq!(body["status"], json!({"allowed": true}));
}
