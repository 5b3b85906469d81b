//! The command: its operands, its forms of output, its exit codes.

use std::process::{Command, Output};

use crate::support::{self, Crate, testdata};

const OLD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets, shortNames: [wd]}
  scope: Namespaced
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size:
                type: integer
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              mode:
                type: string
                enum: [fast, slow, 'off']
              name:
                type: string
              size:
                type: integer
                maximum: 20
";

/// Breaks in every way.
fn new() -> String {
    OLD.replace(", shortNames: [wd]", "")
        .replace("[fast, slow, 'off']", "[fast, slow]")
        .replace("maximum: 20", "maximum: 10")
        .replace(
            "              name:\n                type: string\n",
            "              label:\n                type: string\n",
        )
        .replace("scope: Namespaced", "scope: Cluster")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit code and what was printed.
fn run(folder: &Crate, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = folder.run(&[&["diff"], arguments].concat());
    (status.code(), text(&stdout), text(&stderr))
}

fn folder() -> Crate {
    let folder = Crate::with_files(&[]);
    folder.write("old.yaml", OLD);
    folder.write("new.yaml", new());
    folder
}

#[test]
fn changes_are_shown_in_three_forms() {
    let folder = folder();
    for format in ["text", "json", "github"] {
        let (code, out, err) = run(&folder, &["old.yaml", "new.yaml", "--format", format]);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
        insta::assert_snapshot!(format!("diff_{format}"), out);
    }
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml", "--ratcheting"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!("diff_ratcheting", out);
    let (code, out, _) = run(&folder, &["old.yaml", "old.yaml"]);
    assert_eq!((code, out.as_str()), (Some(0), "no changes\n"));
}

#[test]
fn what_is_allowed_does_not_fail() {
    let folder = folder();
    folder.write("new.yaml", OLD.replace("maximum: 20", "maximum: 10"));
    let entry = |path: &str, code: &str| {
        format!(
            "[[allow]]\ncrd = \"widgets.example.com\"\nversion = \"v1\"\npath = \"{path}\"\ncode = \"{code}\"\n\
             reason = \"no widget is larger than 10\"\n"
        )
    };
    let run = || run(&folder, &["old.yaml", "new.yaml", "--allow", "allow.toml"]);
    folder.write("allow.toml", entry("spec.size", "bound-tightened"));
    let (code, out, err) = run();
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("allowed: no widget is larger than 10\n"), "{out}");
    assert!(out.ends_with("1 change is allowed\n"), "{out}");

    folder.write("allow.toml", entry("spec.other", "bound-tightened"));
    let (code, out, err) = run();
    assert_eq!(code, Some(1), "{out}");
    assert_eq!(
        err,
        "warning: allow.toml:1: allows nothing: widgets.example.com v1 spec.other bound-tightened\n"
    );

    folder.write("allow.toml", entry("spec.size", "bound-tigtened"));
    let (code, _, err) = run();
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("did you mean `bound-tightened`?"), "{err}");
}

#[test]
fn what_cannot_be_read_is_neither_gone_nor_new() {
    let folder = folder();
    let gadgets = OLD.replace("widgets", "gadgets").replace("Widget", "Gadget");
    folder.write("old.yaml", format!("{OLD}---\n{gadgets}"));
    folder.write("new.yaml", format!("{}---\n{}", new(), gadgets.replace("scope: Namespaced", "scope: [")));
    let (code, out, err) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("KS0901") && err.contains("only what both sides have is compared: 1 definitions"),
        "{err}"
    );
    assert!(out.contains("widgets.example.com") && !out.contains("gadgets"), "{out}");
    assert!(out.contains("\nincomplete (1 error): "), "{out}");

    for (name, code) in
        [("template", "KS0902"), ("nothing", "KS0903"), ("mixed", "KS0901"), ("mixed", "KS0905")]
    {
        let path = testdata().join(format!("import/bad/{name}.yaml"));
        let (exit, _, err) = run(&folder, &["old.yaml", path.to_str().unwrap()]);
        assert_eq!(exit, Some(1), "{name}");
        assert!(err.contains(code), "{name}: {err}");
    }
    let beta = testdata().join("import/good/beta.yaml");
    let (exit, out, err) = run(&folder, &[beta.to_str().unwrap(), beta.to_str().unwrap()]);
    assert_eq!((exit, out.as_str()), (Some(0), "no changes\n"), "{err}");
    assert!(err.contains("KS0909"), "converted, with a note: {err}");
    let (exit, _, err) = run(&folder, &["old.yaml", "nowhere.yaml"]);
    assert_eq!(exit, Some(1));
    assert!(err.contains("cannot read nowhere.yaml"), "{err}");
    let (exit, _, err) = run(&folder, &["-", "-"]);
    assert_eq!(exit, Some(1));
    assert!(err.contains("standard input can be one of the sides only"), "{err}");
}

/// Whoever reads the output alone has to see that it is not all.
#[test]
fn programs_are_told_what_cannot_be_read() {
    let folder = folder();
    folder.write("new.yaml", format!("{OLD}---\nkind: [\n"));
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &value["complete"], &value["breaking"]), (Some(1), &false.into(), &false.into()));
    assert_eq!(value["unread"][0]["location"]["file"], "new.yaml", "{out}");
    assert_eq!(value["summary"], "incomplete (1 error): no changes in what could be read");
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml", "--format", "github"]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("::error file=new.yaml,line=") && out.contains("KS0901"), "{out}");
    assert!(out.contains("\n::error title=kubesmith diff::incomplete (1 error): no changes"), "{out}");

    let (code, out, _) = run(&folder, &["git:nowhere", "new.yaml", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &value["complete"]), (Some(1), &false.into()), "{out}");
    let (code, out, _) = run(&folder, &["cluster:nowhere", "new.yaml", "--format", "github"]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("::error title=kubesmith diff: not compared::"), "{out}");
}

#[test]
fn what_is_large_or_deep_is_compared() {
    let folder = folder();
    let field = |at: usize| {
        format!("              field{at}:\n                type: string\n                maxLength: 9\n")
    };
    let fields: String = (0..60_000).map(field).collect();
    let large = OLD.replace("              mode:\n", &format!("{fields}              mode:\n"));
    assert!(large.len() > 4_000_000);
    folder.write("old.yaml", &large);
    // Looking for each place from the beginning would take hours.
    folder.write("new.yaml", large.replace("maxLength: 9", "maxLength: 8"));
    let (code, out, err) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("60000 changes break stored objects"), "{}", out.lines().last().unwrap_or_default());

    let deep = |leaf: &str| {
        let mut schema = serde_json::json!({"type": leaf});
        for _ in 0..40 {
            schema = serde_json::json!({"type": "object", "properties": {"next": schema}});
        }
        OLD.replace(
            "                type: integer\n                maximum: 20\n",
            &format!("                {{\"type\": \"object\", \"properties\": {{\"x\": {schema}}}}}\n"),
        )
    };
    folder.write("old.yaml", deep("string"));
    folder.write("new.yaml", deep("integer"));
    let (_, out, err) = run(&folder, &["old.yaml", "new.yaml"]);
    assert!(out.contains("1 change breaks stored objects"), "{out}{err}");
}

fn git(folder: &Crate, arguments: &[&str]) {
    let mut command = folder.command("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn revisions_are_compared_and_nothing_is_touched() {
    let folder = folder();
    folder.write(
        "api/src/lib.rs",
        format!("{}{}", support::USES, support::kind("Gizmo", "    pub size: i32,")),
    );
    folder.write("crds/widgets.yaml", OLD);
    folder.write("crds/kustomization.yaml", "kind: Kustomization\n");
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    git(&folder, &["add", "api", "crds"]);
    git(&folder, &["commit", "--quiet", "--message=one"]);
    folder.write("crds/widgets.yaml", new());
    folder.write(
        "api/src/lib.rs",
        format!("{}{}", support::USES, support::kind("Gizmo", "    pub size: String,")),
    );
    git(&folder, &["add", "crds"]);
    let status = || {
        let output = folder.command("git").args(["status", "--porcelain"]).output().unwrap();
        text(&output.stdout)
    };
    let before = status();
    for operands in
        [["git:main", "crds"], ["HEAD:crds", "crds"], ["git:main:./crds/widgets.yaml", "crds/widgets.yaml"]]
    {
        let (code, out, err) = run(&folder, &operands);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
        assert!(out.contains("maximum 20 became 10  (crds/widgets.yaml:"), "{out}");
    }
    let (code, out, err) = run(&folder, &["crds", "git:main"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("maximum 10 became 20"), "{out}");

    let (code, out, err) = run(&folder, &["git:main", "api"]);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    assert!(out.contains("v1 spec.size: integer became string  (api/src/lib.rs:15)"), "{out}");
    let (code, out, err) = run(&folder, &["api", "git:main:api"]);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    assert!(out.contains("v1 spec.size: string became integer  (main:api/src/lib.rs:"), "{out}");
    assert_eq!(status(), before, "the work tree and the index are as they were");

    for (operands, wanted) in [
        (["git:nowhere", "crds"], "git knows no revision `nowhere`"),
        (["git:--help", "crds"], "git knows no revision `--help`"),
        (["git:main:nowhere", "crds"], "main has no nowhere"),
        (["git:main:../..", "crds"], "is outside of the repository"),
        (["git:main", "git:main"], "names no path"),
    ] {
        let (code, out, err) = run(&folder, &operands);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{operands:?}");
        assert!(err.contains(wanted) && err.contains("= help: "), "{operands:?}: {err}");
    }
}

/// A repository with a commit of these files, and these links with what they lead to.
fn repository(files: &[(&str, &str)], links: &[(&str, &str)]) -> Crate {
    let folder = Crate::with_files(&[]);
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    for (path, text) in files {
        folder.write(path, text);
    }
    for (path, target) in links {
        std::fs::create_dir_all(folder.path(path).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, folder.path(path)).unwrap();
    }
    let paths = files.iter().chain(links).map(|(path, _)| *path);
    git(&folder, &["add"].into_iter().chain(paths).collect::<Vec<_>>());
    git(&folder, &["commit", "--quiet", "--message=one"]);
    folder
}

#[test]
fn links_of_a_revision_are_followed() {
    let gadgets = OLD.replace("widgets", "gadgets").replace("Widget", "Gadget");
    let folder = repository(
        &[("base/widgets.yaml", OLD), ("other/gadgets.yaml", &gadgets)],
        &[
            ("linked", "base"),
            ("mixed/widgets.yaml", "../linked/widgets.yaml"),
            ("mixed/more", "../other"),
            ("mixed/more-and-more", "."),
            ("widgets.yaml", "mixed/widgets.yaml"),
        ],
    );
    folder.write("new.yaml", format!("{}---\n{gadgets}", new()));
    for (path, is_new) in
        [("linked", true), ("linked/widgets.yaml", true), ("widgets.yaml", true), ("mixed", false)]
    {
        let (code, out, err) = run(&folder, &[&format!("main:{path}"), "new.yaml"]);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{path}: {out}");
        assert!(out.contains("maximum 20 became 10"), "{path}: {out}");
        assert_eq!(out.contains("the definition is new"), is_new, "{path}: {out}");
        let (code, out, err) = run(&folder, &[&format!("main:{path}"), path]);
        assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "no changes\n", ""), "{path}: as on disk");
    }

    let folder = repository(
        &[("crds/widgets.yaml", OLD)],
        &[("crds/gone.yaml", "nowhere.yaml"), ("crds/outside", "/usr"), ("crds/README", "nowhere")],
    );
    let (code, out, err) = run(&folder, &["main:crds", "crds/widgets.yaml"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(err.contains("error[KS0905]") || err.contains("error[KS"), "{err}");
    assert!(err.contains("cannot read main:crds/gone.yaml: a link to nowhere.yaml"), "{err}");
    assert!(err.contains("warning") && err.contains("main:crds/outside: a link to /usr"), "{err}");
    assert!(!err.contains("README"), "{err}");
}

#[test]
fn revisions_are_named_as_git_names_them() {
    let folder = repository(&[("crds/widgets.yaml", OLD)], &[]);
    folder.write("crds/widgets.yaml", new());
    for operands in [
        ["HEAD:", "crds"],
        ["git:HEAD:", "crds"],
        ["git:HEAD:crds/", "crds"],
        ["git:HEAD:./crds", "crds"],
        ["git:HEAD^{commit}:crds/widgets.yaml", "crds"],
    ] {
        let (code, out, err) = run(&folder, &operands);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{operands:?} {out}");
        assert!(out.contains("maximum 20 became 10"), "{operands:?} {out}");
    }
    git(&folder, &["commit", "--quiet", "--all", "--message=two"]);
    for operands in [["HEAD~1:crds", "git:HEAD"], ["git:HEAD~1", "HEAD:crds"]] {
        let (_, out, err) = run(&folder, &operands);
        assert!(out.contains("maximum 20 became 10"), "{operands:?} {out} {err}");
    }
    for (operand, wanted) in [
        ("HEAD", "for the revision write git:HEAD"),
        ("HEAD::", "HEAD has no :, or no YAML or JSON file there"),
        ("HEAD:nowhere/", "HEAD has no nowhere, or no YAML or JSON file there"),
    ] {
        let (code, out, err) = run(&folder, &[operand, "crds"]);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{operand}");
        assert!(err.contains(wanted), "{operand}: {err}");
    }
}

#[test]
fn what_a_revision_does_not_have_yet_is_new() {
    let folder =
        repository(&[("README", "Widgets.\n"), ("empty/kustomization.yaml", "resources: []\n")], &[]);
    folder.write("crds/widgets.yaml", OLD);
    folder.write("empty/widgets.yaml", OLD);
    folder.write(
        "api/src/lib.rs",
        format!("{}{}", support::USES, support::kind("Gizmo", "    pub size: i32,")),
    );
    for (operands, note) in [
        (["git:main", "crds"], "note: main has no crds, or no YAML or JSON file there: everything is new\n"),
        (["main:crds", "crds"], "note: main has no crds, or no YAML or JSON file there: everything is new\n"),
        (["git:main", "empty"], "note: the older revision has no definition there: everything is new\n"),
        (["git:main", "api"], "note: main has no api, or no YAML or JSON file there: everything is new\n"),
    ] {
        let (code, out, err) = run(&folder, &operands);
        assert_eq!((code, err.as_str()), (Some(0), note), "{operands:?} {out}");
        assert!(out.ends_with("1 change is compatible\n"), "{operands:?} {out}");
    }
    git(&folder, &["add", "crds"]);
    git(&folder, &["commit", "--quiet", "--message=two"]);
    let (code, _, err) = run(&folder, &["HEAD~1:crds", "HEAD:crds"]);
    assert_eq!(code, Some(0), "{err}");
    // What is not at the same place may be misspelled.
    for operands in [["main:crd", "crds"], ["crds", "git:main:crd"], ["HEAD~1:crd", "HEAD:crds"]] {
        let (code, out, err) = run(&folder, &operands);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{operands:?}");
        assert!(err.contains("has no crd, or no YAML or JSON file there"), "{operands:?} {err}");
    }
}

#[test]
fn annotations_name_files_from_the_top_of_the_checkout() {
    let folder = folder();
    folder.write("with space/crds/old.yaml", OLD);
    folder.write("with space/crds/new.yaml", new());
    let output = Command::new(env!("CARGO_BIN_EXE_kubesmith"))
        .args(["diff", "crds/old.yaml", "crds/new.yaml", "--format", "github"])
        .current_dir(folder.path("with space"))
        .env("GITHUB_WORKSPACE", folder.dir.path())
        .output()
        .unwrap();
    let out = text(&output.stdout);
    assert!(out.contains("::error file=with space/crds/new.yaml,line="), "{out}");
}

#[test]
fn what_is_gone_from_disk_is_looked_for_in_the_revision() {
    let folder = folder();
    folder.write("crds/widgets.yaml", OLD);
    git(&folder, &["init", "--quiet", "--initial-branch=main"]);
    git(&folder, &["add", "crds"]);
    git(&folder, &["commit", "--quiet", "--message=one"]);
    std::fs::remove_dir_all(folder.path("crds")).unwrap();
    let (code, _, err) = run(&folder, &["git:main", "crds"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read crds: No such file"), "{err}");
    let (code, _, err) = run(&folder, &["git:main", "nowhere"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("main has no nowhere"), "{err}");
    std::fs::create_dir(folder.path("crds")).unwrap();
    let (code, _, err) = run(&folder, &["git:main", "crds"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("no CustomResourceDefinition in the folder crds"), "{err}");
}

#[test]
fn versions_that_are_neither_served_nor_stored_are_nobodys() {
    let folder = folder();
    let unserved = OLD.replacen("served: true", "served: false", 1);
    folder.write("old.yaml", &unserved);
    folder.write("new.yaml", unserved.replacen("type: integer", "type: string", 1));
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!((code, out.as_str()), (Some(0), "no changes\n"));
    // Objects are read and written by the schema of the version that is stored.
    let unserved = OLD.replacen("name: v1\n    served: true", "name: v1\n    served: false", 1);
    folder.write("old.yaml", &unserved);
    folder.write("new.yaml", unserved.replace("maximum: 20", "maximum: 10"));
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1), "{out}");
}

#[test]
fn a_webhook_may_be_added_later() {
    let folder = folder();
    folder.write(
        "new.yaml",
        OLD.replace(
            "              mode:\n",
            "              more:\n                type: string\n              mode:\n",
        ),
    );
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1));
    assert!(
        out.contains("versions-diverge") && out.contains("`kubesmith diff --conversion-webhook`"),
        "{out}"
    );
    let (code, out, _) = run(&folder, &["old.yaml", "new.yaml", "--conversion-webhook"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("field-added"), "{out}");
}

#[test]
fn versions_with_the_same_change_stand_together() {
    let folder = folder();
    let old = OLD.replace(
        "                type: integer\n                maximum: 20\n",
        "                type: integer\n",
    );
    folder.write("old.yaml", &old);
    folder.write("new.yaml", old.replace("type: integer", "type: integer\n                maximum: 10"));
    let (_, out, _) = run(&folder, &["old.yaml", "new.yaml"]);
    assert!(out.contains("\n      v1, v1beta1 spec.size: maximum 10 is new  (new.yaml:"), "{out}");
    assert!(out.ends_with("2 changes break stored objects\n"), "{out}");
}

/// What changed is to be seen, however long the rest is.
#[test]
fn long_values_are_cut_to_what_differs() {
    let folder = folder();
    let with = |end: &str| {
        let pattern = format!("^{}{end}$", "a?".repeat(200));
        OLD.replace("enum: [fast, slow, 'off']", &format!("pattern: '{pattern}'"))
    };
    folder.write("old.yaml", with("b"));
    folder.write("new.yaml", with("c"));
    let (_, out, _) = run(&folder, &["old.yaml", "new.yaml"]);
    assert!(out.contains("`…a?a?a?a?a?a?a?a?a?a?b$` became `…a?a?a?a?a?a?a?a?a?a?c$`"), "{out}");
}

#[test]
fn mistakes_in_source_are_told() {
    let folder = folder();
    folder.write(
        "api/src/lib.rs",
        format!("{}{}", support::USES, support::kind("Gizmo", "    pub size: Nowhere,")),
    );
    let (code, _, err) = run(&folder, &["api", "api"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("api/src/lib.rs:"), "{err}");
}

/// docs/reference/diff.md has a row for each change, as the table of the code has it.
#[test]
fn every_change_is_documented() {
    use kubesmith::diff::{Certainty, RULES};
    let docs = std::fs::read_to_string(testdata().join("../docs/reference/diff.md")).unwrap();
    let mut table =
        String::from("| code | what changed | verdict | what an API server does |\n|---|---|---|---|\n");
    for rule in RULES {
        let note = match rule.certainty {
            Certainty::Certain => "",
            Certainty::Unclear => ", unclear",
            Certainty::Refused => ", refused",
        };
        let ratchets = if rule.ratchets { ", tolerated" } else { "" };
        table += &format!(
            "| `{}` | {} | {}{note}{ratchets} | {} |\n",
            rule.name,
            rule.title,
            rule.class.words(),
            rule.reason
        );
    }
    let (begin, end) = ("<!-- changes -->\n", "<!-- end of changes -->\n");
    let (head, rest) = docs.split_once(begin).expect("the table's beginning");
    let (_, tail) = rest.split_once(end).expect("the table's end");
    let wanted = format!("{head}{begin}\n{table}\n{end}{tail}");
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        std::fs::write(testdata().join("../docs/reference/diff.md"), wanted).unwrap();
    } else {
        assert_eq!(docs, wanted, "run the test with KUBESMITH_UPDATE=1 to update docs/reference/diff.md");
    }
}
