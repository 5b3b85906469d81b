//! Random schemas, edits and objects, and any text in place of definitions: `cargo +nightly fuzz run diff fuzz/corpus/diff`.
//!
//! The tests of the command hold the same functions to random input.
#![no_main]

#[path = "../../codegen-cli/tests/it/fuzz/diff.rs"]
mod properties;
#[path = "../mutation.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod mutation;

use libfuzzer_sys::fuzz_target;

const GOOD: &str = include_str!("../../testdata/import/good/everything.yaml");

fuzz_target!(|data: &[u8]| {
    match data.split_first() {
        Some((0, text)) => {
            let text = String::from_utf8_lossy(text);
            properties::compare(GOOD, &text);
        }
        Some((seed, text)) if *seed < 32 => {
            let seed = text.iter().fold(u64::from(*seed), |seed, byte| seed.rotate_left(5) ^ u64::from(*byte));
            properties::compare(GOOD, &mutation::mutate(GOOD, &String::from_utf8_lossy(text), properties::WORDS, seed));
        }
        _ => properties::check(data),
    }
});
