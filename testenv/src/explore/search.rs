//! Looks for a schedule that fails, and makes it small.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::dice::Dice;
use super::oracle::Failure;
use super::plan::{Plan, SiteKind, random, smaller, systematic};
use super::report::{Failed, Report};
use super::run::{Aim, Expected, Options, Outcome, Scenario, run};
use super::settings::Settings;
use super::world::is_noise;

/// How many runs may be spent on making a schedule smaller.
const MOST_SHRINKS: usize = 60;
/// Resources whose objects lead to pods.
const WORKLOADS: &[&str] = &[
    "pods",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
    "cronjobs",
    "replicationcontrollers",
];
/// How often a failing schedule is run again before it counts as not repeatable.
const REPEATS: usize = 3;

/// A search for a failing schedule.
pub(super) struct Search<'a> {
    name: &'a str,
    scenario: Scenario<'a>,
    settings: &'a Settings,
    expected: Expected,
    baseline: Outcome,
    /// Whether something is written that leads to pods.
    node: bool,
    begin: Instant,
    runs: usize,
    moves: u64,
    fired: BTreeSet<String>,
}

/// Explores a scenario.
///
/// # Errors
/// Returns the smallest failing schedule that was found.
pub(super) fn search(name: &str, scenario: Scenario<'_>, settings: &Settings) -> Result<Report, Box<Failed>> {
    let mut search = Search {
        name,
        scenario,
        settings,
        expected: Expected::default(),
        baseline: Outcome::default(),
        node: false,
        begin: Instant::now(),
        runs: 0,
        moves: 0,
        fired: BTreeSet::new(),
    };
    search.learn()?;
    search.explore()
}

impl Search<'_> {
    /// Runs a schedule that may fail.
    fn run(&mut self, plan: &Plan) -> Outcome {
        let options = Options { aim: Aim::Judge(&self.expected), ..self.options(plan) };
        let outcome = run(self.scenario, options);
        self.count(outcome)
    }

    fn options<'a>(&'a self, plan: &'a Plan) -> Options<'a> {
        let (seed, resources, node) = (self.settings.seed, &self.expected.resources, self.node);
        Options { seed, plan, aim: Aim::Learn, resources, late: false, node }
    }

    fn count(&mut self, outcome: Outcome) -> Outcome {
        self.runs += 1;
        self.moves += outcome.moves;
        super::progress();
        outcome
    }

    /// Runs the scenario without faults.
    fn learn(&mut self) -> Result<(), Box<Failed>> {
        let none = Plan::default();
        self.baseline = self.count(run(self.scenario, Options { aim: Aim::Scout, ..self.options(&none) }));
        // A run may write what no run before it has shown.
        while self.takes_account_of_writes() {
            self.baseline = self.count(run(self.scenario, self.options(&none)));
        }
        if let Some(failure) = self.baseline.failure.clone() {
            return Err(self.failed(&failure, &none, self.baseline.story.clone(), None));
        }
        self.expected.mask.ignored.clone_from(&self.baseline.ignored);
        self.expected.states.clone_from(&self.baseline.states);
        self.expected.objects.clone_from(&self.baseline.objects);
        let compared = Options { aim: Aim::Compare(&self.expected), ..self.options(&none) };
        let other = run(self.scenario, Options { seed: self.settings.seed + 1, ..compared });
        let late = run(self.scenario, Options { late: true, ..compared });
        let (other, late) = (self.count(other), self.count(late));
        for (one, other) in self.baseline.states.iter().zip(&other.states) {
            self.expected.mask.add_differences(one, other);
        }
        self.check_returns(&none)?;
        let steps = self.baseline.steps;
        let is_like = |i: usize| match (self.expected.states.get(i), late.states.get(i)) {
            (Some(one), Some(other)) => self.expected.mask.differences(one, other).is_empty(),
            _ => false,
        };
        self.expected.depends_on_history =
            late.failure.is_some() || !(steps.saturating_sub(2)..steps).all(is_like);
        Ok(())
    }

    /// Adds what the last run has written to what is compared; false if nothing is new, and the run can be compared with.
    fn takes_account_of_writes(&mut self) -> bool {
        let node = self.baseline.written.iter().any(|(_, resource)| WORKLOADS.contains(&resource.as_str()));
        let compared = |(_, resource): &&(String, String)| !is_noise(resource);
        let resources: BTreeSet<_> = self.baseline.written.iter().filter(compared).cloned().collect();
        let is_new = (node && !self.node) || !resources.is_subset(&self.expected.resources);
        self.node |= node;
        self.expected.resources.extend(resources);
        is_new
    }

    /// Checks that changes that were taken back have left nothing.
    fn check_returns(&self, none: &Plan) -> Result<(), Box<Failed>> {
        for (before, after) in &self.baseline.returns {
            let (Some(one), Some(other)) =
                (self.expected.states.get(*before), self.expected.states.get(*after))
            else {
                continue;
            };
            let differences = self.expected.mask.differences(one, other);
            if !differences.is_empty() {
                let failure = Failure::NotReversed { step: after + 1, differences };
                return Err(self.failed(&failure, none, self.baseline.story.clone(), None));
            }
        }
        Ok(())
    }

    fn explore(mut self) -> Result<Report, Box<Failed>> {
        if let Some(plan) = self.settings.plan.clone() {
            self.attempt(&plan, false)?;
            return Ok(self.report());
        }
        let singles = systematic(&self.baseline.sites, self.baseline.steps);
        let mut dice = Dice::new(self.settings.seed);
        for i in 0..self.settings.schedules {
            if self.begin.elapsed() >= self.settings.time {
                break;
            }
            match singles.get(i) {
                Some(plan) => self.attempt(plan, true)?,
                None => self.attempt(&random(&singles, &mut dice), true)?,
            }
        }
        Ok(self.report())
    }

    /// Runs a schedule; a failure is repeated and made smaller.
    fn attempt(&mut self, plan: &Plan, shrinks: bool) -> Result<(), Box<Failed>> {
        let outcome = self.run(plan);
        self.fired.extend(outcome.fired.iter().cloned());
        let Some(failure) = outcome.failure.clone() else { return Ok(()) };
        let mut plan = plan.clone();
        let Some(mut again) = self.repeated(&plan, &failure) else {
            let diverges = self.divergence(&plan, &outcome.story);
            return Err(self.failed(&failure, &plan, outcome.story, Some(diverges)));
        };
        if shrinks {
            again = self.shrink(&mut plan, again, &failure);
        }
        let failure = again.failure.unwrap_or(failure);
        Err(self.failed(&failure, &plan, again.story, None))
    }

    /// A second run that fails in the same way.
    fn repeated(&mut self, plan: &Plan, failure: &Failure) -> Option<Outcome> {
        (0..REPEATS).find_map(|_| {
            let outcome = self.run(plan);
            outcome.failure.as_ref().is_some_and(|found| found.is_like(failure)).then_some(outcome)
        })
    }

    /// The first line in which another run of a schedule differs.
    fn divergence(&mut self, plan: &Plan, story: &[String]) -> String {
        let other = self.run(plan).story;
        match story.iter().zip(&other).find(|(one, other)| one != other) {
            Some((one, other)) => format!("one run has\n  {one}\nwhere another has\n  {other}"),
            None => {
                format!("one run goes on after {} lines where another ends", story.len().min(other.len()))
            }
        }
    }

    fn shrink(&mut self, plan: &mut Plan, mut best: Outcome, failure: &Failure) -> Outcome {
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

    fn report(&self) -> Report {
        let is_write = |kind: SiteKind| matches!(kind, SiteKind::Write | SiteKind::VersionedWrite);
        let writes: Vec<&str> = self
            .baseline
            .sites
            .iter()
            .filter(|site| is_write(site.kind))
            .map(|site| site.name.as_str())
            .collect();
        let crashed = |when: &str| {
            let hit = |site: &&&str| {
                self.fired.iter().any(|fired| fired.starts_with(when) && fired.ends_with(&format!("@{site}")))
            };
            writes.iter().filter(hit).count()
        };
        Report {
            name: self.name.to_owned(),
            schedules: self.runs,
            places: self.baseline.sites.len(),
            writes: writes.len(),
            crashed_before: crashed("crash-before"),
            crashed_after: crashed("crash-after"),
            faults: self.fired.len(),
            moves: self.moves,
            time: self.begin.elapsed().max(Duration::from_micros(1)),
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
        })
    }
}
