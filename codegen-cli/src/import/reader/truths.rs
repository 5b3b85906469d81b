//! Names that YAML 1.1 reads as truth values: `n`, `y`, `on`, `off`, `yes`, `no` without quotes.

use kubesmith_core::diag::Code;
use serde_json::Value;

use super::Reader;

impl Reader<'_, '_> {
    /// Warns of properties named `true` or `false`, which are rarely meant.
    pub(super) fn truths(&mut self, versions: &Value) {
        for (at, version) in super::list(versions) {
            let path = ["spec", "versions", &at.to_string(), "schema", "openAPIV3Schema"].map(str::to_string);
            self.truths_below(&version["schema"]["openAPIV3Schema"], &mut path.to_vec());
        }
    }

    fn truths_below(&mut self, value: &Value, path: &mut Vec<String>) {
        let Value::Object(members) = value else { return };
        for (key, below) in members {
            path.push(key.clone());
            if key == "properties"
                && let Value::Object(properties) = below
            {
                for name in ["true", "false"].into_iter().filter(|name| properties.contains_key(*name)) {
                    self.truth(path, name);
                }
                for (name, property) in properties {
                    path.push(name.clone());
                    self.truths_below(property, path);
                    path.pop();
                }
            } else if matches!(key.as_str(), "items" | "additionalProperties") {
                self.truths_below(below, path);
            }
            path.pop();
        }
    }

    fn truth(&mut self, properties: &[String], name: &str) {
        let words = if name == "true" { "`y`, `yes` and `on`" } else { "`n`, `no` and `off`" };
        self.warn(
            properties,
            Code::REPEATED_MEMBER,
            format!("a property is called `{name}`: YAML 1.1, which kubectl reads, takes {words} without quotes as {name}"),
            "put the name into quotes where the definition is written",
        );
    }
}
