// SPDX-License-Identifier: GPL-2.0
//! Policies are kernel modules: loading and removing one, and why the kernel would not.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::kmod::{self, DeleteModuleFlags, ModuleInitFlags};
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::policies::{self, Policy};
use saakm::sysfs::{self, Refused};

use crate::find::ModuleFile;
use crate::kmsg::{self, Mark};

const NEEDS_MODULE_CAP: &str = "run it as root (CAP_SYS_MODULE)";
const NO_MODULES: &str = "this kernel takes no modules (CONFIG_MODULES)";

/// A module that was loaded just now.
#[derive(Debug)]
pub struct Loaded {
    /// Its file.
    pub path: PathBuf,
    /// Its policies; there is one at least.
    pub policies: Vec<Policy>,
    /// All policies that are loaded now.
    pub after: Vec<Policy>,
    /// What the kernel logged about it.
    pub log: Vec<String>,
}

/// Loads a module file; `before` are the policies that were loaded so far.
pub fn insert(
    host: &Host,
    before: &[Policy],
    file: &ModuleFile,
    params: &[String],
) -> Result<Loaded, Failure> {
    let (path, module) = (file.path.as_path(), file.name());
    let params = parameters(params)?;
    let old_error = sysfs::last_error(host, Refused::Policy);
    let log = kmsg::mark(host);
    if let Err(errno) = kmod::finit_module(&file.file, &params, ModuleInitFlags::empty()) {
        let refusal = Refusal::gather(host, errno, &module, old_error, log);
        return Err(explain_load(path, &module, errno, before, refusal));
    }
    let after = policies::read(host)?;
    Loaded::new(path, &module, before, after, log.lines_about(&module))
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
        if name.is_empty() || name.bytes().any(is_blank) || name.contains('"') {
            return Err(bad("it has no good name"));
        }
        // It would go on into the next parameter.
        if value.matches('"').count() % 2 == 1 {
            return Err(bad("a quote in it has no end"));
        }
        if !value.bytes().any(is_blank) {
            words.push(param.clone());
        } else if value.contains('"') {
            return Err(bad("the kernel cannot take quotes and blanks in one value"));
        } else {
            words.push(format!("{name}=\"{value}\""));
        }
    }
    CString::new(words.join(" ")).map_err(|_| Failure::new("bad parameter", "it holds a NUL"))
}

/// What the kernel's isspace() takes, byte by byte: also the second one of "à".
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13 | 0xa0)
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
        let sentence = sysfs::last_error(host, Refused::Policy);
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

    /// The module was taken, and the policy then refused: "load NAME: why".
    /// Its errors are of its own choice and mean nothing else.
    fn is_of_the_policy(&self) -> bool {
        let begins = |sentence: &String| sentence.starts_with("load ");
        self.is_new && self.sentence.as_ref().is_some_and(begins)
    }

    fn is_of_another_edition(&self) -> bool {
        let says = |sentence: &String| sentence.contains(" was built for edition ");
        self.sentence.as_ref().is_some_and(says)
    }

    /// The name of the policy, which need not be that of its module.
    fn policy_name(&self) -> Option<&str> {
        let (name, _) = self
            .sentence
            .as_ref()?
            .strip_prefix("load ")?
            .split_once(':')?;
        Some(name)
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
        Errno::EEXIST if refusal.is_there => explain_module_taken(module, before),
        Errno::EEXIST => explain_name_taken(module, before, &refusal),
        Errno::EPROTO if refusal.is_of_another_edition() => (
            "it was built for another edition of the API".to_owned(),
            "build it for this kernel; its source may need \
             docs/how-to/port-to-second-edition.md"
                .to_owned(),
        ),
        errno if refusal.is_of_the_policy() => explain_refused(errno),
        Errno::EPERM => (
            "loading a module is not permitted".to_owned(),
            format!("{NEEDS_MODULE_CAP}; a locked-down kernel loads none at all"),
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
        errno => explain_refused(errno),
    };
    let why = match refusal.words() {
        Some(words) => format!("{why}; the kernel says: {words}"),
        None => why,
    };
    Failure::new(what, why).hint(hint)
}

fn explain_refused(errno: Errno) -> (String, String) {
    (
        format!("it was refused ({errno:?}: {})", errno.desc()),
        "correct the policy or its parameters; 'dmesg' may say more".to_owned(),
    )
}

/// The module is there already.
fn explain_module_taken(module: &str, before: &[Policy]) -> (String, String) {
    let held: Vec<&Policy> = before
        .iter()
        .filter(|policy| policy.module == module)
        .collect();
    let ids: Vec<String> = held
        .iter()
        .map(|policy| {
            let end = if policy.is_ejected() {
                ", which was ejected"
            } else {
                ""
            };
            format!(" as policy {}{end}", policy.id)
        })
        .collect();
    // The name of the module may be that of a policy in another one.
    let it = match (lookup::module_of(before, module), held.first()) {
        (Ok(meant), Some(policy)) if meant != module => policy.id.to_string(),
        _ => module.to_owned(),
    };
    (
        format!("'{module}' is loaded already{}", ids.join(",")),
        format!("to load it anew: saakmctl unload {it}, then load it again"),
    )
}

/// The module is new, but its policy's name is taken.
fn explain_name_taken(module: &str, before: &[Policy], refusal: &Refusal) -> (String, String) {
    let name = refusal.policy_name().unwrap_or(module);
    match lookup::named(before, name) {
        Some(holder) if holder.is_ejected() => (
            format!(
                "'{name}' is still the name of policy {}, which was ejected",
                holder.id
            ),
            format!("unload that first: saakmctl unload {name}"),
        ),
        _ => (
            "a policy of this name is loaded already".to_owned(),
            "'saakmctl list' shows which module holds it; unload that first".to_owned(),
        ),
    }
}

impl Loaded {
    /// Finds its policies among those that are loaded now.
    pub fn new(
        path: &Path,
        module: &str,
        before: &[Policy],
        after: Vec<Policy>,
        log: Vec<String>,
    ) -> Result<Self, Failure> {
        let is_new = |policy: &&Policy| before.iter().all(|old| old.id != policy.id);
        let fresh: Vec<Policy> = after.iter().filter(is_new).cloned().collect();
        // Others may load policies at the same time. But the name of an old
        // module is only guessed from its file.
        let is_own = |policy: &&Policy| policy.module == module;
        let own: Vec<Policy> = fresh.iter().filter(is_own).cloned().collect();
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
        Ok(Loaded {
            path: path.to_owned(),
            policies,
            after,
            log,
        })
    }
}

/// Removes a module from the kernel.
pub fn remove(module: &str) -> Result<(), Failure> {
    CString::new(module)
        .map_err(|_| Errno::ENOENT)
        .and_then(|name| kmod::delete_module(&name, DeleteModuleFlags::O_NONBLOCK))
        .map_err(|errno| explain_unload(module, errno))
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
    use saakm::fake::FakeHost;

    fn policies() -> Vec<Policy> {
        policies::read(&FakeHost::with_policies().host).unwrap()
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
        assert!(join(&["a=\"", "b=\""]).is_err());
        assert!(join(&["\"a=1", "b\"=1"]).is_err());
        assert_eq!(join(&["a=à", "b=ä"]).unwrap(), "a=\"à\" b=ä");
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
    fn an_ejected_policy_that_holds_the_name_goes_first() {
        let fake = FakeHost::with_ejected();
        let before = || policies::read(&fake.host).unwrap();
        let taken = "load quitter: a policy of this name is ejected but not unloaded";
        let path = Path::new("x.ko");
        let named = refusal(Some(taken), true, &[]);
        let failure = explain_load(path, "x", Errno::EEXIST, &before(), named);
        let why = "'quitter' is still the name of policy 6, which was ejected; the kernel says:";
        assert!(failure.why.starts_with(why), "{failure}");
        let hint = failure.hint.unwrap();
        assert_eq!(hint, "unload that first: saakmctl unload quitter");

        let (why, hint) = explain_module_taken("bad", &before());
        assert_eq!(
            why,
            "'bad' is loaded already as policy 5, which was ejected"
        );
        assert!(hint.contains("saakmctl unload bad,"), "{hint}");
        fake.add_policy("8 bad bad2 0 active 0 0 0 0");
        let (_, hint) = explain_module_taken("bad", &before());
        assert!(hint.contains("saakmctl unload 5,"), "{hint}");
    }

    #[test]
    fn an_errno_of_the_policys_choice_is_not_the_loaders() {
        let words = "load new: it refused to replace fifo (-2)";
        let failure = explain(Errno::ENOENT, refusal(Some(words), true, &[]));
        assert!(failure.why.starts_with("it was refused (ENOENT"));
        assert!(failure.why.ends_with(words), "{failure}");
        let failure = explain(Errno::ENOENT, refusal(None, false, &[]));
        assert!(failure.why.contains("a symbol"), "{failure}");
    }

    #[test]
    fn another_edition_is_ported_to() {
        let words = "load old: the module was built for edition 1 of the API, this kernel has 2";
        // The second time the sentence is the same.
        for is_new in [true, false] {
            let failure = explain(Errno::EPROTO, refusal(Some(words), is_new, &[]));
            assert!(failure.why.contains("another edition") && failure.why.ends_with(words));
            assert!(
                failure.to_string().contains("port-to-second-edition"),
                "{failure}"
            );
        }
        let own = "load new: its init returned -71";
        let failure = explain(Errno::EPROTO, refusal(Some(own), true, &[]));
        assert!(failure.why.starts_with("it was refused"), "{failure}");
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
    fn unload_errors_say_what_to_do() {
        for errno in [Errno::EPERM, Errno::EAGAIN, Errno::EBUSY, Errno::ENOENT] {
            assert!(explain_unload("fifo", errno).hint.is_some());
        }
    }
}
