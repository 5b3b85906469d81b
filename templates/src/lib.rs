//! The files with placeholders that `kubesmith` fills in: [skeletons](rust) of the generated Rust, and the
//! [files of a new project](project).
//!
//! This crate has only text and does not fill it in.
#![cfg_attr(test, allow(clippy::unwrap_used))]

/// Embeds files of a folder and looks them up by name.
macro_rules! files {
    ($(#[$doc:meta])* $folder:ident, $end:literal: $($name:literal)*) => {
        $(#[$doc])*
        #[must_use]
        pub fn $folder(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../", stringify!($folder), "/", $name, $end))),)*
                _ => None,
            }
        }

        #[cfg(test)]
        mod $folder {
            #[test]
            fn every_file_is_embedded() {
                let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/", stringify!($folder));
                let mut found = Vec::new();
                super::tests::names(folder.as_ref(), "", $end, &mut found);
                found.sort();
                let mut embedded = vec![$($name),*];
                embedded.sort();
                assert_eq!(found, embedded);
            }
        }
    };
}

files! {
    /// Returns a skeleton of generated Rust by the name of its file, without `.rs`.
    rust, ".rs":
    "apply"
    "apply_extract"
    "client"
    "client_cluster"
    "client_complete"
    "client_namespaced"
    "clients"
    "clientset"
    "fake"
    "informers"
    "informers_version"
    "lister_cluster"
    "lister_cluster_extended"
    "lister_namespaced"
    "lister_namespaced_extended"
    "listers"
    "root"
    "validation"
    "validation_status"
    "validations"
    "validations_version"
}

files! {
    /// Returns a file of a new project by its path, without `.tmpl`; `{{name}}` in it is a placeholder.
    project, ".tmpl":
    "Cargo.toml"
    "Dockerfile"
    "Makefile"
    "README.md"
    "api/Cargo.toml"
    "api/group.rs"
    "api/kind.rs"
    "api/lib.rs"
    "api/version.rs"
    "controller/Cargo.toml"
    "controller/conversion.rs"
    "controller/conversion_test.rs"
    "controller/conversions.rs"
    "controller/defaulter.rs"
    "controller/kind.rs"
    "controller/lib.rs"
    "controller/main.rs"
    "controller/test.rs"
    "controller/validator.rs"
    "controller/webhooks.rs"
    "dockerignore"
    "github/workflows/ci.yml"
    "gitignore"
    "hack/boilerplate.txt"
    "hack/diff-api.sh"
    "hack/update-codegen.sh"
    "hack/verify-codegen.sh"
    "kubesmith.toml"
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The names of the files in a folder, without their ending.
    pub(super) fn names(folder: &Path, prefix: &str, end: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => names(&entry.path(), &format!("{name}/"), end, found),
                false => found.push(name.strip_suffix(end).unwrap_or(&name).to_owned()),
            }
        }
    }
}
