//! The same server over TLS, with HTTP/2 or HTTP/1.1 as the client chooses: an event is a frame or chunk of its own.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::server::{self, Server};

type Parts = Vec<Bytes>;

/// Starts to serve on a thread of its own; returns the address and the certificate in hexadecimal digits.
pub fn serve(server: &Arc<Server>) -> std::io::Result<String> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let (acceptor, certificate) = acceptor();
    let address = listener.local_addr()?;
    let server = Arc::clone(server);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(accept(&server, listener, acceptor));
    });
    let digits: String = certificate.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{address} {digits}"))
}

fn acceptor() -> (TlsAcceptor, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let certificate = made.cert.der().clone();
    let bytes = certificate.to_vec();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.expect("versions").with_no_client_auth().with_single_cert(vec![certificate], key);
    let mut config = config.expect("a key that fits");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (TlsAcceptor::from(Arc::new(config)), bytes)
}

async fn accept(server: &Arc<Server>, listener: std::net::TcpListener, acceptor: TlsAcceptor) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
    while let Ok((stream, _)) = listener.accept().await {
        let (server, acceptor) = (Arc::clone(server), acceptor.clone());
        tokio::spawn(async move {
            stream.set_nodelay(true).expect("a socket has the option");
            // A client that disconnects ends its connection.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(move |request| answer(Arc::clone(&server), request));
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    server: Arc<Server>,
    request: Request<Incoming>,
) -> Result<Response<StreamBody<impl futures::Stream<Item = Result<Frame<Bytes>, Infallible>>>>, Infallible> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let request = server::Request::parse(target);
    let (sender, receiver) = mpsc::channel::<Parts>(4);
    if request.get("watch").is_some() {
        tokio::task::spawn_blocking(move || {
            let gone = |_| std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            let ended = server
                .watch(&request, &mut |events| sender.blocking_send(events.drain().collect()).map_err(gone));
            drop(ended);
        });
    } else {
        sender.send(server.list(&request).into()).await.expect("the receiver is here");
    }
    let parts = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
    let frames = parts.flat_map(|parts| stream::iter(parts.into_iter().map(|part| Ok(Frame::data(part)))));
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(StreamBody::new(frames)).expect("a header that fits"))
}
