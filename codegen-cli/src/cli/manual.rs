//! `kubesmith completions` and `kubesmith man`

use std::io;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Exit, print};
use crate::diag;

/// The name of the program in its output.
const NAME: &str = "kubesmith";

pub(super) fn completions(shell: Shell) -> io::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

pub(super) fn man(folder: Option<&Path>) -> io::Result<Exit> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        print(&String::from_utf8_lossy(&page))?;
        return Ok(Exit::Fine);
    };
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder));
    match written {
        Ok(()) => Ok(Exit::Fine),
        Err(error) => {
            let folder = folder.display();
            diag::print_to_stderr(&format!(
                "error: cannot write the manual pages to {folder}: {error}\n  = help: choose a folder that you may write to\n"
            ));
            Ok(Exit::Failed)
        }
    }
}
