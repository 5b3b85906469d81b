//! Reads a value and reports duplicate members, which parsers drop silently.

use std::collections::BTreeSet;

use kubesmith_apimachinery::decode::{self, Observer, Step};
use serde::Deserializer;
use serde_json::Value;

/// The value and its duplicate members.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) value: Value,
    /// The paths of the members that occur more than once.
    pub(super) repeated: BTreeSet<Vec<String>>,
}

/// Reads a value of JSON or, if its source is given, of YAML; the last duplicate member wins.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D, yaml: Option<&str>) -> Result<Read, D::Error> {
    let mut repeated = Repeated::default();
    let value = decode::read(deserializer, yaml, &mut repeated)?;
    Ok(Read { value, repeated: repeated.0 })
}

#[derive(Default)]
struct Repeated(BTreeSet<Vec<String>>);

impl Observer for Repeated {
    fn duplicate(&mut self, path: &[Step], _: Option<usize>) -> Result<(), &'static str> {
        let name = |step: &Step| match step {
            Step::Member(name) => name.clone(),
            Step::Item(at) => at.to_string(),
        };
        self.0.insert(path.iter().map(name).collect());
        Ok(())
    }
}
