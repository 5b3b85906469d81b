//! Revisions of git as operands of `kubesmith diff`.

use std::process::Command;

use super::command::{OLD, folder, new, run, text};
use crate::support::{self, Crate};

fn git(folder: &Crate, arguments: &[&str]) {
    let mut command = folder.command("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn revisions_are_compared_without_touching_the_checkout() {
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
        (["git:nowhere", "crds"], "git does not know the revision `nowhere`"),
        (["git:--help", "crds"], "git does not know the revision `--help`"),
        (["git:main:nowhere", "crds"], "main has no nowhere"),
        (["git:main:../..", "crds"], "is outside of the repository"),
        (["git:main", "git:main"], "has no path"),
    ] {
        let (code, out, err) = run(&folder, &operands);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{operands:?}");
        assert!(err.contains(wanted) && err.contains("= help: "), "{operands:?}: {err}");
    }
}

/// A repository with a commit of these files, and of these links with their targets.
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
fn everything_is_new_when_the_revision_lacks_the_path() {
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
    // A missing path may be misspelt.
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
fn missing_operand_error_names_the_disk_or_the_revision() {
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
