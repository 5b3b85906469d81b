//! The reconciler: from an object's key to its row.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::cache::ObjectKey;
use kubesmith_runtime::client::{Error as ClientError, unless_deleted};
use kubesmith_runtime::controller::{Action, ReconcileError, Reconciler};
use kubesmith_runtime::controllerutil::{add_finalizer, contains_finalizer, remove_finalizer};
use kubesmith_runtime::kube::api::{Patch, PatchParams, PostParams};
use kubesmith_runtime::rbac;
use kubesmith_runtime::record::{EventRecorder, EventType};
use postgreswriter_api::v1::PostgresWriter;
use postgreswriter_client::clientset::typed::demo::v1::{NamespacedPostgresWriters, PostgresWriters};
use postgreswriter_client::listers::demo::v1::PostgresWriterLister;
use serde_json::json;

use crate::database::{DatabaseError, Rows, Written};
use crate::row::{Refusal, Row, Table};
use crate::status::status;
use crate::{CONTROLLER_NAME, FINALIZER};

/// The time that the cache has to catch up with the server.
const STALE: Duration = Duration::from_millis(50);

/// The reason why a row is not in its wanted state.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("the spec is refused: {0}")]
    Refused(#[from] Refusal),
    #[error("{0}")]
    Database(#[from] DatabaseError),
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("the cache is behind the server")]
    Stale,
}

impl Fault {
    /// Reports whether only the read state is outdated: another writer was faster, or the object is gone. The change
    /// queues the key.
    fn is_stale(&self) -> bool {
        match self {
            Fault::Stale => true,
            Fault::Client(error) => error.is_conflict() || error.is_not_found(),
            _ => false,
        }
    }

    /// Returns the reason for conditions and events.
    fn reason(&self) -> &'static str {
        match self {
            Fault::Refused(_) => "InvalidSpec",
            Fault::Database(DatabaseError::NoTable(_)) => "TableNotFound",
            Fault::Database(DatabaseError::Unreachable(_)) => "DatabaseUnreachable",
            Fault::Database(DatabaseError::Taken { .. }) => "ValueTaken",
            Fault::Database(DatabaseError::Refused { .. }) => "DatabaseRefused",
            Fault::Client(_) | Fault::Stale => "WriteFailed",
        }
    }
}

/// Keeps exactly one row for each object.
pub struct RowReconciler<D> {
    pub(crate) lister: PostgresWriterLister,
    pub(crate) writers: PostgresWriters,
    pub(crate) database: D,
    pub(crate) recorder: EventRecorder,
    /// The interval of checks of a row without a known change; 0 for never.
    pub(crate) resync: Duration,
    /// For the times of conditions.
    pub(crate) clock: fn() -> Timestamp,
}

#[rbac(groups = "demo.yash.com", resources = "postgreswriters", verbs("get", "list", "watch", "patch"))]
#[rbac(groups = "demo.yash.com", resources = "postgreswriters/status", verbs("update"))]
#[rbac(groups = "", resources = "events", verbs("create", "patch"))]
impl<D: Rows> Reconciler for RowReconciler<D> {
    type Key = ObjectKey;

    async fn reconcile(&self, key: &ObjectKey) -> Result<Action, ReconcileError> {
        // An object is only removed after its row: no work is left.
        let Ok(writer) = self.lister.namespace(key.namespace()).get(key.name()) else {
            return Ok(Action::done());
        };
        let mut writer = PostgresWriter::clone(&writer);
        let result = if writer.metadata.deletion_timestamp.is_some() {
            self.clean_up(key, &mut writer).await.map(|()| Action::done())
        } else {
            self.write(key, &mut writer).await.map(|()| again(self.resync))
        };
        match result {
            Ok(action) => Ok(action),
            Err(fault) if fault.is_stale() => Ok(Action::requeue_after(STALE)),
            Err(fault) => Err(self.report(key, &writer, fault).await),
        }
    }
}

impl<D: Rows> RowReconciler<D> {
    /// Writes the row, and before that the record by which it will be found again.
    async fn write(&self, key: &ObjectKey, writer: &mut PostgresWriter) -> Result<(), Fault> {
        let table = Table::new(&writer.spec.table)?;
        let row = Row::new(key.to_string(), &writer.spec)?;
        let client = self.writers.namespace(key.namespace());
        if !contains_finalizer(writer, FINALIZER) {
            let mut held = writer.clone();
            add_finalizer(&mut held, FINALIZER);
            *writer = patch_finalizers(&client, &held).await?;
        }
        let is_new = !writer.status.tables.iter().any(|known| known == table.name());
        if is_new {
            // A recorded table has to be cleaned up one day, so only usable ones are recorded.
            self.database.probe(&table).await?;
            // A successful write proves the newest state of the object: it may have a row.
            writer.status.tables.push(table.name().to_owned());
            *writer = update_status(&client, writer).await?;
        }
        let leave = others(writer, &table);
        let mut written = self.database.write(&table, &row, &leave, is_new).await?;
        if written == Written::Missing {
            self.confirm(&client, writer).await?;
            written = self.database.write(&table, &row, &leave, true).await?;
        }
        self.announce(writer, &table, &leave, written);
        let status = status(writer, vec![table.name().to_owned()], Ok(()), (self.clock)());
        if status != writer.status {
            writer.status = status;
            *writer = update_status(&client, writer).await?;
        }
        Ok(())
    }

    /// Asks the server itself whether the object is unchanged. The cache may be behind another replica's work, and a
    /// row for a deleted object, or in a table that it has left, would stay forever.
    async fn confirm(
        &self,
        client: &NamespacedPostgresWriters,
        writer: &PostgresWriter,
    ) -> Result<(), Fault> {
        let now = client.get(writer.metadata.name.as_deref().unwrap_or_default()).await?;
        // Of this very version: another replica may have moved the row to another table since.
        let is_current = now.metadata.uid == writer.metadata.uid
            && now.metadata.resource_version == writer.metadata.resource_version;
        if is_current { Ok(()) } else { Err(Fault::Stale) }
    }

    /// Deletes the row and then the finalizer of the object.
    async fn clean_up(&self, key: &ObjectKey, writer: &mut PostgresWriter) -> Result<(), Fault> {
        if !contains_finalizer(writer, FINALIZER) {
            return Ok(());
        }
        // No other table has the row: a table is recorded before the first write.
        let names = writer.status.tables.iter();
        // Only valid names of tables have ever had a row.
        let tables: Vec<Table> = names.filter_map(|name| Table::new(name).ok()).collect();
        self.database.delete(&tables, key.as_str()).await?;
        let mut released = writer.clone();
        remove_finalizer(&mut released, FINALIZER);
        patch_finalizers(&self.writers.namespace(key.namespace()), &released).await?;
        // Recorded once: any earlier failure is retried.
        self.recorder.event(&*writer, EventType::Normal, "RowDeleted", format!("row {key} is gone"));
        Ok(())
    }

    fn announce(&self, writer: &PostgresWriter, table: &Table, leave: &[Table], written: Written) {
        let what = match written {
            Written::Inserted if leave.is_empty() => "inserted",
            Written::Inserted => "moved",
            Written::Updated => "updated",
            Written::Unchanged | Written::Missing => return,
        };
        let message = format!("{what} the row in table {}", table.name());
        self.recorder.event(writer, EventType::Normal, "RowWritten", message);
    }

    /// Reports the fault in status and event, and decides on the retry.
    async fn report(&self, key: &ObjectKey, writer: &PostgresWriter, fault: Fault) -> ReconcileError {
        let reason = fault.reason();
        tracing::warn!(writer = %key, reason, %fault, "the row is not as it should be");
        self.recorder.event(writer, EventType::Warning, reason, fault.to_string());
        let tables = writer.status.tables.clone();
        let status = status(writer, tables, Err((reason, fault.to_string())), (self.clock)());
        let changed = PostgresWriter { status, ..writer.clone() };
        if changed.status != writer.status {
            let client = self.writers.namespace(key.namespace());
            if let Err(error) = client.update_status(&changed, &PostParams::default()).await {
                // The retry reports the fault of the current state.
                if error.is_conflict() {
                    return error.into();
                }
                return ReconcileError::new(format!("{fault}; and the status: {error}"));
            }
        }
        if matches!(fault, Fault::Refused(_)) { ReconcileError::terminal(fault) } else { fault.into() }
    }
}

/// Returns the action for an object whose row is in its wanted state.
fn again(resync: Duration) -> Action {
    if resync.is_zero() { Action::done() } else { Action::requeue_after(resync) }
}

/// Returns the other tables that may have the row.
fn others(writer: &PostgresWriter, table: &Table) -> Vec<Table> {
    let others = writer.status.tables.iter().filter(|known| *known != table.name());
    others.filter_map(|name| Table::new(name).ok()).collect()
}

/// Writes the status, unless the object was changed or deleted since it was read.
async fn update_status(
    client: &NamespacedPostgresWriters,
    writer: &PostgresWriter,
) -> Result<PostgresWriter, Fault> {
    let name = writer.metadata.name.as_deref().unwrap_or_default();
    let written = client.update_status(writer, &PostParams::default()).await;
    unless_deleted(written, client.get(name)).await?.ok_or(Fault::Stale)
}

/// Writes the finalizers, unless the object has changed since it was read.
async fn patch_finalizers(
    client: &NamespacedPostgresWriters,
    writer: &PostgresWriter,
) -> Result<PostgresWriter, ClientError> {
    let meta = &writer.metadata;
    let patch =
        json!({ "metadata": { "finalizers": meta.finalizers, "resourceVersion": meta.resource_version } });
    let params = PatchParams { field_manager: Some(CONTROLLER_NAME.to_owned()), ..PatchParams::default() };
    client.patch(meta.name.as_deref().unwrap_or_default(), &params, &Patch::Merge(patch)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_not_requeued_when_the_resync_is_zero() {
        assert_eq!(again(Duration::ZERO), Action::done());
        assert_eq!(again(Duration::from_secs(1)), Action::requeue_after(Duration::from_secs(1)));
    }
}
