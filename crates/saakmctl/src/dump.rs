// SPDX-License-Identifier: GPL-2.0
//! `saakmctl dump`: all that the kernel knows of one policy, for its author.

use std::io::{self, ErrorKind};

use saakm::ejected::{self, Exit};
use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::policies::{self, Policy};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::report::Report;
use crate::text::{self, Align};

const DEBUGFS: &str = "sys/kernel/debug";
const DUMPS: &str = "sys/kernel/debug/saakm/dump";

/// More than this is for programs.
const MOST_TRANSITIONS: usize = 20;

/// What the kernel tells of one policy; fields that it lacks are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dump {
    name: String,
    id: u32,
    module: String,
    threads: u64,
    exit: Option<End>,
    dump: String,
    cpus: Vec<Cpu>,
    history: Vec<Transition>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct End {
    kind: String,
    number: u32,
    handler: String,
    cpu: u32,
    pid: i32,
    time_ns: u64,
    comm: String,
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cpu {
    cpu: u32,
    /// Its lock was taken, and nothing else is known.
    busy: bool,
    clock_ns: u64,
    curr_pid: i32,
    curr: String,
    curr_saakm: bool,
    threads: Vec<Runnable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Runnable {
    pid: i32,
    policy: String,
    state: String,
    since_ns: u64,
    excused_ms: u64,
    placed: bool,
    comm: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Transition {
    ns: u64,
    pid: i32,
    policy: u32,
    cpu: u32,
    from: String,
    to: String,
    handler: String,
}

/// Shows the policy of this name or id.
pub fn dump(host: &Host, wanted: &str) -> Result<Report, Failure> {
    let policies = policies::read(host)?;
    let policy = lookup::find(&policies, wanted)?;
    let what = format!("cannot dump '{}'", policy.name);
    let text = host
        .read(DUMPS)
        .map_err(|error| explain(host, &what, &error))?;
    let fields = pick(&text, policy.id)
        .map_err(|error| {
            Failure::new(&what, format!("/{DUMPS}: {error}"))
                .hint("use the saakmctl that comes with this kernel")
        })?
        .ok_or_else(|| gone(&what, policy))?;
    let dump = Dump::deserialize(&Value::Object(fields.clone()))
        .map_err(|error| Failure::new(&what, format!("/{DUMPS}: {error}")))?;
    Ok(Report {
        text: render(&dump),
        fields,
        ..Report::default()
    })
}

fn pick(text: &str, id: u32) -> serde_json::Result<Option<Map<String, Value>>> {
    let all: Vec<Map<String, Value>> = serde_json::from_str(text)?;
    Ok(all
        .into_iter()
        .find(|fields| fields.get("id").is_some_and(|found| *found == id)))
}

fn gone(what: &str, policy: &Policy) -> Failure {
    Failure::new(what, format!("policy {} went away just now", policy.id))
        .hint("'saakmctl list' shows what is loaded")
}

fn explain(host: &Host, what: &str, error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            Failure::new(what, "reading debugfs is not permitted").hint("run it as root")
        }
        ErrorKind::NotFound if is_mounted(host) => {
            Failure::new(what, format!("this kernel has no /{DUMPS}"))
                .hint("boot a newer one; 'saakmctl list' and 'saakmctl ps' work on this one")
        }
        ErrorKind::NotFound => Failure::new(what, "debugfs is not mounted")
            .hint(format!("mount it with: mount -t debugfs none /{DEBUGFS}")),
        _ => Failure::new(what, format!("/{DUMPS}: {error}")),
    }
}

/// A place to mount at is empty; debugfs never is.
fn is_mounted(host: &Host) -> bool {
    std::fs::read_dir(host.path(DEBUGFS)).is_ok_and(|mut entries| entries.next().is_some())
}

fn render(dump: &Dump) -> String {
    let mut out = format!(
        "{} (id {}), module {}, {}\n",
        printable(&dump.name),
        dump.id,
        printable(&dump.module),
        text::count(dump.threads, "thread")
    );
    if let Some(end) = &dump.exit {
        let story = Exit::from(end).story();
        out.push_str(&format!("{}\n", printable(&story)));
    }
    if !dump.dump.trim().is_empty() {
        out.push_str("\nThe policy says:\n");
        out.extend(dump.dump.lines().map(own_line));
    }
    out.push_str("\nThe CPUs, what runs there and what waits:\n");
    out.push_str(&render_cpus(&dump.cpus));
    out.push_str(&render_history(&dump.history, dump.id));
    out
}

impl From<&End> for Exit {
    fn from(end: &End) -> Self {
        Exit {
            kind: end.kind.clone(),
            number: end.number,
            // Cut as in /proc/saakm/ejected.
            seconds: (end.time_ns / 1_000) as f64 / 1e6,
            handler: ejected::unless_none(&end.handler),
            cpu: end.cpu,
            thread: (end.pid != 0).then(|| format!("{}/{}", end.comm, end.pid)),
            reason: end.reason.clone(),
        }
    }
}

/// Policies may set columns by tabs.
fn own_line(line: &str) -> String {
    let cells: Vec<String> = line.split('\t').map(printable).collect();
    format!("  {}", cells.join("\t")).trim_end().to_owned() + "\n"
}

fn render_cpus(cpus: &[Cpu]) -> String {
    let columns = [
        ("CPU", Align::Right),
        ("THREAD", Align::Left),
        ("POLICY", Align::Left),
        ("STATE", Align::Left),
        ("SINCE", Align::Right),
        ("NOTE", Align::Left),
    ];
    let rows: Vec<Vec<String>> = cpus.iter().flat_map(rows_of).collect();
    text::table(&columns, &rows)
}

/// First what runs, then what waits, in order of arrival.
fn rows_of(cpu: &Cpu) -> Vec<Vec<String>> {
    if cpu.busy {
        return vec![row(cpu, ["-", "-", "-", "-", "its runqueue was locked"])];
    }
    let (running, waiting): (Vec<&Runnable>, Vec<&Runnable>) = cpu
        .threads
        .iter()
        .partition(|thread| cpu.curr_saakm && thread.pid == cpu.curr_pid);
    let mut rows: Vec<Vec<String>> = Vec::new();
    if running.is_empty() {
        let thread = thread_name(&cpu.curr, cpu.curr_pid);
        let note = match (cpu.curr_pid, cpu.curr_saakm) {
            (0, _) => "idle",
            (_, true) => "",
            (_, false) => "not of SaaKM",
        };
        rows.push(row(cpu, [&thread, "-", "RUNNING", "-", note]));
    }
    let threads = running.iter().chain(&waiting);
    rows.extend(threads.map(|thread| thread_row(cpu, thread)));
    rows
}

fn thread_row(cpu: &Cpu, thread: &Runnable) -> Vec<String> {
    let name = thread_name(&thread.comm, thread.pid);
    // As in /proc/PID/saakm, 0 means that it is not known.
    let since = match thread.since_ns {
        0 => "-".to_owned(),
        since => text::duration(cpu.clock_ns.saturating_sub(since)),
    };
    let cells = [&name, &thread.policy, &thread.state, &since, &note(thread)];
    row(cpu, cells.map(String::as_str))
}

fn row(cpu: &Cpu, cells: [&str; 5]) -> Vec<String> {
    let mut row = vec![cpu.cpu.to_string()];
    row.extend(cells.map(str::to_owned));
    row
}

fn thread_name(comm: &str, pid: i32) -> String {
    format!("{comm}/{pid}")
}

/// What else matters when a thread waits.
fn note(thread: &Runnable) -> String {
    let mut notes = Vec::new();
    if thread.state == "READY" && thread.excused_ms > 0 {
        notes.push(format!("{} ms are others' fault", thread.excused_ms));
    }
    if !thread.placed {
        notes.push("in no queue of its policy".to_owned());
    }
    notes.join(", ")
}

fn render_history(history: &[Transition], id: u32) -> String {
    let mut own: Vec<&Transition> = history.iter().filter(|step| step.policy == id).collect();
    if own.is_empty() {
        return "\nNo transitions were recorded; to record them: \
                echo 1 > /sys/kernel/saakm/history\n"
            .to_owned();
    }
    // They come CPU by CPU.
    own.sort_by_key(|step| std::cmp::Reverse(step.ns));
    let columns = [
        ("SECONDS", Align::Right),
        ("PID", Align::Right),
        ("CPU", Align::Right),
        ("FROM", Align::Left),
        ("TO", Align::Left),
        ("HANDLER", Align::Left),
    ];
    let rows: Vec<Vec<String>> = own
        .iter()
        .take(MOST_TRANSITIONS)
        .map(|step| {
            vec![
                text::seconds(step.ns),
                step.pid.to_string(),
                step.cpu.to_string(),
                step.from.clone(),
                step.to.clone(),
                ejected::unless_none(&step.handler).unwrap_or_else(|| "-".to_owned()),
            ]
        })
        .collect();
    format!(
        "\nIts last transitions, newest first:\n{}",
        text::table(&columns, &rows)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use saakm::fake::FakeHost;

    const BAD: &str = r#"[{"name": "fifo", "id": 1, "module": "fifo_mod", "threads": 3,
"exit": null,
"dump": "",
"cpus": [],
"history": []},
{"name": "bad", "id": 5, "module": "bad", "threads": 2,
"exit": {"kind": "stall", "number": 17, "handler": "none", "cpu": 1, "pid": 412, "time_ns": 12345678999, "comm": "hackbench", "reason": "hackbench/412 has been READY for 30012 ms"},
"dump": "queue 0:\t1 thread\n\u001b[2Jqueue 1: empty\n",
"cpus": [
 {"cpu": 0, "clock_ns": 12000000000, "curr_pid": 17, "curr": "make", "curr_saakm": true, "runnable": 2, "threads": [
  {"pid": 18, "policy": "fifo", "state": "READY", "since_ns": 11000000000, "excused_ms": 0, "placed": true, "comm": "cc1"},
  {"pid": 17, "policy": "fifo", "state": "RUNNING", "since_ns": 11998500000, "excused_ms": 9, "placed": true, "comm": "make"}]},
 {"cpu": 1, "clock_ns": 42000000000, "curr_pid": 33, "curr": "kworker/1:1", "curr_saakm": false, "runnable": 1, "threads": [
  {"pid": 412, "policy": "bad", "state": "READY", "since_ns": 11988000000, "excused_ms": 12, "placed": false, "comm": "hackbench"}]},
 {"cpu": 2, "clock_ns": 5, "curr_pid": 0, "curr": "swapper/2", "curr_saakm": false, "runnable": 0, "threads": []},
 {"cpu": 3, "busy": true}],
"history": [
  {"ns": 11900000000, "pid": 412, "policy": 5, "cpu": 0, "from": "BLOCKED", "to": "READY", "handler": "unblock_place"},
  {"ns": 11988000000, "pid": 412, "policy": 5, "cpu": 1, "from": "MIGRATING", "to": "READY", "handler": "none"},
  {"ns": 11999000000, "pid": 18, "policy": 1, "cpu": 1, "from": "BLOCKED", "to": "READY", "handler": "unblock_place"}]}]
"#;

    fn machine() -> FakeHost {
        let fake = FakeHost::with_ejected();
        fake.write(DUMPS, BAD);
        fake
    }

    #[test]
    fn shows_the_end_the_cpus_and_the_past() {
        let expected = "\
bad (id 5), module bad, 2 threads
ejected at 12.345678 s (stall), thread hackbench/412: hackbench/412 has been READY for 30012 ms

The policy says:
  queue 0:\t1 thread
  \\x1b[2Jqueue 1: empty

The CPUs, what runs there and what waits:
CPU  THREAD          POLICY  STATE     SINCE  NOTE
  0  make/17         fifo    RUNNING  1.5 ms
  0  cc1/18          fifo    READY     1.0 s
  1  kworker/1:1/33  -       RUNNING       -  not of SaaKM
  1  hackbench/412   bad     READY    30.0 s  12 ms are others' fault, in no queue of its policy
  2  swapper/2/0     -       RUNNING       -  idle
  3  -               -       -             -  its runqueue was locked

Its last transitions, newest first:
  SECONDS  PID  CPU  FROM       TO     HANDLER
11.988000  412    1  MIGRATING  READY  -
11.900000  412    0  BLOCKED    READY  unblock_place
";
        for wanted in ["bad", "5"] {
            assert_eq!(dump(&machine().host, wanted).unwrap().text, expected);
        }
    }

    #[test]
    fn no_field_reaches_the_terminal_raw() {
        let text = BAD.replace("\"stall\"", r#""st\u001b[2Jall""#);
        let text = ["bad", "hackbench", "READY", "MIGRATING", "make", "none"]
            .iter()
            .fold(text, |text, word| {
                text.replace(
                    &format!("\"{word}\""),
                    &format!(r#""{word}\n\u001b\u009b""#),
                )
            });
        let dump = pick(&text, 5).unwrap().unwrap();
        let shown = render(&Dump::deserialize(&Value::Object(dump)).unwrap());
        assert!(!shown.contains(['\u{1b}', '\u{9b}']), "{shown}");
        assert_eq!(shown.lines().count(), 20, "{shown}");
    }

    #[test]
    fn json_is_the_kernels_object() {
        let document = dump(&machine().host, "bad").unwrap().document();
        let all: Value = serde_json::from_str(BAD).unwrap();
        for (field, value) in all[1].as_object().unwrap() {
            assert_eq!(&document[field], value, "{field}");
        }
        assert_eq!(document["failures"], json!([]));
    }

    #[test]
    fn a_live_policy_without_history_says_how_to_get_some() {
        let text = dump(&machine().host, "fifo").unwrap().text;
        assert!(text.starts_with("fifo (id 1), module fifo_mod, 3 threads\n\nThe CPUs"));
        assert!(text.ends_with("echo 1 > /sys/kernel/saakm/history\n"));
        assert!(!text.contains("The policy says"));
    }

    #[test]
    fn people_get_the_last_transitions_only() {
        let steps = (0..100).map(|ns| Transition {
            ns: ns * 1_000,
            policy: 1,
            ..Transition::default()
        });
        let text = render_history(&steps.collect::<Vec<_>>(), 1);
        assert_eq!(text.lines().count(), 3 + MOST_TRANSITIONS);
        assert!(text.lines().nth(3).unwrap().starts_with("0.000099"));
    }

    #[test]
    fn a_newer_kernel_may_add_fields_and_drop_some() {
        let fake = machine();
        fake.write(DUMPS, r#"[{"id": 1, "name": "fifo", "mood": "good"}]"#);
        let report = dump(&fake.host, "fifo").unwrap();
        assert!(report.text.starts_with("fifo (id 1), module , 0 threads"));
        assert_eq!(report.document()["mood"], "good");
    }

    #[test]
    fn errors_say_what_to_do() {
        let fake = FakeHost::with_ejected();
        let failed = |fake: &FakeHost| dump(&fake.host, "bad").unwrap_err();
        let failure = failed(&fake);
        assert_eq!(failure.why, "debugfs is not mounted");
        let hint = failure.hint.unwrap();
        assert!(hint.ends_with("mount -t debugfs none /sys/kernel/debug"));
        fake.write("sys/kernel/debug/sched/debug", "");
        let failure = failed(&fake);
        assert!(failure.why.starts_with("this kernel has no /sys/kernel/de"));
        fake.write(DUMPS, "[{");
        assert!(failed(&fake).why.contains("EOF"));
        fake.write(DUMPS, "[]");
        assert_eq!(failed(&fake).why, "policy 5 went away just now");
        fake.write(DUMPS, r#"[{"id": 5, "cpus": 1}]"#);
        assert!(failed(&fake).why.contains("invalid type"));

        let denied = io::Error::from_raw_os_error(libc::EACCES);
        let failure = explain(&fake.host, "x", &denied);
        assert_eq!(failure.hint.as_deref(), Some("run it as root"));
        let failure = dump(&fake.host, "nope").unwrap_err();
        assert_eq!(failure.what, "no policy 'nope' is loaded");
    }
}
