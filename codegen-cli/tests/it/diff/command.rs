//! The command: its operands, its forms of output, its exit codes.

use std::process::Output;

use crate::support::{self, Crate, testdata};

pub(super) const OLD: &str = "\
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

/// Breaks stored objects and clients.
pub(super) fn new() -> String {
    OLD.replace(", shortNames: [wd]", "")
        .replace("[fast, slow, 'off']", "[fast, slow]")
        .replace("maximum: 20", "maximum: 10")
        .replace(
            "              name:\n                type: string\n",
            "              label:\n                type: string\n",
        )
        .replace("scope: Namespaced", "scope: Cluster")
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit code and what was printed.
pub(super) fn run(folder: &Crate, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = folder.run(&[&["diff"], arguments].concat());
    (status.code(), text(&stdout), text(&stderr))
}

pub(super) fn folder() -> Crate {
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
fn allowed_change_does_not_fail_the_run() {
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
fn unreadable_definition_is_neither_removed_nor_added() {
    let folder = folder();
    let gadgets = OLD.replace("widgets", "gadgets").replace("Widget", "Gadget");
    folder.write("old.yaml", format!("{OLD}---\n{gadgets}"));
    folder.write("new.yaml", format!("{}---\n{}", new(), gadgets.replace("scope: Namespaced", "scope: [")));
    let (code, out, err) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("KS0901") && err.contains("compared only definitions that both sides have: 1"),
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
    assert!(err.contains("only one of the sides can be standard input"), "{err}");
}

/// The output alone has to show that it is incomplete.
#[test]
fn machine_formats_report_unreadable_definitions() {
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
fn large_or_deep_definitions_are_compared() {
    let folder = folder();
    let field = |at: usize| {
        format!("              field{at}:\n                type: string\n                maxLength: 9\n")
    };
    let fields: String = (0..10_000).map(field).collect();
    let large = OLD.replace("              mode:\n", &format!("{fields}              mode:\n"));
    assert!(large.len() > 600_000);
    folder.write("old.yaml", &large);
    // Searching each place from the beginning would take minutes.
    folder.write("new.yaml", large.replace("maxLength: 9", "maxLength: 8"));
    let (code, out, err) = run(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("10000 changes break stored objects"), "{}", out.lines().last().unwrap_or_default());

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

#[test]
fn unserved_and_unstored_versions_are_not_compared() {
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
fn diverging_versions_are_allowed_with_a_conversion_webhook() {
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
fn versions_with_the_same_change_are_grouped() {
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

/// Long texts are shortened around the change.
#[test]
fn long_values_are_shortened_to_their_difference() {
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
fn errors_in_source_are_reported() {
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
