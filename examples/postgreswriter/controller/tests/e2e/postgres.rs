//! A PostgreSQL of a test's own, in a folder and at a port that go with it.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use postgreswriter_controller::settings::Settings;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use operator_testing::eventually;
use operator_testing::readiness::free_address;

/// What the server, and so the operator, is asked with.
const PASSWORD: &str = "it's \"secret\"";

/// A server that ends with the value.
pub(crate) struct Postgres {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    /// Whom the server runs as, where this is root: it refuses to be.
    user: Option<(u32, u32)>,
    server: Option<Child>,
}

impl Postgres {
    /// A server with the table `students`.
    ///
    /// # Panics
    ///
    /// If PostgreSQL is not installed.
    pub(crate) async fn start() -> Self {
        let programs = programs().unwrap_or_else(|missing| panic!("{missing}"));
        let folder = TempDir::new().expect("a folder");
        let user = user();
        if let Some((user, group)) = user {
            chown(folder.path(), Some(user), Some(group)).expect("root may");
        }
        let mut postgres = Postgres { folder, programs, port: free_address().port(), user, server: None };
        postgres.initialise();
        postgres.run().await;
        let table = "create table students (id text primary key, name text, age integer, country text)";
        postgres.execute(table).await;
        postgres
    }

    fn initialise(&self) {
        let password = self.folder.path().join("password");
        std::fs::write(&password, PASSWORD).expect("written");
        let made = self
            .command("initdb")
            .args(["--username=writer", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"])
            .arg("--pwfile")
            .arg(password)
            .arg("--pgdata")
            .arg(self.data())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// Starts the server; it may have been stopped before.
    pub(crate) async fn run(&mut self) {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "log_min_messages=fatal"]);
        command.args(["-p", &self.port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = command.spawn().expect("postgres starts");
        let answer = eventually("PostgreSQL answers or ends", async || match server.try_wait() {
            Ok(None) => self.connect().await.ok().map(Ok),
            ended => Some(Err(ended)),
        });
        answer.await.expect("it runs");
        self.server = Some(server);
    }

    /// Stops the server in the middle of whatever it does.
    pub(crate) fn stop(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let stopped =
            Command::new("kill").args(["-INT", &server.id().to_string()]).status().expect("kill runs");
        assert!(stopped.success());
        server.wait().expect("it ends");
    }

    /// The value of a variable of the operator's environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let value = match name {
            "PSQL_HOST" => "127.0.0.1".to_owned(),
            "PSQL_PORT" => self.port.to_string(),
            "PSQL_DBNAME" => "postgres".to_owned(),
            "PSQL_USER" => "writer".to_owned(),
            "PSQL_PASSWORD" => PASSWORD.to_owned(),
            _ => return None,
        };
        Some(value)
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::read(|name| self.variable(name)).expect("the environment is right")
    }

    pub(crate) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let mut config = self.settings().to_config();
        // Without the operator's limit: what a test asks may wait for the operator.
        let (client, connection) = config.options("").connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    pub(crate) async fn execute(&self, statements: &str) {
        let client = self.connect().await.expect("connected");
        client.batch_execute(statements).await.expect("done");
    }

    /// The rows of a table, named as in SQL, as `id name age country`, in their order; of ids only what follows the namespace.
    pub(crate) async fn rows(&self, table: &str) -> Vec<String> {
        let columns = "concat_ws(' ', split_part(id, '/', 2), name, age, country)";
        self.query(&format!("select {columns} from {table} order by id")).await
    }

    /// The column `id` of a table, in its order.
    pub(crate) async fn ids(&self, table: &str) -> Vec<String> {
        self.query(&format!("select id from {table} order by id")).await
    }

    async fn query(&self, text: &str) -> Vec<String> {
        let client = self.connect().await.expect("connected");
        let rows = client.query(text, &[]).await.expect("the table is there");
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Waits until the table has these rows and no others.
    pub(crate) async fn has(&self, table: &str, expected: &[&str]) {
        let what = format!("{table} has {expected:?}");
        eventually(&what, async || (self.rows(table).await == expected).then_some(())).await;
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path()).stdin(Stdio::null()).env_remove("PGDATA");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The folder of the server's programs: Debian has one for each version, off the PATH.
fn programs() -> Result<PathBuf, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort_by_key(|folder| version(folder));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.into_iter().rev().chain(std::env::split_paths(&path));
    let found = folders
        .into_iter()
        .find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file());
    found.ok_or_else(|| "there is no PostgreSQL server (Debian: postgresql)".to_owned())
}

fn version(folder: &Path) -> Option<u32> {
    folder.parent()?.file_name()?.to_str()?.parse().ok()
}

/// Nobody, for root.
fn user() -> Option<(u32, u32)> {
    let id = |flag: &str, who: &[&str]| -> u32 {
        let output = Command::new("id").arg(flag).args(who).output().expect("id runs");
        String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
    };
    (id("-u", &[]) == 0).then(|| (id("-u", &["nobody"]), id("-g", &["nobody"])))
}
