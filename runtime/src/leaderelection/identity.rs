//! Who a candidate is.

use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};

/// A name for this process among the candidates, as controller-runtime makes it: the host's name, which is the pod's, and
/// random digits, so that a container that was started again is somebody else. It differs with each call: make one and keep it.
///
/// ```no_run
/// use kubesmith_runtime::client::build_config_from_flags;
/// use kubesmith_runtime::leaderelection::{LeaderElector, default_identity};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = kubesmith_runtime::client::connect(build_config_from_flags(None, None).await?).await?;
/// // The namespace of the kubeconfig's context or the pod's own.
/// let namespace = client.default_namespace().to_owned();
/// let elector = LeaderElector::builder(client, &namespace, "shop.example.com", default_identity()).build()?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn default_identity() -> String {
    let digits = || RandomState::new().hash_one(std::process::id());
    format!("{}_{:016x}{:016x}", host_name(), digits(), digits())
}

/// The kubelet sets `HOSTNAME` to the pod's name.
fn host_name() -> String {
    named(env::var("HOSTNAME").ok())
        .or_else(|| named(fs::read_to_string("/etc/hostname").ok()))
        .unwrap_or_else(|| "localhost".to_owned())
}

/// What can be shown of a name; nothing is none.
fn named(text: Option<String>) -> Option<String> {
    let name: String = text?.chars().filter(char::is_ascii_graphic).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_another_one_on_the_same_host() {
        let (one, other) = (default_identity(), default_identity());
        assert_ne!(one, other);
        let host =
            |identity: &str| identity.rsplit_once('_').map(|(host, digits)| (host.to_owned(), digits.len()));
        assert_eq!(host(&one), host(&other));
        assert_eq!(host(&one), Some((host_name(), 32)));
    }

    #[test]
    fn a_name_that_is_empty_is_none() {
        for none in [None, Some(""), Some(" \n"), Some("\u{e4}")] {
            assert_eq!(named(none.map(str::to_owned)), None);
        }
        assert_eq!(named(Some("node-1\n".to_owned())).as_deref(), Some("node-1"));
    }
}
