//! Tries changes of varied objects without faults.

use std::collections::BTreeSet;

use super::Search;
use crate::explore::oracle::Failure;
use crate::explore::plan::Plan;
use crate::explore::report::Failed;
use crate::explore::run::{Options, Outcome, run};

impl Search<'_> {
    /// Checks that reverted changes have left nothing, and that the order of changes makes no difference.
    pub(super) fn check_variants(&self, outcome: &Outcome, plan: &Plan) -> Result<(), Box<Failed>> {
        let mask = &self.known.expected.mask;
        for (before, after, what) in &outcome.variants.same {
            let (Some(one), Some(other)) = (outcome.states.get(*before), outcome.states.get(*after)) else {
                continue;
            };
            let differences = mask.differences(one, other);
            if !differences.is_empty() {
                let failure = Failure::NotReversed { what: what.clone(), step: after + 1, differences };
                return Err(self.failed(&failure, plan, outcome.told(), None));
            }
        }
        Ok(())
    }

    /// Changes each field of varied objects separately, and finds those without any effect.
    pub(super) fn try_fields(&mut self) -> Result<(), Box<Failed>> {
        let plan = Plan { fields: true, ..Plan::default() };
        if self.known.baseline.variants.same.is_empty() {
            return Ok(());
        }
        let outcome = run(self.scenario, self.options(&plan));
        let outcome = self.count(outcome);
        if let Some(failure) = &outcome.failure {
            return Err(self.failed(failure, &plan, outcome.told(), None));
        }
        self.check_variants(&outcome, &plan)?;
        let mask = &self.known.expected.mask;
        let has_effect = |(before, changed, _): &&(usize, usize, String)| {
            let (Some(one), Some(other)) = (outcome.states.get(*before), outcome.states.get(*changed)) else {
                return false;
            };
            let is_itself = |line: &String| {
                let (object, field) = line.split_once(": ").unwrap_or((line, ""));
                let kind = object.split(' ').next().unwrap_or_default();
                field.starts_with("spec.") && outcome.variants.kinds.contains(kind)
            };
            mask.differences(one, other).iter().any(|line| !is_itself(line))
        };
        let (alive, dead): (Vec<_>, Vec<_>) = outcome.variants.fields.iter().partition(has_effect);
        let alive: BTreeSet<&String> = alive.into_iter().map(|(.., field)| field).collect();
        // A value that has an effect may be unset without one.
        let is_alive = |field: &str| {
            let mut all = alive.iter().filter_map(|other| other.strip_prefix(field));
            all.any(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_kept = |(_, changed, field): &&&(usize, usize, String)| {
            outcome.variants.unset.contains(changed) && is_alive(field)
        };
        let kept = dead.iter().filter(is_kept).map(|(_, changed, field)| (*changed, field.clone()));
        let kept: Vec<(usize, String)> = kept.collect();
        self.dead =
            dead.into_iter().map(|(.., field)| field).filter(|field| !is_alive(field)).cloned().collect();
        for (step, field) in kept {
            self.check_unset(&plan, &outcome, step, &field)?;
        }
        Ok(())
    }

    /// Checks that the objects after a field is unset are as if it had never been set.
    fn check_unset(
        &mut self,
        plan: &Plan,
        outcome: &Outcome,
        step: usize,
        field: &str,
    ) -> Result<(), Box<Failed>> {
        let late = self.count(run(self.scenario, Options { late: Some(step), ..self.options(plan) }));
        let state = |outcome: &Outcome| outcome.states.get(step).cloned().unwrap_or_default();
        let is_other =
            |line: &String| !outcome.variants.kinds.contains(line.split(' ').next().unwrap_or_default());
        let differences: Vec<String> = self
            .known
            .expected
            .mask
            .differences(&state(&late), &state(outcome))
            .into_iter()
            .filter(is_other)
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        let failure = Failure::NotUnset { field: field.to_owned(), step: step + 1, differences };
        Err(self.failed(&failure, plan, outcome.told(), None))
    }

    /// Applies an odd object that the server accepts, and notes it if the operator fails on it; false if there are fewer.
    pub(super) fn try_invalid(&mut self, number: usize) -> bool {
        let plan = Plan { invalid: Some(number), ..Plan::default() };
        let outcome = run(self.scenario, self.options(&plan));
        let outcome = self.count(outcome);
        if number == 0 {
            self.unrefused.extend(outcome.variants.against_schema.iter().cloned());
        }
        let Some(what) = &outcome.variants.invalid else { return false };
        if let Some(failure) = self.failure_of(&outcome) {
            self.unrefused.push(format!("{what} is accepted, and then {failure} (plan={plan})"));
        }
        true
    }

    /// Returns the failure of a run with an odd object.
    pub(super) fn failure_of(&self, outcome: &Outcome) -> Option<String> {
        if let Some(failure) = outcome.failure.as_ref().or(outcome.leaked.as_ref()) {
            return Some(failure.to_string());
        }
        let (before, after, _) = outcome.variants.same.first()?;
        let (one, other) = (outcome.states.get(*before)?, outcome.states.get(*after)?);
        let differences = self.known.expected.mask.differences(one, other);
        let more = differences.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        differences
            .first()
            .map(|first| format!("its correction does not bring everything back: {first}{more}"))
    }
}
