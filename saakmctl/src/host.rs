// SPDX-License-Identifier: GPL-2.0
//! The machine as saakmctl sees it: where /proc, /sys and modules are found.
//!
//! Everything that reads a file goes through [`Host`], so that tests can put
//! a directory of their own in the place of `/`.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where to look for things.
#[derive(Debug, Clone)]
pub struct Host {
    root: PathBuf,
    /// The directory that relative policy folders start from.
    pub cwd: PathBuf,
    /// `$SAAKM_POLICIES`: colon-separated folders of policies.
    pub policy_path: Option<OsString>,
    /// The kernel release, as `uname -r` prints it.
    pub release: String,
}

impl Host {
    /// The real machine; `$SAAKM_ROOT` replaces `/` for all that is read or written.
    pub fn from_env() -> Self {
        // SAFETY: getauxval touches nothing, and the kernel always tells this one.
        let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
        Host::from_variables(secure, |name| std::env::var_os(name))
    }

    /// `secure`: the program has rights that its caller lacks, who wrote these variables.
    fn from_variables(secure: bool, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let variable = |name| variable(name).filter(|_| !secure);
        let release = nix::sys::utsname::uname()
            .map(|name| name.release().to_string_lossy().into_owned())
            .unwrap_or_default();
        Host {
            root: variable("SAAKM_ROOT").map_or_else(|| "/".into(), PathBuf::from),
            cwd: ".".into(),
            policy_path: variable("SAAKM_POLICIES"),
            release,
        }
    }

    /// A path below the root, such as `proc/saakm/policies`.
    pub fn path(&self, below: impl AsRef<Path>) -> PathBuf {
        self.root.join(below)
    }

    /// The text of a file below the root.
    pub fn read(&self, below: impl AsRef<Path>) -> io::Result<String> {
        let bytes = std::fs::read(self.path(below))?;
        // A thread may call itself anything, also something that is not UTF-8.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The kernel's sentence about its last refusal, if that was one of this
    /// kind: it keeps a single sentence for policies and threads alike.
    pub fn last_error(&self, kind: Refused) -> Option<String> {
        let text = self.read("sys/kernel/saakm/last_error").ok()?;
        let text = text.trim();
        let of_another_kind = BEGINNINGS
            .iter()
            .any(|(other, beginning)| *other != kind && text.starts_with(beginning));
        (!text.is_empty() && !of_another_kind).then(|| text.to_owned())
    }

    /// Writes into a file of the kernel, which is there or not: none is made.
    pub fn write(&self, below: impl AsRef<Path>, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(self.path(below))?;
        file.write_all(text.as_bytes())
    }
}

/// What the kernel would not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// A policy that was to be loaded.
    Policy,
    /// A thread that was to join.
    Thread,
    /// The wish to eject a policy.
    Ejection,
    /// A policy for a cgroup.
    Cgroup,
}

/// How the kernel's sentences begin.
const BEGINNINGS: [(Refused, &str); 5] = [
    (Refused::Policy, "load "),
    (Refused::Policy, "load:"),
    (Refused::Thread, "sched_setattr:"),
    (Refused::Ejection, "eject:"),
    (Refused::Cgroup, "cgroup:"),
];

/// A temporary root for tests.
#[cfg(test)]
pub mod fake {
    use super::*;

    /// Of [`FakeHost::with_ejected`], as the kernel sets it.
    pub const EJECTED: &str = "\
id  name             number kind              seconds      handler          cpu thread           reason
5   bad                  17 stall                12.345678 none               1 hackbench/412    hackbench/412 has been READY on CPU 1 for 30012 ms; see dmesg
6   quitter              16 policy-error         20.000000 tick               0 -                gave up
";

    /// A directory that stands for `/`, gone when dropped.
    pub struct FakeHost {
        dir: tempfile::TempDir,
        /// The host that looks into that directory.
        pub host: Host,
    }

    impl FakeHost {
        /// A machine with a mounted /proc and a kernel without SaaKM.
        pub fn bare() -> Self {
            let dir = tempfile::tempdir().expect("a temporary directory");
            let host = Host {
                root: dir.path().to_owned(),
                cwd: dir.path().join("cwd"),
                policy_path: None,
                release: "6.12.0-saakm".into(),
            };
            let fake = FakeHost { dir, host };
            fake.write("proc/self/comm", "saakmctl\n");
            fake
        }

        /// A machine with SaaKM and two policies.
        pub fn with_policies() -> Self {
            let fake = FakeHost::bare();
            fake.write(
                "proc/saakm/policies",
                "id name module priority state threads new terminated switches\n\
                 2 lottery lottery 10 active 0 7 7 90\n\
                 1 fifo fifo_mod 0 active 3 5 2 1234567\n\
                 4 old old 0 dying 1 1 0 8\n",
            );
            fake
        }

        /// The same machine with two more policies, both ejected.
        pub fn with_ejected() -> Self {
            let fake = FakeHost::with_policies();
            fake.add_policy("5 bad bad 0 ejected 0 2 2 8");
            fake.add_policy("6 quitter quit_mod 0 ejected 0 1 1 2");
            fake.write("proc/saakm/ejected", EJECTED);
            fake
        }

        /// Adds a row to the table of policies.
        pub fn add_policy(&self, row: &str) {
            let mut text = self.host.read("proc/saakm/policies").expect("policies");
            text.push_str(&format!("{row}\n"));
            self.write("proc/saakm/policies", &text);
        }

        /// Writes a file below the root, and the folders that lead to it.
        pub fn write(&self, below: &str, text: &str) {
            let path = self.dir.path().join(below);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("mkdir");
            std::fs::write(path, text).expect("write");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fake::FakeHost;
    use super::{Host, Path, Refused};

    #[test]
    fn last_error_is_trimmed_and_may_be_missing() {
        let fake = FakeHost::bare();
        assert_eq!(fake.host.last_error(Refused::Policy), None);
        fake.write("sys/kernel/saakm/last_error", "\n");
        assert_eq!(fake.host.last_error(Refused::Policy), None);
        let sentence = "load fifo: the routine schedule is missing";
        fake.write("sys/kernel/saakm/last_error", &format!("{sentence}\n"));
        let found = fake.host.last_error(Refused::Policy);
        assert_eq!(found.as_deref(), Some(sentence));
    }

    #[test]
    fn a_refused_policy_does_not_explain_a_refused_thread() {
        let fake = FakeHost::bare();
        let kinds = [
            Refused::Policy,
            Refused::Thread,
            Refused::Ejection,
            Refused::Cgroup,
        ];
        let about = |sentence| {
            fake.write("sys/kernel/saakm/last_error", sentence);
            kinds.map(|kind| fake.host.last_error(kind).is_some())
        };
        let policy = [true, false, false, false];
        assert_eq!(about("load fifo: 64 policies are loaded"), policy);
        assert_eq!(about("load: a name has no blanks"), policy);
        let thread = [false, true, false, false];
        assert_eq!(about("sched_setattr: no policy has the id 9"), thread);
        let ejection = [false, false, true, false];
        assert_eq!(about("eject: no policy is called x"), ejection);
        let cgroup = [false, false, false, true];
        assert_eq!(about("cgroup: no policy is called x"), cgroup);
    }

    #[test]
    fn variables_of_a_caller_with_fewer_rights_do_not_count() {
        let host = |secure| Host::from_variables(secure, |name| Some(format!("/{name}").into()));
        assert_eq!(host(false).path("x"), Path::new("/SAAKM_ROOT/x"));
        assert_eq!(host(false).policy_path, Some("/SAAKM_POLICIES".into()));
        assert_eq!(host(true).path("x"), Path::new("/x"));
        assert_eq!(host(true).policy_path, None);
    }

    #[test]
    fn writing_makes_no_files() {
        let fake = FakeHost::bare();
        let error = fake.host.write("sys/kernel/saakm/eject", "x").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        fake.write("sys/kernel/saakm/eject", "");
        fake.host.write("sys/kernel/saakm/eject", "x").unwrap();
        assert_eq!(fake.host.read("sys/kernel/saakm/eject").unwrap(), "x");
    }
}
