//! Manifests of any version, judged without a server.

use crontab_api::v1;
use crontab_client::validations::Validate as _;
use kubesmith_runtime::field::FieldErrors;
use kubesmith_runtime::scheme::{ConvertError, ManifestError};

/// The fault of a manifest.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It is malformed; names the document and line.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// It is of another version, and cannot be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// An API server would refuse it for all of these faults.
    #[error("{name} is invalid: {errors}")]
    Invalid {
        /// The object's name.
        name: String,
        /// Its faults.
        errors: FieldErrors,
    },
}

/// Reads CronTabs of any version, as an API server would store them: with their defaults, in the version v1, and valid.
///
/// # Errors
/// Returns the error of the first document that is none.
pub fn check(manifests: &str) -> Result<Vec<v1::CronTab>, CheckError> {
    let scheme = crate::scheme();
    let mut tabs = Vec::new();
    for decoded in scheme.decoder().strict().defaulting().decode_all(manifests) {
        for object in decoded?.into_objects() {
            let mut tab: v1::CronTab = scheme.convert(&*object)?;
            scheme.default(&mut tab);
            let name = tab.metadata.name.clone().unwrap_or_default();
            tab.validate().into_result().map_err(|errors| CheckError::Invalid { name, errors })?;
            tabs.push(tab);
        }
    }
    Ok(tabs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFESTS: &str = "\
apiVersion: stable.example.com/v1beta1
kind: CronTab
metadata: {name: old, namespace: default}
spec: {schedule: '0 4 * * *', image: backup}
---
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: new, namespace: default}
spec: {schedule: {hour: '4'}, image: backup, concurrencyPolicy: Forbid}
";

    #[test]
    fn manifests_of_both_versions_get_their_defaults() {
        let tabs = check(MANIFESTS).unwrap();
        let [old, new] = &tabs[..] else { panic!("{tabs:?}") };
        assert_eq!((old.spec.schedule.hour.as_deref(), old.spec.replicas), (Some("4"), Some(1)));
        assert_eq!(old.spec.concurrency_policy, Some(v1::ConcurrencyPolicy::Allow));
        assert_eq!(new.spec.schedule.minute.as_deref(), Some("*"));
    }

    #[test]
    fn invalid_manifest_is_refused_with_its_field() {
        let message = |manifests: &str| check(manifests).unwrap_err().to_string();
        let many = message(&MANIFESTS.replace("image: backup", "image: '', replicas: 11"));
        assert!(many.contains("spec.replicas: Invalid value: 11") && many.contains("spec.image"), "{many}");
        let short = message(&MANIFESTS.replace("0 4 * * *", "0 4 *"));
        assert!(short.contains("five parts"), "{short}");
        let unknown = message(&MANIFESTS.replace("hour:", "our:"));
        assert!(unknown.contains("our") && unknown.contains("document 2"), "{unknown}");
    }
}
