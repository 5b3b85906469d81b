//! `authorizer`: access checks from within an expression.

use std::sync::Arc;

use kubesmith_apimachinery::names;

use super::functions::{Called, no_overload};
use super::value::Value;

/// An access request: a path, or a verb on a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessRequest {
    /// Namespace and name of the service account; `None` for the user of the request.
    pub service_account: Option<(String, String)>,
    /// A non-resource path; `None` for resources.
    pub path: Option<String>,
    /// The API group.
    pub group: String,
    /// The resource's plural name.
    pub resource: String,
    /// The subresource, or nothing.
    pub subresource: String,
    /// The namespace, or nothing.
    pub namespace: String,
    /// The object's name, or nothing.
    pub name: String,
    /// The field selector, or nothing.
    pub field_selector: String,
    /// The label selector, or nothing.
    pub label_selector: String,
    /// The verb.
    pub verb: String,
}

/// The answer to an [`AccessRequest`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessDecision {
    /// Whether the request is allowed.
    pub allowed: bool,
    /// The reason, or empty.
    pub reason: String,
}

/// Decides about access.
pub trait Authorizer: std::fmt::Debug + Send + Sync {
    /// Decides about a request.
    fn authorize(&self, request: &AccessRequest) -> AccessDecision;
}

/// Allows everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Authorizer for AllowAll {
    fn authorize(&self, _: &AccessRequest) -> AccessDecision {
        AccessDecision { allowed: true, reason: String::new() }
    }
}

/// The parts that a check has so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Authorizer,
    Path,
    Group,
    Resource,
}

/// An access check under construction.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) stage: Stage,
    pub(super) request: AccessRequest,
    pub(super) authorizer: Arc<dyn Authorizer>,
}

impl Question {
    pub(super) fn type_name(&self) -> &'static str {
        match self.stage {
            Stage::Authorizer => "kubernetes.authorization.Authorizer",
            Stage::Path => "kubernetes.authorization.PathCheck",
            Stage::Group => "kubernetes.authorization.GroupCheck",
            Stage::Resource => "kubernetes.authorization.ResourceCheck",
        }
    }

    /// The next step of the check, changed by `change`.
    fn next(&self, stage: Stage, change: impl FnOnce(&mut AccessRequest)) -> Value {
        let mut next = Self { stage, ..self.clone() };
        change(&mut next.request);
        Value::Question(Arc::new(next))
    }
}

/// Calls a function of the authorizer. The receiver is the first argument.
pub(super) fn call(function: &str, args: &[Value]) -> Called {
    match args {
        [Value::Question(question), rest @ ..] => ask(function, question, rest),
        [Value::Decision(decision)] => match function {
            "allowed" => Ok(Value::Bool(decision.allowed)),
            "reason" => Ok(Value::string(&decision.reason)),
            "errored" => Ok(Value::Bool(false)),
            "error" => Ok(Value::string("")),
            _ => no_overload(),
        },
        _ => no_overload(),
    }
}

fn ask(function: &str, question: &Question, args: &[Value]) -> Called {
    let (text, second) = match args {
        [Value::String(text)] => (text.to_string(), None),
        [Value::String(text), Value::String(second)] => (text.to_string(), Some(second.to_string())),
        _ => return no_overload(),
    };
    // apiserver/pkg/cel/library/authz.go
    match (question.stage, function, &second) {
        (Stage::Authorizer, "path", None) if text.is_empty() => {
            return Err("path must not be empty".to_owned());
        }
        (Stage::Authorizer, "serviceAccount", Some(name)) if !names::dns1123_subdomain(name).is_empty() => {
            return Err("Invalid service account name".to_owned());
        }
        (Stage::Authorizer, "serviceAccount", Some(_)) if !names::dns1123_label(&text).is_empty() => {
            return Err("Invalid service account namespace".to_owned());
        }
        _ => {}
    }
    Ok(match (question.stage, function, second) {
        (Stage::Authorizer, "path", None) => question.next(Stage::Path, |r| r.path = Some(text)),
        (Stage::Authorizer, "group", None) => question.next(Stage::Group, |r| r.group = text),
        (Stage::Authorizer, "serviceAccount", Some(name)) => {
            question.next(Stage::Authorizer, |r| r.service_account = Some((text, name)))
        }
        (Stage::Group, "resource", None) => question.next(Stage::Resource, |r| r.resource = text),
        (Stage::Resource, "subresource", None) => question.next(Stage::Resource, |r| r.subresource = text),
        (Stage::Resource, "namespace", None) => question.next(Stage::Resource, |r| r.namespace = text),
        (Stage::Resource, "name", None) => question.next(Stage::Resource, |r| r.name = text),
        (Stage::Resource, "fieldSelector", None) => {
            question.next(Stage::Resource, |r| r.field_selector = text)
        }
        (Stage::Resource, "labelSelector", None) => {
            question.next(Stage::Resource, |r| r.label_selector = text)
        }
        (Stage::Resource | Stage::Path, "check", None) => {
            let request = AccessRequest { verb: text, ..question.request.clone() };
            Value::Decision(Arc::new(question.authorizer.authorize(&request)))
        }
        _ => return no_overload(),
    })
}
