//! Any text as doc comments: `cargo +nightly fuzz run markers fuzz/corpus/markers fuzz/seeds/markers`.
//!
//! The tests of codegen-core hold the same function to mutated seeds.
#![no_main]

#[path = "../../codegen-core/tests/it/fuzz/items.rs"]
#[allow(dead_code, reason = "each target reads one half")]
mod items;
mod text;

use kubesmith_core::grammar::{definitions, marker_text};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|input: &str| items::markers(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let markers: Vec<String> = definitions().values().map(marker_text).collect();
    let words: Vec<&str> = markers.iter().map(String::as_str).collect();
    text::mutate(data, size, max_size, seed, &words)
});
