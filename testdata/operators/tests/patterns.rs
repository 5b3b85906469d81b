//! Each bug is found, and no twin is reported.
#![allow(clippy::unwrap_used)]

use std::thread;

use operators::{Pattern, explored, patterns};

/// How many schedules look for a bug, and how many a repaired operator survives. `KUBESMITH_EXPLORE` overrides both.
const SCHEDULES: usize = 120;
const SURVIVED: usize = 42;
/// Replicas that stand still after the user's steps come late in a search.
const SURVIVED_BY_REPLICAS: usize = 126;
/// How many things may happen in a replay: the steps of the user and the faults.
const MOST_STEPS: usize = 10;

/// What is wrong with the exploration of a pattern.
fn faults(pattern: &'static Pattern) -> Vec<String> {
    let mut wrong = Vec::new();
    match explored(pattern, false, SCHEDULES) {
        Ok(report) => wrong.push(format!("{}: not found\n{report}", pattern.name)),
        Err(failed) => {
            println!("{}: run {}, {}", pattern.name, failed.runs(), failed.plan());
            if pattern.steps.len() + 1 + failed.faults() > MOST_STEPS {
                wrong.push(format!("{}: a long replay\n{failed}", pattern.name));
            }
        }
    }
    let survived = if pattern.replicas > 1 { SURVIVED_BY_REPLICAS } else { SURVIVED };
    if let Err(failed) = explored(pattern, true, survived) {
        wrong.push(format!("{}: the twin is reported\n{failed}", pattern.name));
    }
    wrong
}

#[test]
fn exploration_finds_each_bug_and_passes_its_fixed_twin() {
    let wrong: Vec<_> = thread::scope(|scope| {
        // Two processors are enough for all patterns.
        let lanes = [0, 1].map(|lane| {
            scope.spawn(move || patterns().skip(lane).step_by(2).flat_map(faults).collect::<Vec<_>>())
        });
        lanes.into_iter().flat_map(|lane| lane.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn patterns_cover_every_bug_of_the_list() {
    let of =
        |kind: &str| patterns().flat_map(|pattern| pattern.bugs).filter(|bug| bug.contains(kind)).count();
    assert_eq!((of("stale state"), of("intermediate state"), of("unobserved state")), (19, 11, 7));
}
