//! Without what the scheme calls.

fn add_to_scheme(_: &mut kubesmith_runtime::scheme::Scheme) {}
