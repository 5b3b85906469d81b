//! Processes many items in parallel, with results in the order of the items.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// Stack of each thread in bytes. syn recurses up to a few thousand levels, each of which takes some twenty
/// kilobytes without optimisation. Memory is used only as far as the stack grows.
const STACK: usize = 256 << 20;

/// Calls `run` with each of the items, on as many threads as there are processors.
///
/// # Panics
/// Panics if `run` does.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    // A free thread takes the next item, so that large items do not delay others.
    let work = || {
        let mut done = Vec::new();
        while let Some((at, item)) = take(items, &next) {
            done.push((at, run(item)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let start = |_| Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let started: Vec<_> = (0..threads).filter_map(start).collect();
        // If no thread can start, the current one does the work.
        let mut done = if started.is_empty() { work() } else { Vec::new() };
        for handle in started {
            done.extend(handle.join().unwrap_or_else(|payload| panic::resume_unwind(payload)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    items.get(at).map(|item| (at, item))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        for length in [0, 1, 2, 1_000] {
            let items: Vec<usize> = (0..length).collect();
            let twice = map(&items, |item| {
                if item % 7 == 0 {
                    thread::yield_now();
                }
                item * 2
            });
            assert_eq!(twice, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn panic_of_a_thread_is_propagated() {
        let outcome = panic::catch_unwind(|| map(&[1, 2, 3], |item| assert_ne!(*item, 2)));
        assert!(outcome.is_err());
    }
}
