// SPDX-License-Identifier: GPL-2.0
//! `saakmctl eject`: take a policy's threads from it, without unloading it.

use std::io;

use nix::errno::Errno;
use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::policies::{self, Policy};
use saakm::sysfs::{self, Refused, EJECT};
use serde_json::json;

use crate::report::Report;
use crate::text;

/// Ejects the policy of this name or id.
pub fn eject(host: &Host, wanted: &str) -> Result<Report, Failure> {
    let policies = policies::read(host)?;
    let policy = lookup::lookup(&policies, wanted)?.ok_or_else(|| {
        lookup::unknown(&policies, wanted).hint("'saakmctl list' shows what can be ejected")
    })?;
    if !policy.is_live() {
        return Err(too_late(&policies, policy));
    }
    let word = lookup::kernel_word(&policies, policy)?;
    sysfs::eject(host, &word).map_err(|error| explain(host, policy, &error))?;
    Ok(Report::new(line(policy), "policies", json!([policy])))
}

/// Its threads leave one by one, some perhaps after this was printed.
fn line(policy: &Policy) -> String {
    let name = printable(&policy.name);
    match policy.threads {
        0 => format!("{name}: ejected\n"),
        1 => format!("{name}: ejected, 1 thread goes back to SCHED_OTHER\n"),
        threads => format!(
            "{name}: ejected, {} go back to SCHED_OTHER\n",
            text::count(threads, "thread")
        ),
    }
}

fn too_late(policies: &[Policy], policy: &Policy) -> Failure {
    let what = format!("cannot eject '{}'", policy.name);
    if policy.is_ejected() {
        let kind = policy.exit.as_ref().map(|exit| format!(" ({})", exit.kind));
        let why = format!("it was ejected already{}", kind.unwrap_or_default());
        Failure::new(what, why).hint(lookup::after_ejection(policies, policy))
    } else {
        Failure::new(what, "it is being removed, and its threads leave it anyway")
    }
}

fn explain(host: &Host, policy: &Policy, error: &io::Error) -> Failure {
    let name = &policy.name;
    let what = format!("cannot eject '{name}'");
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EACCES | Errno::EPERM) => {
            Failure::new(what, "ejecting a policy is not permitted").hint("run it as root")
        }
        Some(Errno::ESRCH) => explain_gone(host, policy, what),
        Some(Errno::ENOENT) if !host.path("sys/kernel").exists() => {
            Failure::new(what, "/sys is not mounted")
                .hint("mount it with: mount -t sysfs sysfs /sys")
        }
        Some(Errno::ENOENT) => Failure::new(what, format!("this kernel has no /{EJECT}")).hint(
            format!("boot a newer one, or take its threads with: saakmctl unload {name}"),
        ),
        _ => Failure::new(what, format!("/{EJECT}: {error}")),
    }
}

/// It was there a moment ago.
fn explain_gone(host: &Host, policy: &Policy, what: String) -> Failure {
    let now = policies::read(host).unwrap_or_default();
    match now.iter().find(|other| other.id == policy.id) {
        Some(other) if !other.is_live() => too_late(&now, other),
        _ => {
            let why = match sysfs::last_error(host, Refused::Ejection) {
                Some(sentence) => format!("it is gone; the kernel says: {sentence}"),
                None => "it is gone".to_owned(),
            };
            Failure::new(what, why).hint("'saakmctl list' shows what can be ejected")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    fn machine() -> FakeHost {
        let fake = FakeHost::with_ejected();
        fake.write(EJECT, "");
        fake
    }

    fn failed(errno: Errno, fake: &FakeHost) -> Failure {
        let policies = policies::read(&fake.host).unwrap();
        let policy = lookup::find(&policies, "bad").unwrap();
        explain(&fake.host, policy, &errno.into())
    }

    #[test]
    fn the_kernel_gets_the_name_whatever_the_user_gave() {
        for wanted in ["fifo", "1"] {
            let fake = machine();
            let report = eject(&fake.host, wanted).unwrap();
            let text = "fifo: ejected, 3 threads go back to SCHED_OTHER\n";
            assert_eq!(report.text, text);
            assert_eq!(report.document()["policies"][0]["id"], 1);
            assert_eq!(fake.host.read(EJECT).unwrap(), "fifo");
        }
    }

    #[test]
    fn the_kernel_gets_a_word_that_means_one_policy_only() {
        let fake = machine();
        fake.add_policy("8 1 odd 0 active 0 0 0 0");
        for (wanted, word) in [("fifo", "fifo"), ("8", "8")] {
            fake.write(EJECT, "");
            eject(&fake.host, wanted).unwrap();
            assert_eq!(fake.host.read(EJECT).unwrap(), word);
        }
        fake.write(EJECT, "");
        let failure = eject(&fake.host, "1").unwrap_err();
        assert_eq!(failure.what, "'1' may mean two policies");
        let hint = "say '8' for the one of this name, or 'fifo' for the one of this id";
        assert_eq!(failure.hint.as_deref(), Some(hint));
        assert_eq!(fake.host.read(EJECT).unwrap(), "");
    }

    #[test]
    fn speaks_of_threads_only_if_there_are_some() {
        let mut policy = policies::read(&machine().host).unwrap().remove(0);
        assert_eq!(line(&policy), "lottery: ejected\n");
        policy.threads = 1;
        let text = "lottery: ejected, 1 thread goes back to SCHED_OTHER\n";
        assert_eq!(line(&policy), text);
    }

    #[test]
    fn what_is_not_live_cannot_be_ejected() {
        let fake = machine();
        let failure = eject(&fake.host, "bad").unwrap_err();
        assert_eq!(failure.why, "it was ejected already (stall)");
        assert!(failure.hint.unwrap().contains("saakmctl unload bad"));
        let failure = eject(&fake.host, "old").unwrap_err();
        assert!(failure.why.starts_with("it is being removed"));
        let failure = eject(&fake.host, "nope").unwrap_err();
        assert_eq!(failure.what, "no policy 'nope' is loaded");
        assert!(failure.hint.unwrap().contains("can be ejected"));
        assert_eq!(fake.host.read(EJECT).unwrap(), "");
    }

    #[test]
    fn an_ejected_namesake_does_not_hide_the_live_one() {
        let fake = machine();
        fake.add_policy("8 bad bad2 0 active 2 0 0 0");
        assert!(eject(&fake.host, "bad").is_ok());
        assert_eq!(fake.host.read(EJECT).unwrap(), "bad");
        assert!(eject(&fake.host, "5").is_err());
    }

    #[test]
    fn errors_say_what_to_do() {
        for errno in [Errno::EACCES, Errno::EPERM] {
            let failure = failed(errno, &machine());
            assert_eq!(failure.hint.as_deref(), Some("run it as root"));
        }
        let fake = FakeHost::with_policies();
        let failure = eject(&fake.host, "fifo").unwrap_err();
        assert_eq!(failure.why, "/sys is not mounted");
        fake.write("sys/kernel/saakm/last_error", "\n");
        let failure = eject(&fake.host, "fifo").unwrap_err();
        assert_eq!(failure.why, "this kernel has no /sys/kernel/saakm/eject");
        assert!(failure.hint.unwrap().contains("saakmctl unload fifo"));
    }

    #[test]
    fn who_was_faster_is_named() {
        let fake = machine();
        let failure = failed(Errno::ESRCH, &fake);
        assert_eq!(failure.why, "it was ejected already (stall)");
        let bad = policies::read(&fake.host).unwrap()[3].clone();
        fake.write(
            "proc/saakm/policies",
            "id name module priority state threads new terminated switches\n",
        );
        let sentence = "eject: no policy is called bad";
        fake.write("sys/kernel/saakm/last_error", sentence);
        let failure = explain(&fake.host, &bad, &Errno::ESRCH.into());
        assert!(failure.why.ends_with(sentence), "{failure}");
    }
}
