//! What an exploration has found, as text.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// How many lines of a story are shown before the first fault, and in all.
const LINES_BEFORE: usize = 8;
const LINES: usize = 60;

/// An exploration without a failure.
#[derive(Clone, Debug)]
pub struct Report {
    pub(super) name: String,
    pub(super) schedules: usize,
    pub(super) places: usize,
    pub(super) writes: Vec<Crashed>,
    pub(super) faults: usize,
    pub(super) states: usize,
    pub(super) moves: u64,
    pub(super) time: Duration,
    /// What happens without faults, or in the schedule that was asked for.
    pub(super) story: Vec<String>,
    pub(super) dead: BTreeSet<String>,
}

/// A write, and whether an operator has crashed before and after it.
#[derive(Clone, Debug)]
pub(super) struct Crashed {
    pub(super) write: String,
    pub(super) before: bool,
    pub(super) after: bool,
}

impl Report {
    /// How many runs there were, those without faults included.
    #[must_use]
    pub fn schedules(&self) -> usize {
        self.schedules
    }

    /// How many different states the cluster had when steps had settled.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// The writes without faults that no schedule has disturbed by a crash before or after them.
    pub fn never_crashed(&self) -> impl Iterator<Item = &str> {
        self.writes.iter().filter(|write| !write.before && !write.after).map(|write| write.write.as_str())
    }

    /// The fields of varied objects, such as `spec.size`, whose changes had no effect on any other field or object.
    pub fn dead_fields(&self) -> impl Iterator<Item = &str> {
        self.dead.iter().map(String::as_str)
    }

    /// How many different faults have happened, each at a place of its own.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.faults
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs_f64();
        write!(
            f,
            "explore {:?}: {} schedules in {seconds:.1} s ({:.0} per second), {} requests and events, no failure\n\
             {} places without faults, {} of them writes: crashed before {}, after {}; {} faults in all, {} states",
            self.name,
            self.schedules,
            self.schedules as f64 / seconds,
            self.moves,
            self.places,
            self.writes.len(),
            self.writes.iter().filter(|write| write.before).count(),
            self.writes.iter().filter(|write| write.after).count(),
            self.faults,
            self.states,
        )?;
        let dead: Vec<&str> = self.dead_fields().collect();
        if dead.is_empty() { Ok(()) } else { write!(f, "\nfields without any effect: {}", dead.join(", ")) }
    }
}

/// A schedule that fails.
#[derive(Clone, Debug)]
pub struct Failed {
    pub(super) name: String,
    pub(super) failure: String,
    pub(super) plan: String,
    pub(super) faults: usize,
    pub(super) seed: u64,
    pub(super) runs: usize,
    pub(super) story: Vec<String>,
    pub(super) diverges: Option<String>,
}

impl Failed {
    /// What is wrong.
    #[must_use]
    pub fn failure(&self) -> &str {
        &self.failure
    }

    /// The schedule, as `KUBESMITH_EXPLORE=plan=...` takes it; empty if the scenario fails without faults.
    #[must_use]
    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// How many runs there were until it was found and made small, those without faults included.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// How many faults the schedule has.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.faults
    }

    /// What `KUBESMITH_EXPLORE` has to be to run the schedule again.
    #[must_use]
    pub fn replay(&self) -> String {
        let plan = if self.plan.is_empty() { String::new() } else { format!(",plan={}", self.plan) };
        format!("seed={}{plan}", self.seed)
    }

    /// What happened, a line for each request, event and fault.
    #[must_use]
    pub fn story(&self) -> &[String] {
        &self.story
    }
}

impl std::error::Error for Failed {}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "explore {:?} found a failure in run {} (seed {}):\n\n{}\n",
            self.name, self.runs, self.seed, self.failure
        )?;
        match self.faults {
            0 if self.plan.is_empty() => writeln!(f, "It needs no fault.\n")?,
            1 => writeln!(f, "The smallest schedule found has 1 fault: {}\n", self.plan)?,
            faults => writeln!(f, "The smallest schedule found has {faults} faults: {}\n", self.plan)?,
        }
        let first = self.story.iter().position(|line| line.contains("  ! ")).unwrap_or_default();
        let skipped = first.saturating_sub(LINES_BEFORE);
        if skipped > 0 {
            writeln!(f, "  ({skipped} lines before)")?;
        }
        for line in self.story.iter().skip(skipped).take(LINES) {
            writeln!(f, "{line}")?;
        }
        let after = self.story.len().saturating_sub(skipped + LINES);
        if after > 0 {
            writeln!(f, "  ({after} lines after)")?;
        }
        if let Some(diverges) = &self.diverges {
            writeln!(
                f,
                "\nThe failure did not repeat: the operator is not deterministic. Without faults changed, {diverges}"
            )?;
        }
        write!(f, "\nReplay: KUBESMITH_EXPLORE='{}'", self.replay())
    }
}
