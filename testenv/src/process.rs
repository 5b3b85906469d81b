//! One process of a control plane: starts it, waits for it, stops it, and keeps the end of its log.

use std::fs::File;
use std::future::Future;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

/// The interval of readiness checks; envtest's.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The part of a log that an error shows, in bytes and lines.
const TAIL_BYTES: u64 = 16 * 1024;
const TAIL_LINES: usize = 20;

/// The failure of a process, in envtest's words.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// The binary could not be run.
    #[error(
        "fork/exec {path}: {source}; KUBEBUILDER_ASSETS names the folder with etcd and kube-apiserver, TEST_ASSET_ETCD and \
         TEST_ASSET_KUBE_APISERVER the files"
    )]
    Spawn {
        /// The binary.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error(
        "timeout waiting for process {name} to start successfully (it may have failed to start, or stopped unexpectedly \
         before becoming ready)"
    )]
    Exited {
        /// The binary's name.
        name: &'static str,
    },
    /// It was not ready in time.
    #[error("timeout waiting for process {name} to start")]
    StartTimeout {
        /// The binary's name.
        name: &'static str,
    },
    /// It did not end in time and was killed.
    #[error("timeout waiting for process {name} to stop")]
    StopTimeout {
        /// The binary's name.
        name: &'static str,
    },
    /// Its log could not be written.
    #[error("cannot write the log of process {name}: {source}")]
    Log {
        /// The binary's name.
        name: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
}

/// The command to run.
pub(crate) struct Program<'a> {
    pub(crate) name: &'static str,
    pub(crate) path: &'a Path,
    /// The file for the process's output; `None` for the environment's own output.
    pub(crate) log: Option<PathBuf>,
}

impl Program<'_> {
    pub(crate) fn spawn(&self, arguments: &[String]) -> Result<Process, ProcessError> {
        let mut command = Command::new(self.path);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        if let Some(log) = &self.log {
            let failed = |source| ProcessError::Log { name: self.name, source };
            let file = File::create(log).map_err(failed)?;
            command.stdout(file.try_clone().map_err(failed)?).stderr(file);
        }
        let child =
            command.spawn().map_err(|source| ProcessError::Spawn { path: self.path.to_owned(), source })?;
        Ok(Process { name: self.name, child })
    }

    /// Reports whether the program's help lists a flag; false if the help fails.
    pub(crate) async fn knows(&self, flag: &str, timeout: Duration) -> bool {
        let mut command = Command::new(self.path);
        command.arg("--help").stdin(Stdio::null()).kill_on_drop(true);
        let Ok(Ok(output)) = tokio::time::timeout(timeout, command.output()).await else { return false };
        let flag = format!("--{flag}");
        let names = |line: &str| {
            let rest = line.trim_start().strip_prefix(&flag);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-'))
        };
        [output.stdout, output.stderr].iter().any(|text| String::from_utf8_lossy(text).lines().any(names))
    }
}

impl Process {
    /// Waits until `check` succeeds. A process that fails has ended when this returns.
    pub(crate) async fn ready<F>(
        &mut self,
        timeout: Duration,
        check: impl Fn() -> F,
    ) -> Result<(), ProcessError>
    where
        F: Future<Output = bool>,
    {
        let asked = async {
            loop {
                // A server that accepts a connection but never responds must not use up the timeout.
                if tokio::time::timeout(Duration::from_secs(2), check()).await == Ok(true) {
                    return;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        tokio::select! {
            biased;
            _ = self.child.wait() => Err(ProcessError::Exited { name: self.name }),
            ready = tokio::time::timeout(timeout, asked) => match ready {
                Ok(()) => Ok(()),
                Err(_) => {
                    // The next attempt needs the port.
                    let _ = self.child.kill().await;
                    Err(ProcessError::StartTimeout { name: self.name })
                }
            },
        }
    }

    /// Terminates the process and waits for it; kills it after `timeout`.
    pub(crate) async fn stop(mut self, timeout: Duration) -> Result<(), ProcessError> {
        if self.terminate() && tokio::time::timeout(timeout, self.child.wait()).await.is_ok() {
            return Ok(());
        }
        // The system only reports an error if the process has ended.
        let _ = self.child.kill().await;
        Err(ProcessError::StopTimeout { name: self.name })
    }

    /// Sends SIGTERM; returns true if the process has ended already.
    #[cfg(unix)]
    fn terminate(&mut self) -> bool {
        use rustix::process::{Pid, Signal, kill_process};
        // The ID stays the child's until `stop` or `ready` waits for it.
        let pid = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        pid.is_none_or(|pid| kill_process(pid, Signal::TERM).is_ok())
    }

    /// Kills the process, as this system has no SIGTERM.
    #[cfg(not(unix))]
    fn terminate(&mut self) -> bool {
        self.child.start_kill().is_ok()
    }
}

/// Returns the last lines of a log, for an error; empty when there is none.
pub(crate) fn tail(name: &str, log: &Path) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    if last.is_empty() {
        String::new()
    } else {
        format!("\n--- the end of {name}'s output\n{}", last.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_has_the_last_lines_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let lines: Vec<String> = (0..5000).map(|i| format!("line {i}")).collect();
        std::fs::write(&log, lines.join("\n")).unwrap();
        let text = tail("etcd", &log);
        assert!(text.starts_with("\n--- the end of etcd's output\nline 4980\n"), "{text}");
        assert!(text.ends_with("\nline 4999"), "{text}");
        assert_eq!(tail("etcd", &folder.path().join("none")), "");
    }
}
