//! Inputs that are text: they are changed by tokens and lines as well as by bytes.

#[path = "../mutation.rs"]
mod mutation;

/// Changes the first `size` bytes of `data`; returns how many they are then, at most `max_size`.
pub(crate) fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32, words: &[&str]) -> usize {
    // libFuzzer's own changes find what depends on single bytes.
    let text = str::from_utf8(&data[..size]).ok().filter(|text| !text.is_empty() && seed % 4 != 0);
    let Some(text) = text else { return libfuzzer_sys::fuzzer_mutate(data, size, max_size) };
    let changed = mutation::mutate(text, text, words, u64::from(seed));
    let length = changed.floor_char_boundary(max_size);
    data[..length].copy_from_slice(&changed.as_bytes()[..length]);
    length
}
