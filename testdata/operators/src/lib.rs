//! Small operators with known bugs, and their repaired twins: the patterns behind the bugs that Sieve (OSDI 2022) found in ten operators,
//! <https://github.com/sieve-project/sieve/blob/main/docs/bugs.md>.
//!
//! An operator makes config maps for widgets. Their names say what they stand for in the original: pods, claims, certificates. Each is a
//! function that is called whenever a cache has changed, see [`frame`]. `case.repaired` chooses the twin.

pub mod frame;
pub mod intermediate;
pub mod leader;
pub mod stale;
pub mod unobserved;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use kube::api::{Api, DynamicObject};
use kubesmith_testenv::{Explore, Failed, Outside, Report};

use frame::{CRD, Seen, run};
use leader::elect;

/// What an operator works with.
pub struct Case {
    /// Its caches and clients.
    pub seen: Seen,
    /// An outside system: the nodes that run.
    pub nodes: Outside<BTreeMap<String, u64>>,
    /// What the operator remembers until it ends: the size of each widget.
    pub memory: Rc<RefCell<BTreeMap<String, u64>>>,
    /// Whether the replica leads.
    pub leads: Rc<Cell<bool>>,
    /// Whether the bug is repaired.
    pub repaired: bool,
}

impl Case {
    /// The widget as it is: for the buggy operator as its cache has it, for the repaired one as the server has it, which is asked because
    /// something is about to be destroyed.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn before_destroying(&self, widget: &DynamicObject) -> kube::Result<Option<DynamicObject>> {
        if !self.repaired {
            return Ok(Some(widget.clone()));
        }
        let fresh = self.seen.fresh(widget).await?;
        Ok(fresh.filter(|fresh| fresh.metadata.uid == widget.metadata.uid))
    }
}

/// A reconcile function, boxed.
pub type Reconcile = fn(Case) -> Pin<Box<dyn Future<Output = kube::Result<()>>>>;

/// What a user does to the widget `one`.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Applies it with this spec.
    Apply(&'static str),
    /// Deletes it.
    Delete,
}

/// A bug pattern.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// Its name.
    pub name: &'static str,
    /// The bugs of Sieve's list that it stands for, each with operator and kind.
    pub bugs: &'static [&'static str],
    /// What the user does.
    pub steps: &'static [Step],
    /// How many replicas the operator has.
    pub replicas: usize,
    /// Whether the operator takes old lists for its caches, which bugs of stale state need.
    pub old_lists: bool,
    /// The operator.
    pub reconcile: Reconcile,
}

/// Makes a [`Reconcile`] of an async function that borrows its case.
macro_rules! reconcile {
    ($function:path) => {
        |case| Box::pin(async move { $function(&case).await })
    };
}
pub(crate) use reconcile;

/// All patterns.
pub fn patterns() -> impl Iterator<Item = &'static Pattern> {
    stale::PATTERNS.iter().chain(intermediate::PATTERNS).chain(unobserved::PATTERNS).chain(leader::PATTERNS)
}

/// Explores the operator of a pattern.
///
/// # Errors
/// Returns the smallest failing schedule that was found.
pub fn explored(pattern: &'static Pattern, repaired: bool, schedules: usize) -> Result<Report, Box<Failed>> {
    // The number of schedules ends a search, on a slow machine too.
    let explore = Explore::new(pattern.name).schedules(schedules).time(Duration::from_secs(3600));
    explore.run(move |sim| async move {
        sim.crds(CRD);
        let nodes = sim.outside("nodes", BTreeMap::new());
        let starts = Cell::new(0);
        sim.replicas(pattern.replicas, move |client| {
            let (nodes, memory) = (nodes.clone(), Rc::<RefCell<_>>::default());
            starts.set(starts.get() + 1);
            let me = format!("replica-{}", starts.get());
            let leads = Rc::new(Cell::new(pattern.replicas == 1));
            let election = elect(Api::default_namespaced(client.clone()), me, leads.clone());
            let operator = run(client, pattern.old_lists, async move |seen| {
                let (nodes, memory, leads) = (nodes.clone(), memory.clone(), leads.clone());
                (pattern.reconcile)(Case { seen, nodes, memory, leads, repaired }).await
            });
            async move {
                tokio::select! {
                    biased;
                    ended = operator => ended,
                    () = election, if pattern.replicas > 1 => Ok(()),
                }
            }
        });
        for step in pattern.steps {
            let spec = if let Step::Apply(spec) = step { spec } else { "{}" };
            let widget = format!(
                "apiVersion: a.example/v1\nkind: Widget\nmetadata: {{name: one, namespace: default}}\nspec: {spec}\n"
            );
            match step {
                Step::Apply(_) => sim.apply(widget),
                Step::Delete => sim.delete(widget),
            }
        }
    })
}
