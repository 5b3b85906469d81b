//! Impersonation with evaluated roles.

use serde_json::json;

use crate::rbac::{Call, RBAC, env_and_jane, post, send};

#[tokio::test]
async fn impersonation_needs_a_rule_for_each_part() {
    let (env, jane) = env_and_jane().await;
    let as_joe: &[(&str, &str)] = &[("impersonate-user", "joe"), ("impersonate-group", "bakers")];
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (status, refused) = send(&jane, Call("POST", who, as_joe, json!({}))).await;
    // The refusal is that of the first mode: `user-info` of constrained impersonation.
    let text = "selfsubjectreviews.authentication.k8s.io is forbidden: User \"jane\" cannot impersonate-on:user-info:create \
                resource \"selfsubjectreviews\" in API group \"authentication.k8s.io\" at the cluster scope";
    assert_eq!((status, &refused["message"]), (403, &json!(text)));
    let (_, joe) = send(&env.client(), Call("POST", who, as_joe, json!({}))).await;
    let groups = json!(["bakers", "system:authenticated"]);
    assert_eq!(joe["status"]["userInfo"], json!({"username": "joe", "groups": groups}));
    let account: &[(&str, &str)] = &[("impersonate-user", "system:serviceaccount:a:b")];
    let (_, account) = send(&env.client(), Call("POST", who, account, json!({}))).await;
    let groups = json!(["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
    assert_eq!(account["status"]["userInfo"]["groups"], groups);
    // This is not the name of a service account.
    let user: &[(&str, &str)] = &[("impersonate-user", "system:serviceaccount:A_:b")];
    let (_, user) = send(&env.client(), Call("POST", who, user, json!({}))).await;
    assert_eq!(user["status"]["userInfo"]["groups"], json!(["system:authenticated"]));
    let group: &[(&str, &str)] = &[("impersonate-group", "bakers")];
    let (status, refused) = send(&env.client(), Call("POST", who, group, json!({}))).await;
    let text = "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"bakers\"}, Extra:map[string][]string(nil)} \
                without impersonating a user name";
    assert_eq!((status, &refused["message"]), (400, &json!(text)));
    let node: &[(&str, &str)] = &[("impersonate-user", "system:node:n")];
    let (_, node) = send(&env.client(), Call("POST", who, node, json!({}))).await;
    assert_eq!(node["status"]["userInfo"]["groups"], json!(["system:nodes", "system:authenticated"]));
}

#[tokio::test]
async fn constrained_impersonation_allows_one_verb() {
    let (env, jane) = env_and_jane().await;
    let rule = |verb: &str, group: &str, resource: &str| json!({"verbs": [verb], "apiGroups": [group], "resources": [resource]});
    let users = rule("impersonate:user-info", "authentication.k8s.io", "users");
    let rules = json!([users, rule("impersonate-on:user-info:list", "", "pods"), rule("list", "", "pods")]);
    let named = |kind: &str| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": "actor"}});
    let (mut role, mut binding) = (named("ClusterRole"), named("ClusterRoleBinding"));
    role["rules"] = rules;
    binding["roleRef"] =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "actor"});
    let user = |name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name});
    binding["subjects"] = json!([user("jane"), user("joe")]);
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterroles"), role).await.0, 201);
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterrolebindings"), binding).await.0, 201);
    let as_joe: &[(&str, &str)] = &[("impersonate-user", "joe")];
    assert_eq!(send(&jane, Call("GET", "/api/v1/pods", as_joe, json!(null))).await.0, 200);
    let (status, refused) = send(&jane, Call("GET", "/api/v1/pods/p", as_joe, json!(null))).await;
    assert_eq!(status, 403, "{refused}");
    let as_baker: &[(&str, &str)] = &[("impersonate-user", "joe"), ("impersonate-group", "bakers")];
    let (_, refused) = send(&jane, Call("GET", "/api/v1/pods", as_baker, json!(null))).await;
    let text = "groups.authentication.k8s.io \"bakers\" is forbidden: User \"jane\" cannot impersonate:user-info resource \
                \"groups\" in API group \"authentication.k8s.io\" at the cluster scope";
    assert_eq!(refused["message"], text);
}

#[tokio::test]
async fn refusal_is_that_of_the_mode_that_last_allowed_the_user() {
    let (env, jane) = env_and_jane().await;
    let rules = json!([{"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["joe"]}]);
    let named = |kind: &str| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": "actor"}});
    let (mut role, mut binding) = (named("ClusterRole"), named("ClusterRoleBinding"));
    role["rules"] = rules;
    binding["roleRef"] =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "actor"});
    binding["subjects"] = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]);
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterroles"), role).await.0, 201);
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterrolebindings"), binding).await.0, 201);
    let refused = async |name: &str| {
        let (status, answer) =
            send(&jane, Call("GET", "/api/v1/pods", &[("impersonate-user", name)], json!(null))).await;
        (status, answer["message"].as_str().unwrap_or_default().to_owned())
    };
    let (status, message) = refused("ann").await;
    assert!(status == 403 && message.contains("cannot impersonate-on:user-info:list resource"), "{message}");
    assert!(refused("joe").await.1.starts_with("pods is forbidden: User \"joe\" cannot list"));
    let text = "users \"ann\" is forbidden: User \"jane\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope";
    assert_eq!(refused("ann").await, (403, text.to_owned()));
}

#[tokio::test]
async fn invalid_token_is_refused_when_rules_decide() {
    let (env, _) = env_and_jane().await;
    let with = |token: &'static str| [("authorization", token)];
    let call =
        async |token| send(&env.client(), Call("GET", "/api/v1/pods", &with(token), json!(null))).await.0;
    assert_eq!(call("Bearer a.b.c").await, 401);
    assert_eq!(call("Basic eDp5").await, 200);
}

/// The refusals are those of kube-apiserver 1.36.2.
#[tokio::test]
async fn malformed_properties_are_not_impersonated() {
    let (env, jane) = env_and_jane().await;
    let reviews = "selfsubjectreviews";
    let group = "authentication.k8s.io";
    let rules = json!([
        {"verbs": ["impersonate:user-info"], "apiGroups": [group], "resources": ["users"]},
        {"verbs": ["impersonate-on:user-info:create"], "apiGroups": [group], "resources": [reviews]},
    ]);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "actor"},
                      "rules": rules});
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterroles"), role).await.0, 201);
    let binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "actor"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "actor"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}]});
    assert_eq!(post(&env.client(), &format!("{RBAC}/clusterrolebindings"), binding).await.0, 201);
    let path = format!("/apis/{group}/v1/{reviews}");
    let invalid = "an invalid key in extra is not allowed: extra.key: Invalid value";
    let prefixed = "must be a domain-prefixed path (such as \"acme.io/foo\")";
    let domain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end \
                  with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                  '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let path_text = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
    for (header, value, expected) in [
        ("impersonate-extra-", "x", "the empty string key in extra is not allowed".to_owned()),
        ("impersonate-extra-scopes", "x", format!("{invalid}: \"scopes\": {prefixed}")),
        ("impersonate-extra-%2fscopes", "x", format!("{invalid}: \"/scopes\": {prefixed}")),
        ("impersonate-extra-acme.io%2f", "x", format!("{invalid}: \"acme.io/\": {prefixed}")),
        ("impersonate-extra-a..b%2fscopes", "x", format!("{invalid}: \"a..b\": {domain}")),
        ("impersonate-extra-acme.io%2fx%20y", "x", format!("{invalid}: \"x y\": {path_text}")),
        (
            "impersonate-extra-acme.io%2f%53copes",
            "x",
            "a non-lowercase key in extra is not allowed: \"acme.io/Scopes\"".to_owned(),
        ),
        (
            "impersonate-extra-acme.io%2fscopes",
            "",
            "the empty string value in extra is not allowed".to_owned(),
        ),
        ("impersonate-group", "", "the empty string group is not allowed".to_owned()),
        ("impersonate-group", "system:masters", "the system:masters group is not allowed".to_owned()),
    ] {
        let headers: &[(&str, &str)] = &[("impersonate-user", "joe"), (header, value)];
        let (status, refused) = send(&jane, Call("POST", &path, headers, json!({}))).await;
        let message = refused["message"].as_str().unwrap();
        let expected = format!(" at the cluster scope: impersonating {expected}");
        assert!(status == 403 && message.ends_with(&expected), "{header}: {message}");
    }
    // A well-formed property needs a rule.
    let headers: &[(&str, &str)] =
        &[("impersonate-user", "joe"), ("impersonate-extra-acme.io%2fscopes", "view")];
    let (_, refused) = send(&jane, Call("POST", &path, headers, json!({}))).await;
    let text = "userextras.authentication.k8s.io \"view\" is forbidden: User \"jane\" cannot impersonate:user-info resource \
                \"userextras/acme.io/scopes\" in API group \"authentication.k8s.io\" at the cluster scope";
    assert_eq!(refused["message"], text);
}
