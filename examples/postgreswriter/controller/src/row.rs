//! A row and its table, in the form that the database accepts.

use std::fmt;

use postgreswriter_api::v1::PostgresWriterSpec;

/// The length limit of names in PostgreSQL, in bytes.
const NAME_LENGTH: usize = 63;

/// Values that no database accepts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The table's name is invalid.
    #[error("table {0:?} is not a name: it has 1 to {NAME_LENGTH} bytes and no NUL")]
    Table(String),
    /// A text with a NUL byte.
    #[error("{field} has a NUL byte, which a text in PostgreSQL cannot have")]
    Nul {
        /// The field of the spec.
        field: &'static str,
    },
}

/// A table's name; displayed as a quoted identifier, in which no character is special.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Table(String);

/// The values of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Namespace and name of the object.
    pub id: String,
    /// The column `name`.
    pub name: String,
    /// The column `age`.
    pub age: i32,
    /// The column `country`.
    pub country: String,
}

impl Table {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// Returns [`Refusal::Table`].
    pub fn new(name: &str) -> Result<Self, Refusal> {
        if name.is_empty() || name.len() > NAME_LENGTH || name.contains('\0') {
            return Err(Refusal::Table(name.to_owned()));
        }
        Ok(Table(name.to_owned()))
    }

    /// Returns the unquoted name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.replace('"', "\"\""))
    }
}

impl Row {
    /// Returns the row of the object with this ID.
    ///
    /// # Errors
    ///
    /// Returns [`Refusal::Nul`].
    pub fn new(id: String, spec: &PostgresWriterSpec) -> Result<Self, Refusal> {
        for (field, text) in [("name", &spec.name), ("country", &spec.country)] {
            if text.contains('\0') {
                return Err(Refusal::Nul { field });
            }
        }
        Ok(Row { id, name: spec.name.clone(), age: spec.age, country: spec.country.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_names_are_quoted() {
        for (name, quoted) in [
            ("students", r#""students""#),
            (r#"a"; drop table b; --"#, r#""a""; drop table b; --""#),
            ("Ünïcode \n\\", "\"Ünïcode \n\\\""),
        ] {
            assert_eq!(Table::new(name).expect("a name").to_string(), quoted);
        }
    }

    #[test]
    fn invalid_names_and_nul_bytes_are_refused() {
        for name in ["", "a\0b", &"a".repeat(64), &"é".repeat(32)] {
            assert_eq!(Table::new(name), Err(Refusal::Table(name.to_owned())));
        }
        assert!(Table::new(&"a".repeat(63)).is_ok());
        let spec = PostgresWriterSpec { country: "a\0".to_owned(), ..PostgresWriterSpec::default() };
        assert_eq!(Row::new("a/b".to_owned(), &spec), Err(Refusal::Nul { field: "country" }));
    }
}
