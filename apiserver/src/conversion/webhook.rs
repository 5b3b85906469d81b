//! The conversion webhook of a CRD.

use std::time::Duration;

use serde_json::Value;

use super::review;
use crate::custom::ConversionWebhook;
use crate::server::Server;
use crate::status::{ApiError, ApiResult};

/// The timeout of conversions; kube-apiserver's client gives every webhook this time.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Reports whether an object has only its kind; such objects are the same in all versions.
fn is_empty(object: &Value) -> bool {
    object.as_object().is_some_and(|map| map.keys().all(|key| key == "apiVersion" || key == "kind"))
}

/// Returns the error and logs it with advice for developers, who read the log.
fn failed(server: &Server, text: &str) -> ApiError {
    let place = match server.options().webhook_host {
        Some(_) => "",
        None => " (`kubesmith serve --webhook-cert-dir DIR` calls it on this host)",
    };
    tracing::warn!(
        "{text}; start the program that serves the webhook{place}: until then objects can be read and written in the stored \
         version only"
    );
    ApiError::unexpected(text.to_owned())
}

/// Converts those objects that have another version; the order stays.
///
/// # Errors
/// Returns an error when the webhook cannot be reached, does not convert, or makes a forbidden change.
pub(super) async fn convert(
    webhook: &ConversionWebhook,
    server: &Server,
    to: &str,
    mut objects: Vec<Value>,
) -> ApiResult<Vec<Value>> {
    for object in objects.iter_mut().filter(|object| is_empty(object)) {
        object["apiVersion"] = Value::from(to);
    }
    let others: Vec<usize> =
        (0..objects.len()).filter(|at| objects[*at]["apiVersion"].as_str() != Some(to)).collect();
    let Some(first) = others.first() else { return Ok(objects) };
    let version = webhook.review_version;
    let version = version.ok_or_else(|| ApiError::unexpected("no supported conversion review versions"))?;
    let subject = review::Subject::of(&objects[*first], to);
    let uid = server.ids.uid();
    let asked: Vec<&Value> = others.iter().map(|at| &objects[*at]).collect();
    let question = review::question(&asked, to, &uid, version);
    let answer = server.webhooks.post(&server.store, &webhook.endpoint, (TIMEOUT, None), &question).await;
    let converted = answer
        .and_then(|answer| review::converted(answer, &uid, version))
        .map_err(|e| failed(server, &subject.failed(&e)))?;
    let converted = subject.checked(&asked, converted).map_err(ApiError::unexpected)?;
    for (at, value) in others.into_iter().zip(converted) {
        objects[at] = value;
    }
    Ok(objects)
}
