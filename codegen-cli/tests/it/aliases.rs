//! Markers on type aliases apply to every use of the alias, like markers of named types in Go.

use serde_json::{Value, json};

use crate::support::{self, Crate, USES, kind};

/// The schema of the spec of a kind with these fields, beside these aliases.
fn spec(aliases: &str, fields: &str) -> Value {
    let sample = Crate::new(&format!("{USES}{}\n{aliases}", kind("Widget", fields)));
    let generated = sample.generate();
    assert_eq!(support::short(&generated), "");
    let yaml = support::crd_texts(&generated).into_values().next().unwrap();
    let data: Value = serde_yaml::from_str(&yaml).unwrap();
    data["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"].clone()
}

const NAME: &str = "/// Name of a widget.\n/// +kubebuilder:validation:MinLength=1\n\
    /// +kubebuilder:validation:MaxLength=255\n/// +kubebuilder:title=\"on the type\"\npub type Name = String;\n";

#[test]
fn markers_of_an_alias_apply_to_every_use() {
    let fields = "pub a: Name,\n pub b: Option<Name>,\n pub c: Vec<Name>,\n /// Own.\n pub d: Name,";
    let name = json!({
        "description": "Name of a widget.", "title": "on the type", "type": "string", "minLength": 1, "maxLength": 255,
    });
    let own = json!({
        "description": "Own.", "title": "on the type", "type": "string", "minLength": 1, "maxLength": 255,
    });
    let list = json!({"type": "array", "items": name});
    assert_eq!(spec(NAME, fields), json!({"a": name, "b": name, "c": list, "d": own}));
}

#[test]
fn markers_of_a_field_add_to_those_of_the_alias() {
    let fields = "/// +kubebuilder:validation:MinLength=10\n /// +kubebuilder:validation:MaxLength=10\n\
        pub a: Name,\n /// +kubebuilder:title=\"on the field\"\n /// +kubebuilder:validation:Pattern=`^a`\n pub b: Name,";
    let properties = spec(NAME, fields);
    // Conflicting keywords are in branches of `allOf`, the type's first.
    let branches = json!([{"minLength": 1, "maxLength": 255}, {"minLength": 10, "maxLength": 10}]);
    assert_eq!(properties["a"]["allOf"], branches);
    assert_eq!(properties["a"].get("minLength"), None);
    assert_eq!(properties["b"]["title"], "on the field");
    assert_eq!((&properties["b"]["pattern"], &properties["b"]["maxLength"]), (&json!("^a"), &json!(255)));
}

#[test]
fn generic_aliases_and_aliases_of_aliases_keep_their_markers() {
    let aliases = "/// +kubebuilder:validation:MaxItems=3\n/// +listType=set\npub type Few<T> = Vec<T>;\n\
        /// +kubebuilder:validation:Enum=a;b\npub type Letter = String;\n\
        /// +kubebuilder:validation:MinItems=1\npub type Letters = Few<Letter>;\n\
        /// +kubebuilder:validation:MinProperties=1\npub type Again = Inner;\n\
        /// +kubebuilder:validation:Minimum=1\npub type Maybe = Option<i32>;\n\
        /// Inner is a struct.\n#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
        pub struct Inner { pub x: Option<String> }\n";
    let fields = "pub a: Few<i32>,\n pub b: Letters,\n pub c: Again,\n pub d: Maybe,\n #[serde(flatten)] pub e: Again,";
    let expected = json!({
        "a": {
            "type": "array", "maxItems": 3, "x-kubernetes-list-type": "set",
            "items": {"type": "integer", "format": "int32"},
        },
        "b": {
            "type": "array", "minItems": 1, "maxItems": 3, "x-kubernetes-list-type": "set",
            "items": {"type": "string", "enum": ["a", "b"]},
        },
        "c": {
            "type": "object", "description": "Inner is a struct.", "minProperties": 1,
            "properties": {"x": {"type": "string"}},
        },
        "d": {"type": "integer", "format": "int32", "minimum": 1},
        "x": {"type": "string"},
    });
    assert_eq!(spec(aliases, fields), expected);
}

#[test]
fn documentation_of_an_alias_applies_only_to_simple_types() {
    let aliases = "/// Name.\npub type Name = String;\n/// Other.\npub type Other = Inner;\n\
        /// Inner is a struct.\n#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
        pub struct Inner { pub x: Option<String> }\n";
    let properties = spec(aliases, "pub a: Name,\n pub b: Other,");
    assert_eq!(properties["a"]["description"], "Name.");
    assert_eq!(properties["b"]["description"], "Inner is a struct.");
}

#[test]
fn default_is_evaluated_through_aliases() {
    let aliases = "/// +kubebuilder:validation:MaxLength=9\npub type Name = String;\n\
        /// +kubebuilder:validation:MaxItems=9\npub type Names = Vec<Name>;\n\
        /// +kubebuilder:validation:Enum=A\npub type Again = Letter;\n\
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
        pub enum Letter { #[default] A, B }\n\
        fn name() -> Name { \"a\".to_string() }\nfn letter() -> Again { Letter::A }\n";
    let fields = "#[serde(default = \"name\")] pub a: Name,\n #[serde(default = \"Vec::new\")] pub b: Names,\n\
        #[serde(default = \"letter\")] pub c: Again,";
    let properties = spec(aliases, fields);
    let defaults = ["a", "b", "c"].map(|name| properties[name]["default"].clone());
    assert_eq!(defaults, [json!("a"), json!([]), json!("A")]);
}

#[test]
fn doubling_aliases_are_visited_once() {
    let doubled = |at: i32| format!("pub type D{at} = Result<D{0}, D{0}>;\n", at - 1);
    let aliases: String = (1..=60).map(doubled).collect();
    let text = format!("{USES}{}\npub type D0 = String;\n{aliases}", kind("Widget", "pub a: D60,"));
    let generated = Crate::new(&text).generate();
    assert!(support::short(&generated).contains("KS0"), "its schema is too large");
}
