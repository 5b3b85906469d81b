//! Panics on the exploring thread.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use super::sim::panic_text;

thread_local! {
    /// The messages of this thread's panics; `None` on other threads.
    static SEEN: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Collects panics of this thread from now on, instead of printing them.
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

/// Takes the collected messages.
pub(super) fn take() -> Vec<String> {
    SEEN.with_borrow_mut(|seen| seen.as_mut().map(std::mem::take).unwrap_or_default())
}

/// Runs a function whose panics are ignored: a check that reports its own, or the end of a process.
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

/// Runs a function and returns its panic's message instead of unwinding.
pub(super) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(panic::AssertUnwindSafe(run)).map_err(|panic| panic_text(&*panic))
}
