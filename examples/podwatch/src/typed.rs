//! The second step: the same watch through the client of pods, with events of Rust types.

use std::io::Write;

use anyhow::bail;
use futures::TryStreamExt;
use kubesmith_runtime::kube::ResourceExt;
use kubesmith_runtime::kube::api::{WatchEvent, WatchParams};
use kubesmith_runtime::rbac;

use crate::generated::clientset::Clientset;

/// Prints `Pod NAME added`, `modified` or `deleted` for every existing pod and for every change, until the server ends
/// the watch.
///
/// # Errors
///
/// Returns an error as [`plain::watch`](crate::plain::watch).
#[rbac(groups = "", resources = "pods", verbs = "watch", namespace = "default")]
pub async fn watch(clients: &Clientset, namespace: &str, out: &mut impl Write) -> anyhow::Result<()> {
    let pods = clients.core_v1().pods().namespace(namespace);
    // Version 0: all existing objects, and then the changes.
    let mut events = pods.watch(&WatchParams::default(), "0").await?;
    while let Some(event) = events.try_next().await? {
        let (pod, what) = match event {
            WatchEvent::Added(pod) => (pod, "added"),
            WatchEvent::Modified(pod) => (pod, "modified"),
            WatchEvent::Deleted(pod) => (pod, "deleted"),
            // Only reports that nothing has happened up to a version.
            WatchEvent::Bookmark(_) => continue,
            WatchEvent::Error(status) => bail!("the server ends the watch: {}", status.message),
        };
        writeln!(out, "Pod {} {what}", pod.name_any())?;
    }
    Ok(())
}
