//! What the machine is told, and what it says.

use std::time::Duration;

/// What happened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'a> {
    /// The deadline may have passed: the beginning, the end of a wait, or silence.
    Deadline,
    /// The request was answered with success; its body follows.
    Opened,
    /// An object arrived, or an event about one.
    Object { version: Option<&'a str> },
    /// A bookmark arrived.
    Bookmark { version: &'a str, initial_events_end: bool },
    /// A page of a list is complete.
    PageEnd { version: &'a str, continue_token: Option<&'a str> },
    /// The body of a watch ended in order.
    Ended,
    /// The request was refused, or its body broke.
    Failed(Failure),
}

/// How it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// 410: the version, or the continue token, is no longer kept.
    Expired,
    /// The version is newer than anything the server has.
    TooLarge,
    /// 429, with how long the server asks to wait.
    TooManyRequests { retry_after: Option<Duration> },
    /// Any other refusal.
    Refused { code: u16, retry_after: Option<Duration> },
    /// The connection.
    Transport,
    /// What arrived is not what was asked for.
    Malformed,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Go on reading.
    Continue,
    /// Keep the object aside until [`Action::Commit`]; go on reading.
    Stage,
    /// Write the object to the store; go on reading.
    Apply,
    /// What was kept aside is the whole state: replace the store with it. Then send the request, or go on
    /// reading if there is none.
    Commit { version: String, then: Option<Request> },
    /// Drop the current body and send this.
    Send(Request),
    /// Drop the current body and wait for the deadline.
    Wait,
}

/// A request to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A list or one page of it.
    List {
        /// Empty: the newest state.
        version: String,
        limit: Option<u32>,
        continue_token: Option<String>,
        /// The same page as before: what arrived of it is to be forgotten.
        again: bool,
    },
    /// A watch.
    Watch {
        version: String,
        /// Begin with the present state. What was kept aside is to be forgotten.
        initial_events: bool,
        timeout: Duration,
    },
}
