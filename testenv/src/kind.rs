//! The kinds of back ends.

use std::fmt;

/// The API server of a [`TestEnv`](crate::TestEnv).
///
/// Without [`TestEnvBuilder::backend`](crate::TestEnvBuilder::backend) the environment variables of envtest choose, the
/// first that fits: `USE_EXISTING_CLUSTER=true` takes [`Backend::ExistingCluster`]; `KUBEBUILDER_ASSETS`,
/// `TEST_ASSET_ETCD` or `TEST_ASSET_KUBE_APISERVER`, set and not empty, take [`Backend::ControlPlane`]; otherwise it is
/// [`Backend::Embedded`].
///
/// envtest differs: without variables it looks for a control plane in `/usr/local/kubebuilder/bin`; it uses an
/// empty variable as a path; it ignores missing CRD paths by default; when another process takes a port, it tries the
/// same one again; it considers kube-apiserver ready before its roles exist (`/healthz`); and it can download binaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// A server in this process. It needs no binaries and starts in milliseconds.
    Embedded,
    /// etcd and kube-apiserver, started for this environment and stopped with it, also when the test panics. They only
    /// stay if the test process itself is killed.
    ControlPlane,
    /// An existing cluster, which stays.
    ExistingCluster,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backend::Embedded => "the embedded server",
            Backend::ControlPlane => "a control plane of etcd and kube-apiserver",
            Backend::ExistingCluster => "an existing cluster",
        })
    }
}
