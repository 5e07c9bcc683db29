// SPDX-License-Identifier: GPL-2.0
//! Giving a thread to a policy, and why the kernel refused it.

use std::os::unix::fs::MetadataExt;

use nix::errno::Errno;

use crate::attr::{self, SchedAttr, SCHED_FLAG_RESET_ON_FORK, SCHED_SAAKM};
use crate::ejected::Exit;
use crate::failure::Failure;
use crate::host::Host;
use crate::lookup::{self, Choice};
use crate::policies::{self, Policy};
use crate::sysfs::{self, Refused};
use crate::threads::is_gone;

/// What the user asked for; what is left out stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who schedules the thread.
    pub choice: Choice,
    /// The POLICY as the user wrote it, for messages.
    pub wanted: String,
    /// The nice value.
    pub nice: Option<i32>,
    /// The parameter whose meaning the policy defines.
    pub param: Option<u32>,
    /// Children start in SCHED_OTHER.
    pub reset_on_fork: bool,
}

/// What a thread has before it is changed.
#[derive(Debug, Clone, Copy, Default)]
struct Present {
    attr: SchedAttr,
    nice: i32,
}

/// Asks the kernel to schedule thread `tid` (0: the caller) as requested.
pub fn apply(host: &Host, tid: i32, request: &Request) -> Result<(), Failure> {
    let present = present(tid);
    present
        .and_then(|present| {
            let attr = compose(&present, request);
            attr::set(tid, &attr)
        })
        .map_err(|errno| {
            let present = present.unwrap_or_default();
            explain(host, tid, request, present.nice, errno)
        })
}

fn compose(present: &Present, request: &Request) -> SchedAttr {
    let mut attr = SchedAttr {
        // Without CAP_SYS_NICE the kernel refuses to clear this flag.
        sched_flags: present.attr.sched_flags & SCHED_FLAG_RESET_ON_FORK,
        sched_nice: request.nice.unwrap_or(present.nice),
        ..SchedAttr::new()
    };
    if request.reset_on_fork {
        attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
    }
    if let Choice::Saakm(id) = request.choice {
        let stays =
            present.attr.sched_policy == SCHED_SAAKM && present.attr.sched_saakm_policy == id;
        let kept = if stays {
            present.attr.sched_saakm_param
        } else {
            0
        };
        attr.sched_policy = SCHED_SAAKM;
        attr.sched_saakm_policy = id;
        attr.sched_saakm_param = request.param.unwrap_or(kept);
    }
    attr
}

fn present(tid: i32) -> Result<Present, Errno> {
    Ok(Present {
        attr: attr::get(tid)?,
        nice: attr::nice(tid)?,
    })
}

fn explain(host: &Host, tid: i32, request: &Request, nice: i32, errno: Errno) -> Failure {
    let wanted = &request.wanted;
    let what = match tid {
        0 => format!("cannot change to policy '{wanted}'"),
        tid => format!("cannot give thread {tid} to policy '{wanted}'"),
    };
    let saakm = matches!(request.choice, Choice::Saakm(_));
    match errno {
        Errno::ESRCH if is_gone(host, tid) => {
            Failure::new(what, "there is no such thread").hint("'ps -eLf' lists all threads")
        }
        Errno::ESRCH if saakm => explain_unknown(host, request, what),
        Errno::ESRCH => Failure::new(what, "it ended just then"),
        Errno::EAGAIN if saakm => {
            let why = "it, or its policy, was changed by somebody else just then (EAGAIN)";
            Failure::new(what, refusal(host, why)).hint("try again")
        }
        Errno::EOWNERDEAD if saakm => explain_ejected(host, tid, request, what),
        // A policy may answer with these as well. EINVAL comes from a kernel
        // whose sched_attr has grown for another reason.
        Errno::E2BIG | Errno::EINVAL if saakm && lacks_saakm(host) => Failure::no_saakm(what),
        Errno::EINVAL if saakm => {
            let why = refusal(host, "the policy refused it (EINVAL)");
            Failure::new(what, why).hint("see the policy's README for its --param and --nice")
        }
        Errno::EPERM => explain_permission(host, tid, request, nice, what),
        Errno::ENOMEM => Failure::new(what, "the kernel has no memory for the policy's data"),
        errno if saakm => {
            let why = format!("it was refused ({errno:?}: {})", errno.desc());
            Failure::new(what, refusal(host, &why))
        }
        errno => Failure::new(what, errno.desc()),
    }
}

fn lacks_saakm(host: &Host) -> bool {
    host.path("proc/self").exists() && !host.path("proc/saakm").exists()
}

/// The id was right a moment ago, or the user made it up.
fn explain_unknown(host: &Host, request: &Request, what: String) -> Failure {
    let policies = match policies::read(host) {
        Ok(policies) => policies,
        Err(failure) => return failure,
    };
    let meant = policies
        .iter()
        .find(|policy| request.choice == Choice::Saakm(policy.id));
    match meant {
        Some(policy) if !policy.is_live() => lookup::closed(&policies, policy),
        Some(_) => {
            let why = "the thread, or the policy that it was in, came to its end just then";
            Failure::new(what, format!("{why} (ESRCH)")).hint("try again")
        }
        None => lookup::unknown(&policies, &request.wanted),
    }
}

fn explain_ejected(host: &Host, tid: i32, request: &Request, what: String) -> Failure {
    let result = match tid {
        0 => "the command was not started",
        _ => "the thread keeps its old policy",
    };
    let policies = policies::read(host).unwrap_or_default();
    // The id of a replaced policy stands for its successor: it is that one.
    let is_meant = |policy: &&Policy| {
        let replaced = policy.exit.as_ref().is_some_and(Exit::is_replacement);
        request.choice == Choice::Saakm(policy.id) && policy.is_ejected() && !replaced
    };
    match policies.iter().find(is_meant) {
        Some(policy) => Failure::new(what, format!("{}; {result}", policy.why_ejected()))
            .hint(lookup::after_ejection(&policies, policy)),
        None => {
            let why = refusal(host, "the policy was ejected (EOWNERDEAD)");
            Failure::new(what, format!("{why}; {result}"))
                .hint("'saakmctl list' shows why; unload the policy's module and load a mended one")
        }
    }
}

fn explain_permission(
    host: &Host,
    tid: i32,
    request: &Request,
    nice: i32,
    what: String,
) -> Failure {
    const ROOT: &str = "run it as root, or give saakmctl the capability CAP_SYS_NICE";
    if let Some(lower) = request.nice.filter(|wanted| *wanted < nice) {
        return Failure::new(
            what,
            format!("lowering nice from {nice} to {lower} needs CAP_SYS_NICE or RLIMIT_NICE"),
        )
        .hint(format!(
            "{ROOT}, or raise the limit ('ulimit -e {}')",
            20 - lower
        ));
    }
    let owner = std::fs::metadata(host.path(format!("proc/{tid}"))).map(|data| data.uid());
    // SAFETY: geteuid cannot fail and touches nothing.
    let user = unsafe { libc::geteuid() };
    match owner {
        Ok(owner) if tid != 0 && owner != user => Failure::new(
            what,
            format!("it belongs to user {owner}, and changing it needs CAP_SYS_NICE"),
        )
        .hint(ROOT),
        _ if request.choice == Choice::Fair => Failure::new(
            what,
            "leaving the class it is in needs CAP_SYS_NICE (EPERM)",
        )
        .hint(ROOT),
        _ => Failure::new(
            what,
            refusal(host, "this policy is only for threads with CAP_SYS_NICE"),
        )
        .hint(ROOT),
    }
}

/// The kernel keeps one sentence only, perhaps of an earlier refusal.
fn refusal(host: &Host, why: &str) -> String {
    match sysfs::last_error(host, Refused::Thread) {
        Some(sentence) => format!("{why}; the kernel's last refusal: \"{sentence}\""),
        None => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    fn request(choice: Choice) -> Request {
        Request {
            choice,
            wanted: "fifo".into(),
            nice: None,
            param: None,
            reset_on_fork: false,
        }
    }

    #[test]
    fn what_is_left_out_stays() {
        let mut present = Present {
            nice: 7,
            ..Present::default()
        };
        present.attr.sched_policy = SCHED_SAAKM;
        present.attr.sched_saakm_policy = 1;
        present.attr.sched_saakm_param = 42;
        present.attr.sched_flags = SCHED_FLAG_RESET_ON_FORK | 0x60;

        let attr = compose(&present, &request(Choice::Saakm(1)));
        assert_eq!((attr.sched_nice, attr.sched_saakm_param), (7, 42));
        assert_eq!(attr.sched_flags, SCHED_FLAG_RESET_ON_FORK);
        assert_eq!(attr.size, 64);

        let other = compose(&present, &request(Choice::Saakm(2)));
        assert_eq!((other.sched_saakm_policy, other.sched_saakm_param), (2, 0));

        let fair = compose(&present, &request(Choice::Fair));
        assert_eq!((fair.sched_policy, fair.sched_saakm_policy), (0, 0));
    }

    #[test]
    fn what_is_said_is_set() {
        let mut wish = request(Choice::Saakm(3));
        wish.nice = Some(-5);
        wish.param = Some(9);
        wish.reset_on_fork = true;
        let attr = compose(&Present::default(), &wish);
        assert_eq!(attr.sched_policy, SCHED_SAAKM);
        assert_eq!((attr.sched_nice, attr.sched_saakm_param), (-5, 9));
        assert_eq!(attr.sched_flags, SCHED_FLAG_RESET_ON_FORK);
    }

    #[test]
    fn the_kernel_takes_fair_for_the_caller() {
        // A real call, which changes nothing on any kernel.
        let host = Host::from_env();
        assert_eq!(apply(&host, 0, &request(Choice::Fair)), Ok(()));
    }

    #[test]
    fn a_kernel_without_saakm_is_recognised() {
        let fake = FakeHost::bare();
        for errno in [Errno::E2BIG, Errno::EINVAL] {
            let failure = explain(&fake.host, 0, &request(Choice::Saakm(1)), 0, errno);
            assert!(failure.why.contains("no SaaKM"), "{failure}");
        }
        let host = FakeHost::with_policies().host;
        let failure = explain(&host, 0, &request(Choice::Saakm(1)), 0, Errno::E2BIG);
        assert!(!failure.why.contains("no SaaKM"), "{failure}");
    }

    #[test]
    fn no_such_thread_and_no_such_policy_differ() {
        let fake = FakeHost::with_policies();
        let mut wish = request(Choice::Saakm(9));
        wish.wanted = "9".into();
        let failure = explain(&fake.host, 77, &wish, 0, Errno::ESRCH);
        assert_eq!(failure.why, "there is no such thread");
        fake.write("proc/77/comm", "x\n");
        let failure = explain(&fake.host, 77, &wish, 0, Errno::ESRCH);
        assert!(failure.why.starts_with("loaded are: lottery"), "{failure}");
        let failure = explain(&fake.host, 0, &request(Choice::Saakm(4)), 0, Errno::ESRCH);
        assert_eq!(failure.what, "policy 'old' takes no threads");
        let failure = explain(&fake.host, 77, &request(Choice::Saakm(1)), 0, Errno::ESRCH);
        assert!(
            failure.why.contains("came to its end just then"),
            "{failure}"
        );
        let failure = explain(&fake.host, 77, &request(Choice::Fair), 0, Errno::ESRCH);
        assert_eq!(failure.why, "it ended just then");
    }

    #[test]
    fn what_may_work_the_next_time_is_to_be_tried_again() {
        let host = FakeHost::with_policies().host;
        let failure = explain(&host, 0, &request(Choice::Saakm(1)), 0, Errno::EAGAIN);
        assert!(failure.why.contains("somebody else just then"), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some("try again"));
    }

    #[test]
    fn an_ejected_policy_leaves_the_thread_where_it_was() {
        let fake = FakeHost::with_ejected();
        let explain = |tid, id| {
            let wish = request(Choice::Saakm(id));
            explain(&fake.host, tid, &wish, 0, Errno::EOWNERDEAD)
        };
        let failure = explain(7, 5);
        assert!(failure.why.starts_with("it was ejected (stall): "));
        assert!(failure.why.ends_with("the thread keeps its old policy"));
        assert!(failure.hint.unwrap().contains("saakmctl unload bad"));
        assert!(explain(0, 5).why.ends_with("the command was not started"));

        let sentence = "sched_setattr: policy next was ejected (sleep): tick slept";
        fake.write("sys/kernel/saakm/last_error", sentence);
        fake.add_policy("8 first first 0 ejected 0 0 0 0");
        let mut ends = fake.host.read("proc/saakm/ejected").unwrap();
        ends.push_str("8 first 2 replaced 30.0 none 0 - by next (id 9)\n");
        fake.write("proc/saakm/ejected", &ends);
        let failure = explain(7, 8);
        assert!(failure.why.contains("policy next was ejected (sleep)"));
        assert!(failure.hint.unwrap().contains("saakmctl list"));
    }

    #[test]
    fn a_refusal_quotes_the_kernel() {
        let fake = FakeHost::with_policies();
        fake.write("sys/kernel/saakm/last_error", "lottery: 0 tickets\n");
        let failure = explain(&fake.host, 0, &request(Choice::Saakm(2)), 0, Errno::EINVAL);
        assert!(failure.why.contains("lottery: 0 tickets"), "{failure}");
    }

    #[test]
    fn permission_says_which() {
        let fake = FakeHost::with_policies();
        let mut wish = request(Choice::Saakm(1));
        let failure = explain(&fake.host, 0, &wish, 0, Errno::EPERM);
        assert!(failure.why.contains("only for threads with CAP_SYS_NICE"));
        wish.nice = Some(-5);
        let failure = explain(&fake.host, 0, &wish, 3, Errno::EPERM);
        assert!(failure.why.contains("from 3 to -5"), "{failure}");
        assert!(failure.hint.unwrap().contains("ulimit -e 25"));
        let failure = explain(&fake.host, 0, &request(Choice::Fair), 0, Errno::EPERM);
        assert!(failure.why.contains("leaving the class"), "{failure}");
    }
}
