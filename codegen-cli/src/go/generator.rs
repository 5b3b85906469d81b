//! Finds the options with which a project calls controller-gen, if they are literal in a Makefile, a script
//! or a `go:generate` line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::packages::{folders_in, go_files, package_folders};
use crate::paths::display;

/// Options of controller-gen's generator of CRDs that change its output: `Generator` of controller-tools,
/// pkg/crd/gen.go.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GeneratorOptions {
    /// `maxDescLen`
    pub(crate) max_desc_len: Option<usize>,
    /// `allowDangerousTypes`
    pub(crate) allow_dangerous_types: bool,
    /// `generateEmbeddedObjectMeta`
    pub(crate) embedded_object_meta: bool,
    /// `ignoreUnexportedFields`
    pub(crate) ignore_unexported: bool,
    /// `deprecatedV1beta1CompatibilityPreserveUnknownFields=false`
    pub(crate) refuse_unknown_fields: bool,
    /// `headerFile`, relative to the current folder.
    pub(crate) header_file: Option<PathBuf>,
    /// `year`
    pub(crate) year: Option<String>,
    /// The names of those whose values only a shell knows, and of others that cannot be followed.
    pub(crate) left: Vec<String>,
}

/// The options of a project's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// All calls share these; the place is that of the first: `Makefile:12`.
    Shared(GeneratorOptions, String),
    /// Calls for different packages differ.
    ByPackages(Vec<Part>),
    /// The calls at these places differ for the same packages.
    Differing(String, String),
}

/// Packages whose calls share options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) options: GeneratorOptions,
    /// The place of the first call: `Makefile:12`.
    pub(crate) place: String,
    /// The folders at the top of the packages.
    pub(crate) folders: Vec<PathBuf>,
}

/// The options of a project's calls; `None`: no call has any.
pub(crate) fn of_project(inputs: &[PathBuf]) -> Option<Found> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<Call> = Vec::new();
    let folders: Vec<PathBuf> = inputs.iter().map(|input| folder(&input.to_string_lossy())).collect();
    for folder in &folders {
        for (file, base, is_own) in files(folder) {
            if seen.insert(file.clone()) {
                calls(&file, &base, is_own, &mut found);
            }
        }
    }
    let folders: Vec<PathBuf> = folders.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    let is_meant = |call: &Call| {
        let around = |path: &PathBuf| folders.iter().any(|f| f.starts_with(path) || path.starts_with(f));
        call.paths.iter().any(around)
    };
    let is_any_meant = found.iter().any(is_meant);
    found.retain(|call| is_meant(call) || !is_any_meant && call.is_own);
    if found.is_empty() {
        let files = inputs.iter().flat_map(|input| files_below(&folder(&input.to_string_lossy())));
        files.for_each(|(file, base)| calls(&file, &base, true, &mut found));
    }
    let first = found.first()?;
    if found.iter().any(|call| call.options != first.options) {
        return Some(differing(&found));
    }
    (first.options != GeneratorOptions::default())
        .then(|| Found::Shared(first.options.clone(), first.place.clone()))
}

/// Divides the packages by the options of their calls. `ignoreUnexportedFields` cannot be divided: packages share types.
fn differing(calls: &[Call]) -> Found {
    let clash = |one: &Call, other: &Call| {
        let is_around = |(a, b): (&PathBuf, &PathBuf)| a.starts_with(b) || b.starts_with(a);
        let mut pairs = one.paths.iter().flat_map(|path| other.paths.iter().map(move |it| (path, it)));
        one.options != other.options
            && (one.options.ignore_unexported != other.options.ignore_unexported
                || one.paths.is_empty()
                || other.paths.is_empty()
                || pairs.any(is_around))
    };
    let mut parts: Vec<Part> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        if let Some(other) = calls[..at].iter().find(|other| clash(other, call)) {
            return Found::Differing(other.place.clone(), call.place.clone());
        }
        match parts.iter_mut().find(|part| part.options == call.options) {
            Some(part) => part.folders.extend(call.paths.iter().cloned()),
            None => parts.push(Part {
                options: call.options.clone(),
                place: call.place.clone(),
                folders: call.paths.clone(),
            }),
        }
    }
    Found::ByPackages(parts)
}

/// A call of controller-gen for CRDs.
#[derive(Debug)]
struct Call {
    options: GeneratorOptions,
    /// `Makefile:12`
    place: String,
    /// The existing folders of its packages.
    paths: Vec<PathBuf>,
    /// Whether its file belongs to the module of the input; others of the repository count by their paths.
    is_own: bool,
}

/// The folder of a pattern.
pub(super) fn folder(pattern: &str) -> PathBuf {
    PathBuf::from(pattern.strip_suffix("...").unwrap_or(pattern))
}

/// The files that may call controller-gen, their working directories, and whether they belong to the module: the
/// files in the folders from the input up to the top of the repository, and in the usual folders for scripts.
fn files(folder: &Path) -> Vec<(PathBuf, PathBuf, bool)> {
    let (mut out, mut is_own) = (Vec::new(), true);
    let mut at = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_path_buf() };
    for _ in 0..FOLDERS {
        let is_top = at.join(".git").exists();
        let mut found = in_folder(&at, true);
        ASIDE.iter().for_each(|inner| below(&at.join(inner), 0, &mut found));
        out.extend(found.into_iter().map(|file| (file, at.clone(), is_own)));
        is_own &= !at.join("go.mod").is_file() || has_makefile_above(&at);
        if is_top || !is_own && !is_in_repository(&at) {
            break;
        }
        at = at.join("..");
    }
    out
}

/// Folders for scripts, which run from the folder above.
const ASIDE: [&str; 5] = ["make", "hack", "scripts", "build", "tools"];
/// The depth to which these are searched.
const ASIDE_DEPTH: usize = 3;

/// Files that may call controller-gen in a folder and below.
fn below(folder: &Path, depth: usize, out: &mut Vec<PathBuf>) {
    out.extend(in_folder(folder, false));
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        depth < ASIDE_DEPTH && !name.starts_with('.') && name != "vendor" && !path.join("go.mod").is_file()
    };
    folders_in(folder).iter().filter(|path| is_wanted(path)).for_each(|path| below(path, depth + 1, out));
}

/// The newest version of controller-gen that a project names in these files or in a go.mod.
pub(crate) fn version(inputs: &[PathBuf]) -> Option<[u32; 3]> {
    let folders = inputs.iter().map(|input| folder(&input.to_string_lossy()));
    let named = folders.flat_map(|folder| files(&folder)).filter(|(.., is_own)| *is_own);
    let named = named.map(|(file, ..)| file);
    let modules = inputs.iter().flat_map(|input| modules(&folder(&input.to_string_lossy())));
    let texts = named.chain(modules).filter_map(|file| fs::read_to_string(file).ok());
    let named = texts.filter_map(|text| text.lines().filter_map(version_in).max()).max();
    named.or_else(|| {
        let files = inputs.iter().flat_map(|input| files_below(&folder(&input.to_string_lossy())));
        let texts = files.filter_map(|(file, _)| fs::read_to_string(file).ok());
        let is_call = |line: &&str| line.starts_with(GENERATE);
        texts.filter_map(|text| text.lines().filter(is_call).filter_map(version_in).max()).max()
    })
}

/// The start of a line for `go generate`.
const GENERATE: &str = "//go:generate ";

/// The files of packages in a folder and below that have lines for `go generate`, with their folders.
fn files_below(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let has_line = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(GENERATE));
    let files =
        |inner: PathBuf| go_files(&inner).into_iter().filter(has_line).map(move |file| (file, inner.clone()));
    package_folders(folder).into_iter().flat_map(files).collect()
}

/// The go.mod files of a project and of its tools.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut at = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_path_buf() };
    for _ in 0..FOLDERS {
        out.extend(["", "tools", "hack/tools"].iter().map(|inner| at.join(inner).join("go.mod")));
        if at.join(".git").exists() {
            break;
        }
        at = at.join("..");
    }
    out
}

/// `CONTROLLER_TOOLS_VERSION ?= v0.19.0`, `controller-gen@v0.19.0`, `sigs.k8s.io/controller-tools v0.19.0`
pub(super) fn version_in(line: &str) -> Option<[u32; 3]> {
    let lower = line.to_lowercase().replace('_', "-");
    let at = lower.find("controller-gen").or_else(|| lower.find("controller-tools"))?;
    let rest = &lower[at..];
    let text = &rest[rest.find("v0.")? + 1..];
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// The number of parent folders that are searched for a call.
const FOLDERS: usize = 8;

/// Whether the folder above belongs to the same project: the module of an API often lies in that of its
/// operator.
fn has_makefile_above(folder: &Path) -> bool {
    let above = folder.join("..");
    above.join("go.mod").is_file() || above.join("Makefile").is_file()
}

/// Whether a folder above is the top of a repository.
fn is_in_repository(folder: &Path) -> bool {
    let mut above = folder.to_path_buf();
    (0..FOLDERS).any(|_| {
        above.push("..");
        above.join(".git").exists()
    })
}

fn in_folder(folder: &Path, with_go: bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_call = name.starts_with("Makefile") || name.ends_with(".mk") || name.ends_with(".sh");
        path.is_file() && (is_call || with_go && name.ends_with(".go") && !name.ends_with("_test.go"))
    };
    let mut out: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_wanted).collect();
    out.sort();
    out
}

/// Reads the calls in a file with this working directory.
fn calls(file: &Path, base: &Path, is_own: bool, out: &mut Vec<Call>) {
    let Ok(text) = fs::read_to_string(file) else { return };
    let is_go = file.extension().is_some_and(|end| end == "go");
    let variables = if is_go { BTreeMap::new() } else { variables(&text) };
    let mut prerequisite = None;
    for (number, line) in logical_lines(&text) {
        let line = match (is_go, line.strip_prefix(GENERATE)) {
            (true, Some(rest)) => rest.to_string(),
            (true, None) => continue,
            (false, _) if line.trim_start_matches(['\t', ' ', '@']).starts_with('#') => continue,
            (false, _) => line,
        };
        // Conditionals such as `ifeq` may stand within a recipe.
        if !is_go && !line.starts_with(['\t', ' ']) && line.contains(':') {
            prerequisite = first_prerequisite(&line);
        }
        let line = prerequisite.as_ref().map_or_else(|| line.clone(), |first| line.replace("$<", first));
        if let Some((options, paths)) = call(&line, &variables, base) {
            out.push(Call { options, paths, place: format!("{}:{number}", display(file)), is_own });
        }
    }
}

/// `$<` of a rule in a Makefile: `$(CONTROLLER_GEN)` of `manifests: $(CONTROLLER_GEN) a`.
fn first_prerequisite(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(':').filter(|(_, rest)| !rest.starts_with(['=', ':']))?;
    rest.split_whitespace().next().map(str::to_string)
}

/// Lines with their numbers from 1; a line that ends with a backslash continues on the next.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (at, line) in text.lines().enumerate() {
        let (part, more) = match line.trim_end().strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match out.last_mut().filter(|_| continues) {
            Some((_, whole)) => {
                whole.push(' ');
                whole.push_str(part);
            }
            None => out.push((at + 1, part.to_string())),
        }
        continues = more;
    }
    out
}

/// `NAME ?= value` and the like.
fn variables(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (_, line) in logical_lines(text) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches(['?', ':', '+']).trim();
        // `target: NAME = value`
        let name = name.rsplit_once(": ").map_or(name, |(_, name)| name).trim();
        let name = name.trim_start_matches("export ").trim();
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(['"', '\'']);
            out.insert(name.to_string(), value.to_string());
        }
    }
    out
}

/// The options and folders of a line that calls controller-gen for CRDs.
fn call(
    line: &str,
    variables: &BTreeMap<String, String>,
    base: &Path,
) -> Option<(GeneratorOptions, Vec<PathBuf>)> {
    let lower = line.to_lowercase().replace('_', "-");
    if !lower.contains("controller-gen") {
        return None;
    }
    let line = line.split(" ## ").next().unwrap_or(line);
    let words = words(&expanded(line, variables));
    let is_tool = |word: &String| {
        let word = word.to_lowercase().replace('_', "-");
        word.contains("controller-gen") && !word.ends_with(':')
    };
    let tool = words.iter().position(is_tool)?;
    let arguments = || words.iter().map(|word| word.trim_start_matches('+'));
    let wanted = arguments().skip(tool + 1).find(|word| *word == "crd" || word.starts_with("crd:"))?;
    // `@cd api && controller-gen`, `(cd api; controller-gen)`
    let is_cd = |word: &String| word.trim_start_matches(['@', '-', '(']) == "cd";
    let entered = words[..tool].iter().rposition(is_cd).and_then(|at| words.get(at + 1));
    let base = entered.map_or_else(|| base.to_path_buf(), |folder| base.join(folder));
    let paths = arguments().filter_map(|word| word.strip_prefix("paths=")).flat_map(|all| all.split(';'));
    let paths =
        paths.filter_map(|path| fs::canonicalize(base.join(folder(path.trim_matches(['"', '\''])))).ok());
    let options = options(wanted.strip_prefix("crd").unwrap_or_default().trim_start_matches(':'), &base);
    Some((options, paths.collect()))
}

/// Expands `$(NAME)` and `${NAME}` if the file defines them.
fn expanded(line: &str, variables: &BTreeMap<String, String>) -> String {
    let mut out = line.to_string();
    for _ in 0..VARIABLE_DEPTH {
        let before = out.clone();
        for (name, value) in variables {
            // The variable identifies the tool itself.
            if !name.eq_ignore_ascii_case("controller_gen") {
                out = out.replace(&format!("$({name})"), value).replace(&format!("${{{name}}}"), value);
            }
        }
        if out == before || out.len() > LONGEST_LINE {
            break;
        }
    }
    out
}

/// The most levels of variables in variables.
const VARIABLE_DEPTH: usize = 4;
/// The longest expanded line in bytes, for any contents of variables.
const LONGEST_LINE: usize = 64 * 1024;

/// Words as a shell splits them, without their quotes.
fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut word, mut quote) = (String::new(), None);
    // A semicolon inside a word separates paths, as `go:generate` has no shell.
    let line = line.replace("; ", " ; ");
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c.is_whitespace() => out.extend(Some(std::mem::take(&mut word))),
            None => word.push(c),
        }
    }
    out.push(word);
    out.retain(|word| !word.is_empty());
    out
}

/// `maxDescLen=0,headerFile=a`
fn options(text: &str, base: &Path) -> GeneratorOptions {
    let mut out = GeneratorOptions::default();
    for option in text.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, "true"));
        match name {
            _ if value.contains('$') => out.left.push(name.to_string()),
            // A negative length is no limit: `descVisitor` of controller-tools, pkg/crd/desc_visitor.go.
            "maxDescLen" => out.max_desc_len = value.parse().ok(),
            "allowDangerousTypes" => out.allow_dangerous_types = value == "true",
            "generateEmbeddedObjectMeta" => out.embedded_object_meta = value == "true",
            "ignoreUnexportedFields" => out.ignore_unexported = value == "true",
            "deprecatedV1beta1CompatibilityPreserveUnknownFields" => {
                out.refuse_unknown_fields = value == "false";
            }
            "headerFile" => out.header_file = Some(base.join(value)),
            "year" => out.year = Some(value.to_string()),
            "crdVersions" if value != "v1" && value != "{v1}" => out.left.push(name.to_string()),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests;
