// SPDX-License-Identifier: GPL-2.0
//! rustland with a queue for each cache, in user space.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser};
use saakm_schedulers::llc::{Llc, Shared};
use saakm_schedulers::program;
use saakm_schedulers::rustland::Limits;
use saakm_user::{run, Options};

saakm_user::arena!(64 << 20);

/// Schedules the threads of policy `user`: rustland with a queue for each cache
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
    /// Say what the agents do; twice: also of each event
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

fn main() -> ExitCode {
    let command = Cli::command().mut_arg("domains", |domains| domains.default_value("llc"));
    let cli = Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|error| error.exit());
    program::verbose(cli.verbose);
    let options = Options {
        // Without knowing who sleeps there is no average of those who do not.
        tell_sleeps: true,
        ..cli.options
    };
    let limits = Limits {
        slice_ns: cli.slice_us.saturating_mul(1000),
        slice_min_ns: cli.slice_us_min.saturating_mul(1000),
        percpu_local: false,
    };
    // There are no more domains than CPUs that this machine may ever have.
    let shared = Arc::new(Shared::new(program::possible_cpus()));
    let name = concat!("rustland-llc ", env!("CARGO_PKG_VERSION"));
    program::exit(run(&options, name, move |place| {
        Llc::new(limits, &shared, place)
    }))
}
