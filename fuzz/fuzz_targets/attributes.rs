//! Any text as the arguments of attributes: `cargo +nightly fuzz run attributes fuzz/corpus/attributes fuzz/seeds/attributes`.
//!
//! The tests of codegen-core hold the same function to mutated seeds.
#![no_main]

#[path = "../../codegen-core/tests/it/fuzz/items.rs"]
#[allow(dead_code, reason = "each target reads one half")]
mod items;
mod text;

use kubesmith_core::grammar::FAMILIES;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|input: &str| items::attributes(input));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let keys = FAMILIES.iter().flat_map(|family| family.keys);
    let words: Vec<&str> = keys.flat_map(|key| [key.name, key.example]).collect();
    text::mutate(data, size, max_size, seed, &words)
});
