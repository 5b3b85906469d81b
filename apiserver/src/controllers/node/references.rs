//! The objects that a pod refers to and cannot start without: Secrets, ConfigMaps and claims.
//!
//! Source: `pkg/volume/secret`, `configmap` and `projected`; `makeEnvironmentVariables` of pkg/kubelet/kubelet_pods.go;
//! `pkg/kubelet/volumemanager/populator`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::super::cluster::{CLAIMS, CONFIG_MAPS, Cluster, Resource, SECRETS};
use super::super::ephemeral;
use super::super::owners::is_controlled_by;
use super::super::protection::{Used, use_of};
use super::super::switches::pull;
use super::devices;
use super::start::misconfigured;
use crate::meta::{self, member};
use crate::store::Object;

/// What keeps a pod from starting.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The messages of events about volumes.
    pub(super) volumes: Vec<String>,
    /// The message of the event about devices.
    pub(super) devices: Option<String>,
    /// The messages about containers, by name.
    pub(super) containers: BTreeMap<String, String>,
    /// The states of containers that wait for their image, by name.
    pub(super) images: BTreeMap<String, Value>,
    /// The time until an image is there.
    pub(super) pull: Option<Duration>,
}

impl Faults {
    /// Returns the state of a container that cannot start. Its image is pulled first (`startContainer` of
    /// pkg/kubelet/kuberuntime).
    pub(super) fn of(&self, container: &Value) -> Option<Value> {
        let name = member(container, "name");
        let image = self.images.get(name).cloned();
        image.or_else(|| self.containers.get(name).map(|message| misconfigured(message)))
    }

    /// Reports whether no container can start.
    pub(super) fn hold_all(&self) -> bool {
        !self.volumes.is_empty() || self.devices.is_some()
    }
}

/// Returns what keeps a pod from starting.
pub(super) fn faults(cluster: &Cluster, pod: &Value) -> Faults {
    let reader = Reader { cluster, pod, namespace: meta::namespace(pod) };
    let list = |name: &str| pod["spec"][name].as_array().into_iter().flatten();
    let of_container = |container: &Value| {
        let message = reader.environment(container).err()?;
        Some((member(container, "name").to_owned(), message))
    };
    let pull = |container: &Value| {
        Some((member(container, "name").to_owned(), pull(pod, container, cluster.now())?))
    };
    let pulls: Vec<_> = list("initContainers").chain(list("containers")).filter_map(pull).collect();
    Faults {
        pull: pulls.iter().filter_map(|(_, (_, left))| *left).min(),
        images: pulls.into_iter().map(|(name, (waiting, _))| (name, waiting)).collect(),
        volumes: list("volumes").filter_map(|volume| reader.volume(volume)).collect(),
        devices: devices::unprepared(cluster, pod),
        containers: list("initContainers").chain(list("containers")).filter_map(of_container).collect(),
    }
}

struct Reader<'a> {
    cluster: &'a Cluster,
    pod: &'a Value,
    namespace: &'a str,
}

impl Reader<'_> {
    /// Returns an object's data; `None` if it may be missing and is.
    fn find(&self, of: Resource, name: &str, source: &Value) -> Result<Option<Arc<Object>>, String> {
        let stored = self.cluster.get(of, &format!("{}/{name}", self.namespace));
        if stored.is_none() && source["optional"] != true {
            return Err(format!("{} {name:?} not found", of.kind.to_lowercase()));
        }
        Ok(stored)
    }

    /// Returns the message of the event about a volume that cannot be mounted.
    fn volume(&self, volume: &Value) -> Option<String> {
        let name = member(volume, "name");
        if let Some(used) = use_of(self.pod, volume) {
            let fault = self.claim(&used)?;
            return Some(format!(
                "Unable to attach or mount volumes: unmounted volumes=[{name}], unattached volumes=[], failed to process \
                 volumes=[{name}]: {fault}",
            ));
        }
        let sources = volume["projected"]["sources"].as_array().into_iter().flatten();
        let faults: Vec<String> = sources
            .flat_map(|source| [self.files(SECRETS, &source["secret"], "name"), self.map(source)])
            .chain([self.files(SECRETS, &volume["secret"], "secretName"), self.map(volume)])
            .filter_map(Result::err)
            .collect();
        let fault = match faults.as_slice() {
            [] => return None,
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        Some(format!("MountVolume.SetUp failed for volume {name:?} : {fault}"))
    }

    /// `createVolumeSpec` and `getPVCExtractPV`.
    fn claim(&self, used: &Used<'_>) -> Option<String> {
        let name = &used.name;
        let fault = |text: String| Some(format!("error processing PVC {}/{name}: {text}", self.namespace));
        let Some(claim) = self.cluster.get(CLAIMS, &format!("{}/{name}", self.namespace)) else {
            return fault(format!(
                "failed to fetch PVC from API server: persistentvolumeclaims {name:?} not found"
            ));
        };
        let claim: &Value = &claim.value;
        let is_bound =
            claim["status"]["phase"] == "Bound" && !member(&claim["spec"], "volumeName").is_empty();
        if !is_bound {
            return fault("PVC is not bound".to_owned());
        }
        let is_foreign = used.ephemeral.is_some() && !is_controlled_by(claim, self.pod);
        is_foreign.then(|| ephemeral::not_for(claim, self.pod))
    }

    fn map(&self, source: &Value) -> Result<(), String> {
        self.files(CONFIG_MAPS, &source["configMap"], "name")
    }

    /// Checks the files of a volume's source, if there is one (`MakePayload`).
    fn files(&self, of: Resource, source: &Value, name: &str) -> Result<(), String> {
        if source.is_null() {
            return Ok(());
        }
        let Some(stored) = self.find(of, member(source, name), source)? else { return Ok(()) };
        for item in source["items"].as_array().into_iter().flatten() {
            let key = member(item, "key");
            let is_there = ["data", "binaryData"].iter().any(|part| stored.value[part].get(key).is_some());
            if !is_there && source["optional"] != true {
                return Err(match of == SECRETS {
                    true => format!("references non-existent secret key: {key}"),
                    false => format!("configmap references non-existent config key: {key}"),
                });
            }
        }
        Ok(())
    }

    /// Checks the sources of a container's environment.
    fn environment(&self, container: &Value) -> Result<(), String> {
        let list = |name: &str| container[name].as_array().into_iter().flatten();
        for source in list("envFrom") {
            for (of, field) in [(CONFIG_MAPS, "configMapRef"), (SECRETS, "secretRef")] {
                if source[field].is_object() {
                    self.find(of, member(&source[field], "name"), &source[field])?;
                }
            }
        }
        for variable in list("env") {
            for (of, field) in [(CONFIG_MAPS, "configMapKeyRef"), (SECRETS, "secretKeyRef")] {
                self.key(of, &variable["valueFrom"][field])?;
            }
        }
        Ok(())
    }

    fn key(&self, of: Resource, source: &Value) -> Result<(), String> {
        let (name, key) = (member(source, "name"), member(source, "key"));
        if source.is_null() {
            return Ok(());
        }
        let Some(stored) = self.find(of, name, source)? else { return Ok(()) };
        if stored.value["data"].get(key).is_none() && source["optional"] != true {
            return Err(format!("couldn't find key {key} in {} {}/{name}", of.kind, self.namespace));
        }
        Ok(())
    }
}
