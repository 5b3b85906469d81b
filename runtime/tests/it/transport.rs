//! A transport whose server can be unavailable, and which reorders watch events.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use kube::client::Body;
use serde_json::Value;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The server behind the transport, which can be exchanged.
#[derive(Clone, Default)]
pub(crate) struct Switch(Arc<Mutex<Option<Server>>>);

#[derive(Clone)]
struct Server {
    client: kube::Client,
    up: CancellationToken,
}

impl Switch {
    /// Breaks all connections; until [`Self::connect`] there are no others.
    pub(crate) fn disconnect(&self) {
        if let Some(server) = self.0.lock().unwrap().take() {
            server.up.cancel();
        }
    }

    /// Requests go to `client` from now on.
    pub(crate) fn connect(&self, client: kube::Client) {
        self.disconnect();
        *self.0.lock().unwrap() = Some(Server { client, up: CancellationToken::new() });
    }

    /// A client over this transport. With a seed, events of different objects change places.
    pub(crate) fn client(&self, disorder: Option<u64>) -> kube::Client {
        let switch = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = switch.0.lock().unwrap().clone();
            let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            async move {
                let Some(Server { client, up }) = server else { return Err(reset()) };
                let answered = tokio::select! {
                    () = up.cancelled() => return Err(reset()),
                    answered = client.send(request) => answered.map_err(io::Error::other)?,
                };
                let down = Box::pin(up.cancelled_owned());
                let disorder = disorder.filter(|_| is_watch).map(Disorder);
                let is_down = false;
                Ok::<Response<Shaken>, io::Error>(answered.map(|inner| Shaken {
                    inner,
                    down,
                    is_down,
                    disorder,
                }))
            }
        });
        kube::Client::new(service, "default")
    }
}

fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "the server went away")
}

/// The body of a response, in transit.
struct Shaken {
    inner: Body,
    down: Pin<Box<WaitForCancellationFutureOwned>>,
    is_down: bool,
    disorder: Option<Disorder>,
}

impl http_body::Body for Shaken {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = self.get_mut();
        if this.is_down {
            return Poll::Ready(None);
        }
        if this.down.as_mut().poll(context).is_ready() {
            this.is_down = true;
            return Poll::Ready(Some(Err(reset())));
        }
        let frame = Pin::new(&mut this.inner).poll_frame(context);
        frame.map(|frame| {
            let frame = frame?.map_err(io::Error::other);
            Some(frame.map(|frame| {
                frame.map_data(|data| match &mut this.disorder {
                    Some(disorder) => disorder.apply(&data),
                    None => data,
                })
            }))
        })
    }
}

/// Reorders events that arrive together. The events of each object keep their order, and bookmarks and errors
/// their place.
///
/// No event is held back. A server never sends events that are older than those already sent, so a client
/// that has seen a version requests only later ones. An event that was overtaken and then lost would never be
/// sent again.
struct Disorder(u64);

impl Disorder {
    fn apply(&mut self, data: &Bytes) -> Bytes {
        let lines: Vec<&[u8]> = data.split_inclusive(|byte| *byte == b'\n').collect();
        let mut out = Vec::with_capacity(data.len());
        let mut waiting: Vec<(String, VecDeque<&[u8]>)> = Vec::new();
        for line in lines {
            match key(line) {
                Some(key) => match waiting.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, events)) => events.push_back(line),
                    None => waiting.push((key, VecDeque::from([line]))),
                },
                None => {
                    self.drain(&mut waiting, &mut out);
                    out.extend_from_slice(line);
                }
            }
        }
        self.drain(&mut waiting, &mut out);
        out.into()
    }

    fn drain(&mut self, waiting: &mut Vec<(String, VecDeque<&[u8]>)>, out: &mut Vec<u8>) {
        while !waiting.is_empty() {
            // Knuth's constants; any spread does.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (self.0 >> 33) as usize % waiting.len();
            out.extend_from_slice(waiting[at].1.pop_front().unwrap_or_default());
            if waiting[at].1.is_empty() {
                waiting.swap_remove(at);
            }
        }
    }
}

/// The object of a whole event.
fn key(line: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(line.strip_suffix(b"\n")?).ok()?;
    let kind = event["type"].as_str()?;
    let is_change = ["ADDED", "MODIFIED", "DELETED"].contains(&kind);
    is_change.then(|| event["object"]["metadata"]["name"].to_string())
}

#[test]
fn disorder_mixes_objects_and_keeps_the_order_of_each() {
    let event = |kind: &str, name: &str, version: u32| {
        format!(
            r#"{{"type":"{kind}","object":{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}}}}}}"#
        ) + "\n"
    };
    let sent: Vec<String> =
        (0..30).map(|version| event("MODIFIED", ["a", "b", "c"][version % 3], version as u32)).collect();
    let text = format!("{}{}{}half", sent.concat(), event("BOOKMARK", "", 40), event("ADDED", "d", 41));
    let mixed = Disorder(7).apply(&Bytes::from(text.clone()));
    let mixed = String::from_utf8(mixed.to_vec()).unwrap();
    assert_ne!(mixed, text);
    let (before, after) = (mixed.find("BOOKMARK").unwrap(), text.find("BOOKMARK").unwrap());
    assert_eq!((before, &mixed[before..]), (after, &text[after..]));
    for name in ["a", "b", "c"] {
        let of = |text: &str| {
            text.lines().filter(|line| line.contains(&format!(r#""{name}""#))).collect::<String>()
        };
        assert_eq!(of(&mixed), of(&text));
    }
}
