//! Admission over HTTP: a review in, a review out.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::handler::DynHandler;
use super::{AdmissionContext, AdmissionRequest, response};
use crate::webhook::hook::{Call, Hook, Refusal};
use crate::webhook::review::ReviewKind;

pub(super) const REVIEW: ReviewKind = ReviewKind {
    api_version: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    list: "admissionReviewVersions",
};

/// The size limit of a review: two objects of at most 3 MiB each, and 1 MiB for the rest.
const BODY_LIMIT: usize = 7 * 1024 * 1024;

/// Answers `AdmissionReview`s.
pub(in crate::webhook) struct AdmissionHook(Box<dyn DynHandler>);

impl AdmissionHook {
    pub(in crate::webhook) fn new(handler: impl super::AdmissionHandler) -> Self {
        AdmissionHook(Box::new(handler))
    }
}

impl Hook for AdmissionHook {
    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }

    fn panics_metric(&self) -> (&'static str, &'static str) {
        ("controller_runtime_webhook_panics_total", "Total number of webhook panics")
    }

    fn answer<'a>(&'a self, body: &'a Bytes, call: &'a Call) -> BoxFuture<'a, Result<Vec<u8>, Refusal>> {
        async move {
            let request: AdmissionRequest = REVIEW.read(body)?;
            let ctx = AdmissionContext::of_call(request, call.deadline, call.ended.clone());
            let answer = self.0.handle(&ctx).await;
            let uid = &ctx.request().uid;
            tracing::debug!(uid, allowed = answer.allowed, code = answer.status.code, "admission request");
            response::review(uid, &answer)
                .map_err(|error| Refusal::internal(format!("cannot write the answer: {error}")))
        }
        .boxed()
    }
}
