//! One text as `kubesmith.toml` and as the `Cargo.toml` of an input crate.

use std::fs;

use kubesmith::config::{self, FILE_NAME, Overrides};
use kubesmith::pipeline;
use tempfile::TempDir;

/// Keys and values of the files.
pub(crate) const WORDS: &[&str] = &[
    "members",
    "input",
    "only",
    "header_file",
    "year",
    "[crd]",
    "[client]",
    "[rbac]",
    "[webhook]",
    "[openapi]",
    "[lints]",
    "output",
    "max_desc_len",
    "crate_name",
    "module",
    "role_name",
    "file_name",
    "report",
    "allow",
    "deny",
    "\"api\"",
    "\".\"",
    "\"..\"",
    "\"/\"",
    "\"crd\"",
    "\"crate::a\"",
    "\"KS0701\"",
    "[package]",
    "[lib]",
    "[[bin]]",
    "[workspace]",
    "[dependencies]",
    "[target.'cfg(unix)'.dependencies]",
    "[features]",
    "name",
    "version",
    "path",
    "package",
    "workspace = true",
    "features",
    "optional",
    "default-features",
    "version.workspace = true",
    "[[",
    "]]",
    "{",
    "= {}",
    "= []",
    "\"\"\"",
    "'''",
    "inf",
    "nan",
    "1979-05-27T07:32:00Z",
    "a.b.c",
    "\\u0000",
    "\"\\u0000\"",
    "\"a/../b\"",
    "\"ä\"",
    "\"a b\"",
    "\"1\"",
];

/// Valid files; the first half are configurations.
pub(crate) const SEEDS: [&str; 4] = [
    include_str!("../../../../fuzz/seeds/toml/all.toml"),
    include_str!("../../../../fuzz/seeds/toml/some.toml"),
    include_str!("../../../../fuzz/seeds/toml/crate.toml"),
    include_str!("../../../../fuzz/seeds/toml/program.toml"),
];

const SOURCE: &str = "use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\nuse kubesmith_runtime::Resource;\n\
    #[derive(Resource)]\n#[resource(group = \"example.com\", version = \"v1\")]\n#[genclient]\n\
    pub struct Widget { pub metadata: ObjectMeta }\n\
    #[kubesmith_runtime::rbac(groups = \"\", resources = \"pods\", verbs = \"get\")]\nfn reconcile() {}\n";

/// A folder with a crate and a configuration.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["api", "api/src", "api/src/bin"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        fs::write(folder.path().join("api/src/lib.rs"), SOURCE).expect("a file");
        fs::write(folder.path().join("api/src/bin/program.rs"), "fn main() {}").expect("a file");
        fs::write(folder.path().join("header.txt"), "// Copyright YEAR\n").expect("a file");
        fs::write(folder.path().join("header.yaml"), "# Copyright YEAR\n").expect("a file");
        Self(folder)
    }

    /// Reads the text as both files.
    pub(crate) fn check(&self, text: &str) {
        self.run(text, SEEDS[2]);
        self.run(SEEDS[0], text);
    }

    fn run(&self, configuration: &str, manifest: &str) {
        let file = self.0.path().join(FILE_NAME);
        fs::write(&file, configuration).expect("a file");
        fs::write(self.0.path().join("api/Cargo.toml"), manifest).expect("a file");
        match config::settings(Some(&file), Overrides::default()) {
            Ok(all) => {
                all.iter().for_each(|settings| super::pipeline::check(&pipeline::generate(settings), SOURCE));
            }
            Err(error) => assert!(!error.0.is_empty()),
        }
    }
}
