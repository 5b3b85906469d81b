//! Files of the user's that the generated package takes in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{Kind, existing};

/// Folders of a package that files can be added to.
const FOLDERS: [&str; 2] = ["clientset", "listers"];

/// How the files are called that belong to a kind's: `balancer_expansion.rs` to `balancer.rs`.
const EXPANSION: &str = "_expansion.rs";

/// The file that adds types to the scheme.
const REGISTER_CUSTOM: &str = "clientset/register_custom.rs";

/// The files below a package's source folder, `/`-separated, that somebody has written by hand to extend it. Reads only;
/// what cannot be read is reported when the tree is compared with the disk.
pub fn hand_written(source: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        search(&source.join(folder), folder, &mut found);
    }
    found
}

fn search(folder: &Path, name: &str, found: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if kind.is_dir() {
            search(&path, &name, found);
        } else if (name.ends_with(EXPANSION) || name == REGISTER_CUSTOM)
            && let Ok(Some(Some(text))) = existing(&path)
            && !Kind::Rust.bears_mark(&path, &text)
        {
            found.insert(name);
        }
    }
}
