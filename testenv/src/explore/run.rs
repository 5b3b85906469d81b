//! Carries out one schedule from the first step to the last, and judges it.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::cluster::Cluster;
use super::oracle::Failure;
use super::plan::{Fault, Plan, Restart, Site, SiteKind};
use super::sim::{Sim, Spec, Step, View};
use super::state::{Mask, State, normalise, scrub};
use super::vary;
use super::watches::Held;
use super::world::{World, target};

/// How long nothing has to be written before a step without faults has settled: longer than the periods after which operators
/// look again.
const QUIET: Duration = Duration::from_secs(11 * 60);
/// The same where the objects are known to be as wanted.
const QUIET_AS_WANTED: Duration = Duration::from_secs(30);
/// How long a write may be refused in a row until it is judged.
const QUIET_REFUSED: Duration = Duration::from_secs(30 * 60);
/// How long objects may differ while nothing is written: longer than the longest pause of client-go's rate limiter, 1000 s.
const PATIENCE: Duration = Duration::from_secs(20 * 60);
/// How long a step may take.
const LONGEST: Duration = Duration::from_secs(2 * 60 * 60);
/// The least and the most time that passes at once.
const TICK: Duration = Duration::from_millis(10);
const LONGEST_TICK: Duration = Duration::from_secs(60);
/// By what the next tick is longer, if nothing happened.
const TICK_GROWTH: u32 = 4;

/// Describes a scenario once more.
pub(super) type Scenario<'a> = &'a dyn Fn(Sim) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

/// What runs without faults have shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    /// After each step.
    pub(super) states: Vec<State>,
    pub(super) mask: Mask,
    /// An operator that sees only the end gets elsewhere, so that only runs that see every step can be compared.
    pub(super) depends_on_history: bool,
    /// The objects that are there after each step, and those that operators delete in it.
    pub(super) objects: Vec<Seen>,
    /// Resources whose objects are compared.
    pub(super) resources: BTreeSet<(String, String)>,
}

/// Objects of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    present: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

/// What a run has shown.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) failure: Option<Failure>,
    pub(super) states: Vec<State>,
    pub(super) objects: Vec<Seen>,
    pub(super) story: Vec<String>,
    pub(super) sites: Vec<Site>,
    pub(super) fired: Vec<String>,
    pub(super) written: BTreeSet<(String, String)>,
    pub(super) ignored: Vec<(String, String)>,
    /// Pairs of steps after which the objects have to be the same.
    pub(super) returns: Vec<(usize, usize)>,
    pub(super) steps: usize,
    pub(super) moves: u64,
}

impl Outcome {
    fn failed(failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }
}

/// What a run is for.
#[derive(Clone, Copy)]
pub(super) enum Aim<'a> {
    /// Finds the resources that are written. Does not wait for what comes later.
    Scout,
    /// Finds the states to expect.
    Learn,
    /// Finds what differs from these states without a fault.
    Compare(&'a Expected),
    /// Fails where the states are others.
    Judge(&'a Expected),
}

impl<'a> Aim<'a> {
    fn expected(self) -> Option<&'a Expected> {
        match self {
            Self::Scout | Self::Learn => None,
            Self::Compare(expected) | Self::Judge(expected) => Some(expected),
        }
    }
}

/// How a run is done.
#[derive(Clone, Copy)]
pub(super) struct Options<'a> {
    pub(super) seed: u64,
    pub(super) plan: &'a Plan,
    pub(super) aim: Aim<'a>,
    /// Resources to take the states of.
    pub(super) resources: &'a BTreeSet<(String, String)>,
    /// The operators start only before the last step that a user does.
    pub(super) late: bool,
    /// Pods are run. Their node is busy even when nothing happens.
    pub(super) node: bool,
}

/// Carries out a schedule.
pub(super) fn run(scenario: Scenario<'_>, options: Options<'_>) -> Outcome {
    let clock = Cluster::clock();
    let sim = Sim::new(clock.clone());
    let cluster = match Cluster::new(options.seed, clock, options.node) {
        Ok(cluster) => cluster,
        Err(error) => return Outcome::failed(Failure::Setup(error)),
    };
    if let Err(text) = super::panics::caught(|| cluster.lane.block_on(scenario(sim.clone()))) {
        return Outcome::failed(Failure::Setup(text));
    }
    let mut spec = sim.into_spec();
    if let Some(error) = spec.errors.pop() {
        return Outcome::failed(Failure::Setup(error));
    }
    if let Err(error) = cluster.install(spec.definitions.clone()) {
        return Outcome::failed(Failure::Setup(error));
    }
    let returns = add_variants(&mut spec, &cluster);
    if spec.steps.is_empty() || spec.operators.is_empty() {
        return Outcome::failed(Failure::Setup(
            "it needs an operator and a step: call `operator` and `apply`".to_owned(),
        ));
    }
    let steps = all_steps(&spec, &cluster);
    let run = Run {
        world: World::new(cluster, spec, options.plan.clone()),
        options,
        states: Vec::new(),
        objects: Vec::new(),
        history: false,
        look: None,
    };
    Outcome { returns, ..run.through(&steps) }
}

/// Adds the steps of varied objects. Returns the pairs of steps after which the objects have to be the same.
fn add_variants(spec: &mut Spec, cluster: &Cluster) -> Vec<(usize, usize)> {
    let mut returns = Vec::new();
    for (api_version, kind) in std::mem::take(&mut spec.varied) {
        let applied = spec.steps.iter().filter_map(|step| match step {
            Step::Apply(all) => Some(all.iter()),
            Step::Delete(_) => None,
        });
        let is_it =
            |object: &&Value| object["kind"] == kind.as_str() && object["apiVersion"] == api_version.as_str();
        let Some(object) = applied.flatten().rfind(is_it).cloned() else { continue };
        let Some(schema) = vary::schema(&spec.definitions, &api_version, &kind) else { continue };
        for variant in vary::variants(&object, schema, &|variant| cluster.accepts(variant)) {
            let before = spec.steps.len() - 1;
            spec.steps.push(Step::Apply(Rc::new(vec![variant])));
            spec.steps.push(Step::Apply(Rc::new(vec![object.clone()])));
            returns.push((before, spec.steps.len() - 1));
        }
    }
    returns
}

/// The user's steps, and the deletion of the custom resources that were applied.
fn all_steps(spec: &Spec, cluster: &Cluster) -> Vec<Step> {
    let mut steps = spec.steps.clone();
    let mut roots: Vec<Value> = Vec::new();
    for step in &spec.steps {
        match step {
            Step::Apply(all) => roots.extend(all.iter().filter(|object| is_custom(object, cluster)).cloned()),
            Step::Delete(_) => {}
        }
    }
    if !spec.keeps && !roots.is_empty() {
        steps.push(Step::Delete(Rc::new(roots)));
    }
    steps
}

/// Whether a group is none of Kubernetes' own: those have no dot or end in `.k8s.io`.
fn is_custom_group(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Whether an object is a custom resource that the server knows.
fn is_custom(object: &Value, cluster: &Cluster) -> bool {
    let group = object["apiVersion"]
        .as_str()
        .and_then(|version| version.split_once('/'))
        .map_or("", |(group, _)| group);
    is_custom_group(group) && cluster.objects().path(object).is_ok()
}

struct Run<'a> {
    world: World,
    options: Options<'a>,
    states: Vec<State>,
    objects: Vec<Seen>,
    /// Not every state between steps was to be seen.
    history: bool,
    look: Option<Rc<Look>>,
}

/// The objects at a version, in a step.
struct Look {
    version: u64,
    step: usize,
    all: Vec<((String, String), Value)>,
    state: State,
    /// How they differ from what is expected.
    differences: Vec<String>,
}

impl Run<'_> {
    fn through(mut self, steps: &[Step]) -> Outcome {
        let users = self.world.spec.steps.len();
        for (i, step) in steps.iter().enumerate() {
            if self.world.failure.is_some() {
                break;
            }
            self.world.step = i;
            let is_late = self.options.late && i + 1 < users;
            if i == 0 && !is_late {
                self.start_all();
            }
            self.take_step(i, step);
            if self.options.late && i > 0 && i + 1 == users {
                self.start_all();
            }
            let is_last = i + 1 == steps.len();
            self.settle(is_last, i + 1 < steps.len() && self.is_early(i + 1));
            if i + 1 == users && self.world.failure.is_none() {
                self.check_end();
            }
        }
        self.finish(steps.len())
    }

    fn start_all(&mut self) {
        for i in 0..self.world.processes.len() {
            self.world.start(i);
        }
        // Its caches are there before a user comes.
        self.world.pump();
    }

    /// Whether a step comes before everything has settled. This is decided before it.
    fn is_early(&self, next: usize) -> bool {
        let site = format!("step#{next}");
        self.options.plan.faults.iter().any(|planned| planned.fault == Fault::Early && planned.site == site)
    }

    fn take_step(&mut self, index: usize, step: &Step) {
        let world = &mut self.world;
        let site = format!("step#{index}");
        world.sites.push(Site { kind: SiteKind::Step, name: site.clone(), step: index });
        // The place may have two faults.
        let down =
            world.take_fault(&site) == Some(Fault::Down) || world.take_fault(&site) == Some(Fault::Down);
        if down {
            world.tell("! the operator goes down");
            (0..world.processes.len()).for_each(|i| world.crash(i, Restart::AfterStep));
        }
        world.deleted.clear();
        world.step_versions.push(world.cluster.objects().version());
        match world.cluster.perform(step) {
            Ok(lines) => lines.iter().for_each(|line| world.tell(&format!("user {line}"))),
            Err(error) => return world.fail(Failure::Setup(error)),
        }
        let objects: &[Value] = match step {
            Step::Apply(all) | Step::Delete(all) => all,
        };
        for path in objects.iter().filter_map(|object| world.cluster.objects().path(object).ok()) {
            if let Ok(kubesmith_apiserver::request::Target::Resource(path)) =
                kubesmith_apiserver::request::parse_path(&path)
            {
                world.written.insert((path.group, path.resource));
            }
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
    }

    /// Lets the run go on until nothing is left to do.
    fn settle(&mut self, is_last: bool, next_is_early: bool) {
        if next_is_early {
            self.history = true;
            return self.go_on_a_little();
        }
        let (begin, mut tick) = (self.world.now, TICK);
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
                self.end_waiting();
            }
            let need = self.quiet_needed();
            let quiet = self.world.now - self.world.last_change;
            if quiet >= need || self.world.now - begin >= LONGEST {
                break;
            }
            self.world.pass(tick.min(need - quiet));
            tick = (tick * TICK_GROWTH).min(LONGEST_TICK);
        }
        self.judge();
    }

    /// Delivers a few things before the next step comes: in a random order a random number, otherwise none.
    fn go_on_a_little(&mut self) {
        let moves = self.world.dice.as_mut().map_or(0, |dice| dice.below(12));
        for _ in 0..moves {
            self.world.run_processes();
            self.world.move_on();
        }
        self.states.push(State::new());
        self.objects.push(Seen::default());
    }

    fn waits_for_next_step(&self) -> bool {
        self.world.processes.iter().any(|process| process.waits_for_step)
            || self.world.watches.iter().any(|watch| watch.held == Some(Held::AfterStep))
    }

    /// No further step will end what waits for one.
    fn end_waiting(&mut self) {
        for i in 0..self.world.processes.len() {
            if self.world.processes[i].waits_for_step {
                self.world.start(i);
            }
        }
        self.world.release(|held| held == Held::AfterStep);
    }

    /// How long nothing may be written before the step counts as settled.
    fn quiet_needed(&mut self) -> Duration {
        let Some(expected) = self.options.aim.expected() else {
            return if matches!(self.options.aim, Aim::Scout) { QUIET_AS_WANTED } else { QUIET };
        };
        if self.history && expected.depends_on_history {
            return QUIET;
        }
        match self.look().differences.is_empty() {
            true if self.world.rates.is_refused(self.world.now) => QUIET_REFUSED,
            true => QUIET_AS_WANTED,
            false if matches!(self.options.aim, Aim::Judge(_)) => PATIENCE,
            false => QUIET,
        }
    }

    /// The objects as they are.
    fn look(&mut self) -> Rc<Look> {
        let (version, step) = (self.world.cluster.objects().version(), self.world.step);
        if let Some(look) = self.look.as_ref().filter(|look| (look.version, look.step) == (version, step)) {
            return look.clone();
        }
        let all = self.world.cluster.state(self.options.resources);
        // The status of built-in kinds is the work of the server's controllers.
        let objects = all.iter().map(|((group, _), object)| (object, is_custom_group(group)));
        let state = normalise(objects, &self.world.names);
        let expected = self.options.aim.expected();
        let wanted = expected.and_then(|expected| Some((expected, expected.states.get(step)?)));
        let differences =
            wanted.map(|(expected, wanted)| expected.mask.differences(wanted, &state)).unwrap_or_default();
        let look = Rc::new(Look { version, step, all, state, differences });
        self.look = Some(look.clone());
        look
    }

    /// Compares what has become of the step with what becomes of it without faults.
    fn judge(&mut self) {
        if self.world.failure.is_some() {
            return;
        }
        let look = self.look();
        if let Some(failure) = self.world.rates.refused() {
            self.world.fail(failure);
        }
        if let Some(stuck) = self.stuck(&look) {
            self.world.fail(stuck);
        }
        let is_comparable = !self.waits_for_next_step();
        if let Aim::Judge(expected) = self.options.aim
            && is_comparable
            && !(self.history && expected.depends_on_history)
        {
            if !look.differences.is_empty() {
                let after = format!("after step {}", self.world.step + 1);
                self.world.fail(Failure::State { after, differences: look.differences.clone() });
            } else if let Some(destroyed) = self.destroyed(expected).filter(|_| !self.history) {
                self.world.fail(Failure::Destroyed(destroyed));
            }
        }
        self.states.push(look.state.clone());
        self.objects.push(Seen { present: self.present(&look), deleted: self.world.deleted.clone() });
    }

    /// The objects that are there.
    fn present(&self, look: &Look) -> BTreeSet<String> {
        let targets = look.all.iter().map(|((group, resource), object)| {
            let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
            scrub(&target(group, resource, text("namespace"), text("name")), &self.world.names)
        });
        targets.collect()
    }

    /// An object that an operator has deleted though it is wanted, and is never deleted without faults.
    fn destroyed(&self, expected: &Expected) -> Option<String> {
        let seen = expected.objects.get(self.world.step)?;
        let wrong = |target: &&String| seen.present.contains(*target) && !seen.deleted.contains(*target);
        self.world.deleted.iter().find(wrong).cloned()
    }

    /// A custom resource that is being deleted and that a finalizer keeps.
    fn stuck(&self, look: &Look) -> Option<Failure> {
        if self.waits_for_next_step() {
            return None;
        }
        let custom = look.all.iter().filter(|((group, _), _)| is_custom_group(group));
        custom
            .map(|(_, object)| &object["metadata"])
            .find(|metadata| !metadata["deletionTimestamp"].is_null())
            .map(|metadata| {
                Failure::Stuck(format!(
                    "{} waits for the finalizers {}",
                    metadata["name"], metadata["finalizers"]
                ))
            })
    }

    fn check_end(&mut self) {
        if self.waits_for_next_step() {
            return;
        }
        let view = View::new(self.world.cluster.objects().clone());
        let checks = self.world.spec.eventually.clone();
        let found = super::panics::ignoring(|| checks.iter().find_map(|check| check(&view).err()));
        if let Some(text) = found {
            self.world.fail(Failure::Eventually(text));
        }
    }

    fn finish(mut self, steps: usize) -> Outcome {
        (0..self.world.processes.len()).for_each(|i| self.world.stop(i));
        let world = self.world;
        Outcome {
            failure: world.failure,
            states: self.states,
            objects: self.objects,
            story: world.story,
            sites: world.sites,
            fired: world.fired,
            written: world.written,
            ignored: world.spec.ignored,
            returns: Vec::new(),
            steps,
            moves: world.moves,
        }
    }
}
