//! The names of the user's own values of a chart, which its schema admits.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;
use serde_json::{Map, Value};

use crate::config::Settings;
use crate::diag::Diagnostic;
use crate::emit::helm;
use crate::output::{Kind, kept_part};
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

fn in_chart(folder: &Path, sources: &mut SourceMap) -> Result<BTreeSet<String>, Box<Diagnostic>> {
    let values = OwnPart::read(folder.join("values.yaml"), "values")?;
    let found = values.keys(helm::VALUES, sources)?;
    let mut names: BTreeSet<String> = found.into_iter().map(|(key, _)| key).collect();
    let chart = OwnPart::read(folder.join("Chart.yaml"), "chart")?;
    let found = chart.keys(helm::CHART_KEYS, sources)?;
    for one in found.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = one.get("alias").or(one.get("name")).and_then(Value::as_str) else { continue };
        if helm::VALUES.contains(&name) {
            let message = format!("the dependency `{name}` has the name of a generated value");
            return Err(Box::new(chart.error(chart.find(name), message, sources).help("give it an `alias`")));
        }
        names.insert(name.to_owned());
    }
    OwnPart::read(folder.join("templates").join(helm::MANAGER), "pod")?.check_pod(sources)?;
    Ok(names)
}

/// The user's part of a file.
struct OwnPart {
    path: PathBuf,
    name: &'static str,
    text: String,
    /// The place of the part: a section, or the whole file after the user took it over.
    place: Range<usize>,
    is_whole: bool,
}

impl OwnPart {
    /// Reads the part with this name; an empty one if there is no file.
    fn read(path: PathBuf, name: &'static str) -> Result<Self, Box<Diagnostic>> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                let message = format!("cannot read {}: {error}", display(&path));
                return Err(Box::new(Diagnostic::error(Code::UNREADABLE_FILE, None, message)));
            }
        };
        let section = kept_part(&text, name).filter(|_| Kind::Helm.bears_mark(&path, &text));
        let (is_whole, place) = (section.is_none(), section.unwrap_or(0..text.len()));
        Ok(Self { path, name, text, place, is_whole })
    }

    /// Returns the keys of the part. Those that `generate` writes are errors in a section: Helm takes the last of two equal keys,
    /// so the generated values would be lost.
    fn keys(
        &self,
        generated: &[&str],
        sources: &mut SourceMap,
    ) -> Result<Map<String, Value>, Box<Diagnostic>> {
        let Self { name, text, place, is_whole, .. } = self;
        let found = match serde_yaml::from_str::<Option<Map<String, Value>>>(&text[place.clone()]) {
            Ok(found) => found.unwrap_or_default(),
            Err(fault) => {
                let at = place.start + fault.location().map_or(0, |place| place.index()).min(place.len());
                let message = format!("the section `{name}` is not a map in YAML: {fault}");
                return Err(Box::new(self.error(at, message, sources)));
            }
        };
        match found.keys().find(|key| !is_whole && generated.contains(&key.as_str())) {
            Some(key) => Err(Box::new(self.generated(key, self.find(&format!("\n{key}:")), sources))),
            None => Ok(found),
        }
    }

    /// Refuses keys of the pod that its template writes. The section may have actions of Helm, so it need not be YAML.
    fn check_pod(&self, sources: &mut SourceMap) -> Result<(), Box<Diagnostic>> {
        if self.is_whole {
            return Ok(());
        }
        let indent = " ".repeat(helm::POD_COLUMN);
        let mut at = self.place.start;
        for line in self.text[self.place.clone()].split_inclusive('\n') {
            let key = line.strip_prefix(&indent).and_then(|rest| rest.split_once(':')).map(|(key, _)| key);
            let key = key.map(|key| key.trim_end().trim_matches(['"', '\'']));
            if let Some(key) = key.filter(|key| helm::POD_KEYS.contains(key)) {
                return Err(Box::new(self.generated(key, at + indent.len(), sources)));
            }
            at += line.len();
        }
        Ok(())
    }

    /// The error about a key that `generate` writes.
    fn generated(&self, key: &str, at: usize, sources: &mut SourceMap) -> Diagnostic {
        let help = match self.name {
            "chart" => "change `[helm]` or `[deploy]` in kubesmith.toml",
            "pod" => {
                "set it by the chart's values `manager` and `serviceAccount`, or take the file over by removing its first comment"
            }
            _ => "give another value in a file for `helm --values`",
        };
        let message =
            format!("the section `{}` has the key `{key}`, which `generate` writes itself", self.name);
        self.error(at, message, sources).help(help)
    }

    /// The place of a text in the part, without its line break; the start of the part if it is not there.
    fn find(&self, text: &str) -> usize {
        let found = self.text[self.place.clone()].find(text);
        self.place.start + found.map_or(0, |at| at + usize::from(text.starts_with('\n')))
    }

    fn error(&self, at: usize, message: String, sources: &mut SourceMap) -> Diagnostic {
        let name = display(&self.path).into();
        let file = sources.add(SourceFile { path: self.path.clone(), name, text: self.text.as_str().into() });
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        Diagnostic::error(Code::INVALID_YAML, Loc { file, start: at, end: at }, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "# Code generated by kubesmith helm v0.1.0. DO NOT EDIT.\n";

    fn names(values: &str, chart: &str) -> Result<Vec<String>, String> {
        names_of(&[("values.yaml", values), ("Chart.yaml", chart)])
    }

    fn names_of(files: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("templates/manager")).unwrap();
        for (path, text) in files {
            fs::write(folder.path().join(path), text).unwrap();
        }
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
        assert_eq!(names(&format!("{MARK}{values}"), chart).unwrap(), ["cache", "db", "mine"]);
        // Without its mark, the file is the user's.
        assert_eq!(names(&format!("metrics: 1\n{values}"), "").unwrap(), ["a", "metrics", "mine"]);
        assert_eq!(names("", "").unwrap(), [""; 0]);
        assert_eq!(names("whole: 1\n", "").unwrap(), ["whole"]);
    }

    #[test]
    fn section_that_is_no_yaml_is_an_error_at_its_line() {
        let section = |text: &str| {
            format!("{MARK}a: 1\n# +kubesmith:keep begin values\n{text}\n# +kubesmith:keep end values\n")
        };
        let found = names(&section("mine: 1\nother: [1"), "").unwrap_err();
        assert!(found.starts_with("5:") || found.starts_with("6:"), "{found}");
        let found = names(&section("- a"), "").unwrap_err();
        assert!(found.starts_with("4:1: the section `values` is not a map in YAML: "), "{found}");
    }

    #[test]
    fn generated_key_in_the_section_is_an_error_at_its_line() {
        let section = |keys: &str| {
            format!(
                "{MARK}manager: {{a: 1}}\n# +kubesmith:keep begin values\n{keys}# +kubesmith:keep end values\n"
            )
        };
        let found = names(&section("mine: 1\nmanager: {b: 2}\n"), "").unwrap_err();
        assert_eq!(found, "5:1: the section `values` has the key `manager`, which `generate` writes itself");
        // The next run may write it.
        let found = names(&section("webhooks: 1\n"), "").unwrap_err();
        assert!(found.starts_with("4:1: "), "{found}");
        let chart = format!("{MARK}# +kubesmith:keep begin chart\nversion: 2\n# +kubesmith:keep end chart\n");
        assert!(names("", &chart).unwrap_err().starts_with("3:1: the section `chart` has the key `version`"));
        let found = names("", "dependencies:\n- name: metrics\n").unwrap_err();
        assert_eq!(found, "2:9: the dependency `metrics` has the name of a generated value");
    }

    #[test]
    fn generated_key_of_the_pod_is_an_error_at_its_line() {
        let manager = |lines: &str| {
            let text = format!(
                "{MARK}spec:\n      # +kubesmith:keep begin pod\n{lines}      # +kubesmith:keep end pod\n"
            );
            names_of(&[("templates/manager/manager.yaml", &text)])
        };
        let own =
            "      {{- if .Values.mine }}\n      dnsConfig:\n        securityContext: {}\n      {{- end }}\n";
        assert_eq!(manager(own), Ok(vec![]));
        for key in ["securityContext", "\"volumes\"", "serviceAccountName"] {
            let name = key.trim_matches('"');
            let found = manager(&format!("{own}      {key}: {{}}\n")).unwrap_err();
            let wanted =
                format!("8:7: the section `pod` has the key `{name}`, which `generate` writes itself");
            assert_eq!(found, wanted);
        }
        // Without its mark, the file is the user's.
        assert_eq!(names_of(&[("templates/manager/manager.yaml", "      volumes: []\n")]), Ok(vec![]));
    }
}
