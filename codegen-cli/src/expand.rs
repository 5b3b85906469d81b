//! Expands calls of macros by example in the position of items, in all crates.
//!
//! Rounds of three steps: find the macro of each call, expand and parse, insert the items into the module of
//! the call. A call of an unknown macro stays.

use std::collections::HashMap;
use std::sync::Arc;

use kubesmith_core::diag::Code;

use crate::diag::Diagnostic;
use crate::load::{Crates, Dependency, Expanded, Loaded, ModuleId};
use crate::macros::{ExpandError, Printed, RECURSION_LIMIT, print};
use crate::parallel;
use crate::parse::{ExpansionText, parse_expansion};
use crate::resolve::{Found, Macros, Resolver, Scope};
use crate::source::FileId;
use crate::syntax::{MacroCall, MacroDefinition, Step};

/// The most tokens in all expansions of a run: macros that call themselves twice grow exponentially.
const TOTAL_LIMIT: usize = 1 << 21;

/// The cost of an expansion in addition to its tokens.
const EXPANSION: usize = 128;

/// A call and its macro.
struct Job {
    krate: usize,
    module: ModuleId,
    call: Arc<MacroCall>,
    definition: Arc<MacroDefinition>,
    /// The crate of the macro.
    from: usize,
}

/// Expands calls, and reads the path dependencies that they refer to.
pub fn expand(loaded: &mut Loaded) {
    let mut tokens = 0;
    loop {
        let (jobs, wanted) = {
            let resolver = Resolver::new(&loaded.crates);
            let jobs = find(&loaded.crates, &resolver);
            (jobs, resolver.wanted())
        };
        let has_read = loaded.read_local(&wanted);
        if jobs.is_empty() && !has_read {
            return;
        }
        run(loaded, jobs, &mut tokens);
    }
}

/// Every call with a known macro.
fn find<'a>(crates: &'a Crates, resolver: &Resolver<'a>) -> Vec<Job> {
    let mut walk = Walk { crates, macros: Macros::new(crates), jobs: Vec::new(), others: Vec::new() };
    for krate in 0..crates.list.len() {
        walk.module(krate, 0, &mut HashMap::new());
    }
    let Walk { macros, mut jobs, others, .. } = walk;
    for (krate, module, call) in others {
        if let Some((from, definition)) = resolver.macro_of(&macros, krate, module, &call.path) {
            jobs.push(Job { krate, module, call: call.clone(), definition: definition.clone(), from });
        }
    }
    jobs
}

/// Visits modules in source order, in which macros become known by their names.
struct Walk<'a> {
    crates: &'a Crates,
    macros: Macros<'a>,
    jobs: Vec<Job>,
    /// Calls of names that are not in textual scope.
    others: Vec<(usize, ModuleId, &'a Arc<MacroCall>)>,
}

impl<'a> Walk<'a> {
    fn module(&mut self, krate: usize, module: ModuleId, scope: &mut Scope<'a>) {
        let crates = self.crates;
        for step in &crates.list[krate].modules[module].steps {
            match step {
                Step::Definition(definition) => {
                    scope.insert(&definition.name.text, (krate, definition));
                }
                Step::Call(call) => match self.textual(call, scope) {
                    Some((from, definition)) => {
                        let (call, definition) = (call.clone(), definition.clone());
                        self.jobs.push(Job { krate, module, call, definition, from });
                    }
                    None => self.others.push((krate, module, call)),
                },
                Step::Module { at, is_macro_use: true } => self.module(krate, *at, scope),
                Step::Module { at, is_macro_use: false } => self.module(krate, *at, &mut scope.clone()),
                Step::Crate(name) => {
                    if let Some(Dependency::Crate(other)) = crates.list[krate].externs.get(name) {
                        scope.extend(self.macros.exports(*other));
                    }
                }
            }
        }
        self.macros.set_scope(krate, module, scope.clone());
    }

    fn textual(&self, call: &MacroCall, scope: &Scope<'a>) -> Option<Found<'a>> {
        let is_name = call.path.segments.len() == 1 && !call.path.global;
        scope.get(call.name.text.as_str()).copied().filter(|_| is_name)
    }
}

fn run(loaded: &mut Loaded, jobs: Vec<Job>, tokens: &mut usize) {
    let texts = parallel::map(&jobs, text);
    let mut files: Vec<(Job, FileId, Printed)> = Vec::new();
    for (job, text) in jobs.into_iter().zip(texts) {
        let place = job.call.path.loc;
        let depth = loaded.sources().expansion_depth(place.file);
        *tokens += EXPANSION + text.as_ref().map_or(0, |text| text.pieces.len());
        let text = match text {
            Ok(_) if depth >= RECURSION_LIMIT => {
                let message = format!("expansions are nested more than {RECURSION_LIMIT} deep");
                Err(ExpandError { message, loc: None })
            }
            Ok(_) if *tokens > TOTAL_LIMIT => {
                let message = format!("the expansions of all macros have over {TOTAL_LIMIT} tokens");
                Err(ExpandError { message, loc: None })
            }
            text => text,
        };
        match text {
            Ok(text) => {
                let file = loaded.sources_mut().add_expansion(&job.call.name.text, place, job.call.loc);
                files.push((job, file, text));
            }
            Err(error) => {
                loaded.replace(job.krate, job.module, &job.call, Expanded::failed(failed(&job, &error)));
            }
        }
    }
    let crates = &loaded.crates;
    let parsed = parallel::map(&files, |(job, file, printed)| {
        let krate = &crates.list[job.krate];
        let text = ExpansionText { file: *file, text: &printed.text, name: &job.call.name.text };
        parse_expansion(text, &krate.cfg, &krate.modules[job.module].derive_names)
    });
    for ((job, file, printed), (items, diagnostics)) in files.into_iter().zip(parsed) {
        loaded.sources_mut().set_expansion(file, printed.text, printed.pieces);
        loaded.replace(job.krate, job.module, &job.call, Expanded { items, diagnostics });
    }
}

fn text(job: &Job) -> Result<Printed, ExpandError> {
    let rules = job.definition.rules.as_ref().map_err(Clone::clone)?;
    Ok(print(&rules.expand(&job.call.input, job.from)?))
}

fn failed(job: &Job, error: &ExpandError) -> Diagnostic {
    let message = format!("`{}!` cannot be expanded: {}", job.call.path.text(), error.message);
    Diagnostic::error(Code::MACRO_EXPANSION, error.loc.unwrap_or(job.call.path.loc), message)
        .secondary(error.loc.map(|_| job.call.path.loc), "in this call")
        .secondary(job.definition.name.loc, "the macro is defined here")
        .help("correct the call, or write the macro's expansion by hand")
}
