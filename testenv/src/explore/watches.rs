//! Open watches of operators, cut into events that are delivered one at a time.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use kubesmith_apiserver::Body;
use serde::Deserialize;
use serde_json::json;

use super::fault::Release;
use super::gate::Sender;

/// The condition under which a stalled watch continues, or a late request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Quiet,
    Until(Duration),
    AfterStep,
}

impl Held {
    pub(super) fn until(release: Release, now: Duration) -> Self {
        match release {
            Release::Quiet => Self::Quiet,
            Release::Minute => Self::Until(now + Duration::from_secs(60)),
            Release::AfterStep => Self::AfterStep,
        }
    }
}

/// A line of a watch that was not delivered.
pub(super) struct Line {
    pub(super) bytes: Bytes,
    /// The event, such as `MODIFIED default/a`; empty for bookmarks.
    pub(super) about: String,
}

/// An open watch of an operator.
pub(super) struct OpenWatch {
    pub(super) process: usize,
    /// The watched resource, such as `configmaps`.
    pub(super) resource: String,
    pub(super) lines: VecDeque<Line>,
    pub(super) held: Option<Held>,
    /// Whether it expires when it continues.
    pub(super) misses: bool,
    body: Body,
    partial: BytesMut,
    sender: Sender,
    /// Whether the server has ended it.
    ended: bool,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: String,
}

impl Event {
    fn about(&self) -> String {
        let Metadata { name, namespace } = &self.object.metadata;
        match (self.kind.as_str(), namespace.as_str()) {
            ("BOOKMARK", _) => String::new(),
            (kind, "") => format!("{kind} {name}"),
            (kind, namespace) => format!("{kind} {namespace}/{name}"),
        }
    }
}

impl OpenWatch {
    pub(super) fn new(process: usize, resource: String, body: Body, sender: Sender) -> Self {
        let (lines, partial) = (VecDeque::new(), BytesMut::new());
        Self { process, resource, lines, held: None, misses: false, body, partial, sender, ended: false }
    }

    /// Reads the server's data. It has to run in the context of the server's runtime.
    pub(super) fn pull(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        while !self.ended {
            match Pin::new(&mut self.body).poll_frame(&mut cx) {
                Poll::Pending => return,
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.cut(&data);
                    }
                }
                Poll::Ready(_) => self.ended = true,
            }
        }
    }

    /// Splits the server's data into lines.
    pub(super) fn cut(&mut self, data: &[u8]) {
        self.partial.extend_from_slice(data);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let bytes = self.partial.split_to(end + 1).freeze();
            let about = serde_json::from_slice(&bytes).map(|event: Event| event.about()).unwrap_or_default();
            self.lines.push_back(Line { bytes, about });
        }
    }

    /// Reports whether a line or the end can be delivered.
    pub(super) fn is_ready(&self) -> bool {
        self.held.is_none() && (!self.lines.is_empty() || self.ended)
    }

    /// Reports whether the client has closed the watch.
    pub(super) fn is_over(&self) -> bool {
        self.sender.is_closed()
    }

    /// Delivers the next line; ends the watch after the last one.
    pub(super) fn deliver(&mut self) {
        match self.lines.pop_front() {
            // The client may have closed it meanwhile.
            Some(line) => drop(self.sender.unbounded_send(Ok(line.bytes))),
            None => self.sender.close_channel(),
        }
    }

    /// Ends the watch like a broken connection.
    pub(super) fn break_off(&mut self) {
        let _ = self.sender.unbounded_send(Err("connection reset by peer".into()));
        self.sender.close_channel();
    }

    /// Ends the watch like a server that has compacted the history.
    pub(super) fn expire(&mut self) {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": "Expired", "code": 410,
            "message": "too old resource version",
        });
        let line = format!("{}\n", json!({"type": "ERROR", "object": status}));
        let _ = self.sender.unbounded_send(Ok(line.into()));
        self.sender.close_channel();
    }
}
