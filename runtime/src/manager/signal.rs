//! Signals that ask the process to end.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Ends when the process is asked to end.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ShutdownSignal {
    terminate: Signal,
    interrupt: Signal,
}

/// Returns a future that ends at the first SIGTERM or SIGINT from now on.
///
/// # Errors
///
/// If the signals cannot be handled.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O.
pub fn shutdown_signal() -> io::Result<ShutdownSignal> {
    Ok(ShutdownSignal {
        terminate: signal(SignalKind::terminate())?,
        interrupt: signal(SignalKind::interrupt())?,
    })
}

impl Future for ShutdownSignal {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.terminate.poll_recv(context).is_ready() || self.interrupt.poll_recv(context).is_ready() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
