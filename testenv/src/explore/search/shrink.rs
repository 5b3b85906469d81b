//! Reduces a schedule that fails.

use super::Search;
use crate::explore::oracle::Failure;
use crate::explore::plan::{Plan, Planned, Site, SiteKind, smaller};
use crate::explore::run::Outcome;

/// The limit of runs that reduce a schedule.
const MOST_SHRINKS: usize = 60;
/// The number of runs that show whether a step is needed, mostly.
const RUNS_OF_STEP: usize = 3;

impl Search<'_> {
    /// Takes faults and steps away as long as the failure stays, and returns the outcome of the smallest schedule.
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
            break;
        }
        let mut step = 0;
        // The steps after the failure did not happen. Those after the user's own have no meaning without them.
        while !plan.again && step <= best.last && step < best.users && left >= RUNS_OF_STEP {
            left -= RUNS_OF_STEP;
            match self.without_step(plan, &best, step, failure) {
                Some(smaller) => (*plan, best) = smaller,
                None => step += 1,
            }
        }
        best
    }

    /// Returns the schedule without one of its steps, if it still fails.
    fn without_step(
        &mut self,
        plan: &Plan,
        best: &Outcome,
        step: usize,
        failure: &Failure,
    ) -> Option<(Plan, Outcome)> {
        let mut candidate = plan.clone();
        candidate.without.insert((0..).filter(|number| !plan.without.contains(number)).nth(step)?);
        let known = std::mem::take(&mut self.reduced);
        let found = self.learn_reduced(&candidate).ok().and_then(|()| {
            let sites = &self.reduced.baseline.sites;
            let moved = |planned: &Planned| {
                let site = moved(&planned.site, &best.sites, sites, step)?;
                Some(Planned { site, ..planned.clone() })
            };
            candidate.faults = plan.faults.iter().map(moved).collect::<Option<_>>()?;
            let outcome = self.run(&candidate);
            let is_like = outcome.failure.as_ref().is_some_and(|found| found.is_like(failure));
            is_like.then_some((candidate, outcome))
        });
        if found.is_none() {
            self.reduced = known;
        }
        found
    }
}

/// Returns the place that a place has in a run without one of the steps.
fn moved(place: &str, sites: &[Site], others: &[Site], without: usize) -> Option<String> {
    let label = |site: &Site| site.name.rsplit_once('#').map_or("", |(label, _)| label).to_owned();
    let site = sites.iter().find(|site| site.name == place)?;
    let step = match site.step {
        step if step == without => return None,
        step => step - usize::from(step > without),
    };
    if site.kind == SiteKind::Step {
        return Some(format!("step#{step}"));
    }
    let same = |other: &&Site, step: usize| other.step == step && label(other) == label(site);
    let before = sites.iter().filter(|other| same(other, site.step)).position(|other| other == site)?;
    others.iter().filter(|other| same(other, step)).nth(before).map(|other| other.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_moves_with_its_step() {
        let site = |name: &str, step: usize, kind: SiteKind| Site {
            kind,
            name: name.to_owned(),
            step,
            changes: 0,
            calls_webhook: false,
            deletes: false,
        };
        let sites = [
            site("step#0", 0, SiteKind::Step),
            site("a#0", 0, SiteKind::Write),
            site("step#1", 1, SiteKind::Step),
            site("a#1", 1, SiteKind::Write),
            site("a#2", 1, SiteKind::Write),
        ];
        let others = [
            site("step#0", 0, SiteKind::Step),
            site("a#0", 0, SiteKind::Write),
            site("a#1", 0, SiteKind::Write),
        ];
        let moved = |place: &str, without: usize| moved(place, &sites, &others, without);
        assert_eq!(moved("a#2", 0).as_deref(), Some("a#1"));
        assert_eq!(moved("step#1", 0).as_deref(), Some("step#0"));
        assert_eq!(moved("a#0", 1).as_deref(), Some("a#0"));
        assert_eq!(moved("a#0", 0), None);
    }
}
