// SPDX-License-Identifier: GPL-2.0
//! saakmctl: load SaaKM scheduling policies and give them threads.

// `exec` must be as invisible as chrt: Rust's own start-up ignores SIGPIPE,
// which the command would inherit, and parses /proc/self/maps, which is slow
// under emulation. Tests need that start-up for their own main.
#![cfg_attr(not(test), no_main)]

mod attr;
mod dump;
mod eject;
mod exec;
mod exit;
mod failure;
mod find;
mod host;
mod kmsg;
mod module;
mod policy;
mod proc;
mod ps;
mod replace;
mod report;
mod set;
mod text;
mod topology;

use std::ffi::{c_char, c_int, CStr, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};

use crate::attr::Request;
use crate::host::Host;
use crate::report::Report;

const EXAMPLES: &str = "\
Examples:
  saakmctl load fifo                     load policies/fifo/fifo.ko
  saakmctl exec fifo -- make -j8         run a command under it
  saakmctl set fifo --all-tasks 1234     give it a running process
  saakmctl ps                            see its threads
  saakmctl set fair --all-tasks 1234     give the process back to the kernel's default
  saakmctl replace fifo fifo2            hand its threads to a better policy
  saakmctl unload fifo2                  its threads go back by themselves

POLICY is a name or an id from 'saakmctl list'; 'fair', 'other' and 'eevdf' mean
SCHED_OTHER. With --json each command prints one document with the fields
'warnings' and 'failures' besides its own.

Exit status: 0 all went well, 1 something failed, 2 wrong usage. For 'exec': that of
the command; 127 it was not found, 126 it could not be run, 125 saakmctl failed.";

const LOAD_EXAMPLES: &str = "\
Examples:
  saakmctl load fifo
  saakmctl load policies/fifo/fifo.ko slice_us=500

A NAME is looked up as DIR/NAME.ko and DIR/NAME/NAME.ko for each DIR of the
colon-separated $SAAKM_POLICIES, then as ./policies/NAME/NAME.ko, then in
/lib/modules/$(uname -r)/{extra,updates}/NAME.ko.";

const UNLOAD_EXAMPLES: &str = "\
Example:
  saakmctl unload fifo

Works under load: threads of the policy go back to SCHED_OTHER.";

const EJECT_EXAMPLES: &str = "\
Examples:
  saakmctl eject fifo
  saakmctl eject fifo && saakmctl dump fifo && saakmctl unload fifo

The kernel takes over from the policy at once, and its threads go back to SCHED_OTHER.
It stays loaded, and its name taken, until it is unloaded: 'saakmctl list' and
'saakmctl dump' show how it ended. The kernel itself ejects policies that are at fault.";

const REPLACE_EXAMPLES: &str = "\
Examples:
  saakmctl replace fifo fifo2
  saakmctl replace fifo build/fifo2.ko slice_us=500
  saakmctl replace --keep fifo fifo2     leave the old module loaded, without threads

The threads go from one to the other without a moment in SCHED_OTHER. If the new policy
refuses, the old one goes on. NEW is looked up as by 'load'. The policies may have the
same name, their modules may not.";

const DUMP_EXAMPLES: &str = "\
Examples:
  saakmctl dump fifo
  saakmctl dump fifo --json | jq '.history[] | select(.pid == 1234)'

For an ejected policy it shows how things were when it was ejected. Times are those of
'dmesg'. With --json it is the kernel's own object, with the history of all policies.";

const EXEC_EXAMPLES: &str = "\
Examples:
  saakmctl exec fifo -- hackbench -l 1000
  saakmctl exec lottery --param 10 --nice 5 -- stress-ng --cpu 4
  saakmctl exec fair -- make

What is left out (nice, reset-on-fork) stays as it is. Children inherit the policy.
Exit status: that of the command; 127 it was not found, 126 it could not be run,
125 saakmctl failed.";

const SET_EXAMPLES: &str = "\
Examples:
  saakmctl set fifo 1234
  saakmctl set lottery --param 10 --all-tasks 1234 1235
  saakmctl set fair 1234

What is left out (nice, param within the same policy, reset-on-fork) stays as it is.
Says nothing when all went well.";

const PS_EXAMPLES: &str = "\
Examples:
  saakmctl ps                  all threads of SaaKM
  saakmctl ps 1234             all threads of a process, whatever schedules them
  saakmctl ps --json | jq '.threads[] | select(.state == \"READY\")'";

const TOPOLOGY_EXAMPLES: &str = "\
Example:
  saakmctl topology --json | jq '.cpus[0].levels'";

/// Load SaaKM scheduling policies and give them threads
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Cli {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show the loaded policies, in the order in which they elect
    List,
    /// Load a policy and print its id
    #[command(after_help = LOAD_EXAMPLES)]
    Load {
        /// The policy's name, or its module file
        #[arg(value_name = "NAME|FILE.ko")]
        wanted: String,
        /// Parameters for the module
        #[arg(value_name = "PARAM=VALUE")]
        params: Vec<String>,
    },
    /// Unload a policy
    #[command(after_help = UNLOAD_EXAMPLES)]
    Unload {
        /// The policy's name, module or id
        #[arg(value_name = "NAME")]
        wanted: String,
    },
    /// Take a policy's threads from it, but leave it loaded
    #[command(after_help = EJECT_EXAMPLES)]
    Eject {
        /// The policy's name or id
        #[arg(value_name = "NAME")]
        wanted: String,
    },
    /// Load a policy that takes the threads of another, and unload that
    #[command(after_help = REPLACE_EXAMPLES)]
    Replace {
        /// Leave the old policy's module loaded
        #[arg(long)]
        keep: bool,
        /// The loaded policy's name or id
        #[arg(value_name = "OLD")]
        old: String,
        /// The new policy's name, or its module file
        #[arg(value_name = "NEW|FILE.ko")]
        new: String,
        /// Parameters for the new module
        #[arg(value_name = "PARAM=VALUE")]
        params: Vec<String>,
    },
    /// Run a command under a policy
    #[command(after_help = EXEC_EXAMPLES)]
    Exec {
        #[command(flatten)]
        want: Want,
        /// Start the command's children in SCHED_OTHER
        #[arg(long)]
        reset_on_fork: bool,
        /// The command and its arguments
        #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
        command: Vec<OsString>,
    },
    /// Give running threads to a policy
    #[command(after_help = SET_EXAMPLES)]
    Set {
        #[command(flatten)]
        want: Want,
        /// All threads of each process, also those it starts meanwhile
        #[arg(long, short)]
        all_tasks: bool,
        /// Threads (with --all-tasks: processes)
        #[arg(value_name = "PID", required = true, value_parser = clap::value_parser!(i32).range(1..))]
        pids: Vec<i32>,
    },
    /// Show threads with their policy, state, CPU and time in that state
    #[command(after_help = PS_EXAMPLES)]
    Ps {
        /// Processes [default: all threads of SaaKM]
        #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
        pids: Vec<i32>,
    },
    /// Show all that the kernel knows of a policy, also of an ejected one
    #[command(after_help = DUMP_EXAMPLES)]
    Dump {
        /// The policy's name or id
        #[arg(value_name = "NAME")]
        wanted: String,
    },
    /// Show the CPUs as policies see them
    #[command(after_help = TOPOLOGY_EXAMPLES)]
    Topology,
}

#[derive(Debug, Args)]
struct Want {
    /// A policy's name or id, or 'fair' for SCHED_OTHER
    #[arg(value_name = "POLICY")]
    policy: String,
    /// The nice value, -20 to 19
    #[arg(long, short, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Option<i32>,
    /// A number whose meaning the policy defines
    #[arg(long, short, value_name = "N")]
    param: Option<u32>,
}

/// Where the C library starts the program.
#[cfg_attr(not(test), no_mangle)]
#[cfg_attr(test, allow(dead_code))]
extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    let args: Vec<OsString> = (0..argc as usize)
        .map(|index| {
            // SAFETY: the C library passes `argc` strings that live for ever.
            let arg = unsafe { CStr::from_ptr(*argv.add(index)) };
            OsStr::from_bytes(arg.to_bytes()).to_owned()
        })
        .collect();
    c_int::from(start(&args))
}

/// Does what the arguments say, and returns the exit status.
fn start(args: &[OsString]) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, args),
    };
    let is_exec = matches!(cli.command, Command::Exec { .. });
    let report = run(&Host::from_env(), cli.command);
    match (cli.json, is_exec) {
        (false, _) => report.print_text(),
        (true, false) => report.print_json(io::stdout()),
        // The output of `exec` belongs to the command.
        (true, true) => report.print_json(io::stderr()),
    }
}

fn run(host: &Host, command: Command) -> Report {
    let result = match command {
        Command::List => policy::list(host),
        Command::Load { wanted, params } => module::load(host, &wanted, &params),
        Command::Unload { wanted } => module::unload(host, &wanted),
        Command::Eject { wanted } => eject::eject(host, &wanted),
        Command::Replace {
            keep,
            old,
            new,
            params,
        } => replace::replace(host, &old, &new, &params, keep),
        Command::Exec {
            want,
            reset_on_fork,
            command,
        } => want
            .request(host)
            .map_err(|failure| failure.status(exec::EXIT_OWN))
            .and_then(|mut request| {
                request.reset_on_fork = reset_on_fork;
                Err(exec::exec(host, &request, command))
            }),
        Command::Set {
            want,
            all_tasks,
            pids,
        } => want
            .request(host)
            .map(|request| set::set(host, &request, &pids, all_tasks)),
        Command::Ps { pids } => ps::ps(host, &pids),
        Command::Dump { wanted } => dump::dump(host, &wanted),
        Command::Topology => topology::topology(host),
    };
    result.unwrap_or_else(Report::failed)
}

impl Want {
    fn request(&self, host: &Host) -> Result<Request, failure::Failure> {
        Request::new(host, &self.policy, self.nice, self.param)
    }
}

/// Help and version are no failure. A wrong `exec` must not look like a
/// command that ran and exited with 2.
fn usage(error: &clap::Error, args: &[OsString]) -> u8 {
    let printed = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion if printed.is_ok() => 0,
        _ => {
            let mut words = args.iter().skip(1);
            match words.find(|arg| !arg.as_bytes().starts_with(b"-")) {
                Some(verb) if verb == "exec" => exec::EXIT_OWN,
                _ => 2,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_after_the_command_are_the_commands() {
        let words = "saakmctl exec --nice -5 fifo ls --json -n 3".split(' ');
        let cli = Cli::try_parse_from(words).unwrap();
        assert!(!cli.json);
        let Command::Exec { want, command, .. } = cli.command else {
            panic!("not exec");
        };
        assert_eq!(want.nice, Some(-5));
        assert_eq!(command, ["ls", "--json", "-n", "3"]);
    }

    #[test]
    fn wrong_words_are_refused() {
        for words in [
            "saakmctl",
            "saakmctl exec fifo",
            "saakmctl exec fifo --nce 5 -- ls",
            "saakmctl exec fifo --nice 20 -- ls",
            "saakmctl set fifo",
            "saakmctl set fifo 0",
            "saakmctl set fifo x",
            "saakmctl eject",
            "saakmctl replace fifo",
            "saakmctl dump",
        ] {
            assert!(Cli::try_parse_from(words.split(' ')).is_err(), "{words}");
        }
    }
}
