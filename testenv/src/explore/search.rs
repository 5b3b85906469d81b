//! Searches for a failing schedule, and reduces it.

mod place;
mod shrink;
mod variants;

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use super::beginning::Beginning;
use super::compare::{difference, outdated};
use super::dice::Dice;
use super::oracle::Failure;
use super::plan::{Ground, Plan, random, systematic};
use super::report::{Crashed, Failed, Report};
use super::run::{Expected, Options, Outcome, RunPurpose, Scenario, run};
use super::settings::Settings;
use super::state::State;
use super::world::is_noise;

/// The limit of runs of a failing schedule before it counts as not repeatable.
const REPEATS: usize = 3;

/// Of this many schedules, the last one runs twice, to see whether it repeats.
const REPEATED: usize = 100;

/// The number of schedules before those that continue after the user's steps, and before random ones.
const SINGLES_FIRST: usize = 40;

/// The results of runs without faults.
#[derive(Default)]
struct Known {
    expected: Expected,
    baseline: Outcome,
}

/// A search for a failing schedule.
pub(super) struct Search<'a> {
    name: &'a str,
    scenario: Scenario<'a>,
    settings: &'a Settings,
    beginning: Beginning,
    known: Known,
    /// As `known`, for runs in which the user starts over after the steps.
    again: Known,
    /// Whether a written resource results in pods.
    node: bool,
    begin: Instant,
    runs: usize,
    moves: u64,
    fired: BTreeSet<String>,
    seen: BTreeSet<u64>,
    /// Fields of varied objects whose changes have no effect.
    dead: BTreeSet<String>,
    /// Objects that the server should refuse, and what becomes of them.
    unrefused: Vec<String>,
    /// How the state depends on history.
    history: BTreeSet<String>,
    /// How two runs of one schedule differ.
    diverges: Option<String>,
}

/// Explores a scenario.
///
/// # Errors
/// Returns the smallest failing schedule.
pub(super) fn search(name: &str, scenario: Scenario<'_>, settings: &Settings) -> Result<Report, Box<Failed>> {
    let mut search = Search {
        name,
        scenario,
        settings,
        beginning: Beginning::now(),
        known: Known::default(),
        again: Known::default(),
        node: false,
        begin: Instant::now(),
        runs: 0,
        moves: 0,
        fired: BTreeSet::new(),
        seen: BTreeSet::new(),
        dead: BTreeSet::new(),
        unrefused: Vec::new(),
        history: BTreeSet::new(),
        diverges: None,
    };
    search.learn()?;
    search.explore()
}

impl Search<'_> {
    fn known(&self, plan: &Plan) -> &Known {
        if plan.again { &self.again } else { &self.known }
    }

    /// Runs a schedule that may fail.
    fn run(&mut self, plan: &Plan) -> Outcome {
        let options =
            Options { purpose: RunPurpose::Judge(&self.known(plan).expected), ..self.options(plan) };
        let outcome = run(self.scenario, options);
        self.count(outcome)
    }

    fn options<'a>(&'a self, plan: &'a Plan) -> Options<'a> {
        let (seed, node) = (self.settings.seed, self.node);
        let resources = &self.known(plan).expected.resources;
        let beginning = &self.beginning;
        Options { beginning, seed, plan, purpose: RunPurpose::Learn, resources, late: None, node }
    }

    fn count(&mut self, outcome: Outcome) -> Outcome {
        self.runs += 1;
        self.moves += outcome.moves;
        self.seen.extend(&outcome.seen);
        super::progress();
        outcome
    }

    /// Runs the scenario without faults.
    fn learn(&mut self) -> Result<(), Box<Failed>> {
        let none = Plan::default();
        let scouted =
            self.count(run(self.scenario, Options { purpose: RunPurpose::Scout, ..self.options(&none) }));
        // A loop needs no more runs, which may be long, unless it waits for pods, which do not run yet.
        let waits = !self.node && scouted.has_workloads();
        if let Some(failure @ (Failure::HotLoop(_) | Failure::BusyLoop)) = &scouted.failure
            && !waits
        {
            return Err(self.failed(failure, &none, scouted.story.clone(), None));
        }
        self.known.baseline = scouted;
        self.learn_states(&none)?;
        self.check_variants(&self.known.baseline, &none)?;
        let repeated = self.count(run(self.scenario, self.options(&none)));
        let story = self.known.baseline.story.clone();
        self.compare(&none, &story, repeated)?;
        let compared = Options { purpose: RunPurpose::Compare(&self.known.expected), ..self.options(&none) };
        let last = self.known.baseline.users.checked_sub(1);
        let late = self.count(run(self.scenario, Options { late: last, ..compared }));
        let (expected, steps) = (&self.known.expected, self.known.baseline.steps);
        let mut history: Vec<String> = late.failure.iter().map(ToString::to_string).collect();
        for i in steps.saturating_sub(2)..steps {
            match (expected.states.get(i), late.states.get(i)) {
                (Some(one), Some(other)) => history.extend(expected.mask.differences(one, other)),
                _ => history.push(format!("step {} is not reached", i + 1)),
            }
        }
        let state = |states: &[State]| last.and_then(|last| states.get(last)).cloned().unwrap_or_default();
        let outdated = outdated(&state(&late.states), &state(&expected.states), &expected.mask);
        if !outdated.is_empty() {
            return Err(self.failed(&Failure::Outdated(outdated), &none, story, None));
        }
        self.known.expected.depends_on_history = !history.is_empty();
        self.history = history.into_iter().collect();
        Ok(())
    }

    /// Runs the scenario without faults, with the user starting over; false if that adds nothing.
    fn learn_again(&mut self) -> Result<bool, Box<Failed>> {
        let plan = Plan { again: true, ..Plan::default() };
        self.again.expected = self.known.expected.clone();
        self.again.baseline = self.count(run(self.scenario, self.options(&plan)));
        if self.again.baseline.failure.is_none() && self.again.baseline.steps == self.known.baseline.steps {
            return Ok(false);
        }
        self.learn_states(&plan)?;
        Ok(true)
    }

    /// Learns the states to expect, after a first run.
    fn learn_states(&mut self, plan: &Plan) -> Result<(), Box<Failed>> {
        let mut baseline =
            std::mem::take(if plan.again { &mut self.again } else { &mut self.known }).baseline;
        let mut expected = self.known.expected.clone();
        // A run may write resources that no earlier run wrote.
        while self.takes_account_of_writes(&baseline, &mut expected) {
            let options = Options { resources: &expected.resources, ..self.options(plan) };
            let outcome = run(self.scenario, options);
            baseline = self.count(outcome);
        }
        if let Some(failure) = baseline.failure.as_ref().or(baseline.leaked.as_ref()) {
            return Err(self.failed(failure, plan, baseline.story.clone(), None));
        }
        expected.mask.ignored.clone_from(&baseline.ignored);
        expected.states.clone_from(&baseline.states);
        expected.objects.clone_from(&baseline.objects);
        let options = Options {
            seed: self.settings.seed + 1,
            purpose: RunPurpose::Compare(&expected),
            resources: &expected.resources,
            ..self.options(plan)
        };
        let other = run(self.scenario, options);
        let other = self.count(other);
        for (one, other) in baseline.states.iter().zip(&other.states) {
            expected.mask.add_differences(one, other);
        }
        let known = Known { expected, baseline };
        *(if plan.again { &mut self.again } else { &mut self.known }) = known;
        Ok(())
    }

    /// Adds the resources that a run has written to the compared ones; false if there are no new ones, and the run is
    /// comparable.
    fn takes_account_of_writes(&mut self, baseline: &Outcome, expected: &mut Expected) -> bool {
        let node = baseline.has_workloads();
        let compared = |(_, resource): &&(String, String)| !is_noise(resource);
        let resources: BTreeSet<_> = baseline.written.iter().filter(compared).cloned().collect();
        let is_new = (node && !self.node) || !resources.is_subset(&expected.resources);
        self.node |= node;
        expected.resources.extend(resources);
        is_new
    }

    /// Returns the schedules with one fault.
    fn singles(&self, plan: &Plan) -> VecDeque<Plan> {
        let Outcome { sites, steps, users, replicas, clock, .. } = &self.known(plan).baseline;
        let first = if plan.again { *users } else { 0 };
        let ground =
            Ground { sites, steps: *steps, first, again: plan.again, replicas: *replicas, clock: *clock };
        systematic(&ground).into()
    }

    fn explore(mut self) -> Result<Report, Box<Failed>> {
        if let Some(plan) = self.settings.plan.clone() {
            if plan.again {
                self.learn_again()?;
            }
            if plan.fields {
                self.try_fields()?;
                return Ok(self.report());
            }
            if plan.invalid.is_some() {
                let outcome = run(self.scenario, self.options(&plan));
                let outcome = self.count(outcome);
                self.unrefused.extend(self.failure_of(&outcome));
                return self.replayed(&plan, outcome);
            }
            let outcome = self.attempt(&plan, false)?;
            return self.replayed(&plan, outcome);
        }
        let mut singles = self.singles(&Plan::default());
        let mut all: Vec<Plan> = singles.iter().cloned().collect();
        let mut after = VecDeque::new();
        let mut dice = Dice::new(self.settings.seed);
        let mut odd = (!self.known.baseline.variants.kinds.is_empty()).then_some(0);
        for i in 0..self.settings.schedules {
            if self.begin.elapsed() >= self.settings.time {
                break;
            }
            if i == SINGLES_FIRST {
                self.try_fields()?;
            }
            if i == SINGLES_FIRST && self.learn_again()? {
                after = self.singles(&Plan { again: true, ..Plan::default() });
                all.extend(after.iter().cloned());
            }
            // Of six schedules, one applies an odd object, later one continues after the user's steps, and one is random.
            if let Some(number) = odd.filter(|_| i % 6 == 1) {
                odd = self.try_invalid(number).then_some(number + 1);
                continue;
            }
            let next = match i % 6 {
                2 if i > SINGLES_FIRST => after.pop_front(),
                5 if i > SINGLES_FIRST => None,
                _ => singles.pop_front().or_else(|| after.pop_front()),
            };
            let plan = next.unwrap_or_else(|| random(&all, &mut dice));
            let story = self.attempt(&plan, true)?.story;
            if i % REPEATED == REPEATED - 1 && self.diverges.is_none() {
                let repeated = self.run(&plan);
                self.compare(&plan, &story, repeated)?;
            }
        }
        Ok(self.report())
    }

    /// Reports on the requested schedule, which must have happened.
    fn replayed(&self, plan: &Plan, outcome: Outcome) -> Result<Report, Box<Failed>> {
        match place::missing(plan, &outcome) {
            Some(missing) => Err(self.failed(&missing, plan, outcome.story, None)),
            None => Ok(Report { story: outcome.story, ..self.report() }),
        }
    }

    /// Runs a schedule and returns its outcome; a failure is repeated and reduced.
    fn attempt(&mut self, plan: &Plan, shrinks: bool) -> Result<Outcome, Box<Failed>> {
        let outcome = self.run(plan);
        self.fired.extend(outcome.fired.iter().cloned());
        let Some(failure) = outcome.failure.clone() else { return Ok(outcome) };
        let mut plan = plan.clone();
        if self.has_changed(&plan) {
            return Err(Box::new(Failed {
                statics: true,
                ..*self.failed(&failure, &plan, outcome.story, None)
            }));
        }
        let Some(mut again) = self.repeated(&plan, &failure) else {
            let other = self.run(&plan).story;
            let diverges = difference(&outcome.story, &other)
                .unwrap_or_else(|| "the next run does the same as the one that failed".to_owned());
            return Err(self.failed(&failure, &plan, outcome.story, Some(diverges)));
        };
        if shrinks {
            again = self.shrink(&mut plan, again, &failure);
        }
        let failure = again.failure.unwrap_or(failure);
        Err(self.failed(&failure, &plan, again.story, None))
    }

    /// Reports whether the run without faults fails now: statics have survived the failing run, which cannot be repeated.
    fn has_changed(&mut self, plan: &Plan) -> bool {
        let without = Plan { again: plan.again, ..Plan::default() };
        *plan != without && self.run(&without).failure.is_some()
    }

    /// Notes how the second run of a schedule differs from the first one, which did not fail.
    ///
    /// # Errors
    /// Returns the failure of the second run.
    fn compare(&mut self, plan: &Plan, story: &[String], again: Outcome) -> Result<(), Box<Failed>> {
        self.diverges = difference(story, &again.story);
        match again.failure {
            Some(failure) => Err(self.failed(&failure, plan, again.story, self.diverges.clone())),
            None => Ok(()),
        }
    }

    /// Returns a second run that fails in the same way.
    fn repeated(&mut self, plan: &Plan, failure: &Failure) -> Option<Outcome> {
        (0..REPEATS).find_map(|_| {
            let outcome = self.run(plan);
            outcome.failure.as_ref().is_some_and(|found| found.is_like(failure)).then_some(outcome)
        })
    }

    fn report(&self) -> Report {
        let crashed = |when: &str, site: &str| {
            self.fired.iter().any(|fired| fired.starts_with(when) && fired.ends_with(&format!("@{site}")))
        };
        let writes = self.known.baseline.sites.iter().filter(|site| site.kind.is_write());
        let writes = writes.map(|site| Crashed {
            write: site.name.clone(),
            before: crashed("crash-before", &site.name),
            after: crashed("crash-after", &site.name),
        });
        Report {
            name: self.name.to_owned(),
            schedules: self.runs,
            places: self.known.baseline.sites.len(),
            writes: writes.collect(),
            faults: self.fired.len(),
            states: self.seen.len(),
            moves: self.moves,
            time: self.begin.elapsed().max(Duration::from_micros(1)),
            story: self.known.baseline.story.clone(),
            dead: self.dead.clone(),
            unrefused: self.unrefused.clone(),
            history: self.history.clone(),
            diverges: self.diverges.clone(),
        }
    }

    fn failed(
        &self,
        failure: &Failure,
        plan: &Plan,
        story: Vec<String>,
        diverges: Option<String>,
    ) -> Box<Failed> {
        Box::new(Failed {
            name: self.name.to_owned(),
            failure: failure.to_string(),
            plan: plan.to_string(),
            faults: plan.faults.len(),
            seed: self.settings.seed,
            runs: self.runs,
            story,
            diverges,
            statics: false,
        })
    }
}
