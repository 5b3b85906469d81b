//! Any text as manifests: `cargo +nightly fuzz run manifest fuzz/corpus/manifest fuzz/seeds/manifest`.
//!
//! The tests of kubesmith-runtime hold the same function to mutated seeds.
#![no_main]

#[path = "../../runtime/tests/it/fuzz/manifest.rs"]
mod manifest;
mod text;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|input: &str| {
    manifest::check(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    text::mutate(data, size, max_size, seed, manifest::WORDS)
});
