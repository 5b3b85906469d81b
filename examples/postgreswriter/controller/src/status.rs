//! The status of a PostgresWriter.

use k8s_openapi::jiff::Timestamp;
use kubesmith_runtime::controllerutil::{condition, set_status_condition};
use postgreswriter_api::v1::{PostgresWriter, PostgresWriterStatus};

/// The type of the one condition.
pub const WRITTEN: &str = "Written";

/// Returns the status of `writer` with the tables that may have the row, and whether it is in its wanted state; the
/// condition's time only changes with its status.
#[must_use]
pub fn status(
    writer: &PostgresWriter,
    tables: Vec<String>,
    written: Result<(), (&'static str, String)>,
    now: Timestamp,
) -> PostgresWriterStatus {
    let generation = writer.metadata.generation;
    let mut status =
        PostgresWriterStatus { tables, observed_generation: generation, ..writer.status.clone() };
    let is_written = written.is_ok();
    let (reason, message) = written.err().unwrap_or(("RowWritten", "the row is as the spec says".to_owned()));
    let mut written = condition(WRITTEN, is_written, reason, message, now);
    written.observed_generation = generation;
    set_status_condition(&mut status.conditions, written);
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transition_time_changes_with_the_state() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mut writer = PostgresWriter::default();
        writer.status = status(&writer, vec!["a".to_owned()], Ok(()), at(1));
        assert_eq!(status(&writer, vec!["a".to_owned()], Ok(()), at(2)), writer.status);
        let failed = status(&writer, vec!["b".to_owned()], Err(("Tested", "why".to_owned())), at(3));
        assert_eq!((failed.tables[0].as_str(), failed.conditions[0].last_transition_time.0), ("b", at(3)));
    }
}
