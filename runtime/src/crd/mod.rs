//! Installs and upgrades the definitions (CRDs) of an operator, and rewrites its objects to the storage version.
//!
//! An operator calls [`Upgrade::apply`] when it starts, or in a job before it starts. Nothing is written until every
//! definition is judged:
//!
//! - The changes are judged by the rules of `kubesmith diff`. A change that is not compatible is refused, unless it is
//!   [allowed](Upgrade::allow). If the stored objects [are checked](Upgrade::check_objects), they decide about changes that
//!   break stored objects. A new
//!   storage version is no reason to refuse: a [`Migration`] completes it.
//! - The operator and its version are recorded in annotations of the definition. An older version leaves the definition
//!   of a newer one as it is ([`Action::KeptNewer`]), so that replicas of several versions can start in any order.
//! - The way back is decided before the upgrade: [`Outcome::way_back`] lists the changes that putting the old definition
//!   back would break.
//!
//! ```no_run
//! # async fn example(client: kube::Client, definitions: Vec<serde_json::Value>) -> Result<(), kubesmith_runtime::crd::CrdError> {
//! use kubesmith_runtime::crd::{Action, Migrated, Migration, Outcome, Progress, Rewrite, Status, Upgrade, status};
//!
//! let upgrade = Upgrade::new("widget-operator", env!("CARGO_PKG_VERSION")).check_objects().keep_way_back();
//! for outcome in upgrade.apply(&client, &definitions).await? {
//!     let Outcome { name, action, way_back, .. } = outcome;
//!     println!("{name}: {action}; {} changes on the way back", way_back.len());
//!     if action == Action::KeptNewer {
//!         println!("a newer operator owns it");
//!     }
//! }
//!
//! let show = |progress: &Progress| println!("{} objects", progress.done);
//! let migration = Migration::new("widgets.example.com").rate(200).page(1000);
//! let Migrated { rewritten, storage, .. } = migration.run(&client, show).await?;
//! println!("{rewritten} objects are stored in {storage}");
//!
//! let rehearsal = Migration::new("widgets.example.com").dry_run().run(&client, show).await?;
//! for Rewrite { object, lost, .. } in rehearsal.changes {
//!     println!("{object} would lose {}", lost.join(", "));
//! }
//!
//! let Status { advice, .. } = status(&client, "widgets.example.com").await?;
//! advice.iter().for_each(|advice| println!("{advice}"));
//! # Ok(())
//! # }
//! ```
//!
//! An upgrade in steps, with everything said:
//!
//! ```no_run
//! # async fn example(client: kube::Client, definitions: Vec<serde_json::Value>) {
//! use std::time::Duration;
//! use kubesmith_runtime::crd::{Broken, ChangeCode, CrdError, DroppedField, Failed, Objects, Refusal, Upgrade};
//!
//! let upgrade = Upgrade::new("widget-operator", "2.0.0")
//!     .allow(ChangeCode::ColumnsChanged)
//!     .check_objects()
//!     .downgrade()
//!     .take_over()
//!     .dry_run()
//!     .timeout(Duration::from_secs(60));
//! match upgrade.apply(&client, &definitions).await {
//!     Err(CrdError::Refused(refusals)) => {
//!         for Refusal { name, changes, objects } in refusals {
//!             println!("{name}: {} changes", changes.len());
//!             let Objects { broken, dropped, .. } = objects.unwrap_or_default();
//!             broken.iter().for_each(|Broken { object, errors, .. }| println!("{object}: {}", errors.join(", ")));
//!             dropped.iter().for_each(|DroppedField { path, objects, .. }| println!("{path}: {objects} objects"));
//!         }
//!     }
//!     Err(CrdError::Unmigrated { failed, .. }) => {
//!         failed.iter().for_each(|Failed { object, reason }| println!("{object}: {reason}"));
//!     }
//!     Err(error) => println!("{error}"),
//!     Ok(outcomes) => println!("{} definitions", outcomes.len()),
//! }
//! # }
//! ```

mod cluster;
mod error;
mod judge;
mod managers;
mod mark;
mod migrate;
mod objects;
mod owner;
mod rewrite;
mod status;
mod upgrade;
mod wait;

pub use error::{CrdError, Failed, Refusal};
pub use kubesmith_apiextensions::diff::{Change, ChangeCode, Class};
pub use migrate::{Migrated, Migration, Progress};
pub use objects::{Broken, DroppedField, Objects};
pub use rewrite::Rewrite;
pub use status::{Status, VersionStatus, owned, status};
pub use upgrade::{Action, Outcome, Upgrade};
