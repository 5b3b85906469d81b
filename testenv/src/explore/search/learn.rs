//! Learns from runs without faults what to expect of others.

use std::collections::BTreeSet;

use super::{Known, Search};
use crate::explore::compare::outdated;
use crate::explore::oracle::Failure;
use crate::explore::plan::Plan;
use crate::explore::report::Failed;
use crate::explore::run::{Expected, Options, Outcome, RunPurpose, run};
use crate::explore::state::State;
use crate::explore::world::is_noise;

impl Search<'_> {
    /// Runs the scenario without faults.
    pub(super) fn learn(&mut self) -> Result<(), Box<Failed>> {
        let none = Plan::default();
        let scouted =
            self.count(run(self.scenario, Options { purpose: RunPurpose::Scout, ..self.options(&none) }));
        // A loop needs no more runs, which may be long, unless it waits for pods, which do not run yet.
        let waits = !self.node && scouted.has_workloads();
        if let Some(failure @ (Failure::HotLoop(_) | Failure::BusyLoop | Failure::Endless(_))) =
            &scouted.failure
            && !waits
        {
            return Err(self.failed(failure, &none, scouted.told(), None));
        }
        self.known.baseline = scouted;
        self.learn_states(&none)?;
        self.check_variants(&self.known.baseline, &none)?;
        let repeated = self.count(run(self.scenario, self.options(&none)));
        let story = self.known.baseline.story.clone();
        self.compare(&none, &story, &repeated)?;
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
        let end = expected.states.last().cloned().unwrap_or_default();
        let outdated = outdated(&state(&late.states), &state(&expected.states), &end, &expected.mask);
        if !outdated.is_empty() {
            let left = outdated.iter().map(|key| format!("{key} is left over")).collect();
            return Err(self.failed(&Failure::Outdated(left), &none, self.known.baseline.told(), None));
        }
        self.known.expected.depends_on_history = !history.is_empty();
        self.history = history.into_iter().collect();
        self.learn_pauses(&none)
    }

    /// Lets a settled operator go on for hours, and learns the pauses between its requests.
    fn learn_pauses(&mut self, none: &Plan) -> Result<(), Box<Failed>> {
        let options = Options { purpose: RunPurpose::Endure, ..self.options(none) };
        let outcome = run(self.scenario, options);
        let outcome = self.count(outcome);
        if let Some(failure) = &outcome.failure {
            return Err(self.failed(failure, none, outcome.told(), None));
        }
        self.known.expected.pause_of_requests = outcome.pause_of_requests;
        Ok(())
    }

    /// Runs the scenario without faults, with the user starting over; false if that adds nothing.
    pub(super) fn learn_again(&mut self) -> Result<bool, Box<Failed>> {
        let plan = Plan { again: true, ..Plan::default() };
        self.again.expected = self.known.expected.clone();
        self.again.baseline = self.count(run(self.scenario, self.options(&plan)));
        if self.again.baseline.failure.is_none() && self.again.baseline.steps == self.known.baseline.steps {
            return Ok(false);
        }
        self.learn_states(&plan)?;
        Ok(true)
    }

    /// Runs the scenario without faults, and without some steps.
    ///
    /// # Errors
    /// Returns the failure of a run without faults.
    pub(super) fn learn_reduced(&mut self, plan: &Plan) -> Result<(), Box<Failed>> {
        let plan = plan.without_faults();
        self.reduced = Known { expected: self.known.expected.clone(), ..Known::default() };
        let baseline = run(self.scenario, self.options(&plan));
        self.reduced.baseline = self.count(baseline);
        self.learn_states(&plan)
    }

    /// Learns the states to expect, after a first run.
    fn learn_states(&mut self, plan: &Plan) -> Result<(), Box<Failed>> {
        let mut baseline = std::mem::take(self.known_mut(plan)).baseline;
        let mut expected = self.known.expected.clone();
        // A run may write resources that no earlier run wrote.
        while self.takes_account_of_writes(&baseline, &mut expected) {
            let options = Options { resources: &expected.resources, ..self.options(plan) };
            let outcome = run(self.scenario, options);
            baseline = self.count(outcome);
        }
        if let Some(failure) = baseline.failure.as_ref().or(baseline.leaked.as_ref()) {
            return Err(self.failed(failure, plan, baseline.told(), None));
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
        *self.known_mut(plan) = Known { expected, baseline };
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
}
