//! Assigns faults to requests.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::Request;
use ring::digest::{SHA256, digest};

use super::rule::{Asked, Fault, Rule, Verb};

/// The limit of faults kept for reports.
const REMEMBERED: usize = 10_000;

/// Rules, and random faults for requests that no rule matches. If several rules are due, the first applies.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    rules: Vec<Rule>,
    random: Option<Random>,
}

impl Schedule {
    /// Creates a schedule without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a schedule of random faults by this seed; see [`Random`] for their number and kinds.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::new().random(Random::seeded(seed))
    }

    /// Adds a rule after the others.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets random faults.
    #[must_use]
    pub fn random(mut self, random: Random) -> Self {
        self.random = Some(random);
        self
    }
}

/// Random faults, the same ones for the same requests.
///
/// The fault of a request depends on the seed, on its verb and resource, and on the number of earlier requests with the
/// same verb and resource; not on the time, nor on other requests.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    probability: f64,
    calm_after: Option<u64>,
}

impl Random {
    /// Creates faults for every third request, forever.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { seed, probability: 1.0 / 3.0, calm_after: None }
    }

    /// Sets the share of requests with a fault: from 0, none, to 1, all.
    #[must_use]
    pub fn probability(mut self, probability: f64) -> Self {
        self.probability = probability;
        self
    }

    /// Stops faults after the first `n` requests with the same verb and resource.
    #[must_use]
    pub fn calm_after(mut self, n: u64) -> Self {
        self.calm_after = Some(n);
        self
    }

    fn decide(&self, asked: &Asked, route: &str, index: u64) -> Option<Fault> {
        if self.calm_after.is_some_and(|n| index >= n) {
            return None;
        }
        let mut dice = Dice::new(self.seed, route, index);
        // The 53 bits that a float holds exactly.
        let share = (dice.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (share < self.probability).then(|| dice.fault(asked.verb))
    }
}

/// Random numbers that depend only on their key.
struct Dice {
    key: Vec<u8>,
    count: u64,
}

impl Dice {
    fn new(seed: u64, route: &str, index: u64) -> Self {
        let key = [&seed.to_be_bytes(), &index.to_be_bytes(), route.as_bytes()].concat();
        Self { key, count: 0 }
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        let hash = digest(&SHA256, &[self.key.as_slice(), &self.count.to_be_bytes()].concat());
        hash.as_ref().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn fault(&mut self, verb: Option<Verb>) -> Fault {
        // Watches can have all faults, other requests the first eight kinds.
        let kinds = if verb == Some(Verb::Watch) { 13 } else { 8 };
        match self.below(kinds) {
            0 => Fault::DropRequest,
            1 => Fault::DropAnswer,
            2 => Fault::DropAnswerAfter(self.below(2000)),
            3 => Fault::Delay(Duration::from_millis(self.below(10_000))),
            4 => Fault::Status([500, 503][self.below(2) as usize]),
            5 => Fault::TooManyRequests(self.below(3)),
            6 => Fault::Garble { at: self.below(500), count: 1 + self.below(20) },
            // A client that requested no version does not expect 410.
            7 if matches!(verb, Some(Verb::List | Verb::Watch)) => Fault::Status(410),
            7 => Fault::Status(503),
            8 => Fault::EndWatch(self.below(5)),
            9 => Fault::EndWatchAfterBytes(self.below(3000)),
            10 => Fault::TruncateWatch(self.below(5)),
            11 => Fault::ExpireWatch(self.below(5)),
            _ => Fault::SilenceWatch(Some(Duration::from_secs(1 + self.below(60)))),
        }
    }
}

/// A fault of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Injection {
    /// The verb and the resource, or the path of other requests.
    pub route: String,
    /// The number of earlier requests of the route.
    pub index: u64,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} #{}: {}", self.route, self.index, self.fault)
    }
}

/// Decides on faults, counts requests and records both.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Each rule with the number of matching requests.
    rules: Vec<(Rule, u64)>,
    random: Option<Random>,
    routes: BTreeMap<String, u64>,
    injections: Vec<Injection>,
    requests: u64,
}

impl Faults {
    pub(crate) fn new(schedule: Schedule) -> Self {
        let faults = Self::default();
        faults.set(schedule);
        faults
    }

    /// Replaces the schedule; the counts of requests continue, those of rules start again.
    pub(crate) fn set(&self, schedule: Schedule) {
        let mut state = self.state();
        state.rules = schedule.rules.into_iter().map(|rule| (rule, 0)).collect();
        state.random = schedule.random;
    }

    pub(crate) fn add(&self, rule: Rule) {
        self.state().rules.push((rule, 0));
    }

    /// Returns the fault of a request, and counts the request.
    pub(crate) fn decide<B>(&self, request: &Request<B>) -> Option<Fault> {
        let asked = Asked::of(request);
        let route = asked.route();
        let mut state = self.state();
        let state = &mut *state;
        state.requests += 1;
        let next = state.routes.entry(route.clone()).or_default();
        let index = *next;
        *next += 1;
        let mut fault = None;
        for (rule, count) in state.rules.iter_mut().filter(|(rule, _)| rule.fits(&asked)) {
            *count += 1;
            if fault.is_none() && rule.is_due(*count) {
                fault = Some(rule.fault.clone());
            }
        }
        let random = || state.random.as_ref()?.decide(&asked, &route, index);
        let fault = fault.or_else(random)?;
        if state.injections.len() < REMEMBERED {
            state.injections.push(Injection { route, index, fault: fault.clone() });
        }
        Some(fault)
    }

    pub(crate) fn injections(&self) -> Vec<Injection> {
        self.state().injections.clone()
    }

    pub(crate) fn report(&self) -> String {
        let state = self.state();
        let mut text = match &state.random {
            Some(random) => format!("seed {}", random.seed),
            None => "no seed".to_owned(),
        };
        let counts = (state.rules.len(), state.requests, state.injections.len());
        // Writing to a string cannot fail.
        let _ = write!(text, ", {} rules, {} requests, {} faults", counts.0, counts.1, counts.2);
        for injection in &state.injections {
            let _ = write!(text, "\n{injection}");
        }
        text
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(faults: &Faults, uri: &str) -> Option<Fault> {
        faults.decide(&Request::get(uri).body(()).unwrap())
    }

    #[test]
    fn seed_decides_faults_independently_of_other_requests() {
        let pods = "/api/v1/pods?watch=1";
        let alone = Faults::new(Schedule::seeded(7));
        let first: Vec<Option<Fault>> = (0..200).map(|_| decide(&alone, pods)).collect();
        let among = Faults::new(Schedule::seeded(7));
        let again: Vec<Option<Fault>> = (0..200)
            .map(|_| {
                decide(&among, "/version");
                decide(&among, "/api/v1/secrets");
                decide(&among, pods)
            })
            .collect();
        assert_eq!(first, again);
        let other = Faults::new(Schedule::seeded(8));
        assert_ne!(first, (0..200).map(|_| decide(&other, pods)).collect::<Vec<_>>());
    }

    #[test]
    fn random_faults_respect_probability_and_end() {
        let random = Random::seeded(3).probability(0.25).calm_after(4000);
        let faults = Faults::new(Schedule::new().random(random));
        let count = |n: u64| (0..n).filter(|_| decide(&faults, "/api/v1/pods").is_some()).count();
        let (stormy, calm) = (count(4000), count(1000));
        assert!((900..1100).contains(&stormy), "{stormy}");
        assert_eq!(calm, 0);
        let never = Faults::new(Schedule::new().random(Random::seeded(3).probability(0.0)));
        assert!((0..100).all(|_| decide(&never, "/api/v1/pods").is_none()));
        let always = Faults::new(Schedule::new().random(Random::seeded(3).probability(1.0)));
        assert!((0..100).all(|_| decide(&always, "/api/v1/pods").is_some()));
    }

    #[test]
    fn watch_faults_occur_on_watches_only() {
        let always = || Faults::new(Schedule::new().random(Random::seeded(1).probability(1.0)));
        let kinds = |uri: &str| {
            let faults = always();
            let of = |fault: Fault| std::mem::discriminant(&fault);
            (0..500).filter_map(|_| decide(&faults, uri)).map(of).collect::<std::collections::HashSet<_>>()
        };
        assert_eq!(kinds("/api/v1/pods?watch=1").len(), 12);
        assert_eq!(kinds("/api/v1/pods").len(), 7);
        let faults = always();
        assert!((0..500).filter_map(|_| decide(&faults, "/api/v1/pods/a")).all(|fault| !fault.needs_watch()));
    }

    #[test]
    fn first_due_rule_precedes_random_faults() {
        let schedule = Schedule::new()
            .rule(Rule::new(Fault::DropRequest).nth(2))
            .rule(Rule::new(Fault::DropAnswer).times(3))
            .random(Random::seeded(1).probability(0.0));
        let faults = Faults::new(schedule);
        let got: Vec<Option<Fault>> = (0..4).map(|_| decide(&faults, "/version")).collect();
        assert_eq!(got, [Some(Fault::DropAnswer), Some(Fault::DropRequest), Some(Fault::DropAnswer), None]);
        assert_eq!(
            faults.report(),
            "seed 1, 2 rules, 4 requests, 3 faults\n\
             /version #0: connection dropped before the answer\n\
             /version #1: connection dropped before the request\n\
             /version #2: connection dropped before the answer"
        );
    }
}
