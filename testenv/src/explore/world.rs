//! One run: processes, the cluster, and everything that is on its way between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use kube::Client;

use super::cluster::Cluster;
use super::dice::Dice;
use super::gate::{Arrival, Gate};
use super::lane::{Lane, MainState};
use super::oracle::{Failure, Rates};
use super::plan::{Fault, Plan, Release, Restart, Site, SiteKind};
use super::sim::{Factory, Spec, View};
use super::state::{Names, scrub};
use super::watches::{Held, OpenWatch};
use crate::fake::Action;

/// How long a process that ended waits before it is started again; kubelet's first delay.
const RESTART: Duration = Duration::from_secs(10);
/// More ends of a process by itself within this time are a failure. One that ends at once comes to 30.
const EXITS_WITHIN: Duration = Duration::from_secs(300);
const MOST_EXITS: usize = 20;
/// How many lines of a story are kept.
const MOST_LINES: usize = 5_000;

/// An operator.
pub(super) struct Process {
    factory: Factory,
    pub(super) lane: Option<Lane>,
    gate: Gate,
    /// The simulated time at which it was started.
    started: Duration,
    restart_at: Option<Duration>,
    /// Something has arrived for it, or time has passed.
    is_due: bool,
    /// It is down until the user's next step.
    pub(super) waits_for_step: bool,
    /// The version that lists are answered from which may be old, and which of them.
    pub(super) stale: Option<(u64, Restart)>,
    /// What has been listed in the past.
    pub(super) listed: BTreeSet<String>,
    /// A fault has failed one of its requests.
    pub(super) saw_error: bool,
    pub(super) has_watched: bool,
    /// When it ended by itself, in the last [`EXITS_WITHIN`].
    exits: VecDeque<Duration>,
}

/// A request that has left its operator.
pub(super) struct Pending {
    pub(super) process: usize,
    pub(super) action: Action,
    /// What it is, without what chance decides.
    pub(super) label: String,
    pub(super) site: Option<String>,
    pub(super) arrival: Arrival,
}

/// One run.
pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) spec: Spec,
    pub(super) now: Duration,
    pub(super) processes: Vec<Process>,
    pub(super) pending: VecDeque<Pending>,
    pub(super) watches: Vec<OpenWatch>,
    plan: Plan,
    pub(super) fired: Vec<String>,
    pub(super) dice: Option<Dice>,
    pub(super) story: Vec<String>,
    pub(super) sites: Vec<Site>,
    counts: BTreeMap<String, usize>,
    pub(super) names: Names,
    pub(super) step: usize,
    /// The versions at which the steps began.
    pub(super) step_versions: Vec<u64>,
    /// The versions before each write of an operator.
    pub(super) marks: Vec<u64>,
    /// What operators and users have written.
    pub(super) written: BTreeSet<(String, String)>,
    /// Objects that operators have deleted in this step, and those that they have made since the first fault.
    pub(super) deleted: BTreeSet<String>,
    pub(super) born_late: BTreeSet<String>,
    pub(super) rates: Rates,
    /// When anything was last written.
    pub(super) last_change: Duration,
    pub(super) failure: Option<Failure>,
    pub(super) moves: u64,
}

impl World {
    pub(super) fn new(cluster: Cluster, spec: Spec, plan: Plan) -> Self {
        let process = |factory: &Factory| Process {
            factory: factory.clone(),
            lane: None,
            gate: Gate::default(),
            started: Duration::ZERO,
            restart_at: None,
            is_due: false,
            waits_for_step: false,
            stale: None,
            listed: BTreeSet::new(),
            saw_error: false,
            has_watched: false,
            exits: VecDeque::new(),
        };
        let processes = spec.operators.iter().map(process).collect();
        let dice = plan.order.map(Dice::new);
        Self {
            cluster,
            spec,
            now: Duration::ZERO,
            processes,
            pending: VecDeque::new(),
            watches: Vec::new(),
            plan,
            fired: Vec::new(),
            dice,
            story: Vec::new(),
            sites: Vec::new(),
            counts: BTreeMap::new(),
            names: Names::new(),
            step: 0,
            step_versions: Vec::new(),
            marks: Vec::new(),
            written: BTreeSet::new(),
            deleted: BTreeSet::new(),
            born_late: BTreeSet::new(),
            rates: Rates::default(),
            last_change: Duration::ZERO,
            failure: None,
            moves: 0,
        }
    }

    /// Adds a line to the story.
    pub(super) fn tell(&mut self, text: &str) {
        if self.story.len() < MOST_LINES {
            let seconds = self.now.as_secs_f64();
            self.story.push(format!("{seconds:>9.3}s  {}", scrub(text, &self.names)));
        }
    }

    /// What the story calls a process.
    pub(super) fn name_of(&self, process: usize) -> String {
        if self.processes.len() == 1 { "operator".to_owned() } else { format!("operator {}", process + 1) }
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Judges a loop. As long as a watch is late, an operator may repeat what it cannot know to be done: that ends the fault.
    pub(super) fn fail_loop(&mut self, failure: Failure) {
        if self.release(|_| true) {
            self.rates.forget();
        } else {
            self.fail(failure);
        }
    }

    /// Notes a place and returns its name.
    pub(super) fn site(&mut self, kind: SiteKind, process: usize, label: &str) -> String {
        let by = if self.processes.len() == 1 { String::new() } else { format!(" by {}", process + 1) };
        let count = self.counts.entry(format!("{label}{by}")).or_default();
        let name = format!("{label}{by}#{count}");
        *count += 1;
        self.sites.push(Site { kind, name: name.clone(), step: self.step });
        name
    }

    /// Takes the fault that is planned for a place.
    pub(super) fn take_fault(&mut self, site: &str) -> Option<Fault> {
        let at = self.plan.faults.iter().position(|planned| planned.site == site)?;
        let planned = self.plan.faults.remove(at);
        self.fired.push(format!("{}@{}", planned.fault, planned.site));
        Some(planned.fault)
    }

    /// Starts a process with empty memory.
    pub(super) fn start(&mut self, index: usize) {
        let lane = Lane::new();
        let process = &mut self.processes[index];
        (process.restart_at, process.waits_for_step) = (None, false);
        (process.saw_error, process.has_watched) = (false, false);
        process.gate = Gate::default();
        process.is_due = true;
        process.started = self.now;
        match lane {
            Ok(mut lane) => {
                let client = {
                    let _context = lane.enter();
                    Client::new(process.gate.clone(), "default")
                };
                lane.start((process.factory)(client));
                process.lane = Some(lane);
            }
            Err(error) => self.fail(Failure::Setup(format!("no runtime: {error}"))),
        }
        self.tell(&format!("{} starts", self.name_of(index)));
    }

    /// Ends a process at once, with all that it has asked for.
    pub(super) fn stop(&mut self, index: usize) {
        super::panics::ignoring(|| self.processes[index].lane = None);
        self.pending.retain(|pending| pending.process != index);
        self.watches.retain(|watch| watch.process != index);
    }

    /// Ends a process because of a fault.
    pub(super) fn crash(&mut self, index: usize, restart: Restart) {
        self.stop(index);
        let back = |n: u8| {
            let at = self.marks.len().saturating_sub(usize::from(n));
            self.marks.get(at).copied()
        };
        let stale = match restart {
            Restart::Stale(n) => back(n),
            Restart::StaleStep | Restart::StaleStepOthers => self.step_versions.last().copied(),
            Restart::AtOnce | Restart::AfterStep => None,
        };
        let process = &mut self.processes[index];
        process.stale = stale.map(|version| (version, restart));
        process.listed.clear();
        match restart {
            Restart::AfterStep => process.waits_for_step = true,
            _ => process.restart_at = Some(self.now),
        }
    }

    /// Carries out everything that can happen without time passing.
    pub(super) fn pump(&mut self) -> bool {
        let mut moved = false;
        while self.failure.is_none() {
            self.start_due();
            self.run_processes();
            self.watches.retain(|watch| !watch.is_over());
            if !self.move_on() {
                break;
            }
            moved = true;
            self.moves += 1;
            super::progress();
            if let Some(failure) = self.rates.too_busy(self.now) {
                self.fail_loop(failure);
            }
        }
        moved
    }

    /// Lets one request or event go on; false if there is none.
    pub(super) fn move_on(&mut self) -> bool {
        let ready: Vec<usize> = (0..self.watches.len()).filter(|i| self.watches[*i].is_ready()).collect();
        let choices = ready.len() + self.pending.len();
        if choices == 0 {
            return false;
        }
        let choice = self.dice.as_mut().map_or(0, |dice| dice.below(choices));
        match ready.get(choice) {
            Some(watch) => {
                let process = self.watches[*watch].process;
                self.processes[process].is_due = true;
                self.deliver_event(*watch);
            }
            None => {
                if let Some(pending) = self.pending.remove(choice - ready.len()) {
                    self.processes[pending.process].is_due = true;
                    self.deliver_request(pending);
                }
            }
        }
        true
    }

    fn start_due(&mut self) {
        for i in 0..self.processes.len() {
            if self.processes[i].restart_at.is_some_and(|at| at <= self.now) {
                self.start(i);
            }
        }
    }

    pub(super) fn run_processes(&mut self) {
        for i in 0..self.processes.len() {
            let process = &mut self.processes[i];
            let Some(lane) = process.lane.as_mut().filter(|_| std::mem::take(&mut process.is_due)) else {
                continue;
            };
            lane.until_idle();
            let state = lane.main_state();
            let arrivals = self.processes[i].gate.take();
            let mut new: Vec<Pending> =
                arrivals.into_iter().map(|arrival| self.classify(i, arrival)).collect();
            // Requests made at the same time have no order, and maps in operators have a random one.
            new.sort_by(|a, b| a.label.cmp(&b.label));
            for pending in &mut new {
                pending.site = site_kind(&pending.action).map(|kind| self.site(kind, i, &pending.label));
            }
            self.pending.extend(new);
            self.note_panics(i, state);
            if state != MainState::Running {
                self.exit(i);
            }
        }
    }

    fn classify(&self, process: usize, arrival: Arrival) -> Pending {
        let action = Action::of(&arrival.parts, &arrival.body);
        let label = scrub(&action.to_string(), &self.names);
        Pending { process, action, label, site: None, arrival }
    }

    /// A panic is a failure, unless it ends a process that a fault has kept from starting.
    fn note_panics(&mut self, index: usize, state: MainState) {
        let panics = super::panics::take();
        let process = &self.processes[index];
        let at_start = state == MainState::Panicked && process.saw_error && !process.has_watched;
        if let Some(text) = panics.into_iter().next().filter(|_| !at_start) {
            self.fail(Failure::Panic(text));
        }
    }

    fn exit(&mut self, index: usize) {
        self.tell(&format!("{} ends by itself", self.name_of(index)));
        self.stop(index);
        let process = &mut self.processes[index];
        process.exits.push_back(self.now);
        while process.exits.front().is_some_and(|at| *at + EXITS_WITHIN < self.now) {
            process.exits.pop_front();
        }
        process.restart_at = Some(self.now + RESTART);
        if process.exits.len() > MOST_EXITS {
            self.fail(Failure::Exits);
        }
    }

    fn deliver_event(&mut self, index: usize) {
        let watch = &self.watches[index];
        let (process, resource) = (watch.process, watch.resource.clone());
        let about = watch.lines.front().map(|line| line.about.clone()).unwrap_or_default();
        if about.is_empty() {
            return self.watches[index].deliver();
        }
        let label = scrub(&format!("event {resource} {about}"), &self.names);
        let is_noise = is_noise(&resource);
        let fault = match is_noise {
            true => None,
            false => {
                let site = self.site(SiteKind::Event, process, &label);
                self.take_fault(&site)
            }
        };
        let name = self.name_of(process);
        let watch = &mut self.watches[index];
        match fault {
            Some(Fault::Hold(release)) => {
                watch.held = Some(match release {
                    Release::Quiet => Held::Quiet,
                    Release::Minute => Held::Until(self.now + Duration::from_secs(60)),
                    Release::AfterStep => Held::AfterStep,
                });
                self.tell(&format!("! the watch of {resource} is late: {about} does not arrive at {name}"));
            }
            Some(Fault::Break) => {
                watch.break_off();
                self.tell(&format!("! the watch of {resource} breaks before {about}"));
            }
            Some(Fault::Expire) => {
                watch.expire();
                self.tell(&format!(
                    "! the watch of {resource} expires before {about}: {name} has to list again"
                ));
            }
            _ => {
                watch.deliver();
                if !is_noise {
                    self.tell(&format!("{name} sees {resource} {about}"));
                }
            }
        }
    }

    /// Takes what the server has sent to watches.
    pub(super) fn pull_watches(&mut self) {
        self.cluster.lane.until_idle();
        self.pull();
    }

    fn pull(&mut self) {
        let _context = self.cluster.lane.enter();
        self.watches.iter_mut().for_each(OpenWatch::pull);
    }

    /// Lets held watches go on; false if there is none.
    pub(super) fn release(&mut self, which: impl Fn(Held) -> bool) -> bool {
        let mut released = Vec::new();
        for watch in self.watches.iter_mut().filter(|watch| watch.held.is_some_and(&which)) {
            watch.held = None;
            released.push(watch.resource.clone());
        }
        for resource in &released {
            self.tell(&format!("the watch of {resource} goes on"));
        }
        !released.is_empty()
    }

    /// Lets time pass until something is due, for `most` at the most.
    pub(super) fn pass(&mut self, most: Duration) {
        let held = self.watches.iter().filter_map(|watch| match watch.held {
            Some(Held::Until(at)) => Some(at),
            _ => None,
        });
        let due = self.processes.iter().filter_map(|process| process.restart_at).chain(held).min();
        let mut until = due.map_or(self.now + most, |due| due.min(self.now + most));
        for process in &mut self.processes {
            process.is_due = true;
            let Some(lane) = &mut process.lane else { continue };
            let left = until.saturating_sub(process.started + lane.elapsed());
            if !left.is_zero() {
                lane.advance(left);
                until = until.min(process.started + lane.elapsed());
            }
        }
        self.now = self.now.max(until);
        self.cluster.advance_to(self.now);
        self.pull();
        let now = self.now;
        self.release(|held| matches!(held, Held::Until(at) if at <= now));
    }

    /// Checks what must always hold.
    pub(super) fn check_always(&mut self) {
        if self.spec.always.is_empty() {
            return;
        }
        let view = View::new(self.cluster.objects().clone());
        let found = super::panics::ignoring(|| self.spec.always.iter().find_map(|check| check(&view).err()));
        if let Some(text) = found {
            self.fail(Failure::Always(text));
        }
    }
}

/// An object, as deletions are counted.
pub(super) fn target(group: &str, resource: &str, namespace: &str, name: &str) -> String {
    let group = if group.is_empty() { String::new() } else { format!(".{group}") };
    match namespace {
        "" => format!("{resource}{group} {name}"),
        namespace => format!("{resource}{group} {namespace}/{name}"),
    }
}

/// Whether a resource carries no state that an operator works with: events, and the leases of replicas.
pub(super) fn is_noise(resource: &str) -> bool {
    matches!(resource.split(['.', '/']).next(), Some("events" | "leases"))
}

/// What can be disturbed about a request; nothing of watches, which are disturbed event by event.
fn site_kind(action: &Action) -> Option<SiteKind> {
    if action.resource().is_empty() || is_noise(action.resource()) || action.verb() == "watch" {
        return None;
    }
    if !is_write(action) {
        let is_stale = action.verb() == "list" && action.option("resourceVersion") == Some("0");
        return Some(if is_stale { SiteKind::StaleRead } else { SiteKind::Read });
    }
    let version = action.body().is_some_and(|body| {
        let version = &body["metadata"]["resourceVersion"];
        action.verb() == "update" && version.as_str().is_some_and(|version| !version.is_empty())
    });
    Some(if version { SiteKind::VersionedWrite } else { SiteKind::Write })
}

/// Whether a request changes objects.
pub(super) fn is_write(action: &Action) -> bool {
    !action.is_read()
        && !action.resource().is_empty()
        && !action.resource().ends_with("reviews")
        && action.option("dryRun").is_none()
}
