//! Webhooks in the simulation.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use kubesmith_testenv::{Explore, Failed, Report};
use operators::frame::{Seen, run};
use serde_json::{Value, json};

use super::{HOUR, SCHEDULES, SURVIVED, describe, level_triggered};

const CONFIGURATION: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: marks}
webhooks:
- name: marks.a.example
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {namespace: default, name: marks, path: /mark}}
  rules:
  - {apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}
";

/// Marks every object.
async fn mark(request: Request<Full<Bytes>>) -> Result<Response<Full<Bytes>>, std::convert::Infallible> {
    assert_eq!(request.uri().path(), "/mark");
    let body = request.into_body().collect().await?.to_bytes();
    let mut review: Value = serde_json::from_slice(&body).unwrap_or_default();
    // [{"op": "add", "path": "/immutable", "value": false}]
    let patch = "W3sib3AiOiAiYWRkIiwgInBhdGgiOiAiL2ltbXV0YWJsZSIsICJ2YWx1ZSI6IGZhbHNlfV0=";
    review["response"] =
        json!({"uid": review["request"]["uid"], "allowed": true, "patchType": "JSONPatch", "patch": patch});
    Ok(Response::new(Full::new(review.to_string().into())))
}

fn explored<F, Fut>(schedules: usize, operator: F) -> Result<Report, Box<Failed>>
where
    F: Fn(Seen) -> Fut + Copy + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + 'static,
{
    Explore::new("webhooks").schedules(schedules).time(HOUR).run(move |sim| async move {
        describe(&sim);
        sim.webhooks(CONFIGURATION, |_| tower::service_fn(mark));
        sim.operator(move |client| run(client, true, async move |seen| operator(seen).await));
        sim.eventually(|view| view.list::<ConfigMap>().iter().any(|map| map.immutable == Some(false)));
    })
}

/// Takes a webhook's failure for its refusal, and notes it for ever.
async fn gives_up(seen: Seen) -> kube::Result<()> {
    if seen.live().any(|widget| widget.data["status"]["refused"] == true) {
        return Ok(());
    }
    match level_triggered(seen.clone()).await {
        Err(kube::Error::Api(status)) if status.message.contains("failed calling webhook") => {
            for widget in seen.live() {
                seen.set_status(widget, json!({"refused": true})).await?;
            }
            Ok(())
        }
        done => done,
    }
}

#[test]
fn operator_has_to_bear_webhooks_that_fail() {
    let failed = explored(SCHEDULES, gives_up).unwrap_err();
    assert!(failed.plan().starts_with("webhook-"), "{failed}");
    let report = explored(SURVIVED, level_triggered).unwrap();
    println!("{report}");
}
