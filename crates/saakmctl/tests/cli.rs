// SPDX-License-Identifier: GPL-2.0
//! The program as a shell sees it: output, exit statuses, what a command inherits.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use procfs::process::{Process, Status};
use procfs::FromRead;
use serde_json::Value;
use tempfile::TempDir;

const POLICIES: &str = "\
id name module priority state threads new terminated switches
1 fifo fifo 0 active 1 1 0 12
";

const EJECTED: &str = "\
id  name             number kind              seconds      handler          cpu thread           reason
3   bad                  17 stall                12.345678 none               1 hackbench/412    hackbench/412 has been READY for 30012 ms; see dmesg
";

const DUMP: &str = r#"[{"name": "bad", "id": 3, "module": "bad", "threads": 2,
"exit": {"kind": "stall", "number": 17, "handler": "none", "cpu": 1, "pid": 412,
 "time_ns": 12345678000, "comm": "hackbench", "reason": "too late"},
"dump": "2 wait\n",
"cpus": [{"cpu": 0, "busy": true}],
"history": [{"ns": 5000, "pid": 412, "policy": 3, "cpu": 1, "from": "BLOCKED", "to": "READY", "handler": "none"}]}]
"#;

fn saakmctl(root: &Path, args: &[&str]) -> Output {
    command(root).args(args).output().expect("saakmctl runs")
}

fn command(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_saakmctl"));
    command.env("SAAKM_ROOT", root).env_remove("SAAKM_POLICIES");
    command
}

fn write(root: &Path, below: &str, data: impl AsRef<[u8]>) {
    let path = root.join(below);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, data).unwrap();
}

/// A kernel with SaaKM, one policy and one thread, as far as files can tell.
fn machine() -> TempDir {
    let root = without_saakm();
    write(root.path(), "proc/saakm/policies", POLICIES);
    write(root.path(), "proc/saakm/topology", "cpu level kind span\n");
    write(root.path(), "proc/7/task/7/comm", "job\n");
    write(
        root.path(),
        "proc/7/task/7/saakm",
        "policy 1\nname fifo\nstate RUNNING\ncpu 0\nsince_ns 5\nparam 0\n",
    );
    root
}

fn without_saakm() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "proc/self/comm", "saakmctl\n");
    root
}

/// The same with a policy that was ejected, its dump, and a place to eject others.
fn machine_after_a_stall() -> TempDir {
    let root = machine();
    let policies = format!("{POLICIES}3 bad bad 0 ejected 0 2 2 9\n");
    write(root.path(), "proc/saakm/policies", &policies);
    write(root.path(), "proc/saakm/ejected", EJECTED);
    write(root.path(), "sys/kernel/saakm/eject", "");
    write(root.path(), "sys/kernel/debug/saakm/dump", DUMP);
    root
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn status(root: &Path, args: &[&str]) -> Option<i32> {
    saakmctl(root, args).status.code()
}

#[test]
fn list_ps_and_topology_read_the_kernel() {
    let root = machine();
    let list = saakmctl(root.path(), &["list"]);
    assert!(list.status.success());
    assert_eq!(stdout(&list).lines().count(), 2);
    let ps = saakmctl(root.path(), &["ps"]);
    assert!(stdout(&ps).contains("RUNNING"), "{ps:?}");
    let topology = saakmctl(root.path(), &["topology"]);
    assert_eq!(stdout(&topology), "one CPU, no levels\n");
}

#[test]
fn json_is_one_document_also_for_failures() {
    let root = machine();
    let parse = |args: &[&str]| -> Value {
        serde_json::from_slice(&saakmctl(root.path(), args).stdout).expect("JSON")
    };
    assert_eq!(parse(&["--json", "list"])["policies"][0]["name"], "fifo");
    assert_eq!(parse(&["ps", "--json"])["threads"][0]["tid"], 7);
    assert!(parse(&["topology", "--json"])["cpus"].is_array());
    let failed = parse(&["set", "nope", "7", "--json"]);
    assert_eq!(failed["failures"][0]["what"], "no policy 'nope' is loaded");
    assert_eq!(failed["failures"][0]["why"], "loaded are: fifo (id 1)");
}

#[test]
fn without_saakm_every_command_says_which_kernel_to_boot() {
    let root = without_saakm();
    let commands: [&[&str]; 12] = [
        &["list"],
        &["load", "fifo"],
        &["unload", "fifo"],
        &["eject", "fifo"],
        &["replace", "fifo", "new"],
        &["dump", "fifo"],
        &["set", "fifo", "1"],
        &["ps"],
        &["topology"],
        &["status"],
        &["assign", "fifo", "x.service"],
        &["exec", "fifo", "--", "true"],
    ];
    for args in commands {
        let output = saakmctl(root.path(), args);
        let expected = if args[0] == "exec" { 125 } else { 1 };
        assert_eq!(output.status.code(), Some(expected), "{args:?}");
        let text = stderr(&output);
        assert!(text.contains("no SaaKM (CONFIG_SCHED_CLASS_SAAKM)"));
        assert!(text.contains("./saakm shell"), "{text}");
    }
}

#[test]
fn exec_exits_as_env_does() {
    let root = without_saakm();
    let exec = |args: &[&str]| status(root.path(), &[&["exec", "fair", "--"], args].concat());
    assert_eq!(exec(&["true"]), Some(0));
    assert_eq!(exec(&["sh", "-c", "exit 42"]), Some(42));
    assert_eq!(exec(&["no-such-command-here"]), Some(127));
    assert_eq!(exec(&["/no/such/file"]), Some(127));
    assert_eq!(exec(&["/"]), Some(126));

    let mut script = tempfile::NamedTempFile::new().unwrap();
    script.write_all(b"#!/no/such/shell\n").unwrap();
    let path = script.into_temp_path();
    let name = path.to_str().unwrap().to_owned();
    assert_eq!(exec(&[&name]), Some(126));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let output = saakmctl(root.path(), &["exec", "fair", &name]);
    assert_eq!(output.status.code(), Some(127));
    assert!(stderr(&output).contains("interpreter"), "{output:?}");
}

#[test]
fn wrong_usage_of_exec_is_not_the_commands_status() {
    let root = machine();
    assert_eq!(status(root.path(), &["exec", "fifo"]), Some(125));
    assert_eq!(status(root.path(), &["--json", "exec"]), Some(125));
    assert_eq!(status(root.path(), &["set"]), Some(2));
    assert_eq!(status(root.path(), &["--help"]), Some(0));
    assert_eq!(status(root.path(), &["exec", "--help"]), Some(0));
    assert_eq!(status(root.path(), &["--version"]), Some(0));
}

#[test]
fn exec_sets_nice_and_leaves_the_rest_alone() {
    let root = without_saakm();
    let args = ["exec", "fair", "--nice", "19", "--", "nice"];
    assert_eq!(stdout(&saakmctl(root.path(), &args)).trim(), "19");
}

/// The mask of ignored signals in a command started by `exec`.
fn ignored_signals(sigpipe: libc::sighandler_t) -> u64 {
    use std::os::unix::process::CommandExt;
    let root = without_saakm();
    let mut command = command(root.path());
    command.args(["exec", "fair", "cat", "/proc/self/status"]);
    // SAFETY: signal(2) may be called between fork and exec.
    unsafe {
        command.pre_exec(move || {
            libc::signal(libc::SIGPIPE, sigpipe);
            Ok(())
        });
    }
    let output = command.output().unwrap();
    Status::from_read(&output.stdout[..]).unwrap().sigign
}

#[test]
fn exec_hands_ignored_signals_on_as_they_were() {
    let sigpipe = 1 << (libc::SIGPIPE - 1);
    assert_eq!(ignored_signals(libc::SIG_DFL) & sigpipe, 0);
    assert_eq!(ignored_signals(libc::SIG_IGN) & sigpipe, sigpipe);
}

#[test]
fn exec_passes_any_bytes_on() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = without_saakm();
    let output = command(root.path())
        .args(["exec", "fair", "printf", "%s"])
        .arg(OsStr::from_bytes(b"\xff"))
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"\xff");
}

#[test]
fn exec_json_leaves_stdout_to_the_command() {
    let root = machine();
    let output = saakmctl(root.path(), &["--json", "exec", "nope", "--", "true"]);
    assert!(output.stdout.is_empty());
    let document: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(document["failures"][0]["status"], 125);
}

#[test]
fn set_changes_a_real_process_with_all_its_threads() {
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleeper.id().to_string();
    let args = ["set", "fair", "--json", "-n", "7", "--all-tasks", &pid];
    let output = saakmctl(Path::new("/"), &args);
    let stat = Process::new(sleeper.id() as i32).unwrap().stat().unwrap();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["threads"][0].to_string(), pid);
    assert_eq!(stat.nice, 7);
}

#[test]
fn set_reports_each_failure_and_does_the_rest() {
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = sleeper.id().to_string();
    let output = saakmctl(
        Path::new("/"),
        &["set", "other", "4194304", &pid, "4194303"],
    );
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert_eq!(text.matches("there is no such thread").count(), 2, "{text}");
}

#[test]
fn load_refuses_before_it_asks_the_kernel() {
    let root = machine();
    let output = saakmctl(root.path(), &["load", "no-such-policy"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("SAAKM_POLICIES"), "{output:?}");
    let file = root.path().join("x.ko");
    write(root.path(), "x.ko", "");
    let output = saakmctl(root.path(), &["load", file.to_str().unwrap(), "slice"]);
    assert!(stderr(&output).contains("it has no '='"), "{output:?}");
}

#[test]
fn load_trusts_no_directory_that_it_happens_to_be_in() {
    let root = machine();
    for file in ["policies/fifo/fifo.ko", "fifo/fifo.ko", "fifo.ko"] {
        write(root.path(), &format!("home/{file}"), "");
    }
    let run = |args: &[&str]| {
        let mut command = command(root.path());
        command.args(args).current_dir(root.path().join("home"));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    write(
        root.path(),
        "home/saakm.toml",
        "[[policy]]\nname = \"rr\"\nfile = \"fifo.ko\"\n",
    );
    write(root.path(), "home/policies/rr/rr.ko", "");
    write(root.path(), "home/two.toml", "[[policy]]\nname = \"rr\"\n");
    for args in [
        &["load", "fifo"] as &[&str],
        &["replace", "fifo", "rr"],
        &["apply", "two.toml"],
    ] {
        let text = run(args);
        assert!(text.contains("cannot find policy"), "{args:?}: {text}");
        assert!(text.contains("not looked up here"), "{args:?}: {text}");
    }
    assert!(
        run(&["apply", "saakm.toml"]).contains("line 3: the file 'fifo.ko' is no absolute path")
    );
    // What is named as a file is taken.
    assert!(run(&["load", "./fifo.ko", "slice"]).contains("it has no '='"));
    assert!(run(&["load", "fifo.ko", "slice"]).contains("it has no '='"));
}

/// Runs it as a program that is setuid or setgid root would be run by another user.
fn with_more_rights_than_its_caller(root: &Path, args: &[&str], real: u32) -> Option<Output> {
    use std::os::unix::process::CommandExt;
    // SAFETY: geteuid cannot fail and touches nothing.
    if unsafe { libc::geteuid() } != 0 {
        return None;
    }
    let mut command = command(root);
    // SAFETY: setresgid(2) may be called between fork and exec.
    unsafe {
        command.pre_exec(move || match libc::setresgid(real, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    Some(command.args(args).output().unwrap())
}

#[test]
fn setuid_is_refused() {
    let root = machine();
    for (args, status) in [(&["list"] as &[&str], 1), (&["exec", "fair", "true"], 125)] {
        let Some(output) = with_more_rights_than_its_caller(root.path(), args, 65534) else {
            return;
        };
        assert_eq!(output.status.code(), Some(status));
        assert!(stderr(&output).contains("setuid"), "{output:?}");
        let output = with_more_rights_than_its_caller(root.path(), args, 0).unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn an_argument_cannot_command_the_terminal() {
    let output = saakmctl(machine().path(), &["\u{1b}[2J\u{9b}"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.contains(r"\x1b[2J\u{9b}"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text}");
}

#[test]
fn a_file_may_have_a_name_that_is_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = machine();
    let file = root.path().join(OsStr::from_bytes(b"\xff.toml"));
    std::fs::write(&file, "").unwrap();
    let mut command = command(root.path());
    let output = command
        .args(["apply", "--check", "--json"])
        .arg(&file)
        .output();
    let document: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert!(document["file"]
        .as_str()
        .unwrap()
        .ends_with("\u{fffd}.toml"));
}

#[test]
fn an_unwritable_stderr_is_no_crash() {
    let root = machine();
    let full = || {
        std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    for (args, status) in [(&["eject", "nope"] as &[&str], 1), (&["set"], 2)] {
        let mut command = command(root.path());
        let output = command.args(args).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_and_a_full_disk_are_no_panic() {
    let root = machine();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let output = command(root.path())
        .arg("list")
        .stdout(full.unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("cannot write the result"));
}

#[test]
fn list_tells_what_became_of_ejected_policies() {
    let root = machine_after_a_stall();
    let text = stdout(&saakmctl(root.path(), &["list"]));
    let last = "bad (id 3) was ejected at 12.345678 s (stall), thread hackbench/412: \
                hackbench/412 has been READY for 30012 ms; see dmesg";
    assert_eq!(text.lines().count(), 4);
    assert_eq!(text.lines().last(), Some(last));
    let json = saakmctl(root.path(), &["list", "--json"]).stdout;
    let document: Value = serde_json::from_slice(&json).unwrap();
    assert!(document["policies"][0]["exit"].is_null());
    let exit = &document["policies"][1]["exit"];
    assert_eq!(exit["kind"], "stall");
    assert_eq!(exit["thread"], "hackbench/412");
    assert_eq!(exit["seconds"], 12.345678);
}

#[test]
fn an_ejected_policy_takes_no_threads() {
    let root = machine_after_a_stall();
    for args in [
        &["set", "bad", "1"] as &[&str],
        &["exec", "bad", "--", "true"],
    ] {
        let output = saakmctl(root.path(), args);
        assert!(!output.status.success());
        let text = stderr(&output);
        assert!(text.contains("it was ejected (stall)"), "{text}");
        assert!(text.contains("saakmctl unload bad"), "{text}");
    }
}

#[test]
fn eject_writes_the_name() {
    let root = machine_after_a_stall();
    let output = saakmctl(root.path(), &["eject", "1"]);
    assert_eq!(
        stdout(&output),
        "fifo: ejected, 1 thread goes back to SCHED_OTHER\n"
    );
    let written = std::fs::read_to_string(root.path().join("sys/kernel/saakm/eject"));
    assert_eq!(written.unwrap(), "fifo");
    let output = saakmctl(root.path(), &["eject", "bad"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("ejected already (stall)"));
}

#[test]
fn dump_shows_why_and_how() {
    let root = machine_after_a_stall();
    let text = stdout(&saakmctl(root.path(), &["dump", "bad"]));
    assert!(text.contains("ejected at 12.345678 s (stall)"), "{text}");
    assert!(text.contains("  2 wait\n"), "{text}");
    assert!(text.contains("BLOCKED"), "{text}");
    let json = saakmctl(root.path(), &["dump", "3", "--json"]).stdout;
    let document: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(document["exit"]["pid"], 412);
    assert_eq!(document["dump"], "2 wait\n");
    let output = saakmctl(machine().path(), &["dump", "fifo"]);
    assert!(stderr(&output).contains("mount -t debugfs none /sys/kernel/debug"));
}

#[test]
fn replace_refuses_before_it_asks_the_kernel() {
    let root = machine_after_a_stall();
    let modinfo = "name=fifo\0vermagic=6.12\0parmtype=replaces:charp\0";
    write(root.path(), "other.ko", saakm::fake::module(modinfo));
    let file = root.path().join("other.ko");
    let complaint = |old| {
        let output = saakmctl(root.path(), &["replace", old, file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    let text = complaint("fifo");
    assert!(text.contains("no two modules of one name"), "{text}");
    assert!(text.contains("KBUILD_MODNAME decides"), "{text}");
    let text = complaint("bad");
    assert!(text.contains("its threads cannot be taken over"), "{text}");
    assert!(complaint("nope").contains("no policy 'nope' is loaded"));
}
