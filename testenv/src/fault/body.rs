//! The bodies of responses on their way to the client.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty};
use tokio::time::Sleep;
use tower::BoxError;

use super::answer;
use super::rule::Fault;

/// A body, possibly with a fault.
pub struct FaultBody {
    inner: UnsyncBoxBody<Bytes, BoxError>,
    effect: Effect,
}

impl std::fmt::Debug for FaultBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultBody").field("effect", &self.effect).finish_non_exhaustive()
    }
}

/// The result of polling a body; `None` at the end.
type Next = Option<Result<Frame<Bytes>, BoxError>>;

/// The fault of a body.
#[derive(Debug)]
enum Effect {
    None,
    /// Passes this number of bytes on, then breaks or ends.
    Bytes {
        left: u64,
        breaks: bool,
    },
    /// Passes this number of lines on, then applies another effect.
    Lines {
        left: u64,
        then: Then,
    },
    /// Replaces `count` bytes after the next `skip`.
    Garble {
        skip: u64,
        count: u64,
    },
    /// Passes nothing on.
    Silence {
        until: Option<Pin<Box<Sleep>>>,
    },
    /// Earlier data is still on its way to the client.
    Breaking,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    End,
    Expire,
    /// Passes on half of the next line.
    Truncate,
}

impl FaultBody {
    pub(crate) fn new<B>(inner: B, fault: Option<&Fault>) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let effect = match fault {
            Some(Fault::DropAnswerAfter(bytes)) => Effect::Bytes { left: *bytes, breaks: true },
            Some(Fault::EndWatchAfterBytes(bytes)) => Effect::Bytes { left: *bytes, breaks: false },
            Some(Fault::EndWatch(events)) => Effect::Lines { left: *events, then: Then::End },
            Some(Fault::ExpireWatch(events)) => Effect::Lines { left: *events, then: Then::Expire },
            Some(Fault::TruncateWatch(events)) => Effect::Lines { left: *events, then: Then::Truncate },
            Some(Fault::Garble { at, count }) => Effect::Garble { skip: *at, count: *count },
            Some(Fault::SilenceWatch(time)) => {
                Effect::Silence { until: time.map(|time| Box::pin(tokio::time::sleep(time))) }
            }
            _ => Effect::None,
        };
        Self { inner: inner.map_err(Into::into).boxed_unsync(), effect }
    }

    /// Drops the server's response, which ends it there.
    fn over(&mut self) {
        self.inner = Empty::new().map_err(|never| match never {}).boxed_unsync();
        self.effect = Effect::Over;
    }

    /// Returns the result of the effect before it reads on; `None` if it reads on.
    fn act(&mut self, cx: &mut Context<'_>) -> Option<Poll<Next>> {
        match &mut self.effect {
            Effect::Bytes { left: 0, breaks: true } => {
                // Lets the transport send the data so far.
                self.effect = Effect::Breaking;
                cx.waker().wake_by_ref();
                Some(Poll::Pending)
            }
            Effect::Breaking => {
                self.over();
                Some(Poll::Ready(Some(Err(Box::new(reset())))))
            }
            Effect::Bytes { left: 0, breaks: false } | Effect::Lines { left: 0, then: Then::End } => {
                self.over();
                Some(Poll::Ready(None))
            }
            Effect::Lines { left: 0, then: Then::Expire } => {
                self.over();
                Some(Poll::Ready(Some(Ok(Frame::data(answer::expired())))))
            }
            Effect::Silence { until: Some(until) } => {
                let over = until.as_mut().poll(cx).is_ready();
                over.then(|| {
                    self.over();
                    Poll::Ready(None)
                })
            }
            Effect::Over => Some(Poll::Ready(None)),
            _ => None,
        }
    }

    /// Returns the part of received data to pass on; may be empty.
    fn pass(&mut self, mut data: Bytes) -> Bytes {
        match &mut self.effect {
            Effect::Bytes { left, .. } => {
                let passed = data.split_to(usize::try_from(*left).unwrap_or(usize::MAX).min(data.len()));
                *left -= passed.len() as u64;
                passed
            }
            Effect::Lines { left, then } => {
                let mut whole = 0;
                while *left > 0 {
                    let Some(end) = data.iter().skip(whole).position(|byte| *byte == b'\n') else {
                        return data;
                    };
                    whole += end + 1;
                    *left -= 1;
                }
                if *then == Then::Truncate && whole < data.len() {
                    let line = data.iter().skip(whole).position(|byte| *byte == b'\n');
                    let line = line.unwrap_or(data.len() - whole);
                    self.over();
                    return data.split_to(whole + line.div_ceil(2));
                }
                data.split_to(whole)
            }
            Effect::Garble { skip, count } => garble(&data, skip, count),
            Effect::Silence { .. } => Bytes::new(),
            Effect::None | Effect::Breaking | Effect::Over => data,
        }
    }
}

impl Body for FaultBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Next> {
        let body = &mut *self;
        loop {
            if let Some(done) = body.act(cx) {
                return done;
            }
            let plain = matches!(body.effect, Effect::None);
            match ready!(Pin::new(&mut body.inner).poll_frame(cx)) {
                Some(Ok(frame)) if plain => return Poll::Ready(Some(Ok(frame))),
                Some(Ok(frame)) => {
                    // Trailers follow the last byte, which may never arrive.
                    let Ok(data) = frame.into_data() else { continue };
                    let passed = body.pass(data);
                    if !passed.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(passed))));
                    }
                }
                end => return Poll::Ready(end),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self.effect {
            Effect::None => self.inner.is_end_stream(),
            Effect::Over => true,
            _ => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self.effect {
            Effect::None | Effect::Garble { .. } => self.inner.size_hint(),
            _ => SizeHint::default(),
        }
    }
}

fn garble(data: &Bytes, skip: &mut u64, count: &mut u64) -> Bytes {
    let length = data.len() as u64;
    let (start, before) = ((*skip).min(length), *skip);
    *skip = before.saturating_sub(length);
    let garbled = (*count).min(length - start);
    *count -= garbled;
    let (start, garbled) = (start as usize, garbled as usize);
    let mut out = BytesMut::with_capacity(data.len());
    out.extend_from_slice(&data[..start]);
    out.resize(start + garbled, 0xff);
    out.extend_from_slice(&data[start + garbled..]);
    out.freeze()
}

/// Returns the error of a broken connection.
pub(super) fn reset() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by the fault proxy")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::stream;
    use http_body_util::StreamBody;
    use proptest::prelude::*;

    use super::*;

    /// Passes `text` through a fault in pieces of `size` bytes; returns the received text, and whether it broke.
    async fn through(text: &str, size: usize, fault: &Fault) -> (String, bool) {
        let pieces: Vec<Bytes> = text.as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
        let frames = pieces.into_iter().map(|piece| Ok::<_, BoxError>(Frame::data(piece)));
        let mut body = FaultBody::new(StreamBody::new(stream::iter(frames)), Some(fault));
        let mut out = Vec::new();
        loop {
            match body.frame().await {
                None => return (String::from_utf8_lossy(&out).into_owned(), false),
                Some(Err(_)) => return (String::from_utf8_lossy(&out).into_owned(), true),
                Some(Ok(frame)) => out.extend_from_slice(&frame.into_data().unwrap()),
            }
        }
    }

    #[tokio::test]
    async fn fault_position_does_not_depend_on_chunks() {
        let text = "one\ntwo\nthree\n";
        let expired = format!("one\n{}", String::from_utf8(answer::expired().to_vec()).unwrap());
        let cases = [
            (Fault::EndWatch(0), "", false),
            (Fault::EndWatch(2), "one\ntwo\n", false),
            (Fault::EndWatch(9), text, false),
            (Fault::EndWatchAfterBytes(5), "one\nt", false),
            (Fault::DropAnswerAfter(0), "", true),
            (Fault::DropAnswerAfter(5), "one\nt", true),
            (Fault::DropAnswerAfter(99), text, false),
            (Fault::ExpireWatch(1), expired.as_str(), false),
            (Fault::Garble { at: 1, count: 0 }, text, false),
            (Fault::Garble { at: 3, count: 4 }, "one\u{fffd}\u{fffd}\u{fffd}\u{fffd}\nthree\n", false),
            (Fault::Garble { at: 99, count: 4 }, text, false),
        ];
        for size in 1..=text.len() {
            for (fault, expected, broken) in &cases {
                assert_eq!(
                    through(text, size, fault).await,
                    ((*expected).to_owned(), *broken),
                    "{fault} {size}"
                );
            }
        }
    }

    #[tokio::test]
    async fn truncated_watch_ends_within_an_event() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(through(text, 100, &Fault::TruncateWatch(2)).await, ("one\ntwo\nthr".to_owned(), false));
        assert_eq!(through(text, 4, &Fault::TruncateWatch(2)).await, ("one\ntwo\nth".to_owned(), false));
        assert_eq!(through(text, 4, &Fault::TruncateWatch(1)).await, ("one\ntw".to_owned(), false));
    }

    #[tokio::test(start_paused = true)]
    async fn silent_watch_ends_at_its_limit_or_with_the_response() {
        assert_eq!(through("one\n", 1, &Fault::SilenceWatch(None)).await, (String::new(), false));
        let never = StreamBody::new(stream::pending::<Result<Frame<Bytes>, BoxError>>());
        let fault = Fault::SilenceWatch(Some(Duration::from_secs(3600)));
        let mut body = FaultBody::new(never, Some(&fault));
        let start = tokio::time::Instant::now();
        assert!(body.frame().await.is_none());
        assert_eq!(start.elapsed().as_secs(), 3600);
    }

    proptest! {
        /// With each fault, the client gets a prefix of the body, apart from garbled bytes and an event of the
        /// proxy's own: nothing is lost from the middle or reordered.
        #[test]
        fn faulty_body_is_a_prefix_of_the_original(
            lines in prop::collection::vec("[a-z]{0,9}", 0..9), size in 1_usize..20, n in 0_u64..90, kind in 0..4,
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let fault = match kind {
                0 => Fault::EndWatch(n % 9),
                1 => Fault::EndWatchAfterBytes(n),
                2 => Fault::DropAnswerAfter(n),
                _ => Fault::TruncateWatch(n % 9),
            };
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (out, _) = runtime.block_on(through(&text, size, &fault));
            prop_assert!(text.starts_with(&out));
        }
    }
}
