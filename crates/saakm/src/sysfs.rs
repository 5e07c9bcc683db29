// SPDX-License-Identifier: GPL-2.0
//! What the class tells and takes below /sys/kernel/saakm, and parameters of modules.

use std::io;

use serde::Serialize;

use crate::host::Host;
use crate::keys::keys;

/// Where the name or id of a policy ejects it.
pub const EJECT: &str = "sys/kernel/saakm/eject";
/// How the last replacement of a policy went.
pub const LAST_REPLACEMENT: &str = "sys/kernel/saakm/last_replacement";
const LAST_ERROR: &str = "sys/kernel/saakm/last_error";

/// What the kernel would not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// A policy that was to be loaded.
    Policy,
    /// A thread that was to join.
    Thread,
    /// The wish to eject a policy.
    Ejection,
    /// A policy for a cgroup.
    Cgroup,
}

/// How the kernel's sentences begin.
const BEGINNINGS: [(Refused, &str); 5] = [
    (Refused::Policy, "load "),
    (Refused::Policy, "load:"),
    (Refused::Thread, "sched_setattr:"),
    (Refused::Ejection, "eject:"),
    (Refused::Cgroup, "cgroup:"),
];

/// The kernel's sentence about its last refusal, if that was one of this
/// kind: it keeps a single sentence for policies and threads alike.
pub fn last_error(host: &Host, kind: Refused) -> Option<String> {
    let text = host.read(LAST_ERROR).ok()?;
    let text = text.trim();
    let of_another_kind = BEGINNINGS
        .iter()
        .any(|(other, beginning)| *other != kind && text.starts_with(beginning));
    (!text.is_empty() && !of_another_kind).then(|| text.to_owned())
}

/// Takes a policy's threads from it; the word is one of [`crate::lookup::kernel_word`].
pub fn eject(host: &Host, word: &str) -> io::Result<()> {
    host.write(EJECT, word)
}

/// How a replacement went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// Threads that were taken over.
    pub threads: u64,
    /// The longest time that one of them could not run.
    pub longest_pause_ns: u64,
    /// From the first to the last of them.
    pub total_ns: u64,
}

/// How `to` replaced `from`; `None` on an older kernel, or when another replacement came
/// after this one.
pub fn replacement(host: &Host, from: &str, to: &str) -> Option<Replacement> {
    let text = host.read(LAST_REPLACEMENT).ok()?;
    let keys = keys(&text);
    if keys.get("from") != Some(&from) || keys.get("to") != Some(&to) {
        return None;
    }
    Some(Replacement {
        threads: keys.get("threads")?.parse().ok()?,
        longest_pause_ns: keys.get("longest_pause_ns")?.parse().ok()?,
        total_ns: keys.get("total_ns")?.parse().ok()?,
    })
}

/// The present value of a parameter of a module; `None` if it has none, or hides it.
pub fn parameter(host: &Host, module: &str, name: &str) -> Option<String> {
    let file = format!("sys/module/{module}/parameters/{name}");
    Some(host.read(file).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    #[test]
    fn last_error_is_trimmed_and_may_be_missing() {
        let fake = FakeHost::bare();
        assert_eq!(last_error(&fake.host, Refused::Policy), None);
        fake.write(LAST_ERROR, "\n");
        assert_eq!(last_error(&fake.host, Refused::Policy), None);
        let sentence = "load fifo: schedule is missing, for queue is SAAKM_RQ_NONE";
        fake.write(LAST_ERROR, format!("{sentence}\n"));
        let found = last_error(&fake.host, Refused::Policy);
        assert_eq!(found.as_deref(), Some(sentence));
    }

    #[test]
    fn a_refused_policy_does_not_explain_a_refused_thread() {
        let fake = FakeHost::bare();
        let kinds = [
            Refused::Policy,
            Refused::Thread,
            Refused::Ejection,
            Refused::Cgroup,
        ];
        let about = |sentence| {
            fake.write(LAST_ERROR, sentence);
            kinds.map(|kind| last_error(&fake.host, kind).is_some())
        };
        let policy = [true, false, false, false];
        assert_eq!(about("load fifo: 64 policies are loaded"), policy);
        assert_eq!(about("load: a name has no blanks"), policy);
        let thread = [false, true, false, false];
        assert_eq!(about("sched_setattr: no policy has the id 9"), thread);
        let ejection = [false, false, true, false];
        assert_eq!(about("eject: no policy is called x"), ejection);
        let cgroup = [false, false, false, true];
        assert_eq!(about("cgroup: no policy is called x"), cgroup);
    }
}
