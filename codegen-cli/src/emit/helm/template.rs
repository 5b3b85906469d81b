//! Builds templates: YAML with actions that Helm executes.
//!
//! An object is written as YAML with a unique word in each place of an action. Then the words become actions.
//! Braces in the object's own texts are escaped for Helm.

use kubesmith_apimachinery::yaml;
use serde_json::{Value, json};

/// The action in a place.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Part of a string, or a whole scalar.
    Inline(String),
    /// After a key: the YAML of this value.
    Yaml(String),
    /// After a key: key and YAML of this value, if it is not empty.
    With(String),
    /// An item of a list, or a key with its value, under this condition.
    If(String, Value),
    /// An item of a list: the items of this list.
    Items(String),
}

/// An object being made into a template.
pub(super) struct Template {
    /// The prefix of the words, which the object does not contain.
    word: String,
    actions: Vec<Action>,
}

impl Template {
    pub(super) fn of(object: &Value) -> Self {
        let text = object.to_string();
        let mut word = "action".to_string();
        while text.contains(&word) {
            word.push('x');
        }
        Self { word, actions: Vec::new() }
    }

    /// Adds an action and returns its word.
    pub(super) fn add(&mut self, action: Action) -> String {
        self.actions.push(action);
        format!("{}{}z", self.word, self.actions.len() - 1)
    }

    pub(super) fn inline(&mut self, text: &str) -> String {
        self.add(Action::Inline(text.to_string()))
    }

    /// The template's text, without `---`.
    pub(super) fn text(&self, object: &Value) -> String {
        let mut out = String::new();
        self.write(&yaml::to_yaml(object), 0, &mut out);
        out
    }

    fn write(&self, yaml: &str, columns: usize, out: &mut String) {
        for line in yaml.lines() {
            let own = line.len() - line.trim_start().len();
            match self.whole(line) {
                Some((head, action)) => self.action(&" ".repeat(columns + own), head, action, out),
                None => {
                    let line = self.inlined(line);
                    let line = if line.is_empty() { line } else { format!("{}{line}", " ".repeat(columns)) };
                    out.push_str(&format!("{line}\n"));
                }
            }
        }
    }

    /// A line that one action replaces as a whole: the text before it, such as `- ` or `key: `.
    fn whole<'l>(&self, line: &'l str) -> Option<(&'l str, &Action)> {
        let line = line.trim_start();
        let at = line.find(&self.word)?;
        let number = line[at + self.word.len()..].strip_suffix('z')?;
        let action = self.actions.get(number.parse::<usize>().ok()?)?;
        (!matches!(action, Action::Inline(_))).then_some((&line[..at], action))
    }

    fn action(&self, indent: &str, head: &str, action: &Action, out: &mut String) {
        let key = head.trim_end();
        // A key may begin an item: lines below are indented from the key on.
        let dashes = head.len() - head.trim_start_matches("- ").len();
        let below = indent.len() + dashes + 2;
        let mut line = |text: String| out.push_str(&format!("{indent}{text}\n"));
        match action {
            Action::Inline(_) => {}
            Action::Yaml(path) => {
                line(key.to_string());
                line(format!("  {{{{- toYaml {path} | nindent {below} }}}}"));
            }
            Action::With(path) => {
                line(format!("{{{{- with {path} }}}}"));
                line(key.to_string());
                line(format!("  {{{{- toYaml . | nindent {below} }}}}"));
                line("{{- end }}".to_string());
            }
            Action::Items(path) => {
                line(format!("{{{{- with {path} }}}}"));
                line(format!("{{{{- toYaml . | nindent {} }}}}", indent.len()));
                line("{{- end }}".to_string());
            }
            Action::If(condition, value) => {
                line(format!("{{{{- if {condition} }}}}"));
                let part = match key.strip_suffix(':') {
                    Some(key) => json!({key: value}),
                    None => json!([value]),
                };
                self.write(&yaml::to_yaml(&part), indent.len(), out);
                out.push_str(&format!("{indent}{{{{- end }}}}\n"));
            }
        }
    }

    fn inlined(&self, line: &str) -> String {
        let mut parts = line.split(&self.word);
        let mut out = escaped(parts.next().unwrap_or_default());
        for part in parts {
            let action = part.split_once('z').and_then(|(number, rest)| {
                let action = self.actions.get(number.parse::<usize>().ok()?)?;
                Some((action, rest))
            });
            match action {
                Some((Action::Inline(text), rest)) => {
                    out.push_str(text);
                    out.push_str(&escaped(rest));
                }
                _ => out.push_str(&escaped(&format!("{}{part}", self.word))),
            }
        }
        out
    }
}

/// Text that Helm prints unchanged.
fn escaped(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}
