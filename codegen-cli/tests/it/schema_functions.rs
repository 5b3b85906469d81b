//! Functions of schemars 0.8 that make schemas; those of schemars 1 are compared with the compiled ones in `testdata/kube-rs`.

use kubesmith_core::diag::Code;
use serde_json::{Value, json};

use crate::support::{self, Crate};

const HEAD: &str = "use schemars::{gen::SchemaGenerator, schema::*, JsonSchema};\nuse serde_json::json;\n\
    #[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, JsonSchema)]\n\
    #[kube(group = \"example.com\", version = \"v1\", kind = \"Cart\")]\n";

/// A project with kube 1, which uses schemars 0.8.
fn project(source: &str) -> Crate {
    let project = Crate::new(&format!("{HEAD}{source}"));
    let package = |name: &str, version: &str, dependencies: &str| {
        format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\ndependencies = [{dependencies}]\n")
    };
    let lock = [package("kube-core", "1.1.0", ""), package("sample-api", "0.1.0", "\"kube-core\"")];
    project.write("Cargo.lock", format!("version = 4\n{}", lock.concat()));
    project
}

/// The schema of the field `value` that a function makes.
fn made(function: &str) -> Value {
    let source = format!(
        "pub struct CartSpec {{ #[schemars(schema_with = \"made\")] value: serde_json::Value }}\n\
         fn made(generator: &mut SchemaGenerator) -> Schema {{ {function} }}\n"
    );
    let generated = support::crds(project(&source).path("api"), None, false);
    let text = support::crd_texts(&generated).into_values().next();
    let text = text.unwrap_or_else(|| panic!("{function}: {}", support::short(&generated)));
    let crd: Value = serde_yaml::from_str(&text).unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    spec["properties"]["value"].clone()
}

#[test]
fn structs_of_schemars_0_8_are_the_keywords_of_their_fields() {
    let schema = made(
        "let items = SchemaObject { extensions: [(\"x-kubernetes-preserve-unknown-fields\".to_owned(), json!(true))]\
         .into_iter().collect(), ..Default::default() };\n\
         Schema::Object(SchemaObject { instance_type: Some(InstanceType::Array.into()),\n\
         metadata: Some(Box::new(Metadata { description: Some(\"Anything.\".into()), ..Default::default() })),\n\
         array: Some(Box::new(ArrayValidation { items: Some(SingleOrVec::Single(Box::new(Schema::Object(items)))), \
         max_items: Some(3), ..Default::default() })), ..Default::default() })",
    );
    let expected = json!({
        "type": "array", "description": "Anything.", "maxItems": 3,
        "items": {"x-kubernetes-preserve-unknown-fields": true},
    });
    assert_eq!(schema, expected);
}

#[test]
fn fields_of_a_schema_can_be_changed() {
    let schema = made(
        "let mut schema = match String::json_schema(generator) { Schema::Bool(x) => return Schema::Bool(x), \
         Schema::Object(object) => object };\n\
         schema.enum_values = Some(vec![\"a\".into()]);\n\
         if let Some(values) = &mut schema.enum_values { values.push(\"b\".into()); }\n\
         schema.string().max_length = Some(1);\n\
         schema.extensions.insert(\"nullable\".to_owned(), json!(true));\nschema.into()",
    );
    assert_eq!(schema, json!({"type": "string", "enum": ["a", "b"], "maxLength": 1, "nullable": true}));
}

#[test]
fn root_schema_of_a_generator_has_the_name_of_the_type_as_its_title() {
    let schema = made(
        "let made = schemars::gen::SchemaSettings::openapi3().with(|s| { s.inline_subschemas = true; s.meta_schema = None; })\
         .with_visitor(kube::core::schema::StructuralSchemaRewriter).into_generator();\n\
         let mut root = made.into_root_schema_for::<k8s_openapi::api::core::v1::ConfigMapKeySelector>();\n\
         root.schema.object.as_mut().unwrap().required = std::collections::BTreeSet::new();\nroot.schema.into()",
    );
    assert_eq!(schema["title"], "io.k8s.api.core.v1.ConfigMapKeySelector");
    assert_eq!(
        (schema["properties"]["key"]["type"].as_str(), schema.get("required")),
        (Some("string"), None)
    );
    let source = "pub struct CartSpec { #[schemars(schema_with = \"made\")] value: String }\n\
        fn made(made: &mut SchemaGenerator) -> Schema { made.root_schema_for::<CartSpec>().schema.into() }\n";
    let generated = support::crds(project(source).path("api"), None, false);
    let codes: Vec<Code> = generated.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::SCHEMA_AT_RUN_TIME]);
}

#[test]
fn recursive_field_may_be_removed_by_the_function() {
    let source = "pub struct CartSpec { #[schemars(schema_with = \"made\")] value: Node }\n\
        #[derive(Clone, Debug, serde::Deserialize, serde::Serialize, JsonSchema)]\n\
        struct Node { name: String, children: Vec<Node> }\n\
        fn made(generator: &mut SchemaGenerator) -> Schema { let mut schema = Node::json_schema(generator);\n\
        if let Schema::Object(object) = &mut schema { let object = object.object.as_mut().unwrap();\n\
        REMOVE object.required.remove(\"children\"); }\nschema }\n";
    let removed = source.replace("REMOVE", "object.properties.remove(\"children\");");
    let generated = support::crds(project(&removed).path("api"), None, false);
    let text = support::crd_texts(&generated).into_values().next().unwrap();
    assert!(text.contains("name") && !text.contains("children"), "{text}");
    let generated = support::crds(project(&source.replace("REMOVE", "")).path("api"), None, false);
    let codes: Vec<Code> = generated.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::RECURSIVE_TYPE]);
}

#[test]
fn rule_of_a_function_that_calls_itself_is_an_error() {
    let source = "#[kube(validation = again())] pub struct CartSpec { size: u8 }\n\
        fn again() -> kube::core::Rule { again().message(\"more\") }\n";
    let generated = support::crds(project(source).path("api"), None, false);
    let codes: Vec<Code> = generated.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::SCHEMA_AT_RUN_TIME], "{}", support::short(&generated));
}

#[test]
fn unsupported_expression_error_has_location_and_help() {
    let source = "pub struct CartSpec { #[schemars(schema_with = \"made\")] value: String }\n\
        fn made(_: &mut SchemaGenerator) -> Schema { let values = read();\nschema(values) }\n";
    let generated = support::crds(project(source).path("api"), None, false);
    let [found] = &generated.diagnostics[..] else { panic!("{}", support::short(&generated)) };
    assert_eq!(found.code, Code::SCHEMA_AT_RUN_TIME);
    let place = found.primary.unwrap();
    let text = &generated.sources.file(place.file).text;
    assert_eq!(&text[place.start as usize..place.end as usize], "read()");
    assert!(found.help.iter().any(|help| help.contains("serde_json::from_value(json!")), "{:?}", found.help);
}

#[test]
fn question_mark_returns_early_on_none() {
    let schema = made(
        "let mut schema = SchemaObject::default();\nschema.extensions.insert(\"nullable\".to_owned(), json!(true));\n\
         mark(&mut schema, \"x-missing\", \"x-kubernetes-embedded-resource\");\n\
         mark(&mut schema, \"nullable\", \"x-kubernetes-preserve-unknown-fields\");\nschema.into() }\n\
         fn mark(schema: &mut SchemaObject, needed: &str, name: &str) -> Option<()> {\n\
         schema.extensions.get(needed)?;\nschema.extensions.insert(name.to_owned(), json!(true));\nSome(())",
    );
    assert_eq!(schema, json!({"nullable": true, "x-kubernetes-preserve-unknown-fields": true}));
}

/// The value of `text` after these statements.
fn text(statements: &str) -> Value {
    let metadata = "Metadata { description: Some(text.to_string()), ..Default::default() }";
    let schema = "SchemaObject { extensions: [(\"x-kubernetes-preserve-unknown-fields\".to_owned(), json!(true))]\
                  .into_iter().collect(), metadata: Some(Box::new(METADATA)), ..Default::default() }.into()";
    made(&format!("{statements}\n{}", schema.replace("METADATA", metadata)))["description"].clone()
}

#[test]
fn pattern_that_does_not_match_binds_no_variable() {
    let found = text(
        "let name = \"outer\"; let text = match (\"inner\", \"b\") { (name, \"c\") => name, _ => name };",
    );
    assert_eq!(found, "outer");
}

#[test]
fn closures_see_variables_without_copies() {
    let closures: String = (0..60).map(|at| format!("let f{} = |x| f{at}(x);\n", at + 1)).collect();
    assert_eq!(text(&format!("let f0 = |x| x;\n{closures}let text = f3(\"a\");")), "a");
    let assigned = "let mut text = None; let set = |to| { text = Some(to); }; set(\"a\"); set(\"b\");";
    assert_eq!(text(assigned), "b");
}

#[test]
fn values_that_double_are_refused() {
    let doubled = "let t = (t, t);\n".repeat(60);
    let source = format!(
        "pub struct CartSpec {{ #[schemars(schema_with = \"made\")] value: serde_json::Value }}\n\
         fn made(_: &mut SchemaGenerator) -> Schema {{ let t = (\"a\", \"b\");\n{doubled}Schema::Bool(true) }}\n"
    );
    let generated = support::crds(project(&source).path("api"), None, false);
    let codes: Vec<Code> = generated.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::SCHEMA_TOO_LARGE], "{}", support::short(&generated));
}

#[test]
fn swap_remove_puts_the_last_item_in_the_gap() {
    let schema = made(
        "let mut schema = SchemaObject { instance_type: Some(InstanceType::String.into()), enum_values: \
         Some(vec![json!(\"a\"), json!(\"b\"), json!(\"c\")]), ..Default::default() };\n\
         if let Some(values) = &mut schema.enum_values { values.swap_remove(0); }\nschema.into()",
    );
    assert_eq!(schema, json!({"type": "string", "enum": ["c", "b"]}));
}
