//! The `kubesmith` command.

use std::process::ExitCode;

use clap::Parser;
use kubesmith::cli::{self, Cli};
use kubesmith::diag;

/// `generate` allocates many small pieces of syntax; docs/reference/figures.md compares both allocators.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run(Cli::parse()) {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            diag::print_to_stderr(&format!("error: {error}\n"));
            ExitCode::FAILURE
        }
    }
}
