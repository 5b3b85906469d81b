//! Signals that ask the process to end.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use self::system::Listeners;

/// Ends when the process is asked to end.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ShutdownSignal(Listeners);

/// Returns a future that ends when the process is asked to end from now on: at the first SIGTERM or SIGINT; on Windows at
/// Ctrl-C, Ctrl-Break, or when the console closes or the system shuts down.
///
/// # Errors
///
/// If the signals cannot be handled.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O.
pub fn shutdown_signal() -> io::Result<ShutdownSignal> {
    Listeners::new().map(ShutdownSignal)
}

impl Future for ShutdownSignal {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0.poll(context) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::task::Context;

    use tokio::signal::unix::{Signal, SignalKind, signal};

    #[derive(Debug)]
    pub(super) struct Listeners([Signal; 2]);

    impl Listeners {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self([signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?]))
        }

        /// Reports whether a signal has arrived.
        pub(super) fn poll(&mut self, context: &mut Context<'_>) -> bool {
            self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready())
        }
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::task::Context;

    use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, CtrlShutdown};
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};

    #[derive(Debug)]
    pub(super) struct Listeners {
        interrupt: CtrlC,
        break_: CtrlBreak,
        close: CtrlClose,
        shutdown: CtrlShutdown,
    }

    impl Listeners {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self {
                interrupt: ctrl_c()?,
                break_: ctrl_break()?,
                close: ctrl_close()?,
                shutdown: ctrl_shutdown()?,
            })
        }

        /// Reports whether a signal has arrived.
        pub(super) fn poll(&mut self, context: &mut Context<'_>) -> bool {
            self.interrupt.poll_recv(context).is_ready()
                || self.break_.poll_recv(context).is_ready()
                || self.close.poll_recv(context).is_ready()
                || self.shutdown.poll_recv(context).is_ready()
        }
    }
}
