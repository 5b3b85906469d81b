//! `kubesmith.toml`, and how flags add to it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Name of the configuration file that is looked for in the current folder.
pub const FILE_NAME: &str = "kubesmith.toml";

/// A generator that `only` may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Generator {
    /// CustomResourceDefinition YAML.
    Crd,
    /// Typed clients and the clientset.
    Client,
    /// Listers.
    Lister,
    /// Informers and their factory.
    Informer,
}

/// Every generator.
pub const ALL_GENERATORS: [Generator; 4] =
    [Generator::Crd, Generator::Client, Generator::Lister, Generator::Informer];

/// The file as it is written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Folders, relative to the file, with a `kubesmith.toml` each: one run does them all. Everything else then stands
    /// in theirs.
    #[serde(default)]
    pub members: Vec<PathBuf>,
    /// Crate folders, relative to the file.
    #[serde(default)]
    pub input: Vec<PathBuf>,
    /// Generators to run; all when absent.
    pub only: Option<Vec<Generator>>,
    /// File whose text begins every generated Rust file; ` YEAR` in it is replaced.
    pub header_file: Option<PathBuf>,
    /// What ` YEAR` in the header becomes.
    pub year: Option<String>,
    /// The CRDs.
    #[serde(default)]
    pub crd: CrdConfig,
    /// The client package.
    #[serde(default)]
    pub client: ClientConfig,
}

/// Table `[crd]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrdConfig {
    /// Folder of the YAML files.
    pub output: Option<PathBuf>,
    /// Longest description in bytes; 0 drops all descriptions.
    pub max_desc_len: Option<usize>,
    /// Whether fields may be floating point numbers.
    #[serde(default)]
    pub allow_dangerous_types: bool,
}

/// Table `[client]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientConfig {
    /// Folder of the package or module.
    pub output: Option<PathBuf>,
    /// Package name of a crate of its own.
    pub crate_name: Option<String>,
    /// Path of a module inside an existing crate, instead of a crate of its own.
    pub module: Option<String>,
}

/// What the flags say; they win over the file.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names are those of the flags")]
pub struct Overrides {
    pub input: Vec<PathBuf>,
    pub output: Option<PathBuf>,
    pub crd_output: Option<PathBuf>,
    pub only: Vec<Generator>,
    pub crate_name: Option<String>,
    pub module: Option<String>,
    pub header_file: Option<PathBuf>,
    pub year: Option<String>,
    pub max_desc_len: Option<usize>,
    pub allow_dangerous_types: bool,
}

/// Where the generated Rust goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientTarget {
    /// A package of its own with this name.
    Crate(String),
    /// A module of an existing crate, by its path (`crate::generated`).
    Module(String),
}

/// File and flags together.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Crate folders.
    pub input: Vec<PathBuf>,
    /// Generators to run, in order, without repetition.
    pub only: Vec<Generator>,
    /// Folder of the CRDs; present when they are generated.
    pub crd_output: Option<PathBuf>,
    /// Folder of the client package; present when it is generated.
    pub client_output: Option<PathBuf>,
    /// Package or module; `None`: a package named after the input crate.
    pub client_target: Option<ClientTarget>,
    /// Longest description.
    pub max_desc_len: Option<usize>,
    /// Whether fields may be floating point numbers.
    pub allow_dangerous_types: bool,
    /// Text of the header file, with the year put in.
    pub header: Option<String>,
}

/// A usage error: exit code 2.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Reads and merges; one result for each member, or one for a file that has none. Paths in a file are relative to its
/// folder, paths in flags to the current one.
///
/// # Errors
/// A file that cannot be read or understood, and combinations that make no sense.
pub fn settings(file: Option<&Path>, flags: Overrides) -> Result<Vec<Settings>, UsageError> {
    let Some(path) = file else {
        return Ok(vec![merge(Config::default(), Path::new(""), flags)?]);
    };
    let config = read(path)?;
    let base = path.parent().unwrap_or(Path::new(""));
    if config.members.is_empty() {
        return Ok(vec![merge(config, base, flags)?]);
    }
    check_members(path, &config, &flags)?;
    config.members.iter().map(|member| self::member(&base.join(member), flags.clone())).collect()
}

/// A file with members says nothing else, and what can be true of one member only is no flag.
fn check_members(path: &Path, config: &Config, flags: &Overrides) -> Result<(), UsageError> {
    let alone = Config { members: config.members.clone(), ..Config::default() };
    if *config != alone {
        return Err(UsageError(format!(
            "{}: a file with `members` holds nothing else; the rest stands in the members' {FILE_NAME}",
            path.display()
        )));
    }
    let one_only = [
        ("--input", !flags.input.is_empty()),
        ("--output", flags.output.is_some()),
        ("--crd-output", flags.crd_output.is_some()),
        ("--crate-name", flags.crate_name.is_some()),
        ("--module", flags.module.is_some()),
    ];
    match one_only.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(UsageError(format!(
            "{flag} cannot hold for every member of {}: choose one with --config",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn member(folder: &Path, flags: Overrides) -> Result<Settings, UsageError> {
    let path = folder.join(FILE_NAME);
    let config = read(&path)?;
    if !config.members.is_empty() {
        return Err(UsageError(format!("{}: a member cannot have `members` of its own", path.display())));
    }
    merge(config, folder, flags)
}

fn read(path: &Path) -> Result<Config, UsageError> {
    let text = fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read {}: {error}", path.display())))?;
    parse(&text).map_err(|message| UsageError(format!("{}: {message}", path.display())))
}

/// Parses the file's text; an unknown key gets a suggestion.
fn parse(text: &str) -> Result<Config, String> {
    toml::from_str(text).map_err(|error| {
        let message = error.to_string();
        let suggestion = unknown_key(error.message()).and_then(|(key, known)| {
            kubesmith_core::grammar::closest(key, known.iter().copied()).map(str::to_string)
        });
        match suggestion {
            Some(name) => format!("{}\nhelp: did you mean `{name}`?", message.trim_end()),
            None => message.trim_end().to_string(),
        }
    })
}

/// Takes serde's "unknown field `x`, expected one of `a`, `b`" apart.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest =
        message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    let (key, known) = rest.split_once('`')?;
    Some((key, known.split('`').skip(1).step_by(2).collect()))
}

fn merge(config: Config, base: &Path, flags: Overrides) -> Result<Settings, UsageError> {
    let from_file = |path: PathBuf| if base.as_os_str().is_empty() { path } else { base.join(path) };
    let input =
        if flags.input.is_empty() { config.input.into_iter().map(from_file).collect() } else { flags.input };
    if input.is_empty() {
        return Err(UsageError(format!(
            "no input: name a crate folder with --input, or `input = [\"...\"]` in {FILE_NAME}"
        )));
    }
    let mut only = if flags.only.is_empty() {
        config.only.unwrap_or_else(|| ALL_GENERATORS.to_vec())
    } else {
        flags.only
    };
    if only.is_empty() {
        return Err(UsageError("`only` is empty, so nothing would be generated: leave it out".into()));
    }
    only.sort_unstable();
    only.dedup();
    let crd_output = flags
        .crd_output
        .or_else(|| flags.output.as_ref().map(|output| output.join("crds")))
        .or_else(|| config.crd.output.map(from_file));
    let client_output = flags.output.or_else(|| config.client.output.map(from_file));
    let wants_crd = only.contains(&Generator::Crd);
    let wants_client = only.iter().any(|generator| *generator != Generator::Crd);
    if wants_crd && crd_output.is_none() {
        return Err(UsageError(
            "no folder for the CRDs: use --output, --crd-output or `output` in the `[crd]` table".into(),
        ));
    }
    if wants_client && client_output.is_none() {
        return Err(UsageError(
            "no folder for the client package: use --output or `output` in the `[client]` table, or --only crd".into(),
        ));
    }
    let client_target =
        target(flags.crate_name, flags.module, config.client.crate_name, config.client.module)?;
    let header_file = flags.header_file.or_else(|| config.header_file.map(from_file));
    let year = flags.year.or(config.year);
    Ok(Settings {
        input,
        only,
        crd_output: crd_output.filter(|_| wants_crd),
        client_output: client_output.filter(|_| wants_client),
        client_target,
        max_desc_len: flags.max_desc_len.or(config.crd.max_desc_len),
        allow_dangerous_types: flags.allow_dangerous_types || config.crd.allow_dangerous_types,
        header: header(header_file.as_deref(), year.as_deref())?,
    })
}

/// A flag replaces whatever of the two the file has.
fn target(
    crate_flag: Option<String>,
    module_flag: Option<String>,
    crate_key: Option<String>,
    module_key: Option<String>,
) -> Result<Option<ClientTarget>, UsageError> {
    let (crate_name, module) = if crate_flag.is_some() || module_flag.is_some() {
        (crate_flag, module_flag)
    } else {
        (crate_key, module_key)
    };
    match (crate_name, module) {
        (Some(_), Some(_)) => Err(UsageError(
            "a client is a crate of its own or a module, not both: choose `crate_name` or `module`".into(),
        )),
        (Some(name), None) if is_package_name(&name) => Ok(Some(ClientTarget::Crate(name))),
        (Some(name), None) => Err(UsageError(format!(
            "`{name}` is no package name: use letters, digits, `-` and `_`, and begin with a letter"
        ))),
        (None, Some(path)) if is_module_path(&path) => Ok(Some(ClientTarget::Module(path))),
        (None, Some(path)) => {
            Err(UsageError(format!("`{path}` is no module path: write it like `crate::generated`")))
        }
        (None, None) => Ok(None),
    }
}

fn is_package_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

fn is_module_path(path: &str) -> bool {
    syn::parse_str::<syn::Path>(path).is_ok_and(|path| {
        path.segments.first().is_some_and(|first| first.ident == "crate")
            && path.segments.iter().all(|segment| segment.arguments.is_none())
    })
}

/// The header's text; ` YEAR` becomes the year, as in Go's boilerplate files.
fn header(file: Option<&Path>, year: Option<&str>) -> Result<Option<String>, UsageError> {
    let Some(path) = file else {
        return match year {
            Some(_) => Err(UsageError(
                "`year` has no effect without a header file: name one with --header-file".into(),
            )),
            None => Ok(None),
        };
    };
    let text = fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read the header file {}: {error}", path.display())))?;
    let only_comments =
        syn::parse_file(&text).is_ok_and(|file| file.items.is_empty() && file.attrs.is_empty());
    if !only_comments {
        return Err(UsageError(format!(
            "{}: a header may hold nothing but `//` and `/* */` comments",
            path.display()
        )));
    }
    if text.contains(" YEAR") && year.is_none() {
        return Err(UsageError(format!("{} contains YEAR: say which with --year", path.display())));
    }
    Ok(Some(text.replace(" YEAR", &format!(" {}", year.unwrap_or("")))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags() -> Overrides {
        Overrides { input: vec!["api".into()], output: Some("out".into()), ..Overrides::default() }
    }

    #[test]
    fn flags_alone_suffice() {
        let settings = settings(None, flags()).unwrap().remove(0);
        assert_eq!(settings.crd_output, Some(PathBuf::from("out/crds")));
        assert_eq!(settings.client_output, Some(PathBuf::from("out")));
        assert_eq!(settings.only, ALL_GENERATORS);
    }

    #[test]
    fn paths_in_the_file_are_relative_to_it() {
        let config =
            parse("input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\nmax_desc_len = 9").unwrap();
        let settings = merge(config, Path::new("sub"), Overrides::default()).unwrap();
        assert_eq!(settings.input, [PathBuf::from("sub/api")]);
        assert_eq!(settings.crd_output, Some(PathBuf::from("sub/crds")));
        assert_eq!(settings.client_output, None);
        assert_eq!(settings.max_desc_len, Some(9));
    }

    #[test]
    fn an_unknown_key_gets_a_suggestion() {
        let message = parse("[crd]\noutptu = \"x\"").unwrap_err();
        assert!(message.contains("did you mean `output`?"), "{message}");
        let message = parse("only = [\"cdr\"]").unwrap_err();
        assert!(message.contains("did you mean `crd`?"), "{message}");
    }

    #[test]
    fn contradictions_are_refused() {
        let both = Overrides { crate_name: Some("a".into()), module: Some("crate::b".into()), ..flags() };
        assert!(settings(None, both).unwrap_err().0.contains("not both"));
        let bad = Overrides { crate_name: Some("1\"x".into()), ..flags() };
        assert!(settings(None, bad).unwrap_err().0.contains("no package name"));
        let bad = Overrides { module: Some("generated".into()), ..flags() };
        assert!(settings(None, bad).unwrap_err().0.contains("no module path"));
        let year = Overrides { year: Some("2026".into()), ..flags() };
        assert!(settings(None, year).unwrap_err().0.contains("no effect"));
        assert!(settings(None, Overrides::default()).unwrap_err().0.contains("no input"));
        let nothing = parse("input = [\"api\"]\nonly = []").unwrap();
        assert!(merge(nothing, Path::new(""), Overrides::default()).unwrap_err().0.contains("empty"));
    }

    #[test]
    fn members_are_read_where_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE_NAME);
        for member in ["one", "two"] {
            fs::create_dir(dir.path().join(member)).unwrap();
            let text = "input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"";
            fs::write(dir.path().join(member).join(FILE_NAME), text).unwrap();
        }
        fs::write(&file, "members = [\"one\", \"two\"]").unwrap();
        let read = settings(Some(&file), Overrides::default()).unwrap();
        let inputs: Vec<_> = read.iter().map(|settings| settings.input[0].clone()).collect();
        assert_eq!(inputs, [dir.path().join("one/api"), dir.path().join("two/api")]);

        assert!(settings(Some(&file), flags()).unwrap_err().0.contains("--input cannot hold"));
        fs::write(&file, "members = [\"one\"]\nyear = \"2026\"").unwrap();
        assert!(settings(Some(&file), Overrides::default()).unwrap_err().0.contains("nothing else"));
        fs::write(&file, "members = [\"three\"]").unwrap();
        assert!(settings(Some(&file), Overrides::default()).unwrap_err().0.contains("three"));
    }

    #[test]
    fn a_header_is_comments_with_a_year() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("header.txt");
        fs::write(&path, "// Copyright YEAR The authors.\n").unwrap();
        assert_eq!(
            header(Some(&path), Some("2026")).unwrap().as_deref(),
            Some("// Copyright 2026 The authors.\n")
        );
        assert!(header(Some(&path), None).is_err());
        fs::write(&path, "fn main() {}\n").unwrap();
        assert!(header(Some(&path), None).unwrap_err().0.contains("comment"));
    }
}
