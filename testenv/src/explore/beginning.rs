//! The beginning of all runs of a search. It is made once: starting a server and installing definitions takes longer than most runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use kubesmith_apiserver::{Clock as _, ManualClock, Snapshot, SystemClock};
use serde_json::{Value, json};

use super::cluster::{Cluster, Kind};
use super::sim::Webhook;
use super::sim_runtime::SimRuntime;
use super::vary::{self, Fields};

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
    /// Forms of objects, one after the other, and whether a server takes them.
    accepted: RefCell<BTreeMap<String, bool>>,
    /// The variants and the changes of objects, as the server takes them.
    variants: RefCell<BTreeMap<String, Rc<Vec<Value>>>>,
    fields: RefCell<BTreeMap<String, Rc<Fields>>>,
}

/// A server beside that of a run, which is asked for objects.
pub(super) struct Trial<'a> {
    beginning: &'a Beginning,
    kind: Kind,
    /// The server of the run, before its first step.
    cluster: &'a Cluster,
    webhooks: Vec<Webhook>,
    server: RefCell<Option<Cluster>>,
}

/// What an object leads to; it is made once.
fn known<T>(all: &RefCell<BTreeMap<String, Rc<T>>>, object: &Value, make: impl FnOnce() -> T) -> Rc<T> {
    let text = object.to_string();
    if let Some(known) = all.borrow().get(&text) {
        return known.clone();
    }
    let made = Rc::new(make());
    all.borrow_mut().insert(text, made.clone());
    made
}

impl<'a> Trial<'a> {
    /// A server that is started when it is first asked.
    pub(super) fn new(
        beginning: &'a Beginning,
        kind: Kind,
        cluster: &'a Cluster,
        webhooks: Vec<Webhook>,
    ) -> Self {
        Self { beginning, kind, cluster, webhooks, server: RefCell::default() }
    }

    /// Whether a server without objects takes these forms of one, one after the other.
    pub(super) fn accepts(&self, forms: &[&Value]) -> bool {
        let text = json!(forms).to_string();
        if let Some(known) = self.beginning.accepted.borrow().get(&text) {
            return *known;
        }
        let accepts = self.ask(forms).unwrap_or(false);
        self.beginning.accepted.borrow_mut().insert(text, accepts);
        accepts
    }

    /// The variants of an object with this schema.
    pub(super) fn variants(&self, object: &Value, schema: &Value) -> Rc<Vec<Value>> {
        let make = || vary::variants(object, schema, &|forms| self.accepts(forms));
        known(&self.beginning.variants, object, make)
    }

    /// The changes of single fields of an object with this schema.
    pub(super) fn fields(&self, object: &Value, schema: &Value) -> Rc<Fields> {
        known(&self.beginning.fields, object, || vary::fields(object, schema, &|forms| self.accepts(forms)))
    }

    fn ask(&self, forms: &[&Value]) -> Result<bool, String> {
        let mut server = self.server.borrow_mut();
        let asked = match server.take() {
            Some(asked) => asked,
            None => {
                let (runtime, clock) = (SimRuntime::open()?, self.beginning.clock());
                let asked = Cluster::new(runtime, clock, self.kind, self.cluster.snapshot())?;
                asked.serve_webhooks(&self.webhooks);
                asked
            }
        };
        let takes = forms.iter().all(|form| asked.takes(form));
        // A server that keeps the object is of no more use.
        let is_empty = forms.first().is_some_and(|form| asked.is_rid_of(form));
        *server = is_empty.then_some(asked);
        Ok(takes)
    }
}

impl Beginning {
    /// Runs begin now.
    pub(super) fn now() -> Self {
        Self {
            time: SystemClock.now(),
            prepared: RefCell::default(),
            accepted: RefCell::default(),
            variants: RefCell::default(),
            fields: RefCell::default(),
        }
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
}
