//! Replicas with clocks of different rates, on a server whose answers are late or lost. Replicas crash, restart,
//! leave and lose their connection. Every replica works on every key that its gate lets through.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::sharding::gate::{Gate, Verdict};
use crate::sharding::ring::hash;

const TIMES: ElectionTimes = ElectionTimes {
    lease_duration: Duration::from_secs(15),
    renew_deadline: Duration::from_secs(10),
    retry_period: Duration::from_secs(2),
};

/// Milliseconds of real time.
type Real = u64;

/// The fate of a request: real milliseconds to the server and back; lost on the way there or back.
#[derive(Clone, Copy, Debug)]
struct Fate {
    there: Real,
    back: Real,
    lost_there: bool,
    lost_back: bool,
}

const PROMPT: Fate = Fate { there: 10, back: 10, lost_there: false, lost_back: false };

/// Faults of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process ends; another one with the same name starts after this time.
    Crash { back_after: Real },
    /// No request arrives for this time.
    CutOff { lasts: Real },
    /// It deletes its lease.
    Leave,
}

struct Pending {
    number: usize,
    request: Request,
    there: Real,
    back: Option<Real>,
}

struct Replica {
    name: String,
    /// `None` while it is down.
    membership: Option<Membership>,
    gate: Gate,
    /// Its milliseconds per 100 real milliseconds.
    rate: u64,
    start: Instant,
    joins_at: Option<Real>,
    cut_off_until: Real,
    /// Requests in flight. Those abandoned, and those of a crashed process, still arrive.
    pending: Vec<Pending>,
    answer: Option<(Answer, Real)>,
    latest: usize,
    /// Keys in processing, and when each ends.
    work: Vec<(u64, Real)>,
}

struct World {
    replicas: Vec<Replica>,
    leases: BTreeMap<String, Lease>,
    version: u64,
    fates: VecDeque<Fate>,
    keys: Vec<u64>,
    /// How long reconciles take, in turn.
    efforts: VecDeque<Real>,
    lives: u64,
    /// The first time that two replicas processed one key.
    two_owners: Option<String>,
}

fn identity(name: &str) -> Identity {
    Identity {
        namespace: "default".to_owned(),
        group: "group".to_owned(),
        name: name.to_owned(),
        identity: name.to_owned(),
        duration: TIMES.lease_duration,
    }
}

impl Replica {
    fn now(&self, real: Real) -> Instant {
        self.start + Duration::from_millis(real * self.rate / 100)
    }
}

impl World {
    fn new(rates: &[u64], joins: &[Real], fates: Vec<Fate>, efforts: Vec<Real>) -> Self {
        let start = Instant::now();
        let replicas = rates.iter().zip(joins).enumerate().map(|(number, (rate, joins_at))| Replica {
            name: format!("group-{number}"),
            membership: None,
            gate: Gate::new(),
            rate: *rate,
            start,
            joins_at: Some(*joins_at),
            cut_off_until: 0,
            pending: Vec::new(),
            answer: None,
            latest: 0,
            work: Vec::new(),
        });
        World {
            replicas: replicas.collect(),
            leases: BTreeMap::new(),
            version: 0,
            fates: fates.into(),
            keys: (0..24).map(|number| hash(&format!("default/{number}"))).collect(),
            efforts: efforts.into(),
            lives: 0,
            two_owners: None,
        }
    }

    /// The API server: optimistic concurrency by uid and version.
    fn serve(&mut self, request: Request) -> Answer {
        self.version += 1;
        let version = self.version.to_string();
        match request {
            Request::List => Answer::Leases(self.leases.values().cloned().collect()),
            Request::Create(mut lease) => {
                let name = lease.metadata.name.clone().unwrap();
                if self.leases.contains_key(&name) {
                    return Answer::Failed;
                }
                lease.metadata.uid = Some(format!("uid-{version}"));
                lease.metadata.resource_version = Some(version);
                self.leases.insert(name, (*lease).clone());
                Answer::Lease(lease)
            }
            Request::Update(mut lease) => match self.leases.get_mut(lease.metadata.name.as_ref().unwrap()) {
                Some(stored)
                    if stored.metadata.uid == lease.metadata.uid
                        && stored.metadata.resource_version == lease.metadata.resource_version =>
                {
                    // A server makes no new version if nothing changes.
                    if *lease != *stored {
                        lease.metadata.resource_version = Some(version);
                        *stored = (*lease).clone();
                    }
                    Answer::Lease(lease)
                }
                _ => Answer::Failed,
            },
            Request::Delete { name, uid, version } => match self.leases.get(&name) {
                Some(stored)
                    if stored.metadata.uid.as_ref() == Some(&uid)
                        && version
                            .is_none_or(|version| stored.metadata.resource_version == Some(version)) =>
                {
                    self.leases.remove(&name);
                    Answer::Deleted
                }
                _ => Answer::Failed,
            },
        }
    }

    fn join(&mut self, at: usize, real: Real) {
        self.lives += 1;
        let replica = &mut self.replicas[at];
        let identity = identity(&replica.name);
        let random = crate::random::seeded(self.lives);
        replica.gate = Gate::new();
        replica.membership = Some(Membership::new(replica.now(real), identity, TIMES, random));
        self.feed(at, real, Input::Tick);
    }

    fn feed(&mut self, at: usize, real: Real, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next.take() {
            let replica = &mut self.replicas[at];
            let now = replica.now(real);
            let Some(membership) = &mut replica.membership else { return };
            let step = membership.on(now, Timestamp::UNIX_EPOCH, input);
            replica.gate.set_valid_until(membership.valid_until());
            if let Some((version, mode)) = step.gate {
                if mode == Mode::Stopped {
                    replica.work.drain(..).for_each(|(key, _)| {
                        replica.gate.end(key);
                    });
                }
                replica.gate.set_mode(mode);
                next = Some(Input::Finishing { version, keys: replica.gate.lost() });
            }
            if let Some(request) = step.send {
                self.send(at, real, request);
            }
        }
    }

    fn send(&mut self, at: usize, real: Real, request: Request) {
        let fate = self.fates.front().copied().unwrap_or(PROMPT);
        self.fates.rotate_left(1.min(self.fates.len()));
        let replica = &mut self.replicas[at];
        let is_cut_off = real < replica.cut_off_until;
        let back = (!fate.lost_back && !is_cut_off).then_some(real + fate.there + fate.back);
        replica.latest += 1;
        replica.answer = None;
        if !fate.lost_there && !is_cut_off {
            let there = real + fate.there;
            replica.pending.push(Pending { number: replica.latest, request, there, back });
        }
    }

    fn fault(&mut self, at: usize, real: Real, fault: Fault) {
        let replica = &mut self.replicas[at];
        match fault {
            Fault::Crash { back_after } => {
                replica.membership = None;
                replica.work.clear();
                replica.answer = None;
                replica.latest += 1;
                replica.joins_at = Some(real + back_after);
            }
            Fault::CutOff { lasts } => replica.cut_off_until = real + lasts,
            Fault::Leave => self.feed(at, real, Input::Leave),
        }
    }

    fn tick(&mut self, real: Real) {
        for at in 0..self.replicas.len() {
            self.arrive(at, real);
            let replica = &mut self.replicas[at];
            if replica.joins_at.take_if(|joins_at| *joins_at <= real).is_some() {
                self.join(at, real);
            }
            let replica = &self.replicas[at];
            let Some(membership) = &replica.membership else { continue };
            let now = replica.now(real);
            if membership.phase() == Phase::Ended {
                assert!(replica.work.is_empty());
                self.replicas[at].membership = None;
            } else if now >= membership.wake_at(now) {
                self.feed(at, real, Input::Tick);
            }
            self.work(at, real);
        }
        self.check(real);
    }

    fn arrive(&mut self, at: usize, real: Real) {
        while let Some(due) = self.replicas[at].pending.iter().position(|pending| pending.there <= real) {
            let Pending { number, request, back, .. } = self.replicas[at].pending.remove(due);
            let answer = self.serve(request);
            if number == self.replicas[at].latest {
                self.replicas[at].answer = back.map(|back| (answer, back));
            }
        }
        if let Some((answer, _)) = self.replicas[at].answer.take_if(|(_, back)| *back <= real) {
            self.feed(at, real, Input::Answer(answer));
        }
    }

    /// Ends finished reconciles and begins all keys that may begin.
    fn work(&mut self, at: usize, real: Real) {
        let replica = &mut self.replicas[at];
        let (now, gate) = (replica.now(real), &mut replica.gate);
        let mut somebody_waits = false;
        replica.work.retain(|(key, until)| {
            let is_done = *until <= real;
            somebody_waits |= is_done && gate.end(*key);
            !is_done
        });
        for key in &self.keys {
            let is_free = replica.work.iter().all(|(other, _)| other != key);
            if is_free && replica.membership.is_some() && gate.begin(now, *key) == Verdict::Begun {
                let effort = self.efforts.front().copied().unwrap_or(100);
                self.efforts.rotate_left(1.min(self.efforts.len()));
                replica.work.push((*key, real + effort));
            }
        }
        if somebody_waits && let Some(membership) = &replica.membership {
            let (version, keys) = (membership.version(), replica.gate.lost());
            self.feed(at, real, Input::Finishing { version, keys });
        }
    }

    fn check(&mut self, real: Real) {
        for key in &self.keys {
            let works = |replica: &&Replica| replica.work.iter().any(|(other, _)| other == key);
            let owners: Vec<&str> =
                self.replicas.iter().filter(works).map(|replica| replica.name.as_str()).collect();
            if owners.len() > 1 {
                self.two_owners.get_or_insert(format!("at {real} ms {owners:?} work on {key:x}"));
            }
        }
    }

    /// Returns how many replicas would begin each key now.
    fn owners(&self, real: Real) -> Vec<usize> {
        let begins = |replica: &&Replica, key: u64| {
            let is_up = replica.membership.is_some();
            is_up && replica.gate.verdict(replica.now(real), key) == Verdict::Begun
        };
        let count = |key: &u64| self.replicas.iter().filter(|replica| begins(replica, *key)).count();
        self.keys.iter().map(count).collect()
    }
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let delay = || prop_oneof![8 => 1..200_u64, 1 => 200..20_000_u64];
    let fate = (delay(), delay(), prop::bool::weighted(0.1), prop::bool::weighted(0.1))
        .prop_map(|(there, back, lost_there, lost_back)| Fate { there, back, lost_there, lost_back });
    prop::collection::vec(fate, 1..40)
}

fn faults() -> impl Strategy<Value = Vec<(usize, Real, Fault)>> {
    let fault = prop_oneof![
        2 => (100..40_000_u64).prop_map(|back_after| Fault::Crash { back_after }),
        3 => (1_000..40_000_u64).prop_map(|lasts| Fault::CutOff { lasts }),
        1 => Just(Fault::Leave),
    ];
    prop::collection::vec((0..5_usize, 0..120_000_u64, fault), 0..8)
}

fn efforts() -> impl Strategy<Value = Vec<Real>> {
    prop::collection::vec(prop_oneof![4 => 50..1_000_u64, 1 => 1_000..40_000_u64], 1..12)
}

/// Two minutes of faults, then time to settle.
const FAULTS_END: Real = 120_000;
const SETTLED: Real = FAULTS_END + 120_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Clock rates differ by less than lease duration / renew deadline (1.5), so no key is ever processed twice at
    /// once, and after the faults every key has an owner.
    #[test]
    fn key_has_one_owner_after_faults(
        rates in prop::collection::vec(100..149_u64, 2..6),
        joins in prop::collection::vec(0..60_000_u64, 5),
        fates in fates(),
        faults in faults(),
        efforts in efforts(),
    ) {
        let mut world = World::new(&rates, &joins, fates, efforts);
        for real in (0..SETTLED).step_by(50) {
            if real == FAULTS_END {
                world.fates.clear();
                world.efforts.clear();
            }
            for (at, when, fault) in &faults {
                if *at < rates.len() && (real..real + 50).contains(when) {
                    world.fault(*at, real, *fault);
                }
            }
            world.tick(real);
            prop_assert_eq!(&world.two_owners, &None);
        }
        let is_anybody_up = world.replicas.iter().any(|replica| replica.membership.is_some());
        if is_anybody_up {
            let owners = world.owners(SETTLED - 50);
            prop_assert!(owners.iter().all(|count| *count == 1), "{owners:?}");
        }
    }
}

/// Runs the simulation between two times.
fn run(world: &mut World, from: Real, until: Real) {
    for real in (from..until).step_by(50) {
        world.tick(real);
    }
}

fn works_on(world: &World, at: usize, real: Real) -> usize {
    let replica = &world.replicas[at];
    let is_allowed = |key: &&u64| replica.gate.verdict(replica.now(real), **key) == Verdict::Begun;
    world.keys.iter().filter(is_allowed).count()
}

#[test]
fn hand_over_is_quick_when_no_key_is_in_processing() {
    let mut world = World::new(&[100, 100], &[0, 10_000], Vec::new(), vec![50]);
    run(&mut world, 0, 1_000);
    assert_eq!(works_on(&world, 0, 950), 24, "alone it works on all");
    run(&mut world, 1_000, 13_500);
    let shares = [works_on(&world, 0, 13_450), works_on(&world, 1, 13_450)];
    assert_eq!(shares.iter().sum::<usize>(), 24);
    assert!(shares.iter().all(|share| *share > 4), "{shares:?}");
    world.fault(0, 20_000, Fault::Leave);
    run(&mut world, 20_000, 22_600);
    assert_eq!(works_on(&world, 1, 22_550), 24, "what was given back is taken with the next list");
}

#[test]
fn only_keys_in_processing_wait() {
    // The first replica processes every key for 30 s when the second starts.
    let mut world = World::new(&[100, 100], &[0, 2_000], Vec::new(), vec![30_000]);
    run(&mut world, 0, 10_000);
    assert_eq!(works_on(&world, 1, 9_950), 0, "all of them are still in work");
    let other = hash("default/another");
    let ring = Ring::new("group-1", ["group-0"]);
    let replica = &world.replicas[1];
    let verdict = replica.gate.verdict(replica.now(9_950), other);
    assert_eq!(verdict == Verdict::Begun, ring.owns(other), "a key that was not in work does not wait");
    run(&mut world, 10_000, 35_000);
    assert_eq!(world.two_owners, None);
    assert!(works_on(&world, 1, 34_950) > 4);
}

#[test]
fn crashed_replica_is_replaced_when_its_lease_expires() {
    let mut world = World::new(&[100, 100], &[0, 0], Vec::new(), vec![50]);
    run(&mut world, 0, 10_000);
    world.fault(0, 10_000, Fault::Crash { back_after: 1_000_000 });
    run(&mut world, 10_000, 22_000);
    assert!(works_on(&world, 1, 21_950) < 24, "it may still be working");
    run(&mut world, 22_000, 30_000);
    assert_eq!(works_on(&world, 1, 29_950), 24);
    assert!(!world.leases.contains_key("group-0"), "survivors tidy up");
}

/// The property can fail: with a clock that runs four times as fast, two replicas process one key.
#[test]
fn two_own_a_key_when_a_clock_exceeds_the_bound() {
    let mut world = World::new(&[100, 400], &[0, 0], Vec::new(), vec![20_000]);
    run(&mut world, 0, 5_000);
    world.fault(0, 5_000, Fault::CutOff { lasts: 30_000 });
    run(&mut world, 5_000, 40_000);
    assert!(world.two_owners.is_some());
}

#[test]
fn malformed_leases_are_awaited() {
    let mut world = World::new(&[100], &[0], Vec::new(), vec![50]);
    let mut lease = Lease::default();
    lease.metadata.name = Some("group-x".to_owned());
    lease.metadata.annotations = Some(BTreeMap::from([
        ("sharding.kubesmith.dev/view".to_owned(), "group-0=?,=,group-0".to_owned()),
        ("sharding.kubesmith.dev/finishing".to_owned(), "zz,1".to_owned()),
    ]));
    world.serve(Request::Create(Box::new(lease)));
    run(&mut world, 0, 14_000);
    assert_eq!(works_on(&world, 0, 13_950), 0);
    run(&mut world, 14_000, 20_000);
    assert_eq!(works_on(&world, 0, 19_950), 24);
}

/// Others may have acknowledged the first lease, seen it end, and begun its keys again.
#[test]
fn unanswered_creation_is_repeated_with_another_token() {
    let start = Instant::now();
    let mut membership = Membership::new(start, identity("group-0"), TIMES, crate::random::seeded(1));
    let mut on = |seconds: u64, input: Input| {
        let now = start + Duration::from_secs(seconds);
        membership.on(now, Timestamp::UNIX_EPOCH, input).send
    };
    let empty = || Input::Answer(Answer::Leases(Vec::new()));
    assert_eq!(on(0, Input::Tick), Some(Request::List));
    let Some(Request::Create(first)) = on(0, empty()) else { panic!("the name is free") };
    assert_eq!(on(6, Input::Tick), Some(Request::List), "no answer came");
    let Some(Request::Create(second)) = on(6, empty()) else { panic!("the name is free still") };
    assert_ne!(Record::of(&first).token, Record::of(&second).token);

    // The first creation was only late; no key was processed under it.
    assert_eq!(on(12, Input::Tick), Some(Request::List));
    let mut late = *first;
    late.metadata.uid = Some("late".to_owned());
    late.metadata.resource_version = Some("7".to_owned());
    let deletion = on(12, Input::Answer(Answer::Leases(vec![late])));
    let (name, uid, version) = ("group-0".to_owned(), "late".to_owned(), Some("7".to_owned()));
    assert_eq!(deletion, Some(Request::Delete { name, uid, version }));
}
