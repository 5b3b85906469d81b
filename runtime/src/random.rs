//! Randomness that is passed in where it matters, and where it comes from otherwise.

use std::hash::{BuildHasher, RandomState};

/// Numbers in `0.0..1.0`.
pub(crate) type Random = Box<dyn FnMut() -> f64 + Send>;

/// A generator that differs each time: jitter needs no more than that.
pub(crate) fn from_system() -> Random {
    // The standard library seeds its hash maps from the system's random numbers.
    seeded(RandomState::new().hash_one(std::process::id()))
}

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
pub(crate) fn seeded(seed: u64) -> Random {
    let mut state = seed;
    Box::new(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // 53 bits are what an f64 holds exactly.
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_spread_and_repeatable() {
        let take = |seed| {
            let mut random = super::seeded(seed);
            (0..1000).map(|_| random()).collect::<Vec<f64>>()
        };
        let numbers = take(7);
        assert_eq!(numbers, take(7));
        assert_ne!(numbers, take(8));
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }
}
