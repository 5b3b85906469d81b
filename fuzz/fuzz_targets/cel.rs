//! Any text as a rule: `cargo +nightly fuzz run cel fuzz/corpus/cel fuzz/seeds/cel`.
//!
//! The tests of kubesmith-apiextensions hold the same function to mutated seeds.
#![no_main]

#[path = "../../apiextensions/tests/it/fuzz/cel.rs"]
mod cel;
mod text;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|input: &str| {
    cel::check(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    text::mutate(data, size, max_size, seed, cel::WORDS)
});
