//! Hooks and probes of a container. Source: `validateLifecycle` and `validateProbe` of `pkg/apis/core/validation`.

use serde_json::Value;

use super::containers::Pod;
use super::field::{Errors, Field};

/// Checks hooks and probes of a container that may have them.
pub(super) fn lifecycle_and_probes(container: &Field<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    for hook in ["postStart", "preStop"] {
        let hook = container.child("lifecycle").child(hook);
        if hook.is_set() {
            handler(&hook, pod, errors);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.child(name);
        if !probe.is_set() {
            continue;
        }
        handler(&probe, pod, errors);
        let numbers = [
            "initialDelaySeconds",
            "timeoutSeconds",
            "periodSeconds",
            "successThreshold",
            "failureThreshold",
        ];
        errors.none_negative(&probe, &numbers);
        let grace = probe.child("terminationGracePeriodSeconds");
        if grace.number().is_some_and(|seconds| seconds <= 0) {
            errors.invalid(&grace, "must be greater than 0");
        }
        let threshold = probe.child("successThreshold");
        if name == "readinessProbe" {
            if grace.is_set() {
                errors.invalid(&grace, "must not be set for readinessProbes");
            }
        } else if threshold.number() != Some(1) {
            errors.invalid(&threshold, "must be 1");
        }
    }
}

/// `validateHandler`: a probe or hook has exactly one action.
fn handler(handler: &Field<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    let mut given = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"]
        .into_iter()
        .filter(|kind| handler.child(kind).is_set());
    let Some(kind) = given.next() else {
        errors.required(handler, "must specify a handler type");
        return;
    };
    action(kind, &handler.child(kind), pod, errors);
    for other in given {
        errors.forbidden(&handler.child(other), "may not specify more than 1 handler type");
    }
}

/// `IsHTTPHeaderName`.
fn header_name(headers: &Field<'_>, text: &str, errors: &mut Errors) {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        let detail = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used \
                      for validation is '[-A-Za-z0-9]+')";
        let shown = Value::from(text);
        errors.invalid(&headers.holding(&shown), detail);
    }
}

fn action(kind: &str, action: &Field<'_>, pod: &Pod<'_>, errors: &mut Errors) {
    match kind {
        "exec" => {
            if action.child("command").is_empty() {
                errors.required(&action.child("command"), "");
            }
        }
        "httpGet" => {
            if action.child("path").is_empty() {
                errors.required(&action.child("path"), "");
            }
            errors.port(&action.child("port"));
            errors.optional_one_of(&action.child("scheme"), &["HTTP", "HTTPS"]);
            let headers = action.child("httpHeaders");
            for header in headers.items() {
                header_name(&headers, header.child("name").text(), errors);
            }
        }
        "sleep" => {
            let seconds = action.child("seconds").number_or_zero();
            if let Some(most) = pod.grace_period.filter(|most| seconds < 0 || seconds > *most) {
                let detail =
                    format!("must be non-negative and less than terminationGracePeriodSeconds ({most})");
                let shown = Value::from(seconds);
                errors.invalid(&action.holding(&shown), &detail);
            }
        }
        _ => errors.port(&action.child("port")),
    }
}
