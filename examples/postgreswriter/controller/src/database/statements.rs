//! The statements: values are parameters, and a table is a quoted identifier.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Row as Found, Transaction};

use super::Written;
use crate::row::{Row, Table};

/// The errors of tables without a row of ours: missing, an index or a sequence, or without a column `id`.
const NO_SUCH_ROW: [SqlState; 3] =
    [SqlState::UNDEFINED_TABLE, SqlState::WRONG_OBJECT_TYPE, SqlState::UNDEFINED_COLUMN];

// The casts fix the types of parameters, whatever the columns are.

/// Selects whether each row of the ID is in its wanted state.
fn select(table: &Table) -> String {
    format!(
        "select name is not distinct from $2::text and age is not distinct from $3::int4 \
         and country is not distinct from $4::text from {table} where id = $1::text for update"
    )
}

fn insert(table: &Table) -> String {
    format!(
        "insert into {table} (id, name, age, country) values ($1::text, $2::text, $3::int4, $4::text) \
         on conflict do nothing"
    )
}

fn update(table: &Table) -> String {
    format!("update {table} set name = $2::text, age = $3::int4, country = $4::text where id = $1::text")
}

fn delete_all(table: &Table) -> String {
    format!("delete from {table} where id = $1::text")
}

/// Plans every statement without running it: the server finds the table and its columns, and checks rights.
pub(super) async fn probe(client: &Client, table: &Table) -> Result<(), Error> {
    let (text, number) = ("", 0_i32);
    for statement in [select(table), insert(table), update(table)] {
        client.execute(&format!("explain {statement}"), &[&text, &text, &number, &text]).await?;
    }
    client.execute(&format!("explain {}", delete_all(table)), &[&text]).await.map(drop)
}

/// Waits for any other writer of a row of this ID, until the end of the transaction: a killed program may have a commit
/// in progress, which the following statements would not see.
pub(super) async fn lock(transaction: &Transaction<'_>, id: &str) -> Result<(), Error> {
    let statement = "select pg_advisory_xact_lock(hashtextextended($1::text, 0))";
    transaction.execute(statement, &[&id]).await.map(drop)
}

/// Makes `row` the only one of its ID. `None`: the server has not inserted it, as another row has a unique value.
pub(super) async fn write(
    transaction: &Transaction<'_>,
    table: &Table,
    row: &Row,
    may_insert: bool,
) -> Result<Option<Written>, Error> {
    let found = find(transaction, table, row).await?;
    match found.as_slice() {
        [] if !may_insert => return Ok(Some(Written::Missing)),
        [] => {}
        found => return change(transaction, table, row, found).await,
    }
    let inserted = add(transaction, table, row).await?;
    if inserted == 1 {
        return Ok(Some(Written::Inserted));
    }
    // Another writer may have inserted this very row in between.
    let found = find(transaction, table, row).await?;
    if found.is_empty() { Ok(None) } else { change(transaction, table, row, &found).await }
}

/// Updates the rows that were `found` to one in its wanted state.
async fn change(
    transaction: &Transaction<'_>,
    table: &Table,
    row: &Row,
    found: &[Found],
) -> Result<Option<Written>, Error> {
    let Row { id, name, age, country } = row;
    match found {
        [one] if one.try_get(0)? => Ok(Some(Written::Unchanged)),
        [_] => {
            transaction.execute(&update(table), &[id, name, age, country]).await?;
            Ok(Some(Written::Updated))
        }
        // A table without a key can have several.
        _ => {
            transaction.execute(&delete_all(table), &[id]).await?;
            let inserted = add(transaction, table, row).await?;
            Ok((inserted == 1).then_some(Written::Updated))
        }
    }
}

async fn find(transaction: &Transaction<'_>, table: &Table, row: &Row) -> Result<Vec<Found>, Error> {
    let Row { id, name, age, country } = row;
    transaction.query(&select(table), &[id, name, age, country]).await
}

async fn add(transaction: &Transaction<'_>, table: &Table, row: &Row) -> Result<u64, Error> {
    let Row { id, name, age, country } = row;
    transaction.execute(&insert(table), &[id, name, age, country]).await
}

/// Deletes the row of this ID, in a nested transaction, as an error would otherwise undo the rest of the outer one too.
pub(super) async fn delete(transaction: &mut Transaction<'_>, table: &Table, id: &str) -> Result<(), Error> {
    let within = transaction.transaction().await?;
    match within.execute(&delete_all(table), &[&id]).await {
        Ok(_) => within.commit().await,
        Err(error) if error.code().is_some_and(|code| NO_SUCH_ROW.contains(code)) => within.rollback().await,
        Err(error) => Err(error),
    }
}
