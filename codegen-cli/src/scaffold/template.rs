//! The files of a project, with names to be put in.

/// Names and what they stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Values(Vec<(&'static str, String)>);

impl Values {
    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Puts the values in. What stands for nothing stays; a test looks for it.
    pub(super) fn fill(&self, template: &str) -> String {
        self.0
            .iter()
            .fold(template.to_string(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
    }
}

/// Embeds templates of `templates/project`.
macro_rules! template {
    ($file:literal) => {
        include_str!(concat!("../../../templates/project/", $file, ".tmpl"))
    };
}
pub(super) use template;
