//! One Go file through all stages, and through the import.

use std::fs;

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::diag::{self, MessageFormat};
use kubesmith::import::{self, GoOptions};
use kubesmith::pipeline;
use tempfile::TempDir;

/// Texts that changes insert into a file.
pub(crate) const WORDS: &[&str] = &[
    "type A = ",
    "type B struct {\n",
    "}\n",
    "[]",
    "*",
    "map[string]",
    "interface{}",
    "`json:\"a,omitempty\"`",
    "`json:\",inline\"`",
    "`json:\"-\"`",
    "// +optional\n",
    "// +required\n",
    "// +kubebuilder:default={a: 1}\n",
    "// +kubebuilder:validation:Enum=a;b\n",
    "// +kubebuilder:validation:Type=string\n",
    "// +kubebuilder:resource:path=a,shortName=b\n",
    "// +k8s:enum\n",
    "// +kubebuilder:rbac:groups=a,resources=b,verbs=get\n",
    "// +groupName=a.b\n",
    "const C A = \"c\"\n",
    "func (a A) MarshalJSON() {}\n",
    "func (a *A) Default() {}\nfunc (a *A) ValidateCreate() {}\n",
    "func (a *A) Hub() {}\n",
    "// +genclient\n// +genclient:method=B,verb=get,result=a.b/v1.S\n",
    "func (a *A) MarshalText() {}\n",
    "import . \"k8s.io/api/core/v1\"\n",
    "metav1.Time",
    "corev1.PodSpec",
    "r#type",
    "Self",
    "_",
    "/*",
    "*/",
    "\\\"",
    "[T any]",
    "$",
    "\u{fc}",
];

/// A file with the parts of types, so that a few changes have large effects.
pub(crate) const SEED: &str = "// +groupName=a.b\npackage v1\n\nimport (\n\tcorev1 \"k8s.io/api/core/v1\"\n\tmetav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n)\n\n\
    // A is a kind.\n// +kubebuilder:subresource:status\ntype A struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n\
    \tSpec S `json:\"spec\"`\n}\n\n// +k8s:enum\ntype E string\n\nconst (\n\tX E = \"x\"\n)\n\ntype S struct {\n\t// B is.\n\t// +optional\n\tB *string `json:\"b\"`\n\
    \tC map[string][]E `json:\"c,omitempty\"`\n\tD corev1.LocalObjectReference `json:\",inline\"`\n\tE E `json:\"e\"` // trailing\n}\n";

/// A folder for runs with one file.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A run ends without a panic, has diagnostics or output, and has the same twice. The imported crate can
    /// be parsed.
    ///
    /// # Panics
    /// If it does not.
    pub(crate) fn check(&self, text: &str) {
        fs::write(self.dir.path().join("types.go"), text).unwrap();
        let first = self.run();
        assert_eq!(first, self.run(), "{text}");
        let imported = import::import_go(&[self.dir.path().to_path_buf()], "any-api", GoOptions::default());
        for (path, rust) in imported.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            assert!(syn::parse_file(rust).is_ok(), "{path}:\n{rust}\n{text}");
        }
        assert_eq!(imported.files.is_empty(), imported.definitions == 0, "{text}");
        assert!(!imported.files.is_empty() || diag::has_errors(&imported.diagnostics), "{text}");
    }

    fn run(&self) -> (String, usize) {
        let overrides = Overrides {
            input: vec![self.dir.path().to_path_buf()],
            crd_output: Some("out".into()),
            only: vec![Generator::Crd],
            ..Overrides::default()
        };
        let generated = pipeline::generate(&config::settings(None, overrides).unwrap()[0]);
        let shown = diag::render(
            &generated.diagnostics,
            &generated.sources,
            MessageFormat::Human,
            diag::Style::Plain,
        );
        assert!(!shown.is_empty() || !generated.targets.is_empty());
        (shown, generated.targets.iter().map(|target| target.tree.iter().count()).sum())
    }
}
