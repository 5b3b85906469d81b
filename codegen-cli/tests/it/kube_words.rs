//! Help texts about kube-rs's types name its attributes.

use crate::support::Crate;

const HEAD: &str = "#[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]\n\
    #[kube(group = \"example.com\", version = \"v1\"@kind)]\npub struct CartSpec { @fields }\n";

/// The diagnostics about a kind with these keys and fields, in a project with this version of kube.
fn reported(kube: &str, kind: &str, fields: &str, rest: &str) -> String {
    let lib = HEAD.replace("@kind", kind).replace("@fields", fields) + rest;
    let project = Crate::new(&lib);
    let dependencies = "kube = \"*\"\nschemars = \"*\"\nserde = \"*\"\nparts = { version = \"1\" }\n";
    let manifest =
        format!("[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\n[dependencies]\n{dependencies}");
    project.write("api/Cargo.toml", manifest);
    let lock = format!(
        "version = 4\n[[package]]\nname = \"kube\"\nversion = \"{kube}\"\n\
         [[package]]\nname = \"sample-api\"\nversion = \"0.1.0\"\ndependencies = [\"kube\"]\n"
    );
    project.write("Cargo.lock", lock);
    let run = project.run(&["generate", "--only", "crd", "--input", "api", "--crd-output", "crds"]);
    assert_eq!(run.status.code(), Some(1));
    let text = String::from_utf8(run.stderr).unwrap();
    assert!(!text.contains("#[schema(") && !text.contains("#[validation("), "{text}");
    text
}

#[test]
fn advice_about_types_without_source_is_for_schemars() {
    let kind = ", kind = \"Cart\"";
    let text = reported("3.1.0", kind, "part: parts::Part", "");
    assert!(text.contains("KS0418") && text.contains("#[schemars(schema_with = "), "{text}");
    assert!(text.contains("--evaluate"), "{text}");
    let text = reported("3.1.0", kind, "part: Wheelbarrow", "some::types! { Wheelbarrow }\n");
    assert!(
        text.contains("`types!` is not expanded") && text.contains("#[schemars(schema_with = "),
        "{text}"
    );
    let made = "use made::Wheelbarrow;\nmod made { some::types! { Wheelbarrow } }\n";
    let text = reported("3.1.0", kind, "part: Wheelbarrow", made);
    assert!(text.contains("leads nowhere: `types!` is not expanded"), "{text}");
}

#[test]
fn kube_without_schemas_is_named() {
    let text = reported("0.42.0", "", "size: u8", "");
    assert!(text.contains("kube 0.42 makes definitions without schemas"), "{text}");
    let without = "#[derive(Clone, serde::Deserialize)] struct Part { x: u8 }\n";
    let text = reported("0.43.0", ", kind = \"Cart\"", "part: Part", without);
    assert!(text.contains("kube 0.43 makes definitions without schemas"), "{text}");
    let text = reported("3.1.0", "", "size: u8", "");
    assert!(text.contains("#[kube] needs the key `kind`"), "{text}");
}
