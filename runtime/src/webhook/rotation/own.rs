//! The manager's own certificate for an endpoint beside the webhooks, such as that of the metrics.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::pair::{Pair, issue};
use super::{CertRotator, RotationError, Served};
use crate::webhook::certwatcher::PairSource;
use crate::webhook::{CertWatcher, CertWatcherBuilder};

/// The validity of a self-signed certificate (client-go's `GenerateSelfSignedCertKey`).
const VALIDITY: Duration = Duration::from_secs(365 * 24 * 3600);
/// The names of a self-signed certificate (controller-runtime's metrics server): clients cannot verify it
/// unless they trust a copy of it.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A self-signed certificate in memory.
struct SelfSigned {
    pair: Pair,
    renewed_at: Timestamp,
}

impl SelfSigned {
    fn issue(now: Timestamp) -> Result<Self, RotationError> {
        let names = NAMES.map(str::to_owned).to_vec();
        match issue(&names, now, VALIDITY) {
            Ok(issued) => Ok(Self { pair: issued.pair, renewed_at: now }),
            Err(error) => Err(RotationError::Issue { names, reason: error.to_string() }),
        }
    }

    /// Replaces the certificate in the last third of its validity.
    fn renew(&mut self, now: Timestamp) {
        if now.duration_since(self.renewed_at).unsigned_abs() < VALIDITY * 2 / 3 {
            return;
        }
        match Self::issue(now) {
            Ok(new) => *self = new,
            Err(error) => tracing::error!(%error, "the self-signed certificate is not renewed"),
        }
    }
}

/// Watches the certificate of `rotator` as soon as it has one, and until then a self-signed certificate in memory, as
/// controller-runtime's metrics server makes it.
pub(crate) fn own_certificate(
    rotator: Option<CertRotator>,
    clock: impl Fn() -> Timestamp + Clone + Send + Sync + 'static,
) -> Result<CertWatcherBuilder, RotationError> {
    let (self_signed, of_watcher) = (Mutex::new(SelfSigned::issue(clock())?), clock.clone());
    let source = PairSource(Arc::new(move || {
        let pair = match rotator.as_ref().and_then(CertRotator::served) {
            Some(Served { pair, .. }) => pair,
            None => {
                let mut own = self_signed.lock().unwrap_or_else(PoisonError::into_inner);
                own.renew(clock());
                own.pair.clone()
            }
        };
        (pair.certificate.into_bytes(), pair.key.into_bytes())
    }));
    let watcher = CertWatcher::builder("the manager's certificate", "the manager's key");
    Ok(watcher.source(source).clock(of_watcher))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn self_signed_certificate_is_renewed_before_it_expires() {
        let (begin, days) = (Timestamp::now(), Arc::new(AtomicI64::new(0)));
        let elapsed = days.clone();
        let clock = move || begin + SignedDuration::from_hours(24 * elapsed.load(Ordering::Relaxed));
        let watcher = own_certificate(None, clock).unwrap().load().unwrap();
        let first = watcher.expires_at();
        assert_eq!(first.duration_since(begin).as_hours(), 365 * 24 - 1, "to the second");
        days.store(240, Ordering::Relaxed);
        assert!(!watcher.reload().unwrap(), "a third is left");
        days.store(250, Ordering::Relaxed);
        assert!(watcher.reload().unwrap() && watcher.expires_at() > first);
    }
}
