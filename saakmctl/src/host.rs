// SPDX-License-Identifier: GPL-2.0
//! The machine as saakmctl sees it: where /proc, /sys and modules are found.
//!
//! Everything that reads a file goes through [`Host`], so that tests can put
//! a directory of their own in the place of `/`.

use std::ffi::OsString;
use std::io;
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
    /// The real machine; `$SAAKM_ROOT` replaces `/` for everything that is read.
    pub fn from_env() -> Self {
        let release = nix::sys::utsname::uname()
            .map(|name| name.release().to_string_lossy().into_owned())
            .unwrap_or_default();
        Host {
            root: std::env::var_os("SAAKM_ROOT").map_or_else(|| "/".into(), PathBuf::from),
            cwd: ".".into(),
            policy_path: std::env::var_os("SAAKM_POLICIES"),
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
        let other = match kind {
            Refused::Policy => "sched_setattr:",
            Refused::Thread => "load ",
        };
        (!text.is_empty() && !text.starts_with(other)).then(|| text.to_owned())
    }
}

/// What the kernel would not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// A policy that was to be loaded.
    Policy,
    /// A thread that was to join.
    Thread,
}

/// A temporary root for tests.
#[cfg(test)]
pub mod fake {
    use super::*;

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
    use super::Refused;

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
        let both = |sentence| {
            fake.write("sys/kernel/saakm/last_error", sentence);
            [Refused::Policy, Refused::Thread].map(|kind| fake.host.last_error(kind).is_some())
        };
        assert_eq!(both("load fifo: 64 policies are loaded"), [true, false]);
        assert_eq!(both("sched_setattr: no policy has the id 9"), [false, true]);
    }
}
