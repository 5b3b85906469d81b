//! Lists replacements for kube-rs's items. docs/from-kube-rs/migration.md explains each step.

/// An item of kube-rs with its replacement.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The item, or a module of several.
    pub path: &'static str,
    /// The step of the guide.
    pub step: u8,
    /// Advice.
    pub advice: &'static str,
}

const fn row(path: &'static str, step: u8, advice: &'static str) -> Row {
    Row { path, step, advice }
}

/// A dependency on another version of kube than the runtime's.
pub(super) const OLD_KUBE: Row = row(
    "kube",
    1,
    "update kube to 5 and k8s-openapi to 0.29 first: the runtime's API has their types, and two versions do not fit together",
);

const CONTROLLER: &str =
    "use `ControllerBuilder::new(NAME).for_(&informer).complete(reconciler)` and add it to a `Manager`";
const TEST_ENV: &str = "use `TestEnv::builder().crds([..]).start()`: an API server in the test's process";

/// A test that runs on demand only.
pub(super) const IGNORED_TEST: Row = row(
    "#[ignore]",
    2,
    "if it needs a cluster, take the attribute out, and its client from `TestEnv`: an API server in the \
     test's process",
);

/// The paths of `Controller`. Rows of its methods have the first.
pub(super) const CONTROLLERS: [&str; 2] =
    ["kube::runtime::Controller", "kube::runtime::controller::Controller"];

/// All items with replacements. The longest matching path wins.
pub const ROWS: &[Row] = &[
    row(
        "kube::CustomResource",
        1,
        "keep it: `kubesmith generate` writes CRD, clients, informers and listers from source",
    ),
    row("kube::KubeSchema", 1, "keep it: `kubesmith generate` reads it"),
    row(
        "kube::CustomResourceExt",
        1,
        "a program that prints CRDs can go: `kubesmith generate --only crd` writes them; `Kind::crd()` may stay in tests",
    ),
    row("envtest", 2, TEST_ENV),
    row("tower_test::mock", 2, TEST_ENV),
    row("kube::runtime", 3, "keep it beside informers: both take the same `kube::Client`"),
    row("kube::runtime::watcher", 3, "use an informer: `manager.factory().informer_for::<K>()`"),
    row("kube::runtime::metadata_watcher", 3, "use `SharedInformer<PartialObjectMeta<K>>`"),
    row("kube::runtime::reflector", 3, "use `Lister<K>` of an informer in place of the store"),
    row("kube::runtime::WatchStreamExt", 3, "add event handlers to an informer"),
    row("kube::runtime::Controller", 3, CONTROLLER),
    row("kube::runtime::Controller::owns", 3, "use `.owns(&informer)`, with the informer of the owned kind"),
    row(
        "kube::runtime::Controller::watches",
        3,
        "use `.watches(&informer, mapper)`; the mapper returns `ObjectKey`s in place of `ObjectRef`s",
    ),
    row("kube::runtime::Controller::shutdown_on_signal", 3, "use `manager.run(shutdown_signal()?)`"),
    row(
        "kube::runtime::Controller::graceful_shutdown_on",
        3,
        "use `manager.run(FUTURE)`, which ends with it",
    ),
    row(
        "kube::runtime::Controller::run",
        3,
        "implement `Reconciler`: the context is `self`; the error policy is `ControllerBuilder::error_policy`",
    ),
    row(
        "kube::runtime::reflector::ObjectRef",
        3,
        "use `cache::ObjectKey`: name and namespace, without the kind",
    ),
    row("kube::runtime::controller", 3, "use `kubesmith_runtime::controller`"),
    row("kube::runtime::controller::Controller", 3, CONTROLLER),
    row(
        "kube::runtime::controller::Action",
        3,
        "use `controller::Action`: `requeue` is `requeue_after`, `await_change` is `done`",
    ),
    row(
        "kube::runtime::finalizer",
        3,
        "use `controller::finalizer_fn` with `FinalizerEvent::Apply` and `Cleanup`",
    ),
    row("kube::runtime::predicates", 3, "use `Watch::on(&informer).filter(Predicate::generation_changed())`"),
    row("kube::runtime::events", 3, "use `Manager::event_recorder`"),
    row(
        "kube_leader_election",
        3,
        "use `ManagerBuilder::leader_election`, or `ManagerFlags` with `--leader-elect`",
    ),
    row(
        "kubert",
        3,
        "use `Manager`: leader election, probes, metrics and shutdown; `ManagerFlags` has the flags",
    ),
];
