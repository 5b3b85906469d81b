//! The informer's task: from the reflectors to the store and the mailboxes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::control::Status;
use super::deliver::{self, CALLS_PER_TURN, give_way};
use super::mailbox::{Delivery, Mailbox};
use super::registration::HandlerStatus;
use super::sources::Sources;
use super::stored::Stored;
use super::task::Work;
use super::{Deleted, ResourceEventHandler};
use crate::cache::{Change, ObjectKey};
use crate::deadline::after;
use crate::reflector::{Batch, Event, Listed, Object, is_same_state};

/// client-go's shortest resync period.
const MINIMUM_RESYNC: Duration = Duration::from_secs(1);

/// The number of turns that slow handlers get before more is read: enough for a handler that keeps up.
const TURNS: usize = 8;

/// Commands from handles to the task.
pub(super) enum Command {
    Add {
        id: u64,
        handler: Arc<dyn ResourceEventHandler<dyn Object>>,
        mailbox: Arc<Mailbox<dyn Object>>,
        status: Arc<HandlerStatus>,
        /// The handler's own resync period, if it has one.
        resync: Option<Duration>,
    },
    Remove {
        id: u64,
    },
}

struct Active {
    id: u64,
    mailbox: Arc<Mailbox<dyn Object>>,
    /// Zero means no resync.
    resync: Duration,
    next_resync: Instant,
    /// Whether the mailbox has the end of the initial list.
    marked: bool,
    status: Arc<HandlerStatus>,
}

impl Active {
    fn is_due(&self, now: Instant) -> bool {
        !self.resync.is_zero() && now >= self.next_resync
    }

    /// Puts deliveries into the mailbox. Returns the backlog that needs turns of this task: none if the handler has
    /// a thread.
    fn tell(&self, is_list: bool, deliveries: impl Iterator<Item = Delivery<dyn Object>>) -> usize {
        let waiting =
            if is_list { self.mailbox.push_distinct(deliveries) } else { self.mailbox.push_all(deliveries) };
        if self.status.has_thread.load(Ordering::Relaxed) { 0 } else { waiting }
    }
}

pub(super) struct Runner {
    sources: Sources,
    writer: Box<dyn Stored>,
    commands: mpsc::UnboundedReceiver<Command>,
    status: Arc<Status>,
    default_resync: Duration,
    /// The interval of checks for due resyncs; zero means never.
    check_period: Duration,
    next_check: Instant,
    handlers: Vec<Active>,
    tasks: JoinSet<()>,
    changes: Vec<(Change<dyn Object>, Kind)>,
}

/// The origin of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The watch reported it.
    Live,
    /// A comparison with a later list found it.
    Relisted,
    /// The first list contained it.
    Initial,
    /// The object has not changed; only handlers with a due resync get it.
    Same,
}

impl Runner {
    fn close_mailboxes(&self) {
        for handler in &self.handlers {
            handler.mailbox.close();
        }
    }
}

impl Drop for Runner {
    /// Lets the handler threads end and reports the shutdown, even if the task panicked or was aborted.
    fn drop(&mut self) {
        self.close_mailboxes();
        self.status.stopped.send_replace(true);
    }
}

impl Runner {
    pub(super) fn new(
        sources: Sources,
        writer: Box<dyn Stored>,
        commands: mpsc::UnboundedReceiver<Command>,
        status: Arc<Status>,
        resync: Duration,
    ) -> Self {
        let default_resync = rounded(resync);
        Self {
            sources,
            writer,
            commands,
            status,
            default_resync,
            check_period: default_resync,
            next_check: after(default_resync),
            handlers: Vec::new(),
            tasks: JoinSet::new(),
            changes: Vec::new(),
        }
    }

    /// Returns the task as a boxed future.
    pub(super) fn work(self) -> Work {
        Box::pin(self.run())
    }

    /// Runs until stopped, then ends the handlers and waits for them.
    async fn run(mut self) {
        let mut stop = self.status.stop.subscribe();
        let mut batch = Batch::new();
        while let Ok(command) = self.commands.try_recv() {
            self.command(command);
        }
        // The period is known now, because handlers added before the start have set it.
        self.next_check = after(self.check_period);
        loop {
            let checks = !self.check_period.is_zero();
            let backlog = tokio::select! {
                biased;
                () = told(&mut stop) => break,
                Some(command) = self.commands.recv() => {
                    self.command(command);
                    0
                }
                () = tokio::time::sleep_until(self.next_check), if checks => {
                    self.resync();
                    0
                }
                source = self.sources.next_batch(&mut batch) => self.apply(source, &mut batch),
            };
            for _ in 0..(backlog / CALLS_PER_TURN).min(TURNS) {
                give_way().await;
            }
        }
        self.commands.close();
        self.close_mailboxes();
        // Stop reading. Connections that others use continue in tasks of their own.
        self.sources.close();
        while self.tasks.join_next().await.is_some() {}
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Add { id, handler, mailbox, status, resync } => {
                self.add(id, handler, mailbox, status, resync);
            }
            Command::Remove { id } => {
                for removed in self.handlers.extract_if(.., |handler| handler.id == id) {
                    removed.mailbox.close();
                    self.status.handlers.remove(&removed.status);
                }
            }
        }
    }

    fn add(
        &mut self,
        id: u64,
        handler: Arc<dyn ResourceEventHandler<dyn Object>>,
        mailbox: Arc<Mailbox<dyn Object>>,
        status: Arc<HandlerStatus>,
        resync: Option<Duration>,
    ) {
        let resync = self.resync_period(resync);
        deliver::spawn(&mut self.tasks, handler, Arc::clone(&mailbox), Arc::clone(&status));
        let present = self.writer.entries();
        let added = present.into_iter().map(|(key, object)| Delivery::Add { key, object, initial: true });
        mailbox.push_distinct(added);
        let marked = *self.status.synced.borrow();
        if marked {
            mailbox.push_all(std::iter::once(Delivery::Synced));
        }
        let next_resync = after(resync);
        self.status.handlers.add(&status);
        self.handlers.push(Active { id, mailbox, resync, next_resync, marked, status });
        // Join handlers that have ended, so that the set does not grow with every removal.
        while self.tasks.try_join_next().is_some() {}
    }

    /// Rounds as client-go does: at least one second, and not below the check period of a running informer.
    fn resync_period(&mut self, wanted: Option<Duration>) -> Duration {
        let wanted = wanted.map_or(self.default_resync, rounded);
        if wanted.is_zero() {
            return wanted;
        }
        let started = *self.status.synced.borrow() && !self.check_period.is_zero();
        if started && wanted < self.check_period {
            return self.check_period;
        }
        if self.check_period.is_zero() || wanted < self.check_period {
            self.check_period = wanted;
            self.next_check = after(wanted);
        }
        wanted
    }

    /// Delivers every object to the handlers with a due resync.
    fn resync(&mut self) {
        let now = Instant::now();
        self.next_check = now + self.check_period;
        let due: Vec<&mut Active> = self.handlers.iter_mut().filter(|handler| handler.is_due(now)).collect();
        if due.is_empty() {
            return;
        }
        let objects = self.writer.entries();
        for handler in due {
            handler.next_resync = now + handler.resync;
            handler.mailbox.push_all(objects.iter().map(|(key, object)| Delivery::Update {
                key: key.clone(),
                old: Arc::clone(object),
                new: Arc::clone(object),
            }));
        }
    }

    /// Writes a batch to the store and distributes it. Returns the longest backlog of a handler.
    fn apply(&mut self, source: usize, batch: &mut Batch) -> usize {
        let mut has_listed = false;
        let is_list = matches!(batch.events.as_slice(), [Event::Replaced { .. }]);
        if std::mem::take(&mut batch.opened) {
            self.failed(source, None);
        }
        for event in batch.events.drain(..) {
            match event {
                Event::Applied { key, object } => self.applied(key, object),
                Event::Deleted { key, object } => self.deleted(key, object),
                Event::Replaced { objects, undecodable } => {
                    self.replaced(source, objects, &undecodable);
                    has_listed = true;
                }
                Event::Undecodable { key, why } => {
                    self.status.undecodable.fetch_add(1, Ordering::Relaxed);
                    if let Some(key) = key {
                        self.writer.mark_undecodable(key, why);
                    }
                }
                Event::Failed(error) => {
                    self.status.errors.fetch_add(1, Ordering::Relaxed);
                    self.failed(source, Some(error.to_string()));
                }
            }
        }
        if let (Some(version), Some(source)) = (batch.resource_version.take(), self.sources.get_mut(source)) {
            source.set_version(version);
            if let Some(version) = self.sources.version() {
                self.writer.set_resource_version(version);
            }
        }
        if self.status.applied.receiver_count() > 0 {
            self.status.applied.send_replace(());
        }
        let backlog = self.distribute(is_list);
        if has_listed && self.sources.have_synced() {
            self.mark_synced();
        }
        backlog
    }

    fn failed(&mut self, source: usize, error: Option<String>) {
        if let Some(source) = self.sources.get_mut(source) {
            source.set_error(error);
        }
        self.status.set_last_error(self.sources.error());
    }

    fn applied(&mut self, key: ObjectKey, new: Arc<dyn Object>) {
        let change = match self.writer.insert(&key, Arc::clone(&new)) {
            None => (Change::Added { key, new }, Kind::Live),
            Some(old) => {
                let kind = if is_same_state(&*old, &*new) { Kind::Same } else { Kind::Live };
                (Change::Updated { key, old, new }, kind)
            }
        };
        self.changes.push(change);
    }

    fn deleted(&mut self, key: ObjectKey, object: Option<Arc<dyn Object>>) {
        let Some(known) = self.writer.remove(&key) else { return };
        self.changes.push(match object {
            Some(last) => (Change::Deleted { key, last }, Kind::Live),
            None => (Change::Deleted { key, last: known }, Kind::Relisted),
        });
    }

    fn replaced(&mut self, source: usize, objects: Listed, undecodable: &[ObjectKey]) {
        let Some(source) = self.sources.get_mut(source) else { return };
        let first = source.sync();
        let changes = self.writer.replace_within(source.namespace(), objects, undecodable);
        self.changes.extend(changes.into_iter().map(|change| {
            let kind = match &change {
                Change::Updated { old, new, .. } if is_same_state(&**old, &**new) => Kind::Same,
                _ if first => Kind::Initial,
                _ => Kind::Relisted,
            };
            (change, kind)
        }));
    }

    fn mark_synced(&mut self) {
        self.status.synced.send_replace(true);
        for handler in self.handlers.iter_mut().filter(|handler| !handler.marked) {
            handler.marked = true;
            handler.mailbox.push_all(std::iter::once(Delivery::Synced));
        }
    }

    /// Distributes the changes. Returns the longest backlog of a handler. All changes of a list are of distinct
    /// objects.
    fn distribute(&mut self, is_list: bool) -> usize {
        if self.changes.is_empty() {
            return 0;
        }
        let mut backlog = 0;
        let now = Instant::now();
        let is_wanted = |due: bool, kind: Kind| due || kind != Kind::Same;
        if let Some((last, others)) = self.handlers.split_last() {
            for handler in others {
                let due = handler.is_due(now);
                let wanted = self.changes.iter().filter(|(_, kind)| is_wanted(due, *kind));
                let deliveries = wanted.map(|(change, kind)| delivery(change.clone(), *kind));
                backlog = backlog.max(handler.tell(is_list, deliveries));
            }
            let due = last.is_due(now);
            // Objects are dropped here, where no lock is held.
            self.changes.retain(|(_, kind)| is_wanted(due, *kind));
            let deliveries = self.changes.drain(..).map(|(change, kind)| delivery(change, kind));
            backlog = backlog.max(last.tell(is_list, deliveries));
        }
        self.changes.clear();
        // A first list leaves capacity for as many changes as there are objects; batches need far less.
        self.changes.shrink_to(4096);
        backlog
    }
}

/// Waits for the stop; a dropped handle counts as one.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn rounded(period: Duration) -> Duration {
    if period.is_zero() { period } else { period.max(MINIMUM_RESYNC) }
}

fn delivery(change: Change<dyn Object>, kind: Kind) -> Delivery<dyn Object> {
    match change {
        Change::Added { key, new } => Delivery::Add { key, object: new, initial: kind == Kind::Initial },
        Change::Updated { key, old, new } => Delivery::Update { key, old, new },
        Change::Deleted { key, last } if kind == Kind::Live => {
            Delivery::Delete(Deleted::Final { key, object: last })
        }
        Change::Deleted { key, last } => Delivery::Delete(Deleted::FinalStateUnknown { key, last }),
    }
}
