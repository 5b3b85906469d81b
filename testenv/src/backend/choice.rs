//! The choice of a back end, by settings and envtest's environment variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use crate::error::Error;
use crate::kind::Backend;

/// The default folder of binaries; envtest's `AssetsDefaultPath`.
const DEFAULT_ASSETS: &str = "/usr/local/kubebuilder/bin";
/// envtest's `defaultKubebuilderControlPlane{Start,Stop}Timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

const ASSETS: &str = "KUBEBUILDER_ASSETS";
const ETCD: &str = "TEST_ASSET_ETCD";
const KUBE_APISERVER: &str = "TEST_ASSET_KUBE_APISERVER";
const KUBECTL: &str = "TEST_ASSET_KUBECTL";

impl Backend {
    /// Returns the back end that the environment variables choose, for tests that depend on it.
    ///
    /// A test that cannot run on a back end should not pass there. Rust's test programs cannot skip a test while it
    /// runs, so either it fails and `--skip` excludes it, or a build script that reads the same variables lists it as
    /// ignored (`examples/testing/backend.rs`).
    ///
    /// ```
    /// use kubesmith_testenv::Backend;
    ///
    /// assert_ne!(Backend::from_env(), Backend::ControlPlane, "nothing deletes the children of what is deleted");
    /// ```
    #[must_use]
    pub fn from_env() -> Self {
        Variables::of_process().backend()
    }
}

/// The environment variables, read once.
#[derive(Debug)]
pub(crate) struct Variables {
    use_existing_cluster: bool,
    assets: Option<PathBuf>,
    etcd: Option<PathBuf>,
    kube_apiserver: Option<PathBuf>,
    kubectl: Option<PathBuf>,
    start_timeout: Option<OsString>,
    stop_timeout: Option<OsString>,
    attach_output: bool,
    kubeconfig: bool,
}

impl Variables {
    /// Reads the variables of this process.
    pub(crate) fn of_process() -> Self {
        Self::read(|name| std::env::var_os(name))
    }

    fn read(get: impl Fn(&str) -> Option<OsString>) -> Self {
        let given = |name: &str| get(name).filter(|value| !value.is_empty());
        let path = |name: &str| given(name).map(PathBuf::from);
        Self {
            use_existing_cluster: given("USE_EXISTING_CLUSTER")
                .is_some_and(|v| v.eq_ignore_ascii_case("true")),
            assets: path(ASSETS),
            etcd: path(ETCD),
            kube_apiserver: path(KUBE_APISERVER),
            kubectl: path(KUBECTL),
            start_timeout: given("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT"),
            stop_timeout: given("KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT"),
            attach_output: given("KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT").is_some_and(|v| v == "true"),
            kubeconfig: given("KUBECONFIG").is_some(),
        }
    }

    /// Returns the back end that the variables choose.
    pub(crate) fn backend(&self) -> Backend {
        let binaries = [&self.assets, &self.etcd, &self.kube_apiserver];
        if self.use_existing_cluster {
            Backend::ExistingCluster
        } else if binaries.iter().any(|path| path.is_some()) {
            Backend::ControlPlane
        } else {
            Backend::Embedded
        }
    }

    /// Reports whether `KUBECONFIG` names files.
    pub(crate) fn names_kubeconfig(&self) -> bool {
        self.kubeconfig
    }

    pub(crate) fn attach_output(&self) -> bool {
        self.attach_output
    }

    /// Returns the path of `etcd`; `folder` is the default without variables.
    pub(crate) fn etcd(&self, folder: Option<&Path>) -> PathBuf {
        self.binary("etcd", self.etcd.as_ref(), folder)
    }

    /// Returns the path of `kube-apiserver`, as [`Variables::etcd`].
    pub(crate) fn kube_apiserver(&self, folder: Option<&Path>) -> PathBuf {
        self.binary("kube-apiserver", self.kube_apiserver.as_ref(), folder)
    }

    /// Returns the path of `kubectl`, as [`Variables::etcd`]; without any of them and without a kubectl in the default
    /// folder, the one in the shell's path.
    pub(crate) fn kubectl(&self, folder: Option<&Path>) -> PathBuf {
        let path = self.binary("kubectl", self.kubectl.as_ref(), folder);
        let told = self.kubectl.is_some() || self.assets.is_some() || folder.is_some();
        if told || path.exists() { path } else { PathBuf::from("kubectl") }
    }

    /// Follows the order of envtest's `BinPathFinder`, without looking for files.
    fn binary(&self, name: &str, own: Option<&PathBuf>, folder: Option<&Path>) -> PathBuf {
        if let Some(path) = own {
            return path.clone();
        }
        let folder = self.assets.as_deref().or(folder).unwrap_or(Path::new(DEFAULT_ASSETS));
        folder.join(name)
    }

    /// Returns the start timeout of each process; `given` takes precedence over the variable.
    pub(crate) fn start_timeout(&self, given: Option<Duration>) -> Result<Duration, Error> {
        timeout("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT", self.start_timeout.as_ref(), given)
    }

    /// Returns the stop timeout of each process; `given` takes precedence over the variable.
    pub(crate) fn stop_timeout(&self, given: Option<Duration>) -> Result<Duration, Error> {
        timeout("KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT", self.stop_timeout.as_ref(), given)
    }
}

fn timeout(
    variable: &'static str,
    value: Option<&OsString>,
    given: Option<Duration>,
) -> Result<Duration, Error> {
    let Some(value) = given.is_none().then_some(value).flatten() else {
        return Ok(given.filter(|time| !time.is_zero()).unwrap_or(DEFAULT_TIMEOUT));
    };
    let text = value.to_string_lossy();
    let failed = |reason: String| Error::Timeout { variable, value: text.clone().into_owned(), reason };
    let time = kube::core::Duration::from_str(&text).map_err(|e| failed(e.to_string()))?;
    if time.is_negative() {
        return Err(failed("a time to wait cannot be negative".to_owned()));
    }
    let time = Duration::from(time);
    Ok(if time.is_zero() { DEFAULT_TIMEOUT } else { time })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        Variables::read(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn environment_variables_choose_the_back_end() {
        let choose = |pairs: &[(&str, &str)]| variables(pairs).backend();
        assert_eq!(choose(&[]), Backend::Embedded);
        assert_eq!(choose(&[(ASSETS, "")]), Backend::Embedded);
        assert_eq!(choose(&[(KUBECTL, "/bin/kubectl")]), Backend::Embedded);
        assert_eq!(choose(&[("USE_EXISTING_CLUSTER", "false")]), Backend::Embedded);
        for name in [ASSETS, ETCD, KUBE_APISERVER] {
            assert_eq!(choose(&[(name, "/bin")]), Backend::ControlPlane, "{name}");
        }
        for value in ["true", "TRUE"] {
            let pairs = [(ASSETS, "/bin"), ("USE_EXISTING_CLUSTER", value)];
            assert_eq!(choose(&pairs), Backend::ExistingCluster);
        }
    }

    #[test]
    fn binaries_are_found_in_envtests_order() {
        let folder = Some(Path::new("/folder"));
        let path = |pairs: &[(&str, &str)], folder| variables(pairs).kube_apiserver(folder);
        assert_eq!(path(&[(ASSETS, "/a"), (KUBE_APISERVER, "/x")], folder), Path::new("/x"));
        assert_eq!(path(&[(ASSETS, "/a")], folder), Path::new("/a/kube-apiserver"));
        assert_eq!(path(&[(ETCD, "/e")], folder), Path::new("/folder/kube-apiserver"));
        assert_eq!(path(&[], None), Path::new("/usr/local/kubebuilder/bin/kube-apiserver"));
        assert_eq!(variables(&[(ETCD, "/e")]).etcd(folder), Path::new("/e"));
        assert_eq!(variables(&[(KUBECTL, "/k")]).kubectl(folder), Path::new("/k"));
        assert_eq!(variables(&[]).kubectl(folder), Path::new("/folder/kubectl"));
    }

    #[test]
    fn timeouts_are_parsed_as_go_durations() {
        let name = "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT";
        let start = |value: &str, given| variables(&[(name, value)]).start_timeout(given);
        assert_eq!(start("1m30s", None).unwrap(), Duration::from_secs(90));
        assert_eq!(start("1m30s", Some(Duration::from_secs(1))).unwrap(), Duration::from_secs(1));
        assert_eq!(start("", None).unwrap(), DEFAULT_TIMEOUT);
        assert_eq!(start("0s", None).unwrap(), DEFAULT_TIMEOUT);
        for wrong in ["20", "x", "-1s"] {
            let text = start(wrong, None).unwrap_err().to_string();
            assert!(
                text.starts_with("failed to default controlplane timeouts: ") && text.contains(name),
                "{text}"
            );
        }
    }

    #[test]
    fn output_is_attached_only_when_the_variable_is_true() {
        let name = "KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT";
        assert!(variables(&[(name, "true")]).attach_output());
        assert!(!variables(&[(name, "1")]).attach_output());
    }
}
