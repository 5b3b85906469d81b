//! The result of an exploration, as text.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::progress::Current;

/// The limits of a story's lines before the first fault, and in total.
const LINES_BEFORE: usize = 8;
const LINES: usize = 80;

/// The limit of shown fields that were not changed.
const FIELDS_SHOWN: usize = 20;

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
    /// The story without faults, or of the requested schedule.
    pub(super) story: Vec<String>,
    pub(super) dead: BTreeSet<String>,
    pub(super) untried: BTreeSet<String>,
    pub(super) unrefused: Vec<String>,
    pub(super) history: BTreeSet<String>,
    pub(super) diverges: Option<String>,
}

/// A write, and whether an operator has crashed before and after it.
#[derive(Clone, Debug)]
pub(super) struct Crashed {
    pub(super) write: String,
    pub(super) before: bool,
    pub(super) after: bool,
}

impl Report {
    /// Returns the number of runs, including those without faults.
    #[must_use]
    pub fn schedules(&self) -> usize {
        self.schedules
    }

    /// Returns the number of distinct states of the cluster after settled steps.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// Returns the writes without faults that no schedule has disturbed by a crash before or after them.
    pub fn never_crashed(&self) -> impl Iterator<Item = &str> {
        self.writes.iter().filter(|write| !write.before && !write.after).map(|write| write.write.as_str())
    }

    /// Returns the fields of varied objects, such as `spec.size`, whose changes had no effect on any other field or
    /// object.
    pub fn dead_fields(&self) -> impl Iterator<Item = &str> {
        self.dead.iter().map(String::as_str)
    }

    /// Returns the fields of varied objects that no run has changed by themselves: the server takes no value that was
    /// tried, or the schedules were too few.
    pub fn untried_fields(&self) -> impl Iterator<Item = &str> {
        self.untried.iter().map(String::as_str)
    }

    /// Returns the objects that the server should refuse: those that it accepts against their schema, and those that it
    /// accepts and on which the operator then fails.
    pub fn unrefused(&self) -> impl Iterator<Item = &str> {
        self.unrefused.iter().map(String::as_str)
    }

    /// Returns how the state differs if the operator starts only before the user's last step.
    pub fn history(&self) -> impl Iterator<Item = &str> {
        self.history.iter().map(String::as_str)
    }

    /// Returns how two runs of one schedule differ, and the likely cause, if the operator is not deterministic.
    #[must_use]
    pub fn diverges(&self) -> Option<&str> {
        self.diverges.as_deref()
    }

    /// Returns the number of distinct faults that happened, each at its own place.
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
        if !dead.is_empty() {
            write!(f, "\nfields without any effect: {}", dead.join(", "))?;
        }
        let untried: Vec<&str> = self.untried_fields().take(FIELDS_SHOWN).collect();
        if !untried.is_empty() {
            write!(f, "\nfields that were not changed: {}", untried.join(", "))?;
            let more = self.untried.len() - untried.len();
            if more > 0 {
                write!(f, " and {more} more")?;
            }
        }
        if !self.history.is_empty() {
            f.write_str("\nThe state depends on history. If the operator starts only before the last step:")?;
        }
        self.history.iter().try_for_each(|line| write!(f, "\n  - {line}"))?;
        if let Some(diverges) = &self.diverges {
            write!(f, "\nThe operator is not deterministic. In the same schedule, {diverges}")?;
        }
        if !self.unrefused.is_empty() {
            f.write_str("\nobjects that should be refused:")?;
        }
        self.unrefused.iter().try_for_each(|line| write!(f, "\n  - {line}"))
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
    /// Whether statics keep the run without faults from succeeding afterwards.
    pub(super) statics: bool,
}

impl Failed {
    /// A run in which the operator does not return from its computation, with the end of its story.
    pub(super) fn computing(name: String, seed: u64, current: Current) -> Box<Self> {
        Box::new(Self {
            name,
            failure: "the operator computes for half a minute without waiting for anything".to_owned(),
            plan: current.plan.to_string(),
            faults: current.plan.faults.len(),
            seed,
            runs: current.runs,
            story: current.story.into(),
            diverges: None,
            statics: false,
        })
    }

    /// Returns a description of the failure.
    #[must_use]
    pub fn failure(&self) -> &str {
        &self.failure
    }

    /// Returns the schedule in the form of `KUBESMITH_EXPLORE=plan=...`; empty if the scenario fails without faults.
    #[must_use]
    pub fn plan(&self) -> &str {
        &self.plan
    }

    /// Returns the number of runs until it was found and reduced, including those without faults.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Returns the number of the schedule's faults.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.faults
    }

    /// Returns the value of `KUBESMITH_EXPLORE` that runs the schedule again.
    #[must_use]
    pub fn replay(&self) -> String {
        let plan = if self.plan.is_empty() { String::new() } else { format!(",plan={}", self.plan) };
        format!("seed={}{plan}", self.seed)
    }

    /// Returns the story: a line for each request, event and fault.
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
                "\nThe failure did not repeat: the operator is not deterministic. In the same schedule, {diverges}"
            )?;
        }
        if self.statics {
            f.write_str(
                "\nAfter it, the run without faults fails, too: the operator keeps values in statics, which survive runs and \
                 crashes. The replay needs a new process.\n",
            )?;
        }
        write!(f, "\nReplay: KUBESMITH_EXPLORE='{}'", self.replay())
    }
}
