//! GET with `watch=true`: events as JSON lines.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::watch as signal;
use tokio::time::{Instant, Interval, sleep_until};

use super::admit;
use super::read::{self, Selectors};
use crate::http::negotiate::{Accepted, Shape};
use crate::http::reply::Reply;
use crate::registry::ResourceDef;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};
use crate::store::{Change, Cursor, Event, Object, Snapshot};
use crate::table;

/// How long a watch lasts when the client does not say; kube-apiserver draws from 30 to 60 minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(45 * 60);
/// How often a watch that asked for bookmarks gets one while nothing happens; kube-apiserver's period.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// Marks the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

pub(super) async fn watch(call: &Call<'_>, name: &str) -> ApiResult<Reply> {
    let selectors = Selectors::parse(call, name)?;
    let streaming = check_options(call)?;
    let text = call.query.get("resourceVersion");
    let from = read::parse_version(text).map_err(ApiError::unexpected)?;
    let bookmarks = call.query.flag("allowWatchBookmarks");
    let timeout = match call.query.number("timeoutSeconds")? {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds.unsigned_abs()),
        _ => DEFAULT_TIMEOUT,
    };
    let def = call.def.clone();
    let prefix = def.prefix(&call.path.namespace);
    let store = &call.server.store;
    let initial = streaming || matches!(from, None | Some(0));
    let (first, cursor) = if initial {
        let (snapshot, cursor) = store.list_and_watch(&def.collection, &prefix);
        (Some(snapshot), cursor)
    } else {
        (None, store.watch(&def.collection, from.unwrap_or_default()))
    };
    let mut state = Watch {
        encoder: Encoder {
            def,
            accepted: call.accepted.clone(),
            server: call.server.clone(),
            include: call.query.get("includeObject").to_owned(),
            first_table: true,
        },
        prefix,
        selectors,
        cursor,
        out: BytesMut::new(),
        end: Instant::now() + timeout,
        bookmarks: bookmarks
            .then(|| tokio::time::interval_at(Instant::now() + BOOKMARK_PERIOD, BOOKMARK_PERIOD)),
        stopping: call.server.stopping(),
        seen: from.unwrap_or_default(),
        done: false,
    };
    if let Some(snapshot) = first {
        state.begin(&snapshot, streaming && bookmarks);
    }
    Ok(Reply::stream(stream::unfold(state, |mut state| async move {
        let bytes = state.next().await?;
        Some((bytes, state))
    })))
}

/// Checks the options of a streaming list; answers whether this is one.
fn check_options(call: &Call<'_>) -> ApiResult<bool> {
    let given = call.query.get("sendInitialEvents");
    let matching = call.query.get("resourceVersionMatch");
    let refuse = |text: &str| {
        let cause = Cause::forbidden("resourceVersionMatch", text);
        Err(ApiError::invalid_options("ListOptions", vec![cause]))
    };
    if given.is_empty() {
        if !matching.is_empty() {
            return refuse(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
        return Ok(false);
    }
    if matching != "NotOlderThan" {
        return refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    Ok(call.query.flag("sendInitialEvents"))
}

/// A running watch. Nobody waits for it: it takes events out of the history when its client reads.
struct Watch {
    encoder: Encoder,
    prefix: String,
    selectors: Selectors,
    cursor: Cursor,
    /// Lines that the client has not taken.
    out: BytesMut,
    end: Instant,
    bookmarks: Option<Interval>,
    stopping: signal::Receiver<bool>,
    /// The version up to which the client knows everything.
    seen: u64,
    done: bool,
}

impl Watch {
    /// Queues what is there already.
    fn begin(&mut self, snapshot: &Snapshot, marked: bool) {
        for (_, object) in &snapshot.objects {
            if self.selectors.matches(object) {
                self.encoder.line(&mut self.out, "ADDED", object);
            }
        }
        self.seen = snapshot.rv;
        if marked {
            self.encoder.bookmark(&mut self.out, snapshot.rv, true);
        }
    }

    /// The next bytes; `None` when the watch is over.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if !self.out.is_empty() {
                return Some(self.out.split().freeze());
            }
            if self.done || *self.stopping.borrow() {
                return None;
            }
            if !self.fill() {
                continue;
            }
            let bookmarks = &mut self.bookmarks;
            let period = async {
                match bookmarks {
                    Some(interval) => interval.tick().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                more = self.cursor.wait() => self.done = !more,
                _ = self.stopping.changed() => self.done = true,
                () = sleep_until(self.end) => self.done = true,
                _ = period => self.encoder.bookmark(&mut self.out, self.seen, false),
            }
        }
    }

    /// Takes what the history has; answers whether there was nothing, so that the watch has to wait.
    fn fill(&mut self) -> bool {
        match self.cursor.take() {
            Ok(batch) => {
                for event in &batch.events {
                    self.push(event);
                }
                self.seen = batch.upto;
                self.done = batch.closed;
                self.out.is_empty() && !self.done
            }
            Err(_) => {
                let error = ApiError::expired(format!("too old resource version: {}", self.seen));
                Encoder::raw(&mut self.out, "ERROR", &error.to_value());
                self.done = true;
                false
            }
        }
    }

    /// Queues an event as the selectors let the client see it.
    fn push(&mut self, event: &Event) {
        if !event.key.starts_with(&*self.prefix) {
            return;
        }
        let before = event.previous.as_ref().is_some_and(|previous| self.selectors.matches(previous));
        let after = event.change != Change::Deleted && self.selectors.matches(&event.object);
        let out = &mut self.out;
        match (before, after) {
            (false, true) => self.encoder.line(out, "ADDED", &event.object),
            (true, true) => self.encoder.line(out, "MODIFIED", &event.object),
            (true, false) => self.encoder.line(out, "DELETED", &last_seen(event)),
            (false, false) => {}
        }
    }
}

/// The state a client last saw, at the version of the event that took the object away.
fn last_seen(event: &Event) -> Arc<Object> {
    match (&event.previous, event.change) {
        (Some(previous), Change::Added | Change::Modified) => {
            Arc::new(Object::new(previous.value.clone(), event.rv))
        }
        _ => event.object.clone(),
    }
}

/// Writes events in the form the client asked for.
struct Encoder {
    def: Arc<ResourceDef>,
    accepted: Accepted,
    /// For the present time, from which tables tell ages.
    server: Arc<Server>,
    include: String,
    /// Only the first table of a watch names its columns.
    first_table: bool,
}

impl Encoder {
    fn line(&mut self, out: &mut BytesMut, kind: &str, object: &Object) {
        if self.accepted.shape == Shape::Plain {
            let body = read::rendered(&self.def, object);
            out.reserve(body.len() + 32);
            out.put_slice(b"{\"type\":\"");
            out.put_slice(kind.as_bytes());
            out.put_slice(b"\",\"object\":");
            out.put_slice(&body);
            out.put_slice(b"}\n");
            return;
        }
        let value = admit::from_stored(&self.def, &object.value);
        let shaped = self.shaped(value);
        Self::raw(out, kind, &shaped);
    }

    fn shaped(&mut self, value: Value) -> Value {
        match &self.accepted.shape {
            Shape::Table(version) => {
                let metadata = table::list_metadata(&value);
                let first = std::mem::replace(&mut self.first_table, false);
                table::of(
                    &self.def,
                    version,
                    &[value],
                    &metadata,
                    first,
                    Some(self.server.timestamp()),
                    &self.include,
                )
            }
            Shape::Metadata(version) => table::partial(&value, version),
            Shape::Plain | Shape::Discovery(_) => value,
        }
    }

    fn bookmark(&mut self, out: &mut BytesMut, rv: u64, ends_initial: bool) {
        let mut metadata = json!({"resourceVersion": rv.to_string()});
        if ends_initial {
            metadata["annotations"] = json!({INITIAL_EVENTS_END: "true"});
        }
        let (mut version, mut kind) = (self.def.api_version(), self.def.kind.clone());
        if let Shape::Metadata(v) = &self.accepted.shape {
            (version, kind) = (format!("meta.k8s.io/{v}"), "PartialObjectMetadata".to_owned());
        }
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        if let Shape::Table(_) = &self.accepted.shape {
            object = self.shaped(object);
        }
        Self::raw(out, "BOOKMARK", &object);
    }

    fn raw(out: &mut BytesMut, kind: &str, object: &Value) {
        out.put_slice(json!({"type": kind, "object": object}).to_string().as_bytes());
        out.put_u8(b'\n');
    }
}
