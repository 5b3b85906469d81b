//! The pods of a daemon set's nodes: creates missing ones and replaces outdated ones.
//!
//! Source: `manage` of `daemon_controller.go` and `rollingUpdate` of `update.go`.

use serde_json::Value;

use super::super::cluster::Fault;
use super::super::pods::{create, delete, is_over, share};
use super::{COMPONENT, Sync, nodes};
use crate::meta;

/// The relevant pods of a node: the oldest of the current template, and the oldest of another one.
#[derive(Default)]
struct Kept<'a> {
    new: Option<&'a Value>,
    old: Option<&'a Value>,
    /// Whether a pod of the node is terminating.
    leaving: bool,
}

impl Sync<'_> {
    pub(super) async fn run(&self, pods: &[Value]) -> Result<(), Fault> {
        let mut wanted: Vec<(&Value, Kept<'_>)> = Vec::new();
        for node in &self.nodes {
            let mut own: Vec<&Value> = pods.iter().filter(|pod| nodes::is_for(pod, node)).collect();
            own.sort_by_key(|pod| (meta::text(pod, "creationTimestamp"), meta::name(pod)));
            if self.keeps(node) {
                let kept = self.keep(node, &own).await?;
                if self.fits(node) {
                    wanted.push((node, kept));
                }
            } else {
                for pod in own.into_iter().filter(|pod| !meta::is_terminating(pod)) {
                    self.delete(pod).await?;
                }
            }
        }
        for pod in pods.iter().filter(|pod| !self.nodes.iter().any(|node| nodes::is_for(pod, node))) {
            if !meta::is_terminating(pod) {
                self.delete(pod).await?;
            }
        }
        for (node, kept) in &wanted {
            if kept.new.is_none() && kept.old.is_none() && !kept.leaving {
                self.create(node).await?;
            }
        }
        if self.set["spec"]["updateStrategy"]["type"] == "OnDelete" {
            return Ok(());
        }
        match self.limit("maxSurge", wanted.len()) {
            0 => self.replace(&wanted).await,
            most => self.surge(&wanted, most).await,
        }
    }

    /// Deletes finished and surplus pods of a node.
    async fn keep<'a>(&self, node: &Value, own: &[&'a Value]) -> Result<Kept<'a>, Fault> {
        let mut kept = Kept::default();
        for pod in own {
            if meta::is_terminating(pod) {
                kept.leaving = true;
                continue;
            }
            if is_over(pod) {
                self.tell_over(node, pod).await;
                self.delete(pod).await?;
                kept.leaving = true;
                continue;
            }
            let place = if self.is_new(pod) { &mut kept.new } else { &mut kept.old };
            if place.is_some() {
                self.delete(pod).await?;
            } else {
                *place = Some(pod);
            }
        }
        Ok(kept)
    }

    async fn tell_over(&self, node: &Value, pod: &Value) {
        let place = format!("{}/{} on node {}", meta::namespace(pod), meta::name(pod), meta::name(node));
        if pod["status"]["phase"] == "Failed" {
            let text = format!("Found failed daemon pod {place}, will try to kill it");
            self.cluster.warn(COMPONENT, self.set, "FailedDaemonPod", &text).await;
        } else {
            let text = format!("Found succeeded daemon pod {place}, will try to delete it");
            self.cluster.tell(COMPONENT, self.set, "SucceededDaemonPod", &text).await;
        }
    }

    /// Returns a limit of the rolling update, in nodes.
    fn limit(&self, field: &str, nodes: usize) -> i64 {
        let nodes = i64::try_from(nodes).unwrap_or(i64::MAX);
        share(&self.set["spec"]["updateStrategy"]["rollingUpdate"][field], nodes, true)
    }

    /// Deletes outdated pods: all unavailable ones, and available ones up to `maxUnavailable`.
    async fn replace(&self, nodes: &[(&Value, Kept<'_>)]) -> Result<(), Fault> {
        let most = self.limit("maxUnavailable", nodes.len()).max(1);
        let (mut missing, mut available, mut lost) = (0, Vec::new(), Vec::new());
        for (_, kept) in nodes {
            match (kept.new, kept.old) {
                (None, Some(old)) if self.is_available(old) => available.push(old),
                // The old pod is unavailable anyway.
                (None, Some(old)) => {
                    missing += 1;
                    lost.push(old);
                }
                (Some(new), None) => missing += i64::from(!self.is_available(new)),
                (Some(_), Some(old)) => {
                    missing += 1;
                    lost.push(old);
                }
                (None, None) => missing += 1,
            }
        }
        let room = usize::try_from(most - missing).unwrap_or(0);
        for pod in lost.into_iter().chain(available.into_iter().take(room)) {
            self.delete(pod).await?;
        }
        Ok(())
    }

    /// Creates new pods beside old ones, up to `most`; deletes old ones when the new ones are available.
    async fn surge(&self, nodes: &[(&Value, Kept<'_>)], most: i64) -> Result<(), Fault> {
        let (mut beside, mut waiting) = (0, Vec::new());
        for (node, kept) in nodes {
            match (kept.new, kept.old) {
                (Some(new), Some(old)) if self.is_available(new) => self.delete(old).await?,
                (Some(_), Some(_)) => beside += 1,
                (None, Some(old)) if self.is_available(old) => waiting.push(node),
                (None, Some(_)) => self.create(node).await?,
                _ => {}
            }
        }
        for node in waiting.into_iter().take(usize::try_from(most - beside).unwrap_or(0)) {
            self.create(node).await?;
        }
        Ok(())
    }

    async fn create(&self, node: &Value) -> Result<(), Fault> {
        create(self.cluster, COMPONENT, self.set, &self.described(node)).await.map(drop)
    }

    async fn delete(&self, pod: &Value) -> Result<(), Fault> {
        delete(self.cluster, COMPONENT, self.set, pod).await
    }
}
