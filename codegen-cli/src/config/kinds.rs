//! Selects the kinds to generate, and decides whether errors in one stop the others.

use crate::selection::{Selection, names_kind};

use super::{Config, UsageError};

/// The flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct KindFlags {
    /// Generates only these kinds: Order, or Order.bakery.example.com.
    #[arg(long = "kind", value_name = "LIST", value_delimiter = ',')]
    pub kinds: Vec<String>,
    /// Generates only the kinds of these groups: bakery.example.com, or *.example.com.
    #[arg(long = "group", value_name = "LIST", value_delimiter = ',')]
    pub groups: Vec<String>,
    /// Skips these kinds and groups.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Writes kinds without errors even if other kinds have errors. The exit code is still 1.
    #[arg(long)]
    pub keep_going: bool,
    /// Builds and runs the project to get CRDs that cannot be read from source. Only use it for code that you trust.
    #[arg(long)]
    pub evaluate: bool,
}

impl KindFlags {
    /// Whether the flags select kinds for one run.
    pub(super) fn is_given(&self) -> bool {
        !(self.kinds.is_empty() && self.groups.is_empty() && self.exclude.is_empty())
    }
}

/// Merges flags and file: each list from flags replaces the file's.
pub(super) fn selection(config: &Config, flags: &KindFlags) -> Result<Selection, UsageError> {
    let choose =
        |flag: &Vec<String>, key: &Vec<String>| if flag.is_empty() { key.clone() } else { flag.clone() };
    let selection = Selection {
        kinds: choose(&flags.kinds, &config.kinds),
        groups: choose(&flags.groups, &config.groups),
        exclude: choose(&flags.exclude, &config.exclude),
    };
    if let Some(entry) = selection.kinds.iter().find(|entry| !names_kind(entry)) {
        return Err(UsageError(format!(
            "`{entry}` is not a kind: kinds begin in upper case, like `Order` or `Order.bakery.example.com`"
        )));
    }
    if let Some(entry) = selection.groups.iter().find(|entry| names_kind(entry)) {
        return Err(UsageError(format!(
            "`{entry}` is not a group: groups are in lower case, like `bakery.example.com` or `*.example.com`"
        )));
    }
    Ok(selection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_replace_lists_of_the_file() {
        let config =
            Config { kinds: vec!["Order".into()], exclude: vec!["example.org".into()], ..Config::default() };
        let flags = KindFlags { kinds: vec!["Cart".into()], ..KindFlags::default() };
        let chosen = selection(&config, &flags).unwrap();
        assert_eq!((chosen.kinds, chosen.exclude), (vec!["Cart".to_owned()], vec!["example.org".to_owned()]));
    }

    #[test]
    fn kinds_and_groups_are_not_confused() {
        let group = KindFlags { kinds: vec!["example.com".into()], ..KindFlags::default() };
        assert!(selection(&Config::default(), &group).unwrap_err().0.contains("is not a kind"));
        let kind = KindFlags { groups: vec!["Order".into()], ..KindFlags::default() };
        assert!(selection(&Config::default(), &kind).unwrap_err().0.contains("is not a group"));
    }
}
