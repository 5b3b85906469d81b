//! Runs one schedule from the first step to the last, and judges it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::beginning::{Beginning, Trial};
use super::changes::with_changes;
use super::cluster::{Cluster, Kind};
use super::endless::{LONG_SERIES, SERIES};
use super::fault::{Fault, Release, Restart};
use super::judge::{Observation, QUIET_AS_WANTED};
use super::oracle::Failure;
use super::plan::{Plan, Site, SiteKind};
use super::sim::{Sim, Spec, Step};
use super::sim_runtime::SimRuntime;
use super::state::{Mask, State};
use super::steps::{Variants, add_fields, add_invalid, add_variants, all_steps};
use super::watches::Held;
use super::world::World;

/// The time limit of a step.
const LONGEST: Duration = Duration::from_secs(2 * 60 * 60);
/// The bounds of the time that passes at once.
const TICK: Duration = Duration::from_millis(10);
pub(super) const LONGEST_TICK: Duration = Duration::from_secs(60);
/// The factor of the next tick if nothing happened.
const TICK_GROWTH: u32 = 4;
/// The number of writes in a step after which it may be one that never ends.
const MANY_WRITES: usize = 1_000;

/// Resources whose objects result in pods.
const WORKLOADS: &[&str] = &[
    "pods",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
    "cronjobs",
    "replicationcontrollers",
];

/// Describes a scenario again.
pub(super) type Scenario<'a> = &'a dyn Fn(Sim) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

/// The expectations from runs without faults.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    /// The states after each step.
    pub(super) states: Vec<State>,
    pub(super) mask: Mask,
    /// Whether an operator that only sees the last state ends in another one, so that only runs that see every step are
    /// comparable.
    pub(super) depends_on_history: bool,
    /// The existing objects after each step, and those that operators delete in it.
    pub(super) objects: Vec<Seen>,
    /// The longest pause between requests of a settled operator that goes on making some.
    pub(super) pause_of_requests: Option<Duration>,
    /// Resources whose objects are compared.
    pub(super) resources: BTreeSet<(String, String)>,
}

/// Objects of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) present: BTreeSet<String>,
    /// The number of deletions of each object.
    pub(super) deleted: BTreeMap<String, usize>,
    /// The objects that the operator deleted although they were in their final state of the step.
    pub(super) replaced: BTreeSet<String>,
}

/// The result of a run.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) failure: Option<Failure>,
    /// Remains of deleted custom resources. Only a run without faults is judged by them: others have to end as it does.
    pub(super) leaked: Option<Failure>,
    /// The number of the user's described steps.
    pub(super) users: usize,
    pub(super) replicas: bool,
    pub(super) clock: bool,
    pub(super) states: Vec<State>,
    pub(super) objects: Vec<Seen>,
    pub(super) story: Vec<String>,
    /// What the writes have changed, each with its line in the story.
    pub(super) changes: BTreeMap<usize, String>,
    /// The longest pause between requests of a settled operator that goes on making some.
    pub(super) pause_of_requests: Option<Duration>,
    pub(super) sites: Vec<Site>,
    pub(super) fired: Vec<String>,
    pub(super) written: BTreeSet<(String, String)>,
    pub(super) ignored: Vec<(String, String)>,
    pub(super) variants: Variants,
    pub(super) steps: usize,
    /// The last step that was taken.
    pub(super) last: usize,
    /// Whether some states between steps were hidden from the operator.
    pub(super) history: bool,
    pub(super) moves: u64,
    /// Hashes of the states that were judged.
    pub(super) seen: Vec<u64>,
}

impl Outcome {
    fn failed(failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }

    /// Returns the story with what writes have changed.
    pub(super) fn told(&self) -> Vec<String> {
        with_changes(&self.story, &self.changes)
    }

    /// Reports whether objects that result in pods were written.
    pub(super) fn has_workloads(&self) -> bool {
        self.written.iter().any(|(_, resource)| WORKLOADS.contains(&resource.as_str()))
    }
}

/// The purpose of a run.
#[derive(Clone, Copy)]
pub(super) enum RunPurpose<'a> {
    /// Finds the resources that are written, without waiting for later effects.
    Scout,
    /// Finds the states to expect.
    Learn,
    /// Finds differences to these states without a fault.
    Compare(&'a Expected),
    /// Fails if the states differ.
    Judge(&'a Expected),
    /// Waits for writes that never end.
    Endure,
}

impl<'a> RunPurpose<'a> {
    pub(super) fn expected(self) -> Option<&'a Expected> {
        match self {
            Self::Scout | Self::Learn | Self::Endure => None,
            Self::Compare(expected) | Self::Judge(expected) => Some(expected),
        }
    }
}

/// The options of a run.
#[derive(Clone, Copy)]
pub(super) struct Options<'a> {
    pub(super) beginning: &'a Beginning,
    pub(super) seed: u64,
    pub(super) plan: &'a Plan,
    pub(super) purpose: RunPurpose<'a>,
    /// The resources to compare.
    pub(super) resources: &'a BTreeSet<(String, String)>,
    /// The step at which the operators start, if not before all steps.
    pub(super) late: Option<usize>,
    /// Whether pods run. Their node is busy even when nothing happens.
    pub(super) node: bool,
    /// The changes of fields with which the operator fails.
    pub(super) unfit: &'a BTreeSet<String>,
}

impl Options<'_> {
    fn kind(&self) -> Kind {
        Kind { seed: self.seed, node: self.node }
    }
}

/// Runs a schedule.
pub(super) fn run(scenario: Scenario<'_>, options: Options<'_>) -> Outcome {
    // The jitter of kubesmith-runtime and kube-runtime comes from this generator of the thread.
    fastrand::seed(options.seed);
    super::progress::begins(options.plan);
    let (cluster, mut spec) = match described(scenario, options) {
        Ok(described) => described,
        Err(error) => return Outcome::failed(Failure::Setup(error)),
    };
    let variants = varied(&mut spec, &cluster, options);
    spec.leave_out(&options.plan.without);
    if spec.steps.is_empty() || spec.operators.is_empty() {
        return Outcome::failed(Failure::Setup(
            "it needs an operator and a step: call `operator` and `apply`".to_owned(),
        ));
    }
    let steps = all_steps(&spec, &variants, &cluster, options.plan.again);
    let run = Run {
        world: World::new(cluster, spec, options.plan.clone()),
        options,
        states: Vec::new(),
        objects: Vec::new(),
        history: false,
        jumped: false,
        pods_failed: false,
        deletes: false,
        look: None,
    };
    Outcome { variants, ..run.through(&steps) }
}

/// Adds the schedule's steps of varied objects.
fn varied(spec: &mut Spec, cluster: &Cluster, options: Options<'_>) -> Variants {
    let trial = Trial::new(options.beginning, options.kind(), cluster, spec.webhooks.clone());
    match (options.plan.invalid, options.plan.fields) {
        (Some(number), _) => add_invalid(spec, &trial, number),
        (None, Some(number)) => add_fields(spec, &trial, number, options.unfit),
        (None, None) => add_variants(spec, &trial),
    }
}

/// The scenario, and a server with its definitions.
fn described(scenario: Scenario<'_>, options: Options<'_>) -> Result<(Cluster, Spec), String> {
    let runtime = SimRuntime::open()?;
    let clock = options.beginning.clock();
    let sim = Sim::new(clock.clone());
    super::panics::caught(|| runtime.block_on(scenario(sim.clone())))?;
    let mut spec = sim.into_spec();
    if let Some(error) = spec.errors.pop() {
        return Err(error);
    }
    let cluster = options.beginning.cluster(runtime, clock, options.kind(), &spec.definitions)?;
    cluster.serve_webhooks(&spec.webhooks);
    Ok((cluster, spec))
}

fn hash(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// A run in progress.
pub(super) struct Run<'a> {
    pub(super) world: World,
    pub(super) options: Options<'a>,
    pub(super) states: Vec<State>,
    pub(super) objects: Vec<Seen>,
    /// Whether some states between steps were hidden from the operator.
    pub(super) history: bool,
    /// Whether the clock has jumped.
    pub(super) jumped: bool,
    /// Whether pods have failed, so that an operator may have moved a role from one to another.
    pub(super) pods_failed: bool,
    /// Whether the user deletes objects in this step.
    pub(super) deletes: bool,
    pub(super) look: Option<Rc<Observation>>,
}

impl Run<'_> {
    fn through(mut self, steps: &[Step]) -> Outcome {
        let users = self.world.spec.steps.len();
        let applies = |step: &Step| matches!(step, Step::Apply(_));
        let endures = steps[..users.min(steps.len())].iter().rposition(applies);
        let endures = endures.filter(|_| matches!(self.options.purpose, RunPurpose::Endure));
        for (i, step) in steps.iter().enumerate() {
            if self.world.failure.is_some() {
                break;
            }
            self.disturb_pods(i);
            self.world.step = i;
            if i == 0 && self.options.late.is_none_or(|late| late == 0) {
                self.start_all();
            }
            if let Step::Apply(all) = step {
                self.wait_for_deletions(all);
            }
            self.take_step(i, step);
            if i > 0 && self.options.late == Some(i) {
                self.start_all();
            }
            let is_last = i + 1 == steps.len();
            let next_is_early = !is_last && self.is_early(i + 1);
            self.settle(is_last, next_is_early);
            if i + 1 == users && !next_is_early && self.world.failure.is_none() {
                self.check_end();
            }
            if self.options.late == Some(i) && i + 1 < users {
                break;
            }
            if endures == Some(i) {
                self.endure();
                break;
            }
        }
        let leaked = if steps.len() > users && self.world.failure.is_none() { self.leaks() } else { None };
        self.finish(steps.len(), leaked)
    }

    /// Waits until terminating objects are gone before a user applies them, as `kubectl delete` does.
    fn wait_for_deletions(&mut self, objects: &[Value]) {
        let begin = self.world.now;
        while self.world.failure.is_none()
            && self.world.now - begin < LONGEST
            && self.world.cluster.is_deleting(objects)
        {
            self.world.end_waiting();
            if !self.world.pump() && !self.world.release(|held| held == Held::Quiet) {
                self.world.pass(LONGEST_TICK);
            }
        }
    }

    fn start_all(&mut self) {
        for i in 0..self.world.processes.len() {
            self.world.start(i);
        }
        // Its caches are filled before a user acts.
        self.world.pump();
    }

    /// Reports whether a step comes before all work has settled. This is decided before it.
    fn is_early(&self, next: usize) -> bool {
        let site = format!("step#{next}");
        self.options.plan.faults.iter().any(|planned| planned.fault == Fault::Early && planned.site == site)
    }

    /// Lets the faults of a step happen. Returns how long the garbage collector pauses, if it does.
    fn step_faults(&mut self, site: &str) -> Option<Release> {
        let mut pause = None;
        // The place may have several faults.
        while let Some(fault) = self.world.take_fault(site) {
            let world = &mut self.world;
            match fault {
                Fault::Down => {
                    world.tell("! the operator goes down");
                    (0..world.processes.len()).for_each(|i| world.crash(i, Restart::AfterStep));
                }
                Fault::Clock { back } => {
                    let way = if back { "back" } else { "forward" };
                    world.tell(&format!("! the clock jumps {way} by an hour"));
                    world.cluster.jump(back);
                    self.jumped = true;
                }
                Fault::Garbage(release) => {
                    world.pause_collector(release);
                    pause = Some(release);
                }
                _ => {}
            }
        }
        pause
    }

    fn take_step(&mut self, index: usize, step: &Step) {
        let world = &mut self.world;
        self.deletes = matches!(step, Step::Delete(_));
        let site = format!("step#{index}");
        let changes = world.changes.len();
        world.sites.push(Site {
            kind: SiteKind::Step,
            name: site.clone(),
            step: index,
            changes,
            calls_webhook: false,
            deletes: matches!(step, Step::Delete(_) | Step::RemoveMade),
        });
        let pause = self.step_faults(&site);
        let world = &mut self.world;
        world.deleted.clear();
        world.doomed.clear();
        world.old_entries = world.entries();
        if index == 0 {
            world.first_entries = world.old_entries.clone();
        }
        world.step_versions.push(world.cluster.objects().version());
        let removed;
        let before = world.cluster.objects().version();
        let step = match step {
            Step::RemoveMade => {
                removed = Step::Delete(Rc::new(world.removable()));
                &removed
            }
            Step::Apply(_) | Step::Delete(_) => step,
        };
        match world.cluster.perform(step) {
            Ok(lines) => {
                lines.iter().for_each(|line| world.tell(&format!("user {line}")));
                world.note_applied(step, before);
            }
            Err(error) => return world.fail(Failure::Setup(error)),
        }
        let version = world.cluster.objects().version();
        world.acted_versions.push(version);
        for resource in world.resources_of(step) {
            if world.spec.is_custom(&resource.0, &resource.1) {
                world.changes.push(version);
            }
            world.written.insert(resource);
        }
        world.last_change = world.now;
        world.pull_watches();
        world.check_always();
        for i in 0..world.processes.len() {
            if world.processes[i].waits_for_step {
                world.start(i);
            }
        }
        world.release(|held| held == Held::AfterStep);
        // A pause that begins with this step outlasts it.
        world.collector = pause.map(|release| Held::until(release, world.now)).or(world.collector);
    }

    /// Runs until no work is left.
    pub(super) fn settle(&mut self, is_last: bool, next_is_early: bool) {
        if next_is_early {
            self.history = true;
            return self.go_on_a_little();
        }
        let (begin, mut tick) = (self.world.now, TICK);
        let (mut many, mut endless) = (self.world.changes_of_objects.len() + MANY_WRITES, None);
        while self.world.failure.is_none() {
            if self.world.pump() {
                tick = TICK;
            }
            if self.world.release(|held| held == Held::Quiet) {
                continue;
            }
            if !is_last && self.waits_for_next_step() {
                self.history = true;
                break;
            }
            if is_last {
                self.world.end_waiting();
            }
            let lasted = self.world.now - begin;
            if lasted >= QUIET_AS_WANTED {
                self.world.discount_ignored();
            }
            let quiet = self.world.now.saturating_sub(self.world.last_change);
            // Comparing all objects is the most expensive part, and nothing settles earlier.
            let need = if quiet < QUIET_AS_WANTED { QUIET_AS_WANTED } else { self.quiet_needed() };
            if quiet >= need {
                break;
            }
            let is_long = lasted >= LONGEST;
            if is_long || self.world.changes_of_objects.len() > many {
                let least = if is_long { SERIES } else { LONG_SERIES };
                many += MANY_WRITES;
                endless = self.world.endless(begin, begin + lasted / 2, least);
                if is_long || endless.is_some() {
                    break;
                }
            }
            self.world.pass(tick.min(need - quiet));
            tick = (tick * TICK_GROWTH).min(LONGEST_TICK);
        }
        self.judge();
        if let Some(endless) = endless.filter(|_| !self.is_disturbed()) {
            self.world.fail(endless);
        }
    }

    /// Delivers a few events before the next step: a random number with a random order, otherwise none.
    fn go_on_a_little(&mut self) {
        let moves = self.world.dice.as_mut().map_or(0, |dice| dice.below(12));
        for _ in 0..moves {
            self.world.run_processes();
            self.world.move_on();
        }
        self.states.push(State::new());
        self.objects.push(Seen::default());
    }

    pub(super) fn waits_for_next_step(&self) -> bool {
        self.world.processes.iter().any(|process| process.waits_for_step)
            || self.world.is_held(|held| held == Held::AfterStep)
    }

    fn finish(mut self, steps: usize, leaked: Option<Failure>) -> Outcome {
        (0..self.world.processes.len()).for_each(|i| self.world.stop(i));
        let world = self.world;
        let is_told = world.failure.is_some() || matches!(self.options.purpose, RunPurpose::Learn);
        let changes = if is_told { world.told_changes() } else { BTreeMap::new() };
        Outcome {
            failure: world.failure,
            leaked,
            users: world.spec.steps.len(),
            replicas: world.spec.replicas,
            clock: world.spec.uses_clock,
            objects: self.objects,
            story: world.story,
            changes,
            pause_of_requests: world.pause_of_requests,
            sites: world.sites,
            fired: world.fired,
            written: world.written,
            ignored: world.spec.ignored,
            variants: Variants::default(),
            steps,
            last: world.step,
            history: self.history,
            moves: world.moves,
            seen: self.states.iter().map(hash).collect(),
            states: self.states,
        }
    }
}
