//! The database: one connection for the program's life, reopened after a failure.

mod statements;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kubesmith_runtime::controller::CancellationToken;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};

use crate::row::{Row, Table};
use crate::settings::{Settings, TIMEOUT};

/// The time limit of all statements for one object. It is longer than a few slow statements, so that only a server that
/// does not respond is abandoned.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3 * TIMEOUT.as_secs());

/// The interval of [`Database::watch`].
const WATCH_PERIOD: Duration = Duration::from_secs(5);

/// The reason why the database has not done its work.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It cannot be reached, or the connection has failed.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// There is no such table.
    #[error("the database has no table {}", .0.name())]
    NoTable(Table),
    /// Another row has a unique value.
    #[error("table {} has another row with a value that may be there once: {message}", .table.name())]
    Taken {
        /// The table.
        table: Table,
        /// The value, in the database's words.
        message: String,
    },
    /// The database refuses.
    #[error("the database refuses: {message} ({})", .state.code())]
    Refused {
        /// Its reason as a code.
        state: SqlState,
        /// Its reason in words.
        message: String,
    },
}

impl DatabaseError {
    /// Returns the environment variables that a refused connection depends on.
    #[must_use]
    pub fn variables(&self) -> &'static str {
        match self {
            DatabaseError::Refused { state, .. } if *state == SqlState::INVALID_CATALOG_NAME => "PSQL_DBNAME",
            DatabaseError::Refused { state, .. }
                if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
                    .contains(state) =>
            {
                "PSQL_USER or PSQL_PASSWORD"
            }
            DatabaseError::Unreachable(_) => "PSQL_HOST or PSQL_PORT",
            DatabaseError::Refused { .. } | DatabaseError::NoTable(_) | DatabaseError::Taken { .. } => {
                "what PSQL_HOST, PSQL_DBNAME and PSQL_USER name"
            }
        }
    }
}

/// The result of [`Database::write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The row was in its wanted state.
    Unchanged,
    /// The row was missing.
    Inserted,
    /// The row had other values.
    Updated,
    /// The row is missing, and was not to be inserted.
    Missing,
}

/// The store of the rows: PostgreSQL, or a model of it in tests.
///
/// Each method has its whole effect or none. After an error of the connection either is possible.
pub trait Rows: Send + Sync + 'static {
    /// Checks that a row can be inserted, updated and deleted in `table`, without changing it.
    ///
    /// # Errors
    ///
    /// Returns [`DatabaseError`]: the table does not exist, lacks the columns, or is not writable.
    fn probe(&self, table: &Table) -> impl Future<Output = Result<(), DatabaseError>> + Send;

    /// Makes `row` the only one of its ID in `table` and deletes it from the tables of `leave`. A missing row is only
    /// inserted if it `may_insert`.
    ///
    /// # Errors
    ///
    /// Returns [`DatabaseError`].
    fn write(
        &self,
        table: &Table,
        row: &Row,
        leave: &[Table],
        may_insert: bool,
    ) -> impl Future<Output = Result<Written, DatabaseError>> + Send;

    /// Deletes the row of this ID from all of the tables. A missing table, or one without a column `id`, has no row.
    ///
    /// # Errors
    ///
    /// Returns [`DatabaseError`].
    fn delete(&self, tables: &[Table], id: &str) -> impl Future<Output = Result<(), DatabaseError>> + Send;
}

/// A database. Clones share the connection.
#[derive(Clone)]
pub struct Database {
    config: Arc<Config>,
    connection: Arc<Mutex<Option<Connection>>>,
    is_reachable: Arc<AtomicBool>,
}

/// A connection and the task that drives it.
struct Connection {
    client: Client,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    /// The task would wait forever for a server that does not respond.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Database {
    /// Creates a database that connects on first use.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let config = Arc::new(settings.to_config());
        Database { config, connection: Arc::default(), is_reachable: Arc::default() }
    }

    /// Sends a query, and connects first if there is no connection.
    ///
    /// # Errors
    ///
    /// Returns [`DatabaseError`]: the database is unreachable, does not respond within 30 s, or refuses user, password
    /// or database.
    pub async fn check(&self) -> Result<(), DatabaseError> {
        let mut connection = self.connection.lock().await;
        let asked = async {
            self.connected(&mut connection).await?.simple_query("").await?;
            Ok(())
        };
        let result = in_time(asked).await;
        self.observe(&mut connection, result)
    }

    /// Reports whether the last query succeeded.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.is_reachable.load(Ordering::Relaxed)
    }

    /// Keeps [`is_reachable`](Self::is_reachable) up to date, until `stop`: a replica that does not lead, or has
    /// nothing to write, sends no other queries.
    pub async fn watch(&self, stop: &CancellationToken) {
        let watch = async {
            loop {
                if let Err(error) = self.check().await {
                    tracing::debug!(%error, "the database");
                }
                tokio::time::sleep(WATCH_PERIOD).await;
            }
        };
        stop.run_until_cancelled(watch).await;
    }

    async fn connected<'c>(
        &self,
        connection: &'c mut Option<Connection>,
    ) -> Result<&'c mut Client, DatabaseError> {
        if connection.as_ref().is_none_or(|it| it.client.is_closed()) {
            *connection = None;
            let (client, io) = self.config.connect(NoTls).await?;
            tracing::info!("connected to the database");
            let task = tokio::spawn(async move {
                if let Err(error) = io.await {
                    tracing::warn!(error = %DatabaseError::from(error), "the connection to the database has ended");
                }
            });
            *connection = Some(Connection { client, task });
        }
        let connection = connection.as_mut();
        let connection =
            connection.ok_or_else(|| DatabaseError::Unreachable("there is no connection".to_owned()))?;
        Ok(&mut connection.client)
    }

    /// Records the outcome. A connection that did not respond is dropped: the next query opens another.
    fn observe<T>(
        &self,
        connection: &mut Option<Connection>,
        result: Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        if matches!(result, Err(DatabaseError::Unreachable(_))) {
            *connection = None;
        }
        self.is_reachable.store(connection.is_some(), Ordering::Relaxed);
        result
    }
}

/// Dropping a future rolls its changes back, or leaves them committed.
impl Rows for Database {
    async fn probe(&self, table: &Table) -> Result<(), DatabaseError> {
        let mut connection = self.connection.lock().await;
        let asked = async {
            let client = self.connected(&mut connection).await?;
            statements::probe(client, table).await.map_err(|error| of_table(error, table))
        };
        let result = in_time(asked).await;
        self.observe(&mut connection, result)
    }

    async fn write(
        &self,
        table: &Table,
        row: &Row,
        leave: &[Table],
        may_insert: bool,
    ) -> Result<Written, DatabaseError> {
        let mut connection = self.connection.lock().await;
        let asked = async {
            let mut transaction = self.connected(&mut connection).await?.transaction().await?;
            statements::lock(&transaction, &row.id).await?;
            for left in leave {
                statements::delete(&mut transaction, left, &row.id).await?;
            }
            let written = statements::write(&transaction, table, row, may_insert).await;
            let written = written.map_err(|error| of_table(error, table))?;
            let written = written.ok_or_else(|| DatabaseError::Taken {
                table: table.clone(),
                message: "it was not inserted".to_owned(),
            })?;
            if written != Written::Missing {
                transaction.commit().await?;
            }
            Ok(written)
        };
        let result = in_time(asked).await;
        self.observe(&mut connection, result)
    }

    async fn delete(&self, tables: &[Table], id: &str) -> Result<(), DatabaseError> {
        if tables.is_empty() {
            return Ok(());
        }
        let mut connection = self.connection.lock().await;
        let asked = async {
            let mut transaction = self.connected(&mut connection).await?.transaction().await?;
            statements::lock(&transaction, id).await?;
            for table in tables {
                statements::delete(&mut transaction, table, id).await?;
            }
            transaction.commit().await?;
            Ok(())
        };
        let result = in_time(asked).await;
        self.observe(&mut connection, result)
    }
}

async fn in_time<T>(asked: impl Future<Output = Result<T, DatabaseError>>) -> Result<T, DatabaseError> {
    let late = |_| {
        Err(DatabaseError::Unreachable(format!("it does not answer within {} s", ANSWER_TIMEOUT.as_secs())))
    };
    tokio::time::timeout(ANSWER_TIMEOUT, asked).await.unwrap_or_else(late)
}

fn of_table(error: tokio_postgres::Error, table: &Table) -> DatabaseError {
    match error.as_db_error() {
        Some(refused) if *refused.code() == SqlState::UNDEFINED_TABLE => {
            DatabaseError::NoTable(table.clone())
        }
        Some(refused) if *refused.code() == SqlState::UNIQUE_VIOLATION => {
            DatabaseError::Taken { table: table.clone(), message: refused.message().to_owned() }
        }
        _ => error.into(),
    }
}

/// Reports whether the server is only not ready yet: it is stopping or starting (57P0x), has no free connections
/// (53300), or the connection failed (08xxx).
fn passes(state: &SqlState) -> bool {
    let code = state.code();
    code.starts_with("57P") || code.starts_with("08") || *state == SqlState::TOO_MANY_CONNECTIONS
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(refused) = error.as_db_error().filter(|refused| !passes(refused.code())) {
            return DatabaseError::Refused {
                state: refused.code().clone(),
                message: refused.message().to_owned(),
            };
        }
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            let text = error.to_string();
            if !message.contains(&text) {
                message = format!("{message}: {text}");
            }
            cause = error.source();
        }
        DatabaseError::Unreachable(message)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// A server that takes connections and says nothing.
    #[tokio::test(start_paused = true)]
    async fn calls_time_out_when_the_database_does_not_respond() {
        // A socket in a folder is connected to at once, so that paused time cannot run out before.
        let folder = tempfile::TempDir::new().expect("a folder");
        let _server = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        let host = folder.path().to_str().expect("a name");
        let settings = Settings::read(|name| Some(if name == "PSQL_PORT" { "5432" } else { host }.into()));
        let database = Database::new(&settings.expect("good"));
        database.is_reachable.store(true, Ordering::Relaxed);
        let table = Table::new("students").expect("a name");
        let row = Row { id: "a".into(), name: "b".into(), age: 1, country: "c".into() };
        let late = tokio::time::timeout(10 * ANSWER_TIMEOUT, async {
            let checked = database.check().await;
            let written = database.write(&table, &row, &[], true).await.map(drop);
            [checked, written, database.delete(std::slice::from_ref(&table), "a").await]
        });
        for result in late.await.expect("each is given up") {
            let error = result.expect_err("there was no answer").to_string();
            assert_eq!(error, "the database cannot be reached: it does not answer within 30 s");
        }
        assert!(!database.is_reachable());
    }
}
