//! Schedules: faults at places, and the order in which they are tried.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::dice::Dice;
use super::fault::{Age, Fault, Past, Release, Restart, pasts};
use super::hooks::WebhookFault;
use super::pods::PodFault;

/// The kind of a place that can be disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SiteKind {
    Write,
    /// A write with the version that was read.
    VersionedWrite,
    /// A creation of an object with an owner.
    Child,
    /// A call of an outside system.
    Call,
    Read,
    /// A read that may show the past.
    StaleRead,
    /// A list that continues another one.
    PagedRead,
    Event,
    Step,
}

impl SiteKind {
    pub(super) fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::VersionedWrite | Self::Child | Self::Call)
    }
}

/// A place in a run: an event or request, and the number of earlier ones like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) kind: SiteKind,
    pub(super) name: String,
    pub(super) step: usize,
    /// The number of earlier changes of custom resources.
    pub(super) changes: usize,
    /// The server calls a webhook.
    pub(super) calls_webhook: bool,
    /// It deletes an object, whose dependents the garbage collector has to delete.
    pub(super) deletes: bool,
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
    /// Whether a user, after the steps, removes the operators' objects, deletes the applied ones, and applies them
    /// again.
    pub(super) again: bool,
    /// The number of a run that changes fields of varied objects separately, instead of variants of whole objects.
    pub(super) fields: Option<usize>,
    /// The number of an odd object that is applied instead of variants.
    pub(super) invalid: Option<usize>,
    /// The steps of the user that are left out.
    pub(super) without: BTreeSet<usize>,
    /// The seed for the order of simultaneous events; `None` is the oldest first, events before requests.
    pub(super) order: Option<u64>,
}

impl Plan {
    /// Returns the schedule of the same steps without faults.
    pub(super) fn without_faults(&self) -> Self {
        Self { again: self.again, without: self.without.clone(), ..Self::default() }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let again = self.again.then(|| "again".to_owned()).into_iter();
        let fields = self.fields.iter().map(|number| match number {
            0 => "fields".to_owned(),
            number => format!("fields@{number}"),
        });
        let again = again.chain(fields);
        let faults = self.faults.iter().map(|planned| format!("{}@{}", planned.fault, planned.site));
        let invalid = self.invalid.iter().map(|number| format!("invalid@{number}"));
        let order = self.order.iter().map(|order| format!("order@{order}"));
        let without = self.without.iter().map(|step| format!("without@step#{step}"));
        let parts = again.chain(invalid).chain(faults).chain(order).chain(without);
        f.write_str(&parts.collect::<Vec<_>>().join("; "))
    }
}

impl FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut plan = Self::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('@') {
                None if part == "again" => plan.again = true,
                None if part == "fields" => plan.fields = Some(0),
                None => return Err(format!("{part:?} is not of the form fault@place")),
                Some(("order", seed)) => plan.order = Some(read(seed)?),
                Some(("without", step)) => {
                    let number = step.strip_prefix("step#").and_then(|number| number.parse().ok());
                    plan.without.insert(number.ok_or_else(|| format!("{step:?} is not a step"))?);
                }
                Some(("invalid", number)) => plan.invalid = Some(read(number)?),
                Some(("fields", number)) => plan.fields = Some(read(number)?),
                Some((fault, site)) => {
                    plan.faults.push(Planned { fault: fault.parse()?, site: site.to_owned() });
                }
            }
        }
        Ok(plan)
    }
}

fn read<T: FromStr>(number: &str) -> Result<T, String> {
    number.parse().map_err(|_| format!("{number:?} is not a number"))
}

/// The facts from a run without faults that decide on possible faults.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    pub(super) sites: &'a [Site],
    pub(super) steps: usize,
    /// The first step to disturb. The steps after the user's own belong to schedules that continue with them.
    pub(super) first: usize,
    pub(super) again: bool,
    /// Whether several processes share a lease, so that another one takes over when one pauses.
    pub(super) replicas: bool,
    /// Whether operators use the server's clock.
    pub(super) clock: bool,
    /// Whether there are pods.
    pub(super) pods: bool,
}

impl Ground<'_> {
    fn has_later_step(&self, site: &Site) -> bool {
        site.step + 1 < self.steps
    }

    fn reads_past(&self) -> bool {
        self.sites.iter().any(|site| site.kind == SiteKind::StaleRead)
    }
}

/// Returns faults of one class at a place, the most effective first.
type Class = fn(&Site, &Ground<'_>) -> Vec<Fault>;

fn crashes(site: &Site, ground: &Ground<'_>) -> Vec<Fault> {
    if !site.kind.is_write() {
        return Vec::new();
    }
    let restarts = [Restart::AtOnce, Restart::AfterStep].into_iter();
    restarts
        .filter(|restart| *restart == Restart::AtOnce || ground.has_later_step(site))
        .flat_map(|restart| [Fault::CrashAfter(restart), Fault::CrashBefore(restart)])
        .chain((site.kind != SiteKind::Call).then_some(Fault::CrashLate))
        .collect()
}

fn watches(site: &Site, ground: &Ground<'_>) -> Vec<Fault> {
    if site.kind != SiteKind::Event {
        return Vec::new();
    }
    let mut faults = vec![Fault::Hold(Release::Quiet), Fault::Expire];
    if ground.has_later_step(site) {
        faults.extend([Fault::Miss(Release::AfterStep), Fault::Hold(Release::AfterStep)]);
    }
    faults.extend([Fault::Break, Fault::Hold(Release::Minute), Fault::Miss(Release::Quiet)]);
    faults
}

/// Reports whether a place has such a past.
fn exists(past: Past, site: &Site) -> bool {
    match past.age {
        Age::Changes(n) => usize::from(n) < site.changes,
        Age::Back(n) => usize::from(n) <= site.step,
        Age::Step | Age::Writes(_) => true,
    }
}

fn old_lists(site: &Site, ground: &Ground<'_>) -> Vec<Fault> {
    if !ground.reads_past() {
        return Vec::new();
    }
    let known = pasts().filter(|past| exists(*past, site));
    match site.kind {
        kind if kind.is_write() => known.map(|past| Fault::CrashAfter(Restart::Stale(past))).collect(),
        SiteKind::Event => known.take(5).map(Fault::ExpireStale).collect(),
        _ => Vec::new(),
    }
}

fn users(site: &Site, ground: &Ground<'_>) -> Vec<Fault> {
    let late = |fault: Fault| ground.has_later_step(site).then_some(fault);
    let slow = late(Fault::Slow(Release::AfterStep));
    let pauses = late(Fault::Pause(Release::AfterStep)).into_iter().chain([Fault::Pause(Release::Minute)]);
    let pauses = pauses.filter(|_| ground.replicas);
    let garbage = late(Fault::Garbage(Release::AfterStep)).into_iter();
    let garbage = garbage.chain([Fault::Garbage(Release::Minute)]).filter(|_| site.deletes);
    match site.kind {
        SiteKind::Step if site.step > 0 => {
            let clock = [false, true].into_iter().filter(|_| ground.clock).map(|back| Fault::Clock { back });
            let pods = PodFault::ALL.into_iter().filter(|_| ground.pods).map(Fault::Pods);
            garbage.chain([Fault::Down, Fault::Early]).chain(pods).chain(clock).collect()
        }
        SiteKind::Write | SiteKind::VersionedWrite | SiteKind::Child => {
            // A missing object cannot be touched.
            let other = if site.kind == SiteKind::Child { Fault::Taken } else { Fault::Touch };
            let first = pauses.chain(garbage).chain([other]).chain(slow);
            first.chain([Fault::Slow(Release::Quiet), Fault::Slow(Release::Minute)]).collect()
        }
        SiteKind::Call => pauses.chain(slow).chain([Fault::Slow(Release::Quiet)]).collect(),
        _ => Vec::new(),
    }
}

fn answers(site: &Site, _: &Ground<'_>) -> Vec<Fault> {
    let webhooks =
        [WebhookFault::Down, WebhookFault::Slow, WebhookFault::Fails].map(Fault::Webhook).into_iter();
    let webhooks = webhooks.filter(|_| site.calls_webhook);
    let faults: Vec<Fault> = match site.kind {
        SiteKind::Write | SiteKind::VersionedWrite | SiteKind::Child => {
            let conflict = (site.kind == SiteKind::VersionedWrite).then_some(Fault::Status(409));
            let first = [Fault::Lost, Fault::Unsent].into_iter().chain(conflict);
            first.chain([500, 504, 429].map(Fault::Status)).collect()
        }
        SiteKind::Call => vec![Fault::Lost, Fault::Unsent],
        SiteKind::Read | SiteKind::StaleRead => refused_reads().collect(),
        SiteKind::PagedRead => [Fault::Status(410)].into_iter().chain(refused_reads()).collect(),
        SiteKind::Event | SiteKind::Step => Vec::new(),
    };
    webhooks.chain(faults).collect()
}

fn refused_reads() -> impl Iterator<Item = Fault> {
    [Fault::Status(500), Fault::Unsent, Fault::Status(429), Fault::Status(504)].into_iter()
}

/// Returns one schedule for each fault at each place. The classes of faults take turns. Within a class, the first fault
/// of each place comes first. Events that happen for the first or the last time in a step come before repetitions; old
/// lists are first tried at the end of a step, when there are objects to lose.
pub(super) fn systematic(ground: &Ground<'_>) -> Vec<Plan> {
    const CLASSES: [Class; 5] = [crashes, watches, old_lists, users, answers];
    let mut queues = CLASSES.map(|class| in_order(class, ground).into_iter());
    let mut plans = Vec::new();
    loop {
        let before = plans.len();
        plans.extend(queues.iter_mut().filter_map(Iterator::next));
        if plans.len() == before {
            return plans;
        }
    }
}

fn in_order(class: Class, ground: &Ground<'_>) -> Vec<Plan> {
    let mut all: Vec<(usize, Plan)> = Vec::new();
    for (i, (site, repeats)) in ground.sites.iter().zip(repeats(ground.sites)).enumerate() {
        if site.step < ground.first {
            continue;
        }
        let later =
            || ground.sites[i + 1..].iter().filter(|later| later.step == site.step && later.kind.is_write());
        for (rank, fault) in class(site, ground).into_iter().enumerate() {
            let least = match fault {
                Fault::CrashAfter(Restart::Stale(_)) => later().count(),
                Fault::ExpireStale(_) => later().count() + 2,
                _ => repeats,
            };
            let faults = vec![Planned { fault, site: site.name.clone() }];
            all.push((rank + least, Plan { faults, again: ground.again, ..Plan::default() }));
        }
    }
    all.sort_by_key(|(cost, _)| *cost);
    all.into_iter().map(|(_, plan)| plan).collect()
}

/// For each place, returns the number of times that it comes before or after in its step, whichever is less.
fn repeats(sites: &[Site]) -> Vec<usize> {
    let what = |site: &Site| {
        let name = site.name.rsplit_once('#').map_or(site.name.as_str(), |(name, _)| name).to_owned();
        (site.step, name)
    };
    let mut totals: BTreeMap<_, usize> = BTreeMap::new();
    let before: Vec<usize> = sites
        .iter()
        .map(|site| {
            let total = totals.entry(what(site)).or_default();
            *total += 1;
            *total - 1
        })
        .collect();
    let least = |(site, before): (&Site, usize)| before.min(totals[&what(site)] - 1 - before);
    sites.iter().zip(before).map(least).collect()
}

/// Returns a schedule of one to four of the faults, preferring those that are tried early, in a random order of events.
pub(super) fn random(singles: &[Plan], dice: &mut Dice) -> Plan {
    let mut plan = Plan { order: Some(dice.below(1 << 30) as u64), ..Plan::default() };
    if singles.is_empty() {
        return plan;
    }
    for _ in 0..=dice.below(4) {
        let one = &singles[dice.below(singles.len()).min(dice.below(singles.len()))];
        let is_new = |fault: &&Planned| !plan.faults.iter().any(|known| known.site == fault.site);
        let more: Vec<Planned> = one.faults.iter().filter(is_new).cloned().collect();
        plan.again |= one.again;
        plan.faults.extend(more);
    }
    plan
}

/// Returns smaller schedules to try in place of a failing one: with fewer or earlier faults. The smallest changes come last.
pub(super) fn smaller(plan: &Plan) -> Vec<Plan> {
    let mut tries = Vec::new();
    if plan.again {
        tries.push(Plan { again: false, ..plan.clone() });
    }
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
        let earlier = earlier(&plan.faults[i].site).into_iter().map(|site| {
            let mut plan = plan.clone();
            plan.faults[i].site = site;
            plan
        });
        tries.extend(earlier);
    }
    tries.sort_by_key(|plan| (plan.faults.len(), plan.again, plan.order.is_some()));
    tries
}

/// Returns earlier places with the same request or event.
fn earlier(site: &str) -> Vec<String> {
    let Some((what, number)) = site.rsplit_once('#').filter(|(what, _)| *what != "step") else {
        return Vec::new();
    };
    let number: usize = number.parse().unwrap_or_default();
    let mut numbers = vec![0, number / 2];
    numbers.dedup();
    numbers.into_iter().filter(|earlier| *earlier < number).map(|number| format!("{what}#{number}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(kind: SiteKind, name: &str, step: usize) -> Site {
        Site { kind, name: name.to_owned(), step, changes: 3, calls_webhook: false, deletes: false }
    }

    fn ground(sites: &[Site], steps: usize) -> Ground<'_> {
        Ground { sites, steps, first: 0, again: false, replicas: true, clock: true, pods: true }
    }

    #[test]
    fn plan_is_read_back_from_its_text() {
        let sites = [
            site(SiteKind::StaleRead, "list configmaps default#0", 0),
            site(SiteKind::Write, "create configmaps default/a#0", 0),
            site(SiteKind::Step, "step#1", 1),
        ];
        let singles = systematic(&ground(&sites, 2));
        for plan in &singles {
            assert_eq!(plan.to_string().parse::<Plan>().as_ref(), Ok(plan));
        }
        let plan = Plan {
            again: true,
            fields: Some(2),
            invalid: Some(3),
            without: [0, 2].into(),
            ..random(&singles, &mut Dice::new(1))
        };
        assert_eq!(plan.to_string().parse::<Plan>(), Ok(plan));
        assert!("crash".parse::<Plan>().is_err() && "crash@a".parse::<Plan>().is_err());
    }

    /// The faults of plans are those of the guide's table.
    #[test]
    fn guide_lists_every_fault() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guides/explore.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        let (_, table) = guide.split_once("| name | fault |\n|---|---|\n").unwrap();
        let rows = table.lines().take_while(|line| line.starts_with('|'));
        let names = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
        let listed: BTreeSet<String> = names.filter(|name| *name != "again").map(str::to_owned).collect();

        use SiteKind::{Call, Child, Event, PagedRead, Read, StaleRead, Step, VersionedWrite, Write};
        let kinds = [Write, VersionedWrite, Child, Call, Read, StaleRead, PagedRead, Event, Step];
        let sites = kinds.map(|kind| Site { calls_webhook: true, deletes: true, ..site(kind, "a#0", 1) });
        let plans = systematic(&ground(&sites, 3));
        let planned = plans.iter().flat_map(|plan| &plan.faults).map(|planned| {
            let name = planned.fault.to_string();
            // The ages of lists are listed below the table.
            name.split_once("-stale-").map(|(fault, _)| format!("{fault}-stale-...")).unwrap_or(name)
        });
        assert_eq!(planned.collect::<BTreeSet<String>>(), listed);
    }

    #[test]
    fn systematic_plans_take_turns_between_classes() {
        let sites = [
            site(SiteKind::Write, "a#0", 0),
            site(SiteKind::Write, "a#1", 0),
            site(SiteKind::Write, "a#2", 0),
            site(SiteKind::Event, "b#0", 0),
        ];
        let plans: Vec<String> = systematic(&Ground { replicas: false, ..ground(&sites, 1) })
            .iter()
            .map(Plan::to_string)
            .collect();
        assert_eq!(plans[..5], ["crash-after@a#0", "hold@b#0", "touch@a#0", "lost@a#0", "crash-after@a#2"]);
        assert!(plans.iter().all(|plan| !plan.contains("stale")));
    }

    #[test]
    fn every_fault_is_planned() {
        let place = |kind: SiteKind, name: &str| Site {
            changes: 5,
            calls_webhook: true,
            deletes: true,
            ..site(kind, name, 3)
        };
        let sites = [
            place(SiteKind::VersionedWrite, "update#0"),
            place(SiteKind::Child, "create#0"),
            place(SiteKind::StaleRead, "list#0"),
            place(SiteKind::PagedRead, "list#1"),
            place(SiteKind::Event, "event#0"),
            place(SiteKind::Step, "step#3"),
        ];
        let plans = systematic(&ground(&sites, 5));
        let planned: BTreeSet<String> =
            plans.iter().flat_map(|plan| &plan.faults).map(|planned| planned.fault.to_string()).collect();
        // These are combinations of parts that the classes do not use.
        let is_left_out = |name: &str| {
            matches!(name, "garbage" | "miss-minute")
                || name.starts_with("crash-before-stale")
                || (name.starts_with("expire-stale") && !planned.contains(name))
        };
        let missing: Vec<String> = crate::explore::fault::all()
            .map(|fault| fault.to_string())
            .filter(|name| !planned.contains(name) && !is_left_out(name))
            .collect();
        assert_eq!(missing, Vec::<String>::new());
        assert_eq!(planned.iter().filter(|name| name.starts_with("expire-stale")).count(), 5);
    }

    #[test]
    fn smaller_plans_have_fewer_or_earlier_faults_or_no_random_order() {
        let plan: Plan = "lost@a#0; touch@b#1; order@3".parse().unwrap();
        let texts: Vec<String> = smaller(&plan).iter().map(Plan::to_string).collect();
        assert_eq!(
            texts,
            [
                "touch@b#1",
                "lost@a#0",
                "touch@b#1; order@3",
                "lost@a#0; order@3",
                "lost@a#0; touch@b#1",
                "lost@a#0; touch@b#0; order@3"
            ]
        );
        assert_eq!(earlier("list maps#7"), ["list maps#0", "list maps#3"]);
        assert!(earlier("step#2").is_empty() && earlier("list maps#0").is_empty());
    }
}
