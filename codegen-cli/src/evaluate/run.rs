//! Runs a program with limits of time, memory and output.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::group;

/// The time limit of a program: printing definitions takes milliseconds.
const TIME: Duration = Duration::from_secs(60);

/// The address space of a program in KiB, if a shell can limit it.
const MEMORY: u64 = 4 * 1024 * 1024;

/// The greatest output in bytes.
const OUTPUT: u64 = 16 * 1024 * 1024;

/// The interval of polling the program.
const POLL: Duration = Duration::from_millis(10);

/// Returns the program's output.
///
/// # Errors
/// Returns an error if the program cannot start, fails, prints too much or takes too long.
pub(super) fn run(program: &Path, arguments: &[String], folder: &Path) -> Result<String, String> {
    run_for(program, arguments, folder, TIME)
}

fn run_for(program: &Path, arguments: &[String], folder: &Path, time: Duration) -> Result<String, String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut command = limited(program);
    command.args(arguments).current_dir(folder).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("`{name}` could not be started: {error}"))?;
    let Some(stdout) = child.stdout.take() else { return Err(format!("`{name}` has no output")) };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(OUTPUT + 1).read_to_string(&mut text);
        // The receiver is dropped after the time limit.
        let _ = sender.send(read.map(|_| text));
    });
    let deadline = Instant::now() + time;
    let (mut printed, mut status) = (None, None);
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(Ok(text)) if text.len() as u64 > OUTPUT => {
                return Err(ended(child, format!("`{name}` printed over {OUTPUT} bytes")));
            }
            Ok(Ok(text)) => printed = Some(text),
            Ok(Err(error)) => return Err(ended(child, format!("`{name}` printed no text: {error}"))),
            Err(RecvTimeoutError::Timeout) => {}
            // The whole output has been received.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
        }
        status = status.or(child.try_wait().map_err(|error| format!("`{name}`: {error}"))?);
        match (printed.take(), status) {
            (Some(text), Some(status)) if status.success() => return Ok(text),
            (_, Some(status)) if !status.success() => return Err(format!("`{name}` failed: {status}")),
            (text, _) => printed = text,
        }
        if Instant::now() >= deadline {
            let what = if status.is_some() { "left a program that kept its output open" } else { "ran" };
            return Err(ended(child, format!("`{name}` {what} for over {} seconds", time.as_secs())));
        }
    }
}

/// Ends the program.
fn ended(mut child: Child, reason: String) -> String {
    drop(child.stdin.take());
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
    reason
}

/// The program with a limit of memory, if the shell can limit it; that of macOS cannot.
fn limited(program: &Path) -> Command {
    group::command(program, &format!("ulimit -v {MEMORY} 2>/dev/null"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, time: Duration) -> Result<String, String> {
        run_for(Path::new("sh"), &["-c".to_string(), script.to_string()], Path::new("."), time)
    }

    #[test]
    fn program_is_ended_when_it_takes_too_long_or_fails() {
        assert_eq!(shell("echo a", TIME).unwrap(), "a\n");
        assert!(shell("exit 3", TIME).unwrap_err().contains("failed: exit status: 3"));
        assert!(shell("exec sleep 1000", Duration::ZERO).unwrap_err().contains("ran for over 0 seconds"));
        assert!(shell("exec >&-; exec sleep 1000", Duration::ZERO).unwrap_err().contains("ran for over"));
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn program_has_limited_memory() {
        assert_eq!(shell("ulimit -v", TIME).unwrap().trim(), MEMORY.to_string());
    }
}
