//! Runs code of the project for definitions that source alone does not give: `--evaluate`.
//!
//! Cargo builds the project in its own workspace, so that its lock file, patches and toolchain apply. The
//! program that runs prints `K::crd()` of the kinds, or the items of a function of the project, or is the
//! project's own. It trusts the project as `cargo build` does.

mod build;
mod group;
mod program;
mod run;

use std::collections::BTreeSet;
use std::path::Path;

use kubesmith_apiextensions::schema::Schema;
use kubesmith_apiextensions::structural::validate_crd;
use serde_json::{Value, json};

use crate::config::EvaluatedProgram;
use crate::output::YAML_MARK;
use crate::schema::drop_unknown_formats;

/// A library or program of the project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package<'a> {
    /// Its folder, with the Cargo.toml.
    pub(crate) folder: &'a Path,
    /// Its enabled features; `None`: the default ones.
    pub(crate) features: Option<&'a BTreeSet<String>>,
    /// Paths of the requested root types.
    pub(crate) roots: &'a [String],
}

/// A definition from running code.
#[derive(Clone, Debug)]
pub(crate) struct Evaluated {
    /// The group.
    pub(crate) group: String,
    /// The kind.
    pub(crate) kind: String,
    /// The file's name.
    pub(crate) file: String,
    /// The object as written to files.
    pub(crate) object: Value,
}

/// Returns the definitions of the package.
///
/// # Errors
/// Returns one sentence about the failed build, run or output.
pub(crate) fn evaluate(
    package: Package<'_>,
    program: &EvaluatedProgram,
    keep_unknown_formats: bool,
) -> Result<Vec<Evaluated>, String> {
    let output = match program {
        EvaluatedProgram::Binary { name, arguments } => {
            let executable = build::binary(package, name)?;
            run::run(&executable, arguments, package.folder)?
        }
        EvaluatedProgram::Roots => run::run(&build::roots(package)?, &[], package.folder)?,
        EvaluatedProgram::Function(path) => run::run(&build::function(package, path)?, &[], package.folder)?,
    };
    let objects = program::definitions(&output)?;
    objects.into_iter().map(|object| evaluated(object, keep_unknown_formats)).collect()
}

/// Checks a definition; returns an error if an API server would refuse it.
fn evaluated(mut object: Value, keep_unknown_formats: bool) -> Result<Evaluated, String> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_string);
    let (Some(group), Some(kind), Some(plural)) =
        (text("/spec/group"), text("/spec/names/kind"), text("/spec/names/plural"))
    else {
        return Err("a definition has no group, kind or plural".to_string());
    };
    if object["apiVersion"] != "apiextensions.k8s.io/v1" {
        return Err(format!("the definition of {kind} is not of apiextensions.k8s.io/v1"));
    }
    if let Some(cause) = validate_crd(&completed(object.clone()), None).first() {
        return Err(format!("an API server refuses {kind}: {}: {}", cause.field, cause.message()));
    }
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    let metadata = &mut object["metadata"];
    match &metadata["annotations"] {
        Value::Null => metadata["annotations"] = json!({}),
        Value::Object(annotations) if annotations.values().all(Value::is_string) => {}
        _ => return Err(format!("the annotations of {kind} are not a map of strings")),
    }
    metadata["annotations"][YAML_MARK] = env!("CARGO_PKG_VERSION").into();
    if !keep_unknown_formats {
        let versions = object.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
        for version in versions.into_iter().flatten() {
            if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
                let mut parsed = Schema::parse(schema).map_err(|error| format!("{kind}: {error}"))?;
                drop_unknown_formats(&mut parsed);
                *schema = parsed.to_value();
            }
        }
    }
    let file = format!("{group}_{plural}.yaml");
    Ok(Evaluated { group, kind, file, object })
}

/// The object as an API server completes it before validation.
fn completed(mut object: Value) -> Value {
    let kind = object.pointer("/spec/names/kind").and_then(Value::as_str).unwrap_or_default().to_string();
    let names = &mut object["spec"]["names"];
    for (key, value) in [("singular", kind.to_ascii_lowercase()), ("listKind", format!("{kind}List"))] {
        if names[key].is_null() {
            names[key] = value.into();
        }
    }
    if object["spec"]["conversion"].is_null() {
        object["spec"]["conversion"] = json!({"strategy": "None"});
    }
    object
}
