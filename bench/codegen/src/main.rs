//! Times `generate` on a synthetic API: compares reading and parsing the input with all output (CRDs, clients,
//! informers and listers, written to disk), and with `--check` of that output. Memory is the peak growth of the
//! process, with the output, on Linux.
//!
//! ```text
//! cargo run --release -p kubesmith-bench-codegen [RUNS [KINDS]]
//! cargo run --release -p kubesmith-bench-codegen go [RUNS [FOLDER...]]     # CRDs of Go packages
//! ```

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first thing that goes wrong")]

mod go;
mod input;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kubesmith::config::{self, Overrides};
use kubesmith::{pipeline, write};

/// The command's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The default numbers of kinds, and the number of spec fields of a kind.
const KINDS: [usize; 2] = [100, 1_000];
const FIELDS: usize = 30;

fn main() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("go") {
        let runs = arguments.next().map_or(9, |runs| runs.parse().unwrap());
        return go::run(runs, &arguments.map(Into::into).collect::<Vec<_>>());
    }
    let number = |at: usize| std::env::args().nth(at).map(|text| text.parse::<usize>().unwrap());
    let runs = number(1).unwrap_or(9);
    println!("median of {runs} runs; times in ms, and in times of parsing");
    println!(
        "kinds x fields   input      parse        generate           write           check   memory   output"
    );
    for kinds in number(2).map_or(KINDS.to_vec(), |kinds| vec![kinds]) {
        let folder = tempfile::tempdir().unwrap();
        let api = folder.path().join("api");
        input::write(&api, kinds, FIELDS).unwrap();
        let (before, mut most) = (memory("VmRSS:"), 0.0);
        let (mut parses, mut all, mut size) = (Vec::new(), Vec::new(), (0, 0));
        for run in 0..runs {
            let out = folder.path().join(format!("out{run}"));
            let (times, files) = generate(&api, &out);
            most = f64::max(most, memory("VmHWM:") - before);
            parses.push(timed(|| parse(&api)));
            all.push(times);
            size = files;
            fs::remove_dir_all(&out).unwrap();
        }
        let parse = ms(middle(parses));
        let of = |at: usize| ms(middle(all.iter().map(|times| times[at]).collect()));
        let time = |at: usize| format!("{:.1} ({:.2})", of(at), of(at) / parse);
        println!(
            "{kinds:>5} x {FIELDS:<4}   {:>5.1} MB {parse:>9.1} {:>15} {:>15} {:>15} {:>5.0} MB   {} files, {:.1} MB",
            bytes(&api.join("src")),
            time(0),
            time(1),
            time(2),
            most,
            size.0,
            size.1 as f64 / 1e6,
        );
    }
}

/// The minimum work of a generator that reads source: read and parse every file, on one thread.
fn parse(api: &Path) {
    for file in fs::read_dir(api.join("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        std::hint::black_box(syn::parse_file(&text).unwrap());
    }
}

/// Runs the whole command; returns the times before and after writing and of checking, and the number and bytes of
/// files.
fn generate(api: &Path, out: &Path) -> ([Duration; 3], (usize, usize)) {
    let make = || {
        let flags = Overrides { input: vec![api.into()], output: Some(out.into()), ..Overrides::default() };
        let settings = config::settings(None, flags).unwrap().remove(0);
        let generated = pipeline::generate(&settings);
        assert!(generated.diagnostics.is_empty(), "{:?}", generated.diagnostics.first());
        generated
    };
    let start = Instant::now();
    let generated = make();
    let made = start.elapsed();
    let wrote = timed(|| {
        write::plan(&generated.targets).unwrap().write().unwrap();
    });
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    let size = files.fold((0, 0), |(files, bytes), (_, text)| (files + 1, bytes + text.len()));
    drop(generated);
    let checked = timed(|| assert!(write::plan(&make().targets).unwrap().is_clean()));
    ([made, wrote, checked], size)
}

/// Returns megabytes of memory: current (`VmRSS:`) or peak (`VmHWM:`).
fn memory(what: &str) -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(what));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok()).map_or(0.0, |kb| kb / 1e3)
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the megabytes of the files in a folder.
fn bytes(folder: &Path) -> f64 {
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>() as f64 / 1e6
}
