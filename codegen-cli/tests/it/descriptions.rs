//! Doc comments become descriptions by controller-gen's rules.

use crate::support::{self, Crate, USES, kind};

/// The description of a field with this documentation.
fn description(docs: &str) -> String {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", &format!("{docs}\n    pub a: String,"))));
    let generated = sample.generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    let data: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
    let schema = &data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    schema["properties"]["a"]["description"].as_str().unwrap_or_default().to_string()
}

#[test]
fn indented_lines_are_not_notes_or_rules() {
    let docs = "/// a\n///   --- b\n///   TODO c\n/// TODO d\n///   ```\n/// TODO e\n/// ---\n/// f";
    assert_eq!(description(docs), "a\n  --- b\n  TODO c\n  ```");
}

#[test]
fn lines_of_a_block_comment_are_trimmed() {
    assert_eq!(description("    /**\n    a\n      b\n    */"), "a\nb");
    assert_eq!(description("    /** a\n     *   b\n     */"), "a\n  b");
    assert_eq!(description("    #[doc = \"a\\n  b\"]"), "a\n  b");
}

#[test]
fn literals_of_concat_in_doc_are_joined() {
    assert_eq!(description("    #[doc = concat!(\"a\", 1)]\n    /// b"), "a1\nb");
}
