//! Notifies the user at a terminal of a slow command.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::diag;

/// The time for which a command may be silent.
const SILENCE: Duration = Duration::from_secs(2);

/// Prints a notice of the slow step, once and only on a terminal, unless it is dropped before.
pub(crate) struct Notice {
    _ended: Option<Sender<()>>,
}

impl Notice {
    /// Waits for two seconds.
    pub(crate) fn of(what: String) -> Self {
        // Logs of CI contain only the result.
        if !stderr().is_terminal() {
            return Self { _ended: None };
        }
        Self::after(SILENCE, move || diag::print_to_stderr(&format!("{what} ...\n")))
    }

    fn after(silence: Duration, say: impl FnOnce() + Send + 'static) -> Self {
        let (ended, end) = channel::<()>();
        thread::spawn(move || {
            if end.recv_timeout(silence) == Err(RecvTimeoutError::Timeout) {
                say();
            }
        });
        Self { _ended: Some(ended) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notice_is_given_when_a_command_takes_long() {
        let (say, said) = channel();
        let notice = Notice::after(Duration::ZERO, move || say.send(()).unwrap());
        said.recv().unwrap();
        drop(notice);
    }

    #[test]
    fn notice_is_not_given_when_a_command_ends_before() {
        let (say, said) = channel::<()>();
        drop(Notice::after(Duration::MAX, move || say.send(()).unwrap()));
        assert!(said.recv().is_err(), "the thread ends, and drops its sender");
    }
}
