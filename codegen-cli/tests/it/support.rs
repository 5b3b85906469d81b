//! Crates in temporary folders, runs of the pipeline and of the binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use kubesmith::config::{self, Generator, ManifestFlags, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::lints::{LINTS, LintConfig};
use kubesmith::pipeline::{self, Generated};

/// The repository's testdata folder.
pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

/// The beginning of every root type.
pub(crate) const USES: &str = "use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;\n\
    use kubesmith_runtime::{Resource, Schema};\nuse serde::{Deserialize, Serialize};\n";

/// A kind with a spec of these fields.
pub(crate) fn kind(name: &str, fields: &str) -> String {
    format!(
        "/// {name} is a kind.\n#[derive(Clone, Debug, Default, PartialEq, Resource)]\n\
         #[resource(group = \"example.com\", version = \"v1\")]\n#[genclient]\npub struct {name} {{\n    \
         pub metadata: ObjectMeta,\n    pub spec: {name}Spec,\n}}\n\n\
         #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]\n\
         pub struct {name}Spec {{\n{fields}\n}}\n"
    )
}

/// A crate in a temporary folder.
pub(crate) struct Crate {
    pub(crate) dir: tempfile::TempDir,
}

impl Crate {
    /// A crate with one file.
    pub(crate) fn new(lib: &str) -> Self {
        Self::with_files(&[("src/lib.rs", lib)])
    }

    /// A crate with these files and a Cargo.toml.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let out = Self { dir };
        out.write(
            "api/Cargo.toml",
            "[package]\nname = \"sample-api\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             k8s-openapi = \"0.29\"\nkubesmith-runtime = \"0.1\"\nserde = \"1\"\nserde_json = \"1\"\n",
        );
        for (path, text) in files {
            out.write(&format!("api/{path}"), text);
        }
        out
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub(crate) fn write(&self, relative: &str, text: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs the binary in the folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(env!("CARGO_BIN_EXE_kubesmith"));
        command.args(arguments).env_remove("RUST_BACKTRACE").output().unwrap()
    }

    /// A program to run in the folder. Where the tests run in a hook of git, it does not see the repository of that hook, and
    /// cargo builds beside its project, where no other test builds a crate of the same name.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path());
        for name in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_PREFIX",
            "CARGO_TARGET_DIR",
            "CARGO_TERM_COLOR",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// Every file under a folder with its text.
    pub(crate) fn tree(&self, folder: &str) -> BTreeMap<String, String> {
        let root = self.path(folder);
        let mut out = BTreeMap::new();
        collect(&root, &root, &mut out);
        out
    }

    /// Runs the pipeline in process.
    pub(crate) fn generate(&self) -> Generated {
        generate(&[self.path("api")])
    }
}

fn collect(root: &Path, folder: &Path, out: &mut BTreeMap<String, String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, out);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            out.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
        }
    }
}

/// Runs the pipeline with default options.
pub(crate) fn generate(inputs: &[PathBuf]) -> Generated {
    run(Overrides { input: inputs.to_vec(), output: Some("out".into()), ..Overrides::default() })
}

/// Runs the pipeline with all generators of types.
pub(crate) fn everything(inputs: &[PathBuf]) -> Generated {
    let manifests = ManifestFlags {
        openapi_output: Some("openapi".into()),
        docs_output: Some("docs".into()),
        ..ManifestFlags::default()
    };
    run(Overrides { input: inputs.to_vec(), output: Some("out".into()), manifests, ..Overrides::default() })
}

/// Runs the pipeline for the CRDs alone.
pub(crate) fn crds(input: PathBuf, max_desc_len: Option<usize>, allow_dangerous_types: bool) -> Generated {
    run(Overrides {
        input: vec![input],
        crd_output: Some("out".into()),
        only: vec![Generator::Crd],
        max_desc_len,
        allow_dangerous_types,
        ..Overrides::default()
    })
}

/// Runs the pipeline with these levels of warnings. The output's place is a folder of the input, which may have files in it.
pub(crate) fn linted(input: PathBuf, lints: LintConfig) -> Generated {
    settled(Overrides {
        output: Some(input.join("client")),
        input: vec![input],
        lints,
        allow_dangerous_types: true,
        ..Overrides::default()
    })
}

/// Warnings about conventions have tests of their own, and are off elsewhere.
pub(crate) fn run(overrides: Overrides) -> Generated {
    let conventions = LINTS.iter().map(|(code, _)| code.to_string()).filter(|code| code.starts_with("KS07"));
    let lints = LintConfig { allow: conventions.collect(), ..LintConfig::default() };
    settled(Overrides { lints, ..overrides })
}

fn settled(overrides: Overrides) -> Generated {
    pipeline::generate(&config::settings(None, overrides).unwrap()[0])
}

/// The texts of the CRDs by file name.
pub(crate) fn crd_texts(generated: &Generated) -> BTreeMap<String, String> {
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    files.filter(|(path, _)| path.ends_with(".yaml")).map(|(p, t)| (p.to_string(), t.to_string())).collect()
}

/// Diagnostics, one per line.
pub(crate) fn short(generated: &Generated) -> String {
    diag::render(&generated.diagnostics, &generated.sources, MessageFormat::Short, diag::Style::Plain)
}
