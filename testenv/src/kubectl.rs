//! kubectl against an environment.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tempfile::NamedTempFile;

use crate::error::Error;

/// Runs kubectl as one user of an environment.
///
/// The binary is the one that `TEST_ASSET_KUBECTL` or `KUBEBUILDER_ASSETS` names, as for envtest, or else that of the
/// shell's path.
#[derive(Debug)]
pub struct Kubectl {
    path: PathBuf,
    /// Removed with this value.
    kubeconfig: NamedTempFile,
}

impl Kubectl {
    pub(crate) fn new(path: PathBuf, kubeconfig: &str) -> Result<Self, Error> {
        let mut file = NamedTempFile::with_suffix(".kubecfg").map_err(Error::Folder)?;
        file.write_all(kubeconfig.as_bytes()).map_err(Error::Folder)?;
        Ok(Self { path, kubeconfig: file })
    }

    /// Returns the path of the binary.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs kubectl with these arguments and returns its output and exit status.
    ///
    /// # Errors
    /// Returns an error when it cannot be run. Its own failure is in the [`Output`].
    ///
    /// # Cancel safety
    /// Dropping the future kills kubectl.
    pub async fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Output, Error> {
        let mut command = tokio::process::Command::new(&self.path);
        command.arg("--kubeconfig").arg(self.kubeconfig.path()).args(arguments);
        command.stdin(Stdio::null()).kill_on_drop(true);
        command.output().await.map_err(|source| Error::Kubectl { path: self.path.clone(), source })
    }
}
