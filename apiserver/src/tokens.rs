//! Tokens of service accounts and users: JSON web tokens that this server issues and verifies.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};

use crate::error::Error;
use crate::identity::Identity;
use crate::meta;
use crate::server::Server;

/// Group and kind of requests for tokens.
pub(crate) const GROUP: &str = "authentication.k8s.io";
pub(crate) const REQUEST: &str = "TokenRequest";

/// The issuer and default audience of tokens.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// The claim with a user's groups; tokens of service accounts lack it.
const GROUPS: &str = "groups";

/// Returns the issuer's `/.well-known/openid-configuration`. Only this server can verify its tokens, so no key is
/// published.
pub(crate) fn configuration() -> Value {
    json!({
        "issuer": ISSUER, "jwks_uri": format!("{ISSUER}/openid/v1/jwks"), "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["HS256"],
    })
}

fn key(server: &Server) -> Result<hmac::Key, Error> {
    let identity = Identity::of(&server.store)?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, identity.token.as_bytes()))
}

fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

/// Issues a token for a service account with a lifetime in seconds. A bound token ends with its object.
///
/// # Errors
/// Returns an error if the server's identity cannot be read.
pub(crate) fn issue(
    server: &Server,
    account: &Value,
    bound: &[Bound],
    audiences: &Value,
    seconds: i64,
) -> Result<String, Error> {
    let (namespace, name) = (meta::namespace(account), meta::name(account));
    let now = server.timestamp().as_second();
    let mut about = json!({"namespace": namespace,
                           "serviceaccount": {"name": name, "uid": meta::text(account, "uid")}});
    for bound in bound {
        about[bound.claim] = json!({"name": bound.name, "uid": bound.uid});
    }
    let claims = json!({
        "aud": audiences, "exp": now.saturating_add(seconds), "iat": now, "nbf": now, "iss": ISSUER,
        "jti": server.ids.uid(), "sub": format!("system:serviceaccount:{namespace}:{name}"),
        "kubernetes.io": about,
    });
    sign(server, &claims)
}

/// An object that a token is bound to.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// The name of its claim: the resource in the singular.
    pub(crate) claim: &'static str,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// The claims of bound objects, the collections of the objects, and whether these have a namespace.
const BOUND: &[(&str, &str, bool)] =
    &[("pod", "pods", true), ("secret", "secrets", true), ("node", "nodes", false)];

/// Issues a token for a user, valid as long as the server's identity.
///
/// # Errors
/// Returns an error if the server's identity cannot be read.
pub(crate) fn issue_to_user(server: &Server, name: &str, groups: &[String]) -> Result<String, Error> {
    sign(server, &json!({"iss": ISSUER, "sub": name, "exp": i64::MAX, GROUPS: groups}))
}

fn sign(server: &Server, claims: &Value) -> Result<String, Error> {
    let text = format!("{}.{}", encoded(&json!({"alg": "HS256", "typ": "JWT"})), encoded(claims));
    let signature = hmac::sign(&key(server)?, text.as_bytes());
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// Returns the user of a token for this server; `None` if the token is foreign or no longer valid.
pub(crate) fn user(server: &Server, token: &str) -> Option<Value> {
    let (user, audiences) = user_and_audiences(server, token)?;
    audiences.iter().any(|audience| audience == ISSUER).then_some(user)
}

/// Returns the user and the audiences of a token.
pub(crate) fn user_and_audiences(server: &Server, token: &str) -> Option<(Value, Vec<String>)> {
    let (text, signature) = token.rsplit_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    hmac::verify(&key(server).ok()?, text.as_bytes(), &signature).ok()?;
    let (_, claims) = text.split_once('.')?;
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    if claims["exp"].as_i64()? < server.timestamp().as_second() {
        return None;
    }
    if let Some(groups) = claims.get(GROUPS) {
        let mut groups = meta::strings(groups);
        groups.push("system:authenticated");
        return Some((json!({"username": claims["sub"], "groups": groups}), vec![ISSUER.to_owned()]));
    }
    let audiences = meta::strings(&claims["aud"]).into_iter().map(str::to_owned).collect();
    Some((account(server, &claims)?, audiences))
}

/// Returns the service account of a token; `None` if the account, or an object that the token is bound to, no longer
/// exists.
fn account(server: &Server, claims: &Value) -> Option<Value> {
    let about = &claims["kubernetes.io"];
    let namespace = about["namespace"].as_str()?;
    let is_there = |collection: &str, namespace: &str, claim: &Value| {
        let slash = if namespace.is_empty() { "" } else { "/" };
        let key = format!("{namespace}{slash}{}", claim["name"].as_str().unwrap_or_default());
        let stored = server.store.get(collection, &key);
        stored.is_some_and(|stored| stored.value["metadata"]["uid"] == claim["uid"])
    };
    let account = &about["serviceaccount"];
    if !is_there("serviceaccounts", namespace, account) {
        return None;
    }
    let mut extra =
        json!({"authentication.kubernetes.io/credential-id": [format!("JTI={}", claims["jti"].as_str()?)]});
    for (claim, collection, namespaced) in BOUND {
        let bound = &about[*claim];
        if bound.is_null() {
            continue;
        }
        // The node of a pod is only informative; the token lives as long as the pod.
        let decides = *claim != "node" || about["pod"].is_null();
        if decides && !is_there(collection, if *namespaced { namespace } else { "" }, bound) {
            return None;
        }
        if *claim != "secret" {
            extra[format!("authentication.kubernetes.io/{claim}-name")] = json!([bound["name"]]);
            // A pod may name a node that does not exist.
            if bound["uid"] != "" {
                extra[format!("authentication.kubernetes.io/{claim}-uid")] = json!([bound["uid"]]);
            }
        }
    }
    Some(json!({
        "username": claims["sub"], "uid": account["uid"],
        "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{namespace}"),
                   "system:authenticated"],
        "extra": extra,
    }))
}
