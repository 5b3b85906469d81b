//! Schedules: which faults happen where.

use std::fmt;
use std::str::FromStr;

use super::dice::Dice;

/// What a restarted operator finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    /// It starts at once.
    AtOnce,
    /// It starts after the user's next step.
    AfterStep,
    /// Lists that may be old are as of so many writes ago.
    Stale(u8),
    /// The first list that may be old is as of the beginning of the step: each resource has a cache of its own.
    StaleStep,
    /// The others are.
    StaleStepOthers,
}

/// When a watch event that was held goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// When the operator has nothing else to do.
    Quiet,
    /// A simulated minute later.
    Minute,
    /// After the user's next step.
    AfterStep,
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The operator ends before the request leaves it.
    CrashBefore(Restart),
    /// The server carries the request out, and the operator ends before it knows.
    CrashAfter(Restart),
    /// The connection breaks before the request arrives.
    Unsent,
    /// The server carries the request out, and the connection breaks.
    Lost,
    /// The server refuses.
    Status(u16),
    /// A user changes the object just before.
    Touch,
    /// The watch falls silent before the event.
    Hold(Release),
    /// The watch ends before the event.
    Break,
    /// The watch ends with 410 before the event.
    Expire,
    /// The operator is down while a user acts.
    Down,
    /// A user acts before everything has settled.
    Early,
}

/// All faults with their names in replays.
const NAMES: &[(&str, Fault)] = &[
    ("crash-before", Fault::CrashBefore(Restart::AtOnce)),
    ("crash-before-down", Fault::CrashBefore(Restart::AfterStep)),
    ("crash-after", Fault::CrashAfter(Restart::AtOnce)),
    ("crash-after-down", Fault::CrashAfter(Restart::AfterStep)),
    ("crash-after-stale-1", Fault::CrashAfter(Restart::Stale(1))),
    ("crash-after-stale-2", Fault::CrashAfter(Restart::Stale(2))),
    ("crash-after-stale-step", Fault::CrashAfter(Restart::StaleStep)),
    ("crash-after-stale-step-others", Fault::CrashAfter(Restart::StaleStepOthers)),
    ("unsent", Fault::Unsent),
    ("lost", Fault::Lost),
    ("status-409", Fault::Status(409)),
    ("status-429", Fault::Status(429)),
    ("status-500", Fault::Status(500)),
    ("status-504", Fault::Status(504)),
    ("touch", Fault::Touch),
    ("hold", Fault::Hold(Release::Quiet)),
    ("hold-minute", Fault::Hold(Release::Minute)),
    ("hold-step", Fault::Hold(Release::AfterStep)),
    ("break", Fault::Break),
    ("expire", Fault::Expire),
    ("down", Fault::Down),
    ("early", Fault::Early),
];

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(_, fault)| fault == self).map_or("fault", |(name, _)| name))
    }
}

/// What can be disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteKind {
    Write,
    /// A write that carries the version that it read.
    VersionedWrite,
    Read,
    /// A read that may be answered from the past.
    StaleRead,
    Event,
    Step,
}

/// A place in a run: what happens there, and how often it happened before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) kind: SiteKind,
    pub(super) name: String,
    pub(super) step: usize,
}

/// A fault at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) fault: Fault,
    pub(super) site: String,
}

/// A schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) faults: Vec<Planned>,
    /// Decides the order of what could happen at the same time; `None` takes the oldest first, events before requests.
    pub(super) order: Option<u64>,
}

impl Plan {
    pub(super) fn single(fault: Fault, site: &Site) -> Self {
        Self { faults: vec![Planned { fault, site: site.name.clone() }], order: None }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = self.faults.iter().map(|planned| format!("{}@{}", planned.fault, planned.site));
        let order = self.order.iter().map(|order| format!("order@{order}"));
        f.write_str(&faults.chain(order).collect::<Vec<_>>().join("; "))
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, site) =
                part.split_once('@').ok_or_else(|| format!("{part:?} is not of the form fault@place"))?;
            if name == "order" {
                plan.order = Some(site.parse().map_err(|_| format!("{site:?} is no number"))?);
                continue;
            }
            let fault = NAMES.iter().find(|(known, _)| *known == name).map(|(_, fault)| *fault);
            let fault = fault.ok_or_else(|| format!("there is no fault {name:?}"))?;
            plan.faults.push(Planned { fault, site: site.to_owned() });
        }
        Ok(plan)
    }
}

/// The faults that fit a place, the ones that find most first.
fn faults_at(kind: SiteKind, has_later_step: bool, reads_past: bool) -> Vec<Fault> {
    use Release::{AfterStep as ReleasedAfterStep, Minute, Quiet};
    use Restart::{AfterStep, AtOnce, Stale, StaleStep, StaleStepOthers};
    let mut faults = match kind {
        SiteKind::Write | SiteKind::VersionedWrite => {
            vec![
                Fault::CrashAfter(AtOnce),
                Fault::CrashBefore(AtOnce),
                Fault::Lost,
                Fault::Touch,
                Fault::Unsent,
            ]
        }
        SiteKind::Read | SiteKind::StaleRead => vec![Fault::Status(500), Fault::Unsent],
        SiteKind::Event => vec![Fault::Hold(Quiet), Fault::Expire, Fault::Break, Fault::Hold(Minute)],
        SiteKind::Step => vec![Fault::Down, Fault::Early],
    };
    match kind {
        SiteKind::Write | SiteKind::VersionedWrite => {
            if kind == SiteKind::VersionedWrite {
                faults.push(Fault::Status(409));
            }
            if reads_past {
                faults.splice(2..2, [StaleStep, Stale(1), StaleStepOthers].map(Fault::CrashAfter));
                faults.push(Fault::CrashAfter(Stale(2)));
            }
            if has_later_step {
                faults.extend([Fault::CrashAfter(AfterStep), Fault::CrashBefore(AfterStep)]);
            }
            faults.extend([500, 429, 504].map(Fault::Status));
        }
        SiteKind::Event if has_later_step => faults.push(Fault::Hold(ReleasedAfterStep)),
        _ => {}
    }
    faults
}

/// One schedule for each fault at each place. The first fault of each place comes first, then the second, and so on, so that a
/// small budget sees all places.
pub(super) fn systematic(sites: &[Site], steps: usize) -> Vec<Plan> {
    let reads_past = sites.iter().any(|site| site.kind == SiteKind::StaleRead);
    let each: Vec<(&Site, Vec<Fault>)> = sites
        .iter()
        .filter(|site| site.kind != SiteKind::Step || site.step > 0)
        .map(|site| (site, faults_at(site.kind, site.step + 1 < steps, reads_past)))
        .collect();
    let most = each.iter().map(|(_, faults)| faults.len()).max().unwrap_or_default();
    let round =
        |i: usize| each.iter().filter_map(move |(site, faults)| Some(Plan::single(*faults.get(i)?, site)));
    (0..most).flat_map(round).collect()
}

/// A schedule of one to four of the faults, in a random order of events.
pub(super) fn random(singles: &[Plan], dice: &mut Dice) -> Plan {
    let mut plan = Plan { faults: Vec::new(), order: Some(dice.below(1 << 30) as u64) };
    if singles.is_empty() {
        return plan;
    }
    for _ in 0..=dice.below(4) {
        let one = &singles[dice.below(singles.len())];
        let is_new = |fault: &&Planned| !plan.faults.iter().any(|known| known.site == fault.site);
        let more: Vec<Planned> = one.faults.iter().filter(is_new).cloned().collect();
        plan.faults.extend(more);
    }
    plan
}

/// Smaller schedules to try in place of a failing one, the smallest changes last.
pub(super) fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut tries = Vec::new();
    if plan.order.is_some() {
        tries.push(Plan { order: None, ..plan.clone() });
    }
    for i in 0..plan.faults.len() {
        let mut fewer = plan.clone();
        fewer.faults.remove(i);
        if fewer.order.is_some() {
            tries.push(Plan { order: None, ..fewer.clone() });
        }
        tries.push(fewer);
    }
    tries.sort_by_key(|plan| (plan.faults.len(), plan.order.is_some()));
    tries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(kind: SiteKind, name: &str, step: usize) -> Site {
        Site { kind, name: name.to_owned(), step }
    }

    #[test]
    fn plan_is_read_back_from_its_text() {
        let sites =
            [site(SiteKind::Write, "create configmaps default/a#0", 0), site(SiteKind::Step, "step#1", 1)];
        for plan in systematic(&sites, 2) {
            assert_eq!(plan.to_string().parse::<Plan>(), Ok(plan));
        }
        let plan = random(&systematic(&sites, 2), &mut Dice::new(1));
        assert_eq!(plan.to_string().parse::<Plan>(), Ok(plan));
        assert!("crash".parse::<Plan>().is_err() && "crash@a".parse::<Plan>().is_err());
    }

    #[test]
    fn systematic_plans_disturb_all_places_first() {
        let sites = [site(SiteKind::Write, "a#0", 0), site(SiteKind::Event, "b#0", 0)];
        let plans = systematic(&sites, 1);
        assert_eq!(plans[0].to_string(), "crash-after@a#0");
        assert_eq!(plans[1].to_string(), "hold@b#0");
        assert!(plans.iter().all(|plan| !plan.to_string().contains("stale")));
    }

    #[test]
    fn smaller_plans_have_fewer_faults_or_no_random_order() {
        let plan: Plan = "lost@a#0; touch@b#1; order@3".parse().unwrap();
        let texts: Vec<String> = smaller(&plan).iter().map(Plan::to_string).collect();
        assert_eq!(
            texts,
            ["touch@b#1", "lost@a#0", "touch@b#1; order@3", "lost@a#0; order@3", "lost@a#0; touch@b#1"]
        );
    }
}
