//! The database: one connection for the program's life, opened again when it has failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Mutex;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls, Transaction};

use crate::row::{Row, Table};
use crate::settings::Settings;

/// Why the database has not done what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// It cannot be reached, or the connection has failed.
    #[error("the database cannot be reached: {0}")]
    Unreachable(String),
    /// There is no such table.
    #[error("the database has no table {}", .0.name())]
    NoTable(Table),
    /// It refuses.
    #[error("the database refuses: {message} ({})", .state.code())]
    Refused {
        /// Its reason as a code.
        state: SqlState,
        /// Its reason in words.
        message: String,
    },
}

impl DatabaseError {
    /// The environment variables that a refusal at the connection is about.
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
            DatabaseError::Refused { .. } | DatabaseError::NoTable(_) => {
                "what PSQL_HOST, PSQL_DBNAME and PSQL_USER name"
            }
        }
    }
}

/// What [`Database::write`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The row was as it should be.
    Unchanged,
    /// There was none.
    Inserted,
    /// It held something else.
    Updated,
    /// There is none, and none was to be made.
    Missing,
}

/// A database. Clones share the connection.
#[derive(Clone)]
pub struct Database {
    config: Arc<Config>,
    client: Arc<Mutex<Option<Client>>>,
    is_reachable: Arc<AtomicBool>,
}

impl Database {
    /// Connects when it is first asked something.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let config = Arc::new(settings.to_config());
        Database { config, client: Arc::default(), is_reachable: Arc::default() }
    }

    /// Connects if there is no connection.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]: it is not there, or refuses user, password or database.
    pub async fn check(&self) -> Result<(), DatabaseError> {
        let mut client = self.client.lock().await;
        self.connected(&mut client).await.map(drop)
    }

    /// Whether it was there when it was last asked.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.is_reachable.load(Ordering::Relaxed)
    }

    /// Makes `row` the only one of its id in `table` and takes it out of the tables of `leave`, all or nothing. A row that is not
    /// there is made only if it `may_insert`.
    ///
    /// # Errors
    ///
    /// [`DatabaseError`]; nothing was changed, or the connection failed while the database did it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future undoes the changes, or leaves them done.
    pub async fn write(
        &self,
        table: &Table,
        row: &Row,
        leave: &[Table],
        may_insert: bool,
    ) -> Result<Written, DatabaseError> {
        let mut client = self.client.lock().await;
        let result = async {
            let transaction = self.connected(&mut client).await?.transaction().await?;
            for left in leave {
                delete(&transaction, left, &row.id).await?;
            }
            let written = write(&transaction, table, row, may_insert).await;
            let written = written.map_err(|error| of_table(error, table))?;
            if written != Written::Missing {
                transaction.commit().await?;
            }
            Ok(written)
        };
        let result = result.await;
        self.observe(&result);
        result
    }

    /// Takes the row of this id out of all of the tables, all or nothing. A table that is not there has no row.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    ///
    /// # Cancel safety
    ///
    /// As [`write`](Self::write).
    pub async fn delete(&self, tables: &[Table], id: &str) -> Result<(), DatabaseError> {
        let mut client = self.client.lock().await;
        let result = async {
            let transaction = self.connected(&mut client).await?.transaction().await?;
            for table in tables {
                delete(&transaction, table, id).await?;
            }
            transaction.commit().await?;
            Ok(())
        };
        let result = result.await;
        self.observe(&result);
        result
    }

    async fn connected<'c>(&self, client: &'c mut Option<Client>) -> Result<&'c mut Client, DatabaseError> {
        if client.as_ref().is_none_or(Client::is_closed) {
            *client = None;
            let connected = self.config.connect(NoTls).await.map_err(DatabaseError::from);
            self.observe(&connected);
            let (new, connection) = connected?;
            tracing::info!("connected to the database");
            // Ends with the client, or with the connection.
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::warn!(error = %DatabaseError::from(error), "the connection to the database has ended");
                }
            });
            *client = Some(new);
        }
        client.as_mut().ok_or_else(|| DatabaseError::Unreachable("there is no connection".to_owned()))
    }

    fn observe<T>(&self, result: &Result<T, DatabaseError>) {
        let is_reachable = !matches!(result, Err(DatabaseError::Unreachable(_)));
        self.is_reachable.store(is_reachable, Ordering::Relaxed);
    }
}

async fn write(
    transaction: &Transaction<'_>,
    table: &Table,
    row: &Row,
    may_insert: bool,
) -> Result<Written, tokio_postgres::Error> {
    let Row { id, name, age, country } = row;
    // The casts say what is sent, whatever the columns are.
    let select = format!(
        "select name is not distinct from $2::text and age is not distinct from $3::int4 \
         and country is not distinct from $4::text from {table} where id = $1::text for update"
    );
    let found = transaction.query(&select, &[id, name, age, country]).await?;
    let (result, statement) = match found.as_slice() {
        [one] if one.try_get(0)? => return Ok(Written::Unchanged),
        [] if !may_insert => return Ok(Written::Missing),
        [] => (Written::Inserted, None),
        [_] => {
            let update = "set name = $2::text, age = $3::int4, country = $4::text where id = $1::text";
            (Written::Updated, Some(format!("update {table} {update}")))
        }
        // A table without a key can have several.
        _ => {
            transaction.execute(&format!("delete from {table} where id = $1::text"), &[id]).await?;
            (Written::Updated, None)
        }
    };
    let insert = || {
        let values = "($1::text, $2::text, $3::int4, $4::text) on conflict do nothing";
        format!("insert into {table} (id, name, age, country) values {values}")
    };
    transaction.execute(&statement.unwrap_or_else(insert), &[id, name, age, country]).await?;
    Ok(result)
}

async fn delete(transaction: &Transaction<'_>, table: &Table, id: &str) -> Result<(), tokio_postgres::Error> {
    // Asked first: an error would undo the rest of the transaction too.
    let asked =
        transaction.query_one("select to_regclass($1::text) is not null", &[&table.to_string()]).await?;
    if asked.try_get(0)? {
        transaction.execute(&format!("delete from {table} where id = $1::text"), &[&id]).await?;
    }
    Ok(())
}

fn of_table(error: tokio_postgres::Error, table: &Table) -> DatabaseError {
    if error.code() == Some(&SqlState::UNDEFINED_TABLE) {
        return DatabaseError::NoTable(table.clone());
    }
    error.into()
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        // 57P0x: it is being stopped or started.
        if let Some(refused) = error.as_db_error().filter(|refused| !refused.code().code().starts_with("57P"))
        {
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
