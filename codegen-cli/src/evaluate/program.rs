//! Reads definitions in the output of programs, as JSON or YAML.

use kubesmith_apimachinery::decode;
use serde_json::Value;

/// The program that prints definitions, one JSON text per line.
pub(super) fn source(lines: &str) -> String {
    format!("fn main() {{\n{lines}}}\n")
}

/// A line that prints the definition of a root type.
pub(super) fn root(path: &str) -> String {
    format!("    {}\n", shown(&format!("<{path} as kube_core::CustomResourceExt>::crd()")))
}

/// Lines that print the result of a call: the items of an iterable value (`Ok` and `Some` are), or else the value.
pub(super) fn call(call: &str) -> [String; 2] {
    let each = format!("    for definition in {call} {{\n        {}\n    }}\n", shown("definition"));
    [each, format!("    {}\n", shown(&format!("{{ {call} }}")))]
}

fn shown(expr: &str) -> String {
    format!("println!(\"{{}}\", serde_json::to_string(&{expr}).expect(\"definitions have a JSON form\"));")
}

/// Returns the definitions in an output, including those in lists. Skips other documents.
///
/// # Errors
/// Returns an error if the output is not YAML.
pub(super) fn definitions(output: &str) -> Result<Vec<Value>, String> {
    let mut found = Vec::new();
    // One JSON text per line is not YAML.
    let lines: Option<Vec<Value>> = output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).ok())
        .collect();
    match lines {
        Some(objects) => objects.into_iter().for_each(|object| collect(object, &mut found)),
        None => {
            for document in serde_yaml::Deserializer::from_str(output) {
                let object = decode::read(document, Some(output), &mut ())
                    .map_err(|error| format!("it printed no YAML: {error}"))?;
                collect(object, &mut found);
            }
        }
    }
    Ok(found)
}

fn collect(object: Value, found: &mut Vec<Value>) {
    match object {
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, found)),
        Value::Object(mut members) => match members.get("kind").and_then(Value::as_str) {
            Some("CustomResourceDefinition") => found.push(Value::Object(members)),
            Some(kind) if kind.ends_with("List") => {
                let items = members.remove("items").unwrap_or_default();
                collect(items, found);
            }
            _ => {}
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_read_from_json_lines_documents_and_lists() {
        let crd = r#"{"kind":"CustomResourceDefinition","n":1}"#;
        for (output, count) in [
            (format!("{crd}\n{crd}\n"), 2),
            (format!("[{crd},{crd}]"), 2),
            (
                "kind: CustomResourceDefinition\n---\nkind: ConfigMap\n---\nkind: CustomResourceDefinition\n"
                    .into(),
                2,
            ),
            (format!("kind: CustomResourceDefinitionList\nitems: [{crd}]\n"), 1),
            (String::new(), 0),
        ] {
            assert_eq!(definitions(&output).unwrap().len(), count, "{output}");
        }
        assert!(definitions("a: [").is_err());
    }
}
