//! The JSON Schema of `kubesmith.toml`: `kubesmith config schema`.

/// Draft 7, which TOML editors read. A test generates it from the types of the file.
pub const SCHEMA: &str = include_str!("schema.json");

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;

    use super::super::Config;
    use super::*;

    #[test]
    fn schema_is_up_to_date() {
        let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Config>();
        schema.insert("title".into(), "kubesmith.toml".into());
        schema.insert(
            "description".into(),
            "The crates that `kubesmith generate` reads, and the files that it writes.".into(),
        );
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("KUBESMITH_UPDATE").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/config/schema.json");
            std::fs::write(path, &text).unwrap();
        }
        assert!(
            text == SCHEMA,
            "the schema is out of date: KUBESMITH_UPDATE=1 cargo test -p kubesmith --lib"
        );
    }
}
