// SPDX-License-Identifier: GPL-2.0
//! Writes the manual pages and the completions of saakmctl into a directory.

#[path = "../src/cli.rs"]
#[allow(dead_code, missing_docs)]
mod cli;

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::CommandFactory;
use clap_complete::{generate_to, Shell};

fn main() -> io::Result<()> {
    let directory = PathBuf::from(std::env::args_os().nth(1).expect("a directory"));
    fs::create_dir_all(&directory)?;
    let mut command = cli::Cli::command().disable_help_subcommand(true);
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut command, "saakmctl", &directory)?;
    }
    clap_mangen::generate_to(command, &directory)?;
    fs::read_dir(&directory)?.try_for_each(|entry| keep_lines(&entry?.path()))
}

/// Examples and tables stay as they are written.
fn keep_lines(page: &Path) -> io::Result<()> {
    if page.extension() != Some("1".as_ref()) {
        return Ok(());
    }
    let text = fs::read_to_string(page)?;
    fs::write(page, text.replace("\n.SH EXTRA\n", "\n.SH NOTES\n.nf\n"))
}
