//! Tries changes of varied objects without faults.

use std::collections::{BTreeMap, BTreeSet};

use super::Search;
use crate::explore::oracle::Failure;
use crate::explore::plan::Plan;
use crate::explore::report::Failed;
use crate::explore::run::{Options, Outcome, run};
use crate::explore::steps::{FieldChange, Variants};
use crate::explore::vary::{Change, Origin};
use crate::explore::world::is_noise;

/// The limit of changes in a run with which the operator fails.
const MOST_UNFIT: usize = 10;

/// The effects of changes of fields.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// The fields of which a change has an effect.
    alive: BTreeSet<String>,
    /// Changes without an effect, by field.
    still: BTreeMap<String, BTreeSet<String>>,
    /// The fields that the sample leaves unset.
    unset: BTreeSet<String>,
    /// The fields that the server takes no change of, and those whose changes are left.
    untried: BTreeSet<String>,
    later: BTreeSet<String>,
    /// Changes with which the operator fails.
    pub(super) unfit: BTreeSet<String>,
    /// The resources to compare, and whether pods run.
    resources: BTreeSet<(String, String)>,
    node: bool,
}

impl Effects {
    /// Reports whether a change of a field, or of one below it, has an effect: a value that has one may be unset without.
    fn is_alive(&self, field: &str) -> bool {
        let mut all = self.alive.iter().filter_map(|other| other.strip_prefix(field));
        all.any(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    /// Returns the fields whose changes have no effect. One value of a field that is unset may mean the same as none.
    pub(super) fn dead(&self) -> BTreeSet<String> {
        let dead = self.still.iter().filter(|(field, changes)| {
            let is_sure = changes.len() > 1 || !self.unset.contains(*field);
            is_sure && !self.is_alive(field)
        });
        dead.map(|(field, _)| field.clone()).collect()
    }

    /// Returns the fields without a change so far.
    pub(super) fn untried(&self) -> BTreeSet<String> {
        let is_tried = |field: &&String| self.still.contains_key(*field) || self.alive.contains(*field);
        self.untried.iter().chain(self.later.iter().filter(|field| !is_tried(field))).cloned().collect()
    }
}

/// Returns the change with which a run failed, unless the operator has to work with it.
fn unfit(outcome: &Outcome) -> Option<Change> {
    // The step that failed has no state.
    let step = outcome.states.len();
    let fields = &mut outcome.variants.fields.iter();
    let found = fields.find(|field| field.changed == step || field.changed + 1 == step)?;
    (found.change.origin == Origin::Made).then(|| found.change.clone())
}

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

    /// Changes fields of varied objects separately, in the run of this number. Notes the changes without any effect, and
    /// those with which the operator fails although only the schema says that they make sense. False if no change is left.
    pub(super) fn try_fields(&mut self, number: usize) -> Result<bool, Box<Failed>> {
        let plan = Plan { fields: Some(number), ..Plan::default() };
        if self.known.baseline.variants.kinds.is_empty() {
            return Ok(false);
        }
        let mut outcome = self.run_fields(&plan);
        for _ in 0..MOST_UNFIT {
            let Some(failure) = &outcome.failure else { break };
            let Some(unfit) = unfit(&outcome) else {
                return Err(self.failed(failure, &plan, outcome.told(), None));
            };
            let (what, field) = (unfit.text(), unfit.name());
            self.unrefused.push(format!("{what} is accepted, and then {failure} (plan={plan})"));
            self.effects.alive.insert(field);
            self.effects.unfit.insert(what);
            outcome = self.run_fields(&plan);
        }
        self.check_variants(&outcome, &plan)?;
        let is_failed = outcome.failure.is_some();
        let kept = self.note_effects(&outcome);
        for (step, field) in kept {
            self.check_unset(&plan, &outcome, step, &field)?;
        }
        Ok(!is_failed && !outcome.variants.later.is_empty())
    }

    /// Runs changes of fields. They may lead to resources that the run without them does not write.
    fn run_fields(&mut self, plan: &Plan) -> Outcome {
        self.effects.resources.extend(self.known.expected.resources.iter().cloned());
        loop {
            let outcome = run(self.scenario, self.options_of_fields(plan));
            let outcome = self.count(outcome);
            let effects = &mut self.effects;
            let before = (effects.resources.len(), effects.node);
            let compared = outcome.written.iter().filter(|(_, resource)| !is_noise(resource));
            effects.resources.extend(compared.cloned());
            effects.node |= outcome.has_workloads();
            if before == (effects.resources.len(), effects.node) {
                return outcome;
            }
        }
    }

    fn options_of_fields<'a>(&'a self, plan: &'a Plan) -> Options<'a> {
        let Effects { resources, node, .. } = &self.effects;
        Options { resources, node: *node || self.node, ..self.options(plan) }
    }

    /// Notes which changes had an effect. Returns the steps that unset a field without an effect that has one otherwise.
    fn note_effects(&mut self, outcome: &Outcome) -> Vec<(usize, String)> {
        let Variants { fields, later, untried, unset, .. } = &outcome.variants;
        let done: Vec<&FieldChange> =
            fields.iter().filter(|field| field.changed < outcome.states.len()).collect();
        let (alive, without): (Vec<&FieldChange>, Vec<&FieldChange>) =
            done.into_iter().partition(|field| self.has_effect(outcome, field));
        let effects = &mut self.effects;
        effects.alive.extend(alive.iter().map(|field| field.change.name()));
        effects.untried.extend(untried.iter().cloned());
        effects.later.clone_from(later);
        for field in without.iter().filter(|field| field.change.origin != Origin::Order) {
            effects.still.entry(field.change.name()).or_default().insert(field.change.text());
        }
        effects.unset.extend(unset.iter().cloned());
        let is_kept = |field: &&&FieldChange| {
            field.change.origin == Origin::Unset && effects.is_alive(&field.change.name())
        };
        without.iter().filter(is_kept).map(|field| (field.changed, field.change.name())).collect()
    }

    /// Reports whether a change of a field has changed more than the field itself.
    fn has_effect(&self, outcome: &Outcome, field: &FieldChange) -> bool {
        let state = |step: usize| outcome.states.get(step);
        let (Some(one), Some(other)) = (state(field.before), state(field.changed)) else { return false };
        let is_itself = |line: &String| {
            let (object, field) = line.split_once(": ").unwrap_or((line, ""));
            let kind = object.split(' ').next().unwrap_or_default();
            field.starts_with("spec.") && outcome.variants.kinds.contains(kind)
        };
        let mask = &self.known.expected.mask;
        mask.differences(one, other).iter().any(|line| !is_itself(line))
    }

    /// Checks that the objects after a field is unset are as if it had never been set.
    fn check_unset(
        &mut self,
        plan: &Plan,
        outcome: &Outcome,
        step: usize,
        field: &str,
    ) -> Result<(), Box<Failed>> {
        let late =
            self.count(run(self.scenario, Options { late: Some(step), ..self.options_of_fields(plan) }));
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
