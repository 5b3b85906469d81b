//! The build script of packages whose tests run on several back ends. `cfg(backend = "...")` names the back end of the
//! tests, so that a test which it cannot run is listed as ignored, with the reason:
//!
//! ```ignore
//! #[cfg_attr(backend = "existing_cluster", ignore = "a cluster's CRDs are everybody's")]
//! ```
//!
//! The variables are those of `kubesmith_testenv::Backend`. `Cluster::start` fails if the environment has changed
//! since.

const EXISTING_CLUSTER: &str = "USE_EXISTING_CLUSTER";
const CONTROL_PLANE: [&str; 3] = ["KUBEBUILDER_ASSETS", "TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER"];

fn main() {
    let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let backend = if value(EXISTING_CLUSTER).is_some_and(|it| it.eq_ignore_ascii_case("true")) {
        "existing_cluster"
    } else if CONTROL_PLANE.iter().any(|name| value(name).is_some()) {
        "control_plane"
    } else {
        "embedded"
    };
    for name in CONTROL_PLANE.iter().chain([&EXISTING_CLUSTER]) {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!(
        "cargo::rustc-check-cfg=cfg(backend, values(\"embedded\", \"control_plane\", \"existing_cluster\"))"
    );
    println!("cargo::rustc-cfg=backend=\"{backend}\"");
}
