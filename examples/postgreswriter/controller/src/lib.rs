//! The PostgresWriter operator: exactly one row for each object, in the table that its spec names, and none after its
//! deletion.
//!
//! [`settings`] locates the database, [`row`] checks the values, [`database`] writes them, and [`reconcile`] decides
//! when.

pub mod database;
pub mod reconcile;
pub mod row;
pub mod settings;
pub mod status;

use std::convert::Infallible;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::controller::{BuildError, ControllerBuilder};
use kubesmith_runtime::manager::Manager;
use kubesmith_runtime::workqueue::ItemExponentialFailureRateLimiter;
use postgreswriter_client::clientset::Clientset;
use postgreswriter_client::informers::SharedInformerFactory;

use database::{Database, Rows};
use reconcile::RowReconciler;

/// The controller's name: its component in events, its field manager in writes, its name at the database.
pub const CONTROLLER_NAME: &str = "postgreswriter-controller";

/// The finalizer of an object until its row is deleted.
pub const FINALIZER: &str = "demo.yash.com/row";

/// The name of the lease that replicas compete for.
pub const LEASE_NAME: &str = "postgreswriter.demo.yash.com";

/// The delay of the first retry, which doubles each time.
const FIRST_RETRY: Duration = Duration::from_millis(50);

/// The longest delay of a retry, which is short so that a recovered database is used soon.
const LAST_RETRY: Duration = Duration::from_secs(30);

/// Adds the controller to `manager`; `workers` objects are reconciled at a time, and each again after `resync` without
/// a known change, if that is not 0. `/readyz` reports whether the database is reachable, also on replicas that do not
/// lead.
///
/// # Errors
///
/// Returns an error if an informer of the manager was shut down.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn add_to(
    manager: &mut Manager,
    database: &Database,
    workers: usize,
    resync: Duration,
) -> Result<(), BuildError> {
    add_controller(manager, database.clone(), workers, resync)?;
    let (watched, asked) = (database.clone(), database.clone());
    manager.add_runnable_on_every_replica("database", async move |stop| {
        watched.watch(&stop).await;
        Ok::<(), Infallible>(())
    });
    manager.add_readyz_check("database", move || match asked.is_reachable() {
        true => Ok(()),
        false => Err("the database cannot be reached".to_owned()),
    });
    Ok(())
}

/// Adds only the controller, with any store of rows.
///
/// # Errors
///
/// Returns an error as [`add_to`].
///
/// # Panics
///
/// Panics outside of a tokio runtime.
pub fn add_controller(
    manager: &mut Manager,
    database: impl Rows,
    workers: usize,
    resync: Duration,
) -> Result<(), BuildError> {
    let factory = SharedInformerFactory::from(manager.factory().clone());
    let writers = factory.demo().v1().postgres_writers();
    let reconciler = RowReconciler {
        lister: writers.lister(),
        writers: Clientset::new(manager.client().clone()).demo_v1().postgres_writers(),
        database,
        recorder: manager.event_recorder_for(CONTROLLER_NAME),
        resync,
        clock: Timestamp::now,
    };
    let controller = ControllerBuilder::new(CONTROLLER_NAME)
        .for_(&writers.informer())
        .workers(workers)
        .rate_limiter(ItemExponentialFailureRateLimiter::new(FIRST_RETRY, LAST_RETRY))
        .metrics(manager.metrics())
        .complete(reconciler)?;
    manager.add(controller);
    Ok(())
}

#[cfg(test)]
mod tests;
