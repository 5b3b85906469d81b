//! Any text as a file with definitions: `cargo +nightly fuzz run import fuzz/corpus/import testdata/import`.
//!
//! The tests of the command hold the same function to mutated definitions.
#![no_main]

#[path = "../../codegen-cli/tests/it/fuzz/import.rs"]
mod import;
mod text;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|input: &str| {
    import::check(input);
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    text::mutate(data, size, max_size, seed, import::WORDS)
});
