//! The writes with which every new server begins. A first server makes them for all servers of the process; the others make an
//! object only when it is read.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use super::seed::seed;
use crate::clock::{ManualClock, Uid, rfc3339};
use crate::definitions::refresh;
use crate::meta;
use crate::server::{Server, ServerOptions};
use crate::store::{Event, Store, Unread};

/// The time at which the first server makes its objects, and its date.
const TIME: &str = "1970-01-01T00:00:00Z";
const DATE: &str = "1970-01-01";

/// A write of the first server.
struct Write {
    collection: Arc<str>,
    event: Arc<Event>,
    /// The number of the object among those that were created.
    number: usize,
}

/// The content of a new server.
struct Image {
    writes: Vec<Write>,
    settings: Vec<(Arc<str>, Bytes)>,
    /// How many objects there are.
    objects: usize,
}

/// The images without and with aggregated roles.
static IMAGES: [LazyLock<Image>; 2] =
    [LazyLock::new(|| Image::new(false)), LazyLock::new(|| Image::new(true))];

impl Image {
    fn new(aggregates: bool) -> Self {
        let options = ServerOptions { controllers: aggregates, ..ServerOptions::default() };
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        let server = Server::new(Arc::new(Store::new(usize::MAX)), clock, options);
        seed(&server);
        refresh(&server);
        let (events, settings) = server.store.contents();
        let mut uids: Vec<String> = Vec::new();
        let mut writes = Vec::new();
        for (collection, event) in events {
            let uid = meta::text(&event.object.value, "uid");
            let number = uids.iter().position(|known| known == uid).unwrap_or_else(|| {
                uids.push(uid.to_owned());
                uids.len() - 1
            });
            writes.push(Write { collection, event, number });
        }
        Self { writes, settings, objects: uids.len() }
    }

    fn of(server: &Server) -> &'static Self {
        &IMAGES[usize::from(server.aggregates_roles())]
    }
}

impl Write {
    /// The object as another server has it, without its version.
    fn object(&self, uid: Uid, time: &str) -> Value {
        let mut object = self.event.object.value.clone();
        meta::set(&mut object, "uid", uid.to_string());
        set_times(&mut object, time);
        object
    }
}

fn set_times(value: &mut Value, time: &str) {
    match value {
        Value::String(text) if text == TIME => time.clone_into(text),
        Value::String(text) if text == DATE => time.get(..DATE.len()).unwrap_or_default().clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| set_times(item, time)),
        Value::Object(map) => map.values_mut().for_each(|item| set_times(item, time)),
        _ => {}
    }
}

/// Fills a store that has never been written.
pub(super) fn fill(server: &Server) {
    let image = Image::of(server);
    let time: Arc<str> = rfc3339(server.timestamp()).into();
    let uids: Vec<Uid> = (0..image.objects).map(|_| server.ids.draw()).collect();
    let writes = image.writes.iter().map(|write| {
        let (uid, time) = (uids[write.number], time.clone());
        Unread {
            collection: &write.collection,
            key: &write.event.key,
            change: write.event.change,
            make: Box::new(move || write.object(uid, &time)),
        }
    });
    server.store.fill(writes, &image.settings);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(options: &ServerOptions) -> Arc<Server> {
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_hours(30)));
        Server::new(Arc::new(Store::new(1_000)), clock, options.clone())
    }

    #[test]
    fn filled_store_has_what_seeding_writes() {
        for controllers in [false, true] {
            let options = ServerOptions { seed: Some(3), controllers, ..ServerOptions::default() };
            let (filled, seeded) = (server(&options), server(&options));
            fill(&filled);
            seed(&seeded);
            refresh(&seeded);
            let ((all, settings), (others, other_settings)) =
                (filled.store.contents(), seeded.store.contents());
            assert_eq!((all.len(), settings), (others.len(), other_settings));
            for ((_, event), (_, other)) in all.iter().zip(&others) {
                assert_eq!(*event.object.value, *other.object.value);
                assert_eq!((event.rv, &event.key, event.change), (other.rv, &other.key, other.change));
            }
            assert_eq!(filled.ids.uid(), seeded.ids.uid());
        }
    }
}
