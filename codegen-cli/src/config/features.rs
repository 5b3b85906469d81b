//! Merges the enabled features of the inputs.

use crate::cfg::FeatureChoice;

use super::{Config, UsageError};

/// The flags, as Cargo has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct FeatureFlags {
    /// Features of the inputs to enable in addition to `default`: `a`, or `package/a` for one input.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub features: Vec<String>,
    /// Enables all features of the inputs.
    #[arg(long)]
    pub all_features: bool,
    /// Disables the feature `default` of the inputs.
    #[arg(long)]
    pub no_default_features: bool,
}

/// Merges file and flags; features in flags replace those of the file.
pub(super) fn choice(config: &Config, flags: &FeatureFlags) -> Result<FeatureChoice, UsageError> {
    let named = if flags.features.is_empty() { &config.features } else { &flags.features };
    let words = named.iter().flat_map(|names| names.split_whitespace());
    let choice = FeatureChoice {
        names: words.map(str::to_string).collect(),
        all: flags.all_features || config.all_features,
        no_default: flags.no_default_features || config.no_default_features,
    };
    if choice.all && choice.no_default {
        return Err(UsageError(
            "`no_default_features` has no effect beside `all_features`: `default` is one of them".into(),
        ));
    }
    if choice.all && !choice.names.is_empty() {
        return Err(UsageError("`features` has no effect beside `all_features`: choose one".into()));
    }
    Ok(choice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feature_flags_override_the_file_and_contradictions_are_refused() {
        let config =
            Config { features: vec!["a b".to_string()], no_default_features: true, ..Config::default() };
        let none = FeatureFlags::default();
        let read = choice(&config, &none).unwrap();
        assert_eq!((read.names, read.all, read.no_default), (vec!["a".into(), "b".into()], false, true));
        let flags = FeatureFlags { features: vec!["c".to_string()], ..FeatureFlags::default() };
        assert_eq!(choice(&config, &flags).unwrap().names, ["c"]);
        let all = FeatureFlags { all_features: true, ..none };
        assert!(choice(&config, &all).unwrap_err().0.contains("no effect"));
        let named = Config { features: vec!["a".to_string()], ..Config::default() };
        assert!(choice(&named, &all).unwrap_err().0.contains("choose one"));
        assert!(choice(&Config::default(), &all).unwrap().all);
    }
}
