//! The description of a scenario: definitions, operators, a user's steps, and checks.

use std::cell::RefCell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use kube::{Client, Resource};
use kubesmith_apiserver::{Clock, ManualClock, Objects};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::{BoxError, Service};

use super::gate::Connection;
use super::hooks::{Answer, answer, is_configuration};
use super::outside::Outside;
use super::sim_runtime::Main;
use crate::files;

/// Starts an operator's process.
pub(super) type Factory = Rc<dyn Fn(Connection) -> Main>;

/// A check of the cluster; its error describes the violation.
pub(super) type Check = Rc<dyn Fn(&View) -> Result<(), String>>;

/// Starts a webhook server.
pub(super) type Webhook = Rc<dyn Fn(Client) -> Answer>;

/// An action of a user.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Apply(Rc<Vec<Value>>),
    Delete(Rc<Vec<Value>>),
    /// The user removes the operators' objects.
    RemoveMade,
}

/// Returns the state of an outside system.
pub(super) type Show = Rc<dyn Fn() -> Value>;

/// The description of a scenario.
#[derive(Clone)]
pub(super) struct Spec {
    /// CRDs, and configurations of webhooks.
    pub(super) definitions: Vec<Value>,
    pub(super) webhooks: Vec<Webhook>,
    pub(super) steps: Vec<Step>,
    pub(super) operators: Vec<Factory>,
    /// Whether an operator has replicas.
    pub(super) replicas: bool,
    pub(super) outside: Vec<(String, Show)>,
    pub(super) uses_clock: bool,
    pub(super) always: Vec<Check>,
    pub(super) eventually: Vec<Check>,
    pub(super) ignored: Vec<(String, String)>,
    /// Kinds whose objects are varied, each an `apiVersion` and a kind.
    pub(super) varied: Vec<(String, String)>,
    pub(super) keeps: bool,
    pub(super) errors: Vec<String>,
}

thread_local! {
    /// Files read so far. A thread explores one scenario, and each schedule describes it again.
    static FILES: RefCell<Vec<(PathBuf, Rc<Vec<Value>>)>> = const { RefCell::new(Vec::new()) };
}

fn documents(path: &Path) -> Result<Rc<Vec<Value>>, String> {
    let known =
        FILES.with_borrow(|files| files.iter().find(|(known, _)| known == path).map(|(_, all)| all.clone()));
    if let Some(known) = known {
        return Ok(known);
    }
    let read = match path.to_str().filter(|text| text.contains('\n')) {
        Some(text) => files::read_text(Path::new("text"), text),
        None => files::read_all(path),
    };
    let read = Rc::new(read.map_err(|error| error.to_string())?);
    FILES.with_borrow_mut(|files| files.push((path.to_owned(), read.clone())));
    Ok(read)
}

/// Describes one scenario. [`explore`](super::explore) passes it to the scenario's closure, once for each schedule.
///
/// Clones describe the same scenario. Methods with a path accept a file, a folder of files that end in `yaml`, `yml` or
/// `json`, or the YAML text itself, which has more than one line. Paths are relative to the package's folder, in which
/// Cargo runs tests.
#[derive(Clone)]
pub struct Sim {
    spec: Rc<RefCell<Spec>>,
    clock: Arc<ManualClock>,
}

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sim").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl Sim {
    pub(super) fn new(clock: Arc<ManualClock>) -> Self {
        let spec = Spec {
            definitions: Vec::new(),
            webhooks: Vec::new(),
            steps: Vec::new(),
            operators: Vec::new(),
            replicas: false,
            outside: Vec::new(),
            uses_clock: false,
            always: Vec::new(),
            eventually: Vec::new(),
            ignored: Vec::new(),
            varied: Vec::new(),
            keeps: false,
            errors: Vec::new(),
        };
        Self { spec: Rc::new(RefCell::new(spec)), clock }
    }

    pub(super) fn into_spec(self) -> Spec {
        self.spec.borrow().clone()
    }

    fn read(&self, path: &Path) -> Rc<Vec<Value>> {
        documents(path).unwrap_or_else(|error| {
            self.spec.borrow_mut().errors.push(error);
            Rc::default()
        })
    }

    /// Installs the CRDs of a path before anything starts. Documents of other kinds are skipped.
    pub fn crds(&self, path: impl AsRef<Path>) {
        let all = self.read(path.as_ref());
        let crds = all.iter().filter(|value| value["kind"] == "CustomResourceDefinition").cloned();
        self.spec.borrow_mut().definitions.extend(crds);
    }

    /// Adds webhooks: admission webhooks whose configurations are at a path, and conversion webhooks of installed CRDs.
    /// The server calls the service that `factory` returns, without socket and certificate. A webhook server of
    /// kubesmith-runtime becomes a service with `into_service`; any other tower service works, too. Faults let webhooks
    /// be down, fail, and respond too late while an operator reads or writes.
    pub fn webhooks<S, B>(&self, path: impl AsRef<Path>, factory: impl Fn(Client) -> S + 'static)
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let all = self.read(path.as_ref());
        let configurations = all.iter().filter(|value| is_configuration(value)).cloned();
        let mut spec = self.spec.borrow_mut();
        spec.definitions.extend(configurations);
        spec.webhooks.push(Rc::new(move |client| answer(factory(client))));
    }

    /// Adds an operator: a process of its own, which `factory` starts. It is called again after every crash, so that
    /// the operator starts with empty memory; only statics survive. The future runs on a single thread with simulated
    /// time.
    ///
    /// A process that ends, with or without an error, is restarted 10 simulated seconds later.
    pub fn operator<F, Fut>(&self, factory: F)
    where
        F: Fn(Client) -> Fut + 'static,
        Fut: Future + 'static,
    {
        self.replicas(1, factory);
    }

    /// Adds an operator with several processes, as the replicas of a Deployment. They have to elect a leader. A
    /// schedule can pause one of them between the check of its lease and a write, until another one has taken over.
    pub fn replicas<F, Fut>(&self, number: usize, factory: F)
    where
        F: Fn(Client) -> Fut + 'static,
        Fut: Future + 'static,
    {
        self.processes(number, move |connection| factory(Client::new(connection, "default")));
    }

    /// Adds an operator whose client is of another version of kube, or of another library: `factory` creates the client
    /// from a connection, such as `kube::Client::new(connection, "default")`.
    pub fn operator_over<F, Fut>(&self, factory: F)
    where
        F: Fn(Connection) -> Fut + 'static,
        Fut: Future + 'static,
    {
        self.processes(1, factory);
    }

    fn processes<F, Fut>(&self, number: usize, factory: F)
    where
        F: Fn(Connection) -> Fut + 'static,
        Fut: Future + 'static,
    {
        let factory = Rc::new(factory);
        let start: Factory = Rc::new(move |connection| {
            let factory = factory.clone();
            // Called on the operator's own runtime, which clients need.
            Box::pin(async move {
                let _ = factory(connection).await;
            })
        });
        let mut spec = self.spec.borrow_mut();
        spec.replicas |= number > 1;
        spec.operators.extend(std::iter::repeat_n(start, number));
    }

    /// Adds the model of an outside system, such as a database. Operators call it through the returned handle, with the same
    /// faults as requests. Its state is compared like an object of the kind `Outside`.
    pub fn outside<T: Serialize + Send + 'static>(&self, name: &str, state: T) -> Outside<T> {
        let outside = Outside::new(name, state);
        let shown = outside.clone();
        let show: Show = Rc::new(move || shown.look(|state| serde_json::to_value(state).unwrap_or_default()));
        self.spec.borrow_mut().outside.push((name.to_owned(), show));
        outside
    }

    /// Adds a step: a user applies the objects of a path. A step begins when all work of the one before it has settled,
    /// unless a schedule changes that.
    pub fn apply(&self, path: impl AsRef<Path>) {
        let all = self.read(path.as_ref());
        self.spec.borrow_mut().steps.push(Step::Apply(all));
    }

    /// Adds a step: a user deletes the objects of a path.
    pub fn delete(&self, path: impl AsRef<Path>) {
        let all = self.read(path.as_ref());
        self.spec.borrow_mut().steps.push(Step::Delete(all));
    }

    /// Adds steps after the others: a user changes the last applied object of this kind into a variant and back, and
    /// the objects must return to the state that they had before. The CRD's schema decides the variants: one has other
    /// values in all fields of the spec, the other has no optional fields. Changes that the server refuses are skipped.
    pub fn vary<K: Resource<DynamicType = ()>>(&self) {
        self.vary_kind(&K::api_version(&()), &K::kind(&()));
    }

    /// As [`vary`](Self::vary), for a kind without a type of this version of kube.
    pub fn vary_kind(&self, api_version: &str, kind: &str) {
        self.spec.borrow_mut().varied.push((api_version.to_owned(), kind.to_owned()));
    }

    /// Skips the last step, which deletes the applied custom resources.
    pub fn keep(&self) {
        self.spec.borrow_mut().keeps = true;
    }

    /// Excludes a field, such as `"status.startedBy"`, of objects of a kind from comparisons.
    pub fn ignore(&self, kind: &str, field: &str) {
        self.spec.borrow_mut().ignored.push((kind.to_owned(), field.to_owned()));
    }

    /// Adds a check that must hold after every write. It returns nothing, `bool`, or a `Result` with a text, and may
    /// panic.
    pub fn always<V: Verdict>(&self, check: impl Fn(&View) -> V + 'static) {
        self.spec.borrow_mut().always.push(guarded(check));
    }

    /// Adds a check that must hold when all work has settled after the last of the user's steps, before the last deletion.
    pub fn eventually<V: Verdict>(&self, check: impl Fn(&View) -> V + 'static) {
        self.spec.borrow_mut().eventually.push(guarded(check));
    }

    /// Returns the server's clock, which simulated time moves, for operators with a configurable clock. Schedules let
    /// it jump by an hour.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.spec.borrow_mut().uses_clock = true;
        self.clock.clone()
    }
}

fn guarded<V: Verdict>(check: impl Fn(&View) -> V + 'static) -> Check {
    Rc::new(move |view| match catch_unwind(AssertUnwindSafe(|| check(view).into_result())) {
        Ok(result) => result,
        Err(panic) => Err(panic_text(&*panic)),
    })
}

/// Returns the message of a panic.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panicked".to_owned())
}

/// The result of a check.
pub trait Verdict {
    /// Returns the violation as a text.
    ///
    /// # Errors
    /// Returns the description of a violation, if there is one.
    fn into_result(self) -> Result<(), String>;
}

impl Verdict for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl Verdict for bool {
    fn into_result(self) -> Result<(), String> {
        if self { Ok(()) } else { Err("the check returned false".to_owned()) }
    }
}

impl<E: Display> Verdict for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

/// The current state of the cluster, for checks.
#[derive(Debug)]
pub struct View {
    objects: Objects,
}

impl View {
    pub(super) fn new(objects: Objects) -> Self {
        Self { objects }
    }

    /// Returns the objects of a kind in all namespaces, ordered by namespace and name; none of unknown kinds.
    #[must_use]
    pub fn objects(&self, api_version: &str, kind: &str) -> Vec<Value> {
        self.objects.list(api_version, kind, "").unwrap_or_default()
    }

    /// Returns the objects of a type in all namespaces. Objects that do not deserialize as `K` are skipped.
    #[must_use]
    pub fn list<K: Resource<DynamicType = ()> + DeserializeOwned>(&self) -> Vec<K> {
        let all = self.objects(&K::api_version(&()), &K::kind(&()));
        all.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect()
    }

    /// Returns an object, if it exists; cluster-scoped ones have the namespace `""`.
    #[must_use]
    pub fn get<K: Resource<DynamicType = ()> + DeserializeOwned>(
        &self,
        namespace: &str,
        name: &str,
    ) -> Option<K> {
        let found = self.objects.get(&K::api_version(&()), &K::kind(&()), namespace, name);
        serde_json::from_value(found.ok()??).ok()
    }
}
