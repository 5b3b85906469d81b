//! Writes the parts of a migration that need no decision: the settings of `kubesmith generate`, and the
//! module of the clients.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest;

/// Clients are a module of the package: a separate package would depend on the types, and the controllers
/// beside them on it.
const SETTINGS: &str = "input = [\".\"]\n\n\
    [crd]\noutput = \"crds\"\n\n\
    [client]\noutput = \"src/generated\"\nmodule = \"crate::generated\"\n";

/// A package without a library gets no clients: a program has no path by which others could name its types.
const CRDS: &str = "input = [\".\"]\nonly = [\"crd\"]\n\n[crd]\noutput = \"crds\"\n";

const MODULE: &str = "pub mod generated;";

/// The failure of [`write()`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// `kubesmith generate` would refuse the settings.
    #[error("it is not the folder of a package")]
    NoPackage,
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes kubesmith.toml, unless the folder has one, and declares the module of the clients in src/lib.rs. Returns the
/// files that changed.
///
/// # Errors
/// Returns an error if the folder has no package, or if a file cannot be read or written.
pub fn write(folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let (settings, lib) = (folder.join("kubesmith.toml"), folder.join("src/lib.rs"));
    if settings.exists() {
        return Ok(Vec::new());
    }
    if !manifest::is_package(folder)? {
        return Err(WriteError::NoPackage);
    }
    if !lib.exists() {
        fs::write(&settings, CRDS)?;
        return Ok(vec![settings]);
    }
    let text = fs::read_to_string(&lib)?;
    fs::write(&settings, SETTINGS)?;
    if text.lines().any(|line| line.trim() == MODULE) {
        return Ok(vec![settings]);
    }
    fs::write(&lib, format!("{}\n\n{MODULE}\n", text.trim_end()))?;
    Ok(vec![settings, lib])
}
