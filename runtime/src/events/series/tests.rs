use std::time::Duration;

use k8s_openapi::api::events::v1::Event;
use proptest::prelude::*;

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn event(reason: &str, seconds: i64) -> Event {
    Event {
        reason: Some(reason.to_owned()),
        note: Some(format!("at {seconds}")),
        event_time: Some(MicroTime(at(seconds))),
        ..Event::default()
    }
}

fn show(writes: &[SeriesWrite]) -> Vec<String> {
    let one = |write: &SeriesWrite| match write {
        SeriesWrite::Create(event) => format!("+{}", event.reason.as_deref().unwrap()),
        SeriesWrite::Patch(event) => {
            let series = event.series.as_ref().unwrap();
            let last = series.last_observed_time.0.as_second();
            format!("{}*{}@{last}", event.reason.as_deref().unwrap(), series.count)
        }
    };
    writes.iter().map(one).collect()
}

#[test]
fn series_is_written_when_it_begins_continues_and_ends() {
    let mut correlator = SeriesCorrelator::new(SeriesOptions::default());
    assert_eq!(show(&correlator.on(event("a", 0))), ["+a"]);
    assert_eq!(show(&correlator.on(event("b", 1))), ["+b"]);
    assert_eq!(show(&correlator.on(event("a", 2))), ["a*2@2"]);
    for second in 3..10 {
        assert!(correlator.on(event("a", second)).is_empty());
    }
    assert_eq!(show(&correlator.refresh()), ["a*9@9"]);
    assert!(correlator.finish(at(369)).is_empty(), "b ends without a word, a goes on");
    assert_eq!(show(&correlator.on(event("b", 369))), ["+b"]);
    assert_eq!(show(&correlator.finish(at(370))), ["a*9@9"]);
    assert_eq!(show(&correlator.on(event("a", 371))), ["+a"]);
}

#[test]
fn oldest_event_is_dropped_for_a_new_one() {
    let options = SeriesOptions { cache_size: 2, ..SeriesOptions::default() };
    let mut correlator = SeriesCorrelator::new(options);
    for (reason, second) in [("a", 0), ("b", 1), ("a", 2), ("b", 3), ("a", 4)] {
        correlator.on(event(reason, second));
    }
    assert_eq!(show(&correlator.on(event("c", 5))), ["b*2@3", "+c"]);
    assert_eq!(show(&correlator.finish_all()), ["a*3@4"]);
}

#[test]
fn events_about_other_objects_are_separate() {
    let mut correlator = SeriesCorrelator::new(SeriesOptions::default());
    for name in ["x", "y"] {
        let object = Some(ObjectReference { name: Some(name.to_owned()), ..ObjectReference::default() });
        let regarding = Event { regarding: object.clone(), ..event("a", 0) };
        let related = Event { related: object, ..event("a", 0) };
        assert_eq!(show(&correlator.on(regarding)), ["+a"]);
        assert_eq!(show(&correlator.on(related)), ["+a"]);
    }
}

proptest! {
    /// The last write about each event contains every recorded one.
    #[test]
    fn last_write_counts_every_event(steps in proptest::collection::vec((0_usize..5, 0_i64..200), 0..60)) {
        let options = SeriesOptions { cache_size: 3, finish: Duration::from_secs(100), ..SeriesOptions::default() };
        let mut correlator = SeriesCorrelator::new(options);
        let (mut now, mut written, mut last) = (0, 0, BTreeMap::new());
        let mut account = |writes: Vec<SeriesWrite>, written: &mut i32| {
            for write in writes {
                match write {
                    SeriesWrite::Create(event) => {
                        *written += last.insert(event.reason.clone(), 1).unwrap_or(0);
                    }
                    SeriesWrite::Patch(event) => {
                        last.insert(event.reason.clone(), event.series.unwrap().count);
                    }
                }
            }
            last.values().sum::<i32>()
        };
        for (reason, pause) in &steps {
            now += pause;
            let writes = correlator.on(event(["a", "b", "c", "d", "e"][*reason], now));
            account(writes, &mut written);
            if now % 3 == 0 {
                let writes = correlator.finish(at(now));
                account(writes, &mut written);
            }
        }
        let open = account(correlator.finish_all(), &mut written);
        prop_assert_eq!(written + open, i32::try_from(steps.len()).unwrap());
    }
}
