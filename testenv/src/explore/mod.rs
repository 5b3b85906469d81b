//! Tests of operators against crashes, stale caches and bad timing.
//!
//! [`explore`] runs a scenario hundreds of times in a simulation: one thread, simulated time, the embedded server in
//! the same process. Every request of an operator and every event of its watches waits until the schedule releases it.
//! A first run without faults shows every request and event; the next ones disturb one of them each: the operator
//! crashes before or after a write, a response is lost, a watch is late, breaks or expires, a user edits in between,
//! the operator is down while a user acts. Further schedules combine faults at random. After each step of the scenario,
//! the objects must reach the state that they have in a run without faults, and the operator must come to rest.
//!
//! ```
//! use kube::Client;
//! use kube::api::{Api, Patch, PatchParams, WatchParams};
//! use futures::TryStreamExt as _;
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! // An operator that labels config maps.
//! async fn run(client: Client) -> Result<(), kube::Error> {
//!     let maps: Api<ConfigMap> = Api::namespaced(client, "default");
//!     let label = serde_json::json!({"metadata": {"labels": {"seen": "yes"}}});
//!     let mut events = Box::pin(maps.watch(&WatchParams::default(), "0").await?);
//!     while let Some(event) = events.try_next().await? {
//!         if let kube::api::WatchEvent::Added(map) = event {
//!             let name = map.metadata.name.unwrap_or_default();
//!             maps.patch(&name, &PatchParams::default(), &Patch::Merge(&label)).await?;
//!         }
//!     }
//!     Ok(())
//! }
//!
//! let map = "
//! apiVersion: v1
//! kind: ConfigMap
//! metadata: {name: settings, namespace: default}
//! ";
//! kubesmith_testenv::Explore::new("labels").schedules(10).run(move |sim| async move {
//!     sim.operator(run);
//!     sim.apply(map);
//! })?;
//! # Ok::<(), Box<kubesmith_testenv::Failed>>(())
//! ```
//!
//! A failure prints the smallest failing schedule as a story: the user's actions, the operator's requests and events,
//! and the place of the fault. `KUBESMITH_EXPLORE` replays it (`seed=1,plan=...`) or changes the budgets
//! (`seed=2,schedules=10000,seconds=600`).

mod beginning;
mod changes;
mod cluster;
mod compare;
mod deliver;
mod dice;
mod endless;
mod fault;
#[cfg(test)]
mod fields;
mod gate;
mod hooks;
mod html;
mod invalid;
mod judge;
mod oracle;
mod outside;
mod panics;
mod past;
mod pending;
mod plan;
mod pods;
mod process;
mod progress;
#[cfg(test)]
mod replayed;
mod report;
mod run;
mod search;
mod settings;
mod sim;
mod sim_runtime;
mod state;
mod steps;
mod strangers;
mod vary;
mod watches;
mod world;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

pub use gate::Connection;
pub use outside::{Outside, OutsideError};
pub use report::{Failed, Report};
pub use sim::{Sim, Verdict, View};

use progress::Progress;
use settings::{Settings, VARIABLE};

/// Explores a scenario with the default budgets, 1,000 schedules or 50 seconds, and prints the coverage.
///
/// The closure describes the scenario to the [`Sim`]. It is called again for each schedule, so that its values, such as
/// the model of an outside system, are fresh each time.
///
/// # Panics
/// Panics if a schedule fails, with the smallest failing one, see [`Failed`].
pub fn explore<F, Fut>(name: &str, scenario: F)
where
    F: Fn(Sim) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    match Explore::new(name).run(scenario) {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}

/// An exploration with budgets of its own; [`explore`] uses the defaults.
#[derive(Clone, Debug)]
pub struct Explore {
    name: String,
    settings: Settings,
}

impl Explore {
    /// Creates an exploration with the default budgets.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), settings: Settings::default() }
    }

    /// Sets the limit of schedules with faults; 1,000 by default.
    #[must_use]
    pub fn schedules(mut self, schedules: usize) -> Self {
        self.settings.schedules = schedules;
        self
    }

    /// Sets the seed of UIDs, generated names and random schedules; 1 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Sets the limit of the machine's time; 50 seconds by default.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.settings.time = time;
        self
    }

    /// Writes a page with a timeline into a folder, and for a failure a file for `KUBESMITH_EXPLORE='replay=FILE'`.
    #[must_use]
    pub fn report(mut self, folder: impl Into<std::path::PathBuf>) -> Self {
        self.settings.report = Some(folder.into());
        self
    }

    /// Explores a scenario, as [`explore`] does. `KUBESMITH_EXPLORE` overrides settings.
    ///
    /// # Errors
    /// Returns the smallest failing schedule.
    ///
    /// # Panics
    /// Panics if `KUBESMITH_EXPLORE` is malformed, or a report cannot be written.
    pub fn run<F, Fut>(mut self, scenario: F) -> Result<Report, Box<Failed>>
    where
        F: Fn(Sim) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        if let Ok(text) = std::env::var(VARIABLE) {
            let read = self.settings.read(&text);
            assert!(read.is_ok(), "{VARIABLE}: {}", read.err().unwrap_or_default());
        }
        let (name, report) = (self.name.clone(), self.settings.report.clone());
        let result = self.supervised(scenario);
        if let Some(folder) = report {
            let written = html::write(&folder, &name, &result);
            assert!(
                written.is_ok(),
                "the report in {}: {}",
                folder.display(),
                written.err().unwrap_or_default()
            );
        }
        result
    }

    /// Explores on a separate thread: an operator in an endless loop cannot be stopped, only abandoned.
    fn supervised<F, Fut>(self, scenario: F) -> Result<Report, Box<Failed>>
    where
        F: Fn(Sim) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let (sender, receiver) = channel();
        let progress = Arc::<Progress>::default();
        let (shown, name, seed, stuck) =
            (progress.clone(), self.name.clone(), self.settings.seed, self.settings.stuck);
        let thread = std::thread::spawn(move || {
            progress::show(shown);
            panics::collect();
            let boxed = |sim: Sim| -> Pin<Box<dyn Future<Output = ()>>> { Box::pin(scenario(sim)) };
            drop(sender.send(search::search(&self.name, &boxed, &self.settings)));
        });
        let mut before = 0;
        loop {
            match receiver.recv_timeout(stuck) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) if progress.moves() == before => {
                    return Err(Failed::computing(name, seed, progress.current()));
                }
                Err(RecvTimeoutError::Timeout) => before = progress.moves(),
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("the thread sends a result before it ends"),
                },
            }
        }
    }
}
