//! Checks JSON paths in `#[resource(...)]`: columns, scale and selectable fields.

use super::{PrintColumn, Reader, Scale};
use crate::diag::{Code, Diagnostic};
use crate::grammar::{Entry, Spanned, Value};
use crate::model::{ColumnPathError, EntryValue, check_column_path, check_simple_path};

impl Reader<'_> {
    fn simple_path(&mut self, path: &Spanned<String>) {
        if let Err(reason) = check_simple_path(&path.value) {
            let (message, help) = wrong_path(path, &reason, |path| check_simple_path(path).is_ok());
            self.diagnostics.push(Diagnostic::error(Code::INVALID_JSON_PATH, path.span, message).help(help));
        }
    }

    fn column_path(&mut self, path: &Spanned<String>) {
        const UNREAD: &str = "API servers accept the definition; if they cannot read a path, they show neither its column nor \
            those after it";
        let Err(ColumnPathError { reason, is_refused }) = check_column_path(&path.value) else { return };
        let (message, help) = wrong_path(path, &reason, |path| check_column_path(path).is_ok());
        let diagnostic = match is_refused {
            true => Diagnostic::error(Code::INVALID_JSON_PATH, path.span, message),
            false => Diagnostic::warning(Code::INVALID_JSON_PATH, path.span, message).note(UNREAD),
        };
        self.diagnostics.push(diagnostic.help(help));
    }

    pub(super) fn scale(&mut self) -> Option<Scale> {
        let entry = self.parsed.get("scale")?;
        let find =
            |name: &str| entry.nested().iter().find(|e| e.key.name == name).and_then(EntryValue::string);
        let (spec, status, selector) = (find("spec_path"), find("status_path"), find("selector_path"));
        let wanted: [(_, &[&str], _); 3] = [
            (&spec, &[".spec."], ".spec.replicas"),
            (&status, &[".status."], ".status.replicas"),
            (&selector, &[".spec.", ".status."], ".status.selector"),
        ];
        for (path, prefixes, sample) in wanted {
            let Some(path) = path else { continue };
            let before = self.diagnostics.len();
            self.simple_path(path);
            if self.diagnostics.len() == before
                && !prefixes.iter().any(|prefix| path.value.starts_with(prefix))
            {
                let message = format!("the path {:?} must start with {}", path.value, prefixes.join(" or "));
                let help = format!("write it like {sample:?}");
                self.diagnostics
                    .push(Diagnostic::error(Code::INVALID_JSON_PATH, path.span, message).help(help));
            }
        }
        Some(Scale { spec_path: spec?, status_path: status?, selector_path: selector })
    }

    pub(super) fn print_columns(&mut self) -> Vec<PrintColumn> {
        let parsed = self.parsed;
        let columns = parsed.entries.iter().filter(|entry| entry.key.name == "print_column");
        columns.filter_map(|entry| self.print_column(entry)).collect()
    }

    fn print_column(&mut self, entry: &Entry) -> Option<PrintColumn> {
        let find = |name: &str| entry.nested().iter().find(|e| e.key.name == name);
        let string = |name: &str| find(name).and_then(EntryValue::string);
        let (name, path) = (string("name"), string("json_path"));
        if let Some(name) = &name
            && (name.value.chars().any(char::is_control) || name.value.trim() != name.value)
        {
            let message =
                format!("invalid column name {:?}: it contains line breaks or outer spaces", name.value);
            let help = "titles are short words, such as \"NodeName\"";
            self.diagnostics
                .push(Diagnostic::error(Code::INVALID_PRINT_COLUMN, name.span, message).help(help));
        }
        if let Some(path) = &path {
            self.column_path(path);
        }
        let priority = match find("priority").map(|e| &e.value) {
            Some(Value::Integer(n)) => match i32::try_from(n.value) {
                Ok(priority) => Some(Spanned::new(priority, n.span)),
                Err(_) => {
                    let message = format!("the priority {} is out of range", n.value);
                    let help = "0 is always shown, others only by kubectl get -o wide";
                    self.diagnostics.push(Diagnostic::error(Code::NUMBER_RANGE, n.span, message).help(help));
                    None
                }
            },
            _ => None,
        };
        Some(PrintColumn {
            name: name?,
            column_type: string("type"),
            json_path: path?,
            description: string("description"),
            format: string("format"),
            priority,
        })
    }

    pub(super) fn selectable_fields(&mut self) -> Vec<Spanned<String>> {
        let mut fields: Vec<Spanned<String>> = Vec::new();
        for entry in self.parsed.entries.iter().filter(|e| e.key.name == "selectable_field") {
            let Some(path) = entry.nested().first().and_then(EntryValue::string) else { continue };
            self.simple_path(&path);
            if path.value == ".metadata" || path.value.starts_with(".metadata.") {
                let message = format!("the field {:?} is selectable anyway", path.value);
                let help = "field selectors always support metadata.name and metadata.namespace";
                self.diagnostics
                    .push(Diagnostic::error(Code::INVALID_JSON_PATH, path.span, message).help(help));
            }
            if let Some(first) = fields.iter().find(|other| **other == path) {
                let message = format!("the selectable field {:?} is given twice", path.value);
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, path.span, message);
                self.diagnostics
                    .push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
            }
            fields.push(path);
        }
        fields
    }
}

/// The message about an invalid path, and a help with a similar path.
fn wrong_path(path: &Spanned<String>, reason: &str, is_right: impl Fn(&str) -> bool) -> (String, String) {
    let message = format!("invalid JSON path {:?}: {reason}", path.value);
    let inner = path.value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '$'));
    let better = if inner.starts_with('.') { inner.to_owned() } else { format!(".{inner}") };
    let help = match is_right(&better) {
        true => format!("did you mean {better:?}?"),
        false => "paths look like this: \".spec.nodename\"".to_owned(),
    };
    (message, help)
}
