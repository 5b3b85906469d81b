//! Compares the runtime with kube-runtime, back to back on loopback.
//!
//! `cargo run --release [ROUNDS [ROW]]` prints, for each row, the medians of the rounds and the ratios to kube-runtime.
//! Each contender runs in a process of its own, one after the other within a round, so that the machine's moods hit
//! all alike; the server, which is another process, has all its bytes before the first request.

mod measure;
mod ours;
mod peer;
mod probe;
mod queue;
mod rows;
mod seen;
mod server;
mod shapes;
mod tls;
mod types;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Pod;
use kubesmith_runtime::cache::Compact;

use measure::{Figures, Work};
use ours::Ours;
use peer::Peer;
use shapes::Shape;
use types::Claim;

fn main() {
    let begin = Instant::now();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["serve", shape, objects] => {
            let shape = Shape::named(shape).expect("small or pod");
            server::serve(shape, objects.parse().expect("a number")).expect("loopback is there");
        }
        ["run", contender, row, shape, objects, events, rate, address, secure] => {
            let number = |text: &str| text.parse().expect("a number");
            let address = (*address).to_owned();
            let secure = secure.split_once(' ').map(|(address, certificate)| {
                let digits = |at| u8::from_str_radix(&certificate[at..at + 2], 16).expect("digits");
                (address.to_owned(), (0..certificate.len()).step_by(2).map(digits).collect())
            });
            let (objects, events, rate) = (number(objects), number(events), number(rate));
            let work = Work { objects, events, rate, address, secure };
            let runtime =
                tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
            let figures = runtime.block_on(async {
                match Shape::named(shape).expect("small or pod") {
                    Shape::Small => run::<Claim>(contender, row, &work, begin).await,
                    Shape::Pod => run::<Pod>(contender, row, &work, begin).await,
                }
            });
            println!("{}", serde_json::to_string(&figures).expect("numbers are JSON"));
            // Skips the destructors, which no figure includes.
            std::process::exit(0);
        }
        [] | [_] | [_, _] => {
            let rounds = arguments.first().map_or(5, |text| text.parse().expect("a number of rounds"));
            rows::table(rounds, arguments.get(1).copied());
        }
        _ => panic!("no such command: {arguments:?}"),
    }
}

async fn run<K: types::Kind>(contender: &str, row: &str, work: &Work, begin: Instant) -> Figures {
    match (contender, row) {
        ("kube", "sync") => measure::sync::<Peer<K>>(work, begin).await.2,
        ("ours", "sync") => measure::sync::<Ours<K>>(work, begin).await.2,
        ("compact", "sync") => measure::sync::<Ours<Compact<K>>>(work, begin).await.2,
        ("ours", "objects") => ours::objects::<K>(work, begin).await,
        ("compact", "objects") => ours::objects::<Compact<K>>(work, begin).await,
        ("kube", "watch") => measure::watch::<Peer<K>>(work, begin).await,
        ("ours", "watch") => measure::watch::<Ours<K>>(work, begin).await,
        ("compact", "watch") => measure::watch::<Ours<Compact<K>>>(work, begin).await,
        ("kube", "lookups") => {
            measure::lookups(&measure::sync::<Peer<K>>(work, begin).await.0, work.objects as usize)
        }
        ("ours", "lookups") => lookups::<K>(work, begin).await,
        ("compact", "lookups") => lookups::<Compact<K>>(work, begin).await,
        ("kube", "reconcile") => peer::reconcile::<K>(work, begin).await,
        ("ours", "reconcile") => ours::reconcile::<K>(work, begin).await,
        ("compact", "reconcile") => ours::reconcile::<Compact<K>>(work, begin).await,
        ("kube", "queue") => queue::scheduler(work.objects as usize).await,
        ("ours", "queue") => queue::queue(work.objects as usize).await,
        _ => panic!("no contender {contender} in {row}"),
    }
}

async fn lookups<K: ours::Held>(work: &Work, begin: Instant) -> Figures {
    let cache = measure::sync::<Ours<K>>(work, begin).await.0.with_index();
    measure::lookups(&cache, work.objects as usize)
}

/// Waits for the first pass over all objects, then has `again` queue all of them and waits for the second.
async fn measure_reconciles(work: &Work, begin: Instant, count: &AtomicU64, again: impl FnOnce()) -> Figures {
    let reached = async |target: u64| {
        while count.load(Ordering::Relaxed) < target {
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
    };
    reached(work.objects).await;
    let first = begin.elapsed().as_secs_f64();
    let peak = probe::peak_megabytes();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (before, begin) = (count.load(Ordering::Relaxed), Instant::now());
    again();
    reached(before + work.objects).await;
    let rate = work.objects as f64 / begin.elapsed().as_secs_f64();
    [("seconds", first), ("again", rate), ("peak", peak)].into()
}
