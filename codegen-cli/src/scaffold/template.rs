//! Fills in the template files of a project.

use std::collections::BTreeSet;

/// Placeholders and their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Vec<(&'static str, String)>);

impl Values {
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Replaces the placeholders. Unknown ones stay; a test finds them.
    pub(super) fn fill(&self, template: &str) -> String {
        self.0
            .iter()
            .fold(template.to_string(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
    }
}

/// A file of a project by its path.
///
/// # Panics
/// Panics if the file does not exist. All paths are constants of this program, and tests make every file.
pub(super) fn template(path: &str) -> &'static str {
    kubesmith_templates::project(path).unwrap_or_else(|| panic!("no template is called {path}"))
}

/// The templates with a kind's types in scope.
pub(super) fn kind_templates() -> [&'static str; 4] {
    [
        template("api/kind.rs"),
        template("controller/test.rs"),
        template("controller/defaulter.rs"),
        template("controller/validator.rs"),
    ]
}

/// The templates with a kind's client in scope.
pub(super) fn client_templates() -> [&'static str; 2] {
    [template("controller/kind.rs"), template("controller/test.rs")]
}

/// The fixed names of types in a template's code.
pub(super) fn names(template: &str) -> BTreeSet<&str> {
    let code = template.lines().filter(|line| !line.trim_start().starts_with("//"));
    let outside_of_texts = code.flat_map(|line| line.split('"').step_by(2));
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '}');
    outside_of_texts
        .flat_map(|code| code.split(|c| !is_part(c)))
        .map(|word| word.trim_matches(['{', '}']))
        .filter(|word| word.starts_with(char::is_uppercase) && !word.contains(['{', '}']))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_template_exclude_comments_and_literals() {
        let text = "//! A Comment.\nuse a::{B, C};\nfn {{kind}}Spec(d: Option<{{kind}}>) -> E { f(\"Text\", G::h()) }";
        assert_eq!(names(text).into_iter().collect::<Vec<_>>(), ["B", "C", "E", "G", "Option"]);
    }
}
