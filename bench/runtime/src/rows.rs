//! The table: the contenders and figures of each run.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

type Figures = BTreeMap<String, f64>;

/// One kind of run.
struct Row {
    name: &'static str,
    /// The name for [`crate::run`].
    mode: &'static str,
    shape: &'static str,
    objects: u64,
    events: u64,
    rate: u64,
    /// Over TLS, where kubesmith speaks HTTP/2 and kube-runtime HTTP/1.1.
    tls: bool,
    contenders: &'static [&'static str],
    /// Name of the figure, unit, decimals.
    figures: &'static [(&'static str, &'static str, usize)],
}

const SYNC: &[(&str, &str, usize)] =
    &[("seconds", "s", 3), ("cpu", "cpu s", 3), ("live", "MB live", 1), ("peak", "MB peak", 1)];
/// The figures of rows that show whether the cost of an event depends on the number of objects.
const FLAT: &[(&str, &str, usize)] = &[("events", "events/s", 0), ("cpu", "cpu us/event", 2)];
const OBJECTS: &[(&str, &str, usize)] =
    &[("all", "MB allocated", 1), ("objects", "MB of them by the objects", 1)];
const BOTH: &[&str] = &["kube", "ours"];
const ALL: &[&str] = &["kube", "ours", "compact"];

const ROWS: &[Row] = &[
    Row {
        name: "sync-small",
        mode: "sync",
        shape: "small",
        objects: 100_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: SYNC,
    },
    Row {
        name: "sync-pod",
        mode: "sync",
        shape: "pod",
        objects: 30_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: SYNC,
    },
    Row {
        name: "objects-small",
        mode: "objects",
        shape: "small",
        objects: 100_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: &["ours", "compact"],
        figures: OBJECTS,
    },
    Row {
        name: "objects-pod",
        mode: "objects",
        shape: "pod",
        objects: 30_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: &["ours", "compact"],
        figures: OBJECTS,
    },
    Row {
        name: "watch",
        mode: "watch",
        shape: "small",
        objects: 100_000,
        events: 200_000,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: &[("events", "events/s", 0), ("cpu", "cpu us/event", 2), ("peak", "MB peak", 1)],
    },
    Row {
        name: "latency",
        mode: "watch",
        shape: "small",
        objects: 10_000,
        events: 20_000,
        rate: 5_000,
        tls: false,
        contenders: ALL,
        figures: &[("p50", "us p50", 1), ("p99", "us p99", 1), ("cpu", "cpu us/event", 2)],
    },
    Row {
        name: "watch-tls",
        mode: "watch",
        shape: "small",
        objects: 100_000,
        events: 200_000,
        rate: 0,
        tls: true,
        contenders: ALL,
        figures: &[("events", "events/s", 0), ("cpu", "cpu us/event", 2), ("peak", "MB peak", 1)],
    },
    Row {
        name: "latency-tls",
        mode: "watch",
        shape: "small",
        objects: 10_000,
        events: 20_000,
        rate: 5_000,
        tls: true,
        contenders: ALL,
        figures: &[("p50", "us p50", 1), ("p99", "us p99", 1), ("cpu", "cpu us/event", 2)],
    },
    Row {
        name: "watch-10k",
        mode: "watch",
        shape: "small",
        objects: 10_000,
        events: 200_000,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: FLAT,
    },
    Row {
        name: "watch-1m",
        mode: "watch",
        shape: "small",
        objects: 1_000_000,
        events: 200_000,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: FLAT,
    },
    Row {
        name: "lookups",
        mode: "lookups",
        shape: "small",
        objects: 100_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: &[
            ("get", "get by key /s", 0),
            ("get_all", "get by key, a thread per core /s", 0),
            ("get_by_name", "get by namespace and name /s", 0),
            ("list", "list all /s", 0),
            ("list_namespace", "list one of 100 namespaces /s", 0),
            ("list_label", "list by label, a tenth /s", 0),
        ],
    },
    Row {
        name: "reconcile",
        mode: "reconcile",
        shape: "small",
        objects: 100_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: ALL,
        figures: &[("seconds", "s from start", 3), ("again", "all once more /s", 0), ("peak", "MB peak", 1)],
    },
    Row {
        name: "queue",
        mode: "queue",
        shape: "small",
        objects: 1_000_000,
        events: 0,
        rate: 0,
        tls: false,
        contenders: BOTH,
        figures: &[
            ("burst1", "keys/s, all at once, 1 worker", 0),
            ("burst8", "keys/s, all at once, 8 workers", 0),
            ("piped1", "keys/s beside a producer, 1 worker", 0),
            ("piped8", "keys/s beside a producer, 8 workers", 0),
        ],
    },
];

/// Runs the rows, or the one called `only`, and prints them as they end.
pub fn table(rounds: usize, only: Option<&str>) {
    let known = || ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    assert!(only.is_none_or(|only| ROWS.iter().any(|row| row.name == only)), "rows are: {}", known());
    for row in ROWS.iter().filter(|row| only.is_none_or(|only| only == row.name)) {
        println!("{} ({} objects)", row.name, row.objects);
        let server = (row.mode != "queue").then(|| Server::start(row));
        let address = server.as_ref().map_or(("none", "none"), |server| (&server.address, &server.secure));
        let mut results: Vec<Vec<Figures>> = vec![Vec::new(); row.contenders.len()];
        for _ in 0..rounds.max(1) {
            for (results, contender) in results.iter_mut().zip(row.contenders) {
                results.push(measured(row, contender, address));
            }
        }
        for (figure, unit, decimals) in row.figures {
            print_figure(row, &results, figure, unit, *decimals);
        }
    }
}

fn print_figure(row: &Row, results: &[Vec<Figures>], figure: &str, unit: &str, decimals: usize) {
    let medians: Vec<f64> = results.iter().map(|runs| median(runs, figure)).collect();
    print!("  {unit:36}");
    for (contender, median) in row.contenders.iter().zip(&medians) {
        print!(" {contender} {median:>12.decimals$}");
        if *contender != row.contenders[0] {
            print!(" ({:.3})", median / medians[0]);
        }
    }
    println!();
}

fn median(runs: &[Figures], figure: &str) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(|run| run[figure]).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn this() -> Command {
    Command::new(std::env::current_exe().expect("this program has a path"))
}

fn measured(row: &Row, contender: &str, (address, secure): (&str, &str)) -> Figures {
    let numbers = [row.objects, row.events, row.rate].map(|number| number.to_string());
    let output = this()
        .args(["run", contender, row.mode, row.shape])
        .args(numbers)
        .arg(address)
        .arg(if row.tls { secure } else { "" })
        .stderr(Stdio::inherit())
        .output();
    let output = output.expect("this program runs");
    assert!(output.status.success(), "{contender} failed in {}", row.name);
    serde_json::from_slice(&output.stdout).expect("a run prints its figures")
}

/// The server's process; it ends with its standard input.
struct Server {
    process: Child,
    address: String,
    /// Address and certificate for TLS.
    secure: String,
}

impl Server {
    fn start(row: &Row) -> Self {
        let mut command = this();
        command
            .args(["serve", row.shape, &row.objects.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("this program runs");
        let mut address = String::new();
        let output = process.stdout.take().expect("it is a pipe");
        BufReader::new(output).read_line(&mut address).expect("the server prints its address");
        let (address, secure) = address.trim().split_once(' ').expect("two addresses");
        Self { process, address: address.to_owned(), secure: secure.to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // The process ends with its standard input at the latest, so failures are ignored.
        let _ = self.process.wait();
    }
}
