//! Generates from the imported crate and compares, so that no loss is silent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use kubesmith_core::diag::{Code, Severity};
use serde_json::Value;

use super::ImportedCrate;
use super::reader::{Crd, Sites};
use crate::config::{self, Overrides};
use crate::diag::Diagnostic;
use crate::output::Kind;
use crate::pipeline::{self, Generated};
use crate::source::SourceMap;
use kubesmith_apiextensions::diff::canonical;

type Files = BTreeMap<String, String>;

/// The crate of all definitions that it reproduces, and their number.
pub(super) fn settled(
    mut crds: Vec<Crd>,
    package: &str,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Files, usize) {
    let mut sites = Sites::new(sources);
    while !crds.is_empty() {
        let wrong = match checked(&crds, package, &mut sites) {
            Ok((files, wrong)) if wrong.is_empty() => return (files, crds.len()),
            Ok((_, wrong)) => wrong,
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                break;
            }
        };
        // Enums are stricter than structs and may be too strict.
        let with_enums: Vec<usize> =
            wrong.iter().map(|(at, _)| *at).filter(|at| crds[*at].has_choices).collect();
        with_enums.iter().for_each(|at| crds[*at].has_choices = false);
        if with_enums.is_empty() {
            diagnostics.extend(wrong.iter().map(|(_, diagnostic)| diagnostic.clone()));
            let wrong: BTreeSet<usize> = wrong.into_iter().map(|(at, _)| at).collect();
            let mut numbers = 0..;
            crds.retain(|_| numbers.next().is_some_and(|at| !wrong.contains(&at)));
        }
    }
    (Files::new(), 0)
}

/// The definitions that differ, by their numbers, and the errors.
type Wrong = Vec<(usize, Diagnostic)>;

/// The most errors whose definition is searched for at once; the rest show up after these definitions are
/// left out.
const MOST_OWNED: usize = 100;

/// The crate of the definitions, and the errors in it.
fn checked(crds: &[Crd], package: &str, sites: &mut Sites<'_>) -> Result<(Files, Wrong), Box<Diagnostic>> {
    let made = super::crate_of(crds, package);
    let generated = generate(&made.files).map_err(|error| unchecked(&error))?;
    let errors: Vec<&Diagnostic> =
        generated.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
    if errors.is_empty() {
        let wrong = differing(crds, &generated, sites);
        let mut files = made.files;
        super::writer::allow(&mut files, &conventions(&generated.diagnostics));
        return Ok((files, wrong));
    }
    let mut wrong: BTreeMap<usize, Diagnostic> = BTreeMap::new();
    for error in errors.iter().take(MOST_OWNED) {
        if let Some(at) = owner(&made, error, &generated) {
            wrong.entry(at).or_insert_with(|| refused(&crds[at], error, sites));
        }
    }
    if wrong.is_empty() {
        alone(crds, package, errors[0], sites, &mut wrong)?;
    }
    Ok((made.files, wrong.into_iter().collect()))
}

/// Warnings about conventions that definitions in use can no longer adopt.
const CONVENTIONS: [Code; 5] = [
    Code::MISSING_SPEC,
    Code::MISSING_STATUS,
    Code::NOT_CAMEL_CASE,
    Code::UNKEYED_CONDITIONS,
    Code::STATUS_NOT_SUBRESOURCE,
];

/// The conventions that the definitions violate.
pub(super) fn conventions(diagnostics: &[Diagnostic]) -> BTreeSet<Code> {
    let warnings = diagnostics.iter().filter(|found| found.severity == Severity::Warning);
    warnings.map(|found| found.code).filter(|code| CONVENTIONS.contains(code)).collect()
}

/// Tries each definition alone if no error names its definition.
fn alone(
    crds: &[Crd],
    package: &str,
    first: &Diagnostic,
    sites: &mut Sites<'_>,
    wrong: &mut BTreeMap<usize, Diagnostic>,
) -> Result<(), Box<Diagnostic>> {
    for (at, crd) in crds.iter().enumerate() {
        let made = super::crate_of(std::slice::from_ref(crd), package);
        let generated = generate(&made.files).map_err(|error| unchecked(&error))?;
        let error = generated.diagnostics.iter().find(|found| found.severity == Severity::Error);
        wrong.extend(error.map(|error| (at, refused(crd, error, sites))));
    }
    if wrong.is_empty() {
        return Err(Box::new(together(first)));
    }
    Ok(())
}

/// The error for definitions that can be generated again alone but not together.
pub(super) fn together(first: &Diagnostic) -> Diagnostic {
    let message = format!("the definitions cannot be generated again together: {}", first.message);
    Diagnostic::error(Code::NOT_GENERATED, None, message)
        .note(format!("`kubesmith generate` would report {}", first.code))
        .help("import fewer of them at once")
}

pub(super) fn unchecked(error: &io::Error) -> Box<Diagnostic> {
    let message = format!("the imported files cannot be checked: {error}");
    let help = "check the space and the permissions of the folder for temporary files";
    Box::new(Diagnostic::error(Code::CANNOT_WRITE, None, message).help(help))
}

/// Runs the pipeline over the crate in a temporary folder.
pub(super) fn generate(files: &Files) -> io::Result<Generated> {
    let folder = tempfile::tempdir()?;
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(path, text)?;
    }
    let settings = config::settings(Some(&folder.path().join(config::FILE_NAME)), Overrides::default());
    let settings = settings.map_err(io::Error::other)?.into_iter().next();
    let settings = settings.ok_or_else(|| io::Error::other("no settings"))?;
    Ok(pipeline::definitions(&settings))
}

/// The error for a definition that `generate` refuses.
fn refused(crd: &Crd, error: &Diagnostic, sites: &mut Sites<'_>) -> Diagnostic {
    let kind = crd.text(&["spec", "names", "kind"]);
    let message = format!("{kind} cannot be generated again: {}", error.message);
    let mut diagnostic = Diagnostic::error(Code::NOT_GENERATED, crd.loc(sites, &[]), message)
        .note(format!("`kubesmith generate` would report {}", error.code));
    diagnostic.notes.extend(error.notes.iter().cloned());
    diagnostic.help("correct the definition, or import it without the others")
}

/// The definition of the type that a diagnostic is about, or of the types that use it.
fn owner(made: &ImportedCrate, error: &Diagnostic, generated: &Generated) -> Option<usize> {
    let loc = error.primary?;
    let file = generated.sources.file(loc.file);
    let roots = made.roots.iter().find(|(path, _)| file.path.ends_with(path)).map(|(_, roots)| roots)?;
    let item = item_name(&file.text, loc.start as usize)?;
    let mut open = vec![item];
    let mut seen = open.clone();
    while let Some(name) = open.pop() {
        if let Some(at) = roots.get(&name) {
            return Some(*at);
        }
        for user in users(&file.text, &name) {
            if !seen.contains(&user) {
                seen.push(user.clone());
                open.push(user);
            }
        }
    }
    None
}

/// The name of the struct or enum around an offset.
fn item_name(text: &str, at: usize) -> Option<String> {
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // Attributes precede the name.
    let after = text[end..].lines().find_map(declared);
    let before = text[..end].lines().rev().find_map(declared);
    let is_inside = text[..end].lines().next_back().is_some_and(|line| line.starts_with(' '))
        && text[..end]
            .rfind("\n}")
            .is_none_or(|close| text[..end].rfind("\npub ").is_some_and(|open| open > close));
    if is_inside { before.or(after) } else { after.or(before) }
}

fn declared(line: &str) -> Option<String> {
    let rest = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))?;
    rest.split_whitespace().next().map(str::to_string)
}

/// The types with a field of this type.
fn users(text: &str, name: &str) -> Vec<String> {
    let mut current = None;
    let mut out = Vec::new();
    for line in text.lines() {
        if let Some(found) = declared(line) {
            current = Some(found);
        } else if line.starts_with("    ")
            && !line.trim_start().starts_with(['/', '#'])
            && line.split(|c: char| !c.is_alphanumeric()).any(|word| word == name)
        {
            out.extend(current.clone());
        }
    }
    out
}

fn differing(crds: &[Crd], generated: &Generated, sites: &mut Sites<'_>) -> Vec<(usize, Diagnostic)> {
    let tree = generated.targets.iter().find(|target| target.kind == Kind::Crd).map(|target| &target.tree);
    let mut out = Vec::new();
    for (at, crd) in crds.iter().enumerate() {
        let name =
            format!("{}_{}.yaml", crd.text(&["spec", "group"]), crd.text(&["spec", "names", "plural"]));
        let made: Option<Value> =
            tree.and_then(|tree| tree.get(&name)).and_then(|text| serde_yaml::from_str(text).ok());
        let difference = match made {
            Some(made) => first_difference(&crd.object, &canonical(&made), &mut Vec::new()),
            None => Some((Vec::new(), "no definition is generated".to_string())),
        };
        let Some((path, what)) = difference else { continue };
        let loc = crd.loc(sites, &path);
        let kind = crd.text(&["spec", "names", "kind"]);
        let message = format!("{kind} would not be reproduced by `generate`: {what} at {}", path.join("."));
        out.push((
            at,
            Diagnostic::error(Code::NOT_THE_SAME, loc, message)
                .note("nothing is left out silently, so the definition is not imported")
                .help("this is a gap of kubesmith: please report it with the definition"),
        ));
    }
    out
}

/// The first path where two values differ, and the difference.
pub(super) fn first_difference(
    wanted: &Value,
    made: &Value,
    path: &mut Vec<String>,
) -> Option<(Vec<String>, String)> {
    match (wanted, made) {
        (Value::Object(wanted), Value::Object(made)) => {
            let names = wanted.keys().chain(made.keys().filter(|name| !wanted.contains_key(*name)));
            for name in names {
                path.push(name.clone());
                let found = match (wanted.get(name), made.get(name)) {
                    (Some(wanted), Some(made)) => first_difference(wanted, made, path),
                    (Some(_), None) => Some((path.clone(), "it is lost".to_string())),
                    (None, _) => Some((path.clone(), "it is added".to_string())),
                };
                if found.is_some() {
                    return found;
                }
                path.pop();
            }
            None
        }
        (Value::Array(wanted), Value::Array(made)) if wanted.len() == made.len() => {
            for (at, (wanted, made)) in wanted.iter().zip(made).enumerate() {
                path.push(at.to_string());
                let found = first_difference(wanted, made, path);
                if found.is_some() {
                    return found;
                }
                path.pop();
            }
            None
        }
        _ if wanted == made => None,
        _ => Some((path.clone(), format!("{} becomes {}", short(wanted), short(made)))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        text
    } else {
        format!("{}...", text.chars().take(57).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn first_difference_has_path_and_values() {
        let wanted = json!({"a": [{"b": 1}, {"c": "x"}], "d": 1});
        let differing = |made: Value| {
            first_difference(&wanted, &made, &mut Vec::new())
                .map(|(path, what)| format!("{}: {what}", path.join(".")))
        };
        assert_eq!(differing(wanted.clone()), None);
        let cases = [
            (json!({"a": [{"b": 1}, {"c": "y"}], "d": 1}), "a.1.c: \"x\" becomes \"y\""),
            (json!({"a": [{"b": 1}, {}], "d": 1}), "a.1.c: it is lost"),
            (json!({"a": [{"b": 1}, {"c": "x"}], "d": 1, "e": 2}), "e: it is added"),
        ];
        for (made, expected) in cases {
            assert_eq!(differing(made).as_deref(), Some(expected));
        }
    }

    #[test]
    fn item_and_its_users_are_found_by_type_name() {
        let text = "pub struct Thing {\n    pub spec: ThingSpec,\n}\n\n#[x]\npub struct ThingSpec {\n    #[y]\n    pub a: B,\n}\n";
        assert_eq!(item_name(text, text.find("#[y]").unwrap()).as_deref(), Some("ThingSpec"));
        assert_eq!(item_name(text, text.find("#[x]").unwrap()).as_deref(), Some("ThingSpec"));
        assert_eq!(users(text, "ThingSpec"), ["Thing"]);
    }
}
