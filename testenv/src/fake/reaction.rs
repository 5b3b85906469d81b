//! The reactions of reactors.

use std::sync::atomic::{AtomicUsize, Ordering};

use kube::Resource;
use kube::core::Status;
use kubesmith_apiserver::{ApiError, ErrorSubject};
use serde::Serialize;
use serde_json::{Value, json};

use super::action::Action;
use super::object::Object;
use super::watcher::FakeWatcher;

/// A reactor's response to a request.
#[derive(Clone, Debug)]
#[must_use = "a reactor returns it"]
pub struct Reaction(pub(super) Answer);

#[derive(Clone, Debug)]
pub(super) enum Answer {
    Pass,
    Object(Object),
    Error { code: u16, status: Value },
    Broken(String),
    Watch(FakeWatcher),
}

impl Reaction {
    /// Passes the request to the next reactor, and after the last one to the server.
    pub fn pass() -> Self {
        Self(Answer::Pass)
    }

    /// Responds with an object. The server does not get the request.
    pub fn object(object: impl Into<Object>) -> Self {
        Self(Answer::Object(object.into()))
    }

    /// Responds with a list.
    pub fn list<K>(items: &[K]) -> Self
    where
        K: Resource<DynamicType = ()> + Serialize,
    {
        let items: Result<Vec<Value>, _> =
            items.iter().map(|item| Object::of(item).value().cloned()).collect();
        match items {
            Ok(items) => Self::object(Object::from_value(json!({
                "apiVersion": K::api_version(&()), "kind": format!("{}List", K::kind(&())), "metadata": {},
                "items": items,
            }))),
            Err(error) => Self::internal(&error.to_string()),
        }
    }

    /// Responds with a watch of the watcher's events.
    pub fn watch(watcher: &FakeWatcher) -> Self {
        Self(Answer::Watch(watcher.clone()))
    }

    /// Fails with this status. Without a code, its reason decides on it, and 500 is the default.
    ///
    /// ```
    /// use kube::core::Status;
    /// use kubesmith_testenv::fake::Reaction;
    ///
    /// let _reaction = Reaction::error(&Status::failure("out of stock", "Conflict"));
    /// ```
    pub fn error(status: &Status) -> Self {
        let code = if status.code == 0 { code_of(&status.reason) } else { status.code };
        let mut value = serde_json::to_value(status).unwrap_or_default();
        for (key, text) in [("apiVersion", json!("v1")), ("kind", json!("Status")), ("code", json!(code))] {
            value[key] = text;
        }
        if status.status.is_none() {
            value["status"] = json!("Failure");
        }
        Self(Answer::Error { code, status: value })
    }

    /// Fails as if the object did not exist.
    pub fn not_found(action: &Action) -> Self {
        Self::api(&ApiError::not_found(about(action)))
    }

    /// Fails as if the object existed already.
    pub fn already_exists(action: &Action) -> Self {
        Self::api(&ApiError::already_exists(about(action)))
    }

    /// Fails as if another client had changed the object.
    pub fn conflict(action: &Action) -> Self {
        Self::api(&ApiError::modified(about(action)))
    }

    /// Fails as if the client were not authorized.
    pub fn forbidden(action: &Action, why: &str) -> Self {
        Self::api(&ApiError::forbidden(about(action), why))
    }

    /// Fails because the version of a list or watch is too old.
    pub fn expired() -> Self {
        Self::api(&ApiError::expired("too old resource version"))
    }

    /// Fails with an internal error of the server.
    pub fn internal(message: &str) -> Self {
        Self::api(&ApiError::internal_of(message))
    }

    /// Breaks the connection, with this reason.
    pub fn broken(reason: impl Into<String>) -> Self {
        Self(Answer::Broken(reason.into()))
    }

    fn api(error: &ApiError) -> Self {
        Self(Answer::Error { code: error.code(), status: error.to_value() })
    }
}

fn about(action: &Action) -> ErrorSubject {
    ErrorSubject::new(action.group(), action.resource(), action.name())
}

/// Returns the code of a reason.
fn code_of(reason: &str) -> u16 {
    match reason {
        "BadRequest" => 400,
        "Unauthorized" => 401,
        "Forbidden" => 403,
        "NotFound" => 404,
        "MethodNotAllowed" => 405,
        "NotAcceptable" => 406,
        "AlreadyExists" | "Conflict" => 409,
        "Gone" | "Expired" => 410,
        "RequestEntityTooLarge" => 413,
        "UnsupportedMediaType" => 415,
        "Invalid" => 422,
        "TooManyRequests" => 429,
        "ServiceUnavailable" => 503,
        "Timeout" | "ServerTimeout" => 504,
        _ => 500,
    }
}

/// Returns a reactor that handles the first `n` requests and passes the others on.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, Client, api::DeleteParams};
/// use kubesmith_testenv::fake::{self, Fake, Reaction};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("settings".to_owned());
/// let fake = Fake::<Client>::new([map])?;
/// fake.prepend_reactor("delete", "configmaps", fake::first(2, Reaction::conflict));
///
/// let maps: Api<ConfigMap> = Api::namespaced(fake.client(), "default");
/// assert!(maps.delete("settings", &DeleteParams::default()).await.is_err());
/// assert!(maps.delete("settings", &DeleteParams::default()).await.is_err());
/// assert!(maps.delete("settings", &DeleteParams::default()).await.is_ok());
/// # Ok(())
/// # }
/// ```
pub fn first(
    n: usize,
    react: impl Fn(&Action) -> Reaction + Send + Sync + 'static,
) -> impl Fn(&Action) -> Reaction + Send + Sync + 'static {
    let left = AtomicUsize::new(n);
    move |action| {
        let one = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if one.is_ok() { react(action) } else { Reaction::pass() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_without_code_gets_the_code_of_its_reason() {
        for (reason, expected) in [("NotFound", 404), ("Conflict", 409), ("Broken", 500), ("", 500)] {
            let Answer::Error { code, status } = Reaction::error(&Status::failure("no", reason)).0 else {
                panic!("no error")
            };
            assert_eq!((code, &status["code"]), (expected, &json!(expected)), "{reason}");
            assert_eq!((&status["kind"], &status["status"]), (&json!("Status"), &json!("Failure")));
        }
        let Answer::Error { code, .. } = Reaction::error(&Status::failure("no", "").with_code(418)).0 else {
            panic!("no error")
        };
        assert_eq!(code, 418);
    }
}
