// SPDX-License-Identifier: GPL-2.0
//! What the programs have in common.

use std::process::ExitCode;

use saakm_user::cpus::Cpus;
use saakm_user::Failure;

/// The exit status that says how it went; the user reads why.
pub fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

/// How many CPUs the machine may ever have, or a number that is certainly greater.
pub fn possible_cpus() -> usize {
    const MANY: usize = 4096;
    if cfg!(saakm_sim) {
        return MANY; // whatever the host has
    }
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = Cpus::from_list(&text).and_then(|cpus| cpus.iter().last());
    last.map_or(MANY, |last| last as usize + 1)
}

/// Shows what the agents note, each event as well if asked `twice`.
pub fn verbose(times: u8) {
    use tracing_subscriber::filter::LevelFilter;
    let level = match times {
        0 => return,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .without_time()
        .init();
}
