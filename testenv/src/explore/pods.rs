//! Faults of pods and of their node, which happen before a user acts and end before, too.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::fault::Fault;
use super::run::Run;

/// A fault of pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodFault {
    /// Each container that is restarted exits twice.
    Exit,
    /// The readiness probe of each container fails for a minute.
    Unready,
    /// The kubelet of the node stops for two minutes.
    Unreachable,
}

impl fmt::Display for PodFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exit => "containers-exit",
            Self::Unready => "containers-unready",
            Self::Unreachable => "node-unreachable",
        })
    }
}

impl PodFault {
    pub(super) const ALL: [Self; 3] = [Self::Exit, Self::Unready, Self::Unreachable];

    /// The kind of the objects whose annotations make it happen.
    pub(super) fn annotated(self) -> (&'static str, &'static str) {
        ("v1", if self == Self::Unreachable { "Node" } else { "Pod" })
    }

    /// The annotations of an object that make the fault happen, or end it.
    pub(super) fn annotations(self, object: &Value, fails: bool) -> Map<String, Value> {
        // Others do not run again, and an operator may give them up.
        let is_restarted = object["spec"]["restartPolicy"].as_str().is_none_or(|policy| policy == "Always");
        let (prefix, value) = match self {
            Self::Unreachable => {
                let value = if fails { Value::from("true") } else { Value::Null };
                return Map::from_iter([("kubelet.kubesmith.dev/stopped".to_owned(), value)]);
            }
            Self::Exit if !is_restarted => return Map::new(),
            Self::Exit => ("exit", if fails { "1".into() } else { Value::Null }),
            // A container without a probe is ready again if this says so.
            Self::Unready => ("ready", if fails { "false" } else { "true" }.into()),
        };
        let containers = object["spec"]["containers"].as_array().into_iter().flatten();
        let names = containers.filter_map(|container| container["name"].as_str());
        names.map(|name| (format!("{prefix}.kubesmith.dev/{name}"), value.clone())).collect()
    }

    /// How long it lasts.
    fn lasts(self) -> Duration {
        Duration::from_secs(match self {
            Self::Exit => 5,
            Self::Unready => 60,
            Self::Unreachable => 120,
        })
    }

    fn text(self) -> &'static str {
        match self {
            Self::Exit => "the containers of all pods exit",
            Self::Unready => "the readiness probes of all pods fail",
            Self::Unreachable => "the node is unreachable",
        }
    }
}

impl Run<'_> {
    /// Lets pods fail before a step, if the schedule says so, and waits until all has settled. All objects must exist as
    /// before; the operator may have changed them.
    pub(super) fn disturb_pods(&mut self, step: usize) {
        let site = format!("step#{step}");
        let is_one = |fault: Fault| matches!(fault, Fault::Pods(_));
        while let Some(Fault::Pods(fault)) = self.world.take_fault_of(&site, is_one) {
            self.disturb(fault);
        }
    }

    fn disturb(&mut self, fault: PodFault) {
        let world = &mut self.world;
        world.tell(&format!("! {}", fault.text()));
        world.has_failing_pods = true;
        world.cluster.fail_pods(fault, true);
        let end = world.now + fault.lasts();
        world.pull_watches();
        while world.failure.is_none() && world.now < end {
            world.pump();
            world.pass(end - world.now);
        }
        world.cluster.fail_pods(fault, false);
        world.tell("! the fault of pods is over");
        world.pull_watches();
        world.last_change = world.now;
        self.pods_failed = true;
        let known = self.states.len();
        self.settle(false, false);
        self.states.truncate(known);
        self.objects.truncate(known);
        self.world.has_failing_pods = false;
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kube::api::{Api, DeleteParams, DynamicObject, ListParams, PostParams};
    use kube::{Client, Resource as _};
    use operators::frame::{is_deleted, widgets};
    use serde_json::json;

    use super::super::replayed::{WIDGET, passes, replayed};
    use super::*;

    fn is_unready(pod: &Pod) -> bool {
        let status = pod.status.as_ref();
        let mut conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
        let runs = status.is_some_and(|status| status.phase.as_deref() == Some("Running"));
        runs && conditions.any(|condition| condition.type_ == "Ready" && condition.status == "False")
    }

    /// Deletes a pod that is not ready, and makes a new one, or only the first one.
    async fn replaces(client: Client, again: bool) -> kube::Result<()> {
        let widgets_api: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &widgets());
        let pods: Api<Pod> = Api::namespaced(client, "default");
        let mut has_made = false;
        loop {
            for widget in widgets_api
                .list(&ListParams::default())
                .await?
                .items
                .iter()
                .filter(|widget| !is_deleted(*widget))
            {
                match pods.get_opt("one").await? {
                    Some(pod) if is_unready(&pod) => {
                        drop(pods.delete("one", &DeleteParams::default()).await?);
                    }
                    None if again || !has_made => {
                        let pod = json!({
                            "metadata": {"name": "one", "ownerReferences": [widget.controller_owner_ref(&widgets())]},
                            "spec": {"containers": [{"name": "main", "image": "main"}]},
                        });
                        let pod = serde_json::from_value(pod).map_err(kube::Error::SerdeError)?;
                        pods.create(&PostParams::default(), &pod).await?;
                        has_made = true;
                    }
                    _ => {}
                }
            }
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
    }

    #[test]
    fn pod_that_is_never_made_again_is_found_when_containers_are_unready() {
        let failed = replayed("containers-unready@step#1", |sim| {
            sim.apply(WIDGET);
            sim.operator(|client| replaces(client, false));
        });
        let failed = failed.unwrap_err();
        assert!(failed.failure().contains("Pod default/one is missing"), "{failed}");
        assert!(
            failed.story().iter().any(|line| line.ends_with("! the readiness probes of all pods fail")),
            "{failed}"
        );
    }

    #[test]
    fn operator_that_replaces_pods_survives_their_faults() {
        for fault in PodFault::ALL {
            passes(&format!("{fault}@step#1"), |sim| {
                sim.apply(WIDGET);
                sim.operator(|client| replaces(client, true));
            });
        }
    }

    #[test]
    fn condition_of_pods_is_not_checked_while_they_fail() {
        passes("containers-exit@step#1", |sim| {
            sim.apply(WIDGET);
            sim.operator(|client| replaces(client, true));
            sim.always(|view| !view.list::<Pod>().iter().any(is_unready));
        });
    }
}
