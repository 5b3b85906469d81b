//! Several handlers at one path.

use std::fmt;

use json_patch::Patch;

use super::handler::DynHandler;
use super::{AdmissionContext, AdmissionHandler, AdmissionResponse};
use crate::webhook::RawObject;

/// Handlers that are called in order. The first refusal ends the chain.
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionResponse, Chain, admission_fn};
///
/// let chain = Chain::validating()
///     .then(admission_fn(|_| async { AdmissionResponse::allowed() }))
///     .then(admission_fn(|_| async { AdmissionResponse::denied("not today") }));
/// # let _ = chain;
/// ```
///
/// A chain that patches:
///
/// ```
/// use kubesmith_runtime::webhook::{AdmissionResponse, Chain, Patch, admission_fn};
///
/// fn pause() -> serde_json::Result<Patch> {
///     serde_json::from_str(r#"[{"op": "add", "path": "/spec/paused", "value": true}]"#)
/// }
///
/// let chain = Chain::mutating().then(admission_fn(|_| async {
///     match pause() {
///         Ok(patch) => AdmissionResponse::patched(patch),
///         Err(error) => AdmissionResponse::errored(500, error),
///     }
/// }));
/// # let _ = chain;
/// ```
#[must_use = "give it to the server"]
pub struct Chain {
    handlers: Vec<Box<dyn DynHandler>>,
    is_mutating: bool,
}

impl Chain {
    /// Creates a chain whose handlers patch. Each sees the object as earlier ones left it, like the webhooks of an
    /// API server; the response has the patches of all.
    pub fn mutating() -> Self {
        Chain { handlers: Vec::new(), is_mutating: true }
    }

    /// Makes a chain whose handlers only allow or refuse. A patch from one of them is an error.
    pub fn validating() -> Self {
        Chain { handlers: Vec::new(), is_mutating: false }
    }

    /// Adds a handler at the end.
    pub fn then(mut self, handler: impl AdmissionHandler) -> Self {
        self.handlers.push(Box::new(handler));
        self
    }

    /// Returns the call with the patch applied to the object.
    fn patched(&self, ctx: &AdmissionContext, patch: &Patch) -> Result<AdmissionContext, String> {
        if !self.is_mutating {
            return Err("a handler of a validating chain returned a patch".to_owned());
        }
        let Some(raw) = &ctx.request().object else {
            return Err("a handler returned a patch, but the request has no object".to_owned());
        };
        let mut object = raw.to_value().map_err(|error| error.to_string())?;
        let operations = patch.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>();
        let operations = operations.map_err(|error| error.to_string())?;
        // An API server applies the patch by the same rules.
        object = kubesmith_apimachinery::patch::json_patch(&object, &operations)
            .map_err(|error| format!("a handler returned a patch that does not apply: {error}"))?;
        let object = RawObject::from_value(&object).map_err(|error| error.to_string())?;
        Ok(ctx.with_object(object))
    }
}

impl AdmissionHandler for Chain {
    async fn handle(&self, ctx: &AdmissionContext) -> AdmissionResponse {
        let mut ctx = ctx.clone();
        let mut all = AdmissionResponse::allowed();
        for handler in &self.handlers {
            let mut response = handler.handle(&ctx).await;
            all.warnings.append(&mut response.warnings);
            all.audit_annotations.append(&mut response.audit_annotations);
            if !response.allowed {
                return AdmissionResponse {
                    allowed: false,
                    status: response.status,
                    patch: Patch::default(),
                    ..all
                };
            }
            if response.patch.is_empty() {
                continue;
            }
            ctx = match self.patched(&ctx, &response.patch) {
                Ok(ctx) => ctx,
                Err(error) => return AdmissionResponse::errored(500, error),
            };
            all.patch.0.append(&mut response.patch.0);
        }
        all
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("is_mutating", &self.is_mutating)
            .field("handlers", &self.handlers.len())
            .finish()
    }
}
