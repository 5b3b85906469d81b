//! One run: processes, the cluster, and all requests and events between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

use super::changes::Change;
use super::cluster::Cluster;
use super::dice::Dice;
use super::fault::{Fault, Release};
use super::gate::Arrival;
use super::oracle::{Failure, Rates};
use super::pending::{Pending, What, site_kind};
use super::plan::{Plan, Site, SiteKind};
use super::process::Process;
use super::sim::{Spec, Step, View};
use super::state::{Names, scrub};
use super::watches::{Held, OpenWatch};
use crate::fake::Action;

/// The limit of a story's lines.
const MOST_LINES: usize = 5_000;
/// Clients list again within this time after a watch has ended.
const LIST_AGAIN: Duration = Duration::from_secs(10);

/// The state of one run.
pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) spec: Spec,
    pub(super) now: Duration,
    pub(super) processes: Vec<Process>,
    pub(super) pending: VecDeque<Pending>,
    pub(super) watches: Vec<OpenWatch>,
    /// Set if the garbage collector pauses.
    pub(super) collector: Option<Held>,
    plan: Plan,
    pub(super) fired: Vec<String>,
    pub(super) dice: Option<Dice>,
    pub(super) story: Vec<String>,
    pub(super) sites: Vec<Site>,
    counts: BTreeMap<String, usize>,
    pub(super) names: Names,
    pub(super) step: usize,
    /// The versions at the beginning of the steps.
    pub(super) step_versions: Vec<u64>,
    /// The versions after the user's part of each step.
    pub(super) acted_versions: Vec<u64>,
    /// The versions after each change of a custom resource.
    pub(super) changes: Vec<u64>,
    /// The versions before each write of an operator.
    pub(super) marks: Vec<u64>,
    /// The resources of objects that users apply.
    pub(super) applied: BTreeSet<(String, String)>,
    /// The objects that operators have created, each with the resource.
    pub(super) made: BTreeMap<String, (String, String)>,
    /// Objects of users that were touched, by their paths and UIDs.
    pub(super) touched: BTreeMap<String, String>,
    /// Whether another controller has created objects.
    pub(super) has_strangers: bool,
    /// Whether pods fail right now.
    pub(super) has_failing_pods: bool,
    /// Objects may have gone unchanged past a webhook.
    pub(super) has_skipped_webhooks: bool,
    /// The resources that operators and users have written.
    pub(super) written: BTreeSet<(String, String)>,
    /// The number of operators' deletions of each object in this step, and the objects that they have created since the
    /// first fault.
    pub(super) deleted: BTreeMap<String, usize>,
    pub(super) born_late: BTreeSet<String>,
    /// The entries of outside systems at the beginning of the first step, and of this one.
    pub(super) first_entries: BTreeSet<String>,
    pub(super) old_entries: BTreeSet<String>,
    /// The objects that operators have deleted in this step, as they were, and whether their status is compared.
    pub(super) doomed: Vec<(Value, bool)>,
    pub(super) rates: Rates,
    /// The effective writes of operators and users.
    pub(super) changes_of_objects: Vec<Change>,
    /// Whether the run waits for writes that never end, and an operator has sent the machine's time meanwhile.
    pub(super) endures: bool,
    pub(super) sent_time: bool,
    /// The longest pause between requests of a settled operator that goes on making some.
    pub(super) pause_of_requests: Option<Duration>,
    /// The time of the last write.
    pub(super) last_change: Duration,
    /// A fault has ended a watch, and no loop has been judged since.
    has_ended_watch: bool,
    /// Time has to pass before the next event.
    pauses: bool,
    pub(super) failure: Option<Failure>,
    pub(super) moves: u64,
}

impl World {
    pub(super) fn new(cluster: Cluster, spec: Spec, plan: Plan) -> Self {
        let processes = spec.operators.iter().map(Process::new).collect();
        let dice = plan.order.map(Dice::new);
        let mut world = Self {
            cluster,
            spec,
            now: Duration::ZERO,
            processes,
            pending: VecDeque::new(),
            watches: Vec::new(),
            collector: None,
            plan,
            fired: Vec::new(),
            dice,
            story: Vec::new(),
            sites: Vec::new(),
            counts: BTreeMap::new(),
            names: Names::new(),
            step: 0,
            step_versions: Vec::new(),
            acted_versions: Vec::new(),
            changes: Vec::new(),
            marks: Vec::new(),
            applied: BTreeSet::new(),
            made: BTreeMap::new(),
            touched: BTreeMap::new(),
            has_strangers: false,
            has_failing_pods: false,
            has_skipped_webhooks: false,
            written: BTreeSet::new(),
            deleted: BTreeMap::new(),
            doomed: Vec::new(),
            born_late: BTreeSet::new(),
            first_entries: BTreeSet::new(),
            old_entries: BTreeSet::new(),
            rates: Rates::default(),
            changes_of_objects: Vec::new(),
            endures: false,
            sent_time: false,
            pause_of_requests: None,
            last_change: Duration::ZERO,
            has_ended_watch: false,
            pauses: false,
            failure: None,
            moves: 0,
        };
        world.applied = world.spec.steps.iter().flat_map(|step| world.resources_of(step)).collect();
        world
    }

    /// Adds a line to the story.
    pub(super) fn tell(&mut self, text: &str) {
        if self.story.len() < MOST_LINES {
            let seconds = self.now.as_secs_f64();
            let line = format!("{seconds:>9.3}s  {}", scrub(text, &self.names));
            super::progress::tells(&line);
            self.story.push(line);
        }
    }

    /// Returns the name of a process in the story.
    pub(super) fn name_of(&self, process: usize) -> String {
        if self.processes.len() == 1 { "operator".to_owned() } else { format!("operator {}", process + 1) }
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    /// Judges a loop. While a watch is late, an operator may repeat work that it cannot know to be done: then this ends
    /// the fault. After a watch has ended, the operator waits before it lists again: then time passes.
    pub(super) fn fail_loop(&mut self, failure: Failure) {
        if self.release(|_| true) {
            self.rates.forget();
        } else if std::mem::take(&mut self.has_ended_watch) {
            self.pauses = true;
            self.rates.forget();
        } else {
            self.fail(failure);
        }
    }

    /// Lets time pass, while nothing arrives, until an operator has begun a watch again.
    fn pause(&mut self) {
        let until = self.now + LIST_AGAIN;
        while self.now < until && self.failure.is_none() {
            self.pass(until - self.now);
            self.start_due();
            self.run_processes();
        }
    }

    /// Records a place and returns its name.
    pub(super) fn site(&mut self, kind: SiteKind, process: usize, label: &str) -> String {
        let by = if self.processes.len() == 1 { String::new() } else { format!(" by {}", process + 1) };
        let count = self.counts.entry(format!("{label}{by}")).or_default();
        let name = format!("{label}{by}#{count}");
        *count += 1;
        let (changes, deletes) = (self.changes.len(), label.starts_with("delete "));
        let site = Site { kind, name: name.clone(), step: self.step, changes, calls_webhook: false, deletes };
        self.sites.push(site);
        name
    }

    /// Takes the planned fault of a place.
    pub(super) fn take_fault(&mut self, site: &str) -> Option<Fault> {
        self.take_fault_of(site, |_| true)
    }

    /// Takes a planned fault of a place that is one of these.
    pub(super) fn take_fault_of(&mut self, site: &str, is_one: impl Fn(Fault) -> bool) -> Option<Fault> {
        let at = self.plan.faults.iter().position(|planned| planned.site == site && is_one(planned.fault))?;
        let planned = self.plan.faults.remove(at);
        self.fired.push(format!("{}@{}", planned.fault, planned.site));
        Some(planned.fault)
    }

    /// Takes the requests and calls of a process.
    pub(super) fn take_arrivals(&mut self, index: usize, arrivals: Vec<Arrival>) {
        let mut new: Vec<Pending> =
            arrivals.into_iter().map(|arrival| self.classify(index, arrival)).collect();
        // Simultaneous requests have no order, and maps in operators have a random one.
        new.sort_by(|a, b| a.label.cmp(&b.label));
        for pending in &mut new {
            let kind = site_kind(&pending.what, self.cluster.objects());
            pending.site = kind.map(|kind| self.site(kind, index, &pending.label));
        }
        self.pending.extend(new);
    }

    fn classify(&self, process: usize, arrival: Arrival) -> Pending {
        let (label, what) = match arrival {
            Arrival::Request(exchange) => {
                let action = Action::of(&exchange.parts, &exchange.body);
                (action.to_string(), What::Request(Box::new((action, *exchange))))
            }
            Arrival::Call(call) => (call.label.clone(), What::Call(call)),
        };
        Pending { process, label: scrub(&label, &self.names), site: None, held: None, is_sent: false, what }
    }

    /// Performs everything that can happen without time passing.
    pub(super) fn pump(&mut self) -> bool {
        let mut moved = false;
        while self.failure.is_none() {
            self.start_due();
            self.run_processes();
            self.watches.retain(|watch| !watch.is_over());
            if !self.move_on() {
                break;
            }
            if std::mem::take(&mut self.pauses) {
                self.pause();
            }
            moved = true;
            self.moves += 1;
            super::progress::moved();
            if let Some(failure) = self.rates.too_busy(self.now) {
                self.fail_loop(failure);
            }
        }
        moved
    }

    /// Delivers one request or event; false if there is none.
    pub(super) fn move_on(&mut self) -> bool {
        let ready: Vec<usize> = (0..self.watches.len()).filter(|i| self.watches[*i].is_ready()).collect();
        let pending: Vec<usize> =
            (0..self.pending.len()).filter(|i| self.pending[*i].held.is_none()).collect();
        let choices = ready.len() + pending.len();
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
                if let Some(pending) = self.pending.remove(pending[choice - ready.len()]) {
                    self.processes[pending.process].is_due = true;
                    self.deliver_request(pending);
                }
            }
        }
        true
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
        let (now, watch) = (self.now, &mut self.watches[index]);
        match fault {
            Some(Fault::Hold(release) | Fault::Miss(release)) => {
                watch.held = Some(Held::until(release, now));
                watch.misses = matches!(fault, Some(Fault::Miss(_)));
                self.tell(&format!("! the watch of {resource} is late: {about} does not arrive at {name}"));
            }
            Some(Fault::Break) => {
                watch.break_off();
                self.has_ended_watch = true;
                self.tell(&format!("! the watch of {resource} breaks before {about}"));
            }
            Some(Fault::Expire | Fault::ExpireStale(_)) => {
                watch.expire();
                self.has_ended_watch = true;
                if let Some(Fault::ExpireStale(past)) = fault {
                    self.go_back(process, past);
                }
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

    /// Reads the server's data for watches.
    pub(super) fn pull_watches(&mut self) {
        self.cluster.runtime.until_idle();
        self.pull();
    }

    fn pull(&mut self) {
        let _context = self.cluster.runtime.enter();
        self.watches.iter_mut().for_each(OpenWatch::pull);
    }

    /// Releases held watches and requests; false if there is none.
    pub(super) fn release(&mut self, which: impl Fn(Held) -> bool) -> bool {
        let mut released = Vec::new();
        for watch in self.watches.iter_mut().filter(|watch| watch.held.is_some_and(&which)) {
            watch.held = None;
            if std::mem::take(&mut watch.misses) {
                watch.expire();
                self.has_ended_watch = true;
                released.push(format!("the watch of {} expires", watch.resource));
            } else {
                released.push(format!("the watch of {} goes on", watch.resource));
            }
        }
        for pending in self.pending.iter_mut().filter(|pending| pending.held.is_some_and(&which)) {
            let process = &mut self.processes[pending.process];
            if process.is_paused && pending.held == Some(Held::AfterStep) {
                // Other processes act on the step first.
                pending.held = Some(Held::until(Release::Minute, self.now));
                continue;
            }
            if process.is_paused {
                pending.is_sent = true;
                process.go_on(self.now);
            }
            pending.held = None;
            released.push(format!("the request arrives: {}", pending.label));
        }
        match self.collector.filter(|held| which(*held)) {
            // Operators act on the step first.
            Some(Held::AfterStep) => self.collector = Some(Held::until(Release::Minute, self.now)),
            Some(_) => {
                self.collector = None;
                self.cluster.pause_collector(false);
                self.pull_watches();
                released.push("the garbage collector continues".to_owned());
            }
            None => {}
        }
        released.iter().for_each(|line| self.tell(line));
        if !released.is_empty() {
            // The operator now sees what it missed, and needs time to act on it.
            self.last_change = self.now;
        }
        !released.is_empty()
    }

    /// Reports whether something is held that `which` releases.
    pub(super) fn is_held(&self, which: impl Fn(Held) -> bool) -> bool {
        let pending = self.pending.iter().map(|pending| pending.held);
        let watches = self.watches.iter().map(|watch| watch.held);
        watches.chain(pending).chain([self.collector]).any(|held| held.is_some_and(&which))
    }

    /// Lets time pass until something is due, at most `most`.
    pub(super) fn pass(&mut self, most: Duration) {
        let held = self.watches.iter().map(|watch| watch.held);
        let held = held
            .chain(self.pending.iter().map(|pending| pending.held))
            .chain([self.collector])
            .filter_map(|held| match held {
                Some(Held::Until(at)) => Some(at),
                _ => None,
            });
        let due = self.processes.iter().filter_map(|process| process.restart_at).chain(held).min();
        let mut until = due.map_or(self.now + most, |due| due.min(self.now + most));
        for process in &mut self.processes {
            process.pass(&mut until);
        }
        self.now = self.now.max(until);
        self.cluster.advance_to(self.now);
        self.pull();
        let now = self.now;
        self.release(|held| matches!(held, Held::Until(at) if at <= now));
    }

    /// Returns the resources of the objects in a user's step.
    pub(super) fn resources_of(&self, step: &Step) -> BTreeSet<(String, String)> {
        let objects: &[Value] = match step {
            Step::Apply(all) | Step::Delete(all) => all,
            Step::RemoveMade => &[],
        };
        objects.iter().filter_map(|object| self.cluster.resource_of(object)).collect()
    }

    /// Returns the operators' objects that a user may remove, so that they have to be recreated.
    pub(super) fn removable(&self) -> Vec<Value> {
        let made: BTreeSet<(String, String)> = self.made.values().cloned().collect();
        let is_made = |((group, resource), object): &((String, String), Value)| {
            let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
            let target = scrub(&target(group, resource, text("namespace"), text("name")), &self.names);
            self.made.contains_key(&target)
        };
        self.cluster.state(&made).into_iter().filter(is_made).map(|(_, object)| object).collect()
    }

    /// Runs the checks that must always hold.
    pub(super) fn check_always(&mut self) {
        // After a user has removed the operators' objects, nothing has to hold until all is deleted and made anew.
        let is_tampered = self.plan.again && (0..2).any(|i| self.step == self.spec.steps.len() + i);
        if self.spec.always.is_empty() || is_tampered || self.has_failing_pods {
            return;
        }
        let view = View::new(self.cluster.objects().clone());
        let found = super::panics::ignoring(|| self.spec.always.iter().find_map(|check| check(&view).err()));
        if let Some(text) = found {
            self.fail(Failure::Always(text));
        }
    }
}

/// Returns the name under which an object's deletions are counted.
pub(super) fn target(group: &str, resource: &str, namespace: &str, name: &str) -> String {
    let group = if group.is_empty() { String::new() } else { format!(".{group}") };
    match namespace {
        "" => format!("{resource}{group} {name}"),
        namespace => format!("{resource}{group} {namespace}/{name}"),
    }
}

/// Reports whether a resource has no state that an operator manages: events, and the leases of replicas.
pub(super) fn is_noise(resource: &str) -> bool {
    matches!(resource.split(['.', '/']).next(), Some("events" | "leases"))
}
