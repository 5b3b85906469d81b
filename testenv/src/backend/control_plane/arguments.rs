//! Flags of a process, with defaults as in envtest.

use std::collections::BTreeMap;

/// Changes to the flags of a control plane's process.
///
/// ```
/// use kubesmith_testenv::Arguments;
///
/// let flags = Arguments::new()
///     .set("authorization-mode", ["AlwaysAllow"])
///     .append("disable-admission-plugins", ["PodSecurity"])
///     .enable("anonymous-auth")
///     .disable("allow-privileged");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments(BTreeMap<String, Argument>);

/// The treatment of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Argument {
    /// The values that replace the default.
    Set(Vec<String>),
    /// The default, and these values after it.
    Append(Vec<String>),
    /// `--flag` without a value.
    NameOnly,
    /// The flag is not passed.
    Absent,
}

impl Arguments {
    /// Creates an empty set of changes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Passes `--name=value` for each value, in place of the default.
    #[must_use]
    pub fn set<V: Into<String>>(mut self, name: &str, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.0.insert(name.to_owned(), Argument::Set(values));
        self
    }

    /// Passes further values, after the default or the values set before.
    #[must_use]
    pub fn append<V: Into<String>>(mut self, name: &str, values: impl IntoIterator<Item = V>) -> Self {
        let more = values.into_iter().map(Into::into);
        let next = match self.0.remove(name) {
            None => Argument::Append(more.collect()),
            Some(Argument::Append(values)) => Argument::Append(values.into_iter().chain(more).collect()),
            Some(Argument::Set(values)) => Argument::Set(values.into_iter().chain(more).collect()),
            Some(Argument::Absent) => Argument::Set(more.collect()),
            Some(Argument::NameOnly) => Argument::NameOnly,
        };
        self.0.insert(name.to_owned(), next);
        self
    }

    /// Passes `--name` without a value.
    #[must_use]
    pub fn enable(mut self, name: &str) -> Self {
        self.0.insert(name.to_owned(), Argument::NameOnly);
        self
    }

    /// Omits the flag and its default.
    #[must_use]
    pub fn disable(mut self, name: &str) -> Self {
        self.0.insert(name.to_owned(), Argument::Absent);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first of these flags that is changed.
    pub(crate) fn changes_any<'a>(&self, flags: &[&'a str]) -> Option<&'a str> {
        flags.iter().copied().find(|flag| self.0.contains_key(*flag))
    }

    /// Returns the command line from `defaults` and the changes, ordered by the flags' names.
    pub(crate) fn over(&self, defaults: &[(&str, String)]) -> Vec<String> {
        let mut flags: BTreeMap<&str, Vec<String>> =
            defaults.iter().map(|(name, value)| (*name, vec![format!("--{name}={value}")])).collect();
        for (name, argument) in &self.0 {
            let passed = |values: &[String]| values.iter().map(|value| format!("--{name}={value}")).collect();
            match argument {
                Argument::Set(values) => drop(flags.insert(name, passed(values))),
                Argument::Append(values) => {
                    let mut more: Vec<String> = passed(values);
                    flags.entry(name).or_default().append(&mut more);
                }
                Argument::NameOnly => drop(flags.insert(name, vec![format!("--{name}")])),
                Argument::Absent => drop(flags.remove(name.as_str())),
            }
        }
        flags.into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_replaces_or_extends_its_default() {
        let defaults =
            [("a", "1".to_owned()), ("b", "2".to_owned()), ("c", "3".to_owned()), ("d", "4".to_owned())];
        let changes = Arguments::new()
            .set("a", ["x", "y"])
            .append("b", ["x"])
            .append("b", ["y"])
            .disable("c")
            .enable("aa")
            .disable("e")
            .append("e", ["z"]);
        let expected = ["--a=x", "--a=y", "--aa", "--b=2", "--b=x", "--b=y", "--d=4", "--e=z"];
        assert_eq!(changes.over(&defaults), expected);
        assert_eq!(Arguments::new().over(&defaults), ["--a=1", "--b=2", "--c=3", "--d=4"]);
    }

    #[test]
    fn values_are_appended_to_those_already_set() {
        assert_eq!(Arguments::new().set("a", ["1"]).append("a", ["2"]).over(&[]), ["--a=1", "--a=2"]);
        assert_eq!(Arguments::new().enable("a").append("a", ["2"]).over(&[]), ["--a"]);
    }
}
