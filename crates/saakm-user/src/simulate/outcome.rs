// SPDX-License-Identifier: GPL-2.0
//! What a simulated run has come to.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Times, in ns. The percentiles come from a histogram whose relative error is at most 1 %.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Distribution {
    /// How many.
    pub count: u64,
    /// All together.
    pub sum_ns: u64,
    /// The least.
    pub min_ns: u64,
    /// The greatest.
    pub max_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// 90 % are no greater.
    pub p90_ns: u64,
    /// 99 % are no greater.
    pub p99_ns: u64,
    /// 99.9 % are no greater.
    pub p999_ns: u64,
}

/// The threads of one group of the workload, together.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Group {
    /// As the workload calls it.
    pub name: String,
    /// How many there were.
    pub threads: u64,
    /// CPU time.
    pub run_ns: u64,
    /// How often one of them got a CPU.
    pub switches: u64,
    /// How often one lost it to somebody else.
    pub preemptions: u64,
    /// How often one ran on another CPU than before.
    pub migrations: u64,
    /// How often a thread came to an `iteration` of its program.
    pub iterations: u64,
    /// How long they waited for a CPU, each time.
    pub waits: Distribution,
    /// The latencies that the workload measures itself.
    pub marks: BTreeMap<String, Distribution>,
}

/// What an agent did.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Deciding {
    /// The CPUs that it decides for, as a list.
    pub cpus: String,
    /// How often it began: more than once, if it or its policy has ended.
    pub starts: u64,
    /// How often it went round.
    pub rounds: u64,
    /// What it was told.
    pub events: u64,
    /// What it has decided.
    pub decisions: u64,
    /// The CPU time that this was assumed to take.
    pub run_ns: u64,
}

/// Why the class has ejected a policy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Ejection {
    /// As in docs/reference/safety.md.
    pub kind: String,
    /// A sentence.
    pub reason: String,
    /// When.
    pub at_ns: u64,
}

/// What the kernel thought of the decisions, of the agents that there were at the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Decisions carried out.
    pub carried_out: u64,
    /// About a wait that had ended: the kernel ran the thread itself, or it was dispatched before.
    pub stale: u64,
    /// For a CPU that is not the thread's, or not of the domain.
    pub bounced: u64,
    /// About threads that were gone.
    pub gone: u64,
    /// How often a CPU ran a thread since the agent had not answered in time.
    pub no_answer: u64,
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Run {
    /// Which one it was.
    pub seed: u64,
    /// When all threads had ended, or the time was over.
    pub end_ns: u64,
    /// Switches of all CPUs.
    pub switches: u64,
    /// Wakeups of all threads.
    pub wakeups: u64,
    /// For how long CPUs had nothing to do, all together.
    pub idle_ns: u64,
    /// How long they were busy with scheduling.
    pub cost_ns: u64,
    /// Of all that happened: two runs of which it is the same were the same.
    pub hash: String,
    /// By group of the workload.
    pub groups: Vec<Group>,
    /// By agent.
    pub agents: Vec<Deciding>,
    /// What the kernel, or the workload, complains of.
    pub warnings: Vec<String>,
    /// Why the policy `user` was ejected, if it was.
    #[serde(skip)]
    pub ejected: Option<Ejection>,
    /// Whether the class or the policy misbehaved, by what the simulator says.
    #[serde(skip)]
    pub misbehaved: bool,
    /// What the kernel thought of the decisions.
    #[serde(skip)]
    pub counts: Counts,
    /// What the simulated kernel has printed; at its end the histories of CPUs and threads.
    #[serde(skip)]
    pub log: String,
    policies: Vec<Policy>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Policy {
    ejected: Option<Ejection>,
}

impl Run {
    /// The group of this name; there must be one.
    pub fn group(&self, name: &str) -> &Group {
        let found = self.groups.iter().find(|group| group.name == name);
        found.unwrap_or_else(|| {
            let names: Vec<&str> = self.groups.iter().map(|group| &*group.name).collect();
            panic!(
                "the workload has no group '{name}', but {}",
                names.join(", ")
            )
        })
    }

    /// The longest time in ms that a thread of this group waited for a CPU.
    pub fn longest_wait_ms(&self, name: &str) -> f64 {
        self.group(name).waits.max_ns as f64 / 1e6
    }

    /// Decisions that came to nothing, or to something else: about a wait that had ended, or for a
    /// CPU where the thread may not run.
    pub fn wrong_decisions(&self) -> u64 {
        self.counts.stale + self.counts.bounced
    }

    /// Of what the simulator has printed: on its standard output, and beside it.
    pub(super) fn read(line: &str, log: String, misbehaved: bool) -> serde_json::Result<Self> {
        let mut run: Run = serde_json::from_str(line)?;
        let mut ejected = run.policies.iter().filter_map(|one| one.ejected.as_ref());
        run.ejected = ejected.next().cloned();
        run.misbehaved = misbehaved;
        run.counts = Counts::of(&log);
        run.log = log;
        Ok(run)
    }
}

impl Counts {
    /// As the policy's dump has them: see user_dump_agents() in policies/user/device.c.
    fn of(dump: &str) -> Self {
        Counts {
            carried_out: sum_before(dump, " carried out,"),
            stale: sum_before(dump, " stale,"),
            bounced: sum_before(dump, " bounced,"),
            gone: sum_before(dump, " of threads that are gone;"),
            no_answer: sum_after(dump, "; no answer "),
        }
    }
}

/// Of the numbers that stand before these words.
fn sum_before(text: &str, words: &str) -> u64 {
    let parts = text.split(words).collect::<Vec<_>>();
    let before = &parts[..parts.len() - 1];
    let digits =
        |part: &&str| part.len() - part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let number = |part: &&str| {
        part[part.len() - digits(part)..]
            .parse::<u64>()
            .unwrap_or(0)
    };
    before.iter().map(number).sum()
}

/// Of the numbers that stand behind these words.
fn sum_after(text: &str, words: &str) -> u64 {
    let number = |part: &str| {
        let digits = part.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse::<u64>().unwrap_or(0)
    };
    text.split(words).skip(1).map(number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_agents_are_added() {
        let dump = "agent a on CPUs 0: 9 events, 0 unread, 0 lost, holds 0, slept 8 times; \
            decisions: 3 carried out, 2 stale, 1 bounced, 7 of threads that are gone; 0 counts\n\
            agent b on CPUs 1: 9 events; decisions: 10 carried out, 20 stale, 30 bounced, 40 of \
            threads that are gone; 0 counts\ncpu 0: ring full 0; no answer 5\n\
            cpu 1: ring full 0; no answer 60\n";
        let counts = Counts {
            carried_out: 13,
            stale: 22,
            bounced: 31,
            gone: 47,
            no_answer: 65,
        };
        assert_eq!(Counts::of(dump), counts);
        assert_eq!(Counts::of("no agent"), Counts::default());
    }
}
