//! Arguments of markers in Go, and markers of several packages and versions, as controller-gen takes them.

use kubesmith::config::{Generator, Overrides};
use kubesmith::diag;
use kubesmith::import::{self, GoOptions};
use kubesmith::pipeline::Generated;

use crate::go_input::{HEADER, crds, module};
use crate::support::{self, Crate};

/// A run of these generators, without an error.
fn run(folder: &Crate, only: &[Generator]) -> Generated {
    let generated = support::run(Overrides {
        input: vec![folder.path("api")],
        output: Some("out".into()),
        only: only.to_vec(),
        ..Overrides::default()
    });
    assert!(!diag::has_errors(&generated.diagnostics), "{}", support::short(&generated));
    generated
}

fn text(generated: &Generated) -> String {
    let files = generated.targets.iter().flat_map(|target| target.tree.iter());
    files.map(|(_, text)| text.to_string()).collect()
}

/// A module with these markers on its kind.
fn kind(markers: &str) -> Crate {
    let folder = module("");
    let header = HEADER.replace("type Kind struct", &format!("{markers}type Kind struct"));
    folder.write("api/v1/types.go", format!("{header}type Spec struct {{\n\tA []string `json:\"a\"`\n}}\n"));
    folder
}

/// Adds a second version with these markers on its kind.
fn second(folder: &Crate, markers: &str) {
    let text = std::fs::read_to_string(kind(markers).path("api/v1/types.go")).unwrap();
    folder.write("api/v2/types.go", text.replace("package v1", "package v2"));
}

/// `ctx.Roots` of controller-tools, pkg/genall/genall.go, has the order of `go list -deps`.
#[test]
fn webhooks_of_older_releases_follow_those_of_imported_packages() {
    let folder = module("type Spec struct{}\n");
    let hook = |name: &str| {
        format!(
            "// +kubebuilder:webhook:path=/{name},mutating=true,failurePolicy=fail,sideEffects=None,groups=a.b,resources=cs,verbs=create,versions=v1,name={name}.a.b,admissionReviewVersions=v1\n"
        )
    };
    folder.write(
        "api/v1/hooks.go",
        format!("package v1\n\nimport _ \"example.com/op/api/v2\"\n\n{}", hook("y")),
    );
    folder.write("api/v2/hooks.go", format!("package v2\n\n{}", hook("z")));
    folder.write("api/v3/hooks.go", format!("package v3\n\n{}", hook("x")));
    let order = |release: &str| {
        folder.write("api/Makefile", format!("CONTROLLER_TOOLS_VERSION ?= {release}\n"));
        let text = text(&run(&folder, &[Generator::Webhook]));
        let names = text.lines().filter_map(|line| line.strip_prefix("  name: ")?.strip_suffix(".a.b"));
        names.collect::<String>()
    };
    assert_eq!([order("v0.11.4"), order("v0.19.0"), order("v0.20.0")], ["zyx", "zyx", "xyz"]);
    // A package that no input names and no type needs can lie between.
    folder.write(
        "api/v2/hooks.go",
        format!("package v2\n\nimport _ \"example.com/op/internal\"\n\n{}", hook("z")),
    );
    folder.write("internal/a.go", "package internal\n\nimport _ \"example.com/op/api/v3\"\n\nfunc f() {}\n");
    assert_eq!([order("v0.19.0"), order("v0.20.0")], ["xzy", "xyz"]);
    // Without a go.mod, a package has another path than its imports say.
    std::fs::remove_file(folder.path("go.mod")).unwrap();
    assert_eq!(order("v0.19.0"), "zyx");
}

#[test]
fn last_of_repeated_arguments_counts_and_empty_lists_are_absent() {
    let folder = kind(
        "// +kubebuilder:resource:categories=a;b,path=as,categories=c\n\
         // +kubebuilder:printcolumn:name=A,type=string,JSONPath=`.spec.b`,JSONPath=`.spec.a`\n\
         // +kubebuilder:validation:XValidation:rule=\"true\",message=\"one\",message=\"two\"\n",
    );
    folder.write(
        "api/a/a.go",
        "package a\n\n// +kubebuilder:rbac:groups=,resources=pods,verbs=get,verbs=list\n\n\
         // +kubebuilder:rbac:groups=apps,resources=a,verbs=get,resources=b\n",
    );
    let role = text(&run(&folder, &[Generator::Rbac]));
    assert!(role.contains("- list\n") && !role.contains("- a\n"), "{role}");
    assert_eq!(role.matches("  - get\n").count(), 1, "{role}");
    let crd = text(&run(&folder, &[Generator::Crd]));
    for wanted in ["categories:\n    - c\n", "jsonPath: .spec.a\n", "message: two\n", "plural: as\n"] {
        assert!(crd.contains(wanted), "{wanted}\n{crd}");
    }
    let folder =
        module("type Spec struct {\n\t// +kubebuilder:validation:Enum={}\n\tA string `json:\"a\"`\n}\n");
    assert!(!text(&run(&folder, &[Generator::Crd])).contains("enum:"));
}

/// `Argument.parseString` of controller-tools, pkg/markers/parse.go, takes a delimiter that comes first for text.
#[test]
fn empty_part_of_a_list_is_joined_with_the_next() {
    let folder =
        module("type Spec struct {\n\t// +kubebuilder:validation:Enum=a;;b\n\tA string `json:\"a\"`\n}\n");
    let crd = text(&run(&folder, &[Generator::Crd]));
    assert!(crd.contains("enum:\n                - a\n                - ;b\n"), "{crd}");
}

#[test]
fn values_that_controller_gen_cannot_read_are_refused() {
    let field = |marker: &str| {
        let folder = module(&format!("type Spec struct {{\n\t// +{marker}\n\tA string `json:\"a\"`\n}}\n"));
        support::short(&crds(&folder))
    };
    for marker in [
        "nullable=true",
        "nullable:x=1",
        "optional=true",
        "k8s:required=false",
        "kubebuilder:validation:Required=false",
        "kubebuilder:validation:XEmbeddedResource:=true",
        "kubebuilder:default=0x1F",
        "kubebuilder:default=1_000",
        "kubebuilder:validation:MinLength=0x3",
    ] {
        let shown = field(marker);
        assert!(shown.contains("error[KS00"), "{marker}: {shown}");
    }
    for marker in ["nullable=", "nullable =true", "optional:x", "kubebuilder:storageversion=true"] {
        let shown = field(marker);
        assert!(!shown.contains("error["), "{marker}: {shown}");
    }
    let folder = kind("// +kubebuilder:subresource:status=true\n");
    folder.write("api/Makefile", "CONTROLLER_TOOLS_VERSION ?= v0.19.0\n");
    assert!(support::short(&crds(&folder)).contains("`+kubebuilder:subresource:status` takes no value"));
    let spec = "type Spec struct {\n\tA string `json:\"a\"`\n}\n";
    folder.write("api/v1/types.go", format!("// +kubebuilder:validation:Optional=true\n\n{HEADER}{spec}"));
    assert!(support::short(&crds(&folder)).contains("`+kubebuilder:validation:Optional` takes no value"));
    folder.write(
        "api/v1/types.go",
        format!("{HEADER}type Spec struct {{\n\t// +k8s:optional=true\n\tA string `json:\"a\"`\n}}\n"),
    );
    run(&folder, &[Generator::Crd]);
}

/// `NeedCRDFor` of controller-tools, pkg/crd/spec.go.
#[test]
fn plural_of_one_version_is_that_of_all() {
    let folder = kind("// +kubebuilder:resource:scope=Cluster\n// +kubebuilder:storageversion\n");
    second(&folder, "// +kubebuilder:resource:scope=Cluster,path=kindes,singular=one\n");
    let crd = text(&run(&folder, &[Generator::Crd]));
    assert!(crd.contains("name: kindes.example.com\n") && crd.contains("singular: one\n"), "{crd}");
}

#[test]
fn marker_of_a_resource_without_arguments_and_any_name_of_a_kind_are_taken() {
    let crd = text(&run(&kind("// +kubebuilder:resource\n"), &[Generator::Crd]));
    assert!(crd.contains("plural: kinds\n") && crd.contains("scope: Namespaced\n"), "{crd}");
    let folder = module("");
    let header = HEADER.replace("type Kind struct", "type Self struct");
    folder.write("api/v1/types.go", format!("{header}type Spec struct{{}}\n"));
    let crd = text(&run(&folder, &[Generator::Crd]));
    for wanted in ["kind: Self\n", "listKind: SelfList\n", "plural: selves\n", "singular: self\n"] {
        assert!(crd.contains(wanted), "{wanted}\n{crd}");
    }
}

#[test]
fn markers_of_generators_that_do_not_run_are_not_read() {
    let folder = kind("");
    folder.write(
        "api/a/a.go",
        "package a\n\n// +kubebuilder:rbac:groups=apps,resources=a,verbs=get\n\n// +kubebuilder:webhook:nope=1\n\n\
         // +kubebuilder:webhook:nope=2\nfunc f() {}\n",
    );
    let generated = run(&folder, &[Generator::Crd, Generator::Rbac]);
    assert!(!support::short(&generated).contains("marker"), "{}", support::short(&generated));
    assert!(text(&generated).contains("- apps\n"));
    folder.write("api/a/a.go", "package a\n\n// +kubebuilder:rbac:nope=1\n");
    run(&folder, &[Generator::Crd, Generator::Webhook]);
}

/// What only a server refuses is a warning, and its advice names Go's markers.
#[test]
fn refusals_of_servers_are_warnings_in_the_words_of_go() {
    let folder = kind("// +kubebuilder:storageversion\n");
    second(&folder, "// +kubebuilder:storageversion\n");
    let generated = run(&folder, &[Generator::Crd]);
    assert!(support::short(&generated).contains("warning[KS0505]"), "{}", support::short(&generated));
    assert_eq!(text(&generated).matches("storage: true\n").count(), 2);
    let folder = module(
        "type Spec struct {\n\t// +listType=map\n\tA []Item `json:\"a\"`\n}\n\ntype Item struct {\n\tName string `json:\"name\"`\n}\n",
    );
    let generated = run(&folder, &[Generator::Crd]);
    assert!(support::short(&generated).contains("warning[KS0305]"), "{}", support::short(&generated));
    assert!(text(&generated).contains("x-kubernetes-list-type: map\n"));
    let help = |code: &str| {
        let found = generated.diagnostics.iter().find(|found| found.code.to_string() == code);
        found.and_then(|found| found.help.clone()).unwrap_or_default()
    };
    assert_eq!(help("KS0305"), "name the fields that identify an item: +listMapKey=name");
    let folder = module("type Spec struct {\n\tA []Spec `json:\"a\"`\n}\n");
    let recursive = crds(&folder);
    let found = recursive.diagnostics.iter().find(|found| found.code.to_string() == "KS0411").unwrap();
    let help = found.help.as_deref().unwrap_or_default();
    assert!(help.contains("`+kubebuilder:validation:Schemaless`") && !help.contains("#["), "{help}");
}

#[test]
fn file_that_is_not_utf_8_gets_one_error() {
    let folder = module("type Spec struct{}\n");
    std::fs::create_dir_all(folder.path("api/b")).unwrap();
    std::fs::write(folder.path("api/b/b.go"), b"package b\n// \xff\n").unwrap();
    let shown = support::short(&crds(&folder));
    assert!(shown.contains("is not UTF-8") && !shown.contains("none is built"), "{shown}");
}

#[test]
fn import_of_an_unapproved_kind_names_the_annotation() {
    let folder = module("");
    let header = HEADER.replace("+groupName=example.com", "+groupName=example.k8s.io");
    folder.write("api/v1/types.go", format!("{header}type Spec struct{{}}\n"));
    let imported = import::import_go(&[folder.path("api")], "sample-api", GoOptions::default());
    let found = imported.diagnostics.iter().find(|found| found.code.to_string() == "KS0907").unwrap();
    let help = found.help.as_deref().unwrap_or_default();
    assert!(help.contains("+kubebuilder:metadata:annotations=\"api-approved.kubernetes.io="), "{help}");
}
