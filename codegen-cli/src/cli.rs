//! The command line: arguments, what is printed, exit codes.

mod color;
mod committed;
mod config;
#[cfg(feature = "cluster")]
mod crd;
mod diff;
mod generate;
mod import;
#[cfg(feature = "completions")]
mod manual;
mod migrate;
mod report;
mod scaffold;

use std::io::{self, Write};

use clap::{Parser, Subcommand};
use kubesmith_core::diag::Severity;

use self::color::Color;
use crate::diag::{self, Diagnostic, MessageFormat, Style};
use crate::explain;
#[cfg(feature = "serve")]
use crate::serve::{self, Serve};
use crate::source::SourceMap;

/// The result of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Fine,
    /// The run found errors, or `--check` found outdated files.
    Failed,
    /// The command or its configuration is invalid.
    Usage,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
        }
    }
}

/// Generates CRDs, typed clients, informers and listers from Kubernetes API types written in Rust, and serves them.
///
/// Types are read from source; nothing is compiled or run.
#[derive(Debug, Parser)]
#[command(name = "kubesmith", version, max_term_width = 100)]
pub struct Cli {
    /// Colours of diagnostics: auto, always or never; auto: on terminals, unless NO_COLOR, CLICOLOR_FORCE or CLICOLOR decides.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        env = "CARGO_TERM_COLOR",
        hide_env_values = true,
        hide_possible_values = true,
        help_heading = "Global options"
    )]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes CRDs and the client package, or checks that they are up to date.
    ///
    /// Exit codes: 0 success, 1 errors in the input or (with --check) files out of date, 2 invalid usage.
    Generate(Box<generate::Generate>),
    /// Creates a crate of Rust types from CustomResourceDefinitions. `generate` then writes the same definitions.
    ///
    /// Exit codes: 0 all definitions are imported, 1 some or all of them are not, 2 invalid usage.
    Import(import::Import),
    /// Creates a workspace for an operator, as kubebuilder does: API types, controllers, manifests.
    ///
    /// Existing files are not changed. Exit codes: 0 success, 1 failure, 2 invalid usage.
    Init(crate::scaffold::Init),
    /// Adds a kind or webhooks to a project created by `init`.
    ///
    /// A second run of the same command changes nothing. Exit codes: 0 success, 1 failure, 2 invalid usage.
    #[command(subcommand)]
    Create(scaffold::Create),
    /// Lists the places where a program uses another controller library, with the replacement for each.
    ///
    /// The command reads source and ignores code in macros. Exit codes: 0 success, 1 the sources cannot be read, 2 invalid
    /// usage.
    Migrate(migrate::Migrate),
    /// Lists API changes that break stored objects, clients or conversions.
    Diff(diff::Diff),
    /// Installs and upgrades definitions in a cluster, and migrates their objects to the storage version.
    #[cfg(feature = "cluster")]
    #[command(subcommand)]
    Crd(Box<crd::Crd>),
    /// Shows the settings of a run, and the schema of kubesmith.toml.
    #[command(subcommand)]
    Config(config::Config),
    /// Explains an attribute, a key of an attribute, a Go marker, or the code of a diagnostic.
    Explain {
        /// The topic: `resource`, `validation.minimum`, `+kubebuilder:default`, `KS0407`; default: an overview.
        topic: Option<String>,
    },
    /// Runs an API server for kubectl and any other client, until it is interrupted.
    ///
    /// Prints two lines when it is ready: `url: …` and `kubeconfig: …`. Exit codes: 0 after SIGINT or SIGTERM, 1 the
    /// server could not start, 2 invalid usage.
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// Prints shell completions.
    ///
    /// `kubesmith completions bash > ~/.local/share/bash-completion/completions/kubesmith`
    #[cfg(feature = "completions")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Prints the manual page, or writes the pages of all commands into a folder.
    #[cfg(feature = "completions")]
    Man {
        /// The folder of the pages, such as ~/.local/share/man/man1.
        #[arg(long, value_name = "DIR")]
        output: Option<std::path::PathBuf>,
    },
    /// Refused: this build has no server.
    #[cfg(not(feature = "serve"))]
    #[command(hide = true)]
    Serve {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

/// Runs the parsed command.
///
/// # Errors
/// Returns an error if standard output cannot be written. A closed pipe is no error, and errors of standard
/// error are ignored.
pub fn run(cli: Cli) -> io::Result<Exit> {
    cli.color.set();
    match cli.command {
        Command::Generate(arguments) => generate::run(*arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Init(arguments) => scaffold::init(&arguments),
        Command::Create(create) => scaffold::create(&create),
        Command::Migrate(arguments) => migrate::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        #[cfg(feature = "cluster")]
        Command::Crd(command) => crd::run(&command),
        Command::Config(command) => config::run(command),
        #[cfg(feature = "completions")]
        Command::Completions { shell } => manual::completions(shell),
        #[cfg(feature = "completions")]
        Command::Man { output } => manual::man(output.as_deref()),
        Command::Explain { topic } => match explain::explain(topic.as_deref()) {
            Ok(text) => {
                print(&text)?;
                Ok(Exit::Fine)
            }
            Err(message) => Ok(usage(&message)),
        },
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => match serve::serve(&arguments) {
            Ok(()) => Ok(Exit::Fine),
            Err(error) => {
                diag::print_to_stderr(&format!("error: {error}\n  = help: {}\n", error.help()));
                Ok(Exit::Failed)
            }
        },
        #[cfg(not(feature = "serve"))]
        Command::Serve { arguments: _ } => Ok(usage(
            "this build of kubesmith has no server: install it with the feature `serve`, which is on by default",
        )),
    }
}

fn report(diagnostics: &[Diagnostic], sources: &SourceMap, format: MessageFormat) {
    report_with(diagnostics, sources, format, "nothing was written");
}

/// Like [`report`], with the end of the last line.
fn report_with(diagnostics: &[Diagnostic], sources: &SourceMap, format: MessageFormat, end: &str) {
    let mut text = diag::render(diagnostics, sources, format, style(format));
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    if errors > 0 && format == MessageFormat::Human {
        let noun = if errors == 1 { "error" } else { "errors" };
        text.push_str(&format!("{errors} {noun}; {end}\n"));
    }
    diag::print_to_stderr(&text);
}

/// How diagnostics look.
fn style(format: MessageFormat) -> Style {
    if format == MessageFormat::Human { color::style() } else { Style::Plain }
}

fn usage(message: &str) -> Exit {
    diag::print_to_stderr(&format!("error: {message}\n"));
    Exit::Usage
}

/// Writes to standard output; a closed pipe is no error.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_line_definition_is_valid() {
        Cli::command().debug_assert();
    }
}
