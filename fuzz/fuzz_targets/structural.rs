//! Any JSON as a definition and as a schema: `cargo +nightly fuzz run structural fuzz/corpus/structural fuzz/seeds/structural`.
//!
//! The tests of kubesmith-apiextensions hold the same function to mutated seeds.
#![no_main]

#[path = "../../apiextensions/tests/it/fuzz/structural.rs"]
mod structural;
mod text;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|input: &str| {
    structural::check(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    text::mutate(data, size, max_size, seed, structural::WORDS)
});
