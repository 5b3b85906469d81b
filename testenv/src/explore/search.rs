//! Searches for a failing schedule, and reduces it.

mod learn;
mod place;
mod shrink;
mod variants;

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use super::beginning::Beginning;
use super::compare::difference;
use super::dice::Dice;
use super::oracle::Failure;
use super::plan::{Ground, Plan, random, systematic};
use super::report::{Crashed, Failed, Report};
use super::run::{Expected, Options, Outcome, RunPurpose, Scenario, run};
use super::settings::Settings;
use variants::Effects;

/// The limit of runs of a failing schedule before it counts as not repeatable.
const REPEATS: usize = 3;

/// Of this many schedules, the last one runs twice, to see whether it repeats.
const REPEATED: usize = 100;

/// The number of schedules before those that continue after the user's steps, and before random ones.
const SINGLES_FIRST: usize = 40;

/// From then on, of this many schedules, one comes after a run that changes single fields.
const FIELDS_EVERY: usize = 12;

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
    /// As `known`, for runs without some steps.
    reduced: Known,
    /// Whether a written resource results in pods.
    node: bool,
    begin: Instant,
    runs: usize,
    moves: u64,
    fired: BTreeSet<String>,
    seen: BTreeSet<u64>,
    /// The effects of changes of fields of varied objects.
    effects: Effects,
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
        reduced: Known::default(),
        node: false,
        begin: Instant::now(),
        runs: 0,
        moves: 0,
        fired: BTreeSet::new(),
        seen: BTreeSet::new(),
        effects: Effects::default(),
        unrefused: Vec::new(),
        history: BTreeSet::new(),
        diverges: None,
    };
    search.learn()?;
    search.explore()
}

impl Search<'_> {
    fn known(&self, plan: &Plan) -> &Known {
        match (plan.without.is_empty(), plan.again) {
            (false, _) => &self.reduced,
            (true, true) => &self.again,
            (true, false) => &self.known,
        }
    }

    fn known_mut(&mut self, plan: &Plan) -> &mut Known {
        match (plan.without.is_empty(), plan.again) {
            (false, _) => &mut self.reduced,
            (true, true) => &mut self.again,
            (true, false) => &mut self.known,
        }
    }

    /// Runs a schedule that may fail.
    fn run(&mut self, plan: &Plan) -> Outcome {
        let options =
            Options { purpose: RunPurpose::Judge(&self.known(plan).expected), ..self.options(plan) };
        let outcome = run(self.scenario, options);
        let outcome = self.count(outcome);
        match self.comes_from_history(plan, &outcome) {
            true => Outcome { failure: None, ..outcome },
            false => outcome,
        }
    }

    /// Reports whether a state differs only because the operator has not seen an earlier one: an operator that starts then
    /// ends there, too.
    fn comes_from_history(&mut self, plan: &Plan, outcome: &Outcome) -> bool {
        let Some(Failure::State { differences, .. }) = outcome.failure.as_ref().filter(|_| outcome.history)
        else {
            return false;
        };
        let plan = plan.without_faults();
        let expected = &self.known(&plan).expected;
        let purpose = RunPurpose::Compare(expected);
        let late = run(self.scenario, Options { purpose, late: Some(outcome.last), ..self.options(&plan) });
        let (wanted, found) = (expected.states.get(outcome.last), late.states.get(outcome.last));
        let usual = wanted.zip(found).map(|(wanted, found)| expected.mask.differences(wanted, found));
        self.count(late);
        usual.is_some_and(|usual| differences.iter().all(|line| usual.contains(line)))
    }

    fn options<'a>(&'a self, plan: &'a Plan) -> Options<'a> {
        let (seed, node) = (self.settings.seed, self.node);
        let resources = &self.known(plan).expected.resources;
        let beginning = &self.beginning;
        Options {
            beginning,
            seed,
            plan,
            purpose: RunPurpose::Learn,
            resources,
            late: None,
            node,
            unfit: &self.effects.unfit,
        }
    }

    fn count(&mut self, outcome: Outcome) -> Outcome {
        self.runs += 1;
        self.moves += outcome.moves;
        self.seen.extend(&outcome.seen);
        outcome
    }

    /// Returns the schedules with one fault.
    fn singles(&self, plan: &Plan) -> VecDeque<Plan> {
        let Outcome { sites, steps, users, replicas, clock, .. } = &self.known(plan).baseline;
        let first = if plan.again { *users } else { 0 };
        let ground = Ground {
            sites,
            steps: *steps,
            first,
            again: plan.again,
            replicas: *replicas,
            clock: *clock,
            pods: self.node,
        };
        systematic(&ground).into()
    }

    /// Runs the requested schedule.
    fn replay(mut self, plan: &Plan) -> Result<Report, Box<Failed>> {
        if !plan.without.is_empty() {
            self.learn_reduced(plan)?;
        } else if plan.again {
            self.learn_again()?;
        }
        if let Some(last) = plan.fields {
            // A run knows what the ones before it found.
            for number in 0..=last {
                self.try_fields(number)?;
            }
            return Ok(self.report());
        }
        if plan.invalid.is_some() {
            let outcome = run(self.scenario, self.options(plan));
            let outcome = self.count(outcome);
            self.unrefused.extend(self.failure_of(&outcome));
            return self.replayed(plan, &outcome);
        }
        let outcome = self.attempt(plan, false)?;
        self.replayed(plan, &outcome)
    }

    fn explore(mut self) -> Result<Report, Box<Failed>> {
        if let Some(plan) = self.settings.plan.clone() {
            return self.replay(&plan);
        }
        let mut singles = self.singles(&Plan::default());
        let mut all: Vec<Plan> = singles.iter().cloned().collect();
        let mut after = VecDeque::new();
        let mut dice = Dice::new(self.settings.seed);
        let mut fields = Some(0);
        let mut odd = (!self.known.baseline.variants.kinds.is_empty()).then_some(0);
        for i in 0..self.settings.schedules {
            if self.begin.elapsed() >= self.settings.time {
                break;
            }
            if let Some(number) =
                fields.filter(|_| i >= SINGLES_FIRST && i % FIELDS_EVERY == SINGLES_FIRST % FIELDS_EVERY)
            {
                fields = self.try_fields(number)?.then_some(number + 1);
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
                self.compare(&plan, &story, &repeated)?;
            }
        }
        Ok(self.report())
    }

    /// Reports on the requested schedule, which must have happened.
    fn replayed(&self, plan: &Plan, outcome: &Outcome) -> Result<Report, Box<Failed>> {
        match place::missing(plan, outcome) {
            Some(missing) => Err(self.failed(&missing, plan, outcome.told(), None)),
            None => Ok(Report { story: outcome.told(), ..self.report() }),
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
                ..*self.failed(&failure, &plan, outcome.told(), None)
            }));
        }
        let Some(mut again) = self.repeated(&plan, &failure) else {
            let other = self.run(&plan).story;
            let diverges = difference(&outcome.story, &other)
                .unwrap_or_else(|| "the next run does the same as the one that failed".to_owned());
            return Err(self.failed(&failure, &plan, outcome.told(), Some(diverges)));
        };
        if shrinks {
            again = self.shrink(&mut plan, again, &failure);
        }
        let failure = again.failure.as_ref().unwrap_or(&failure);
        Err(self.failed(failure, &plan, again.told(), None))
    }

    /// Reports whether the run without faults fails now: statics have survived the failing run, which cannot be repeated.
    fn has_changed(&mut self, plan: &Plan) -> bool {
        let without = plan.without_faults();
        *plan != without && self.run(&without).failure.is_some()
    }

    /// Notes how the second run of a schedule differs from the first one, which did not fail.
    ///
    /// # Errors
    /// Returns the failure of the second run.
    fn compare(&mut self, plan: &Plan, story: &[String], again: &Outcome) -> Result<(), Box<Failed>> {
        self.diverges = difference(story, &again.story);
        match &again.failure {
            Some(failure) => Err(self.failed(failure, plan, again.told(), self.diverges.clone())),
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
            story: self.known.baseline.told(),
            dead: self.effects.dead(),
            untried: self.effects.untried(),
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
