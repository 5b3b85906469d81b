//! Any text as a configuration and as a manifest: `cargo +nightly fuzz run toml fuzz/corpus/toml fuzz/seeds/toml`.
//!
//! The tests of the command hold the same function to mutated seeds.
#![no_main]

#[path = "../../codegen-cli/tests/it/fuzz/toml.rs"]
mod configuration;
#[path = "../../codegen-cli/tests/it/fuzz/pipeline.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod pipeline;
mod text;

use std::sync::LazyLock;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

static FOLDER: LazyLock<configuration::Folder> = LazyLock::new(configuration::Folder::new);

fuzz_target!(|input: &str| FOLDER.check(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    text::mutate(data, size, max_size, seed, configuration::WORDS)
});
