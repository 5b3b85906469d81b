//! The beginning of all runs of a search. It is made once: starting a server and installing definitions takes longer than most runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use kubesmith_apiserver::{Clock as _, ManualClock, Snapshot, SystemClock};
use serde_json::Value;

use super::cluster::{Cluster, Kind};
use super::sim_runtime::SimRuntime;

/// A server with its definitions after its controllers have come to rest.
struct Prepared {
    kind: Kind,
    definitions: Vec<Value>,
    snapshot: Snapshot,
}

/// The beginning of all runs.
pub(super) struct Beginning {
    time: Timestamp,
    prepared: RefCell<Vec<Prepared>>,
    /// Objects that a server without any was asked for, and whether it takes them.
    accepted: RefCell<BTreeMap<String, bool>>,
}

impl Beginning {
    /// Runs begin now.
    pub(super) fn now() -> Self {
        Self { time: SystemClock.now(), prepared: RefCell::default(), accepted: RefCell::default() }
    }

    /// A clock that shows the beginning.
    pub(super) fn clock(&self) -> Arc<ManualClock> {
        Arc::new(ManualClock::new(self.time))
    }

    /// A server with these definitions.
    ///
    /// # Errors
    /// Returns why there can be none.
    pub(super) fn cluster(
        &self,
        runtime: SimRuntime,
        clock: Arc<ManualClock>,
        kind: Kind,
        definitions: &[Value],
    ) -> Result<Cluster, String> {
        let fits = |prepared: &&Prepared| prepared.kind == kind && prepared.definitions == definitions;
        let known = self.prepared.borrow().iter().find(fits).map(|prepared| prepared.snapshot.clone());
        let snapshot = match known {
            Some(snapshot) => snapshot,
            None => self.prepare(kind, definitions)?,
        };
        Cluster::new(runtime, clock, kind, Some(snapshot))
    }

    fn prepare(&self, kind: Kind, definitions: &[Value]) -> Result<Snapshot, String> {
        let mut cluster = Cluster::new(SimRuntime::open()?, self.clock(), kind, None)?;
        // What the controllers make meets no webhook: none is served yet.
        cluster.runtime.until_idle();
        cluster.install(definitions)?;
        cluster.runtime.until_idle();
        let snapshot = cluster.snapshot().ok_or("the server has ended")?;
        let definitions = definitions.to_vec();
        self.prepared.borrow_mut().push(Prepared { kind, definitions, snapshot: snapshot.clone() });
        Ok(snapshot)
    }

    /// Whether a server without objects takes this one.
    pub(super) fn accepts(&self, cluster: &Cluster, object: &Value) -> bool {
        let text = object.to_string();
        if let Some(known) = self.accepted.borrow().get(&text) {
            return *known;
        }
        let accepts = cluster.accepts(object);
        self.accepted.borrow_mut().insert(text, accepts);
        accepts
    }
}
