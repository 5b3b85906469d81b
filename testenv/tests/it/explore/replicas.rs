//! Replicas that elect a leader. One of them pauses between the check of its lease and a write.

use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, ListParams, PostParams};
use kube::core::ObjectMeta;
use kube::{Client, ResourceExt as _};
use kubesmith_testenv::{Explore, Failed, Report};
use operators::frame::{CRD, unless, widgets};
use tokio::time::Instant;

use super::{HOUR, SMALL, child};

/// How long a lease lasts after it was renewed.
const LASTS: Duration = Duration::from_secs(15);
const RENEWAL: Duration = Duration::from_secs(5);

/// A replica and its view of the lease.
struct Replica {
    id: String,
    leases: Api<Lease>,
    seen: Option<(String, Instant)>,
}

impl Replica {
    fn new(client: Client) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed).to_string();
        Self { id, leases: Api::namespaced(client, "default"), seen: None }
    }

    /// Takes or renews the lease, if no other replica holds it.
    async fn leads(&mut self) -> kube::Result<bool> {
        let mut lease = self.leases.get_opt("leader").await?.unwrap_or_else(|| Lease {
            metadata: ObjectMeta { name: Some("leader".to_owned()), ..ObjectMeta::default() },
            spec: None,
        });
        let version = lease.resource_version().unwrap_or_default();
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != version) {
            self.seen = Some((version.clone(), Instant::now()));
        }
        let holder = lease.spec.as_ref().and_then(|spec| spec.holder_identity.clone());
        let is_over = self.seen.as_ref().is_some_and(|(_, since)| since.elapsed() > LASTS);
        if holder.is_some_and(|holder| holder != self.id) && !is_over {
            return Ok(false);
        }
        let spec = lease.spec.get_or_insert_with(LeaseSpec::default);
        spec.holder_identity = Some(self.id.clone());
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or_default() + 1);
        let params = PostParams::default();
        let written = match version.is_empty() {
            true => self.leases.create(&params, &lease).await,
            false => self.leases.replace("leader", &params, &lease).await,
        };
        Ok(written.is_ok())
    }
}

/// Makes a map for each widget: with a generated name if there is none, or with the widget's name. Ends when it has lost the
/// lease.
async fn operator(client: Client, generates: bool) -> kube::Result<()> {
    let leads = Cell::new(false);
    let mut replica = Replica::new(client.clone());
    let election = async {
        loop {
            let led = leads.replace(replica.leads().await?);
            if led && !leads.get() {
                return Ok(());
            }
            tokio::time::sleep(RENEWAL).await;
        }
    };
    futures::future::select(pin!(election), pin!(work(client, &leads, generates))).await.factor_first().0
}

async fn work(client: Client, leads: &Cell<bool>, generates: bool) -> kube::Result<()> {
    let all: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &widgets());
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    loop {
        if leads.get() {
            let found = maps.list(&ListParams::default().labels("of")).await?;
            for widget in all.list(&ListParams::default()).await?.items {
                let mut map = child(&widget, true);
                let has_map = found.items.iter().any(|found| found.labels() == map.labels());
                if has_map || widget.metadata.deletion_timestamp.is_some() {
                    continue;
                }
                if generates {
                    map.metadata.name = None;
                    map.metadata.generate_name = Some("map-".to_owned());
                }
                unless(409, maps.create(&PostParams::default(), &map).await.map(drop))?;
            }
        }
        tokio::time::sleep(RENEWAL).await;
    }
}

fn explored(generates: bool) -> Result<Report, Box<Failed>> {
    Explore::new("replicas").schedules(60).time(HOUR).run(move |sim| async move {
        sim.crds(CRD);
        sim.replicas(2, move |client| operator(client, generates));
        sim.apply(SMALL);
    })
}

#[test]
fn write_after_the_lease_is_lost_is_found() {
    let failed = explored(true).unwrap_err();
    assert!(failed.failure().contains("ConfigMap default/map-* ("), "{failed}");
    assert!(failed.plan().starts_with("pause-"), "{failed}");
    explored(false).unwrap_or_else(|failed| panic!("{failed}"));
}
