//! `kubesmith init`, `kubesmith create api`, `kubesmith create webhook`

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::{Exit, print, report, usage};
use crate::diag::{self, MessageFormat};
use crate::notice::Notice;
use crate::paths::display;
use crate::scaffold::{self, CreateApi, CreateWebhook, Init, Report, ScaffoldError};

/// An addition to a project. The current folder must be the project's.
#[derive(Debug, Subcommand)]
pub(super) enum Create {
    /// Adds a kind with its controller and a test, and generates its files.
    Api(CreateApi),
    /// Adds webhooks for a kind.
    Webhook(CreateWebhook),
}

pub(super) fn init(arguments: &Init) -> io::Result<Exit> {
    let notice = Notice::of(format!("writing a project to {}", display(&arguments.dir)));
    let done = scaffold::init(arguments);
    drop(notice);
    end(done, &arguments.dir)
}

pub(super) fn create(create: &Create) -> io::Result<Exit> {
    let root = Path::new("");
    let notice = Notice::of("reading the project and its dependencies, and generating its files".to_owned());
    let done = match create {
        Create::Api(arguments) => scaffold::create_api(root, arguments),
        Create::Webhook(arguments) => scaffold::create_webhook(root, arguments),
    };
    drop(notice);
    end(done, root)
}

fn end(result: Result<Report, ScaffoldError>, root: &Path) -> io::Result<Exit> {
    match result {
        Ok(done) => {
            print(&text(&done, root))?;
            Ok(Exit::Fine)
        }
        Err(ScaffoldError::Usage(message)) => Ok(usage(&message)),
        Err(error) => {
            if let ScaffoldError::Generate { diagnostics, sources }
            | ScaffoldError::Broken { diagnostics, sources } = &error
            {
                report(diagnostics, sources, MessageFormat::Human);
            }
            diag::print_to_stderr(&format!("error: {error}\n"));
            Ok(Exit::Failed)
        }
    }
}

fn text(done: &Report, root: &Path) -> String {
    let list = |what: &str, files: &[PathBuf]| -> String {
        files.iter().map(|file| format!("{what} {}\n", display(&root.join(file)))).collect()
    };
    let mut out =
        list("wrote  ", &done.written) + &list("changed", &done.changed) + &list("kept   ", &done.kept);
    if done.generated > 0 {
        let files = if done.generated == 1 { "file" } else { "files" };
        out.push_str(&format!("generated {} {files}\n", done.generated));
    }
    if done.written.is_empty() && done.changed.is_empty() && done.generated == 0 {
        out.push_str("nothing is new\n");
    }
    if let Some(note) = &done.note {
        out.push_str(&format!("note: {note}\n"));
    }
    out.push_str(&format!("next: {}\n", done.next));
    out
}
