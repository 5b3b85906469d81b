use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn event(object: u8, reason: u8, message: u8, number: usize) -> Event {
    Event {
        metadata: ObjectMeta { name: Some(format!("e{number}")), ..ObjectMeta::default() },
        involved_object: ObjectReference { name: Some(format!("o{object}")), ..ObjectReference::default() },
        source: Some(EventSource { component: Some("c".to_owned()), host: None }),
        type_: Some("Normal".to_owned()),
        reason: Some(format!("r{reason}")),
        message: Some(format!("m{message}")),
        count: Some(1),
        first_timestamp: Some(Time(Timestamp::UNIX_EPOCH)),
        ..Event::default()
    }
}

#[test]
fn tenth_similar_event_combines_later_ones() {
    let mut correlator = EventCorrelator::new(CorrelatorOptions::default());
    let now = Instant::now();
    let mut names = Vec::new();
    for number in 0..12 {
        match correlator.on(now, event(0, 0, number, usize::from(number))) {
            Correlation::Create { event, .. } => {
                names.push((event.metadata.name.unwrap(), event.message.unwrap(), 1));
            }
            Correlation::Patch { event, .. } => {
                names.push((event.metadata.name.unwrap(), event.message.unwrap(), event.count.unwrap()));
            }
            Correlation::Skip => panic!("within the burst"),
        }
    }
    let combined = |message: &str| format!("(combined from similar events): {message}");
    assert_eq!(names[8], ("e8".to_owned(), "m8".to_owned(), 1));
    assert_eq!(names[9], ("e9".to_owned(), combined("m9"), 1));
    assert_eq!(names[10], ("e9".to_owned(), combined("m10"), 2));
    assert_eq!(names[11], ("e9".to_owned(), combined("m11"), 3));
    let later = now + 601 * SECOND;
    let Correlation::Create { event, .. } = correlator.on(later, event(0, 0, 40, 40)) else {
        panic!("a new event")
    };
    assert_eq!(event.message.as_deref(), Some("m40"), "ten minutes without events end the combination");
}

#[test]
fn repetitive_source_is_muted_until_the_refill() {
    let mut correlator = EventCorrelator::new(CorrelatorOptions::default());
    let now = Instant::now();
    let mut write = |now, object| !matches!(correlator.on(now, event(object, 0, 0, 0)), Correlation::Skip);
    let written = (0..40).filter(|_| write(now, 0)).count();
    assert_eq!(written, 25);
    assert!(write(now, 1), "another object has its own limit");
    assert!(!write(now + 299 * SECOND, 0));
    assert!(write(now + 300 * SECOND, 0));
    let Correlation::Patch { event, .. } = correlator.on(now + 700 * SECOND, event(0, 0, 0, 0)) else {
        panic!("a patch")
    };
    assert_eq!(event.count, Some(43), "muted events are counted too");
}

#[derive(Clone, Copy, Debug)]
struct Recorded {
    after: u64,
    object: u8,
    reason: u8,
    message: u8,
}

fn recorded() -> impl Strategy<Value = Vec<Recorded>> {
    let one = (prop_oneof![6 => 0..5_u64, 1 => 0..900_u64], 0..2_u8, 0..2_u8, 0..14_u8);
    prop::collection::vec(
        one.prop_map(|(after, object, reason, message)| Recorded { after, object, reason, message }),
        0..300,
    )
}

proptest! {
    /// With a server that stores every write: counts are right, the burst is kept, similar events are combined.
    #[test]
    fn server_ends_with_the_right_counts(recorded in recorded()) {
        let options = CorrelatorOptions::default();
        let (burst, refill) = (options.burst as usize, options.refill.as_secs());
        let mut correlator = EventCorrelator::new(options);
        let start = Instant::now();
        let mut now = 0;
        let mut server: BTreeMap<String, i32> = BTreeMap::new();
        // The count per key, and the times of writes per object.
        let mut counts: BTreeMap<String, i32> = BTreeMap::new();
        let mut writes: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
        for (number, recorded) in recorded.into_iter().enumerate() {
            now += recorded.after;
            let given = event(recorded.object, recorded.reason, recorded.message, number);
            let (key, event, fresh) = match correlator.on(start + Duration::from_secs(now), given) {
                Correlation::Skip => {
                    let written = writes.entry(recorded.object).or_default();
                    let lately = written.iter().filter(|at| **at + refill * burst as u64 > now).count();
                    prop_assert!(lately >= 1, "muted without a write");
                    continue;
                }
                Correlation::Create { key, event } => (key, event, true),
                Correlation::Patch { key, event } => (key, event, false),
            };
            let name = event.metadata.name.clone().unwrap();
            let count = event.count.unwrap();
            if fresh {
                prop_assert_eq!(count, 1);
                prop_assert!(server.insert(name.clone(), count).is_none(), "{} created twice", name);
            } else {
                prop_assert!(count > 1);
                // If the first event was muted, the server has nothing to patch.
                let before = server.insert(name, count).unwrap_or(0);
                prop_assert!(before < count);
            }
            let known = counts.entry(key.clone()).or_default();
            prop_assert!(*known < count, "a count went down");
            *known = count;
            correlator.stored(&key, &event);
            writes.entry(recorded.object).or_default().push(now);
        }
        for (object, written) in writes {
            for (at, from) in written.iter().enumerate() {
                let within = written[at..].iter().filter(|to| **to - from < refill).count();
                prop_assert!(within <= burst + 1, "{} writes about object {} within a refill", within, object);
            }
        }
    }
}
