//! Any text as a Go file through all stages: `cargo +nightly fuzz run go fuzz/corpus/go testdata/conformance`.
//!
//! The tests of the command hold the same function to mutated seeds.
#![no_main]

#[path = "../../codegen-cli/tests/it/fuzz/go.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod go;
mod text;

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

static FOLDER: LazyLock<go::Folder> = LazyLock::new(go::Folder::new);

fuzz_target!(|input: &str| FOLDER.check(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    text::mutate(data, size, max_size, seed, go::WORDS)
});
