// SPDX-License-Identifier: GPL-2.0
//! Writes the manual page and the completions of saakmctl into a directory.

#[path = "../src/cli.rs"]
#[allow(dead_code, missing_docs)]
mod cli;

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::{generate_to, Shell};

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args_os().nth(1).expect("a directory"));
    std::fs::create_dir_all(&directory)?;
    let mut command = cli::Cli::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut command, "saakmctl", &directory)?;
    }
    clap_mangen::generate_to(command, &directory)
}
