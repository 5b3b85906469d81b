//! Runs commands in groups of processes that end with this one.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Output, Stdio};

/// Runs the arguments. When standard input ends, which is held open by nobody but this process, the whole group is killed.
#[cfg(unix)]
const WATCH: &str = "exec 3<&0 </dev/null; (cat <&3; kill -s KILL -- \"-$$\") >/dev/null 2>&1 & watch=$!; \
                     \"$0\" \"$@\" 3<&-; code=$?; kill \"$watch\" 2>/dev/null; exit \"$code\"";

/// A program in a group of its own. Its group ends when the child's standard input is dropped, or this process ends.
/// `first` is a line of the shell that runs before.
#[cfg(unix)]
pub(super) fn command(program: impl AsRef<OsStr>, first: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{first}\n{WATCH}")).arg(program).stdin(Stdio::piped()).process_group(0);
    command
}

#[cfg(not(unix))]
pub(super) fn command(program: impl AsRef<OsStr>, _: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped());
    command
}

/// Runs a command to its end; the errors of the program go to this one's.
pub(super) fn output(command: &mut Command) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let alive = child.stdin.take();
    let output = child.wait_with_output();
    drop(alive);
    output
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn group_ends_when_nobody_holds_its_standard_input() {
        let mut command = command("sh", "");
        command.args(["-c", "sleep 1000 & echo a; wait"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut first = [0; 2];
        stdout.read_exact(&mut first).unwrap();
        drop(child.stdin.take());
        // The output ends only when every process has.
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert!(&first == b"a\n" && rest.is_empty() && !child.wait().unwrap().success());
    }

    #[test]
    fn output_and_exit_status_are_those_of_the_program() {
        let mut command = command("sh", "a=1");
        let output = output(command.args(["-c", "echo \"$1\"; exit 3", "sh", "b c"])).unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), b"b c\n".as_slice()));
    }
}
