//! The CRDs of a case.

use std::path::Path;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubesmith::config::{self, Generator, Overrides};
use kubesmith::pipeline;
use kubesmith_testenv::TestEnv;

/// The CRDs as the command writes them.
pub(crate) fn of_case(name: &str) -> Vec<CustomResourceDefinition> {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases").join(name);
    let flags = Overrides {
        input: vec![case.join("api")],
        only: vec![Generator::Crd],
        crd_output: Some(case.join("crds")),
        ..Overrides::default()
    };
    let generated = pipeline::generate(&config::settings(None, flags).unwrap().remove(0));
    assert!(generated.diagnostics.is_empty(), "{:?}", generated.diagnostics);
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    files.map(|(_, text)| serde_yaml::from_str(text).unwrap()).collect()
}

/// An embedded server with the CRDs of a case.
pub(crate) async fn server(case: &str) -> TestEnv {
    TestEnv::builder().crds(of_case(case)).start().await.unwrap()
}
