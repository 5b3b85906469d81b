//! Times the compilation of 50 kinds with all output of `kubesmith generate`, compared with the same kinds with
//! kube-rs's derive and a reflector for each.
//!
//! ```text
//! cargo run --release -p kubesmith-bench-compile [ROUNDS [KINDS]]
//! ```
//!
//! Both end in a program that fills a cache for each kind and reads it. The benchmark times the packages written for
//! the kinds: the dev profile, not incremental, with compiled dependencies. Contenders alternate. Processor times are
//! those of Cargo and all compilers, from /proc, so that this only runs on Linux.

mod kinds;
mod workspace;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use workspace::{Contender, KUBE_RS, KUBESMITH};

fn main() {
    let number = |at: usize, otherwise: usize| {
        std::env::args().nth(at).map_or(otherwise, |text| text.parse().expect("a number"))
    };
    let (rounds, kinds) = (number(1, 5).max(1), number(2, 50));
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = project.canonicalize().expect("the project is there");
    let folder = project.join("target/bench-compile");
    workspace::write(&folder, &project, kinds).expect("the target folder can be written");
    for contender in [&KUBESMITH, &KUBE_RS] {
        eprintln!("compiling what {} needs", contender.name);
        cargo(&folder, &["build", "--package", contender.program()]);
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        ours.push(Figures::of(&folder, &KUBESMITH));
        theirs.push(Figures::of(&folder, &KUBE_RS));
    }
    let (ours, theirs) = (Figures::median(&ours), Figures::median(&theirs));
    println!("{kinds} kinds, dev profile, median of {rounds}; seconds");
    println!("{:<12} {:>10} {:>10} {:>8}", "", "kubesmith", "kube-rs", "ratio");
    for (row, ours, theirs) in
        [("processor", ours.processor, theirs.processor), ("wall clock", ours.wall, theirs.wall)]
    {
        let (ours, theirs) = (ours.as_secs_f64(), theirs.as_secs_f64());
        println!("{row:<12} {ours:>10.2} {theirs:>10.2} {:>8.2}", ours / theirs);
    }
}

/// The times of a compilation.
#[derive(Clone, Copy)]
struct Figures {
    wall: Duration,
    processor: Duration,
}

impl Figures {
    /// Recompiles a contender's own packages.
    fn of(folder: &Path, contender: &Contender) -> Self {
        let clean: Vec<&str> = contender.packages.iter().flat_map(|name| ["--package", name]).collect();
        cargo(folder, &[&["clean"], &clean[..]].concat());
        let (start, before) = (Instant::now(), processor_of_children());
        cargo(folder, &["build", "--package", contender.program()]);
        Self { wall: start.elapsed(), processor: processor_of_children() - before }
    }

    fn median(all: &[Self]) -> Self {
        let middle = |of: fn(&Self) -> Duration| {
            let mut times: Vec<Duration> = all.iter().map(of).collect();
            times.sort();
            times[times.len() / 2]
        };
        Self { wall: middle(|it| it.wall), processor: middle(|it| it.processor) }
    }
}

/// Runs Cargo in the workspace, independent of the environment's profile.
fn cargo(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PROFILE_")) {
        command.env_remove(name);
    }
    let own = ["--quiet", "--target-dir", "target"];
    let command = command.current_dir(folder).args(arguments).args(own).env("CARGO_INCREMENTAL", "0");
    let status = command.status().expect("Cargo runs");
    assert!(status.success(), "cargo {arguments:?}: {status}");
}

/// Returns the processor time of all processes that this one has waited for, and of their children.
fn processor_of_children() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").expect("/proc is mounted");
    // The second field is the program's name in parentheses, which may contain anything.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // cutime and cstime in ticks, of which every Linux has 100 a second.
    let ticks: u64 = fields[13..15].iter().map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}
