//! Any text as a source file through all stages: `cargo +nightly fuzz run pipeline fuzz/corpus/pipeline fuzz/seeds/pipeline testdata/conformance`.
//!
//! The tests of the command hold the same function to mutated seeds.
#![no_main]

#[path = "../../codegen-cli/tests/it/fuzz/pipeline.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod pipeline;
mod text;

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

static FOLDER: LazyLock<pipeline::Folder> = LazyLock::new(pipeline::Folder::new);
static WORDS: LazyLock<Vec<String>> = LazyLock::new(pipeline::words);

fuzz_target!(|input: &str| FOLDER.check(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let words: Vec<&str> = WORDS.iter().map(String::as_str).collect();
    text::mutate(data, size, max_size, seed, &words)
});
