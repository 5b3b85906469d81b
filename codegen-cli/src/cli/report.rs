//! Compares violations of API rules with the accepted ones.

use std::fs;
use std::io;

use super::generate::refuse;
use super::{Exit, print, report};
use crate::api_rules::Report;
use crate::diag::MessageFormat;
use crate::pipeline::Generated;
use crate::write;

/// Prints violations that are not accepted, entries without a violation, and a diff of the file.
pub(super) fn check(generated: &[Generated], format: MessageFormat) -> io::Result<Exit> {
    let mut exit = Exit::Fine;
    for run in generated {
        let Some(violations) = &run.report else { continue };
        // The plan reports an existing file that cannot be read.
        let accepted = fs::read_to_string(&violations.path).unwrap_or_default();
        let diagnostics = violations.compare(&accepted, &run.sources);
        report(&diagnostics, &run.sources, format);
        if let Exit::Failed = diff(violations, format)? {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

fn diff(violations: &Report, format: MessageFormat) -> io::Result<Exit> {
    let Some(target) = violations.target() else { return Ok(Exit::Fine) };
    match write::plan(&[target]) {
        Ok(plan) if plan.is_clean() => Ok(Exit::Fine),
        Ok(plan) => {
            print(&plan.diff())?;
            Ok(Exit::Failed)
        }
        Err(errors) => Ok(refuse(&errors, format)),
    }
}
