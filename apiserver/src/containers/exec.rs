//! A command in a container, from the command's side.

use std::fmt;

use tokio::io::DuplexStream;

use super::Container;

/// The buffer size of a stream, in bytes.
const BUFFER: usize = 16 * 1024;

/// A command that a client runs in a container, or an attachment to the container.
///
/// Each stream ends when it is dropped or its writer is. The output of the closure is the exit code.
pub struct Exec {
    /// The container that runs the command.
    pub container: Container,
    /// The command with its arguments; empty for an attachment.
    pub command: Vec<String>,
    /// Whether the client allocates a terminal.
    pub tty: bool,
    /// The client's input. It ends when the client closes it, or at once if the client did not request it.
    pub stdin: DuplexStream,
    /// The output for the client; dropped if the client did not request it.
    pub stdout: DuplexStream,
    /// The error output for the client, likewise.
    pub stderr: DuplexStream,
}

impl fmt::Debug for Exec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Exec");
        shown.field("container", &self.container).field("command", &self.command);
        shown.field("tty", &self.tty).finish_non_exhaustive()
    }
}

/// The client's ends of the three streams.
pub(super) struct Ends {
    pub(super) stdin: DuplexStream,
    pub(super) stdout: DuplexStream,
    pub(super) stderr: DuplexStream,
}

impl Exec {
    pub(super) fn new(container: Container, command: Vec<String>, tty: bool) -> (Self, Ends) {
        let pipe = || tokio::io::duplex(BUFFER);
        let ((stdin, their_stdin), (stdout, their_stdout), (stderr, their_stderr)) = (pipe(), pipe(), pipe());
        let exec =
            Self { container, command, tty, stdin: their_stdin, stdout: their_stdout, stderr: their_stderr };
        (exec, Ends { stdin, stdout, stderr })
    }
}
