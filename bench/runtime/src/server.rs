//! An API server's side of list and watch on loopback: all bytes exist before the first request, so that only the
//! client is measured.
//!
//! Plain HTTP/1.1, a thread per connection; over TLS see [`crate::tls`]. Lists are paged, or whole with
//! `resourceVersion=0` as from a watch cache; watches stream the state first on request. Each event is a chunk of its
//! own, as in kube-apiserver; at full speed many chunks share a write.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::probe::now_nanos;
use crate::shapes::{self, FIRST_VERSION, STAMP_WIDTH, Shape};

/// The bytes of a write at full speed.
const WRITE: usize = 64 << 10;
/// The interval of bookmarks in an idle watch.
const BOOKMARKS: Duration = Duration::from_secs(2);

/// Serves until standard input ends; prints the address first, and the address and certificate for TLS.
pub fn serve(shape: Shape, objects: usize) -> std::io::Result<()> {
    let server = Arc::new(Server::new(shape, objects));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{} {}", listener.local_addr()?, crate::tls::serve(&server)?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(&server);
            // A client that disconnects ends its thread.
            std::thread::spawn(move || drop(server.connection(&stream)));
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Makes the server send `events` changes on the open watch, `rate` a second or at full speed (0). Returns when the
/// watch has begun.
pub fn go(address: &str, events: u64, rate: u64) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "GET /go?events={events}&rate={rate} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}

#[derive(Default)]
struct Orders {
    next: Option<Order>,
    /// Number of the newest watch, which gets the orders: the client of an older one may have disconnected.
    watch: u64,
}

/// The events for the watch to send.
#[derive(Clone, Copy)]
struct Order {
    events: u64,
    rate: u64,
}

pub struct Server {
    shape: Shape,
    /// All objects with commas between.
    joined: Bytes,
    places: Vec<Place>,
    orders: Mutex<Orders>,
    changed: Condvar,
}

struct Place {
    start: usize,
    end: usize,
    version_at: usize,
    stamp_at: usize,
}

pub struct Request {
    pub path: String,
    query: Vec<(String, String)>,
}

impl Request {
    pub fn parse(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let query = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { path: path.to_owned(), query }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> u64 {
        self.get(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

impl Server {
    fn new(shape: Shape, objects: usize) -> Self {
        let (mut joined, mut places) = (Vec::new(), Vec::with_capacity(objects));
        for number in 0..objects {
            let object = shapes::object(shape, number);
            let start = joined.len();
            joined.extend_from_slice(&object.json);
            places.push(Place {
                start,
                end: joined.len(),
                version_at: object.version_at,
                stamp_at: object.stamp_at,
            });
            joined.push(b',');
        }
        Self { shape, joined: joined.into(), places, orders: Mutex::default(), changed: Condvar::new() }
    }

    fn connection(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader)? {
            match request.path.as_str() {
                "/go" => return self.order(stream, &request),
                _ if request.get("watch").is_some() => return self.chunked(stream, &request),
                _ => self.answer(stream, &request)?,
            }
        }
        Ok(())
    }

    fn order(&self, mut stream: &TcpStream, request: &Request) -> std::io::Result<()> {
        let order = Order { events: request.number("events"), rate: request.number("rate") };
        let mut orders = self.orders();
        orders.next = Some(order);
        self.changed.notify_all();
        while orders.next.is_some() {
            orders = self.changed.wait(orders).unwrap_or_else(PoisonError::into_inner);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_version(&self) -> u64 {
        FIRST_VERSION + self.places.len() as u64
    }

    /// The parts of a list's JSON.
    pub fn list(&self, request: &Request) -> [Bytes; 3] {
        let whole = request.get("resourceVersion") == Some("0") || request.get("limit").is_none();
        let first = request.number("continue") as usize;
        let limit = if whole { self.places.len() } else { request.number("limit") as usize };
        let end = (first + limit).min(self.places.len());
        let next = if end < self.places.len() { end.to_string() } else { String::new() };
        let (kind, api_version) = self.shape.type_meta();
        let head = format!(
            r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{{"resourceVersion":"{}","continue":"{next}"}},"items":["#,
            self.last_version()
        );
        let items = match self.places.get(first..end) {
            Some([from, .., to]) => self.joined.slice(from.start..to.end),
            Some([only]) => self.joined.slice(only.start..only.end),
            _ => Bytes::new(),
        };
        [head.into(), items, Bytes::from_static(b"]}")]
    }

    fn answer(&self, mut stream: &TcpStream, request: &Request) -> std::io::Result<()> {
        let parts = self.list(request);
        let length: usize = parts.iter().map(Bytes::len).sum();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )?;
        parts.iter().try_for_each(|part| stream.write_all(part))
    }

    fn chunked(&self, mut stream: &TcpStream, request: &Request) -> std::io::Result<()> {
        stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        let mut out = Vec::with_capacity(2 * WRITE);
        self.watch(request, &mut |events| {
            out.clear();
            for event in events.drain() {
                write!(out, "{:x}\r\n", event.len())?;
                out.extend_from_slice(&event);
                out.extend_from_slice(b"\r\n");
            }
            stream.write_all(&out)
        })
    }

    /// Sends events until `send` fails.
    pub fn watch(&self, request: &Request, send: &mut Send<'_>) -> std::io::Result<()> {
        let mut out = Events::default();
        if request.get("sendInitialEvents") == Some("true") {
            for place in &self.places {
                out.event("ADDED", &self.joined[place.start..place.end]);
                if out.bytes.len() >= WRITE {
                    send(&mut out)?;
                }
            }
            let annotations = r#""annotations":{"k8s.io/initial-events-end":"true"},"#;
            out.event("BOOKMARK", self.bookmark(annotations, self.last_version()).as_bytes());
            send(&mut out)?;
        }
        let mut version = self.last_version() + 1;
        let watch = {
            let mut orders = self.orders();
            orders.watch += 1;
            orders.watch
        };
        loop {
            let Some(order) = self.next_order(watch) else {
                out.event("BOOKMARK", self.bookmark("", version - 1).as_bytes());
                send(&mut out)?;
                continue;
            };
            self.send(order, &mut version, send)?;
        }
    }

    fn bookmark(&self, annotations: &str, version: u64) -> String {
        let (kind, api_version) = self.shape.type_meta();
        format!(
            r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{{annotations}"resourceVersion":"{version}","creationTimestamp":null}},"spec":{{}}}}"#
        )
    }

    fn next_order(&self, watch: u64) -> Option<Order> {
        let orders = self.orders();
        let is_idle = |orders: &mut Orders| orders.next.is_none() || orders.watch != watch;
        let waited = self.changed.wait_timeout_while(orders, BOOKMARKS, is_idle);
        let (mut orders, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return None;
        }
        self.changed.notify_all();
        orders.next.take()
    }

    /// Changes objects far from each other, in sequence.
    fn send(&self, order: Order, version: &mut u64, send: &mut Send<'_>) -> std::io::Result<()> {
        const STRIDE: usize = 7919;
        let (begin, mut out) = (Instant::now(), Events::default());
        let begin_nanos = now_nanos();
        for number in 0..order.events {
            let mut sent = now_nanos();
            if let Some(nanos) = (1_000_000_000 * number).checked_div(order.rate) {
                let due = Duration::from_nanos(nanos);
                match due.checked_sub(begin.elapsed()) {
                    Some(wait) => {
                        std::thread::sleep(wait);
                        sent = now_nanos();
                    }
                    // Late because the client has not read the last one: that is the client's delay.
                    None => sent = begin_nanos + nanos,
                }
            }
            let place = &self.places[number as usize * STRIDE % self.places.len()];
            let start = out.event("MODIFIED", &self.joined[place.start..place.end]);
            write!(&mut out.bytes[start + place.version_at..], "{version:010}")?;
            write!(&mut out.bytes[start + place.stamp_at..], "{sent:0STAMP_WIDTH$}")?;
            *version += 1;
            if order.rate > 0 || out.bytes.len() >= WRITE {
                send(&mut out)?;
            }
        }
        send(&mut out)
    }
}

/// Sends the pending events.
pub type Send<'a> = dyn FnMut(&mut Events) -> std::io::Result<()> + 'a;

/// Events that are written together.
#[derive(Default)]
pub struct Events {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Events {
    /// Adds an event; returns the offset of its object.
    fn event(&mut self, kind: &str, object: &[u8]) -> usize {
        self.bytes.extend_from_slice(format!(r#"{{"type":"{kind}","object":"#).as_bytes());
        let start = self.bytes.len();
        self.bytes.extend_from_slice(object);
        self.bytes.extend_from_slice(b"}\n");
        self.ends.push(self.bytes.len());
        start
    }

    /// Takes the events one by one.
    pub fn drain(&mut self) -> impl Iterator<Item = Bytes> + use<> {
        let bytes = Bytes::from(std::mem::replace(&mut self.bytes, Vec::with_capacity(2 * WRITE)));
        let mut start = 0;
        std::mem::take(&mut self.ends).into_iter().map(move |end| {
            let event = bytes.slice(start..end);
            start = end;
            event
        })
    }
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let target = first.split(' ').nth(1).unwrap_or("/");
    Ok(Some(Request::parse(target)))
}
