//! Memory stays flat while objects come and go. `bench/runtime` runs an hour of it: `cargo run --release --bin churn`.
#![allow(clippy::unwrap_used, unreachable_pub)]
// An allocator needs unsafe code; this one counts and forwards.
#![allow(unsafe_code)]

mod heap;
mod rig;

use rig::Churn;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting::new();

#[test]
fn memory_is_constant_while_objects_are_created_and_deleted() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let churn = Churn { seconds: 60, sample: 10, rate: 2_000, objects: 1_000, remembered: 64 };
    let samples = runtime.block_on(rig::run(churn, || HEAP.live(), |_| {}));
    for sample in &samples {
        assert_eq!((sample.objects, sample.compact, sample.values), (1_000, 1_000, 1_000), "{sample:?}");
        assert!(sample.namespaces <= 6, "{sample:?}");
        assert_eq!(sample.failures, 0, "{sample:?}");
        // Failures recur at any time, and once more for deleted objects.
        assert!(sample.queued < 100 && sample.delayed < 1_000, "{sample:?}");
        assert_eq!(sample.metrics, samples[0].metrics, "label sets are bounded");
        assert!(
            sample.changes >= 2_000 * sample.second && sample.reconciles > sample.changes / 2,
            "{sample:?}"
        );
        assert!(sample.events > 0, "{sample:?}");
    }
    // Tables grow and shrink by halves. A leak for every deleted object is larger than that, even with twenty
    // bytes each.
    let (first, last) = (samples[0].heap, samples[samples.len() - 1].heap);
    let grown = last as f64 / first as f64;
    assert!(grown < 1.12, "{first} bytes became {last}: {samples:#?}");
}
