//! The runtime's shared apply configurations are the emitter's output for Kubernetes' types.
//! `KUBESMITH_UPDATE=1` writes them.

use std::fs;
use std::path::Path;

use kubesmith::emit::rust::shared_configurations;

#[test]
fn shared_apply_configurations_are_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/applyconfigurations/meta/v1.rs");
    let made = shared_configurations();
    if std::env::var("KUBESMITH_UPDATE").is_ok_and(|value| value == "1") {
        return fs::write(&path, made).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap();
    assert!(stored == made, "{} is out of date (KUBESMITH_UPDATE=1 writes it)", path.display());
}
