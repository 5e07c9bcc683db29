// SPDX-License-Identifier: GPL-2.0
//! First come, first served, in user space.

use std::process::ExitCode;

use clap::Parser;
use saakm_schedulers::{fifo::Fifo, program};
use saakm_user::{run, Options};

saakm_user::arena!(8 << 20);

/// Schedules the threads of policy `user`: first come, first served
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    options: Options,
    /// How long a turn is, in microseconds; 0: as the kernel likes
    #[arg(short, long, value_name = "US", default_value_t = 5000)]
    slice_us: u64,
    /// Say what the agents do; twice: also of each event
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    program::verbose(cli.verbose);
    let slice_ns = cli.slice_us.saturating_mul(1000);
    let name = concat!("fifo ", env!("CARGO_PKG_VERSION"));
    program::exit(run(&cli.options, name, move |_| Fifo::new(slice_ns)))
}
