//! Times `generate` on a synthetic API: reading and parsing the input against everything (CRDs, clients,
//! informers and listers, written to disk).
//!
//! ```text
//! cargo run --release -p kubesmith-bench-codegen [RUNS]
//! ```

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first thing that goes wrong")]

mod input;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use kubesmith::config::{self, Overrides};
use kubesmith::{pipeline, write};

/// Kinds and spec fields of each API that is timed.
const SIZES: [(usize, usize); 2] = [(100, 30), (1_000, 30)];

fn main() {
    let runs = std::env::args().nth(1).map_or(9, |runs| runs.parse().unwrap());
    println!("median of {runs} runs; times in ms");
    println!("kinds x fields   input      parse   generate   write   total   total/parse   output");
    for (kinds, fields) in SIZES {
        let folder = tempfile::tempdir().unwrap();
        let api = folder.path().join("api");
        input::write(&api, kinds, fields).unwrap();
        let parse = median(runs, || timed(|| parse(&api)));
        let (mut generates, mut writes, mut size) = (Vec::new(), Vec::new(), (0, 0));
        for run in 0..runs {
            let out = folder.path().join(format!("out{run}"));
            let (generate, write, files) = generate(&api, &out);
            generates.push(generate);
            writes.push(write);
            size = files;
            fs::remove_dir_all(&out).unwrap();
        }
        let (generate, write) = (middle(generates), middle(writes));
        let total = generate + write;
        println!(
            "{:>5} x {:<4}   {:>5.1} MB {:>8.1} {:>10.1} {:>7.1} {:>7.1} {:>10.2}     {} files, {:.1} MB",
            kinds,
            fields,
            bytes(&api.join("src")),
            ms(parse),
            ms(generate),
            ms(write),
            ms(total),
            total.as_secs_f64() / parse.as_secs_f64(),
            size.0,
            size.1 as f64 / 1e6,
        );
    }
}

/// What any generator that reads source must do: read and parse every file, on one thread.
fn parse(api: &Path) {
    for file in fs::read_dir(api.join("src")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        std::hint::black_box(syn::parse_file(&text).unwrap());
    }
}

/// Everything that the command does; returns the times until and of writing, and the files and bytes written.
fn generate(api: &Path, out: &Path) -> (Duration, Duration, (usize, usize)) {
    let start = Instant::now();
    let flags = Overrides { input: vec![api.into()], output: Some(out.into()), ..Overrides::default() };
    let settings = config::settings(None, flags).unwrap().remove(0);
    let generated = pipeline::generate(&settings);
    assert!(generated.diagnostics.is_empty(), "{:?}", generated.diagnostics.first());
    let made = start.elapsed();
    let start = Instant::now();
    write::plan(&generated.targets).unwrap().write().unwrap();
    let wrote = start.elapsed();
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    let size = files.fold((0, 0), |(files, bytes), (_, text)| (files + 1, bytes + text.len()));
    (made, wrote, size)
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn median(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    middle((0..runs).map(|_| run()).collect())
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Megabytes of the files in a folder.
fn bytes(folder: &Path) -> f64 {
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>() as f64 / 1e6
}
