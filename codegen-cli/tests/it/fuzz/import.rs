//! Any text as a file with definitions: the import ends, and its output is a crate that can be parsed.

use kubesmith::import::{self, Imported, Input};

/// Parts of definitions.
pub(crate) const WORDS: &[&str] = &[
    "apiextensions.k8s.io/v1",
    "apiextensions.k8s.io/v1beta1",
    "CustomResourceDefinition",
    "\n---\n",
    "{{ .Values.a }}",
    "$ref: '#/a'",
    "type: object",
    "type: string",
    "type: array",
    "properties: {a: {type: string}}",
    "additionalProperties: {type: string}",
    "items: {type: string}",
    "nullable: true",
    "default: null",
    "default: {a: [1]}",
    "enum: [a, '', 1]",
    "oneOf: [{required: [a]}, {required: [b]}]",
    "anyOf: [{type: integer}, {type: string}]",
    "not: {required: [a]}",
    "x-kubernetes-int-or-string: true",
    "x-kubernetes-preserve-unknown-fields: true",
    "x-kubernetes-embedded-resource: true",
    "x-kubernetes-list-type: map",
    "x-kubernetes-list-map-keys: [a]",
    "x-kubernetes-validations: [{rule: 'true'}]",
    "x-other: 1",
    "pattern: '['",
    "maxLength: -1",
    "minimum: 1e400",
    "description: \"/// */ \\\" #[a]\"",
    "self",
    "Self",
    "crate",
    "9",
    "\u{e4}",
    "&a",
    "*a",
    "<<: *a",
    "!!binary",
    "- ",
    "  ",
];

/// Imports the text, and parses the result.
pub(crate) fn check(text: &str) -> Imported {
    let input = Input { name: "any.yaml".to_string(), text: text.to_string() };
    let imported = import::import(vec![input], "any-api");
    for (path, text) in imported.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        assert!(syn::parse_file(text).is_ok(), "{path}:\n{text}");
    }
    assert_eq!(imported.files.is_empty(), imported.definitions == 0);
    imported
}
