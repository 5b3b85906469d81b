//! Reduces a schedule that fails.

use super::Search;
use crate::explore::oracle::Failure;
use crate::explore::plan::{Plan, smaller};
use crate::explore::run::Outcome;

/// The limit of runs that reduce a schedule.
const MOST_SHRINKS: usize = 60;

impl Search<'_> {
    /// Takes steps and faults away as long as the failure stays, and returns the outcome of the smallest schedule.
    pub(super) fn shrink(&mut self, plan: &mut Plan, mut best: Outcome, failure: &Failure) -> Outcome {
        plan.faults.retain(|planned| best.fired.contains(&format!("{}@{}", planned.fault, planned.site)));
        let mut left = MOST_SHRINKS;
        'smaller: loop {
            for candidate in smaller(plan) {
                if left == 0 {
                    return best;
                }
                left -= 1;
                let outcome = self.run(&candidate);
                if outcome.failure.as_ref().is_some_and(|found| found.is_like(failure)) {
                    (*plan, best) = (candidate, outcome);
                    continue 'smaller;
                }
            }
            return best;
        }
    }
}
