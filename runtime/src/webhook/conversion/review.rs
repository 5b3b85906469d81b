//! Conversion over HTTP: a review in, a review out.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::Conversions;
use crate::webhook::RawObject;
use crate::webhook::hook::{Call, Hook, Refusal};
use crate::webhook::review::ReviewKind;

const REVIEW: ReviewKind = ReviewKind {
    api_version: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    list: "conversionReviewVersions",
};

/// The size limit of a review. An API server has all objects of a list converted at once.
const BODY_LIMIT: usize = 256 * 1024 * 1024;

/// The number of objects after which the task yields, so that other tasks run and a dropped call ends.
const OBJECTS_AT_ONCE: usize = 64;

#[derive(Deserialize)]
struct Request {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired_api_version: String,
    objects: Vec<RawObject>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    converted_objects: Vec<RawObject>,
    result: Outcome,
}

#[derive(Serialize)]
struct Outcome {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Answers `ConversionReview`s.
pub(in crate::webhook) struct ConversionHook(Conversions);

impl ConversionHook {
    pub(in crate::webhook) fn new(conversions: Conversions) -> Self {
        ConversionHook(conversions)
    }

    /// Converts all objects, or returns why one of them cannot be converted.
    async fn convert(&self, request: &Request) -> Result<Vec<RawObject>, String> {
        let mut converted = Vec::with_capacity(request.objects.len());
        for objects in request.objects.chunks(OBJECTS_AT_ONCE) {
            for object in objects {
                converted.push(self.0.convert(object, &request.desired_api_version)?);
            }
            tokio::task::yield_now().await;
        }
        Ok(converted)
    }
}

impl Hook for ConversionHook {
    fn body_limit(&self) -> usize {
        BODY_LIMIT
    }

    fn panics_metric(&self) -> (&'static str, &'static str) {
        ("controller_runtime_conversion_webhook_panics_total", "Total number of conversion webhook panics")
    }

    fn answer<'a>(&'a self, body: &'a Bytes, _: &'a Call) -> BoxFuture<'a, Result<Vec<u8>, Refusal>> {
        async move {
            let request: Request = REVIEW.read(body)?;
            let (converted_objects, result) = match self.convert(&request).await {
                Ok(objects) => (objects, Outcome { status: "Success", message: None }),
                Err(message) => {
                    tracing::error!(uid = request.uid, error = message, "conversion failed");
                    (Vec::new(), Outcome { status: "Failure", message: Some(message) })
                }
            };
            let response = Response { uid: &request.uid, converted_objects, result };
            serde_json::to_vec(&Answer { api_version: REVIEW.api_version, kind: REVIEW.kind, response })
                .map_err(|error| Refusal::internal(format!("cannot write the answer: {error}")))
        }
        .boxed()
    }
}
