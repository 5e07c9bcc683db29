// SPDX-License-Identifier: GPL-2.0
//! `saakmctl load` and `unload`: policies are kernel modules.

use std::ffi::CString;
use std::fs::File;
use std::path::Path;

use nix::errno::Errno;
use nix::kmod::{self, DeleteModuleFlags, ModuleInitFlags};
use serde_json::json;

use crate::failure::Failure;
use crate::find;
use crate::host::{Host, Refused};
use crate::kmsg::{self, Mark};
use crate::policy::{self, Policy};
use crate::report::Report;
use crate::text;

const NEEDS_MODULE_CAP: &str = "run it as root (CAP_SYS_MODULE)";
const NO_MODULES: &str = "this kernel takes no modules (CONFIG_MODULES)";

/// `saakmctl load`
pub fn load(host: &Host, wanted: &str, params: &[String]) -> Result<Report, Failure> {
    let before = policy::read(host)?;
    let path = find::module_file(host, wanted)?;
    let module = find::module_name(&path);
    let params = parameters(params)?;
    let file = File::open(&path).map_err(|error| {
        Failure::new(format!("cannot open {}", path.display()), error.to_string())
    })?;
    let old_error = host.last_error(Refused::Policy);
    let log = kmsg::mark(host);
    if let Err(errno) = kmod::finit_module(&file, &params, ModuleInitFlags::empty()) {
        let refusal = Refusal::gather(host, errno, &module, old_error, log);
        return Err(explain_load(&path, &module, errno, &before, refusal));
    }
    let after = policy::read(host)?;
    loaded_report(&path, &module, &before, &after, log.lines_about(&module))
}

/// One string, as the kernel parses it: blanks separate, quotes protect them.
fn parameters(params: &[String]) -> Result<CString, Failure> {
    let mut words = Vec::new();
    for param in params {
        let bad = |why: &str| {
            Failure::new(format!("bad parameter '{param}'"), why)
                .hint("write it as PARAM=VALUE; 'modinfo -p FILE.ko' lists those of a module")
        };
        let (name, value) = param.split_once('=').ok_or_else(|| bad("it has no '='"))?;
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(bad("it has no good name"));
        }
        if !value.contains(char::is_whitespace) {
            words.push(param.clone());
        } else if value.contains('"') {
            return Err(bad("the kernel cannot take quotes and blanks in one value"));
        } else {
            words.push(format!("{name}=\"{value}\""));
        }
    }
    CString::new(words.join(" ")).map_err(|_| Failure::new("bad parameter", "it holds a NUL"))
}

/// False for errors that arise before the policy's code runs: `last_error`
/// would then be about something else.
fn speaks_of_policies(errno: Errno) -> bool {
    !matches!(
        errno,
        Errno::ENOEXEC | Errno::ENOENT | Errno::EPERM | Errno::EFAULT | Errno::ENOKEY
    )
}

/// What is known about a load that failed.
struct Refusal {
    sentence: Option<String>,
    is_new: bool,
    log: Vec<String>,
    /// The module itself is in the kernel already.
    is_there: bool,
}

impl Refusal {
    fn gather(
        host: &Host,
        errno: Errno,
        module: &str,
        old_error: Option<String>,
        log: Mark,
    ) -> Self {
        let sentence = host.last_error(Refused::Policy);
        let is_new = sentence != old_error;
        let modules = host.read("proc/modules").unwrap_or_default();
        let is_there = modules
            .lines()
            .any(|line| line.split(' ').next() == Some(module));
        Refusal {
            sentence: sentence.filter(|_| is_new || (speaks_of_policies(errno) && !is_there)),
            is_new,
            log: log.lines_about(module),
            is_there,
        }
    }

    /// The kernel's own words, the most telling first.
    fn words(&self) -> Option<String> {
        if let (Some(sentence), true) = (&self.sentence, self.is_new) {
            return Some(sentence.clone());
        }
        if !self.log.is_empty() {
            return Some(self.log.join("; "));
        }
        // Refused twice for the same reason, the sentence does not change.
        self.sentence.clone()
    }
}

fn explain_load(
    path: &Path,
    module: &str,
    errno: Errno,
    before: &[Policy],
    refusal: Refusal,
) -> Failure {
    let what = format!("cannot load {}", path.display());
    let (why, hint) = match errno {
        Errno::EPERM => (
            "loading a module is not permitted".to_owned(),
            format!("{NEEDS_MODULE_CAP}; a locked-down kernel loads none at all"),
        ),
        Errno::EEXIST if refusal.is_there => {
            let ids = before.iter().filter(|policy| policy.module == module);
            let ids: Vec<String> = ids
                .map(|policy| format!(" as policy {}", policy.id))
                .collect();
            (
                format!("'{module}' is loaded already{}", ids.join(",")),
                format!("to replace it: saakmctl unload {module}, then load it again"),
            )
        }
        Errno::EEXIST => (
            "a policy of this name is loaded already".to_owned(),
            "'saakmctl list' shows which module holds it; unload that first".to_owned(),
        ),
        Errno::ENOEXEC => (
            "it is no module for this kernel".to_owned(),
            "build it again for the running kernel".to_owned(),
        ),
        Errno::ENOENT => (
            "it uses a symbol that this kernel does not offer".to_owned(),
            "build it again for the running kernel; policies may use what saakm.h offers"
                .to_owned(),
        ),
        Errno::ENOKEY => (
            "this kernel takes signed modules only".to_owned(),
            "boot a kernel without CONFIG_MODULE_SIG_FORCE: ./saakm shell".to_owned(),
        ),
        Errno::ENOSYS => (
            NO_MODULES.to_owned(),
            "boot one that loads policies with: ./saakm shell".to_owned(),
        ),
        errno => (
            format!("it was refused ({errno:?}: {})", errno.desc()),
            "correct the policy or its parameters; 'dmesg' may say more".to_owned(),
        ),
    };
    let why = match refusal.words() {
        Some(words) => format!("{why}; the kernel says: {words}"),
        None => why,
    };
    Failure::new(what, why).hint(hint)
}

fn loaded_report(
    path: &Path,
    module: &str,
    before: &[Policy],
    after: &[Policy],
    log: Vec<String>,
) -> Result<Report, Failure> {
    let is_new = |policy: &&Policy| before.iter().all(|old| old.id != policy.id);
    let fresh: Vec<&Policy> = after.iter().filter(is_new).collect();
    // Others may load policies at the same time. But a renamed file's module
    // keeps its old name, so that the file's name is only the first guess.
    let own: Vec<&Policy> = fresh
        .iter()
        .filter(|policy| policy.module == module)
        .copied()
        .collect();
    let policies = if own.is_empty() { fresh } else { own };
    if policies.is_empty() {
        return Err(Failure::new(
            format!("{} is loaded, but is no policy", path.display()),
            "it registered none",
        )
        .hint(format!(
            "remove it with 'rmmod {module}'; a policy calls saakm_add_policy() in its init function"
        )));
    }
    let text = policies
        .iter()
        .map(|policy| format!("{}: loaded, id {}\n", policy.name, policy.id))
        .collect();
    let mut report = Report::new(text, "policies", json!(policies));
    report
        .fields
        .insert("module".into(), json!(policies[0].module));
    report.fields.insert("file".into(), json!(path));
    // The kernel accepts a misspelt parameter and only murmurs.
    report.warnings = log
        .into_iter()
        .filter(|line| line.contains("unknown parameter"))
        .collect();
    Ok(report)
}

/// `saakmctl unload`
pub fn unload(host: &Host, wanted: &str) -> Result<Report, Failure> {
    let policies = policy::read(host)?;
    let module = module_of(&policies, wanted)?;
    let gone: Vec<&Policy> = policies
        .iter()
        .filter(|policy| policy.module == module)
        .collect();
    let name = CString::new(module).map_err(|_| policy::unknown(&policies, wanted))?;
    kmod::delete_module(&name, DeleteModuleFlags::O_NONBLOCK)
        .map_err(|errno| explain_unload(module, errno))?;
    let text = gone.iter().map(|policy| unloaded_line(policy)).collect();
    let mut report = Report::new(text, "policies", json!(gone));
    report.fields.insert("module".into(), json!(module));
    Ok(report)
}

fn module_of<'a>(policies: &'a [Policy], wanted: &str) -> Result<&'a str, Failure> {
    let by_name = policies.iter().find(|policy| policy.name == wanted);
    let found = by_name
        .or_else(|| policies.iter().find(|policy| policy.module == wanted))
        .or_else(|| {
            policies
                .iter()
                .find(|policy| policy.id.to_string() == wanted)
        })
        .ok_or_else(|| {
            let mut failure = policy::unknown(policies, wanted);
            failure.hint = Some("'saakmctl list' shows what can be unloaded".into());
            failure
        })?;
    if found.module == "-" {
        return Err(Failure::new(
            format!("cannot unload '{wanted}'"),
            "it is built into the kernel",
        ));
    }
    Ok(&found.module)
}

fn unloaded_line(policy: &Policy) -> String {
    let name = &policy.name;
    match policy.threads {
        0 => format!("{name}: unloaded\n"),
        threads => format!(
            "{name}: unloaded, {} went back to SCHED_OTHER\n",
            text::count(threads, "thread")
        ),
    }
}

fn explain_unload(module: &str, errno: Errno) -> Failure {
    let what = format!("cannot unload module '{module}'");
    match errno {
        Errno::EPERM => {
            Failure::new(what, "removing a module is not permitted").hint(NEEDS_MODULE_CAP)
        }
        Errno::EWOULDBLOCK => Failure::new(what, "something else uses it").hint(format!(
            "'grep {module} /proc/modules' names the modules that do; remove those first"
        )),
        Errno::EBUSY => Failure::new(
            what,
            "it has no exit function, or is being loaded or removed just now",
        )
        .hint("try again; 'grep ^NAME /proc/modules' shows its state"),
        Errno::ENOENT => Failure::new(what, "it is gone already, or built into the kernel")
            .hint("'saakmctl list' shows what is loaded"),
        Errno::ENOSYS => Failure::new(what, NO_MODULES),
        errno => Failure::new(what, errno.desc()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::FakeHost;

    fn policies() -> Vec<Policy> {
        policy::read(&FakeHost::with_policies().host).unwrap()
    }

    fn refusal(sentence: Option<&str>, is_new: bool, log: &[&str]) -> Refusal {
        Refusal {
            sentence: sentence.map(str::to_owned),
            is_new,
            log: log.iter().map(|line| (*line).to_owned()).collect(),
            is_there: false,
        }
    }

    fn explain(errno: Errno, refusal: Refusal) -> Failure {
        explain_load(Path::new("x.ko"), "fifo_mod", errno, &policies(), refusal)
    }

    #[test]
    fn parameters_become_one_line() {
        let join = |params: &[&str]| {
            let params: Vec<String> = params.iter().map(|param| (*param).to_owned()).collect();
            parameters(&params).map(|line| line.into_string().unwrap())
        };
        assert_eq!(join(&[]).unwrap(), "");
        assert_eq!(
            join(&["slice=5", "label=a b", "x="]).unwrap(),
            "slice=5 label=\"a b\" x="
        );
        assert_eq!(join(&["slice"]).unwrap_err().why, "it has no '='");
        assert!(join(&["=1"]).is_err());
        assert!(join(&["a=\" "]).is_err());
    }

    #[test]
    fn the_kernels_newest_word_comes_first() {
        let failure = explain(Errno::EINVAL, refusal(Some("no schedule"), true, &["log"]));
        assert!(
            failure.why.ends_with("the kernel says: no schedule"),
            "{failure}"
        );
        let failure = explain(Errno::EINVAL, refusal(Some("old"), false, &["a", "b"]));
        assert!(failure.why.ends_with("the kernel says: a; b"), "{failure}");
        let failure = explain(Errno::EINVAL, refusal(Some("same"), false, &[]));
        assert!(failure.why.ends_with("same"), "{failure}");
        let failure = explain(Errno::EINVAL, refusal(None, false, &[]));
        assert!(failure.why.contains("EINVAL"), "{failure}");
    }

    #[test]
    fn errors_before_the_policy_ran_are_not_last_errors() {
        assert!(!speaks_of_policies(Errno::ENOEXEC));
        assert!(!speaks_of_policies(Errno::EPERM));
        assert!(speaks_of_policies(Errno::EINVAL));
    }

    #[test]
    fn loading_twice_names_the_policy() {
        let mut there = refusal(None, false, &[]);
        there.is_there = true;
        let failure = explain(Errno::EEXIST, there);
        assert_eq!(failure.why, "'fifo_mod' is loaded already as policy 1");
        assert!(failure.hint.unwrap().contains("unload fifo_mod"));
        let failure = explain(Errno::EEXIST, refusal(None, false, &[]));
        assert_eq!(failure.why, "a policy of this name is loaded already");
    }

    #[test]
    fn gathers_what_the_kernel_left() {
        let fake = FakeHost::with_policies();
        fake.write("proc/modules", "fifo_mod 16384 0 - Live 0x0 (O)\n");
        fake.write("sys/kernel/saakm/last_error", "no schedule\n");
        let gather = |errno, module: &str, old: Option<&str>| {
            let log = kmsg::mark(&fake.host);
            Refusal::gather(&fake.host, errno, module, old.map(str::to_owned), log)
        };
        let new = gather(Errno::EINVAL, "x", None);
        assert_eq!(new.words().as_deref(), Some("no schedule"));
        let stale = gather(Errno::EEXIST, "fifo_mod", Some("no schedule"));
        assert!(stale.is_there && stale.words().is_none());
        let stale = gather(Errno::ENOEXEC, "x", Some("no schedule"));
        assert!(!stale.is_there && stale.words().is_none());
    }

    #[test]
    fn reports_the_new_policy_only() {
        let after = policies();
        let path = Path::new("lottery.ko");
        let log = vec![
            "lottery: unknown parameter 'x' ignored".to_owned(),
            "saakm: policy lottery registered".to_owned(),
        ];
        let report = loaded_report(path, "lottery", &after[1..], &after, log).unwrap();
        assert_eq!(report.text, "lottery: loaded, id 2\n");
        assert_eq!(report.warnings.len(), 1);
        assert_eq!(report.document()["module"], "lottery");
        assert_eq!(report.document()["policies"][0]["id"], 2);

        let renamed = loaded_report(path, "renamed", &after[1..], &after, vec![]).unwrap();
        assert_eq!(renamed.text, "lottery: loaded, id 2\n");
        let failure = loaded_report(path, "e1000", &after, &after, vec![]).unwrap_err();
        assert!(failure.what.contains("is no policy"), "{failure}");
    }

    #[test]
    fn unload_goes_by_name_module_or_id() {
        let policies = policies();
        for wanted in ["fifo", "fifo_mod", "1"] {
            assert_eq!(module_of(&policies, wanted).unwrap(), "fifo_mod");
        }
        let failure = module_of(&policies, "nope").unwrap_err();
        assert!(failure.why.starts_with("loaded are:"), "{failure}");
    }

    #[test]
    fn says_where_the_threads_went() {
        let policies = policies();
        assert_eq!(unloaded_line(&policies[0]), "lottery: unloaded\n");
        assert_eq!(
            unloaded_line(&policies[1]),
            "fifo: unloaded, 3 threads went back to SCHED_OTHER\n"
        );
    }

    #[test]
    fn unload_errors_say_what_to_do() {
        for errno in [Errno::EPERM, Errno::EAGAIN, Errno::EBUSY, Errno::ENOENT] {
            assert!(explain_unload("fifo", errno).hint.is_some());
        }
    }

    #[test]
    fn load_checks_the_kernel_and_the_file_first() {
        let failure = load(&FakeHost::bare().host, "fifo", &[]).unwrap_err();
        assert!(failure.why.contains("no SaaKM"));
        let failure = load(&FakeHost::with_policies().host, "fifo", &[]).unwrap_err();
        assert!(failure.what.contains("cannot find policy"));
    }
}
