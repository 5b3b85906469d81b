//! Webhooks in the simulation.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::{Api, PostParams};
use kubesmith_testenv::{Explore, Failed, Report};
use operators::frame::{Seen, run, unless};
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

/// Treats a failure of a webhook as a refusal, and records it forever.
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

/// Relies on the webhook for the map that it creates at its start.
async fn relies_on_the_webhook(client: Client) -> kube::Result<()> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let mut map = ConfigMap::default();
    map.metadata.name = Some("settings".to_owned());
    unless(409, maps.create(&PostParams::default(), &map).await.map(drop))?;
    let map = maps.get("settings").await?;
    assert!(map.immutable.is_some(), "the webhook completes the map");
    run(client, true, async |seen| level_triggered(seen).await).await
}

#[test]
fn panic_after_a_skipped_webhook_is_a_failure() {
    let ignored = CONFIGURATION.replace("sideEffects: None", "sideEffects: None\n  failurePolicy: Ignore");
    let explored = Explore::new("skipped").schedules(SCHEDULES).time(HOUR).run(move |sim| {
        let ignored = ignored.clone();
        async move {
            describe(&sim);
            sim.webhooks(ignored, |_| tower::service_fn(mark));
            sim.operator(relies_on_the_webhook);
        }
    });
    let failed = explored.unwrap_err();
    assert!(failed.plan().starts_with("webhook-"), "{failed}");
    assert!(failed.failure().contains("the webhook completes the map"), "{failed}");
}
