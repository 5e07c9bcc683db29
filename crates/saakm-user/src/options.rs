// SPDX-License-Identifier: GPL-2.0
//! What the user of a scheduler may ask for, whatever it does.

#[cfg(feature = "cli")]
use saakm::host::Host;

use crate::cpus::Cpus;
#[cfg(feature = "cli")]
use crate::domains;
use crate::domains::Shape;
use crate::protocol::attach;

/// How agents are set up. A program with clap flattens it into its own options.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Options {
    /// What the CPUs of an agent share
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value = "machine"))]
    pub domains: Shape,
    /// Schedule these CPUs only, as in 0-3,8
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST", value_parser = cpus))]
    pub cpus: Option<Cpus>,
    /// Replace the scheduler that has the CPUs now
    #[cfg_attr(feature = "cli", arg(long))]
    pub take_over: bool,
    /// Have the kernel put no thread on an idle CPU by itself
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_fast_path: bool,
    /// Run as soon as there is an event, not at the end of a CPU's queue
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_burst: bool,
    /// Say what has been done, each so many seconds
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS"))]
    pub stats: Option<u32>,
    /// Have the kernel tell of threads that sleep
    #[cfg_attr(feature = "cli", arg(skip))]
    pub tell_sleeps: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            domains: Shape::Machine,
            cpus: None,
            take_over: false,
            no_fast_path: false,
            no_burst: false,
            stats: None,
            tell_sleeps: false,
        }
    }
}

impl Options {
    pub(crate) fn flags(&self) -> u32 {
        let flags = [
            (self.take_over, attach::TAKE_OVER),
            (self.tell_sleeps, attach::TELL_SLEEPS),
            (self.no_fast_path, attach::NO_FAST_PATH),
            (self.no_burst, attach::NO_BURST),
        ];
        let set = flags.iter().filter(|(wanted, _)| *wanted);
        set.map(|(_, flag)| flag).sum()
    }
}

#[cfg(feature = "cli")]
fn cpus(list: &str) -> Result<Cpus, String> {
    let there = domains::machine(&Host::from_env(), Shape::Machine);
    among(list, &there)
}

/// The CPUs that a list names, if all are there.
#[cfg(feature = "cli")]
fn among(list: &str, there: &Cpus) -> Result<Cpus, String> {
    let meant = Cpus::from_list(list)
        .ok_or_else(|| format!("a list is meant, such as 0-3,8; this machine has CPUs {there}"))?;
    let strange: Cpus = meant.iter().filter(|cpu| !there.contains(*cpu)).collect();
    match strange.is_empty() {
        true => Ok(meant),
        false => Err(format!(
            "there is no CPU {strange}; this machine has CPUs {there}"
        )),
    }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_there_are_not_are_named() {
        let there = Cpus::from_list("0-3,8").unwrap();
        assert_eq!(among("0,2-3", &there).unwrap().to_string(), "0,2-3");
        let has = "this machine has CPUs 0-3,8";
        let refused = |list| among(list, &there).unwrap_err();
        assert_eq!(refused("2-5,99"), format!("there is no CPU 4-5,99; {has}"));
        for bad in ["", "3-1", "0-", "all"] {
            assert_eq!(
                refused(bad),
                format!("a list is meant, such as 0-3,8; {has}")
            );
        }
    }
}
