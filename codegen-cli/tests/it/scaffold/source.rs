//! Where a project finds kubesmith's packages: `--kubesmith-source`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{POOL, Project};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The packages of the repository that a package depends on, itself included.
fn closure(root: &Path, folder: &str, out: &mut BTreeSet<String>) {
    if !out.insert(folder.to_owned()) {
        return;
    }
    let read = |path: &Path| fs::read_to_string(path).unwrap().parse::<toml::Table>().unwrap();
    let workspace = read(&root.join("Cargo.toml"));
    let manifest = read(&root.join(folder).join("Cargo.toml"));
    for name in manifest["dependencies"].as_table().unwrap().keys() {
        let path = workspace["workspace"]["dependencies"].get(name).and_then(|found| found.get("path"));
        if let Some(path) = path {
            closure(root, path.as_str().unwrap(), out);
        }
    }
}

#[test]
fn image_gets_every_dependency_of_the_packages() {
    let project = Project::empty();
    project.works(&["init", "--kubesmith-source", root().to_str().unwrap()]);
    let dockerfile = project.read("Dockerfile");
    let copied = dockerfile.lines().filter_map(|line| line.strip_prefix("COPY --from=kubesmith [\""));
    let copied: BTreeSet<String> =
        copied.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect();
    let mut needed = BTreeSet::from(["Cargo.toml".to_owned()]);
    closure(&root(), "runtime", &mut needed);
    closure(&root(), "testenv", &mut needed);
    assert_eq!(copied, needed);
}

#[test]
fn project_depends_on_a_revision_of_a_git_repository() {
    let project = Project::empty();
    let out = project.works(&["init", "--kubesmith-source", "https://git.example.com/kubesmith#abc123"]);
    assert!(out.contains("source in https://git.example.com/kubesmith, revision abc123"), "{out}");
    let git = "{ git = \"https://git.example.com/kubesmith\", rev = \"abc123\"";
    let manifest = project.read("Cargo.toml");
    assert!(manifest.contains(&format!("kubesmith-runtime = {git}")), "{manifest}");
}

#[test]
fn project_depends_on_the_revision_that_cargo_installed() {
    let project = Project::empty();
    let installed = project.dir.path().join("installed");
    fs::create_dir_all(installed.join("bin")).unwrap();
    let program = installed.join("bin/kubesmith");
    fs::hard_link(env!("CARGO_BIN_EXE_kubesmith"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_kubesmith"), &program).map(drop))
        .unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let from = "git+https://git.example.com/kubesmith?branch=main#abc123";
    let list = format!("[v1]\n\"kubesmith {version} ({from})\" = [\"kubesmith\"]\n");
    fs::write(installed.join(".crates.toml"), list).unwrap();
    let out = Command::new(&program).arg("init").current_dir(project.path("")).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("source in https://git.example.com/kubesmith, revision abc123"), "{text}");
}

/// Makes a repository with these files, and returns its URL and its commit.
fn repository(folder: &Path, files: &[(&str, &str)]) -> (String, String) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments).current_dir(folder);
        let out = command.output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "source"]);
    (format!("file://{}", folder.display()), git(&["rev-parse", "HEAD"]))
}

/// The runtime and the test environment in the repository; only Cargo's resolver reads them.
const SOURCE: [(&str, &str); 4] = [
    (
        "runtime/Cargo.toml",
        "[package]\nname = \"kubesmith-runtime\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [features]\nvalidation = []\ncert-rotation = []\nclap = []\n",
    ),
    ("runtime/src/lib.rs", ""),
    (
        "testenv/Cargo.toml",
        "[package]\nname = \"kubesmith-testenv\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    ),
    ("testenv/src/lib.rs", ""),
];

#[test]
fn project_that_depends_on_a_git_repository_resolves() {
    let project = Project::empty();
    let (url, rev) = repository(&project.dir.path().join("kubesmith"), &SOURCE);
    project.works(&["init", "--kubesmith-source", &format!("{url}#{rev}")]);
    project.works(&POOL);
    project.works(&["generate"]);

    // Packages of the registry are out of reach.
    for folder in ["", "api", "controller", "client"] {
        let path = project.path(folder).join("Cargo.toml");
        let mut manifest: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        let of_workspace = manifest.get_mut("workspace").and_then(toml::Value::as_table_mut);
        without_registry(if folder.is_empty() { of_workspace.unwrap() } else { &mut manifest });
        fs::write(path, manifest.to_string()).unwrap();
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg("metadata").arg("--format-version=1").current_dir(project.path(""));
    let out = cargo.env("CARGO_HOME", project.dir.path().join("cargo")).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let packages = text.parse::<serde_json::Value>().unwrap()["packages"].clone();
    let runtimes = packages.as_array().unwrap().iter().filter(|found| found["name"] == "kubesmith-runtime");
    assert_eq!(runtimes.count(), 1, "{packages:#}");
}

/// Removes the dependencies that are neither kubesmith's nor members.
fn without_registry(manifest: &mut toml::Table) {
    for table in ["dependencies", "dev-dependencies"] {
        if let Some(table) = manifest.get_mut(table).and_then(toml::Value::as_table_mut) {
            table.retain(|name, _| name.starts_with("kubesmith-") || name.starts_with("pools-"));
        }
    }
}
