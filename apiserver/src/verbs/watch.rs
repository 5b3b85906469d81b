//! GET with `watch=true`: events as JSON lines or protobuf frames.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::watch as signal;
use tokio::time::{Instant, sleep_until};

use super::read;
use super::selectors::Selectors;
use crate::conversion::{self, Served};
use crate::encode;
use crate::http::list_options::ListOptions;
use crate::http::negotiate::{self, Accepted, Form, Shape};
use crate::http::protobuf;
use crate::http::reply::Reply;
use crate::registry::ResourceDef;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::{Change, Compacted, Cursor, Event, Object, Snapshot};
use crate::table::{self, Include};
use crate::types;

/// The default duration of a watch; kube-apiserver draws from 30 to 60 minutes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(45 * 60);
/// The interval of bookmarks in an idle watch that requested them; kube-apiserver's period.
const BOOKMARK_PERIOD: Duration = Duration::from_secs(60);
/// The time between the last bookmark and the end of a watch.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);
/// Marks the bookmark that ends the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

pub(super) async fn watch(call: &Call<'_>, name: &str, options: &ListOptions) -> ApiResult<Reply> {
    let selectors = Selectors::new(call, options, name)?;
    let include = match call.accepted.shape {
        Shape::Table(_) => Include::parse(&call.query)?,
        _ => Include::Metadata,
    };
    let from = read::parse_version(&options.resource_version).map_err(ApiError::unexpected)?;
    negotiate::check_stream(&call.accepted)?;
    let timeout = match options.timeout_seconds {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds.unsigned_abs()),
        _ => DEFAULT_TIMEOUT,
    };
    let def = call.def.clone();
    let prefix = def.prefix(&call.path.namespace);
    let start = Start::of(call, options, from, &prefix);
    let now = Instant::now();
    let end = now + timeout;
    let mut state = Watch {
        encoder: Encoder {
            def,
            accepted: call.accepted.clone(),
            server: call.server.clone(),
            include,
            first_table: true,
        },
        prefix,
        selectors,
        cursor: start.cursor,
        out: BytesMut::new(),
        end,
        bookmark: next_bookmark(now, end).filter(|_| options.bookmarks),
        stopping: call.server.stopping(),
        marking: false,
        start: start.version,
        seen: start.asked,
        done: false,
        initial: start.first.map(|snapshot| (snapshot, start.streaming && options.bookmarks)),
    };
    if start.streaming && start.asked > start.current {
        state.fail(&ApiError::future_version(start.asked, start.current, call.def.is_cached()));
    }
    Ok(Reply::stream_in(
        call.accepted.form,
        stream::unfold(state, |mut state| async move {
            let bytes = state.next().await?;
            Some((bytes, state))
        }),
    ))
}

/// The first version and objects of a watch.
struct Start {
    /// The initial objects, if it sends them.
    first: Option<Snapshot>,
    cursor: Cursor,
    version: u64,
    /// The version that the client asked for, or zero.
    asked: u64,
    /// The store's version when the watch started.
    current: u64,
    /// Whether the client asked for initial events.
    streaming: bool,
}

impl Start {
    fn of(call: &Call<'_>, options: &ListOptions, from: Option<u64>, prefix: &str) -> Self {
        let (store, collection) = (&call.server.store, &call.def.collection);
        let at_once = matches!(from, None | Some(0));
        let current = store.current();
        let asked = from.unwrap_or_default();
        let streaming = options.send_initial_events == Some(true);
        let (first, cursor) = match options.send_initial_events {
            // Without initial events, a watch starts with the next change.
            Some(false) if at_once => (None, store.watch(collection, current)),
            _ if at_once || streaming => {
                let (snapshot, cursor) = store.list_and_watch(collection, prefix);
                (Some(snapshot), cursor)
            }
            _ => (None, store.watch(collection, asked)),
        };
        let version = if at_once { current } else { asked };
        Self { first, cursor, version, asked, current, streaming }
    }
}

/// Returns the time of the next bookmark: after a period, or shortly before the watch ends (`nextBookmarkTime` of
/// apiserver's pkg/storage/cacher/cache_watcher.go).
fn next_bookmark(now: Instant, end: Instant) -> Option<Instant> {
    let before_end = end.checked_sub(LAST_BOOKMARK)?;
    Some((now + BOOKMARK_PERIOD).min(before_end)).filter(|at| *at > now)
}

/// A running watch. Nothing blocks on it: it reads events from the history when its client reads.
struct Watch {
    encoder: Encoder,
    prefix: String,
    selectors: Selectors,
    cursor: Cursor,
    /// Lines or frames that the client has not read.
    out: BytesMut,
    end: Instant,
    /// The time of the next bookmark.
    bookmark: Option<Instant>,
    /// Whether a bookmark follows the events so far.
    marking: bool,
    /// The version with which the watch started. Bookmarks have later ones (`process` of apiserver's
    /// pkg/storage/cacher/cache_watcher.go).
    start: u64,
    stopping: signal::Receiver<bool>,
    /// The version up to which the client has all events.
    seen: u64,
    done: bool,
    /// The initial objects that are still to be sent, and whether a bookmark marks their end.
    initial: Option<(Snapshot, bool)>,
}

impl Watch {
    /// Queues the initial objects.
    async fn begin(&mut self, snapshot: Snapshot, marked: bool) -> ApiResult<()> {
        let server = &self.encoder.server;
        let selected = self.selectors.selected(server, snapshot.objects.into_iter()).await?;
        let selected: Vec<Arc<Object>> = selected.into_iter().map(|(_, object)| object).collect();
        for object in conversion::all(server, &self.encoder.def, &selected).await? {
            self.encoder.event(&mut self.out, "ADDED", &object);
        }
        (self.start, self.seen) = (snapshot.rv, snapshot.rv);
        if marked {
            self.encoder.bookmark(&mut self.out, snapshot.rv, true);
        }
        Ok(())
    }

    /// Returns the next bytes; `None` when the watch is over.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if !self.out.is_empty() {
                return Some(self.out.split().freeze());
            }
            if self.done || *self.stopping.borrow() {
                return None;
            }
            if !self.advance().await {
                continue;
            }
            let bookmark = self.bookmark;
            let due = async {
                match bookmark {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            // In order, so that simulated runs repeat: a watch may end when a bookmark is due.
            tokio::select! {
                biased;
                more = self.cursor.wait() => self.done = !more,
                _ = self.stopping.changed() => self.done = true,
                () = sleep_until(self.end) => self.done = true,
                () = due => {
                    self.bookmark = next_bookmark(Instant::now(), self.end);
                    self.marking = true;
                }
            }
        }
    }

    /// Queues an error, which ends the watch.
    fn fail(&mut self, error: &ApiError) {
        self.encoder.write(&mut self.out, "ERROR", &error.to_value());
        self.done = true;
    }

    /// Queues the next output; returns whether there was none, so that the watch has to wait.
    async fn advance(&mut self) -> bool {
        let mut stopping = self.stopping.clone();
        let filled = tokio::select! {
            biased;
            filled = self.fill() => filled,
            // A conversion webhook may be slow.
            _ = stopping.wait_for(|stops| *stops) => Ok(()),
        };
        if let Err(error) = filled {
            self.fail(&error);
        }
        self.out.is_empty() && !self.done && !*self.stopping.borrow()
    }

    /// Queues the initial objects, or else events from the history.
    async fn fill(&mut self) -> ApiResult<()> {
        if let Some((snapshot, marked)) = self.initial.take() {
            return self.begin(snapshot, marked).await.map_err(|error| failed_conversion(&error));
        }
        let batch = self.cursor.take();
        let mut batch = batch.map_err(|Compacted { floor }| {
            ApiError::expired(format!("too old resource version: {} ({floor})", self.seen))
        })?;
        batch.events.retain(|event| event.key.starts_with(&*self.prefix));
        if conversion::is_by_webhook(&self.encoder.def) {
            self.push_converted(&batch.events).await.map_err(|error| failed_conversion(&error))?;
        } else {
            for event in &batch.events {
                self.push(event);
            }
        }
        self.seen = batch.upto;
        self.done = batch.closed;
        if self.marking && batch.complete {
            self.marking = false;
            if self.seen > self.start {
                self.encoder.bookmark(&mut self.out, self.seen, false);
            }
        }
        Ok(())
    }

    /// Queues an event if the selectors match its object.
    fn push(&mut self, event: &Event) {
        let selected = |object: &Arc<Object>| self.selectors.select(object).unwrap_or_default();
        let before = event.previous.as_ref().is_some_and(selected);
        let after = event.change != Change::Deleted && selected(&event.object);
        let Some(kind) = kind(before, after) else { return };
        let object = if kind == "DELETED" { last_seen(event) } else { event.object.clone() };
        if let Some(served) = conversion::at_once(&self.encoder.def, &object) {
            self.encoder.event(&mut self.out, kind, &served);
        }
    }

    /// Queues events whose objects a webhook converts, all of them together.
    async fn push_converted(&mut self, events: &[Arc<Event>]) -> ApiResult<()> {
        let (server, def) = (&self.encoder.server, &self.encoder.def);
        let objects: Vec<Arc<Object>> = events.iter().map(|event| event.object.clone()).collect();
        let new = conversion::all(server, def, &objects).await?;
        let old = if self.selectors.select_all() {
            // An object is only removed by a deletion, where both are the same.
            new.clone()
        } else {
            let objects: Vec<Arc<Object>> = events.iter().map(|event| last_seen(event)).collect();
            conversion::all(server, def, &objects).await?
        };
        for ((event, new), old) in events.iter().zip(&new).zip(&old) {
            let before = event.previous.is_some() && self.selectors.matches(old);
            let after = event.change != Change::Deleted && self.selectors.matches(new);
            if let Some(kind) = kind(before, after) {
                self.encoder.event(&mut self.out, kind, if kind == "DELETED" { old } else { new });
            }
        }
        Ok(())
    }
}

/// Returns the type of a change for a client whose selectors matched the object `before` and `after` it.
fn kind(before: bool, after: bool) -> Option<&'static str> {
    match (before, after) {
        (false, true) => Some("ADDED"),
        (true, true) => Some("MODIFIED"),
        (true, false) => Some("DELETED"),
        (false, false) => None,
    }
}

/// Returns the state that a client last saw, at the version of the event that removed the object.
fn last_seen(event: &Event) -> Arc<Object> {
    match (&event.previous, event.change) {
        (Some(previous), Change::Added | Change::Modified) => {
            Arc::new(Object::new(previous.value.clone(), event.rv))
        }
        _ => event.object.clone(),
    }
}

/// Encodes events in the client's form.
struct Encoder {
    def: Arc<ResourceDef>,
    accepted: Accepted,
    /// The source of the current time, from which tables compute ages.
    server: Arc<Server>,
    include: Include,
    /// Only the first table of a watch names its columns.
    first_table: bool,
}

impl Encoder {
    fn event(&mut self, out: &mut BytesMut, kind: &str, object: &Served) {
        if self.accepted.shape == Shape::Plain && self.accepted.form == Form::Json {
            return line(out, kind, &object.json());
        }
        let shaped = self.shaped(object.value().clone());
        self.write(out, kind, &shaped);
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
                    self.server.timestamp(),
                    self.include,
                )
            }
            Shape::Partial(version) => table::partial(&value, version),
            Shape::PartialList(_) | Shape::Plain | Shape::Discovery(_) => value,
        }
    }

    fn bookmark(&mut self, out: &mut BytesMut, rv: u64, ends_initial: bool) {
        let mut metadata = json!({"resourceVersion": rv.to_string()});
        if ends_initial {
            metadata["annotations"] = json!({INITIAL_EVENTS_END: "true"});
        }
        let (mut version, mut kind) = (self.def.api_version(), self.def.kind.clone());
        if let Shape::Partial(v) = &self.accepted.shape {
            (version, kind) = (format!("meta.k8s.io/{v}"), "PartialObjectMetadata".to_owned());
        }
        // A typed object has the members that Go always writes.
        let of = types::of_kind(&version, &kind).filter(|_| !self.def.is_custom());
        let mut object = of.map_or_else(|| json!({}), types::decode::blank);
        object["apiVersion"] = version.into();
        object["kind"] = kind.into();
        object["metadata"] = metadata;
        if let Shape::Table(_) = &self.accepted.shape {
            object = self.shaped(object);
        }
        self.write(out, "BOOKMARK", &object);
    }

    fn write(&self, out: &mut BytesMut, kind: &str, object: &Value) {
        // No event is a list, and kube-apiserver sends nothing of what it cannot convert.
        if let Shape::PartialList(_) = self.accepted.shape {
            return;
        }
        if self.accepted.form != Form::Protobuf {
            return line(out, kind, &encode::to_vec(object));
        }
        // Only kinds with a message reach this line, and errors have one.
        if let Some(object) = protobuf::encode(object) {
            out.put_slice(&protobuf::frame(kind, &object));
        }
    }
}

/// The error of a watch whose object cannot be converted (`transformErrorToEvent` of apiserver's pkg/storage/etcd3/watcher.go).
fn failed_conversion(error: &ApiError) -> ApiError {
    ApiError::internal_of(error.message())
}

/// Writes an event as a line of JSON.
fn line(out: &mut BytesMut, kind: &str, object: &[u8]) {
    out.reserve(object.len() + 32);
    out.put_slice(b"{\"type\":\"");
    out.put_slice(kind.as_bytes());
    out.put_slice(b"\",\"object\":");
    out.put_slice(object);
    out.put_slice(b"}\n");
}
