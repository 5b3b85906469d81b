//! Checks values of `[deploy]` that an API server would refuse in a Deployment.

use std::collections::BTreeMap;

use kubesmith_core::names::dns_subdomain;

use super::{DeployConfig, EnvSource, POD_INDEX, REPLICAS, ResourceRequirements};
use crate::config::UsageError;

/// The factors of suffixes of quantities.
const SUFFIXES: [(&str, f64); 15] = [
    ("", 1.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
];

/// 2 to the 60th, whose suffix looks like the start of an exponent.
const EXBI: f64 = 1_152_921_504_606_846_976.0;

/// Checks the values of a deployment.
///
/// # Errors
/// Names the key and the error in its value.
pub(super) fn check(
    deploy: &DeployConfig,
    image: &str,
    resources: &ResourceRequirements,
) -> Result<(), UsageError> {
    if image.is_empty() || image.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(UsageError(format!(
            "`{image}` is not an image: write it like \"registry.example.com/manager:v1\""
        )));
    }
    for (key, number) in [("replicas", deploy.replicas), ("shards", deploy.shards)] {
        if number.is_some_and(|number| i32::try_from(number).is_err()) {
            return Err(UsageError(format!("`{key}` in `[deploy]` is more than {}", i32::MAX)));
        }
    }
    if deploy.shards.is_some() {
        shards(deploy)?;
    }
    arguments(&deploy.args)?;
    if let Some(name) = deploy.env.keys().find(|name| !is_variable(name)) {
        return Err(UsageError(format!(
            "`{name}` in `env` of `[deploy]` is not a name of a variable: use letters, digits, `_`, `-` and `.`, and do not begin \
             with a digit"
        )));
    }
    for source in &deploy.env_from {
        let (key, name) = match source {
            EnvSource::Secret(name) => ("secret", name),
            EnvSource::ConfigMap(name) => ("config_map", name),
        };
        dns_subdomain(name).map_err(|problem| {
            UsageError(format!("`{key} = \"{name}\"` in `env_from` of `[deploy]` is not a name: {problem}"))
        })?;
    }
    let requests = quantities("requests", &resources.requests)?;
    let limits = quantities("limits", &resources.limits)?;
    let above = requests.iter().find(|(name, wanted)| {
        // Rounding errors are ignored.
        limits.get(*name).is_some_and(|limit| **wanted > limit * (1.0 + 1e-9))
    });
    match above {
        Some((name, _)) => Err(UsageError(format!(
            "`{name}` in `requests` of `[deploy.resources]` is more than in `limits`"
        ))),
        None => Ok(()),
    }
}

/// The flags that other keys set, with the keys. A program refuses a flag that it gets twice.
const OWN_FLAGS: [(&str, &str); 10] = [
    ("--leader-elect", "leader_election"),
    ("--metrics-bind-address", "metrics_port"),
    ("--metrics-secure", "metrics_secure"),
    ("--metrics-authorize", "metrics_secure"),
    ("--metrics-cert-path", "metrics_certificates"),
    ("--metrics-service", "certificates"),
    ("--health-probe-bind-address", "health_port"),
    ("--webhook-cert-secret", "certificates"),
    ("--webhook-service", "certificates"),
    ("--webhook-inject-ca", "certificates"),
];

/// Checks the further arguments.
fn arguments(args: &[String]) -> Result<(), UsageError> {
    for arg in args {
        let flag = arg.split_once('=').map_or(arg.as_str(), |(flag, _)| flag);
        let fault = match OWN_FLAGS.iter().find(|(own, _)| *own == flag) {
            Some((_, key)) => format!("is set by `{key}`: remove it from `args`"),
            None if arg.is_empty() => "is empty: remove it".to_owned(),
            None if arg.contains('\0') => "has a NUL, which ends an argument: remove it".to_owned(),
            None => continue,
        };
        return Err(UsageError(format!("`{}` in `args` of `[deploy]` {fault}", arg.escape_debug())));
    }
    Ok(())
}

/// Checks the settings of replicas with shards.
fn shards(deploy: &DeployConfig) -> Result<(), UsageError> {
    if deploy.shards == Some(0) {
        return Err(UsageError("`shards` in `[deploy]` is 0: set the number of replicas, at least 1".into()));
    }
    if deploy.replicas.is_some() {
        return Err(UsageError(
            "`shards` and `replicas` in `[deploy]` are both set: each replica has one shard, so remove `replicas`".into(),
        ));
    }
    match [POD_INDEX, REPLICAS].into_iter().find(|name| deploy.env.contains_key(*name)) {
        Some(name) => Err(UsageError(format!(
            "`{name}` in `env` of `[deploy]` is set by `shards` too: remove it from `env`"
        ))),
        None => Ok(()),
    }
}

/// The rule of `IsEnvVarName` in all supported servers.
fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !name.is_empty()
        && name.chars().all(is_part)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name != "."
        && !name.starts_with("..")
}

fn quantities<'a>(
    table: &str,
    resources: &'a BTreeMap<String, String>,
) -> Result<BTreeMap<&'a str, f64>, UsageError> {
    let checked = resources.iter().map(|(name, text)| {
        if !is_resource(name) {
            return Err(UsageError(format!(
                "`{name}` in `{table}` of `[deploy.resources]` is not a resource of containers: cpu, memory, \
                 ephemeral-storage, hugepages-SIZE, or one with a domain such as example.com/gpu"
            )));
        }
        let quantity = quantity(text).filter(|quantity| quantity.is_finite());
        quantity.map(|quantity| (name.as_str(), quantity)).ok_or_else(|| {
            UsageError(format!(
                "`{name} = \"{text}\"` in `{table}` of `[deploy.resources]` is not a quantity: write it like \"500m\" or \"64Mi\""
            ))
        })
    });
    checked.collect()
}

fn is_resource(name: &str) -> bool {
    match name.split_once('/') {
        Some((domain, name)) => dns_subdomain(domain).is_ok() && is_qualified(name),
        None => {
            let page_size = name.strip_prefix("hugepages-");
            matches!(name, "cpu" | "memory" | "ephemeral-storage")
                || page_size.is_some_and(|size| quantity(size).is_some())
        }
    }
}

/// The name in `domain/name`.
fn is_qualified(name: &str) -> bool {
    let is_edge = |c: char| c.is_ascii_alphanumeric();
    name.len() <= 63
        && name.starts_with(is_edge)
        && name.ends_with(is_edge)
        && name.chars().all(|c| is_edge(c) || matches!(c, '-' | '_' | '.'))
}

/// The value of a nonnegative quantity: a decimal number with a suffix or an exponent.
fn quantity(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let (number, suffix) = unsigned.split_at(unsigned.find(|c| !is_digit(c)).unwrap_or(unsigned.len()));
    // Rust parses the same numbers if only digits and dots remain, with at least one digit.
    let number: f64 = number.parse().ok()?;
    if suffix == "Ei" {
        return Some(number * EXBI);
    }
    if let Some((_, factor)) = SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some(number * factor);
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let exponent: i32 = exponent.parse().ok().filter(|_| is_number)?;
    Some(number * 10f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantity_parses_as_in_kubernetes() {
        for (text, value) in [
            ("0", 0.0),
            ("500m", 0.5),
            ("64Mi", 67_108_864.0),
            ("1.5", 1.5),
            (".5", 0.5),
            ("1.", 1.0),
            ("+2k", 2000.0),
            ("1e3", 1000.0),
            ("1E-3", 0.001),
            ("1E", 1e18),
            ("1Ei", EXBI),
        ] {
            assert_eq!(quantity(text), Some(value), "{text}");
        }
        for text in [
            "", "m", "-1", "1 Mi", "1K", "1mi", "1.2.3", "e3", "1e", "1e+", "1e1.5", "inf", "NaN", "0x1", ".",
        ] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    #[test]
    fn deploy_values_that_a_server_refuses_are_errors() {
        let usual = DeployConfig::default();
        let resources = ResourceRequirements::usual();
        assert_eq!(check(&usual, "controller:latest", &resources), Ok(()));
        let said = |deploy: &DeployConfig, image, resources: &ResourceRequirements| {
            check(deploy, image, resources).unwrap_err().0
        };
        for image in ["", " ", "a b"] {
            assert!(said(&usual, image, &resources).contains("is not an image"), "{image}");
        }
        let replicas = DeployConfig { replicas: Some(u32::MAX), ..usual.clone() };
        assert!(said(&replicas, "i", &resources).contains("`replicas`"));
        for name in ["", "1A", "A B", "A=B", "..", "\u{e4}"] {
            let env = BTreeMap::from([(name.to_string(), String::new())]);
            let deploy = DeployConfig { env, ..usual.clone() };
            assert!(said(&deploy, "i", &resources).contains("is not a name of a variable"), "{name}");
        }
        for source in [EnvSource::Secret("A".into()), EnvSource::ConfigMap(String::new())] {
            let deploy = DeployConfig { env_from: vec![source], ..usual.clone() };
            assert!(said(&deploy, "i", &resources).contains("in `env_from`"));
        }
        let with = |requests: (&str, &str), limits: (&str, &str)| {
            let one = |(name, value): (&str, &str)| BTreeMap::from([(name.to_string(), value.to_string())]);
            ResourceRequirements { requests: one(requests), limits: one(limits) }
        };
        for (requests, limits, part) in [
            (("cpu", "a lot"), ("memory", "1"), "`cpu = \"a lot\"` in `requests`"),
            (("cpu", "1"), ("memory", "64MB"), "`memory = \"64MB\"` in `limits`"),
            (("gpu", "1"), ("memory", "1"), "`gpu` in `requests`"),
            (("cpu", "2"), ("cpu", "1500m"), "`cpu` in `requests` of `[deploy.resources]` is more"),
        ] {
            let error = said(&usual, "i", &with(requests, limits));
            assert!(error.contains(part), "{error}");
        }
        for fine in
            [with(("cpu", "0.1"), ("cpu", "100m")), with(("example.com/gpu", "1"), ("hugepages-2Mi", "4Mi"))]
        {
            assert_eq!(check(&usual, "i", &fine), Ok(()));
        }
    }
}
