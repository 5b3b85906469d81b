//! The step of the project's CI that compares the API with the last released tag, for each step in a version's life.

use std::fs;
use std::process::Command;

use super::{POOL, Project, api};

const OLD: &str = "api/src/tsi/v1alpha1/ip_pool.rs";
const NEW: &str = "api/src/tsi/v1/ip_pool.rs";

fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]);
    let out = command.args(arguments).current_dir(project.path("")).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}

/// The exit code and the output of `hack/diff-api.sh`.
fn compare(project: &Project, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(project.path("hack/diff-api.sh"));
    let out = command.args(arguments).env("KUBESMITH", env!("CARGO_BIN_EXE_kubesmith")).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    (out.status.code(), text)
}

fn release(project: &Project, tag: &str) {
    git(project, &["add", "--all"]);
    git(project, &["commit", "--quiet", "--message", tag]);
    git(project, &["tag", tag]);
}

fn edit(project: &Project, file: &str, from: &str, to: &str) {
    let text = project.read(file);
    assert!(text.contains(from), "{text}");
    fs::write(project.path(file), text.replace(from, to)).unwrap();
}

/// Writes `allowed-changes.toml` with one entry.
fn allow(project: &Project, change: &str) {
    let entry =
        format!("[[allow]]\ncrd = \"ippools.tsi.example.com\"\n{change}\nreason = \"a planned step\"\n");
    fs::write(project.path("allowed-changes.toml"), entry).unwrap();
}

#[test]
fn every_step_of_a_versions_life_is_checked_against_the_released_tag() {
    let project = Project::new();
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    project.works(&POOL);
    let (code, text) = compare(&project, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("there is no released tag"), "{text}");
    release(&project, "v0.1.0");

    let mut shown = String::new();
    let mut step = |name: &str, tag: &str, allowed: Option<&str>| {
        let (code, text) = compare(&project, &[]);
        assert_eq!(code, Some(i32::from(allowed.is_some())), "{name}: {text}");
        shown.push_str(&format!("==> {name}\n{text}"));
        if let Some(change) = allowed {
            allow(&project, change);
            let (code, text) = compare(&project, &[]);
            assert_eq!(code, Some(0), "{name}: {text}");
            shown.push_str(&format!("==> {name}, allowed\n{text}"));
        }
        release(&project, tag);
        let _ = fs::remove_file(project.path("allowed-changes.toml"));
    };
    project.works(&api("tsi", "v1", "IPPool"));
    step("introduce", "v0.2.0", None);
    edit(
        &project,
        OLD,
        "    storage_version,\n",
        "    storage_version,\n    deprecated_version(warning = \"use v1\"),\n",
    );
    step("serve both", "v0.3.0", None);
    edit(&project, OLD, "    storage_version,\n", "");
    edit(&project, NEW, "    status,\n", "    status,\n    storage_version,\n");
    step("migrate", "v0.4.0", Some("path = \"spec.versions\"\ncode = \"storage-version-changed\""));
    edit(&project, OLD, "    status,\n", "    status,\n    unserved_version,\n");
    step(
        "stop serving",
        "v0.5.0",
        Some(
            "version = \"v1alpha1\"\npath = \"spec.versions[v1alpha1].served\"\ncode = \"version-unserved\"",
        ),
    );
    fs::remove_dir_all(project.path("api/src/tsi/v1alpha1")).unwrap();
    edit(&project, "api/src/tsi/mod.rs", "pub mod v1alpha1;\n", "");
    step("remove", "v0.6.0", None);
    insta::assert_snapshot!("life_cycle", shown);

    // The commit of a release is compared with the release before it, and later edits with the release.
    assert!(compare(&project, &[]).1.starts_with("comparing with v0.5.0\n"));
    edit(&project, NEW, "max_length = 64", "max_length = 6");
    let (code, text) = compare(&project, &["--format", "github"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.starts_with("comparing with v0.6.0\n"), "{text}");
    assert!(text.contains("::error") && text.contains("bound-tightened"), "{text}");
}

/// A break that a pre-release has shipped is new to users of the last release.
#[test]
fn api_is_compared_with_the_last_release_that_is_no_pre_release() {
    let project = Project::new();
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    project.works(&POOL);
    fs::write(project.path("more"), "").unwrap();
    release(&project, "v0.1.0-alpha.1");
    assert!(compare(&project, &[]).1.starts_with("there is no released tag"));
    fs::write(project.path("more"), "1").unwrap();
    release(&project, "v0.1.0");
    edit(&project, OLD, "max_length = 64", "max_length = 6");
    for tag in ["v0.2.0-rc.1", "v0.2.0-rc.2"] {
        fs::write(project.path("more"), tag).unwrap();
        release(&project, tag);
        let (code, text) = compare(&project, &[]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.starts_with("comparing with v0.1.0\n") && text.contains("bound-tightened"), "{text}");
    }
}

/// A clone without tags would compare with nothing, and pass.
#[test]
fn shallow_clone_is_refused() {
    let project = Project::new();
    git(&project, &["init", "--quiet", "--initial-branch=main"]);
    project.works(&POOL);
    release(&project, "v0.1.0");
    fs::write(project.path("more"), "").unwrap();
    release(&project, "v0.2.0");
    let from = format!("file://{}", project.path("").display());
    git(&project, &["clone", "--quiet", "--depth=1", &from, "../clone"]);
    let mut command = Command::new(project.path("../clone/hack/diff-api.sh"));
    let out = command.env("KUBESMITH", "false").output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && text.contains("git fetch --unshallow --tags"), "{text}");
}

#[test]
fn workflow_runs_targets_of_the_makefile() {
    let project = Project::new();
    let makefile = project.read("Makefile");
    let workflow = project.read(".github/workflows/ci.yml");
    let workflow: serde_json::Value = serde_yaml::from_str(&workflow).unwrap();
    let steps = workflow["jobs"]["check"]["steps"].as_array().unwrap();
    assert_eq!(steps[0]["with"]["fetch-depth"], 0);
    let runs: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    // A Makefile that is older than the workflow has no target for the comparison.
    assert!(runs.contains(&"hack/diff-api.sh --format github"), "{runs:?}");
    let targets: Vec<&str> = runs.iter().filter_map(|line| line.strip_prefix("make ")).collect();
    assert_eq!(targets, ["verify", "lint", "test"]);
    for target in targets {
        assert!(makefile.contains(&format!("\n.PHONY: {target}\n")), "{target}");
    }
}
