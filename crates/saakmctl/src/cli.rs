// SPDX-License-Identifier: GPL-2.0
//! The command line. examples/docs.rs makes the manual page and the completions of it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  saakmctl load fifo                     load an installed policy; or: load ./fifo.ko
  saakmctl exec fifo -- make -j8         run a command under it
  saakmctl set fifo --all-tasks 1234     give it a running process
  saakmctl ps                            see its threads
  saakmctl set fair --all-tasks 1234     give the process back to the kernel's default
  saakmctl replace fifo fifo2            hand its threads to a better policy
  saakmctl unload fifo2                  its threads go back by themselves

POLICY is a name or an id from 'saakmctl list'; a word that means two policies is
refused. 'fair' and 'other' mean SCHED_OTHER. With --json each command prints one
document with the fields 'warnings' and 'failures' besides its own.

Exit status: 0 all went well, 1 something failed, 2 wrong usage. For 'exec': that of
the command; 127 it was not found, 126 it could not be run, 125 saakmctl failed.";

const LOAD_EXAMPLES: &str = "\
Examples:
  saakmctl load fifo
  saakmctl load policies/fifo/fifo.ko slice_us=500

What has a '/' or ends in '.ko' is a file, and is taken as given. A bare NAME is looked
up as DIR/NAME.ko and DIR/NAME/NAME.ko for each DIR of the colon-separated, absolute
$SAAKM_POLICIES, then as /lib/modules/$(uname -r)/{extra,updates,updates/dkms}/NAME.ko;
never in the current directory, and not where anybody may write.";

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

const ASSIGN_EXAMPLES: &str = "\
Examples:
  saakmctl assign rr nginx.service
  saakmctl assign fifo batch.slice /sys/fs/cgroup/jobs
  saakmctl assign none nginx.service

'.' is the cgroup that saakmctl itself is in, '..' the one above. Takes effect at once
and lasts as long as the cgroup: a service has a new one after a restart. What shall
last longer belongs into /etc/saakm.toml, see 'saakmctl apply --help'. Threads that
chose a policy by themselves, and those of a real-time class, are left alone.";

const APPLY_EXAMPLES: &str = "\
Examples:
  saakmctl apply                         do what /etc/saakm.toml says; so does every boot
  saakmctl apply --check new.toml        only look for mistakes

The file:
  [[policy]]
  name = \"rr\"                            # installed; or elsewhere: file = \"/x/rr.ko\"
  params = { slice_us = 3000 }           # parameters of its module

  [[assign]]
  unit = \"nginx.service\"                 # a service or slice of systemd's; or:
  # user = \"alice\"                       # all that she starts; a name or number
  # cgroup = \"/jobs\"                     # below /sys/fs/cgroup; made if there is none
  policy = \"rr\"                          # one of the above, or \"none\"

A name has 1 to 31 printable ASCII characters, no blanks, quotes, / or \\; it is no number
and none of 'none', 'all', 'fair', 'other'. A file has an absolute path.
A mistake anywhere, and nothing is done. Policies that are loaded already stay as they
are; what is not in the file stays as it is. Units that start later and users who log
in later are assigned then, by /etc/saakm.toml only.";

const STATUS_EXAMPLES: &str = "\
Examples:
  saakmctl status
  saakmctl status --json | jq '.assignments[] | select(.policy == \"rr\")'";

/// Load SaaKM scheduling policies and give them threads
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub struct Cli {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Command,
}

/// What saakmctl can do.
#[derive(Debug, Subcommand)]
pub enum Command {
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
    /// Give cgroups to a policy: their threads, and those that come
    #[command(after_help = ASSIGN_EXAMPLES)]
    Assign {
        /// A policy's name or id, or 'none' for that of the cgroup above
        #[arg(value_name = "POLICY")]
        policy: String,
        /// Directories below /sys/fs/cgroup, or units of systemd that run
        #[arg(value_name = "CGROUP|UNIT", required = true)]
        cgroups: Vec<String>,
    },
    /// Load the policies of a file and assign units, users and cgroups to them
    #[command(after_help = APPLY_EXAMPLES)]
    Apply {
        /// Only say whether the file is good
        #[arg(long)]
        check: bool,
        /// What shall be so
        #[arg(value_name = "FILE", default_value = "/etc/saakm.toml")]
        file: PathBuf,
    },
    /// Show the policies, the cgroups that have one, and how policies ended
    #[command(after_help = STATUS_EXAMPLES)]
    Status,
    /// Write drop-ins for systemd, which starts this as a generator
    #[command(hide = true)]
    Generate {
        /// Where
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// How threads shall be scheduled.
#[derive(Debug, Args)]
pub struct Want {
    /// A policy's name or id, or 'fair' for SCHED_OTHER
    #[arg(value_name = "POLICY")]
    pub policy: String,
    /// The nice value, -20 to 19
    #[arg(long, short, value_name = "N", allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(-20..=19))]
    pub nice: Option<i32>,
    /// A number whose meaning the policy defines
    #[arg(long, short, value_name = "N")]
    pub param: Option<u32>,
}
