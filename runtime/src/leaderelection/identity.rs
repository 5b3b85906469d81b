//! The identity of a candidate.

use std::env;
use std::fs;
use std::hash::{BuildHasher, RandomState};

/// Returns an identity for this process, made as in controller-runtime: the host name, which is the pod's name, and
/// random digits, so that a restarted container is a new candidate. Each call returns another one, so call it once
/// and keep the result.
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

/// Returns the printable characters of a name; `None` if there are none.
fn named(text: Option<String>) -> Option<String> {
    let name: String = text?.chars().filter(char::is_ascii_graphic).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_differ_on_the_same_host() {
        let (one, other) = (default_identity(), default_identity());
        assert_ne!(one, other);
        let host =
            |identity: &str| identity.rsplit_once('_').map(|(host, digits)| (host.to_owned(), digits.len()));
        assert_eq!(host(&one), host(&other));
        assert_eq!(host(&one), Some((host_name(), 32)));
    }

    #[test]
    fn empty_host_name_is_ignored() {
        for none in [None, Some(""), Some(" \n"), Some("\u{e4}")] {
            assert_eq!(named(none.map(str::to_owned)), None);
        }
        assert_eq!(named(Some("node-1\n".to_owned())).as_deref(), Some("node-1"));
    }
}
