//! Random numbers, passed in where results depend on them.

/// Returns numbers in `0.0..1.0`.
pub(crate) type Random = Box<dyn FnMut() -> f64 + Send>;

/// Returns a generator with a random seed.
pub(crate) fn from_system() -> Random {
    generate(fastrand::Rng::new())
}

/// Returns a generator that repeats itself for the same seed.
pub(crate) fn seeded(seed: u64) -> Random {
    generate(fastrand::Rng::with_seed(seed))
}

fn generate(mut rng: fastrand::Rng) -> Random {
    Box::new(move || rng.f64())
}
