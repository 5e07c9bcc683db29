// SPDX-License-Identifier: GPL-2.0
//! `saakmctl set`: give running threads to a policy.

use std::collections::BTreeSet;

use saakm::failure::Failure;
use saakm::host::Host;
use saakm::join::{self, Request};
use saakm::threads::{self, Process};
use serde_json::json;

use crate::report::Report;

/// Rounds over the threads of a process, which may start new ones for ever.
const MOST_ROUNDS: u32 = if cfg!(test) { 100 } else { 1_000 };

/// Gives each of `pids` to the policy; goes on after a failure.
pub fn set(host: &Host, request: &Request, pids: &[i32], all_tasks: bool) -> Report {
    set_with(host, pids, all_tasks, |tid| join::apply(host, tid, request))
}

fn set_with(
    host: &Host,
    pids: &[i32],
    all_tasks: bool,
    mut apply: impl FnMut(i32) -> Result<(), Failure>,
) -> Report {
    let mut changed = BTreeSet::new();
    let mut failures = Vec::new();
    for &pid in pids {
        if all_tasks {
            set_process(host, pid, &mut apply, &mut changed, &mut failures);
        } else {
            match apply(pid) {
                Ok(()) => drop(changed.insert(pid)),
                Err(failure) => failures.push(failure),
            }
        }
    }
    let mut report = Report::new(String::new(), "threads", json!(changed));
    report.failures = failures;
    report
}

/// A thread that is not changed yet may start others meanwhile: go round
/// until a round meets no new one. Changed threads hand the policy on.
fn set_process(
    host: &Host,
    pid: i32,
    apply: &mut impl FnMut(i32) -> Result<(), Failure>,
    changed: &mut BTreeSet<i32>,
    failures: &mut Vec<Failure>,
) {
    let process = match Process::open(host, pid) {
        Ok(process) => process,
        Err(failure) => return failures.push(failure),
    };
    let mut seen = BTreeSet::new();
    for _ in 0..MOST_ROUNDS {
        let tids = match process.threads() {
            Ok(tids) => tids,
            // It ended between two rounds.
            Err(_) if !seen.is_empty() => return,
            Err(failure) => return failures.push(failure),
        };
        let fresh: Vec<i32> = tids.into_iter().filter(|tid| seen.insert(*tid)).collect();
        if fresh.is_empty() {
            return;
        }
        for tid in fresh {
            match apply(tid) {
                Ok(()) => drop(changed.insert(tid)),
                // Threads come and go; the user asked for those that live.
                Err(_) if threads::is_gone(host, tid) => {}
                Err(failure) => failures.push(failure),
            }
        }
    }
    let why = "it starts threads faster than they can be changed";
    failures.push(
        Failure::new(format!("cannot change all threads of process {pid}"), why)
            .hint(format!("stop it meanwhile: kill -STOP {pid}")),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    fn process(tids: &[i32]) -> FakeHost {
        let fake = FakeHost::with_policies();
        for tid in tids {
            add_thread(&fake, *tid);
        }
        fake
    }

    /// As in the kernel, each thread has a hidden directory in /proc too.
    fn add_thread(fake: &FakeHost, tid: i32) {
        fake.write(&format!("proc/10/task/{tid}/comm"), "worker\n");
        fake.write(&format!("proc/{tid}/comm"), "worker\n");
    }

    #[test]
    fn all_tasks_catches_threads_born_meanwhile() {
        let fake = process(&[10, 11]);
        let report = set_with(&fake.host, &[10], true, |tid| {
            if tid < 14 {
                add_thread(&fake, tid + 2);
            }
            Ok(())
        });
        assert_eq!(
            report.document()["threads"],
            json!([10, 11, 12, 13, 14, 15])
        );
        assert_eq!(report.status(), 0);
    }

    #[test]
    fn who_got_the_number_of_a_process_that_ended_is_left_alone() {
        let fake = process(&[10, 11]);
        let report = set_with(&fake.host, &[10], true, |tid| {
            if tid == 11 {
                std::fs::remove_dir_all(fake.host.path("proc/10")).unwrap();
                add_thread(&fake, 12);
            }
            Ok(())
        });
        assert_eq!(report.document()["threads"], json!([10, 11]));
        assert_eq!(report.status(), 0);
    }

    #[test]
    fn who_starts_threads_for_ever_does_not_keep_us() {
        let fake = process(&[10]);
        let report = set_with(&fake.host, &[10], true, |tid| {
            add_thread(&fake, tid + 1);
            Ok(())
        });
        assert!(report.failures[0]
            .why
            .starts_with("it starts threads faster"));
        let changed = report.document()["threads"].as_array().unwrap().len();
        assert_eq!(changed, MOST_ROUNDS as usize);
    }

    #[test]
    fn a_thread_that_ends_meanwhile_is_no_failure() {
        let fake = process(&[10]);
        fake.write("proc/10/task/12/comm", "gone\n");
        let report = set_with(&fake.host, &[10], true, |tid| match tid {
            12 => Err(Failure::new("thread 12", "gone")),
            _ => Ok(()),
        });
        assert_eq!(report.status(), 0);
        assert_eq!(report.document()["threads"], json!([10]));
    }

    #[test]
    fn each_failure_is_reported_and_the_rest_goes_on() {
        let fake = process(&[10, 11]);
        let apply = |tid: i32| match tid {
            11 => Err(Failure::new("thread 11", "no")),
            _ => Ok(()),
        };
        let report = set_with(&fake.host, &[11, 10, 99], false, apply);
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.document()["threads"], json!([10, 99]));
        let report = set_with(&fake.host, &[10, 99], true, apply);
        assert_eq!(report.failures.len(), 2);
        assert_eq!(report.failures[1].why, "there is no such process");
        assert_eq!(report.status(), 1);
    }
}
