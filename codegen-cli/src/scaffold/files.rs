//! Where a project finds kubesmith's packages.

use std::path::Path;

use super::ScaffoldError;
use super::template::Values;

/// What of kubesmith's source a project needs for its image: the runtime, the test environment, what they depend on, and the
/// manifest from which they inherit.
const PARTS: [&str; 7] =
    ["Cargo.toml", "apiextensions", "apiserver", "codegen-core", "codegen-macros", "runtime", "testenv"];

/// Dependencies as Cargo.toml has them.
pub(super) struct Dependencies {
    runtime: String,
    testenv: String,
    /// Folder with the source as seen from the project, if it is not the published packages.
    source: Option<String>,
}

/// The dependency on the runtime in the folder `source`, of a package in `root`.
///
/// # Errors
///
/// What the folder lacks, for whoever named it with `--kubesmith-source`.
pub(crate) fn runtime_in(root: &Path, source: &Path) -> Result<String, String> {
    package_in(root, source, "runtime", ", default-features = false")
}

fn package_in(root: &Path, source: &Path, name: &str, more: &str) -> Result<String, String> {
    let folder = source.join(name);
    if !folder.join("Cargo.toml").is_file() {
        return Err(format!(
            "--kubesmith-source {}: there is no package in {}",
            source.display(),
            folder.display()
        ));
    }
    let path = crate::paths::relative(root, &folder);
    Ok(format!("{{ path = {path:?}, version = {:?}{more} }}", env!("CARGO_PKG_VERSION")))
}

impl Dependencies {
    /// The published packages, or those of a folder with the source.
    pub(super) fn new(root: &Path, source: Option<&Path>) -> Result<Self, ScaffoldError> {
        let version = env!("CARGO_PKG_VERSION");
        let Some(source) = source else {
            let runtime = format!("{{ version = {version:?}, default-features = false }}");
            return Ok(Self { runtime, testenv: format!("{version:?}"), source: None });
        };
        Ok(Self {
            runtime: runtime_in(root, source).map_err(ScaffoldError::Usage)?,
            testenv: package_in(root, source, "testenv", "").map_err(ScaffoldError::Usage)?,
            source: Some(crate::paths::relative(root, source)),
        })
    }

    /// What depends on where the packages are: manifest, image and README.
    pub(super) fn values(&self, values: Values) -> Values {
        let image = self.image();
        values
            .with("runtime", &self.runtime)
            .with("testenv", &self.testenv)
            .with("packages", self.words())
            .with("workdir", image.workdir)
            .with("copy_source", image.copies)
            .with("build_flags", image.flags)
            .with("source_variable", image.variable)
    }

    /// What a user has to know of it.
    pub(super) fn words(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        match (&self.source, self.outside()) {
            (None, _) => format!(
                "Cargo.toml depends on kubesmith-runtime and kubesmith-testenv {version} as they are published; \
                 `kubesmith init --kubesmith-source DIR` makes a project that depends on the source in a folder."
            ),
            (Some(source), false) => {
                format!("Cargo.toml depends on kubesmith's source in {source}, which is part of the project.")
            }
            (Some(source), true) => format!(
                "Cargo.toml depends on kubesmith's source in {source}: whoever builds the project needs it there. It is \
                 outside of the folder of which the image is made, so `make docker-build` hands it over as a build context \
                 of its own, `--build-context kubesmith={source}`, which Docker's BuildKit and Podman know."
            ),
        }
    }

    fn outside(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.starts_with(".."))
    }

    /// How the image is built, in which the source has to lie as it does here: as seen from the project.
    fn image(&self) -> Image {
        let mut out = Image { workdir: "/src".into(), ..Image::default() };
        let Some(source) = self.source.as_ref().filter(|_| self.outside()) else { return out };
        let parts: Vec<&str> = source.split('/').collect();
        let up = parts.iter().take_while(|part| **part == "..").count();
        let inside = &parts[up..];
        let folder = if inside.first() == Some(&"project") { "workspace" } else { "project" };
        out.workdir.extend(std::iter::repeat_n(format!("/{folder}"), up));
        let at = ["/src"].iter().chain(inside).copied().collect::<Vec<_>>().join("/");
        out.copies = "# Kubesmith's source, on which Cargo.toml depends: docker build --build-context kubesmith=FOLDER\n".into();
        for part in PARTS {
            out.copies.push_str(&format!("COPY --from=kubesmith [{part:?}, {:?}]\n", format!("{at}/{part}")));
        }
        out.flags = " --build-context kubesmith=\"$(KUBESMITH_SOURCE)\"".into();
        let escaped = source.replace('$', "$$").replace('#', "\\#");
        out.variable = format!(
            "# The folder with kubesmith's source, on which Cargo.toml depends.\nKUBESMITH_SOURCE ?= {escaped}\n"
        );
        out
    }
}

/// Parts of Dockerfile and Makefile.
#[derive(Default)]
struct Image {
    workdir: String,
    copies: String,
    flags: String,
    variable: String,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

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
    fn the_image_gets_all_that_the_packages_depend_on() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut needed = BTreeSet::from(["Cargo.toml".to_owned()]);
        closure(&root, "runtime", &mut needed);
        closure(&root, "testenv", &mut needed);
        assert_eq!(needed.iter().map(String::as_str).collect::<Vec<_>>(), PARTS);
    }

    #[test]
    fn the_source_lies_in_the_image_as_seen_from_the_project() {
        let image = |source: &str| {
            let source = Some(source.to_owned());
            Dependencies { runtime: String::new(), testenv: String::new(), source }.image()
        };
        for (source, workdir, runtime) in [
            ("../kubesmith", "/src/project", "/src/kubesmith/runtime"),
            ("../../a/b", "/src/project/project", "/src/a/b/runtime"),
            ("../project", "/src/workspace", "/src/project/runtime"),
            ("../../..", "/src/project/project/project", "/src/runtime"),
        ] {
            let image = image(source);
            assert_eq!(image.workdir, workdir);
            assert!(image.copies.contains(&format!("[\"runtime\", {runtime:?}]")), "{}", image.copies);
        }
        assert!(image("kubesmith").copies.is_empty(), "it is copied with the project");
    }
}
