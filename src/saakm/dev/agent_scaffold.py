# SPDX-License-Identifier: GPL-2.0
"""A new scheduler in user space, in Rust: a project of cargo's that uses crates/saakm-user."""

import re
from pathlib import Path

from ..base import paths
from ..builder.agents import MANIFEST, OURS, POLICY
from ..builder.names import LONGEST

MAIN = "src/main.rs"
_CRATE = paths.CRATES / "saakm-user"
# Of Rust, of cargo's directories, and of crates that every program has.
_TAKEN = """abstract alloc as async await become box break build const continue core crate deps do dyn else
enum examples extern false final fn for gen if impl in incremental let loop macro match mod move mut
override priv proc_macro pub ref return self static std struct super test trait true try type typeof
union unsafe unsized use virtual where while yield"""

_MANIFEST = """\
[package]
name = "{name}"
version = "0.1.0"
edition = "2021"
license = "GPL-2.0-only"

[dependencies]
clap = {{ version = "4.5", default-features = false, features = ["std", "derive", "help", "usage"] }}
saakm-user = {{ path = "{crate}" }}

[dev-dependencies]
saakm-user = {{ path = "{crate}", features = ["simulate"] }}

[profile.release]
panic = "abort"
# Together 1 % fewer instructions a decision, and each build takes nine times as long:
# lto = true
# codegen-units = 1

# A workspace of its own, wherever it lies.
[workspace]
"""
_MAIN = """\
// SPDX-License-Identifier: GPL-2.0
//! {name}: say here who runs, where, and for how long.
//!
//! As it stands: whoever has asked first, on the first CPU that is free, for 5 ms.

use clap::Parser;
use saakm_user::{{run, Event, Options, Out, Scheduler, Task, Turn}};

// The heap is memory of the program: while threads wait, no page of it may be missing.
#[cfg(not(test))]
saakm_user::arena!(8 << 20);

/// The options of the program, beside those that all schedulers have: --help shows both.
#[derive(Parser)]
#[command(version)]
struct Cli {{
    #[command(flatten)]
    options: Options,
    /// How long a turn is, in microseconds
    #[arg(long, value_name = "US", default_value_t = 5000)]
    slice_us: u64,
}}

/// What must be remembered from one event to the next?
struct {title} {{
    slice_ns: u64,
    arrivals: u64,
}}

impl Scheduler for {title} {{
    /// A thread wants a CPU: it starts, woke up, has yielded, or its turn is over. It waits until
    /// its task is dispatched, here at once. Who wants to see more threads before choosing keeps
    /// tasks in a queue (saakm_user::queues), and answers `held` and `pick`.
    fn ready(&mut self, task: Task, _event: &Event, out: &mut Out) {{
        self.arrivals += 1;
        // Who goes first? The least key. `_event.used_ns`, what it ran since it last asked, would
        // let short bursts go first; then bound how long others wait, as by adding `self.arrivals`.
        let key = self.arrivals;
        // For how long, if others wait? `_event.weight` is 1024 at nice 0. A slice shorter than a
        // tick takes a timer, unless it `.ends_with_tick()`.
        let slice_ns = self.slice_ns;
        // Where? `Turn::on(_event.at())`: where it was; `out.take_idle()` finds an idle CPU, and
        // `.preempt()` takes the CPU from whoever has it.
        let turn = Turn::anywhere().key(key).slice_ns(slice_ns);
        out.dispatch(task, turn);
    }}

    /// A thread has died, or left: is anything to be forgotten?
    fn left(&mut self, _event: &Event) {{}}
}}

fn main() {{
    let cli = Cli::parse();
    let slice_ns = cli.slice_us * 1000;
    let version = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));
    let make = move |_place: &_| {title} {{
        slice_ns,
        arrivals: 0,
    }};
    if let Err(failure) = run(&cli.options, version, make) {{
        eprintln!("{{failure}}");
        std::process::exit(1);
    }}
}}

#[cfg(test)]
mod tests {{
    use super::*;

    /// `cargo test` runs it without a kernel, in a simulated machine in which the class and the
    /// policy are as they are; the first run builds it. More to set: saakm_user::simulate.
    #[test]
    fn nobody_waits_long() {{
        for seed in 1..=10 {{
            let make = |_: &_| {title} {{
                slice_ns: 5_000_000,
                arrivals: 0,
            }};
            let simulation = saakm_user::simulate(make).cpus(2).seed(seed);
            let run = simulation.workload("hackbench:groups=1,loops=20").run();
            let run = run.unwrap_or_else(|failure| panic!("{{failure}}"));
            // Not a rule broken, no decision in vain, and nobody whom the kernel had to save.
            assert_eq!(run.ejected, None, "seed {{seed}}");
            assert_eq!(run.wrong_decisions(), 0, "seed {{seed}}: {{run:?}}");
            assert_eq!(run.counts.no_answer, 0, "forgotten, seed {{seed}}: {{run:?}}");
            assert!(run.longest_wait_ms("receivers") < 100.0, "{{run:?}}");
        }}
    }}
}}
"""
_README = """\
# {name}

A scheduler in user space for SaaKM's policy `{policy}`. Say in three lines who runs, where, and for how long.

    saakm run {policy} --agent {directory} -- hackbench       # builds it, and runs something under it
    saakm dev {policy} --agent {directory}                    # each save takes over, live
    cargo test                                                # in a simulated machine, without a kernel

On a machine that runs the kernel:

    cargo guest                             # builds target/x86_64-unknown-linux-gnu/release/{name}
    saakmctl load {policy}
    target/x86_64-unknown-linux-gnu/release/{name} &
    saakmctl exec {policy} -- COMMAND

`--take-over` replaces the scheduler that runs, `--help` shows the other options. If the program ends,
the kernel goes on as a FIFO, and ejects the policy after 10 s.
"""


def fault_in_name(name: str) -> str | None:
    """Why no agent can be called so."""
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        return "a name has lower case letters, digits, _ and -, and starts with a letter"
    if len(name) > LONGEST:
        return f"it has {len(name)} characters; the kernel takes {LONGEST}"
    if name in OURS:
        return "an agent of ours is called so"
    if name.replace("-", "_") in _TAKEN.split():
        return "it is a word of Rust, or of cargo"
    if name.startswith("saakm"):
        return "SaaKM's own crates are called so"
    return None


def agent_files(name: str, directory: Path) -> dict[str, str]:
    """The files of a new agent by name; `directory`: where they will be."""
    title = "".join(part.capitalize() for part in re.split("[-_]", name))
    return {
        MANIFEST: _MANIFEST.format(name=name, crate=_CRATE),
        MAIN: _MAIN.format(name=name, title=title),
        "README.md": _README.format(name=name, policy=POLICY, directory=directory),
        ".cargo/config.toml": (paths.CRATES / ".cargo" / "config.toml").read_text().replace(
            '"--locked", ', ""
        ),
        "Cargo.lock": (paths.CRATES / "Cargo.lock").read_text(),
        ".gitignore": "/target/\n",
    }  # fmt: skip
