//! Panics on the thread that explores.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use super::sim::panic_text;

thread_local! {
    /// What this thread's panics say; `None` on other threads.
    static SEEN: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// From now on, panics of this thread are collected in place of being printed.
pub(super) fn collect() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !note(info) {
                previous(info);
            }
        }));
    });
    SEEN.set(Some(Vec::new()));
}

fn note(info: &PanicHookInfo<'_>) -> bool {
    let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let text = format!("{}{place}", payload(info));
    // A thread that ends has no storage any more.
    let noted = SEEN.try_with(|seen| match seen.borrow_mut().as_mut() {
        Some(seen) => {
            seen.push(text);
            true
        }
        None => false,
    });
    noted.unwrap_or_default()
}

fn payload(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}

/// Takes what was collected.
pub(super) fn take() -> Vec<String> {
    SEEN.with_borrow_mut(|seen| seen.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Runs something whose panics count for nothing: a check that reports its own, or the end of a process.
pub(super) fn ignoring<T>(run: impl FnOnce() -> T) -> T {
    let before = take();
    let result = run();
    SEEN.with_borrow_mut(|seen| {
        if let Some(seen) = seen {
            *seen = before;
        }
    });
    result
}

/// Runs something and returns what it panicked with instead of unwinding.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(panic::AssertUnwindSafe(run)).map_err(|panic| panic_text(&*panic))
}
