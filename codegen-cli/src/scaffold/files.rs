//! Finds kubesmith's packages for a project.

use std::fs;
use std::path::{Path, PathBuf};

use super::ScaffoldError;
use super::template::Values;

/// The parts of kubesmith's source that a project's image needs: the runtime, the test environment, their
/// dependencies, and the manifest that they inherit from.
const PARTS: [&str; 9] = [
    "Cargo.toml",
    "apiextensions",
    "apimachinery",
    "apiserver",
    "codegen-core",
    "codegen-macros",
    "goregex",
    "runtime",
    "testenv",
];

/// Whether the registry has this version of kubesmith. The release procedure sets it.
const IS_PUBLISHED: bool = false;

/// The source of kubesmith's packages.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// The registry.
    Registry,
    /// A folder with the source.
    Folder(PathBuf),
    /// A revision of a git repository.
    Git { url: String, rev: String },
}

impl Source {
    /// The source of `--kubesmith-source`, or the default one.
    fn of(given: Option<&str>) -> Result<Self, ScaffoldError> {
        given.map_or_else(Self::usual, Self::parse)
    }

    /// The dependency of a crate of types in `root` on the runtime.
    fn of_types(&self, root: &Path) -> Result<String, ScaffoldError> {
        self.dependency(root, "runtime", ", default-features = false").map_err(ScaffoldError::Usage)
    }

    /// Reads `--kubesmith-source`: `published`, a folder, or `URL#REVISION`.
    fn parse(text: &str) -> Result<Self, ScaffoldError> {
        if text == "published" {
            return Ok(Self::Registry);
        }
        if !text.contains("://") && !text.starts_with("git@") {
            return Ok(Self::Folder(PathBuf::from(text)));
        }
        match text.rsplit_once('#') {
            Some((url, rev)) if !rev.is_empty() => Ok(Self::Git { url: url.into(), rev: rev.into() }),
            _ => Err(ScaffoldError::Usage(format!(
                "--kubesmith-source {text}: say which revision: {text}#REVISION"
            ))),
        }
    }

    /// The default source: the registry, or the source from which this program was built.
    fn usual() -> Result<Self, ScaffoldError> {
        if IS_PUBLISHED {
            return Ok(Self::Registry);
        }
        Self::installed_from().or_else(Self::built_from).ok_or_else(|| {
            ScaffoldError::Usage(format!(
                "kubesmith {} is not published yet: say where its source is with --kubesmith-source, a folder or \
                 URL#REVISION of a git repository",
                env!("CARGO_PKG_VERSION")
            ))
        })
    }

    /// The source that `cargo install` has recorded beside the folder of this program.
    fn installed_from() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let text = fs::read_to_string(program.parent()?.parent()?.join(".crates.toml")).ok()?;
        Self::noted(&text)
    }

    /// The source of this version in Cargo's list of installed packages.
    fn noted(text: &str) -> Option<Self> {
        let list = text.parse::<toml::Table>().ok()?;
        let installed = concat!("kubesmith ", env!("CARGO_PKG_VERSION"), " (");
        let from = list.get("v1")?.as_table()?.keys().find_map(|key| key.strip_prefix(installed))?;
        let from = from.strip_suffix(')')?;
        if let Some(git) = from.strip_prefix("git+") {
            let (url, rev) = git.rsplit_once('#')?;
            let url = url.split('?').next().unwrap_or(url);
            return Some(Self::Git { url: url.into(), rev: rev.into() });
        }
        let package = Path::new(from.strip_prefix("path+file://")?);
        Self::with_packages(package.parent()?)
    }

    /// The folder where this program was compiled.
    fn built_from() -> Option<Self> {
        Self::with_packages(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?)
    }

    /// The dependency of a package in `root` on a package of kubesmith, with `more` keys.
    fn dependency(&self, root: &Path, name: &str, more: &str) -> Result<String, String> {
        let version = env!("CARGO_PKG_VERSION");
        match self {
            Self::Registry if more.is_empty() => Ok(format!("{version:?}")),
            Self::Registry => Ok(format!("{{ version = {version:?}{more} }}")),
            Self::Folder(folder) => package_in(root, folder, name, more),
            Self::Git { url, rev } => Ok(format!("{{ git = {url:?}, rev = {rev:?}{more} }}")),
        }
    }

    fn with_packages(folder: &Path) -> Option<Self> {
        folder.join("runtime/Cargo.toml").is_file().then(|| Self::Folder(folder.to_path_buf()))
    }
}

/// Dependencies for Cargo.toml.
pub(super) struct Dependencies {
    runtime: String,
    testenv: String,
    from: Origin,
}

/// The place of the dependencies, relative to the project.
enum Origin {
    Registry,
    Folder(String),
    Git { url: String, rev: String },
}

/// The dependency on the runtime of a crate of types in `root`; `source`: `--kubesmith-source`.
///
/// # Errors
///
/// Returns an error if the source is unknown or lacks the runtime.
pub(crate) fn types_dependency(root: &Path, source: Option<&str>) -> Result<String, ScaffoldError> {
    Source::of(source)?.of_types(root)
}

/// The lines of Cargo.toml for a program in `root` that depends on the runtime and, in its tests, on the test
/// environment.
///
/// # Errors
///
/// Returns an error if this version is not published and its source is unknown.
pub(crate) fn usual_dependencies(root: &Path) -> Result<String, ScaffoldError> {
    let source = Source::usual()?;
    let dependency = |name: &str| source.dependency(root, name, "").map_err(ScaffoldError::Usage);
    Ok(format!(
        "kubesmith-runtime = {}\n\n[dev-dependencies]\nkubesmith-testenv = {}\n",
        dependency("runtime")?,
        dependency("testenv")?
    ))
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
    /// Finds the packages in the source of `--kubesmith-source`, or in the default one.
    ///
    /// # Errors
    /// Returns an error if the source does not exist or lacks a package.
    pub(super) fn new(root: &Path, source: Option<&str>) -> Result<Self, ScaffoldError> {
        let source = Source::of(source)?;
        Ok(Self {
            runtime: source.of_types(root)?,
            testenv: source.dependency(root, "testenv", "").map_err(ScaffoldError::Usage)?,
            from: match &source {
                Source::Registry => Origin::Registry,
                Source::Folder(folder) => Origin::Folder(crate::paths::relative(root, folder)),
                Source::Git { url, rev } => Origin::Git { url: url.clone(), rev: rev.clone() },
            },
        })
    }

    /// The values of templates that depend on the source: manifest, image and README.
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
            .with("install", self.install())
    }

    /// The arguments of `cargo install` for the command.
    fn install(&self) -> String {
        match &self.from {
            Origin::Registry => format!("kubesmith@{}", env!("CARGO_PKG_VERSION")),
            Origin::Folder(source) => format!("--path {source:?}/codegen-cli"),
            Origin::Git { url, rev } => format!("--git {url} --rev {rev} kubesmith"),
        }
    }

    /// A note for the user about the dependencies.
    pub(super) fn words(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        match (&self.from, self.outside()) {
            (Origin::Registry, _) => {
                let state = match IS_PUBLISHED {
                    true => String::new(),
                    false => format!(
                        " kubesmith {version} is not published yet: until then nobody can build the project."
                    ),
                };
                format!(
                    "Cargo.toml depends on kubesmith-runtime and kubesmith-testenv {version} as they are published; \
                     `kubesmith init --kubesmith-source SOURCE` makes a project that depends on the source in a folder or a \
                     git repository.{state}"
                )
            }
            (Origin::Git { url, rev }, _) => {
                format!("Cargo.toml depends on kubesmith's source in {url}, revision {rev}.")
            }
            (Origin::Folder(source), None) => {
                format!("Cargo.toml depends on kubesmith's source in {source}, which is part of the project.")
            }
            (Origin::Folder(source), Some(_)) => format!(
                "Cargo.toml depends on kubesmith's source in {source}: everybody who builds the project needs it there. \
                 `make docker-build` passes it as an additional build context (`--build-context kubesmith={source}`), \
                 which Docker's BuildKit and Podman support."
            ),
        }
    }

    /// The folder with the source, if it is outside the project.
    fn outside(&self) -> Option<&String> {
        match &self.from {
            Origin::Folder(source) if source.starts_with("..") => Some(source),
            _ => None,
        }
    }

    /// The parts for building the image, in which the source has the same place relative to the project as on
    /// this host.
    fn image(&self) -> Image {
        let mut out = Image { workdir: "/src".into(), ..Image::default() };
        let Some(source) = self.outside() else { return out };
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
    use super::*;

    #[test]
    fn image_paths_follow_the_source_relative_to_the_project() {
        let image = |source: &str| {
            let from = Origin::Folder(source.to_owned());
            Dependencies { runtime: String::new(), testenv: String::new(), from }.image()
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

    #[test]
    fn source_is_read_from_the_flag_or_from_cargo() {
        let git = |url: &str, rev: &str| Source::Git { url: url.into(), rev: rev.into() };
        assert_eq!(Source::parse("published").unwrap(), Source::Registry);
        assert_eq!(Source::parse("../k").unwrap(), Source::Folder("../k".into()));
        assert_eq!(Source::parse("https://a.b/k#abc").unwrap(), git("https://a.b/k", "abc"));
        for wrong in ["https://a.b/k", "git@a.b:k#"] {
            assert!(Source::parse(wrong).unwrap_err().to_string().contains("say which revision"), "{wrong}");
        }
        let noted = |from: &str| {
            let version = env!("CARGO_PKG_VERSION");
            Source::noted(&format!("[v1]\n\"kubesmith {version} ({from})\" = [\"kubesmith\"]\n"))
        };
        assert_eq!(noted("git+https://a.b/k?branch=main#abc"), Some(git("https://a.b/k", "abc")));
        assert_eq!(noted("registry+https://github.com/rust-lang/crates.io-index"), None);
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = noted(&format!("path+file://{}", here.display()));
        assert_eq!(folder, Some(Source::Folder(here.parent().unwrap().to_path_buf())));
    }
}
