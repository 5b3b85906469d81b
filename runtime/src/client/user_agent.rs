//! The user agent of a client.

use std::path::Path;

/// The user agent sent when neither the configuration nor the options name one, in client-go's form:
/// `<program>/unknown (<os>/<arch>) kubesmith/<version>`. The program is the running file. The part before the first
/// slash is the field manager of writes that name none, and appears in audit logs; the program's version is unknown
/// here, but [`ClientOptions::user_agent`](super::ClientOptions::user_agent) can set it.
///
/// ```
/// use kubesmith_runtime::client::{ClientOptions, default_user_agent};
///
/// assert!(default_user_agent().contains("/unknown ("));
/// let options = ClientOptions::new().user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")));
/// ```
#[must_use]
pub fn default_user_agent() -> String {
    user_agent(std::env::args_os().next().map(|argument| argument.to_string_lossy().into_owned()).as_deref())
}

/// The user agent of the program that was started by such a first argument.
fn user_agent(argument: Option<&str>) -> String {
    let file = argument.and_then(|argument| Path::new(argument).file_name()).unwrap_or_default();
    let file = file.to_string_lossy();
    let name = file.strip_suffix(".exe").unwrap_or(&file);
    let program: String = name.chars().filter(|c| is_token(*c)).collect();
    let program = if program.is_empty() { "unknown" } else { program.as_str() };
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{program}/unknown ({os}/{arch}) kubesmith/{}", env!("CARGO_PKG_VERSION"))
}

/// Reports whether the name of a product may have the character (RFC 9110, 5.6.2).
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agent_names_the_program_in_valid_characters() {
        let rest = format!(
            "/unknown ({}/{}) kubesmith/{}",
            std::env::consts::OS,
            std::env::consts::ARCH,
            env!("CARGO_PKG_VERSION")
        );
        for (argument, program) in [
            (Some("/usr/bin/balancer-operator"), "balancer-operator"),
            (Some("target/debug/operator.exe"), "operator"),
            (Some("/opt/operator-v1.2.3"), "operator-v1.2.3"),
            (Some("/opt/shop.example.com"), "shop.example.com"),
            (Some("b\u{e4}d name/\n(1)"), "1"),
            (Some("\u{e4}"), "unknown"),
            (Some(""), "unknown"),
            (Some(".."), "unknown"),
            (None, "unknown"),
        ] {
            assert_eq!(user_agent(argument), format!("{program}{rest}"), "{argument:?}");
        }
        assert!(http::HeaderValue::from_str(&default_user_agent()).is_ok());
    }
}
