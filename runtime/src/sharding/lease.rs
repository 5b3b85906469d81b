//! The Lease of a member: its own fields, and those that it reads from others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;

use crate::leaderelection::next_time;

/// The label with the group of a lease.
pub(super) const GROUP: &str = "sharding.kubesmith.dev/group";
/// The annotation with a token that is unique to one creation of a lease.
const TOKEN: &str = "sharding.kubesmith.dev/token";
/// The annotation with the members whose keys this one leaves to them: `lease=token`, separated by commas.
const VIEW: &str = "sharding.kubesmith.dev/view";
/// The annotation with the hashes of keys that are still in processing although others own them, in hexadecimal.
const FINISHING: &str = "sharding.kubesmith.dev/finishing";

/// Lease names, with the token of each holder.
pub(super) type Members = BTreeMap<String, String>;

/// The data that a member publishes to the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Publication {
    /// It begins no key that one of these members owns.
    pub(super) view: Members,
    /// Keys that it began before and has not finished.
    pub(super) finishing: BTreeSet<u64>,
}

/// The constant part of a member's lease.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) namespace: String,
    pub(super) group: String,
    pub(super) name: String,
    pub(super) identity: String,
    pub(super) duration: Duration,
}

impl Identity {
    /// Returns the lease with a renewal and the publication; `known` is the one that it replaces.
    pub(super) fn write(
        &self,
        known: Option<&Lease>,
        token: &str,
        publication: &Publication,
        wall: Timestamp,
    ) -> Lease {
        let mut metadata = match known {
            Some(lease) => lease.metadata.clone(),
            None => ObjectMeta {
                namespace: Some(self.namespace.clone()),
                name: Some(self.name.clone()),
                ..ObjectMeta::default()
            },
        };
        metadata.labels.get_or_insert_default().insert(GROUP.to_owned(), self.group.clone());
        let annotations = metadata.annotations.get_or_insert_default();
        let view: Vec<String> =
            publication.view.iter().map(|(name, token)| format!("{name}={token}")).collect();
        let finishing: Vec<String> = publication.finishing.iter().map(|key| format!("{key:016x}")).collect();
        annotations.insert(TOKEN.to_owned(), token.to_owned());
        annotations.insert(VIEW.to_owned(), view.join(","));
        annotations.insert(FINISHING.to_owned(), finishing.join(","));
        let renewed = known.and_then(|lease| lease.spec.as_ref()?.renew_time.as_ref());
        let renewed = next_time(renewed, wall);
        let acquired = known.and_then(|lease| lease.spec.as_ref()?.acquire_time.clone());
        let spec = LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.duration.as_secs()).ok(),
            acquire_time: acquired.or(Some(MicroTime(wall))),
            renew_time: Some(renewed),
            ..LeaseSpec::default()
        };
        Lease { metadata, spec: Some(spec) }
    }
}

/// A lease as others read it. Malformed content counts as absent.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) token: String,
    pub(super) publication: Publication,
    /// Its duration without a change; `None` if it has none.
    pub(super) duration: Option<Duration>,
    /// Uid and version, which identify a write.
    pub(super) written: (String, String),
}

impl Record {
    pub(super) fn of(lease: &Lease) -> Self {
        let annotation = |name: &str| {
            let annotations = lease.metadata.annotations.as_ref();
            annotations.and_then(|annotations| annotations.get(name)).map_or("", String::as_str)
        };
        let finishing = annotation(FINISHING).split(',').filter(|key| !key.is_empty());
        let finishing: Option<BTreeSet<u64>> =
            finishing.map(|key| u64::from_str_radix(key, 16).ok()).collect();
        // A view counts only with the keys that it leaves out.
        let view = if finishing.is_some() { annotation(VIEW) } else { "" };
        let view = view.split(',').filter_map(|pair| pair.split_once('='));
        let seconds = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds);
        Record {
            name: lease.metadata.name.clone().unwrap_or_default(),
            token: annotation(TOKEN).to_owned(),
            publication: Publication {
                view: view.map(|(name, token)| (name.to_owned(), token.to_owned())).collect(),
                finishing: finishing.unwrap_or_default(),
            },
            duration: seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs),
            written: (
                lease.metadata.uid.clone().unwrap_or_default(),
                lease.metadata.resource_version.clone().unwrap_or_default(),
            ),
        }
    }
}
