//! The values of the variables of expressions.

use std::sync::Arc;

use kubesmith_apiextensions::cel::{AccessDecision, AccessRequest, Authorizer, Binding};
use serde_json::{Value, json};

use super::attributes::{Attributes, Versioned};
use super::review;
use crate::access::{Attributes as Access, Resource, Target};
use crate::authorization;
use crate::server::Server;

/// The input of expressions for one request.
#[derive(Debug)]
pub(super) struct Input<'a> {
    versioned: &'a Versioned,
    request: Value,
    namespace: &'a Value,
    params: &'a Value,
    authorizer: Arc<dyn Authorizer>,
    access: AccessRequest,
}

impl<'a> Input<'a> {
    /// The input of match conditions, which see no namespace.
    pub(super) fn new(attributes: &Attributes<'_>, versioned: &'a Versioned) -> Self {
        let call = attributes.call;
        let mut request = review::described(attributes, versioned);
        // The resource stays that of the request, whatever the kind became (webhook/matchconditions/matcher.go).
        request["resource"] = request["requestResource"].clone();
        Self {
            versioned,
            request,
            namespace: &Value::Null,
            params: &Value::Null,
            authorizer: Arc::new(OfServer { server: call.server.clone(), user: call.user.clone() }),
            access: access(attributes),
        }
    }

    /// Returns this input with parameters; `null` for none.
    pub(super) fn with_params(self, params: &'a Value) -> Self {
        Self { params, ..self }
    }

    /// Returns this input for the expressions of a policy: with the namespace and the version that the policy sees.
    pub(super) fn with_namespace(mut self, namespace: &'a Value) -> Self {
        self.request["resource"] = review::resource(&self.versioned.def);
        Self { namespace, ..self }
    }

    pub(super) fn bindings(&self) -> [(&'static str, Binding<'_>); 7] {
        let json = |value: &'a Option<Value>| Binding::Json(value.as_ref().unwrap_or(&Value::Null));
        [
            ("object", json(&self.versioned.object)),
            ("oldObject", json(&self.versioned.old)),
            ("namespaceObject", Binding::Json(self.namespace)),
            ("request", Binding::Json(&self.request)),
            ("params", Binding::Json(self.params)),
            ("authorizer", Binding::Authorizer(self.authorizer.clone())),
            ("authorizer.requestResource", Binding::ResourceCheck(self.authorizer.clone(), &self.access)),
        ]
    }
}

/// The server's authorizer, bound to one user.
#[derive(Debug)]
struct OfServer {
    server: Arc<Server>,
    user: Value,
}

impl Authorizer for OfServer {
    fn authorize(&self, request: &AccessRequest) -> AccessDecision {
        let account = request.service_account.as_ref().map(|(namespace, name)| {
            let groups = ["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
            json!({"username": format!("system:serviceaccount:{namespace}:{name}"), "groups": groups})
        });
        let target = match &request.path {
            Some(path) => Target::Path(path),
            None => Target::Resource(Resource {
                group: &request.group,
                resource: &request.resource,
                subresource: &request.subresource,
                namespace: &request.namespace,
                name: &request.name,
            }),
        };
        let user = account.as_ref().unwrap_or(&self.user);
        let attributes = Access { user, verb: &request.verb, target };
        let decision = authorization::decide(&self.server, &attributes);
        AccessDecision { allowed: decision.is_allowed(), reason: decision.reason().to_owned() }
    }
}

/// The request's own resource, as a question to an authorizer.
fn access(attributes: &Attributes<'_>) -> AccessRequest {
    AccessRequest {
        group: attributes.def().group.clone(),
        resource: attributes.def().plural.clone(),
        subresource: attributes.subresource().to_owned(),
        namespace: attributes.namespace().to_owned(),
        name: attributes.name.to_owned(),
        ..AccessRequest::default()
    }
}
