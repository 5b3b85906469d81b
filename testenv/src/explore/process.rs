//! Operators as processes: start, run, pause, crash and end.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use super::fault::{Age, Lists, Past, Restart};
use super::gate::{Connection, Gate};
use super::oracle::Failure;
use super::sim::Factory;
use super::sim_runtime::{MainState, SimRuntime};
use super::watches::Held;
use super::world::World;

/// The delay before an ended process is restarted; kubelet's first delay.
const RESTART: Duration = Duration::from_secs(10);
/// The limit of a process's own ends within this time. One that ends at once reaches 30.
const EXITS_WITHIN: Duration = Duration::from_secs(300);
const MOST_EXITS: usize = 20;

/// An operator.
pub(super) struct Process {
    factory: Factory,
    pub(super) runtime: Option<SimRuntime>,
    gate: Gate,
    /// The simulated time of its start.
    started: Duration,
    pub(super) restart_at: Option<Duration>,
    /// Whether a response or event has arrived for it, or time has passed.
    pub(super) is_due: bool,
    /// Whether it is down until the user's next step.
    pub(super) waits_for_step: bool,
    /// Whether it pauses until its pending request arrives.
    pub(super) is_paused: bool,
    /// The version of lists that may be old, and which lists.
    pub(super) stale: Option<(u64, Lists)>,
    /// The resources listed from the past.
    pub(super) listed: BTreeSet<String>,
    /// Whether a fault has failed one of its requests.
    pub(super) saw_error: bool,
    pub(super) has_watched: bool,
    /// The times when it ended by itself, in the last [`EXITS_WITHIN`].
    exits: VecDeque<Duration>,
}

impl Process {
    pub(super) fn new(factory: &Factory) -> Self {
        Self {
            factory: factory.clone(),
            runtime: None,
            gate: Gate::default(),
            started: Duration::ZERO,
            restart_at: None,
            is_due: false,
            waits_for_step: false,
            is_paused: false,
            stale: None,
            listed: BTreeSet::new(),
            saw_error: false,
            has_watched: false,
            exits: VecDeque::new(),
        }
    }

    /// Lets time pass for the process up to `until`, which is reduced to its next timer.
    pub(super) fn pass(&mut self, until: &mut Duration) {
        self.is_due = true;
        let Some(runtime) = self.runtime.as_mut().filter(|_| !self.is_paused) else { return };
        let left = until.saturating_sub(self.started + runtime.elapsed());
        if !left.is_zero() {
            self.gate.during(|| runtime.advance(left));
            *until = (*until).min(self.started + runtime.elapsed());
        }
    }

    /// Lets the process continue after a pause: its timers fire before it gets any response.
    pub(super) fn go_on(&mut self, now: Duration) {
        (self.is_paused, self.is_due) = (false, true);
        while let Some(runtime) = &mut self.runtime {
            let left = now.saturating_sub(self.started + runtime.elapsed());
            if left.is_zero() {
                return;
            }
            self.gate.during(|| runtime.advance(left));
        }
    }
}

impl World {
    /// Starts a process with empty memory.
    pub(super) fn start(&mut self, index: usize) {
        let runtime = SimRuntime::new();
        let process = &mut self.processes[index];
        (process.restart_at, process.waits_for_step) = (None, false);
        (process.saw_error, process.has_watched) = (false, false);
        process.gate = Gate::default();
        process.is_due = true;
        process.started = self.now;
        match runtime {
            Ok(mut runtime) => {
                runtime.start((process.factory)(Connection(process.gate.clone())));
                process.runtime = Some(runtime);
            }
            Err(error) => self.fail(Failure::Setup(format!("no runtime: {error}"))),
        }
        self.tell(&format!("{} starts", self.name_of(index)));
    }

    /// Stops a process at once, with all of its requests.
    pub(super) fn stop(&mut self, index: usize) {
        super::panics::ignoring(|| self.processes[index].runtime = None);
        self.processes[index].is_paused = false;
        self.pending.retain(|pending| pending.process != index || pending.is_sent);
        self.watches.retain(|watch| watch.process != index);
    }

    /// Stops a process because of a fault.
    pub(super) fn crash(&mut self, index: usize, restart: Restart) {
        self.stop(index);
        self.processes[index].stale = None;
        if let Restart::Stale(past) = restart {
            self.go_back(index, past);
        }
        match restart {
            Restart::AfterStep => self.processes[index].waits_for_step = true,
            _ => self.processes[index].restart_at = Some(self.now),
        }
    }

    /// Makes lists that may be old show this past from now on, once for each resource.
    pub(super) fn go_back(&mut self, index: usize, past: Past) {
        let before =
            |all: &[u64], n: u8| all.len().checked_sub(usize::from(n)).and_then(|at| all.get(at)).copied();
        let version = match past.age {
            Age::Writes(n) => before(&self.marks, n),
            Age::Step => self.step_versions.last().copied(),
            Age::Back(n) => before(&self.acted_versions, n + 1),
            Age::Changes(n) => before(&self.changes, n + 1),
        };
        let process = &mut self.processes[index];
        process.stale = version.map(|version| (version, past.lists));
        process.listed.clear();
    }

    pub(super) fn start_due(&mut self) {
        for i in 0..self.processes.len() {
            if self.processes[i].restart_at.is_some_and(|at| at <= self.now) {
                self.start(i);
            }
        }
    }

    /// Starts the processes and releases the requests that wait for a step, as none follows.
    pub(super) fn end_waiting(&mut self) {
        for i in 0..self.processes.len() {
            if self.processes[i].waits_for_step {
                self.start(i);
            }
        }
        self.release(|held| held == Held::AfterStep);
    }

    pub(super) fn run_processes(&mut self) {
        for i in 0..self.processes.len() {
            let process = &mut self.processes[i];
            if process.is_paused || !std::mem::take(&mut process.is_due) {
                continue;
            }
            let Some(runtime) = process.runtime.as_mut() else { continue };
            process.gate.during(|| runtime.until_idle());
            let state = runtime.main_state();
            let arrivals = process.gate.take();
            self.take_arrivals(i, arrivals);
            self.note_panics(i, state);
            if state != MainState::Running {
                self.exit(i);
            }
        }
    }

    /// Reports a panic as a failure, unless it ends a process that could not start because of a fault.
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
        // Nothing that the operator does gets an object of another owner out of its way.
        if process.exits.len() > MOST_EXITS && !self.has_strangers {
            self.fail(Failure::Exits);
        }
    }
}
