//! Tokens of service accounts and users: JSON web tokens that this server signs and knows again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use serde_json::{Value, json};

use crate::error::Error;
use crate::identity::Identity;
use crate::meta;
use crate::server::Server;

/// Who signs, and whom tokens are for when nobody says.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// The claim with a user's groups, which tokens of service accounts do not have.
const GROUPS: &str = "groups";

fn key(server: &Server) -> Result<hmac::Key, Error> {
    let identity = Identity::of(&server.store)?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, identity.token.as_bytes()))
}

fn encoded(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

/// A token for a service account, good for so many seconds.
///
/// # Errors
/// When the server's identity cannot be read.
pub(crate) fn issue(
    server: &Server,
    account: &Value,
    audiences: &Value,
    seconds: i64,
) -> Result<String, Error> {
    let (namespace, name) = (meta::namespace(account), meta::name(account));
    let now = server.timestamp().as_second();
    let claims = json!({
        "aud": audiences, "exp": now.saturating_add(seconds), "iat": now, "nbf": now, "iss": ISSUER,
        "jti": server.ids.uid(), "sub": format!("system:serviceaccount:{namespace}:{name}"),
        "kubernetes.io": {"namespace": namespace,
                          "serviceaccount": {"name": name, "uid": meta::text(account, "uid")}},
    });
    sign(server, &claims)
}

/// A token for a user, good for as long as the server's identity.
///
/// # Errors
/// When the server's identity cannot be read.
pub(crate) fn issue_to_user(server: &Server, name: &str, groups: &[String]) -> Result<String, Error> {
    sign(server, &json!({"iss": ISSUER, "sub": name, "exp": i64::MAX, GROUPS: groups}))
}

fn sign(server: &Server, claims: &Value) -> Result<String, Error> {
    let text = format!("{}.{}", encoded(&json!({"alg": "HS256", "typ": "JWT"})), encoded(claims));
    let signature = hmac::sign(&key(server)?, text.as_bytes());
    Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// The user whose token this is; `None` when it is none of ours, or no longer good.
pub(crate) fn user(server: &Server, token: &str) -> Option<Value> {
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
        return Some(json!({"username": claims["sub"], "groups": groups}));
    }
    let about = &claims["kubernetes.io"];
    let (namespace, account) = (about["namespace"].as_str()?, &about["serviceaccount"]);
    let stored =
        server.store.get("serviceaccounts", &format!("{namespace}/{}", account["name"].as_str()?))?;
    if stored.value["metadata"]["uid"] != account["uid"] {
        return None;
    }
    Some(json!({
        "username": claims["sub"], "uid": account["uid"],
        "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{namespace}"),
                   "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": [format!("JTI={}", claims["jti"].as_str()?)]},
    }))
}
