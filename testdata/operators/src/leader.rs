//! Two leaders: a replica checks that it leads, stands still, and writes when another one leads already.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use kube::ResourceExt as _;
use kube::api::{Api, PostParams};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::frame::{has_finalizer, is_deleted, number, unless};
use super::{Case, Pattern, Step, reconcile};

const LEASE: &str = "operators";
const RENEWS: Duration = Duration::from_secs(5);
const EXPIRES: Duration = Duration::from_secs(15);

/// The patterns.
pub const PATTERNS: &[Pattern] = &[Pattern {
    name: "late write of an old leader",
    bugs: &[],
    steps: &[Step::Apply("{size: 1}"), Step::Apply("{size: 2}")],
    old_lists: false,
    replicas: 2,
    reconcile: reconcile!(late_write),
}];

/// Takes the lease when it is free or has not been renewed for long, and renews it; `leads` shows how it stands.
pub async fn elect(leases: Api<Lease>, me: String, leads: Rc<Cell<bool>>) {
    let mut seen = (None, Instant::now());
    loop {
        leads.set(renew(&leases, &me, &mut seen).await.unwrap_or(false));
        sleep(RENEWS).await;
    }
}

async fn renew(leases: &Api<Lease>, me: &str, seen: &mut (Option<String>, Instant)) -> kube::Result<bool> {
    let spec = Some(LeaseSpec { holder_identity: Some(me.to_owned()), ..LeaseSpec::default() });
    let Some(mut lease) = leases.get_opt(LEASE).await? else {
        let mut lease = Lease { spec, ..Lease::default() };
        lease.metadata.name = Some(LEASE.to_owned());
        return leases.create(&PostParams::default(), &lease).await.map(|_| true);
    };
    if seen.0 != lease.resource_version() {
        *seen = (lease.resource_version(), Instant::now());
    }
    let is_mine = lease.spec.as_ref().and_then(|spec| spec.holder_identity.as_deref()) == Some(me);
    if !is_mine && seen.1.elapsed() < EXPIRES {
        return Ok(false);
    }
    let renewals =
        lease.annotations().get("renewals").and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    lease.annotations_mut().insert("renewals".to_owned(), (renewals + 1).to_string());
    lease.spec = spec;
    unless(409, leases.replace(LEASE, &PostParams::default(), &lease).await.map(drop))?;
    Ok(is_mine)
}

/// Tells an outside system the size, then notes that in the status, unless the widget has changed meanwhile. The system takes the last
/// word, whoever says it; with the repair it takes the newest.
async fn late_write(case: &Case) -> kube::Result<()> {
    let seen = &case.seen;
    while !case.leads.get() {
        sleep(RENEWS).await;
    }
    for widget in seen.widgets.values() {
        let (name, size) = (widget.name_any(), number(widget, "size"));
        let version: u64 =
            widget.resource_version().and_then(|version| version.parse().ok()).unwrap_or_default();
        // What was forgotten stays so.
        let newest = format!("{name} resourceVersion");
        let repaired = case.repaired;
        let is_late = move |nodes: &BTreeMap<String, u64>, newest: &str| {
            repaired && version < nodes.get(newest).copied().unwrap_or_default()
        };
        match (is_deleted(widget), has_finalizer(widget)) {
            (true, true) => {
                let forget = move |nodes: &mut BTreeMap<String, u64>| {
                    if !is_late(nodes, &newest) {
                        nodes.insert(newest, version);
                        nodes.remove(&name);
                    }
                };
                while case.nodes.call("forget one", forget.clone()).await.is_err() {}
                seen.finalize(widget, false).await?;
            }
            (true, false) => {}
            (false, false) => seen.finalize(widget, true).await?,
            (false, true) if widget.data["status"]["set"] == size => {}
            (false, true) => {
                let set = move |nodes: &mut BTreeMap<String, u64>| {
                    if !is_late(nodes, &newest) {
                        nodes.insert(newest, version);
                        nodes.insert(name, size);
                    }
                };
                while case.nodes.call(&format!("set one to {size}"), set.clone()).await.is_err() {}
                seen.set_status_of_version(widget, json!({"set": size})).await?;
            }
        }
    }
    Ok(())
}
