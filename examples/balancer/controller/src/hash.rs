//! The short name of a configuration.

use std::collections::BTreeMap;

/// The letters of hashes: no vowels or look-alikes, so that no hash is a word.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Returns a hash of a ConfigMap's data alone: it is independent of metadata that a server sets.
///
/// It is FNV-1a (32 bits) of keys and values in their order, each prefixed with its length. The decimal digits of the
/// result are then encoded as letters.
#[must_use]
pub fn of_data(data: &BTreeMap<String, String>) -> String {
    let mut hash: u32 = 0x811c_9dc5;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    for text in data.iter().flat_map(|(key, value)| [key, value]) {
        eat(&(text.len() as u64).to_be_bytes());
        eat(text.as_bytes());
    }
    let letters = hash.to_string().into_bytes().into_iter();
    letters.map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(entries: &[(&str, &str)]) -> String {
        of_data(&entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn hash_depends_on_keys_values_and_their_boundaries() {
        let all =
            [hash(&[]), hash(&[("a", "b")]), hash(&[("a", "c")]), hash(&[("ab", "")]), hash(&[("", "ab")])];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| one != other), "{all:?}");
            assert!(one.bytes().all(|letter| ALPHABET.contains(&letter)), "{one}");
        }
        // The empty hash is FNV's offset basis, 2166136261.
        assert_eq!(all[0], "65bb57b6b5");
    }
}
