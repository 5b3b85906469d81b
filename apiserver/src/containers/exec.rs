//! A command in a container, as the one who carries it out sees it.

use std::fmt;

use tokio::io::DuplexStream;

use super::Container;

/// How much of a stream waits for its reader, in bytes.
const BUFFER: usize = 16 * 1024;

/// A command that a client runs in a container, or an attachment to the container.
///
/// Each stream ends when it is dropped or its writer is. The command ends with its exit code.
pub struct Exec {
    /// Where the command runs.
    pub container: Container,
    /// The command with its arguments; empty for an attachment.
    pub command: Vec<String>,
    /// Whether the client shows the command a terminal.
    pub tty: bool,
    /// What the client writes. It ends when the client closes it, at once if the client did not ask to write.
    pub stdin: DuplexStream,
    /// What the client reads; lost if the client did not ask for it.
    pub stdout: DuplexStream,
    /// What the client reads as errors, likewise.
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
