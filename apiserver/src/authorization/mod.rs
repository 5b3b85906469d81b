//! Authorization: decides whether a user may make a request.
//!
//! kube-apiserver's `k8s.io/apiserver/pkg/authorization`. The modes are those of `--authorization-mode` that make sense without
//! nodes; members of `system:masters` may always do everything.

mod aggregate;
mod claims;
mod escalation;
mod params;
mod rbac;

pub(crate) use aggregate::{CLUSTER_ROLES, aggregate};
pub(crate) use claims::check as check_claim;
pub(crate) use escalation::check as check_escalation;
pub(crate) use params::check as check_params;
pub(crate) use rbac::{Reader, rules as rules_of};

use serde_json::Value;

use crate::access::{Attributes, AuthorizationMode, MASTERS, Request, Resource, Target, is_member, username};
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, ErrorSubject};

/// The decision, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The request is allowed.
    Allow(String),
    /// No rule allows it.
    NoOpinion(String),
}

impl Decision {
    pub(crate) fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    pub(crate) fn reason(&self) -> &str {
        let (Self::Allow(reason) | Self::NoOpinion(reason)) = self;
        reason
    }
}

/// Decides by the server's mode.
pub(crate) fn decide(server: &Server, attributes: &Attributes<'_>) -> Decision {
    if server.options().authorization == AuthorizationMode::AlwaysAllow || is_member(attributes.user, MASTERS)
    {
        return Decision::Allow(String::new());
    }
    rbac::decide(server, attributes)
}

/// Refuses a forbidden request.
///
/// # Errors
/// Returns `Forbidden` in kube-apiserver's words (`ForbiddenStatusError` of
/// apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
pub(crate) fn authorize(server: &Server, attributes: &Attributes<'_>) -> ApiResult<()> {
    match decide(server, attributes) {
        Decision::Allow(_) => Ok(()),
        Decision::NoOpinion(reason) => Err(forbidden(attributes, &reason)),
    }
}

/// Marks a refusal of a request or of an impersonation (`Forbidden` of endpoints/handlers/responsewriters/errors.go).
pub(crate) fn refused(mut error: ApiError) -> ApiError {
    if let ApiError::Status(status) = &mut error {
        status.nosniff = status.code == 403;
    }
    error
}

/// Authorizes a request by its method and path.
///
/// # Errors
/// As for [`authorize`].
pub(crate) fn authorize_request(server: &Server, user: &Value, request: &Request<'_>) -> ApiResult<()> {
    if server.options().authorization == AuthorizationMode::AlwaysAllow {
        return Ok(());
    }
    allow(server, &request.attributes(user))
}

/// Authorizes a creation by an update or an apply that did not find the object: `withAuthorization` of
/// apiserver/pkg/endpoints/handlers/update.go.
///
/// # Errors
/// As for [`authorize`].
pub(crate) fn authorize_creation(call: &Call<'_>) -> ApiResult<()> {
    if call.server.options().authorization == AuthorizationMode::AlwaysAllow {
        return Ok(());
    }
    let on = Resource {
        group: &call.path.group,
        resource: &call.path.resource,
        subresource: &call.path.subresource,
        namespace: &call.path.namespace,
        name: &call.path.name,
    };
    let attributes = Attributes { user: &call.user, verb: "create", target: Target::Resource(on) };
    allow(&call.server, &attributes)
}

/// As [`authorize`] for a client's own request, and records the permission as used.
fn allow(server: &Server, attributes: &Attributes<'_>) -> ApiResult<()> {
    authorize(server, attributes)?;
    server.usage.note(attributes);
    Ok(())
}

/// Reports whether a user has a right beside that to the request, and records it as used.
pub(crate) fn may(server: &Server, user: &Value, verb: &str, on: Resource<'_>) -> bool {
    if server.options().authorization == AuthorizationMode::AlwaysAllow {
        return true;
    }
    allow(server, &Attributes { user, verb, target: Target::Resource(on) }).is_ok()
}

/// The refusal of what the user may not do.
pub(crate) fn forbidden(attributes: &Attributes<'_>, reason: &str) -> ApiError {
    let (user, verb) = (username(attributes.user), attributes.verb);
    let (about, message) = match attributes.target {
        Target::Path(path) => (ErrorSubject::default(), format!("User {user:?} cannot {verb} path {path:?}")),
        Target::Resource(on) => {
            let slash = if on.subresource.is_empty() { "" } else { "/" };
            let place = match on.namespace {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {namespace:?}"),
            };
            let resource = format!("{}{slash}{}", on.resource, on.subresource);
            let text = format!(
                "User {user:?} cannot {verb} resource {resource:?} in API group {:?} {place}",
                on.group
            );
            (ErrorSubject::new(on.group, on.resource, on.name), text)
        }
    };
    // Browsers may show the text.
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let colon = if reason.is_empty() { "" } else { ": " };
    ApiError::forbidden(about, &format!("{message}{colon}{reason}"))
}
