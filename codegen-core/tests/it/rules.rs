//! Rules whose cases are many; the macros' tests show the messages in full.

use super::{check_root, check_struct};

fn codes(texts: &[String]) -> Vec<&str> {
    texts.iter().map(|text| &text[..6]).collect()
}

fn field(attributes: &str, ty: &str) -> Vec<String> {
    check_struct(&format!("struct Foo {{ {attributes} field: {ty} }}"))
}

#[test]
fn plain_resource_has_no_diagnostics() {
    let source = r#"
        #[derive(Clone, Debug, Resource)]
        #[resource(group = "hopegi.com", version = "v1", scope = "Cluster", status)]
        #[genclient(non_namespaced)]
        #[deepcopy]
        pub struct EcsBinding { pub metadata: ObjectMeta, pub spec: EcsBindingSpec, pub status: EcsBindingStatus }
    "#;
    assert_eq!(check_root(source), [""; 0]);
}

#[test]
fn derives_of_serde_are_refused_on_the_root() {
    let source = r#"
        #[derive(Clone, serde::Serialize, Deserialize, Resource)]
        #[resource(group = "hopegi.com", version = "v1")]
        struct Foo { metadata: ObjectMeta, spec: S }
    "#;
    assert_eq!(codes(&check_root(source)), ["KS0107", "KS0107"]);
}

#[test]
fn every_error_of_a_root_is_reported() {
    let source = r#"
        #[resource(group = "Hopegi", version = "1", plural = "A", colour)]
        #[genclient(readonly, no_verbs)]
        #[deepcopy(1)]
        struct Foo<T> { meta: T, #[validation(min = 1, max_length = 5)] spec: i32 }
    "#;
    let found = check_root(source);
    for code in ["KS0102", "KS0002", "KS0201", "KS0202", "KS0204", "KS0113", "KS0001", "KS0103", "KS0301"] {
        assert!(codes(&found).contains(&code), "{code} is missing in {found:?}");
    }
}

#[test]
fn constraint_must_fit_a_visible_type() {
    for (attributes, ty, expected) in [
        ("#[validation(minimum = 1)]", "i32", vec![]),
        ("#[validation(minimum = 1)]", "Option<u8>", vec![]),
        ("#[validation(minimum = 1)]", "Port", vec![]),
        ("#[validation(minimum = 1)]", "String", vec!["KS0301"]),
        ("#[validation(minimum = 1, type = \"integer\")]", "String", vec![]),
        ("#[validation(minimum = 1, x_int_or_string)]", "String", vec![]),
        ("#[validation(minimum = 1.5)]", "f64", vec![]),
        ("#[validation(minimum = 1.5)]", "i64", vec!["KS0301"]),
        ("#[validation(minimum = 1)]", "bool", vec!["KS0301"]),
        ("#[validation(min_length = 1)]", "i32", vec!["KS0301"]),
        ("#[validation(min_items = 1)]", "Vec<i32>", vec![]),
        ("#[validation(min_properties = 1)]", "BTreeMap<String, i32>", vec![]),
        ("#[validation(min_properties = 1)]", "Vec<i32>", vec!["KS0301"]),
        ("#[validation(items(items(minimum = 1)))]", "Vec<Vec<i32>>", vec![]),
        ("#[validation(items(items(minimum = 1)))]", "Vec<Vec<String>>", vec!["KS0301"]),
        ("#[validation(items(minimum = 1))]", "String", vec!["KS0301"]),
        ("#[validation(min_length = 1)] #[serde(with = \"x\")]", "i32", vec![]),
        ("#[validation(minimum = 3, maximum = 3)]", "i32", vec![]),
        ("#[validation(minimum = 3, maximum = 3, exclusive_maximum)]", "i32", vec!["KS0302"]),
        ("#[validation(min_length = 4, max_length = 3)]", "String", vec!["KS0302"]),
        ("#[schema(list_type = \"set\")]", "Vec<String>", vec![]),
        ("#[schema(map_type = \"atomic\")]", "String", vec!["KS0301"]),
        ("#[schema(embedded_resource)]", "RawExtension", vec![]),
    ] {
        assert_eq!(codes(&field(attributes, ty)), expected, "{attributes} {ty}");
    }
}

#[test]
fn default_must_satisfy_its_schema() {
    for (attributes, ty, right) in [
        ("#[schema(default = 1)]", "i32", true),
        ("#[schema(default = 1.5)]", "i32", false),
        ("#[schema(default = 1)]", "f64", true),
        ("#[schema(default = \"\")]", "String", true),
        ("#[schema(default = \"1\")]", "i32", false),
        ("#[schema(default = {})]", "Spec", true),
        ("#[schema(default = {})]", "BTreeMap<String, String>", true),
        ("#[schema(default = {\"a\": 1})]", "BTreeMap<String, String>", false),
        ("#[schema(default = null, nullable)]", "Option<i32>", true),
        ("#[schema(default = null)]", "Option<i32>", false),
        ("#[schema(default = -1)] #[validation(minimum = -1)]", "i32", true),
        ("#[schema(default = -1)] #[validation(minimum = -1, exclusive_minimum)]", "i32", false),
        ("#[schema(default = \"äö\")] #[validation(max_length = 2)]", "String", true),
        ("#[schema(default = \"abc\")] #[validation(max_length = 2)]", "String", false),
        ("#[schema(default = [1])] #[validation(min_items = 2)]", "Vec<i32>", false),
        ("#[schema(default = \"a\")] #[validation(enum(\"a\", \"b\"))]", "Mode", true),
        ("#[schema(default = \"c\")] #[validation(enum(\"a\", \"b\"))]", "Mode", false),
    ] {
        let found = field(attributes, ty);
        assert_eq!(found.is_empty(), right, "{attributes} {ty}: {found:?}");
        assert!(found.iter().all(|text| text.starts_with("KS0306")), "{found:?}");
    }
}

#[test]
fn constraint_of_a_type_must_fit_its_json_form() {
    for (source, expected) in [
        ("#[validation(min_length = 1)] struct Name(String);", vec![]),
        ("#[validation(min_length = 1)] struct Port(i32);", vec!["KS0301"]),
        ("#[validation(min_length = 1)] struct Spec { a: i32 }", vec!["KS0301"]),
        (
            "#[validation(min_length = 1)] #[serde(try_from = \"String\", into = \"String\")] struct Spec { a: i32 }",
            vec![],
        ),
        ("#[validation(min_length = 1)] #[serde(transparent)] struct Name { inner: String }", vec![]),
        ("#[validation(min_properties = 1)] struct Spec { a: i32 }", vec![]),
    ] {
        assert_eq!(codes(&check_struct(source)), expected, "{source}");
    }
}

#[test]
fn json_names_of_fields_and_variants_must_differ() {
    let read = |source: &str| {
        let item: syn::ItemEnum = syn::parse_str(source).unwrap();
        let mut diagnostics = kubesmith_core::diag::Diagnostics::new();
        kubesmith_core::model::TypeModel::from_enum(&item, &mut diagnostics);
        super::texts(diagnostics)
    };
    assert_eq!(codes(&read("enum E { A, #[serde(rename = \"A\")] B }")), ["KS0312"]);
    assert_eq!(codes(&read("enum E { A, B { x: i32, #[serde(rename = \"x\")] y: i32 } }")), ["KS0312"]);
    assert_eq!(codes(&read("#[serde(untagged)] enum E { A, #[serde(rename = \"A\")] B }")), [""; 0]);
    assert_eq!(
        codes(&check_struct("struct S { fooBar: i32, #[serde(rename = \"fooBar\")] b: i32 }")),
        ["KS0312"]
    );
    assert_eq!(
        codes(&check_struct("struct S { a: i32, #[serde(flatten, rename = \"a\")] b: i32 }")),
        [""; 0]
    );
}

#[test]
fn error_causes_one_diagnostic() {
    for (source, expected) in [
        ("#[resource(grup = \"a.b\", version = \"v1\")]", vec!["KS0002"]),
        ("#[resource(group = 1, version = \"v1\")]", vec!["KS0004"]),
        ("#[resource(group = \"a.b\", version = \"v1\", status = false)]", vec!["KS0004"]),
        (
            "#[resource(group = \"a.b\", version = \"v1\", print_column(nam = \"A\", type = \"date\", json_path = \".a\"))]",
            vec!["KS0002"],
        ),
        ("#[resource(group = \"a.b\" version = \"v1\")]", vec!["KS0001"]),
        ("#[resource(group = \"a.b\", version = \"v1\", kind = \"foo_\")]", vec!["KS0203"]),
        ("#[resource]", vec!["KS0001"]),
        ("", vec!["KS0111"]),
    ] {
        let found = check_root(&format!("{source} struct Foo {{ metadata: ObjectMeta, spec: S }}"));
        assert_eq!(codes(&found), expected, "{source}: {found:?}");
    }
}

/// What a constant is, only who reads the whole source knows; but it has to be one, and the only default.
#[test]
fn default_may_be_a_constant() {
    for (attributes, expected) in [
        ("#[schema(default = ref(SIZE))]", vec![]),
        ("#[schema(default = ref(crate::sizes::SIZE), optional)]", vec![]),
        ("#[schema(default = ref(::sizes::SIZE))]", vec![]),
        ("#[schema(default = ref(Self::SIZE))]", vec![]),
        ("#[schema(default = ref())]", vec!["KS0001"]),
        ("#[schema(default = ref(1 + 2))]", vec!["KS0001"]),
        ("#[schema(default = ref(sizes::<u8>::SIZE))]", vec!["KS0001"]),
        ("#[schema(default = SIZE)]", vec!["KS0001"]),
        ("#[schema(default = [ref(SIZE)])]", vec!["KS0001"]),
        ("#[schema(example = ref(SIZE))]", vec!["KS0001"]),
        ("#[schema(default = ref(SIZE))] #[schema(default = 1)]", vec!["KS0003"]),
        ("#[schema(default = ref(SIZE), extra = {\"default\": 1})]", vec!["KS0010"]),
    ] {
        assert_eq!(codes(&field(attributes, "i32")), expected, "{attributes}");
    }
}

/// Clippy does not look into attributes with braces.
#[test]
fn nested_keys_are_written_in_parentheses_or_braces() {
    let column = |open: &str, close: &str| {
        format!(
            "#[resource(group = \"a.b\", version = \"v1\", print_column{open}name = \"A\", json_path = \".a\", \
             type = \"string\"{close}, print_column{open}name = \"B\", json_path = \".b\", type = \"string\"{close})] \
             struct Foo {{ metadata: ObjectMeta, spec: S }}"
        )
    };
    assert_eq!(check_root(&column("(", ")")), [""; 0]);
    assert_eq!(check_root(&column(" { ", " }")), [""; 0]);
    let found = check_root(&column(" { colour, ", " }"));
    assert_eq!(codes(&found), ["KS0002", "KS0002"]);
    let short = "#[resource(group = \"a.b\", version = \"v1\", short_name { \"a\" })] \
                 struct Foo { metadata: ObjectMeta, spec: S }";
    assert_eq!(codes(&check_root(short)), ["KS0001"]);
}
