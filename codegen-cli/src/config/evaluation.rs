//! Chooses the code of the project to run: `evaluate` and `[evaluation]`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Config, KindFlags, UsageError};

/// Table `[evaluation]`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// Folder of the package with the program or function. Default: the only input.
    pub folder: Option<PathBuf>,
    /// Program that prints the CRDs as YAML or JSON.
    pub binary: Option<String>,
    /// Arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Path of a public function that returns one or more CRDs, or a call with arguments: `my_operator::crds`,
    /// `my_operator::crd("namespace")`.
    pub function: Option<String>,
}

/// The code of the project to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Folder of its package.
    pub folder: Option<PathBuf>,
    /// The code to run.
    pub program: EvaluatedProgram,
}

/// The code to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluatedProgram {
    /// `crd()` of the root types that cannot be known from source.
    Roots,
    /// A function that returns definitions, by its path or as a call.
    Function(String),
    /// A program that prints definitions.
    Binary {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// Returns the code to run, if any. `folder` is the table's, relative to the command's working folder.
pub(super) fn evaluation(
    config: &Config,
    flags: &KindFlags,
    folder: Option<PathBuf>,
) -> Result<Option<Evaluation>, UsageError> {
    let is_on = flags.evaluate || config.evaluate;
    let config = &config.evaluation;
    let refuse = |message: &str| Err(UsageError(format!("`[evaluation]`: {message}")));
    let program = match (&config.binary, &config.function) {
        (Some(_), Some(_)) => return refuse("name a `binary` or a `function`, not both"),
        (None, _) if !config.arguments.is_empty() => return refuse("`arguments` needs a `binary`"),
        (None, None) if folder.is_some() => return refuse("`folder` needs a `binary` or `function`"),
        (Some(name), None) => {
            EvaluatedProgram::Binary { name: name.clone(), arguments: config.arguments.clone() }
        }
        (None, Some(path)) => EvaluatedProgram::Function(path.clone()),
        (None, None) => EvaluatedProgram::Roots,
    };
    Ok(is_on.then_some(Evaluation { folder, program }))
}

/// The equivalent table.
pub(super) fn config(evaluation: &Evaluation) -> EvaluationConfig {
    let folder = evaluation.folder.clone();
    match &evaluation.program {
        EvaluatedProgram::Roots => EvaluationConfig::default(),
        EvaluatedProgram::Function(path) => {
            EvaluationConfig { folder, function: Some(path.clone()), ..EvaluationConfig::default() }
        }
        EvaluatedProgram::Binary { name, arguments } => EvaluationConfig {
            folder,
            binary: Some(name.clone()),
            arguments: arguments.clone(),
            function: None,
        },
    }
}
