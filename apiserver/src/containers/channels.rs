//! The streams of a command as channels of a WebSocket: the subprotocols `v4.channel.k8s.io` and `v5.channel.k8s.io`.
//!
//! Source: pkg/streaming/remotecommand/websocket.go and exec.go of `k8s.io/cri-streaming`, and `k8s.io/streaming`'s wsstream.

use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Mutex, watch as signal};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::exec::Ends;
use super::{Container, Exec, Runner};
use crate::status::{ApiError, ApiResult};

/// The subprotocols, the best first. From version 5 on a client can close its input.
pub(crate) const PROTOCOLS: &[&str] = &["v5.channel.k8s.io", "v4.channel.k8s.io"];

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const STATUS: u8 = 3;
/// The client closes the channel whose number follows.
const CLOSE: u8 = 255;
/// The limit of buffered input for a command that does not read it, in bytes. A client that sends more waits.
const MOST_INPUT: usize = 64 * 1024 * 1024;
/// The size limit of a message, in bytes.
const MESSAGE: usize = 8 * 1024;

/// The time that a client has to confirm the close.
const PATIENCE: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<TokioIo<Upgraded>>;
type Sink = Mutex<SplitSink<Socket, Message>>;

/// A command before the upgrade of its client's connection.
pub(crate) struct Session {
    pub(crate) container: Container,
    pub(crate) command: Vec<String>,
    pub(crate) runner: Runner,
    /// The options of the request (`PodExecOptions`, `PodAttachOptions`).
    pub(crate) options: Value,
}

/// Checks that a client requests a stream (`NewOptions` of cri-streaming's remotecommand).
pub(crate) fn check_streams(options: &Value) -> ApiResult<()> {
    let asks = ["stdin", "stdout", "stderr"].iter().any(|stream| options[stream] == true);
    if asks {
        return Ok(());
    }
    Err(ApiError::bad_request("you must specify at least 1 of stdin, stdout, stderr"))
}

impl Session {
    /// Runs the command and copies its streams until it ends, the client leaves or the server stops.
    pub(crate) async fn run(self, connection: OnUpgrade, mut stopping: signal::Receiver<bool>) {
        let io = tokio::select! {
            io = connection => io,
            () = stopped(&mut stopping) => return,
        };
        // The client left before the upgrade.
        let Ok(io) = io else { return };
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(io), Role::Server, None).await;
        let (sink, mut incoming) = socket.split();
        let sink = Mutex::new(sink);
        let asks = |stream: &str| self.options[stream] == true;
        let tty = asks("tty");
        // A terminal has one output.
        let (stdin, stdout, stderr) = (asks("stdin"), asks("stdout"), asks("stderr") && !tty);
        let failed = format!("error executing command {}", shown(&self.command));
        let (exec, Ends { stdin: input, stdout: output, stderr: errors }) =
            Exec::new(self.container, self.command, tty);
        let first = if stdout { STDOUT } else { STDERR };
        // An empty message tells the client that it is connected.
        if (stdout || stderr) && !send(&sink, first, &[]).await {
            return;
        }
        let work = async {
            let streams = async {
                tokio::join!(
                    pump(output, stdout.then_some(STDOUT), &sink),
                    pump(errors, stderr.then_some(STDERR), &sink)
                )
            };
            tokio::join!(self.runner.run(exec), streams).0
        };
        let code = tokio::select! {
            code = work => {
                let status = serde_json::to_vec(&status(code, &failed)).unwrap_or_default();
                send(&sink, STATUS, &status).await;
                CloseCode::Normal
            }
            () = receive(&mut incoming, input, stdin) => CloseCode::Normal,
            () = stopped(&mut stopping) => CloseCode::Away,
        };
        close(&sink, &mut incoming, code).await;
    }
}

/// Waits until the server stops.
async fn stopped(stopping: &mut signal::Receiver<bool>) {
    // A dropped sender means that the server has stopped.
    let _ = stopping.wait_for(|stops| *stops).await;
}

/// Closes a connection and waits for the client's confirmation: unread data is lost with the connection.
async fn close(sink: &Sink, incoming: &mut SplitStream<Socket>, code: CloseCode) {
    let frame = CloseFrame { code, reason: "".into() };
    if sink.lock().await.send(Message::Close(Some(frame))).await.is_err() {
        // The client has left.
        return;
    }
    let heard = async { while let Some(Ok(_)) = incoming.next().await {} };
    let _ = tokio::time::timeout(PATIENCE, heard).await;
}

/// Formats a list of words as Go's `%v` does.
fn shown(words: &[String]) -> String {
    format!("[{}]", words.join(" "))
}

/// Builds the status of a command's end.
fn status(code: i32, failed: &str) -> Value {
    if code == 0 {
        return json!({"metadata": {}, "status": "Success"});
    }
    json!({"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
           "message": format!("command terminated with non-zero exit code: {failed}, exit code {code}"),
           "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]}})
}

/// Sends bytes on a channel and reports whether that succeeded.
async fn send(sink: &Sink, channel: u8, bytes: &[u8]) -> bool {
    let message = [&[channel], bytes].concat();
    sink.lock().await.send(Message::Binary(message.into())).await.is_ok()
}

/// Copies a stream of the command to its channel until it ends; without a channel the data is dropped.
async fn pump(mut stream: impl AsyncRead + Unpin, channel: Option<u8>, sink: &Sink) {
    let mut buffer = vec![0; MESSAGE];
    loop {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => {
                if let Some(channel) = channel {
                    // `receive` notices a client that left.
                    send(sink, channel, &buffer[..length]).await;
                }
            }
        }
    }
}

/// Copies the client's input to the command until the client leaves. Resizes of the terminal are ignored.
///
/// Input that the command has not read is buffered, up to a limit, so that the client's leaving is noticed meanwhile.
async fn receive(incoming: &mut SplitStream<Socket>, stdin: DuplexStream, wanted: bool) {
    let mut stdin = wanted.then_some(stdin);
    let (mut kept, mut closed) = (BytesMut::new(), false);
    loop {
        let message = tokio::select! {
            message = incoming.next(), if kept.len() < MOST_INPUT => message,
            written = write_some(&mut stdin, &kept), if !kept.is_empty() => {
                match written {
                    Ok(length) => kept.advance(length),
                    // The command closed its input, so the rest is dropped.
                    Err(_) => stdin = None,
                }
                continue;
            }
            () = std::future::ready(()), if closed && stdin.is_some() && kept.is_empty() => {
                stdin = None;
                continue;
            }
        };
        let Some(Ok(message)) = message else { return };
        let bytes = match message {
            Message::Binary(bytes) => bytes,
            Message::Text(text) => text.into(),
            Message::Close(_) => return,
            _ => continue,
        };
        match bytes.split_first() {
            Some((&STDIN, bytes)) if !closed && stdin.is_some() => kept.extend_from_slice(bytes),
            Some((&CLOSE, [STDIN])) => closed = true,
            _ => {}
        }
        if stdin.is_none() {
            kept.clear();
        }
    }
}

async fn write_some(stdin: &mut Option<DuplexStream>, bytes: &[u8]) -> std::io::Result<usize> {
    match stdin {
        Some(stdin) => stdin.write(bytes).await,
        None => Ok(bytes.len()),
    }
}
