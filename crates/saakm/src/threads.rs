// SPDX-License-Identifier: GPL-2.0
//! Threads as /proc shows them.
//!
//! The crate `procfs` finds them and reads the kernel's own files. It knows none of SaaKM's, and
//! not the file `comm`: those are parsed here. (It would refuse the whole of /proc/modules of a
//! kernel without CONFIG_MODULE_UNLOAD, so that saakmctl looks there by itself.)

use std::collections::HashMap;
use std::io::Read;
use std::str::FromStr;

use procfs::process::{self, Stat, Task};
use procfs::{FromRead, ProcError, ProcResult};
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

impl From<ProcError> for Unread {
    fn from(error: ProcError) -> Self {
        match error {
            // Also ESRCH, which a thread that ends after the open answers to the read.
            ProcError::NotFound(_) => Unread::Gone,
            // EACCES and EPERM.
            ProcError::PermissionDenied(_) => Unread::Failed("permission denied".into()),
            ProcError::Io(error, _) => Unread::Failed(error.to_string()),
            // Its own text calls it a bug of procfs.
            ProcError::InternalError(error) => {
                Unread::Failed(format!("/proc is not as expected: {}", error.msg))
            }
            other => Unread::Failed(other.to_string()),
        }
    }
}

/// All processes, as they are found.
pub fn processes(host: &Host) -> Result<impl Iterator<Item = Result<Process, Unread>>, Failure> {
    let all = process::all_processes_with_root(host.path("proc")).map_err(|error| {
        let why = match Unread::from(error) {
            Unread::Gone => "it is not there".to_owned(),
            Unread::Failed(why) => why,
        };
        Failure::new("cannot list the processes", format!("/proc: {why}"))
    })?;
    Ok(all.map(|process| Ok(Process(process?))))
}

/// True when the thread is no more. A thread that was never there looks alike.
pub fn is_gone(host: &Host, tid: i32) -> bool {
    tid != 0 && !host.path(format!("proc/{tid}")).exists()
}

/// A process that was there once. Its directory in /proc stays its own when it has
/// ended and another one has got its number.
pub struct Process(process::Process);

impl Process {
    /// Takes hold of it.
    pub fn open(host: &Host, pid: i32) -> Result<Self, Failure> {
        process::Process::new_with_root(host.path(format!("proc/{pid}")))
            .map(Process)
            .map_err(|error| no_threads(pid, error))
    }

    /// Its number.
    pub fn pid(&self) -> i32 {
        self.0.pid
    }

    /// Its threads, as they are found, without those that have ended meanwhile.
    pub fn tasks(&self) -> Result<impl Iterator<Item = Result<Task, Unread>>, Failure> {
        let failed = |error| no_threads(self.pid(), error);
        let tasks = self.0.tasks().map_err(failed)?;
        Ok(tasks.map(|task| Ok(task?)))
    }

    /// The numbers of its threads, in ascending order.
    pub fn threads(&self) -> Result<Vec<i32>, Failure> {
        let failed = |error| no_threads(self.pid(), error);
        let tasks = self.0.tasks().map_err(failed)?;
        let tids: ProcResult<Vec<i32>> = tasks.map(|task| Ok(task?.tid)).collect();
        let mut tids = tids.map_err(failed)?;
        // `procfs` leaves out what it cannot open; who lives has one.
        if tids.is_empty() {
            return Err(failed(ProcError::NotFound(None)));
        }
        tids.sort_unstable();
        Ok(tids)
    }
}

fn no_threads(pid: i32, error: ProcError) -> Failure {
    let what = format!("cannot list the threads of process {pid}");
    match Unread::from(error) {
        Unread::Gone => {
            Failure::new(what, "there is no such process").hint("'ps -e' lists the processes")
        }
        Unread::Failed(why) => Failure::new(what, why).hint("run it as root"),
    }
}

/// A file as text. A thread may call itself anything, also something that is not UTF-8.
struct Text(String);

impl FromRead for Text {
    fn from_read<R: Read>(mut file: R) -> ProcResult<Self> {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Text(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// Reads a thread of SaaKM; `None` when another class schedules it.
pub fn saakm_thread(task: &Task) -> Result<Option<Thread>, Unread> {
    let Text(text) = task.read("saakm")?;
    let keys = keys(&text);
    let policy: u32 = number(&keys, "policy")?;
    if policy == 0 {
        return Ok(None);
    }
    let Text(command) = task.read("comm")?;
    Ok(Some(Thread {
        policy,
        name: keys.get("name").map_or("?", |name| *name).to_owned(),
        pid: task.pid,
        tid: task.tid,
        state: keys.get("state").map(|state| (*state).to_owned()),
        cpu: Some(number(&keys, "cpu")?),
        since_ns: Some(number(&keys, "since_ns")?),
        param: Some(number(&keys, "param")?),
        command: command.trim_end().to_owned(),
    }))
}

fn number<T: FromStr>(keys: &HashMap<&str, &str>, key: &str) -> Result<T, Unread> {
    keys.get(key)
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| Unread::Failed(format!("its file 'saakm' has no good '{key}'")))
}

/// Reads a thread that another class schedules.
pub fn other_thread(task: &Task) -> Result<Thread, Unread> {
    let stat: Stat = task.stat()?;
    Ok(Thread {
        policy: 0,
        name: class_name(stat.policy),
        pid: task.pid,
        tid: task.tid,
        state: None,
        cpu: stat.processor.and_then(|cpu| cpu.try_into().ok()),
        since_ns: None,
        param: None,
        command: stat.comm,
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
    use std::cell::RefCell;
    use std::io;
    use std::process::{Child, Command};

    use super::*;
    use crate::fake::FakeHost;

    fn task(host: &Host, pid: i32, tid: i32) -> Task {
        let process = Process::open(host, pid).unwrap();
        let mut tasks = process.tasks().unwrap().map(Result::unwrap);
        tasks.find(|task| task.tid == tid).unwrap()
    }

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn reads_a_thread_of_saakm() {
        let fake = FakeHost::with_policies();
        fake.write(
            "proc/5/task/6/saakm",
            "policy 1\nname fifo\nstate READY_TICK\ncpu 3\nsince_ns 1500\nparam 9\nfuture x y\n",
        );
        fake.write("proc/5/task/6/comm", b"a \\ b\xff\n");
        let thread = saakm_thread(&task(&fake.host, 5, 6)).unwrap().unwrap();
        assert_eq!((thread.pid, thread.tid), (5, 6));
        assert_eq!(thread.state.as_deref(), Some("READY_TICK"));
        assert_eq!(thread.since_ns, Some(1500));
        assert_eq!((thread.cpu, thread.param), (Some(3), Some(9)));
        assert_eq!(thread.command, "a \\ b\u{fffd}");
    }

    #[test]
    fn others_are_none_and_the_gone_are_gone() {
        let fake = FakeHost::with_policies();
        let file = "proc/5/task/5/saakm";
        fake.write(file, "policy 0\n");
        let task = task(&fake.host, 5, 5);
        assert!(saakm_thread(&task).unwrap().is_none());
        fake.write(file, "policy x\n");
        assert!(matches!(saakm_thread(&task), Err(Unread::Failed(_))));
        std::fs::remove_dir_all(fake.host.path("proc/5")).unwrap();
        assert!(matches!(saakm_thread(&task), Err(Unread::Gone)));
        assert!(matches!(other_thread(&task), Err(Unread::Gone)));
        std::fs::create_dir_all(fake.host.path("proc/6/task")).unwrap();
        let failure = Process::open(&fake.host, 6).unwrap().threads();
        assert_eq!(failure.unwrap_err().why, "there is no such process");
    }

    fn answer(errno: i32) -> Unread {
        Unread::from(ProcError::from(io::Error::from_raw_os_error(errno)))
    }

    #[test]
    fn errors_keep_their_words() {
        assert!(matches!(answer(libc::ENOENT), Unread::Gone));
        for (errno, words) in [
            (libc::EACCES, "permission denied"),
            (libc::EPERM, "permission denied"),
            (libc::EMFILE, "Too many open files (os error 24)"),
        ] {
            assert!(matches!(answer(errno), Unread::Failed(why) if why == words));
        }
    }

    #[test]
    fn a_name_may_contain_parentheses() {
        let fake = FakeHost::with_policies();
        let middle = vec!["0"; 35].join(" ");
        fake.write(
            "proc/5/task/5/stat",
            format!("5 (a) b (c)) S {middle} 2 0 1 0\n"),
        );
        let thread = other_thread(&task(&fake.host, 5, 5)).unwrap();
        assert_eq!(thread.command, "a) b (c)");
        assert_eq!(thread.cpu, Some(2));
        assert_eq!(thread.name, "SCHED_FIFO");
    }

    #[test]
    fn an_ended_process_has_no_threads() {
        let host = Host::from_env();
        let mut sleeper = sleeper();
        let pid = sleeper.id() as i32;
        let process = Process::open(&host, pid).unwrap();
        assert_eq!(process.threads().unwrap(), [pid]);
        let task = task(&host, pid, pid);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        let failure = process.threads().unwrap_err();
        assert_eq!(failure.why, "there is no such process");
        assert!(matches!(other_thread(&task), Err(Unread::Gone)));
    }

    thread_local! {
        static SLEEPER: RefCell<Option<Child>> = const { RefCell::new(None) };
    }

    /// A file of a process that ends between the open and the read.
    #[derive(Debug)]
    struct TooLate;

    impl FromRead for TooLate {
        fn from_read<R: Read>(file: R) -> ProcResult<Self> {
            let mut sleeper = SLEEPER.take().unwrap();
            sleeper.kill().unwrap();
            sleeper.wait().unwrap();
            Text::from_read(file).map(|_| TooLate)
        }
    }

    #[test]
    fn a_thread_that_ends_before_the_read_is_gone() {
        let sleeper = sleeper();
        let pid = sleeper.id() as i32;
        SLEEPER.set(Some(sleeper));
        let task = task(&Host::from_env(), pid, pid);
        let error = task.read::<_, TooLate>("stat").unwrap_err();
        assert!(matches!(Unread::from(error), Unread::Gone));
    }

    #[test]
    fn reads_the_real_proc() {
        let host = Host::from_env();
        let pid = std::process::id() as i32;
        let mut all = processes(&host).unwrap().map(Result::unwrap);
        let process = all.find(|process| process.pid() == pid).unwrap();
        assert!(process.threads().unwrap().contains(&pid));
        let thread = other_thread(&task(&host, pid, pid)).unwrap();
        assert_eq!(thread.name, "SCHED_OTHER");
        assert!(thread.command.starts_with("saakm"));
    }
}
