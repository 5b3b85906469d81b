//! Commands of containers, run on this machine: `--exec-on-host`.

use std::io;
use std::process::{ExitStatus, Stdio};

use kubesmith_testenv::Exec;
use tokio::io::{AsyncWriteExt as _, copy};
use tokio::process::Command;

/// The exit codes of shells for a program that is not there, and for one that cannot be run.
const NOT_FOUND: i32 = 127;
const NOT_RUN: i32 = 126;
/// What a program that a signal ended adds to the signal's number.
const SIGNAL: i32 = 128;

/// Runs a command to its end; it is killed when the client leaves. There is no terminal, also where the client shows one.
pub(super) async fn run(mut exec: Exec) -> i32 {
    match attempt(&mut exec).await {
        Ok(status) => code(status),
        Err(error) => {
            let text = format!("{}: {error}\n", exec.command.join(" "));
            // Who has left reads no error.
            let _ = exec.stderr.write_all(text.as_bytes()).await;
            if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN }
        }
    }
}

async fn attempt(exec: &mut Exec) -> io::Result<ExitStatus> {
    let Some((program, arguments)) = exec.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no container runs that could be attached to"));
    };
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = async {
        if let Some(to) = &mut stdin {
            // A program may end before it has read all.
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
    child.wait().await
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
