//! Inputs and actions of the state machine.

use std::time::Duration;

/// An event on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'a> {
    /// The deadline may have passed: at the start, after a wait, or after silence.
    Deadline,
    /// The request succeeded; its body follows.
    Opened,
    /// An object arrived, or an event about one.
    Object { version: Option<&'a str> },
    /// A bookmark arrived.
    Bookmark { version: &'a str, initial_events_end: bool },
    /// A page of a list is complete.
    PageEnd { version: &'a str, continue_token: Option<&'a str> },
    /// The body of a watch ended regularly.
    Ended,
    /// The request was refused, or its body broke.
    Failed(Failure),
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// 410: the server no longer keeps the version, or the continue token.
    Expired,
    /// The version is newer than any that the server has.
    TooLarge,
    /// 429, with the pause that the server asks for.
    TooManyRequests { retry_after: Option<Duration> },
    /// Any other refusal.
    Refused { code: u16, retry_after: Option<Duration> },
    /// The connection failed.
    Transport,
    /// The response does not follow the protocol.
    Malformed,
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Continue reading.
    Continue,
    /// Stage the object until [`Action::Commit`], and continue reading.
    Stage,
    /// Write the object to the store, and continue reading.
    Apply,
    /// The staged objects are the whole state: replace the store's content with them. Then send the request, or
    /// continue reading if there is none.
    Commit { version: String, then: Option<Request> },
    /// Drop the current body and send this.
    Send(Request),
    /// Drop the current body and wait for the deadline.
    Wait,
}

/// The next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A list, or a page of it.
    List {
        /// Empty for the newest state.
        version: String,
        limit: Option<u32>,
        continue_token: Option<String>,
        /// The same page as before: drop the objects that arrived of it.
        again: bool,
    },
    /// A watch.
    Watch {
        version: String,
        /// Begin with the present state, and drop the staged objects.
        initial_events: bool,
        timeout: Duration,
    },
}
