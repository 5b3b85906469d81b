//! Checks the API rules of kube-openapi (`pkg/generators/rules`) for Rust types, and reports violations.
//!
//! `list_type_missing` and `names_match` are checked. The others cannot be violated here:
//! `omitempty_match_case` concerns a misspelt option that serde refuses, and the `streaming_list_type_*`
//! rules concern list types, which are not handwritten.

use std::fmt;
use std::path::PathBuf;

use heck::{ToLowerCamelCase, ToSnakeCase};
use kubesmith_core::diag::Code;

use crate::diag::Diagnostic;
use crate::ir::{Field, Ir, Span, TypeDef, TypeRef};
use crate::output::{Kind, OutputTree, REPORT_MARK, Target};
use crate::source::SourceMap;

/// Types whose field has a fixed name in every object.
const METADATA_TYPES: &[&str] = &["ObjectMeta", "ListMeta"];

/// A violation of a rule by a field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The rule's name.
    pub rule: Rule,
    /// The type's module, `ecsbinding_api::v1`.
    pub package: String,
    /// The type.
    pub type_name: String,
    /// The field in Rust.
    pub field: String,
    /// Its name in JSON.
    json_name: String,
    /// The location of its definition.
    span: Span,
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Every list has a merge strategy, except the items of a list kind.
    ListTypeMissing,
    /// The name in JSON is the Rust name in lower camel case.
    NamesMatch,
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Self::ListTypeMissing => "list_type_missing",
            Self::NamesMatch => "names_match",
        }
    }
}

impl fmt::Display for Violation {
    /// The line of the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{REPORT_MARK}{},{},{},{}", self.rule.name(), self.package, self.type_name, self.field)
    }
}

/// The violations by types that resources use, in the order of the report.
pub fn violations(ir: &Ir) -> Vec<Violation> {
    let mut out = Vec::new();
    for definition in &ir.types {
        for field in definition.shape.fields().filter(|field| !field.flatten) {
            for rule in broken(field) {
                out.push(violation(rule, definition, field));
            }
        }
    }
    out.sort();
    // A generic type may occur with several arguments.
    out.dedup_by_key(|violation| violation.to_string());
    out
}

fn broken(field: &Field) -> impl Iterator<Item = Rule> {
    let is_list = matches!(field.ty, TypeRef::List(_) | TypeRef::Array(..) | TypeRef::Tuple(_));
    let untyped_list = is_list && field.facts.list_type.is_none();
    let metadata = match &field.ty {
        TypeRef::Known(path) => path.rsplit("::").next().is_some_and(|name| METADATA_TYPES.contains(&name)),
        _ => false,
    };
    let name_fits =
        if metadata { field.name == "metadata" } else { names_match(&field.rust_name, &field.name) };
    let list = untyped_list.then_some(Rule::ListTypeMissing);
    list.into_iter().chain((!name_fits).then_some(Rule::NamesMatch))
}

fn violation(rule: Rule, definition: &TypeDef, field: &Field) -> Violation {
    let path = definition.path.split('<').next().unwrap_or_default();
    let (package, type_name) = path.rsplit_once("::").unwrap_or(("", path));
    Violation {
        rule,
        package: package.to_string(),
        type_name: type_name.to_string(),
        field: field.rust_name.clone(),
        json_name: field.name.clone(),
        span: field.span.clone(),
    }
}

/// Whether the name in JSON is the Rust name in lower camel case. Later words may be in capitals:
/// `cluster_ip` and `clusterIP`, `http_json_spec` and `httpJSONSpec`.
fn names_match(rust_name: &str, json_name: &str) -> bool {
    let snake = rust_name.to_snake_case();
    let mut words = snake.split('_');
    let Some(mut rest) = words.next().and_then(|first| json_name.strip_prefix(first)) else { return false };
    for word in words {
        let capitals = word.to_uppercase();
        let mut letters = word.chars();
        let capitalised: String =
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        let after = rest.strip_prefix(&capitals).or_else(|| rest.strip_prefix(&capitalised));
        match after {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

/// The violations of a run and the file with the accepted ones.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// The violations, in the order of the lines.
    pub violations: Vec<Violation>,
}

impl Report {
    /// The file's text if all violations are accepted.
    pub fn text(&self) -> String {
        self.violations.iter().map(|violation| format!("{violation}\n")).collect()
    }

    /// The file as a separate target; `None` if there is neither a violation nor a file.
    pub fn target(&self) -> Option<Target> {
        if self.violations.is_empty() && !self.path.exists() {
            return None;
        }
        let mut tree = OutputTree::new();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        tree.insert(name, self.text());
        let root = self.path.parent().map(PathBuf::from).unwrap_or_default();
        Some(Target { root, kind: Kind::Report, tree })
    }

    /// Returns an error for each violation without an accepted line, and one for lines without a violation.
    pub fn compare(&self, accepted: &str, sources: &SourceMap) -> Vec<Diagnostic> {
        let accepted: Vec<&str> = accepted.lines().collect();
        let current: Vec<String> = self.violations.iter().map(Violation::to_string).collect();
        let new = self.violations.iter().zip(&current).filter(|(_, line)| !accepted.contains(&line.as_str()));
        let mut out: Vec<Diagnostic> =
            new.map(|(violation, line)| unaccepted(violation, line, sources)).collect();
        let gone = accepted.iter().filter(|line| !current.iter().any(|known| known == *line)).count();
        if gone > 0 {
            let file = crate::paths::display(&self.path);
            let message = match gone {
                1 => format!("{file} accepts a violation of an API rule that is there no more"),
                _ => format!("{file} accepts {gone} violations of API rules that are there no more"),
            };
            out.push(
                Diagnostic::error(Code::API_RULE, None, message)
                    .help("remove the lines with `kubesmith generate --update-report`"),
            );
        }
        out
    }
}

fn unaccepted(violation: &Violation, line: &str, sources: &SourceMap) -> Diagnostic {
    let field = &violation.field;
    let message = match violation.rule {
        Rule::ListTypeMissing => format!("the list `{field}` does not say how it is merged"),
        Rule::NamesMatch => format!("the field `{field}` is called {:?} in JSON", violation.json_name),
    };
    let help = match violation.rule {
        Rule::ListTypeMissing => {
            "add #[schema(list_type = \"atomic\")], \"set\" or \"map\", or accept it with `kubesmith generate \
             --update-report`"
                .to_string()
        }
        Rule::NamesMatch => format!(
            "call it {:?}, for example with #[serde(rename_all = \"camelCase\")], or accept it with `kubesmith \
             generate --update-report`",
            field.to_lower_camel_case()
        ),
    };
    Diagnostic::error(Code::API_RULE, sources.loc(&violation.span), message).note(line).help(help)
}

#[cfg(test)]
mod tests {
    use super::names_match;

    #[test]
    fn field_names_match_json_names_as_in_kube_openapi() {
        // The cases of kube-openapi's `names_match.go`, with Rust's names.
        for (rust, json, matches) in [
            ("pod_spec", "podSpec", true),
            ("pod_spec", "PodSpec", false),
            ("pod_spec", "spec", false),
            ("spec", "podSpec", false),
            ("json_spec", "jsonSpec", true),
            ("json_spec", "jsonspec", false),
            ("http_json_spec", "httpJSONSpec", true),
            ("cluster_ip", "clusterIP", true),
            ("cluster_ip", "cluster_ip", false),
            ("cluster_ip", "cluster-ip", false),
            ("nodename", "nodeName", false),
            ("ipv4_address", "ipv4Address", true),
            ("type", "type", true),
            ("HttpGet", "httpGet", true),
            ("a", "", false),
        ] {
            assert_eq!(names_match(rust, json), matches, "{rust} {json}");
        }
    }
}
