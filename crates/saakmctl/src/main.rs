// SPDX-License-Identifier: GPL-2.0
//! saakmctl: load SaaKM scheduling policies and give them threads.

// `exec` must be as invisible as chrt: Rust's own start-up ignores SIGPIPE,
// which the command would inherit, and parses /proc/self/maps, which is slow
// under emulation. Tests need that start-up for their own main.
#![cfg_attr(not(test), no_main)]

mod apply;
mod assign;
mod cli;
mod config;
mod dropin;
mod dump;
mod eject;
mod exec;
mod find;
mod generate;
mod kmsg;
mod list;
mod load;
mod modinfo;
mod module;
mod packed;
mod ps;
mod replace;
mod report;
mod set;
mod status;
mod text;
mod topology;
mod unload;

use std::ffi::{c_char, c_int, CStr, OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use clap::error::ErrorKind;
use clap::Parser;

use saakm::escape;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::join::Request;
use saakm::lookup::{self, Choice};

use crate::cli::{Cli, Command, Want};
use crate::find::Search;
use crate::report::Report;

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
    let report = match is_setuid() {
        false => run(&Host::from_env(), &Search::from_env(), cli.command),
        true if is_exec => Report::failed_with(exec::EXIT_OWN, setuid()),
        true => Report::failed(setuid()),
    };
    match (cli.json, is_exec) {
        (false, _) => report.print_text(),
        (true, false) => report.print_json(io::stdout()),
        // The output of `exec` belongs to the command.
        (true, true) => report.print_json(io::stderr()),
    }
}

fn is_setuid() -> bool {
    // SAFETY: these cannot fail and touch nothing.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}

/// `exec` would make anybody root, and `load` would put his code into the kernel.
fn setuid() -> Failure {
    Failure::new(
        "saakmctl does not run setuid or setgid",
        "whoever starts it would get all of those rights",
    )
    .hint("take them away (chmod ug-s); for threads of others: setcap cap_sys_nice+ep")
}

fn run(host: &Host, search: &Search, command: Command) -> Report {
    let result = match command {
        Command::List => list::list(host),
        Command::Load { wanted, params } => load::load(host, search, &wanted, &params),
        Command::Unload { wanted } => unload::unload(host, &wanted),
        Command::Eject { wanted } => eject::eject(host, &wanted),
        Command::Replace {
            keep,
            old,
            new,
            params,
        } => replace::replace(host, search, &old, &new, &params, keep),
        Command::Exec {
            want,
            reset_on_fork,
            command,
        } => {
            let (status, failure) = match want.request(host) {
                Ok(request) => {
                    let request = Request {
                        reset_on_fork,
                        ..request
                    };
                    exec::exec(host, &request, command)
                }
                Err(failure) => (exec::EXIT_OWN, failure),
            };
            Ok(Report::failed_with(status, failure))
        }
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
        Command::Assign { policy, cgroups } => assign::assign(host, &policy, &cgroups),
        Command::Apply { check, file } => apply::apply(host, search, &file, check),
        Command::Status => status::status(host),
        Command::Generate { directory } => generate::generate(host, &directory),
    };
    result.unwrap_or_else(Report::failed)
}

impl Want {
    fn request(&self, host: &Host) -> Result<Request, Failure> {
        let choice = lookup::choose(host, &self.policy)?;
        if choice == Choice::Fair && self.param.is_some() {
            return Err(
                Failure::new("--param is of no use", "SCHED_OTHER has no parameter")
                    .hint("leave it out, or name a policy of SaaKM"),
            );
        }
        Ok(Request {
            choice,
            wanted: self.policy.clone(),
            nice: self.nice,
            param: self.param,
            reset_on_fork: false,
        })
    }
}

/// Help and version are no failure. A wrong `exec` must not look like a
/// command that ran and exited with 2.
fn usage(error: &clap::Error, args: &[OsString]) -> u8 {
    // It repeats the arguments.
    let text = escape::harmless(&error.render().to_string());
    let printed = match error.use_stderr() {
        true => io::stderr().write_all(text.as_bytes()),
        false => io::stdout().write_all(text.as_bytes()),
    };
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
            "saakmctl assign rr",
        ] {
            assert!(Cli::try_parse_from(words.split(' ')).is_err(), "{words}");
        }
    }

    #[test]
    fn param_needs_a_policy() {
        let fake = saakm::fake::FakeHost::with_policies();
        let want = |policy: &str| Want {
            policy: policy.into(),
            nice: None,
            param: Some(1),
        };
        let failure = want("fair").request(&fake.host).unwrap_err();
        assert_eq!(failure.what, "--param is of no use");
        assert_eq!(want("fifo").request(&fake.host).unwrap().param, Some(1));
    }
}
