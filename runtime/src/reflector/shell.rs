//! Executes the machine's actions: sends requests, reads bodies, decodes.

mod failures;

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::Response;
use http_body::Body as _;
use kube::client::Body;
use tokio::time::{Instant, Sleep};

use super::decode::{Broken, Frame, Verb, frame};
use super::error::failure;
use super::form::Form;
use super::lines::Lines;
use super::machine::{Action, Input, Machine, Request};
use super::object::Decoded;
use super::options::Settings;
use super::page::{Item, MalformedPage, PageReader};
use super::request::http_request;
use super::staged::Staged;
use super::{Batch, Event, Traffic, WatchError};
use crate::client::drive::Driver;
use crate::client::error::causes;
use crate::client::transport::retry_after;

/// The number of events after which a batch is handed over, even if more bytes wait.
const BATCH: usize = 256;

/// The longest refusal that is read; a `Status` is far smaller.
const LONGEST_STATUS: usize = 64 << 10;

/// Lists and watches one kind until it is dropped, in the task that polls it.
pub(crate) struct Reflector {
    client: kube::Client,
    settings: Settings,
    form: Box<dyn Form>,
    path: String,
    machine: Machine,
    io: Io,
    /// The connections that its requests opened.
    driver: Driver,
    timer: Pin<Box<Sleep>>,
    staged: Staged,
    traffic: Arc<Traffic>,
    /// Whether the last list or its watch has objects of other shards.
    is_filtering: bool,
    /// Whether the list that is being read has objects of other shards.
    lists_foreign: bool,
    has_warned: bool,
}

/// The transfer in progress.
enum Io {
    Idle,
    Sending(BoxFuture<'static, Result<Response<Body>, kube::Error>>),
    /// The body of a refusal.
    Refusal {
        code: u16,
        retry_after: Option<Duration>,
        body: Body,
        read: Vec<u8>,
    },
    Page {
        body: Body,
        reader: PageReader,
    },
    Watch {
        body: Body,
        lines: Lines,
    },
}

impl Reflector {
    /// Makes a reflector of one namespace or of all. It sends its first request when it is first polled.
    ///
    /// # Panics
    /// Outside a tokio runtime with time enabled.
    pub(crate) fn new(
        client: kube::Client,
        settings: Settings,
        form: Box<dyn Form>,
        path: String,
        traffic: Arc<Traffic>,
    ) -> Self {
        let now = Instant::now();
        let random = settings.seed.map_or_else(crate::random::from_system, crate::random::seeded);
        let mut machine = Machine::new(now, settings.streaming_lists, random);
        if let Some(limit) = settings.params.limit {
            machine.set_page_size(limit);
        }
        Self {
            client,
            settings,
            form,
            path,
            machine,
            io: Io::Idle,
            driver: Driver::default(),
            timer: Box::pin(tokio::time::sleep_until(now)),
            staged: Staged::new(),
            traffic,
            is_filtering: false,
            lists_foreign: false,
            has_warned: false,
        }
    }

    /// Adds the next changes to `batch`, and wakes the task when there are some. All state is in the reflector and
    /// in `batch`, so dropping the caller between two polls loses nothing.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>, batch: &mut Batch) -> Poll<()> {
        ready!(self.poll_batch(context, batch));
        if std::mem::take(&mut batch.applied) {
            batch.resource_version = Some(self.machine.version().to_owned());
        }
        Poll::Ready(())
    }

    /// Drops the current request and the connections.
    pub(crate) fn close(&mut self) {
        self.io = Io::Idle;
        self.driver = Driver::default();
    }

    fn poll_batch(&mut self, context: &mut Context<'_>, batch: &mut Batch) -> Poll<()> {
        loop {
            let mut progress = self.poll_io(context, batch);
            if progress.is_pending() {
                self.driver.poll(context);
                progress = self.poll_io(context, batch);
            }
            if batch.events.len() >= BATCH {
                return Poll::Ready(());
            }
            if progress.is_ready() {
                continue;
            }
            if self.poll_timer(context).is_ready() {
                self.deadline(batch);
                continue;
            }
            return if batch.is_empty() { Poll::Pending } else { Poll::Ready(()) };
        }
    }

    /// Reports whether the machine's deadline has passed. Deadlines move with every event and nearly always into the
    /// future, so the timer is only reset when it fires too early.
    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let deadline = self.machine.deadline();
        if self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        ready!(self.timer.as_mut().poll(context));
        if Instant::now() < deadline {
            self.timer.as_mut().reset(deadline);
            return self.timer.as_mut().poll(context);
        }
        Poll::Ready(())
    }

    fn deadline(&mut self, batch: &mut Batch) {
        let now = Instant::now();
        if !matches!(self.io, Io::Idle) && now >= self.machine.deadline() {
            let (verb, resource) = (self.machine.verb(), self.settings.resource.clone());
            self.report(WatchError::Silent { verb, resource }, batch);
        }
        self.input(now, Input::Deadline, batch);
    }

    /// Reads one piece; ready if there may be more.
    fn poll_io(&mut self, context: &mut Context<'_>, batch: &mut Batch) -> Poll<()> {
        let body = match &mut self.io {
            Io::Idle => return Poll::Pending,
            Io::Sending(answer) => {
                let answer = ready!(self.driver.enter(|| answer.as_mut().poll(context)));
                self.answered(answer, batch);
                return Poll::Ready(());
            }
            Io::Refusal { body, .. } | Io::Page { body, .. } | Io::Watch { body, .. } => body,
        };
        match ready!(Pin::new(body).poll_frame(context)) {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    self.data(&data, batch);
                }
            }
            Some(Err(error)) => self.broke(&causes(&error), batch),
            None => self.body_ended(batch),
        }
        Poll::Ready(())
    }

    fn answered(&mut self, answer: Result<Response<Body>, kube::Error>, batch: &mut Batch) {
        let response = match answer {
            Ok(response) => response,
            Err(error) => return self.broke(&causes(&error), batch),
        };
        let code = response.status().as_u16();
        if !response.status().is_success() {
            let retry_after = retry_after(response.headers());
            self.io = Io::Refusal { code, retry_after, body: response.into_body(), read: Vec::new() };
            return;
        }
        let body = response.into_body();
        self.io = if self.machine.verb() == "list" {
            Io::Page { body, reader: PageReader::default() }
        } else {
            Io::Watch { body, lines: Lines::default() }
        };
        batch.opened = true;
        self.input(Instant::now(), Input::Opened, batch);
    }

    fn data(&mut self, data: &Bytes, batch: &mut Batch) {
        self.traffic.receive(data.len());
        let now = Instant::now();
        // Taken out, so that the decoder and the rest of the reflector can be borrowed together. It is put back
        // unless the machine replaced it meanwhile.
        match std::mem::replace(&mut self.io, Io::Idle) {
            Io::Refusal { code, retry_after, body, mut read } => {
                let room = LONGEST_STATUS.saturating_sub(read.len());
                read.extend_from_slice(&data[..data.len().min(room)]);
                self.io = Io::Refusal { code, retry_after, body, read };
            }
            Io::Page { body, mut reader } => {
                match reader.push(data).and_then(|()| self.items(now, &mut reader, batch)) {
                    Ok(()) => self.io = Io::Page { body, reader },
                    Err(error) => self.malformed(&error.to_string(), batch),
                }
            }
            Io::Watch { body, mut lines } => {
                let result = lines.feed(data, |line| self.line(now, line, batch));
                match result {
                    Ok(ControlFlow::Continue(())) => self.io = Io::Watch { body, lines },
                    Ok(ControlFlow::Break(())) => {}
                    Err(error) => self.malformed(&error.to_string(), batch),
                }
            }
            other => self.io = other,
        }
    }

    fn body_ended(&mut self, batch: &mut Batch) {
        let now = Instant::now();
        match std::mem::replace(&mut self.io, Io::Idle) {
            Io::Refusal { code, retry_after, read, .. } => self.refused(code, retry_after, &read, batch),
            Io::Page { mut reader, .. } => {
                reader.end();
                match self.items(now, &mut reader, batch).and_then(|()| reader.finish()) {
                    Ok(meta) => {
                        let version = meta.resource_version.unwrap_or_default();
                        let continue_token = meta.continue_.as_deref();
                        self.input(now, Input::PageEnd { version: &version, continue_token }, batch);
                    }
                    Err(error) => self.malformed(&error.to_string(), batch),
                }
            }
            Io::Watch { mut lines, .. } => {
                let rest = lines.rest();
                // A whole event may lack only its newline; a truncated one is sent again by the next watch.
                if let Ok(frame) = frame(&rest, &mut *self.form)
                    && self.frame(now, frame, batch).is_break()
                {
                    return;
                }
                self.input(now, Input::Ended, batch);
            }
            other => self.io = other,
        }
    }

    /// Handles the objects that are complete.
    fn items(
        &mut self,
        now: Instant,
        reader: &mut PageReader,
        batch: &mut Batch,
    ) -> Result<(), MalformedPage> {
        while let Some(item) = reader.next(&mut *self.form)? {
            self.item(now, item, batch);
        }
        Ok(())
    }

    fn item(&mut self, now: Instant, item: Item, batch: &mut Batch) {
        match item {
            Item::Object(object) => {
                let version = object.version();
                if self.machine.on(now, Input::Object { version }) == Action::Stage
                    && !self.drops(object.is_foreign)
                {
                    self.stage(object);
                }
            }
            Item::Undecodable(broken) => {
                let action = self.machine.on(now, Input::Object { version: None });
                if action == Action::Stage && !self.drops(self.is_foreign(&broken)) {
                    self.undecodable(broken, true, batch);
                }
            }
        }
    }

    fn line(&mut self, now: Instant, line: &[u8], batch: &mut Batch) -> ControlFlow<()> {
        match frame(line, &mut *self.form) {
            Ok(frame) => self.frame(now, frame, batch),
            Err(error) => {
                self.malformed(&error.to_string(), batch);
                ControlFlow::Break(())
            }
        }
    }

    /// Handles an event; breaks if its watch is over.
    fn frame(&mut self, now: Instant, frame: Frame, batch: &mut Batch) -> ControlFlow<()> {
        match frame {
            Frame::Object { verb, object } => {
                let version = object.version();
                match self.machine.on(now, Input::Object { version }) {
                    Action::Stage | Action::Apply if self.drops(object.is_foreign) => {}
                    Action::Stage if verb == Verb::Applied => self.stage(object),
                    Action::Stage => self.staged.remove(&object.key),
                    Action::Apply => self.apply(verb, object, batch),
                    action => return self.act(action, batch),
                }
            }
            Frame::Bookmark { version, initial_events_end } => {
                let input = Input::Bookmark { version: &version, initial_events_end };
                let action = self.machine.on(now, input);
                batch.resource_version = Some(self.machine.version().to_owned());
                return self.act(action, batch);
            }
            Frame::Undecodable { verb, object } => {
                let version = object.why.resource_version.as_deref();
                match self.machine.on(now, Input::Object { version }) {
                    Action::Stage | Action::Apply if self.drops(self.is_foreign(&object)) => {}
                    Action::Stage if verb == Verb::Deleted && object.key.is_some() => {
                        object.key.iter().for_each(|key| self.staged.remove(key));
                    }
                    Action::Stage => self.undecodable(object, true, batch),
                    Action::Apply if verb == Verb::Deleted => self.deleted_unseen(object, batch),
                    Action::Apply => self.undecodable(object, false, batch),
                    action => return self.act(action, batch),
                }
            }
            Frame::Error(status) => {
                let failure = failure(&status, None);
                self.report_refusal(failure, status, batch);
                self.input(now, Input::Failed(failure), batch);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// Reports whether an object that does not decode is of another shard.
    fn is_foreign(&self, broken: &Broken) -> bool {
        let key = broken.key.as_ref();
        key.is_some_and(|key| {
            self.form.is_foreign(broken.uid.as_deref().unwrap_or_default(), key.namespace())
        })
    }

    /// Reports whether an object is dropped since it is of another shard. A server without the feature sends these.
    fn drops(&mut self, is_foreign: bool) -> bool {
        if !is_foreign {
            return false;
        }
        self.traffic.drop_object();
        self.lists_foreign = true;
        self.traffic.set_filtering(&mut self.is_filtering, true);
        if !std::mem::replace(&mut self.has_warned, true) {
            let resource = &self.settings.resource;
            tracing::warn!(%resource, "the server ignores the shard selector; objects of other shards are dropped here");
        }
        true
    }

    fn stage(&mut self, decoded: Decoded) {
        let known = self.form.known(&decoded.key);
        self.staged.add(decoded, known);
    }

    fn apply(&mut self, verb: Verb, decoded: Decoded, batch: &mut Batch) {
        let Decoded { key, object, .. } = decoded;
        batch.events.push(match verb {
            Verb::Applied => Event::Applied { key, object },
            Verb::Deleted => Event::Deleted { key, object: Some(object) },
        });
        batch.applied = true;
    }

    fn input(&mut self, now: Instant, input: Input<'_>, batch: &mut Batch) {
        let action = self.machine.on(now, input);
        // The machine replaces a finished body in `io`.
        let _ = self.act(action, batch);
    }

    /// Executes an action; breaks if it ends the body that is being read.
    fn act(&mut self, action: Action, batch: &mut Batch) -> ControlFlow<()> {
        match action {
            Action::Continue | Action::Stage | Action::Apply => return ControlFlow::Continue(()),
            Action::Commit { version, then } => {
                let (objects, undecodable) = self.staged.take();
                self.traffic.set_filtering(&mut self.is_filtering, self.lists_foreign);
                batch.events.push(Event::Replaced { objects, undecodable });
                batch.resource_version = Some(version);
                match then {
                    Some(request) => self.send(&request),
                    None => return ControlFlow::Continue(()),
                }
            }
            Action::Send(request) => self.send(&request),
            Action::Wait => self.io = Io::Idle,
        }
        ControlFlow::Break(())
    }

    fn send(&mut self, request: &Request) {
        match request {
            Request::List { continue_token: None, again: false, .. }
            | Request::Watch { initial_events: true, .. } => {
                self.staged.clear();
                self.lists_foreign = false;
            }
            Request::List { again, .. } => self.staged.begin_page(*again),
            Request::Watch { .. } => {}
        }
        let client = self.client.clone();
        let request = http_request(&self.path, &self.settings, request);
        self.io = Io::Sending(Box::pin(async move {
            let request = request.map_err(kube::Error::HttpError)?;
            client.send(request).await
        }));
    }
}

impl std::fmt::Debug for Reflector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector").field("resource", &self.settings.resource).finish_non_exhaustive()
    }
}
