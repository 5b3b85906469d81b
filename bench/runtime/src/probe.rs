//! Clocks, processor time and memory of this process.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Nanoseconds since the epoch.
pub fn now_nanos() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Processor seconds that this process has used.
pub fn cpu_seconds() -> f64 {
    // SAFETY: getrusage writes the struct that it is handed and nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Returns the megabytes that this process holds after free pages of the heap are returned.
pub fn live_megabytes() -> f64 {
    // SAFETY: it has no preconditions.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
    status("VmRSS:")
}

/// Megabytes of the heap that are in use.
pub fn allocated_megabytes() -> f64 {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: it has no preconditions.
        let info = unsafe { libc::mallinfo2() };
        return (info.uordblks + info.hblkhd) as f64 / 1e6;
    }
    #[cfg(not(target_env = "gnu"))]
    0.0
}

/// Returns the peak megabytes of this process.
pub fn peak_megabytes() -> f64 {
    status("VmHWM:")
}

fn status(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes: f64 = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0.0);
    kilobytes / 1024.0
}

/// Measures calls of `call` per second, over about half a second.
pub fn rate(mut call: impl FnMut(usize)) -> f64 {
    (0..3).for_each(&mut call);
    let begin = Instant::now();
    let (mut calls, mut step) = (0, 1);
    while begin.elapsed() < Duration::from_millis(500) {
        (calls..calls + step).for_each(&mut call);
        calls += step;
        step = (step * 2).min(256);
    }
    calls as f64 / begin.elapsed().as_secs_f64()
}

/// Measures calls of `call` per second by a thread for each core, in total.
pub fn rate_of_threads(call: impl Fn(usize) + Sync) -> f64 {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        // They begin far from each other.
        let start = |thread: usize| {
            scope.spawn({
                let call = &call;
                move || rate(|i| call(i + thread * 7919))
            })
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// The value at `share` of the sorted values.
pub fn percentile(sorted: &[u64], share: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(0) as f64
}
