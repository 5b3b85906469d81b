use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::api::{Api, Patch, PatchParams, ResourceExt};
use kube_runtime::controller::{Action, Controller};
use kube_runtime::events::{Event, EventType, Recorder, Reporter};
use kube_runtime::finalizer::{self, Event as Finalizer, finalizer};
use kube_runtime::watcher;
use kube::{Client, Resource};
use serde_json::json;

use crate::Document;

const FINALIZER: &str = "documents.example.com/hidden";
const CHECK: Duration = Duration::from_secs(300);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a document of this name is illegal")]
    Illegal,
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error(transparent)]
    Finalizer(Box<finalizer::Error<Error>>),
}

struct Context {
    client: Client,
    recorder: Recorder,
}

async fn reconcile(document: Arc<Document>, context: Arc<Context>) -> Result<Action, Error> {
    let namespace = document.namespace().unwrap_or_default();
    let documents = Api::<Document>::namespaced(context.client.clone(), &namespace);
    let event = |event| async {
        match event {
            Finalizer::Apply(document) => apply(&document, &documents, &context).await,
            Finalizer::Cleanup(document) => {
                publish(&document, &context, "DeleteRequested", "Deleting").await?;
                Ok(Action::await_change())
            }
        }
    };
    finalizer(&documents, FINALIZER, document, event).await.map_err(|error| Error::Finalizer(Box::new(error)))
}

async fn apply(document: &Document, documents: &Api<Document>, context: &Context) -> Result<Action, Error> {
    let was_hidden = document.status.as_ref().is_some_and(|status| status.hidden);
    if document.spec.hide && !was_hidden {
        publish(document, context, "HideRequested", "Hiding").await?;
    }
    if document.name_any() == "illegal" {
        return Err(Error::Illegal);
    }
    let status = json!({
        "apiVersion": "example.com/v1",
        "kind": "Document",
        "status": { "hidden": document.spec.hide },
    });
    let params = PatchParams::apply("documents").force();
    documents.patch_status(&document.name_any(), &params, &Patch::Apply(status)).await?;
    Ok(Action::requeue(CHECK))
}

async fn publish(document: &Document, context: &Context, reason: &str, action: &str) -> Result<(), Error> {
    let event = Event {
        type_: EventType::Normal,
        reason: reason.to_owned(),
        note: None,
        action: action.to_owned(),
        secondary: None,
    };
    Ok(context.recorder.publish(&event, &document.object_ref(&())).await?)
}

fn error_policy(document: Arc<Document>, error: &Error, _: Arc<Context>) -> Action {
    tracing::warn!(document = document.name_any(), %error, "reconcile failed");
    Action::requeue(CHECK)
}

pub async fn run(client: Client) {
    let recorder = Recorder::new(client.clone(), Reporter::from("documents"));
    let context = Arc::new(Context { client: client.clone(), recorder });
    Controller::new(Api::<Document>::all(client), watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, error_policy, context)
        .for_each(|_| futures::future::ready(()))
        .await;
}
