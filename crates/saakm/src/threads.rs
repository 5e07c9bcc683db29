// SPDX-License-Identifier: GPL-2.0
//! Threads as /proc shows them.
//!
//! The crate `procfs` has no files of SaaKM's, so that it would serve to list directories and
//! to read three fields of `stat`: for that it adds 50 kB to a program, and its errors lose the
//! words of the kernel's error that a [`Failure`] has.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::str::FromStr;

use serde::Serialize;

use crate::failure::Failure;
use crate::host::Host;
use crate::keys::keys;

/// A thread and who schedules it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// The policy's id; 0 when SaaKM does not schedule this thread.
    pub policy: u32,
    /// The policy's name, or that of another class, such as SCHED_OTHER.
    pub name: String,
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// The state in SaaKM's state machine.
    pub state: Option<String>,
    /// Where it runs, or ran last.
    pub cpu: Option<u32>,
    /// How long it has been in this state.
    pub since_ns: Option<u64>,
    /// The parameter it gave its policy.
    pub param: Option<u32>,
    /// The thread's own name.
    pub command: String,
}

/// Why a thread could not be read.
#[derive(Debug)]
pub enum Unread {
    /// It ended meanwhile.
    Gone,
    /// Anything else.
    Failed(String),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        // A thread that ends after the open answers ESRCH to the read.
        let gone = error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH);
        if gone {
            Unread::Gone
        } else {
            Unread::Failed(error.to_string())
        }
    }
}

/// All processes, in ascending order.
pub fn processes(host: &Host) -> Result<Vec<i32>, Failure> {
    numbers_in(host, "proc")
        .map_err(|error| Failure::new("cannot list the processes", format!("/proc: {error}")))
}

/// The threads of a process, in ascending order.
pub fn threads_of(host: &Host, pid: i32) -> Result<Vec<i32>, Failure> {
    numbers_in(host, &format!("proc/{pid}/task")).map_err(|error| no_threads(pid, error))
}

/// True when the thread is no more. A thread that was never there looks alike.
pub fn is_gone(host: &Host, tid: i32) -> bool {
    tid != 0 && !host.path(format!("proc/{tid}")).exists()
}

/// A process that was there once. Its directory in /proc stays its own when it has
/// ended and another one has got its number.
pub struct Process {
    pid: i32,
    dir: File,
}

impl Process {
    /// Takes hold of it.
    pub fn open(host: &Host, pid: i32) -> Result<Self, Failure> {
        let dir = File::open(host.path(format!("proc/{pid}")));
        let dir = dir.map_err(|error| no_threads(pid, error))?;
        Ok(Process { pid, dir })
    }

    /// Its threads, in ascending order.
    pub fn threads(&self, host: &Host) -> Result<Vec<i32>, Failure> {
        let task = format!("/proc/self/fd/{}/task", self.dir.as_raw_fd());
        numbers_in(host, &task).map_err(|error| no_threads(self.pid, error))
    }
}

fn no_threads(pid: i32, error: io::Error) -> Failure {
    let what = format!("cannot list the threads of process {pid}");
    match Unread::from(error) {
        Unread::Gone => {
            Failure::new(what, "there is no such process").hint("'ps -e' lists the processes")
        }
        Unread::Failed(why) => Failure::new(what, why).hint("run it as root"),
    }
}

fn numbers_in(host: &Host, below: &str) -> io::Result<Vec<i32>> {
    let mut numbers = Vec::new();
    // What is absolute stays so.
    for entry in std::fs::read_dir(host.path(below))? {
        if let Some(number) = entry?
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads a thread of SaaKM; `None` when another class schedules it.
pub fn saakm_thread(host: &Host, pid: i32, tid: i32) -> Result<Option<Thread>, Unread> {
    let dir = format!("proc/{pid}/task/{tid}");
    let text = host.read(format!("{dir}/saakm"))?;
    let keys = keys(&text);
    let policy: u32 = number(&keys, "policy")?;
    if policy == 0 {
        return Ok(None);
    }
    Ok(Some(Thread {
        policy,
        name: keys.get("name").map_or("?", |name| *name).to_owned(),
        pid,
        tid,
        state: keys.get("state").map(|state| (*state).to_owned()),
        cpu: Some(number(&keys, "cpu")?),
        since_ns: Some(number(&keys, "since_ns")?),
        param: Some(number(&keys, "param")?),
        command: host.read(format!("{dir}/comm"))?.trim_end().to_owned(),
    }))
}

fn number<T: FromStr>(keys: &HashMap<&str, &str>, key: &str) -> Result<T, Unread> {
    keys.get(key)
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| Unread::Failed(format!("its file 'saakm' has no good '{key}'")))
}

/// Reads a thread that another class schedules.
pub fn other_thread(host: &Host, pid: i32, tid: i32) -> Result<Thread, Unread> {
    let stat = host.read(format!("proc/{pid}/task/{tid}/stat"))?;
    // The name stands in parentheses and may contain any character, these too.
    let (head, tail) = stat
        .rsplit_once(')')
        .ok_or_else(|| Unread::Failed("its file 'stat' has no name".into()))?;
    let command = head.split_once('(').map_or("", |(_, name)| name);
    // proc_pid_stat(5) counts from 1, and `tail` starts at field 3.
    let field = |number: usize| tail.split_whitespace().nth(number - 3);
    let class = field(41).and_then(|text| text.parse().ok());
    Ok(Thread {
        policy: 0,
        name: class_name(class),
        pid,
        tid,
        state: None,
        cpu: field(39).and_then(|text| text.parse().ok()),
        since_ns: None,
        param: None,
        command: command.to_owned(),
    })
}

fn class_name(class: Option<u32>) -> String {
    let name = match class {
        Some(0) => "SCHED_OTHER",
        Some(1) => "SCHED_FIFO",
        Some(2) => "SCHED_RR",
        Some(3) => "SCHED_BATCH",
        Some(5) => "SCHED_IDLE",
        Some(6) => "SCHED_DEADLINE",
        Some(7) => "SCHED_EXT",
        // It joined between the reading of its two files.
        Some(8) => "SCHED_SAAKM",
        Some(number) => return format!("class {number}"),
        None => "?",
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    #[test]
    fn reads_a_thread_of_saakm() {
        let fake = FakeHost::with_policies();
        fake.write(
            "proc/5/task/6/saakm",
            "policy 1\nname fifo\nstate READY_TICK\ncpu 3\nsince_ns 1500\nparam 9\nfuture x y\n",
        );
        fake.write("proc/5/task/6/comm", "a b\n");
        let thread = saakm_thread(&fake.host, 5, 6).unwrap().unwrap();
        assert_eq!(thread.state.as_deref(), Some("READY_TICK"));
        assert_eq!(thread.since_ns, Some(1500));
        assert_eq!((thread.cpu, thread.param), (Some(3), Some(9)));
        assert_eq!(thread.command, "a b");
    }

    #[test]
    fn others_are_none_and_the_gone_are_gone() {
        let fake = FakeHost::with_policies();
        fake.write("proc/5/task/5/saakm", "policy 0\n");
        assert!(saakm_thread(&fake.host, 5, 5).unwrap().is_none());
        assert!(matches!(saakm_thread(&fake.host, 5, 7), Err(Unread::Gone)));
        let ended = io::Error::from_raw_os_error(libc::ESRCH);
        assert!(matches!(Unread::from(ended), Unread::Gone));
        let denied = io::Error::from_raw_os_error(libc::EACCES);
        assert!(matches!(Unread::from(denied), Unread::Failed(_)));
        fake.write("proc/5/task/5/saakm", "policy x\n");
        assert!(matches!(
            saakm_thread(&fake.host, 5, 5),
            Err(Unread::Failed(_))
        ));
    }

    #[test]
    fn a_name_may_contain_parentheses() {
        let fake = FakeHost::with_policies();
        let middle = vec!["0"; 35].join(" ");
        fake.write(
            "proc/5/task/5/stat",
            format!("5 (a) b (c)) S {middle} 2 0 1 0\n"),
        );
        let thread = other_thread(&fake.host, 5, 5).unwrap();
        assert_eq!(thread.command, "a) b (c)");
        assert_eq!(thread.cpu, Some(2));
        assert_eq!(thread.name, "SCHED_FIFO");
    }

    #[test]
    fn an_ended_process_has_no_threads() {
        let host = Host::from_env();
        let mut sleeper = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = sleeper.id() as i32;
        let process = Process::open(&host, pid).unwrap();
        assert_eq!(process.threads(&host).unwrap(), [pid]);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        let failure = process.threads(&host).unwrap_err();
        assert_eq!(failure.why, "there is no such process");
    }

    #[test]
    fn reads_the_real_proc() {
        let host = Host::from_env();
        let pid = std::process::id() as i32;
        assert!(processes(&host).unwrap().contains(&pid));
        assert!(threads_of(&host, pid).unwrap().contains(&pid));
        let thread = other_thread(&host, pid, pid).unwrap();
        assert_eq!(thread.name, "SCHED_OTHER");
        assert!(thread.command.starts_with("saakm"));
    }
}
