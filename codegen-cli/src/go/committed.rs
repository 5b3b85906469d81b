//! Finds the release of controller-gen in the CRDs that a project commits.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::generator::{folder, version_in};

/// The annotation with the release.
const ANNOTATION: &str = "controller-gen.kubebuilder.io/version:";
/// The annotation stands in the first bytes of a file.
const HEAD: u64 = 2048;
/// The most entries of folders that are visited.
const LIMIT: usize = 20_000;

/// The release that wrote most of the CRDs of a project; of as many, the newest.
pub(super) fn version(inputs: &[PathBuf]) -> Option<[u32; 3]> {
    let mut counts: BTreeMap<[u32; 3], usize> = BTreeMap::new();
    let mut seen = 0;
    let mut open: Vec<PathBuf> =
        inputs.iter().filter_map(|input| top(&folder(&input.to_string_lossy()))).collect();
    open.sort();
    open.dedup();
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(at).into_iter().flatten().flatten() {
            seen += 1;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_left_out =
                name.starts_with('.') || ["vendor", "node_modules", "testdata"].contains(&&*name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_left_out => open.push(path),
                Ok(kind) if kind.is_file() && is_crd(&path) => {
                    let found = release_in(&path);
                    found.into_iter().for_each(|found| *counts.entry(found).or_default() += 1);
                }
                _ => {}
            }
        }
        if seen > LIMIT {
            return None;
        }
    }
    counts.into_iter().max_by_key(|(version, count)| (*count, *version)).map(|(version, _)| version)
}

/// The folder of the repository, or of the outermost module.
fn top(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let repository = folder.ancestors().find(|at| at.join(".git").exists());
    let module = || folder.ancestors().filter(|at| at.join("go.mod").is_file()).last();
    repository.or_else(module).map(Path::to_path_buf)
}

/// Whether a path may be that of a CRD.
fn is_crd(path: &Path) -> bool {
    let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    is_yaml && path.to_string_lossy().to_lowercase().contains("crd")
}

fn release_in(path: &Path) -> Option<[u32; 3]> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head);
    version_in(text.lines().find(|line| line.contains(ANNOTATION))?)
}
