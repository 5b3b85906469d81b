//! The runtime's concurrent parts under random orders of the threads' steps: its own sources, compiled with
//! shuttle's locks and atomics instead of std's.
//!
//! The orders follow from a seed: `SHUTTLE_SEED=7 cargo test -p kubesmith-runtime --test shuttle` takes another one. An
//! argument runs only the cases whose names contain it.
#![allow(clippy::unwrap_used, dead_code, unreachable_pub, unused_imports)]

mod cache;
mod cases;
mod informer;
#[path = "../../src/metrics/mod.rs"]
mod metrics;
mod sync;
#[path = "../../src/workqueue/mod.rs"]
mod workqueue;

use shuttle::Runner;
use shuttle::scheduler::{PctScheduler, RandomScheduler};

/// Orders tried for each case and each of the two ways to choose them.
const ORDERS: usize = 1_500;
/// The maximum number of places at which one of the two schedulers switches threads.
const SWITCHES: usize = 3;

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    if std::env::args().any(|argument| argument == "--list") {
        return cases::ALL.iter().for_each(|(name, _)| println!("{name}: test"));
    }
    let seed =
        std::env::var("SHUTTLE_SEED").map_or(1, |seed| seed.parse().expect("SHUTTLE_SEED is a number"));
    for (name, case) in cases::ALL.iter().filter(|(name, _)| name.contains(&filter)) {
        let begun = std::time::Instant::now();
        let mut config = shuttle::Config::default();
        // Disables shuttle's known warning that it treats every atomic as SeqCst.
        config.silence_warnings = true;
        Runner::new(RandomScheduler::new_from_seed(seed, ORDERS), config.clone()).run(case);
        Runner::new(PctScheduler::new_from_seed(seed, SWITCHES, ORDERS), config).run(case);
        println!("test {name} ... ok ({:.1} s)", begun.elapsed().as_secs_f64());
    }
}
