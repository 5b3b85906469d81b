//! An hour of simulated churn: 2,000 objects a second are created, changed and deleted, and memory has to stay flat.
//!
//! `cargo run --release --bin churn [SECONDS]` prints the memory in use every ten simulated minutes, and fails if it
//! has grown by more than three percent since the first of them.

#[path = "../../../../runtime/tests/churn/heap.rs"]
mod heap;
#[path = "../../../../runtime/tests/churn/rig.rs"]
mod rig;

use rig::Churn;

#[global_allocator]
static HEAP: heap::Counting = heap::Counting::new();

/// Tolerated growth: tables keep the capacity of their peak.
const TOLERATED: f64 = 1.03;

fn main() {
    let seconds = std::env::args().nth(1).map_or(3_600, |text| text.parse().expect("a number of seconds"));
    let churn = Churn { seconds, sample: (seconds / 6).max(1), rate: 2_000, objects: 10_000, remembered: 4_096 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let begun = std::time::Instant::now();
    let samples = runtime.expect("a runtime").block_on(rig::run(churn, || HEAP.live(), |sample| {
        let heap = sample.heap as f64 / 1e6;
        println!(
            "{:5} s {:9} changes {heap:8.3} MB in use, {} objects in {} namespaces, {} and {} delayed, {} lists and \
             watches, {} reconciles, {} writes of events, {} lines of metrics",
            sample.second,
            sample.changes,
            sample.objects,
            sample.namespaces,
            sample.queued,
            sample.delayed,
            sample.watches,
            sample.reconciles,
            sample.events,
            sample.metrics,
        );
    }));
    let grown = samples.iter().map(|sample| sample.heap).max().unwrap_or(0) as f64 / samples[0].heap as f64;
    println!("{grown:.4} times the first at most, in {:.0} s", begun.elapsed().as_secs_f64());
    if grown > TOLERATED {
        std::process::exit(1);
    }
}
