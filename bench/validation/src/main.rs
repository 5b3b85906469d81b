//! Times the validation of an object: `cargo run --release -p kubesmith-bench-validation`.
//!
//! The object is a gate of `testdata/cases/validations`: 22 fields, 10 rules in CEL.

use std::hint::black_box;
use std::time::{Duration, Instant};

use case_validations::{Gate, Lock, Step};
use kubesmith_runtime::field::FieldErrors;
use kubesmith_runtime::validation::SchemaValidator;

static GATES: SchemaValidator = SchemaValidator::of_crd(
    include_str!("../../../testdata/cases/validations/expected/crds.json"),
    "gates.castle.example.com",
    "v1",
);

/// The number of validations for one figure.
const ROUNDS: u32 = 20_000;

fn gate() -> Gate {
    let mut gate = Gate::default();
    gate.metadata.name = Some("north".to_owned());
    gate.metadata.namespace = Some("default".to_owned());
    gate.spec.guards = 2;
    gate.spec.motto = "astra".to_owned();
    gate.spec.width = Some(5);
    gate.spec.address = Some("10.0.0.1".to_owned());
    gate.spec.builder = Some("tom".to_owned());
    gate.spec.locks = ["a", "b", "c"].map(|name| Lock { name: name.to_owned(), turns: 1 }).to_vec();
    gate.spec.steps = Some(vec![Step { low: 1, high: 2 }, Step { low: 2, high: 3 }]);
    gate
}

/// The mean of a call, of the best of five runs.
fn time(name: &str, call: impl Fn() -> FieldErrors) {
    let run = || {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            black_box(call());
        }
        start.elapsed() / ROUNDS
    };
    let best = (0..5).map(|_| run()).min().unwrap_or(Duration::ZERO);
    println!("{name:<24} {:>8.1} µs", best.as_secs_f64() * 1e6);
}

fn main() {
    let start = Instant::now();
    if let Err(error) = GATES.definition() {
        eprintln!("{error}");
        std::process::exit(1);
    }
    println!("{:<24} {:>8.1} µs", "read the definition", start.elapsed().as_secs_f64() * 1e6);
    let (fine, mut other) = (gate(), gate());
    other.spec.height = 1;
    let mut bad = gate();
    bad.spec.motto = "A".to_owned();
    bad.spec.width = Some(7);
    time("to JSON alone", || {
        black_box(serde_json::to_value(&fine).ok());
        FieldErrors::new()
    });
    time("validate", || GATES.validate(&fine));
    time("validate, two faults", || GATES.validate(&bad));
    time("validate_update", || GATES.validate_update(&other, &fine));
    time("validate_status_update", || GATES.validate_status_update(&other, &fine));
}
