//! Roles and bindings decide if the server evaluates RBAC.

use http::Request;
use http_body_util::BodyExt as _;
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use kubesmith_testenv::{TestEnv, User};
use serde_json::{Value, json};

pub(crate) const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A request of a client: its method and path, headers and body.
pub(crate) struct Call<'a>(
    pub(crate) &'a str,
    pub(crate) &'a str,
    pub(crate) &'a [(&'a str, &'a str)],
    pub(crate) Value,
);

pub(crate) async fn send(client: &Client, Call(method, path, headers, body): Call<'_>) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    let content_type = ("content-type", "application/json");
    let is_given = headers.iter().any(|(name, _)| *name == content_type.0);
    for (name, value) in headers.iter().chain((!is_given).then_some(&content_type)) {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = client.send(request.body(Body::from(body.into_bytes())).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn get(client: &Client, path: &str) -> (u16, Value) {
    send(client, Call("GET", path, &[], Value::Null)).await
}

pub(crate) async fn post(client: &Client, path: &str, body: Value) -> (u16, Value) {
    send(client, Call("POST", path, &[], body)).await
}

/// An environment that evaluates rules, and a user without any.
pub(crate) async fn env_and_jane() -> (TestEnv, Client) {
    let mut env = TestEnv::builder().rbac(true).start().await.unwrap();
    let jane = User { name: "jane".to_owned(), groups: vec!["cooks".to_owned()] };
    let jane = env.add_user(&jane).await.unwrap().client();
    (env, jane)
}

/// Gives the group of the user a role in the namespace `default` with these rules.
async fn grant(env: &TestEnv, name: &str, rules: Value) {
    let roles = format!("{RBAC}/namespaces/default/roles");
    let role = json!({"metadata": {"name": name}, "rules": rules});
    assert_eq!(post(&env.client(), &roles, role).await.0, 201);
    let binding = json!({
        "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": [{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "cooks"}],
    });
    let bindings = format!("{RBAC}/namespaces/default/rolebindings");
    assert_eq!(post(&env.client(), &bindings, binding).await.0, 201);
}

#[tokio::test]
async fn refusal_forbids_browsers_to_guess_its_type() {
    let (env, jane) = env_and_jane().await;
    for (path, code) in [(PODS, 403), ("/nope", 404)] {
        let client = if code == 403 { jane.clone() } else { env.client() };
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let response = client.send(request).await.unwrap();
        assert_eq!(response.status().as_u16(), code);
        assert_eq!(response.headers().get("x-content-type-options").unwrap(), "nosniff", "{path}");
    }
    env.stop().await;
}

#[tokio::test]
async fn apply_that_creates_needs_the_right_to_create() {
    let (env, jane) = env_and_jane().await;
    let rules = |verbs: &[&str]| json!([{"verbs": verbs, "apiGroups": [""], "resources": ["configmaps"]}]);
    grant(&env, "patchers", rules(&["patch"])).await;
    let path = "/api/v1/namespaces/default/configmaps/a?fieldManager=test";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}});
    let headers = [("content-type", "application/apply-patch+yaml")];
    let apply = async || send(&jane, Call("PATCH", path, &headers, map.clone())).await;
    let (status, refused) = apply().await;
    let text = "configmaps \"a\" is forbidden: User \"jane\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"default\"";
    assert_eq!((status, &refused["message"]), (403, &json!(text)));
    grant(&env, "creators", rules(&["create"])).await;
    assert_eq!(apply().await.0, 201);
    assert_eq!(apply().await.0, 200);
}

#[tokio::test]
async fn permissions_without_a_request_are_unused() {
    let (env, jane) = env_and_jane().await;
    let read = json!({"verbs": ["list", "watch"], "apiGroups": ["", "apps"], "resources": ["pods", "deployments/scale"]});
    // A role of a namespace has no paths.
    grant(&env, "readers", json!([read])).await;
    let rules = json!([read, {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}]);
    let rules: Vec<PolicyRule> = serde_json::from_value(rules).unwrap();
    let unused = || {
        let jane = User { name: "jane".to_owned(), groups: Vec::new() };
        env.unused_permissions(&jane, &rules).unwrap()
    };
    assert_eq!(unused().len(), 9);
    assert_eq!(get(&jane, PODS).await.0, 200);
    assert_eq!(get(&jane, &format!("{PODS}/a")).await.0, 403, "what is refused does not count");
    let expected = [
        "get /metrics",
        "list deployments.apps/scale",
        "list deployments/scale",
        "list pods.apps",
        "watch deployments.apps/scale",
        "watch deployments/scale",
        "watch pods",
        "watch pods.apps",
    ];
    assert_eq!(unused(), expected);
}

#[tokio::test]
async fn user_is_refused_until_a_role_allows_it() {
    let (env, jane) = env_and_jane().await;
    let (status, refused) = get(&jane, PODS).await;
    let text = "pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"";
    assert_eq!((status, &refused["message"]), (403, &json!(text)));
    assert_eq!(refused["details"], json!({"kind": "pods"}));

    grant(&env, "readers", json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}])).await;
    assert_eq!(get(&jane, PODS).await.0, 200);
    assert_eq!(get(&jane, "/api/v1/pods").await.0, 403, "the role is for one namespace");
    assert_eq!(get(&jane, &format!("{PODS}?watch=1")).await.0, 403);
    let (_, one) = get(&jane, &format!("{PODS}/a")).await;
    let text = "pods \"a\" is forbidden: User \"jane\" cannot get resource \"pods\" in API group \"\" in the namespace \"default\"";
    assert_eq!(one["message"], text);
    let (_, path) = get(&jane, "/metrics").await;
    assert_eq!(path["message"], "forbidden: User \"jane\" cannot get path \"/metrics\"");
    assert_eq!(get(&jane, "/apis").await.0, 200, "every authenticated user discovers");
    assert_eq!(
        get(&env.client(), "/api/v1/pods").await.0,
        200,
        "the client of the environment has all rights"
    );
}

#[tokio::test]
async fn rules_name_subresources_and_objects() {
    let (env, jane) = env_and_jane().await;
    let rules = json!([
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log", "*/status"]},
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["configmaps"], "resourceNames": ["mine"]},
    ]);
    grant(&env, "parts", rules).await;
    for (path, allowed) in [
        ("pods/a/log", true),
        ("pods/a/status", true),
        ("replicationcontrollers/a/status", true),
        ("pods/a", false),
        ("pods/a/exec", false),
        ("configmaps/mine", true),
        ("configmaps/yours", false),
        ("configmaps", false),
        ("configmaps?fieldSelector=metadata.name%3Dmine", true),
    ] {
        let (status, _) = get(&jane, &format!("/api/v1/namespaces/default/{path}")).await;
        assert_eq!(status != 403, allowed, "{path}: {status}");
    }
}

#[tokio::test]
async fn access_reviews_follow_the_rules() {
    let (env, jane) = env_and_jane().await;
    grant(&env, "readers", json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}])).await;
    let reviews = "/apis/authorization.k8s.io/v1";
    let list = json!({"verb": "list", "resource": "pods", "namespace": "default"});
    let own = json!({"spec": {"resourceAttributes": list}});
    let (_, own) = post(&jane, &format!("{reviews}/selfsubjectaccessreviews"), own).await;
    let reason = "RBAC: allowed by RoleBinding \"readers/default\" of Role \"readers\" to Group \"cooks\"";
    assert_eq!(own["status"], json!({"allowed": true, "reason": reason}));

    let other = json!({"spec": {"user": "joe", "resourceAttributes": list}});
    let (_, other) = post(&env.client(), &format!("{reviews}/subjectaccessreviews"), other).await;
    assert_eq!(other["status"], json!({"allowed": false}));

    let rules = json!({"spec": {"namespace": "default"}});
    let (_, rules) = post(&jane, &format!("{reviews}/selfsubjectrulesreviews"), rules).await;
    let list = json!({"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]});
    assert!(rules["status"]["resourceRules"].as_array().unwrap().contains(&list), "{rules}");

    let local = json!({"spec": {"user": "joe", "resourceAttributes": {"namespace": "other", "verb": "get"}}});
    let path = format!("{reviews}/namespaces/default/localsubjectaccessreviews");
    let (status, local) = post(&env.client(), &path, local).await;
    assert_eq!(
        (status, &local["details"]["causes"][0]["field"]),
        (422, &json!("spec.resourceAttributes.namespace"))
    );
}

#[tokio::test]
async fn user_cannot_grant_more_than_it_has() {
    let (env, jane) = env_and_jane().await;
    let own = json!([
        {"verbs": ["create"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles", "rolebindings"]},
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
    ]);
    grant(&env, "own", own).await;
    let roles = format!("{RBAC}/namespaces/default/roles");
    let role = |name: &str, verbs: &[&str]| {
        json!({"metadata": {"name": name},
               "rules": [{"verbs": verbs, "apiGroups": [""], "resources": ["pods"]}]})
    };
    assert_eq!(post(&jane, &roles, role("less", &["get"])).await.0, 201);
    let (status, refused) = post(&jane, &roles, role("more", &["get", "watch", "delete"])).await;
    let text = "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"jane\" (groups=[\"cooks\" \
                \"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n\
                {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"delete\"]}";
    assert_eq!((status, refused["message"].as_str()), (403, Some(text)));

    let bindings = format!("{RBAC}/namespaces/default/rolebindings");
    let binding = |kind: &str, name: &str| {
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
        json!({"metadata": {"name": format!("b-{name}")}, "roleRef": role, "subjects": []})
    };
    assert_eq!(post(&jane, &bindings, binding("Role", "less")).await.0, 201);
    assert_eq!(post(&jane, &bindings, binding("ClusterRole", "cluster-admin")).await.0, 403);
    assert_eq!(post(&jane, &bindings, binding("Role", "none")).await.0, 404);

    let bind = json!([{"verbs": ["bind", "escalate"], "apiGroups": ["rbac.authorization.k8s.io"],
                       "resources": ["clusterroles", "roles"]}]);
    grant(&env, "trusted", bind).await;
    assert_eq!(post(&jane, &bindings, binding("ClusterRole", "cluster-admin")).await.0, 201);
    assert_eq!(post(&jane, &roles, role("more", &["get", "watch"])).await.0, 201);
}

#[tokio::test]
async fn any_change_of_a_role_but_its_owners_needs_its_rights() {
    let (env, jane) = env_and_jane().await;
    let kinds = ["roles", "clusterroles", "rolebindings"];
    grant(
        &env,
        "writers",
        json!([{"verbs": ["get", "patch"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": kinds}]),
    )
    .await;
    let role = json!({"metadata": {"name": "target"}, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}]});
    let binding = json!({
        "metadata": {"name": "target"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "target"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "joe"}],
    });
    for (kind, object) in [("roles", role), ("rolebindings", binding)] {
        let path = format!("{RBAC}/namespaces/default/{kind}");
        assert_eq!(post(&env.client(), &path, object).await.0, 201);
    }
    for kind in ["roles", "rolebindings"] {
        let path = format!("{RBAC}/namespaces/default/{kind}/target");
        let patch = async |metadata: Value| {
            let merge = [("content-type", "application/merge-patch+json")];
            send(&jane, Call("PATCH", &path, &merge, json!({"metadata": metadata}))).await
        };
        assert_eq!(patch(json!({"finalizers": ["example.com/a"]})).await.0, 200, "{kind}");
        let (status, refused) = patch(json!({"labels": {"a": "b"}})).await;
        let text = format!(
            "{kind}.rbac.authorization.k8s.io \"target\" is forbidden: user \"jane\" (groups=[\"cooks\" \"system:authenticated\"]) is \
             attempting to grant RBAC permissions not currently held:\n\
             {{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}}"
        );
        assert_eq!((status, &refused["message"]), (403, &json!(text)));
        assert_eq!(patch(json!({"labels": {"a": ""}})).await.0, 403, "{kind}");
    }
}

#[tokio::test]
async fn refused_binding_names_what_its_role_lacks() {
    let (env, jane) = env_and_jane().await;
    let kinds = ["clusterroles", "clusterrolebindings", "rolebindings"];
    let writer = json!({"metadata": {"name": "writer"}, "rules": [{"verbs": ["create"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": kinds}]});
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterroles"), writer).await.0, 201);
    let binding = |kind: &str, name: &str| {
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
        let jane = json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"});
        json!({"metadata": {"name": "b"}, "roleRef": role, "subjects": [jane]})
    };
    let everywhere = format!("{RBAC}/clusterrolebindings");
    assert_eq!(post(&env.client(), &everywhere, binding("ClusterRole", "writer")).await.0, 201);

    let local = format!("{RBAC}/namespaces/default/rolebindings");
    let refused = async |path: &str, body: Value| {
        let (status, refused) = post(&jane, path, body).await;
        (status, refused["message"].as_str().unwrap_or_default().to_owned())
    };
    let missing = "rolebindings.rbac.authorization.k8s.io \"none\" not found".to_owned();
    assert_eq!(refused(&local, binding("ClusterRole", "none")).await, (404, missing));
    let no_namespace = "Namespace parameter required.".to_owned();
    assert_eq!(refused(&everywhere, binding("Role", "none")).await, (400, no_namespace));
    let unknown = "unsupported role reference kind: \"X\"".to_owned();
    assert_eq!(refused(&local, binding("X", "none")).await, (500, unknown));

    let rule = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    let role = json!({"metadata": {"name": "all"}, "aggregationRule": rule});
    let text = "clusterroles.rbac.authorization.k8s.io \"all\" is forbidden: must have cluster-admin privileges to use the aggregationRule";
    assert_eq!(refused(&format!("{RBAC}/clusterroles"), role).await, (403, text.to_owned()));
}

#[tokio::test]
async fn requests_count_by_prefix_and_method() {
    let (_env, jane) = env_and_jane().await;
    let refused = async |method: &str, path: &str| {
        let (status, refused) = send(&jane, Call(method, path, &[], Value::Null)).await;
        (status, refused["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(get(&jane, "/version").await.0, 200);
    let text = "forbidden: User \"jane\" cannot delete path \"/version\"".to_owned();
    assert_eq!(refused("DELETE", "/version").await, (403, text));
    let text = "pods is forbidden: User \"jane\" cannot watch resource \"pods\" in API group \"\" at the cluster scope".to_owned();
    assert_eq!(refused("DELETE", "/api/v1/watch/pods").await, (403, text));
    let text = "services \"s\" is forbidden: User \"jane\" cannot proxy resource \"services\" in API group \"\" in the namespace \"a\"";
    let path = "/api/v1/proxy/namespaces/a/services/s/path";
    assert_eq!(refused("GET", path).await, (403, text.to_owned()));
    let text = "pods \"a\" is forbidden: User \"jane\" cannot get resource \"pods/b\" in API group \"\" in the namespace \"default\"".to_owned();
    assert_eq!(refused("GET", &format!("{PODS}/a/b/c")).await, (403, text));
}

#[tokio::test]
async fn cluster_roles_are_aggregated() {
    let (env, jane) = env_and_jane().await;
    let more = json!({
        "metadata": {"name": "crontabs", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"verbs": ["get", "list"], "apiGroups": ["stable.example.com"], "resources": ["crontabs"]}],
    });
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterroles"), more).await.0, 201);
    for role in ["view", "edit", "admin"] {
        let (_, role) = get(&env.client(), &format!("{RBAC}/clusterroles/{role}")).await;
        let rules = role["rules"].as_array().unwrap();
        assert!(rules.iter().any(|rule| rule["resources"] == json!(["crontabs"])), "{role}");
        assert!(rules.iter().any(|rule| rule["resources"] == json!(["namespaces"])), "{role}");
        let owners = role["metadata"]["managedFields"].as_array().unwrap();
        let of_rules = owners.iter().find(|owner| owner["operation"] == "Apply").unwrap();
        assert_eq!(of_rules["manager"], "clusterrole-aggregation-controller");
        assert_eq!(of_rules["fieldsV1"], json!({"f:rules": {}}));
    }
    let binding = json!({
        "metadata": {"name": "jane"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}],
    });
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterrolebindings"), binding).await.0, 201);
    assert_eq!(get(&jane, "/api/v1/pods").await.0, 200);
    assert_eq!(get(&jane, "/api/v1/secrets").await.0, 403);
    assert_eq!(get(&jane, "/apis/stable.example.com/v1/crontabs").await.0, 404, "allowed, and not there");
}

#[tokio::test]
async fn bound_token_ends_with_its_object() {
    let env = TestEnv::builder().rbac(true).start().await.unwrap();
    let client = env.client();
    let account = json!({"metadata": {"name": "robot"}});
    post(&client, "/api/v1/namespaces/default/serviceaccounts", account).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"serviceAccountName": "robot", "nodeName": "none",
                     "containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(post(&client, PODS, pod).await.0, 201);
    let tokens = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    let bound = |kind: &str, name: &str| json!({"spec": {"boundObjectRef": {"kind": kind, "apiVersion": "v1", "name": name}}});
    assert_eq!(post(&client, tokens, bound("Pod", "none")).await.0, 404);
    let (status, refused) = post(&client, tokens, bound("Foo", "p")).await;
    assert_eq!(
        (status, &refused["message"]),
        (400, &json!("cannot bind token to object of type /v1, Kind=Foo"))
    );
    let versionless = json!({"spec": {"boundObjectRef": {"kind": "Pod", "name": "p"}}});
    assert_eq!(post(&client, tokens, versionless).await.0, 201);
    let (_, token) = post(&client, tokens, bound("Pod", "p")).await;
    let review = json!({"spec": {"token": token["status"]["token"]}});
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (_, known) = post(&client, reviews, review.clone()).await;
    assert_eq!(known["status"]["user"]["username"], "system:serviceaccount:default:robot");
    let extra = &known["status"]["user"]["extra"];
    assert_eq!(extra["authentication.kubernetes.io/pod-name"], json!(["p"]));
    assert_eq!(extra["authentication.kubernetes.io/node-name"], json!(["none"]));
    assert_eq!(extra.get("authentication.kubernetes.io/node-uid"), None, "there is no such node");
    send(&client, Call("DELETE", &format!("{PODS}/p?gracePeriodSeconds=0"), &[], Value::Null)).await;
    let (_, unknown) = post(&client, reviews, review).await;
    assert_eq!(unknown["status"]["authenticated"], Value::Null);
}

#[tokio::test]
async fn client_certificate_names_its_user() {
    let mut env = TestEnv::builder().rbac(true).start().await.unwrap();
    let text = env.kubeconfig().await.unwrap();
    let without_token: Vec<&str> = text.lines().filter(|line| !line.trim().starts_with("token:")).collect();
    assert!(without_token.len() < text.lines().count());
    let kubeconfig = Kubeconfig::from_yaml(&without_token.join("\n")).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let client = Client::try_from(config).unwrap();
    let (code, review) = post(&client, "/apis/authentication.k8s.io/v1/selfsubjectreviews", json!({})).await;
    assert_eq!(code, 201, "{review}");
    let user = &review["status"]["userInfo"];
    assert_eq!(
        (&user["username"], &user["groups"]),
        (&json!("kubesmith-testenv"), &json!(["system:masters", "system:authenticated"]))
    );
    env.stop().await;
}

#[tokio::test]
async fn writer_of_a_claims_status_needs_rights_to_bind_it_and_for_its_drivers() {
    let (env, jane) = env_and_jane().await;
    let claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    let spec = json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}});
    assert_eq!(post(&env.client(), claims, json!({"metadata": {"name": "a"}, "spec": spec})).await.0, 201);
    let rule = |resource: &str, verb: &str| json!({"apiGroups": ["resource.k8s.io"], "resources": [resource], "verbs": [verb]});
    grant(
        &env,
        "writer",
        json!([rule("resourceclaims/status", "patch"), rule("resourceclaims/binding", "patch")]),
    )
    .await;
    let (result, device) = (
        json!({"request": "r", "driver": "d.e", "pool": "p", "device": "v"}),
        json!({"driver": "d.e", "pool": "p", "device": "v"}),
    );
    let status = json!({"status": {"allocation": {"devices": {"results": [result]}}, "devices": [device]}});
    let path = format!("{claims}/a/status");
    let merge = [("content-type", "application/merge-patch+json")];
    let (code, refused) = send(&jane, Call("PATCH", &path, &merge, status.clone())).await;
    let user = "User \"jane\" cannot";
    let binding = format!(
        "status.allocation: Forbidden: changing status.allocation or status.reservedFor requires \
         resource=\"resourceclaims/binding\", verb=\"patch\" permission: resourceclaims.resource.k8s.io is forbidden: {user} \
         patch resource \"resourceclaims/binding\" in API group \"resource.k8s.io\" at the cluster scope"
    );
    let driver = format!(
        "status.devices: Forbidden: changing status.devices requires resource=\"resourceclaims/driver\", \
         verb=\"[arbitrary-node:patch]\" permission: resourceclaims.resource.k8s.io \"d.e\" is forbidden: {user} \
         arbitrary-node:patch resource \"resourceclaims/driver\" in API group \"resource.k8s.io\" in the namespace \
         \"default\""
    );
    let text = format!("ResourceClaim.resource.k8s.io \"a\" is invalid: [{binding}, {driver}]");
    // The right to bind only counts for all namespaces.
    assert_eq!((code, &refused["message"]), (422, &json!(text)));
    let binds = json!({"metadata": {"name": "binder"}, "rules": [rule("resourceclaims/binding", "patch")]});
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterroles"), binds).await.0, 201);
    let given = json!({
        "metadata": {"name": "binder"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "binder"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "jane"}],
    });
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterrolebindings"), given).await.0, 201);
    grant(&env, "driver", json!([rule("resourceclaims/driver", "arbitrary-node:patch")])).await;
    assert_eq!(send(&jane, Call("PATCH", &path, &merge, status)).await.0, 200);
}

/// kube-apiserver's pkg/registry/admissionregistration, `authz.go`.
#[tokio::test]
async fn writer_of_a_policy_needs_the_right_to_read_its_parameters() {
    let (env, jane) = env_and_jane().await;
    let groups = "/apis/admissionregistration.k8s.io/v1";
    let (roles, bindings) = (format!("{RBAC}/clusterroles"), format!("{RBAC}/clusterrolebindings"));
    let give = async |name: &str, rule: Value| {
        let role = json!({"metadata": {"name": name}, "rules": [rule]});
        assert_eq!(post(&env.client(), &roles, role).await.0, 201);
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
        let cooks = json!([{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "cooks"}]);
        let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": cooks});
        assert_eq!(post(&env.client(), &bindings, binding).await.0, 201);
    };
    give(
        "policies",
        json!({"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]}),
    )
    .await;
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]});
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "true"}]}});
    let path = format!("{groups}/validatingadmissionpolicies");
    let (code, refused) = post(&jane, &path, policy.clone()).await;
    let text = "ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: spec.paramKind: Forbidden: user \
                &{jane  [cooks system:authenticated] map[]} must have \"get\" permission on all objects of the referenced \
                paramKind (kind=ConfigMap, apiVersion=v1)";
    assert_eq!((code, &refused["message"]), (422, &json!(text)));
    assert_eq!(post(&env.client(), &path, policy.clone()).await.0, 201, "who may do everything may do this");

    let binding = json!({"metadata": {"name": "b"}, "spec": {
        "policyName": "p", "paramRef": {"name": "settings", "namespace": "default", "parameterNotFoundAction": "Deny"},
        "validationActions": ["Deny"]}});
    let path = format!("{groups}/validatingadmissionpolicybindings");
    let (code, refused) = post(&jane, &path, binding.clone()).await;
    let text = "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io \"b\" is invalid: spec.paramRef: Forbidden: \
                user &{jane  [cooks system:authenticated] map[]} does not have \"get\" permission on the object referenced \
                by paramRef";
    assert_eq!((code, &refused["message"]), (422, &json!(text)));
    give("readers", json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]})).await;
    assert_eq!(post(&jane, &path, binding).await.0, 201);
}
