//! The names of the user's own values of a chart, which its schema admits.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use kubesmith_core::diag::Code;
use serde_json::{Map, Value};

use crate::config::Settings;
use crate::diag::Diagnostic;
use crate::output::kept_part;
use crate::paths::display;
use crate::source::{Loc, SourceFile, SourceMap};

/// Returns the keys that the user has added to the values of the configured chart, and the names of the charts that it
/// depends on: Helm passes their values under their names. Adds an error for a file that cannot be read or is not YAML.
pub(super) fn own(
    settings: &Settings,
    sources: &mut SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeSet<String> {
    let found = settings.helm.as_ref().map(|helm| in_chart(&helm.output, sources));
    found.unwrap_or_else(|| Ok(BTreeSet::new())).unwrap_or_else(|error| {
        diagnostics.push(*error);
        BTreeSet::new()
    })
}

fn in_chart(chart: &Path, sources: &mut SourceMap) -> Result<BTreeSet<String>, Box<Diagnostic>> {
    let mut names: BTreeSet<String> =
        read(&chart.join("values.yaml"), "values", sources)?.into_iter().map(|(key, _)| key).collect();
    let chart = read(&chart.join("Chart.yaml"), "chart", sources)?;
    let dependencies = chart.get("dependencies").and_then(Value::as_array).into_iter().flatten();
    names.extend(
        dependencies.filter_map(|one| Some(one.get("alias").or(one.get("name"))?.as_str()?.to_owned())),
    );
    Ok(names)
}

/// Reads the user's part of a file, or the whole file if it has no such part.
fn read(path: &Path, part: &str, sources: &mut SourceMap) -> Result<Map<String, Value>, Box<Diagnostic>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => {
            let message = format!("cannot read {}: {error}", display(path));
            return Err(Box::new(Diagnostic::error(Code::UNREADABLE_FILE, None, message)));
        }
    };
    let own = kept_part(&text, part).unwrap_or(0..text.len());
    let mut error = |at: usize, message: String| {
        let name = display(path).into();
        let file = sources.add(SourceFile { path: path.to_path_buf(), name, text: text.clone() });
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        Box::new(Diagnostic::error(Code::INVALID_YAML, Loc { file, start: at, end: at }, message))
    };
    let found = match serde_yaml::from_str::<Option<Map<String, Value>>>(&text[own.clone()]) {
        Ok(found) => found.unwrap_or_default(),
        Err(fault) => {
            let at = own.start + fault.location().map_or(0, |place| place.index()).min(own.len());
            return Err(error(at, format!("the section `{part}` is not a map in YAML: {fault}")));
        }
    };
    let generated: Map<String, Value> = serde_yaml::from_str(&text[..own.start]).unwrap_or_default();
    match found.keys().find(|key| generated.contains_key(*key)) {
        // Helm takes the last of two equal keys, so the generated values would be lost.
        Some(key) => {
            let at = own.start + text[own].find(&format!("\n{key}:")).map_or(0, |at| at + 1);
            let message =
                format!("the section `{part}` has the key `{key}`, which is in the generated lines too");
            Err(Box::new(error(at, message).help("give another value in a file for `helm --values`")))
        }
        None => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(values: &str, chart: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("values.yaml"), values).unwrap();
        fs::write(folder.path().join("Chart.yaml"), chart).unwrap();
        let mut sources = SourceMap::default();
        let place = |found: Box<Diagnostic>, sources: &SourceMap| {
            let at = sources.position(found.primary.unwrap());
            format!("{}:{}: {}", at.line, at.column, found.message)
        };
        let found = in_chart(folder.path(), &mut sources);
        found.map(|names| names.into_iter().collect()).map_err(|found| place(found, &sources))
    }

    #[test]
    fn names_are_those_of_the_kept_section_and_of_dependencies() {
        let values = "a: 1\n# +kubesmith:keep begin values\nmine: {b: 2}\n# +kubesmith:keep end values\n";
        let chart = "dependencies: [{name: sql, alias: db}, {name: cache}]\n";
        assert_eq!(names(values, chart).unwrap(), ["cache", "db", "mine"]);
        assert_eq!(names("", "").unwrap(), [""; 0]);
        assert_eq!(names("whole: 1\n", "").unwrap(), ["whole"]);
    }

    #[test]
    fn section_that_is_no_yaml_is_an_error_at_its_line() {
        let section = |text: &str| {
            format!("a: 1\n# +kubesmith:keep begin values\n{text}\n# +kubesmith:keep end values\n")
        };
        let found = names(&section("mine: 1\nother: [1"), "").unwrap_err();
        assert!(found.starts_with("4:") || found.starts_with("5:"), "{found}");
        let found = names(&section("- a"), "").unwrap_err();
        assert!(found.starts_with("3:1: the section `values` is not a map in YAML: "), "{found}");
    }

    #[test]
    fn generated_key_in_the_section_is_an_error_at_its_line() {
        let section = |keys: &str| {
            format!(
                "# Values.\nmanager: {{a: 1}}\n# +kubesmith:keep begin values\n{keys}# +kubesmith:keep end values\n"
            )
        };
        let found = names(&section("mine: 1\nmanager: {b: 2}\n"), "").unwrap_err();
        assert_eq!(
            found,
            "5:1: the section `values` has the key `manager`, which is in the generated lines too"
        );
        let found = names(&section("manager: 1\n"), "").unwrap_err();
        assert!(found.starts_with("4:1: "), "{found}");
    }
}
