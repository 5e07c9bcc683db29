// SPDX-License-Identifier: GPL-2.0
//! `saakmctl ps`: which threads SaaKM schedules, and how they are.

use saakm::failure::Failure;
use saakm::host::Host;
use saakm::policies;
use saakm::threads::{self, Process, Thread, Unread};
use serde_json::json;

use crate::report::Report;
use crate::text::{self, Align};

/// Shows all threads of SaaKM, or all threads of the given processes.
pub fn ps(host: &Host, pids: &[i32]) -> Result<Report, Failure> {
    // Without SaaKM no thread has the file, and all would seem to have ended.
    let policies = policies::read(host)?;
    let mut seen = Seen::default();
    if pids.is_empty() {
        for process in threads::processes(host)? {
            seen.add_found(host, process);
        }
    } else {
        for &pid in pids {
            match Process::open(host, pid) {
                Ok(process) => seen.add_process(host, &process, true),
                Err(failure) => seen.failures.push(failure),
            }
        }
    }
    let mut threads = seen.threads;
    // In the order of the kernel's list; what is not SaaKM's comes last.
    let rank = |thread: &Thread| {
        let place = policies
            .iter()
            .position(|policy| policy.id == thread.policy);
        (place.unwrap_or(usize::MAX), thread.pid, thread.tid)
    };
    threads.sort_by_key(rank);
    threads.dedup_by_key(|thread| thread.tid);
    let mut report = Report::new(render(&threads), "threads", json!(threads));
    report.failures = seen.failures;
    report.warnings = seen.unreadable.warning().into_iter().collect();
    Ok(report)
}

#[derive(Default)]
struct Seen {
    threads: Vec<Thread>,
    failures: Vec<Failure>,
    unreadable: Unreadable,
}

impl Seen {
    fn add_found(&mut self, host: &Host, process: Result<Process, Unread>) {
        match process {
            Ok(process) => self.add_process(host, &process, false),
            Err(unread) => self.add(Err(unread)),
        }
    }

    /// `asked`: the user named this process and wants to know in any case.
    fn add_process(&mut self, host: &Host, process: &Process, asked: bool) {
        let tasks = match process.tasks() {
            Ok(tasks) => tasks,
            Err(failure) if asked => return self.failures.push(failure),
            Err(_) if threads::is_gone(host, process.pid()) => return,
            Err(failure) => return self.unreadable.add(failure.why),
        };
        for task in tasks {
            self.add(task.and_then(|task| match threads::saakm_thread(&task) {
                Ok(None) if asked => threads::other_thread(&task).map(Some),
                answer => answer,
            }));
        }
    }

    fn add(&mut self, thread: Result<Option<Thread>, Unread>) {
        match thread {
            Ok(thread) => self.threads.extend(thread),
            Err(Unread::Gone) => {}
            Err(Unread::Failed(why)) => self.unreadable.add(why),
        }
    }
}

/// One warning for all of them: a /proc with `hidepid` hides hundreds.
#[derive(Default)]
struct Unreadable {
    count: u64,
    first: Option<String>,
}

impl Unreadable {
    fn add(&mut self, why: String) {
        self.count += 1;
        self.first.get_or_insert(why);
    }

    fn warning(self) -> Option<String> {
        let why = self.first?;
        let many = text::count(self.count, "thread");
        Some(format!("could not read {many}: {why}"))
    }
}

fn render(threads: &[Thread]) -> String {
    if threads.is_empty() {
        return "no thread is scheduled by SaaKM; start one with: saakmctl exec POLICY -- CMD\n"
            .to_owned();
    }
    let columns = [
        ("POLICY", Align::Left),
        ("PID", Align::Right),
        ("TID", Align::Right),
        ("STATE", Align::Left),
        ("CPU", Align::Right),
        ("SINCE", Align::Right),
        ("PARAM", Align::Right),
        ("COMMAND", Align::Left),
    ];
    let dash = || "-".to_owned();
    let rows: Vec<Vec<String>> = threads
        .iter()
        .map(|thread| {
            vec![
                thread.name.clone(),
                thread.pid.to_string(),
                thread.tid.to_string(),
                thread.state.clone().unwrap_or_else(dash),
                thread.cpu.map_or_else(dash, |cpu| cpu.to_string()),
                thread.since_ns.map_or_else(dash, text::duration),
                thread.param.map_or_else(dash, |param| param.to_string()),
                thread.command.clone(),
            ]
        })
        .collect();
    text::table(&columns, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    fn machine() -> FakeHost {
        let fake = FakeHost::with_policies();
        let threads = [
            (20, 20, 1, "fifo", "RUNNING", 1_500_000u64),
            (20, 21, 1, "fifo", "READY", 12),
            (9, 9, 2, "lottery", "BLOCKED", 61_000_000_000),
        ];
        for (pid, tid, policy, name, state, since) in threads {
            let dir = format!("proc/{pid}/task/{tid}");
            let text = format!(
                "policy {policy}\nname {name}\nstate {state}\ncpu 1\nsince_ns {since}\nparam 0\n"
            );
            fake.write(&format!("{dir}/saakm"), &text);
            fake.write(&format!("{dir}/comm"), "job\u{1b}[2J\n");
        }
        fake.write("proc/30/task/30/saakm", "policy 0\n");
        let middle = vec!["0"; 35].join(" ");
        let stat = format!("30 (init) S {middle} 1 0 0 0\n");
        fake.write("proc/30/task/30/stat", &stat);
        // Ended between the listing and the reading.
        std::fs::create_dir_all(fake.host.path("proc/40/task/40")).unwrap();
        fake
    }

    #[test]
    fn shows_threads_by_policy_and_skips_the_vanished() {
        let fake = machine();
        let report = ps(&fake.host, &[]).unwrap();
        let expected = "\
POLICY   PID  TID  STATE    CPU      SINCE  PARAM  COMMAND
lottery    9    9  BLOCKED    1  1 min 1 s      0  job\\x1b[2J
fifo      20   20  RUNNING    1     1.5 ms      0  job\\x1b[2J
fifo      20   21  READY      1      12 ns      0  job\\x1b[2J
";
        assert_eq!(report.text, expected);
        assert!(report.warnings.is_empty() && report.failures.is_empty());
    }

    #[test]
    fn a_named_process_is_shown_whatever_schedules_it() {
        let fake = machine();
        let report = ps(&fake.host, &[30, 20, 20]).unwrap();
        let threads = &report.document()["threads"];
        assert_eq!(threads.as_array().unwrap().len(), 3);
        assert_eq!(threads[2]["name"], "SCHED_OTHER");
        assert_eq!(threads[2]["policy"], 0);
        assert!(threads[2]["state"].is_null());
    }

    #[test]
    fn a_named_process_that_is_not_there_is_a_failure() {
        let report = ps(&machine().host, &[20, 77]).unwrap();
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.status(), 1);
        assert!(report.text.contains("fifo"));
    }

    #[test]
    fn unreadable_threads_become_one_warning() {
        let fake = machine();
        fake.write("proc/50/task/50/saakm", "garbage\n");
        fake.write("proc/51/task/51/saakm", "garbage\n");
        let report = ps(&fake.host, &[]).unwrap();
        assert_eq!(report.warnings.len(), 1);
        assert!(report.warnings[0].starts_with("could not read 2 threads"));
    }

    #[test]
    fn nothing_to_show() {
        let report = ps(&FakeHost::with_policies().host, &[]).unwrap();
        assert!(report.text.starts_with("no thread is scheduled by SaaKM"));
        assert!(ps(&FakeHost::bare().host, &[]).is_err());
    }
}
