//! Clients over sockets: versions of HTTP, compression, limits.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, USER_AGENT};
use http::{HeaderMap, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::client::Body;
use kubesmith_runtime::client::{
    ClientOptions, HttpVersion, RestClient, TypedClient, connect, connect_with_options,
};
use kubesmith_runtime::informer::{InformerOptions, SharedInformer};
use kubesmith_testenv::TestEnv;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::counting_proxy::CountingProxy;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn map(name: &str) -> ConfigMap {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

pub(crate) fn maps(client: &kube::Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), "default")
}

pub(crate) async fn informers(client: &kube::Client, count: usize) -> Vec<SharedInformer<ConfigMap>> {
    let informers: Vec<_> = (0..count)
        .map(|_| SharedInformer::new(client.clone(), InformerOptions::new().namespace("default")))
        .collect();
    informers.iter().for_each(SharedInformer::start);
    for informer in &informers {
        informer.wait_for_sync(PATIENCE).await.unwrap();
    }
    informers
}

pub(crate) async fn show(informers: &[SharedInformer<ConfigMap>], name: &str) {
    let shown = async {
        for informer in informers {
            while informer.store().get("default", name).is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    tokio::time::timeout(PATIENCE, shown).await.expect("the informers follow");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundred_informers_share_few_connections() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let (config, counter) = CountingProxy::config(&mut env).await;
    let client = connect(config).await.unwrap();
    let all = informers(&client, 100).await;
    maps(&client).create(&PostParams::default(), &map("seen")).await.unwrap();
    show(&all, "seen").await;
    assert!(counter.opened() <= 2 * 2, "{} connections were opened", counter.opened());
    for informer in &all {
        informer.shutdown().await;
    }
    maps(&client).delete("seen", &DeleteParams::default()).await.unwrap();
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_connection_causes_another_one() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let (config, counter) = CountingProxy::config(&mut env).await;
    let options = ClientOptions::new().max_streams_per_connection(4);
    let client = connect_with_options(config, options).await.unwrap();
    let mut all = informers(&client, 10).await;
    // hyper may open a second connection for a request that arrives just when the first one becomes ready.
    let few = 3..=2 * 3;
    assert!(few.contains(&counter.open()), "{} connections are open", counter.open());
    // Places that become free are taken again.
    for _ in 0..5 {
        for informer in all.drain(..6) {
            informer.shutdown().await;
        }
        all.extend(informers(&client, 6).await);
    }
    maps(&client).create(&PostParams::default(), &map("seen")).await.unwrap();
    show(&all, "seen").await;
    assert!(few.contains(&counter.opened()), "{} connections were opened", counter.opened());
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_http_1_watch_has_its_own_connection() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let (config, counter) = CountingProxy::config(&mut env).await;
    let options = ClientOptions::new().http_version(HttpVersion::Http1);
    let client = connect_with_options(config, options).await.unwrap();
    let all = informers(&client, 5).await;
    maps(&client).create(&PostParams::default(), &map("seen")).await.unwrap();
    show(&all, "seen").await;
    assert!(counter.open() >= 5, "{} connections are open", counter.open());
    env.stop().await;
}

/// Whose certificate a connection has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Peer(pub(crate) Option<Vec<u8>>);

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, kube::Error>>;

/// A server that answers requests with a function.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start<F, A>(tls: Option<TlsAcceptor>, answer: F) -> Self
    where
        F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let (tls, answer) = (tls.clone(), answer.clone());
                connections.spawn(async move {
                    let http = hyper::server::conn::http1::Builder::new();
                    let service = |peer: Peer| {
                        hyper::service::service_fn(move |mut request| {
                            request.extensions_mut().insert(peer.clone());
                            let answer = answer(request);
                            async move { Ok::<_, std::convert::Infallible>(answer.await) }
                        })
                    };
                    let _ = match tls {
                        None => http.serve_connection(TokioIo::new(socket), service(Peer(None))).await,
                        Some(tls) => {
                            let Ok(socket) = tls.accept(socket).await else { return };
                            let certificates = socket.get_ref().1.peer_certificates();
                            let peer = Peer(certificates.map(|certificates| certificates[0].to_vec()));
                            http.serve_connection(TokioIo::new(socket), service(peer)).await
                        }
                    };
                });
            }
        });
        Self { addr, _tasks: tasks }
    }

    pub(crate) fn config(&self) -> kube::Config {
        kube::Config::new(format!("http://{}", self.addr).parse().unwrap())
    }
}

/// Passes a request on to the server.
pub(crate) async fn forward(client: &kube::Client, request: Request<Incoming>) -> Answer {
    let (mut head, body) = request.into_parts();
    head.headers.remove(ACCEPT_ENCODING);
    let body = body.collect().await.unwrap().to_bytes();
    let answer = client.send(Request::from_parts(head, Body::from(body))).await.unwrap();
    answer.map(BodyExt::boxed_unsync)
}

pub(crate) fn text(code: u16, text: &'static str) -> Answer {
    let body = Full::new(Bytes::from_static(text.as_bytes())).map_err(|never| match never {});
    Response::builder().status(code).body(body.boxed_unsync()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_uses_http_1_when_the_server_offers_nothing_else() {
    let key = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.signing_key.serialize_der()));
    let mut tls = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![key.cert.der().clone()], private)
        .unwrap();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    let env = TestEnv::builder().start().await.unwrap();
    let real = env.client();
    let server = Server::start(Some(TlsAcceptor::from(Arc::new(tls))), move |request| {
        let real = real.clone();
        async move { forward(&real, request).await }
    })
    .await;
    let counter = CountingProxy::before(server.addr).await;
    let mut config = kube::Config::new(format!("https://{}", counter.addr).parse().unwrap());
    config.root_cert = Some(vec![key.cert.der().to_vec()]);
    let client = connect(config).await.unwrap();
    client.apiserver_version().await.unwrap();
    assert_eq!(counter.opened(), 1, "the first connection is used, whatever it turns out to be");
    let all = informers(&client, 3).await;
    maps(&client).create(&PostParams::default(), &map("seen")).await.unwrap();
    show(&all, "seen").await;
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_server_is_named_in_every_error() {
    // No process listens, and no other process can.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = socket.local_addr().unwrap();
    let client = connect(kube::Config::new(format!("https://{addr}").parse().unwrap())).await.unwrap();
    let typed: TypedClient<ConfigMap> =
        TypedClient::namespaced(RestClient::new(client.clone(), "", "v1"), "default");
    let asked = (0..20).map(|_| typed.get("a"));
    for answer in futures::future::join_all(asked).await {
        let error = answer.unwrap_err().to_string();
        assert!(error.starts_with("cannot get configmaps \"default/a\": "), "{error}");
        assert!(error.contains("refused"), "{error}");
    }
}

/// An address on which no process listens any more, and no other process can.
async fn held(addr: SocketAddr) -> TcpSocket {
    loop {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        match socket.bind(addr) {
            Ok(()) => return socket,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn informers_recover_with_the_server_and_report_the_last_error() {
    let mut env = TestEnv::builder().start().await.unwrap();
    let (config, counter) = CountingProxy::config(&mut env).await;
    let client = connect(config).await.unwrap();
    let all = informers(&client, 10).await;
    let errors: Arc<Mutex<Vec<String>>> = Arc::default();
    let (addr, opened) = (counter.addr, counter.opened());
    drop(counter);
    let address = held(addr).await;
    let waiting = async {
        while all.iter().any(|informer| informer.last_error().is_none_or(|error| !error.contains("refused")))
        {
            let seen = all.iter().filter_map(SharedInformer::last_error);
            errors.lock().unwrap().extend(seen);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "the reason is not told: {:?}", errors.lock().unwrap().last());
    maps(&env.client()).create(&PostParams::default(), &map("meanwhile")).await.unwrap();
    let server = env.config().await.unwrap().cluster_url.authority().unwrap().as_str().parse().unwrap();
    let counter = CountingProxy::at(address.listen(1024).unwrap(), server);
    show(&all, "meanwhile").await;
    assert!(opened <= 2 && counter.opened() <= 2, "{opened} and {} connections", counter.opened());
    env.stop().await;
}

/// An HTTP/2 server that sends GOAWAY on request: running requests continue, and new ones need another
/// connection, as with kube-apiserver's `--goaway-chance`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn goaway_does_not_end_requests() {
    let host = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(host.signing_key.serialize_der()));
    let tls = ServerConfig::builder().with_no_client_auth();
    let mut tls = tls.with_single_cert(vec![host.cert.der().clone()], private).unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let (tls, env) = (TlsAcceptor::from(Arc::new(tls)), TestEnv::builder().start().await.unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (away, opened) = (tokio::sync::watch::Sender::new(0), Arc::new(AtomicUsize::new(0)));
    let (goaway, counted, real) = (away.clone(), Arc::clone(&opened), env.client());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let socket = TokioIo::new(tls.accept(socket).await.unwrap());
            let (real, mut goaway) = (real.clone(), goaway.subscribe());
            let service = hyper::service::service_fn(move |request| {
                let real = real.clone();
                async move { Ok::<_, std::convert::Infallible>(forward(&real, request).await) }
            });
            tokio::spawn(async move {
                let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                let mut connection = std::pin::pin!(http.serve_connection(socket, service));
                tokio::select! {
                    _ = connection.as_mut() => return,
                    _ = goaway.changed() => connection.as_mut().graceful_shutdown(),
                }
                let _ = connection.await;
            });
        }
    });
    let mut config = kube::Config::new(format!("https://{addr}").parse().unwrap());
    config.root_cert = Some(vec![host.cert.der().to_vec()]);
    let client = connect(config).await.unwrap();
    let all = informers(&client, 5).await;
    for round in 1..4 {
        away.send_replace(round);
        tokio::time::sleep(Duration::from_millis(50)).await;
        let requests = (0..10).map(|at| {
            let maps = maps(&client);
            async move { maps.create(&PostParams::default(), &map(&format!("m{round}-{at}"))).await }
        });
        for answer in futures::future::join_all(requests).await {
            answer.unwrap();
        }
        for at in 0..10 {
            show(&all, &format!("m{round}-{at}")).await;
        }
    }
    assert!(all.iter().all(|informer| informer.last_error().is_none()));
    let opened = opened.load(Ordering::Relaxed);
    assert!((2..=8).contains(&opened), "{opened} connections");
    env.stop().await;
}

/// Compresses each chunk of a response as it comes, so that the client can read it at once.
fn compressed(answer: Answer, members: bool, cut: &Arc<AtomicBool>) -> Answer {
    let cut = Arc::clone(cut);
    let (mut head, mut body) = answer.into_parts();
    head.headers.remove(http::header::CONTENT_LENGTH);
    head.headers.insert(CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
    let (sender, receiver) = futures::channel::mpsc::unbounded();
    tokio::spawn(async move {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            encoder.write_all(&data).unwrap();
            let out = if members {
                let whole = std::mem::replace(&mut encoder, GzEncoder::new(Vec::new(), Compression::fast()));
                whole.finish().unwrap()
            } else {
                encoder.flush().unwrap();
                std::mem::take(encoder.get_mut())
            };
            if cut.swap(false, Ordering::Relaxed) {
                let half = Bytes::copy_from_slice(&out[..out.len() / 2]);
                let _ = sender.unbounded_send(Ok(http_body::Frame::data(half)));
                return;
            }
            if sender.unbounded_send(Ok(http_body::Frame::data(out.into()))).is_err() {
                return;
            }
        }
        if !members {
            let _ = sender.unbounded_send(Ok(http_body::Frame::data(encoder.finish().unwrap().into())));
        }
    });
    Response::from_parts(head, StreamBody::new(receiver).boxed_unsync())
}

/// An informer follows a server that compresses, even if responses are cut off.
async fn follows_compressed(members: bool, paged: bool) {
    let env = TestEnv::builder().start().await.unwrap();
    let direct = maps(&env.client());
    for at in 0..50 {
        direct.create(&PostParams::default(), &map(&format!("before-{at}"))).await.unwrap();
    }
    let (real, cut) = (env.client(), Arc::new(AtomicBool::new(true)));
    let (compressed_answers, cutting) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&cut));
    let counted = Arc::clone(&compressed_answers);
    let server = Server::start(None, move |request: Request<Incoming>| {
        let wanted = request.headers().get(ACCEPT_ENCODING).is_some_and(|value| value == "gzip");
        let (real, cut, counted) = (real.clone(), Arc::clone(&cutting), Arc::clone(&counted));
        async move {
            let answer = forward(&real, request).await;
            if !wanted {
                return answer;
            }
            counted.fetch_add(1, Ordering::Relaxed);
            compressed(answer, members, &cut)
        }
    })
    .await;
    let client = connect_with_options(server.config(), ClientOptions::new().gzip(true)).await.unwrap();
    let options = InformerOptions::new().namespace("default").seed(1);
    let options = if paged { options.paged_lists() } else { options };
    let informer = SharedInformer::<ConfigMap>::new(client.clone(), options);
    let errors = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&errors);
    informer.set_watch_error_handler(move |error| hook.lock().unwrap().push(error.to_string())).unwrap();
    informer.start();
    informer.wait_for_sync(PATIENCE).await.unwrap();
    assert!(errors.lock().unwrap()[0].contains("cut off"), "{:?}", errors.lock().unwrap());
    for at in 0..3 {
        cut.store(true, Ordering::Relaxed);
        direct.create(&PostParams::default(), &map(&format!("during-{at}"))).await.unwrap();
        show(std::slice::from_ref(&informer), &format!("during-{at}")).await;
    }
    assert!(informer.store().len() >= 53);
    assert!(compressed_answers.load(Ordering::Relaxed) >= 4);
    let listed = maps(&client).list(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items.len(), informer.store().len());
    informer.shutdown().await;
    env.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compressed_watches_are_read_as_they_arrive() {
    follows_compressed(false, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_that_are_compressed_event_by_event_are_read() {
    follows_compressed(true, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_sends_its_user_agent() {
    let seen: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
    let headers = Arc::clone(&seen);
    let server = Server::start(None, move |request: Request<Incoming>| {
        headers.lock().unwrap().push(request.headers().clone());
        async { text(200, r#"{"major":"1","minor":"36","gitVersion":"v1.36.0","gitCommit":"","gitTreeState":"","buildDate":"","goVersion":"","compiler":"","platform":""}"#) }
    })
    .await;
    let options = ClientOptions::new().user_agent("balancer/7");
    let client = connect_with_options(server.config(), options).await.unwrap();
    client.apiserver_version().await.unwrap();
    let headers = seen.lock().unwrap().pop().unwrap();
    assert_eq!(headers[USER_AGENT], "balancer/7");
    assert_eq!(headers.get(ACCEPT_ENCODING), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clones_of_a_client_share_its_rate_limit() {
    let seen: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
    let counted = Arc::clone(&seen);
    let server = Server::start(None, move |request: Request<Incoming>| {
        *counted.lock().unwrap().entry(request.uri().path().to_owned()).or_default() += 1;
        async { text(404, "{}") }
    })
    .await;
    let options = ClientOptions::new().rate_limit(0.01, 3);
    let client = connect_with_options(server.config(), options).await.unwrap();
    let request = |_| {
        let maps = maps(&client.clone());
        async move { maps.get("a").await }
    };
    let mut answers: FuturesUnordered<_> = (0..6).map(request).collect();
    for _ in 0..3 {
        let answer = tokio::time::timeout(PATIENCE, answers.next()).await.expect("there is room for three");
        assert!(matches!(answer, Some(Err(_))));
    }
    let more = tokio::time::timeout(Duration::from_millis(200), answers.next()).await;
    assert!(more.is_err(), "a fourth waits: {more:?}");
    assert_eq!(seen.lock().unwrap().values().sum::<usize>(), 3);
}
