//! The first step: a watch is a GET whose response does not end. Each line of it is an event.

use std::io::Write;

use anyhow::bail;
use futures::{AsyncBufReadExt, TryStreamExt};
use http::Request;
use kubesmith_runtime::kube::Client;
use kubesmith_runtime::rbac;
use serde::Deserialize;

/// A line of the response: an event's type and object.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    type_: String,
    object: Object,
}

/// The parts of an object that are read: a pod's name, an error's message.
#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    name: String,
}

/// Prints `TYPE Pod NAME` for every existing pod and for every change, until the server ends the response.
///
/// # Errors
///
/// Returns an error if the server refuses, sends an error or anything but events, or cannot be reached; or if nothing
/// more can be printed.
#[rbac(groups = "", resources = "pods", verbs = "watch", namespace = "default")]
pub async fn watch(client: &Client, namespace: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let request = Request::get(format!("/api/v1/namespaces/{namespace}/pods?watch=true")).body(Vec::new())?;
    let mut lines = client.request_stream(request).await?.lines();
    while let Some(line) = lines.try_next().await? {
        let Event { type_, object } = serde_json::from_str(&line)?;
        if type_ == "ERROR" {
            bail!("the server ends the watch: {}", object.message);
        }
        writeln!(out, "{type_} Pod {}", object.metadata.name)?;
    }
    Ok(())
}
