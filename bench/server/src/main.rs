//! Times the embedded API server: start, writes, lists, watches, and its memory.
//!
//! ```text
//! cargo run --release -p kubesmith-bench-server
//! ```
//!
//! Client and server share the process. Lists and watches are read as bytes, so that the client's parsing is not measured.

#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first thing that goes wrong")]

mod load;

use std::path::Path;
use std::time::{Duration, Instant};

use kube::Client;
use kubesmith_testenv::TestEnv;
use kubesmith_testenv::fake::Fake;

/// The number of objects that are listed, watched and kept in memory.
const OBJECTS: usize = 10_000;
const WATCHERS: usize = 100;
/// The argument of a process that measures its own memory.
const MEMORY: &str = "memory";

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(MEMORY) => println!("{}", memory(arguments.get(1).map(Path::new)).await),
        Some(other) => panic!("unknown argument {other}"),
        None => tables().await,
    }
}

async fn tables() {
    println!("object: {} bytes of JSON as stored\n", load::stored_size().await);
    println!("start to ready (ms)");
    starts().await;
    println!("\ncreates per second      1 writer   32 writers");
    creates().await;
    println!(
        "\n{OBJECTS} objects         list (ms)      MB   {WATCHERS} watches of {OBJECTS} creates (s)   events/s"
    );
    reads().await;
    println!("\nresident memory (MB)      empty   with {OBJECTS} objects");
    for (name, data) in [("memory", None), ("disk", Some(tempfile::tempdir().unwrap()))] {
        let (empty, full) = memory_of_child(data.as_ref().map(tempfile::TempDir::path));
        println!("  {name:<18} {empty:>10.1} {full:>10.1}");
    }
}

/// Starts an environment in memory or in a folder, with the CRD installed.
async fn environment(data: Option<&Path>) -> TestEnv {
    let mut builder = TestEnv::builder().crds([load::crd()]);
    if let Some(data) = data {
        builder = builder.data_dir(data);
    }
    builder.start().await.unwrap()
}

/// Returns a client in the process, or one over TLS.
async fn client(env: &mut TestEnv, tls: bool) -> Client {
    if tls { Client::try_from(env.config().await.unwrap()).unwrap() } else { env.client() }
}

async fn starts() {
    let line = |name: &str, times: Vec<Duration>| println!("  {name:<34} {:>8.1}", ms(middle(times)));
    let mut times = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..9 {
        let start = Instant::now();
        let mut env = TestEnv::builder().start().await.unwrap();
        times.0.push(start.elapsed());
        env.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
        times.1.push(start.elapsed());
        env.stop().await;
        let data = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let env = TestEnv::builder().data_dir(data.path()).start().await.unwrap();
        times.2.push(start.elapsed());
        env.stop().await;
    }
    line("in process, memory", times.0);
    line("with a TLS socket, memory", times.1);
    line("in process, empty folder", times.2);
    line("a fake with a CRD", fakes());
    let data = tempfile::tempdir().unwrap();
    let env = environment(Some(data.path())).await;
    load::create(&env.client(), "o", OBJECTS, 32).await;
    env.stop().await;
    let start = Instant::now();
    let env = TestEnv::builder().data_dir(data.path()).start().await.unwrap();
    line(&format!("in process, folder with {OBJECTS}"), vec![start.elapsed()]);
    env.stop().await;
}

fn fakes() -> Vec<Duration> {
    let times = (0..50).map(|_| {
        let start = Instant::now();
        drop(Fake::<Client>::builder().crds([load::crd()]).build().expect("the CRD is valid"));
        start.elapsed()
    });
    times.collect()
}

async fn creates() {
    for (place, disk) in [("memory", false), ("disk", true)] {
        for (way, tls) in [("in process", false), ("TLS", true)] {
            let data = disk.then(|| tempfile::tempdir().unwrap());
            let mut env = environment(data.as_ref().map(tempfile::TempDir::path)).await;
            let client = client(&mut env, tls).await;
            let mut rates = Vec::new();
            for writers in [1, 32] {
                let count = if disk && writers == 1 { 500 } else { 8_000 };
                let start = Instant::now();
                load::create(&client, &format!("o{writers}"), count, writers).await;
                rates.push(count as f64 / start.elapsed().as_secs_f64());
            }
            println!("  {place:<8} {way:<12} {:>8.0} {:>12.0}", rates[0], rates[1]);
            env.stop().await;
        }
    }
}

async fn reads() {
    for (way, tls) in [("in process", false), ("TLS", true)] {
        let mut env = environment(None).await;
        let client = client(&mut env, tls).await;
        let start = Instant::now();
        let watching = load::watch(&client, WATCHERS, OBJECTS).await;
        let begun = start.elapsed();
        let start = Instant::now();
        load::create(&client, "o", OBJECTS, 32).await;
        watching.join_all().await;
        let watched = start.elapsed();
        let mut lists = Vec::new();
        let mut size = 0;
        for _ in 0..9 {
            let start = Instant::now();
            size = load::list(&client).await;
            lists.push(start.elapsed());
        }
        let rate = (WATCHERS * OBJECTS) as f64 / watched.as_secs_f64();
        println!(
            "  {way:<18} {:>10.1} {:>7.1} {:>20.2} (opened in {:.0} ms) {:>12.0}",
            ms(middle(lists)),
            size as f64 / 1e6,
            watched.as_secs_f64(),
            ms(begun),
            rate,
        );
        env.stop().await;
    }
}

/// Returns the resident memory of a server before and after it got its objects, in kB.
async fn memory(data: Option<&Path>) -> String {
    let env = environment(data).await;
    let empty = resident();
    load::create(&env.client(), "o", OBJECTS, 32).await;
    let full = resident();
    env.stop().await;
    format!("{empty} {full}")
}

/// [`memory`] of a process of its own, in MB.
fn memory_of_child(data: Option<&Path>) -> (f64, f64) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let out = command.arg(MEMORY).args(data).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let (empty, full) = text.trim().split_once(' ').unwrap();
    (empty.parse::<f64>().unwrap() / 1e3, full.parse::<f64>().unwrap() / 1e3)
}

/// Returns this process's resident memory in kB, from Linux.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
