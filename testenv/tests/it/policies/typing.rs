//! Type errors of a policy's expressions, as kube-controller-manager reports them in the policy's status.

use http::Method;
use kubesmith_testenv::TestEnv;
use serde_json::{Value, json};

use super::{API, object};
use crate::support::{call, patch};

const POLICIES: &str = "validatingadmissionpolicies";

/// The reports of kube-controller-manager 1.36 about expressions for Deployments: a column and an issue, if
/// any.
const WARNINGS: &[(&str, &str)] = &[
    ("object.replicas > 1", "7 undefined field 'replicas'"),
    ("object.spec.template.spec.containers[0].resources.limits['cpu'] == '1'", "50 undefined field 'limits'"),
    ("object.spec.template.spec.containers.all(c, has(c.resources.nope))", "48 undefined field 'nope'"),
    ("has(object.spec.strategy.rollingUpdate.maxSurge)", ""),
    ("has(object.metadata.managedFields[0].fieldsV1.x)", "4 undefined field 'x'"),
    (
        "object.metadata.creationTimestamp == 1",
        "35 found no matching overload for '_==_' applied to '(timestamp, int)'",
    ),
    (
        "authorizer.requestResource.check('x').allowed()",
        "11 unexpected failed resolution of 'kubernetes.authorization.Authorizer'",
    ),
    (
        "object.spec.template.spec.containers[0].lifecycle.preStop.sleep.seconds == 'x'",
        "73 found no matching overload for '_==_' applied to '(int, string)'",
    ),
    ("object.metadata.namespace == object.kind && object.metadata.labels.foo == 'x'", ""),
    ("variables.s.replica == 1", ""),
];

/// The status of a policy after its check.
async fn checked(env: &TestEnv, name: &str) -> Value {
    let path = format!("{API}/{POLICIES}/{name}");
    loop {
        let policy = call(env, Method::GET, &path, Value::Null).await.1;
        if policy["status"]["observedGeneration"] == policy["metadata"]["generation"] {
            return policy["status"].clone();
        }
        tokio::task::yield_now().await;
    }
}

fn spec(resources: &[&str], expressions: &[&str]) -> Value {
    let rule =
        json!({"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": resources});
    let validations: Vec<Value> = expressions.iter().map(|source| json!({"expression": source})).collect();
    let variables = json!([{"name": "s", "expression": "object.spec"}]);
    json!({"matchConstraints": {"resourceRules": [rule]}, "validations": validations, "variables": variables})
}

#[tokio::test]
async fn expressions_are_checked_for_the_kinds_that_rules_name() {
    let env = TestEnv::builder().controllers(true).start().await.unwrap();
    let create = async |name: &str, spec: &Value| {
        let policy = object("ValidatingAdmissionPolicy", name, json!({}), spec);
        let (code, answer) = call(&env, Method::POST, &format!("{API}/{POLICIES}"), policy).await;
        assert_eq!(code, 201, "{answer}");
        checked(&env, name).await
    };
    let good = ["object.spec.replicas > 1", "has(object.metadata.labels) && object.kind == 'Deployment'"];
    assert_eq!(
        create("good", &spec(&["deployments"], &good)).await,
        json!({"observedGeneration": 1, "typeChecking": {}})
    );
    // Wildcards are not checked.
    let open = create("open", &spec(&["*"], &["object.nope == 1"])).await;
    assert_eq!(open["typeChecking"], json!({}));
    let sources: Vec<&str> = WARNINGS.iter().map(|(source, _)| *source).collect();
    let bad = create("bad", &spec(&["deployments", "replicasets/scale"], &sources)).await;
    let warnings = WARNINGS.iter().enumerate().filter(|(_, (_, issue))| !issue.is_empty());
    let warnings = warnings.map(|(at, (source, issue))| {
        let (column, text) = issue.split_once(' ').unwrap();
        let dots = ".".repeat(column.parse::<usize>().unwrap() - 1);
        let warning =
            format!("apps/v1, Kind=Deployment: ERROR: <input>:1:{column}: {text}\n | {source}\n | {dots}^\n");
        json!({"fieldRef": format!("spec.validations[{at}].expression"), "warning": warning})
    });
    let expected: Vec<Value> = warnings.collect();
    assert_eq!(bad["typeChecking"]["expressionWarnings"], json!(expected));

    // A change of the status alone is not a change of the policy.
    let policy = call(&env, Method::GET, &format!("{API}/{POLICIES}/bad"), Value::Null).await.1;
    let managers: Vec<&str> = policy["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["manager"].as_str().unwrap())
        .collect();
    assert!(managers.contains(&"validatingadmissionpolicy-status"), "{managers:?}");
    let mended = json!({"spec": {"validations": [{"expression": "object.spec.replicas > 1"}]}});
    assert_eq!(patch(&env, &format!("{API}/{POLICIES}/bad"), "merge-patch+json", mended).await.0, 200);
    assert_eq!(checked(&env, "bad").await, json!({"observedGeneration": 2, "typeChecking": {}}));
    env.stop().await;
}
