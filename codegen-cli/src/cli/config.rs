//! `kubesmith config`

use std::io;

use clap::{Args, Subcommand};

use super::generate::Flags;
use super::{Exit, print, usage};
use crate::config;
use crate::paths::display;

#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Shows the settings that `generate` would use with the same flags: the file, the flags and the defaults.
    Show(Box<Show>),
    /// Prints the JSON Schema of kubesmith.toml, for editors.
    ///
    /// Editors check and complete the keys of kubesmith.toml if its first line is `#:schema kubesmith.schema.json`.
    Schema,
}

#[derive(Debug, Args)]
pub(super) struct Show {
    #[command(flatten)]
    flags: Flags,
}

pub(super) fn run(command: Config) -> io::Result<Exit> {
    let text = match command {
        Config::Schema => config::SCHEMA.to_owned(),
        Config::Show(show) => match show.flags.settings() {
            Ok(settings) => {
                let shown: Result<Vec<_>, _> = settings.iter().map(shown).collect();
                shown.map_err(io::Error::other)?.join("\n")
            }
            Err(error) => return Ok(usage(&error.to_string())),
        },
    };
    print(&text)?;
    Ok(Exit::Fine)
}

fn shown(settings: &config::Settings) -> Result<String, toml::ser::Error> {
    let from = match settings.file.path.as_os_str().is_empty() {
        true => "flags".to_owned(),
        false => display(&settings.file.path),
    };
    let text = config::show(settings)?;
    Ok(format!("# {from}, with defaults; paths as seen from the current folder\n{text}"))
}
