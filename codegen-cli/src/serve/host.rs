//! Runs commands of containers on this machine: `--exec-on-host`.

use std::io;
use std::process::{ExitStatus, Stdio};

use kubesmith_testenv::Exec;
use tokio::io::{AsyncWriteExt as _, copy};
use tokio::process::{Child, Command};

/// The exit codes of shells for a missing program, and for one that cannot run.
const NOT_FOUND: i32 = 127;
const NOT_RUN: i32 = 126;
/// The offset in the exit code of a program that a signal ended.
const SIGNAL: i32 = 128;

/// Runs a command to its end; if the client disconnects, it is killed with all its children. There is no
/// terminal, even if the client has one.
pub(super) async fn run(mut exec: Exec) -> i32 {
    match attempt(&mut exec).await {
        Ok(status) => code(status),
        Err(error) => {
            let text = format!("{}: {error}\n", exec.command.join(" "));
            // A disconnected client reads no error.
            let _ = exec.stderr.write_all(text.as_bytes()).await;
            if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN }
        }
    }
}

async fn attempt(exec: &mut Exec) -> io::Result<ExitStatus> {
    let (mut child, group) = start(&exec.command)?;
    let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = async {
        if let Some(to) = &mut stdin {
            // A program may end before it has read all input.
            let _ = copy(&mut exec.stdin, to).await;
        }
        drop(stdin);
        std::future::pending::<()>().await;
    };
    let output = async {
        let (mut out, mut errors) = (stdout, stderr);
        let first = async {
            if let Some(from) = &mut out {
                let _ = copy(from, &mut exec.stdout).await;
            }
        };
        let second = async {
            if let Some(from) = &mut errors {
                let _ = copy(from, &mut exec.stderr).await;
            }
        };
        tokio::join!(first, second);
    };
    tokio::select! {
        () = input => {}
        () = output => {}
    }
    let status = child.wait().await;
    // Background processes stay, as in a container.
    group.leave();
    status
}

/// Starts a command in a new process group.
fn start(command: &[String]) -> io::Result<(Child, Group)> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no container runs that could be attached to"));
    };
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let group = Group::of(&child);
    Ok((child, group))
}

/// A command with its children, which end when this is dropped.
#[cfg(unix)]
struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    fn leave(mut self) {
        self.0 = None;
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // A group that has ended needs no signal.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// On other systems only the command itself ends.
#[cfg(not(unix))]
struct Group;

#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self
    }

    fn leave(self) {}
}

#[cfg(unix)]
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| SIGNAL + signal)).unwrap_or(SIGNAL)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(SIGNAL)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[test]
    fn processes_of_a_hosted_command_end_with_it() {
        let command = ["sh", "-c", "sleep 1000 & echo started; wait"].map(str::to_owned);
        let read = async {
            let (mut child, group) = start(&command).unwrap();
            let mut stdout = child.stdout.take().unwrap();
            stdout.read_exact(&mut [0; "started\n".len()]).await.unwrap();
            drop(group);
            // The other end is open as long as one of them runs.
            stdout.read_to_end(&mut Vec::new()).await.unwrap()
        };
        assert_eq!(tokio::runtime::Runtime::new().unwrap().block_on(read), 0);
    }
}
