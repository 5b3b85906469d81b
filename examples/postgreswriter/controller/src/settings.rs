//! The settings of the database connection, from the environment.

use std::fmt;
use std::time::Duration;

use tokio_postgres::Config;

/// The time limit of connecting, of one statement, and of unacknowledged data.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(10);

/// A variable of the environment is missing or invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {problem}")]
pub struct SettingsError {
    /// The variable's name.
    pub variable: &'static str,
    /// Its fault.
    pub problem: String,
}

/// Address and credentials of the database.
#[derive(Clone)]
pub struct Settings {
    host: String,
    port: u16,
    database: String,
    user: String,
    password: String,
}

impl Settings {
    /// Reads `PSQL_HOST` (a name, an address or the folder of a socket), `PSQL_PORT`, `PSQL_DBNAME`, `PSQL_USER` and
    /// `PSQL_PASSWORD`, which may be empty.
    ///
    /// # Errors
    ///
    /// Returns [`SettingsError`], which names the first variable that is missing or invalid.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let any = |name: &'static str| {
            let value = variable(name).ok_or(problem(name, "is not set, or is no UTF-8"))?;
            if value.contains('\0') { Err(problem(name, "has a NUL byte")) } else { Ok(value) }
        };
        let some = |name: &'static str| {
            let value = any(name)?;
            if value.trim().is_empty() { Err(problem(name, "is empty")) } else { Ok(value) }
        };
        let host = host(some("PSQL_HOST")?)?;
        let port = some("PSQL_PORT")?;
        // `parse` also accepts a sign before a number.
        let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
        let number = port.parse().ok().filter(|port| is_number && *port > 0);
        Ok(Settings {
            host,
            port: number
                .ok_or_else(|| problem("PSQL_PORT", format!("is {port:?}, not a number from 1 to 65535")))?,
            database: some("PSQL_DBNAME")?,
            user: some("PSQL_USER")?,
            password: any("PSQL_PASSWORD")?,
        })
    }

    /// Returns the driver's configuration.
    #[must_use]
    pub fn to_config(&self) -> Config {
        let mut config = Config::new();
        config.host(&self.host).port(self.port).dbname(&self.database).user(&self.user);
        if !self.password.is_empty() {
            config.password(&self.password);
        }
        config.application_name(crate::CONTROLLER_NAME).connect_timeout(TIMEOUT).tcp_user_timeout(TIMEOUT);
        // A lock of another client must not delay every other row.
        config.options(format!("-c statement_timeout={}", TIMEOUT.as_millis()));
        config
    }
}

/// Checks a name, an address or the folder of a socket; the driver would retry an invalid one forever.
fn host(value: String) -> Result<String, SettingsError> {
    let is_folder = value.starts_with('/');
    let is_address = value.parse::<std::net::IpAddr>().is_ok();
    let is_name = !value.contains([':', '/', '@', '?']) && !value.contains(char::is_whitespace);
    if is_folder || is_address || is_name {
        return Ok(value);
    }
    Err(problem("PSQL_HOST", format!("is {value:?}, not a name, an address or the folder of a socket")))
}

fn problem(variable: &'static str, problem: impl Into<String>) -> SettingsError {
    SettingsError { variable, problem: problem.into() }
}

impl fmt::Debug for Settings {
    /// Omits the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}/{}", self.user, self.host, self.port, self.database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: [(&str, &str); 5] = [
        ("PSQL_HOST", "db.example.com"),
        ("PSQL_PORT", "5432"),
        ("PSQL_DBNAME", "school"),
        ("PSQL_USER", "writer"),
        ("PSQL_PASSWORD", "s3cret"),
    ];

    fn read(changed: &str, value: Option<&str>) -> Result<Settings, String> {
        let good =
            |name: &str| GOOD.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        let read = Settings::read(|name| if name == changed { value.map(str::to_owned) } else { good(name) });
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn missing_or_invalid_variable_is_named() {
        for (name, _) in GOOD {
            assert_eq!(read(name, None).unwrap_err(), format!("{name} is not set, or is no UTF-8"));
            assert_eq!(read(name, Some("a\0b")).unwrap_err(), format!("{name} has a NUL byte"));
        }
        for name in ["PSQL_HOST", "PSQL_PORT", "PSQL_DBNAME", "PSQL_USER"] {
            assert_eq!(read(name, Some(" ")).unwrap_err(), format!("{name} is empty"));
        }
        for host in ["http://db:5432", "a b", "db:5432", "user@db", "db/school"] {
            let expected = format!("PSQL_HOST is {host:?}, not a name, an address or the folder of a socket");
            assert_eq!(read("PSQL_HOST", Some(host)).unwrap_err(), expected);
        }
        for host in ["db", "10.0.0.1", "fd00::1", "/var/run/postgresql"] {
            assert!(read("PSQL_HOST", Some(host)).is_ok(), "{host}");
        }
        for port in ["0", "65536", "-1", "+5432", " 5432", "5432x", "postgres"] {
            let expected = format!("PSQL_PORT is {port:?}, not a number from 1 to 65535");
            assert_eq!(read("PSQL_PORT", Some(port)).unwrap_err(), expected);
        }
    }

    #[test]
    fn first_missing_variable_is_named() {
        assert_eq!(Settings::read(|_| None).unwrap_err().variable, "PSQL_HOST");
    }

    #[test]
    fn password_may_be_empty_and_is_never_printed() {
        assert!(read("PSQL_PASSWORD", Some("")).is_ok());
        let shown = format!("{:?}", read("", None).expect("good"));
        assert_eq!(shown, "writer@db.example.com:5432/school");
    }
}
