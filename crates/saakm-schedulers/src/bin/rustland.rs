// SPDX-License-Identifier: GPL-2.0
//! The rules of scx_rustland, in user space.

use std::process::ExitCode;

use clap::Parser;
use saakm_schedulers::program;
use saakm_schedulers::rustland::{Limits, Rustland};
use saakm_user::{run, Options};

saakm_user::arena!(32 << 20);

/// Schedules the threads of policy `user` by the rules of scx_rustland
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    options: Options,
    /// How far a thread's clock may be behind, in microseconds
    #[arg(short, long, value_name = "US", default_value_t = 20_000)]
    slice_us: u64,
    /// How long a turn is at nice 0, in microseconds; it ends with the first tick after that
    #[arg(short = 'S', long, value_name = "US", default_value_t = 1000)]
    slice_us_min: u64,
    /// Leave threads on the CPU where they are
    #[arg(short = 'l', long)]
    percpu_local: bool,
    /// Say what the agents do; twice: also of each event
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    program::verbose(cli.verbose);
    let limits = Limits {
        slice_ns: cli.slice_us.saturating_mul(1000),
        slice_min_ns: cli.slice_us_min.saturating_mul(1000),
        percpu_local: cli.percpu_local,
    };
    let name = concat!("rustland ", env!("CARGO_PKG_VERSION"));
    program::exit(run(&cli.options, name, move |_| Rustland::new(limits)))
}
