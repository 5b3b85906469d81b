//! The body of a response: decompressed, timed, and counted among its connection's streams.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use kube::client::Body;
use tokio::time::{Instant, Sleep};
use tower::BoxError;

use super::TimedOut;
use super::connections::Stream;
use super::gzip::Gunzip;
use super::metrics::Timer;

/// A body as received.
pub(crate) struct Wire {
    source: Source,
    pub(super) gunzip: Option<Box<Gunzip>>,
}

enum Source {
    Direct {
        body: Incoming,
        /// Held until the body has been read or dropped.
        _stream: Option<Stream>,
    },
    /// A body of kube's own stack.
    Kube(Body),
}

impl Wire {
    pub(super) fn direct(body: Incoming, stream: Option<Stream>) -> Self {
        Self { source: Source::Direct { body, _stream: stream }, gunzip: None }
    }

    pub(super) fn kube(body: Body) -> Self {
        Self { source: Source::Kube(body), gunzip: None }
    }
}

impl Source {
    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self {
            Self::Direct { body, .. } => Pin::new(body).poll_frame(context).map_err(Into::into),
            Self::Kube(body) => Pin::new(body).poll_frame(context).map_err(Into::into),
        }
    }
}

impl HttpBody for Wire {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Self { source, gunzip } = &mut *self;
        let Some(gunzip) = gunzip else { return source.poll_frame(context) };
        loop {
            if let Some(data) = gunzip.next()? {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            match ready!(source.poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => gunzip.push(data),
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(gunzip.finish()?.map(|data| Ok(Frame::data(data)))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match (&self.gunzip, &self.source) {
            (Some(_), _) => false,
            (None, Source::Direct { body, .. }) => body.is_end_stream(),
            (None, Source::Kube(body)) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.gunzip, &self.source) {
            (Some(_), _) => SizeHint::default(),
            (None, Source::Direct { body, .. }) => body.size_hint(),
            (None, Source::Kube(body)) => body.size_hint(),
        }
    }
}

/// The body that the caller reads.
pub(crate) struct AnswerBody {
    wire: Wire,
    deadline: Option<(Pin<Box<Sleep>>, Duration)>,
    /// Held until the body has been read or dropped.
    timer: Option<Timer>,
}

impl AnswerBody {
    /// Makes a body with an optional deadline and the timeout that set it.
    pub(super) fn new(wire: Wire, deadline: Option<(Instant, Duration)>, timer: Option<Timer>) -> Self {
        let deadline = deadline.map(|(at, timeout)| (Box::pin(tokio::time::sleep_until(at)), timeout));
        Self { wire, deadline, timer }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some((deadline, timeout)) = &mut self.deadline
            && deadline.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Some(Err(TimedOut(*timeout).into())));
        }
        let frame = ready!(Pin::new(&mut self.wire).poll_frame(context));
        if frame.is_none() {
            self.timer = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.wire.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.wire.size_hint()
    }
}
