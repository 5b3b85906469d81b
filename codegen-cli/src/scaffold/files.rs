//! Where a project finds kubesmith's packages.

use std::path::Path;

use super::ScaffoldError;

/// Dependencies as Cargo.toml has them.
pub(super) struct Dependencies {
    pub(super) runtime: String,
    pub(super) testenv: String,
}

impl Dependencies {
    /// The published packages, or those of a folder with the source.
    pub(super) fn new(root: &Path, source: Option<&Path>) -> Result<Self, ScaffoldError> {
        let version = env!("CARGO_PKG_VERSION");
        let Some(source) = source else {
            let runtime = format!("{{ version = {version:?}, default-features = false }}");
            return Ok(Self { runtime, testenv: format!("{version:?}") });
        };
        let package = |folder: &str, more: &str| {
            let folder = source.join(folder);
            if !folder.join("Cargo.toml").is_file() {
                return Err(ScaffoldError::Usage(format!(
                    "--kubesmith-source {}: there is no package in {}",
                    source.display(),
                    folder.display()
                )));
            }
            let path = crate::paths::relative(root, &folder);
            Ok(format!("{{ path = {path:?}, version = {version:?}{more} }}"))
        };
        Ok(Self {
            runtime: package("runtime", ", default-features = false")?,
            testenv: package("testenv", "")?,
        })
    }
}
