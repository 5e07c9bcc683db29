// SPDX-License-Identifier: GPL-2.0
//! The machine as programs see it: where /proc, /sys and modules are found.
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
}

impl Host {
    /// The real machine; `$SAAKM_ROOT` replaces `/` for all that is read or written.
    pub fn from_env() -> Self {
        Host::at(variable("SAAKM_ROOT").unwrap_or_else(|| "/".into()))
    }

    /// The machine whose `/` is this directory.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Host { root: root.into() }
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

    /// Writes into a file of the kernel, which is there or not: none is made.
    pub fn write(&self, below: impl AsRef<Path>, text: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).open(self.path(below))?;
        file.write_all(text.as_bytes())
    }
}

/// A variable of the environment. It does not count when the program has rights that its
/// caller lacks, who wrote it.
pub fn variable(name: &str) -> Option<OsString> {
    // SAFETY: getauxval touches nothing, and the kernel always tells this one.
    let secure = unsafe { libc::getauxval(libc::AT_SECURE) } != 0;
    unless(secure, std::env::var_os(name))
}

fn unless(secure: bool, value: Option<OsString>) -> Option<OsString> {
    value.filter(|_| !secure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    #[test]
    fn variables_of_a_caller_with_fewer_rights_do_not_count() {
        assert_eq!(unless(false, Some("/x".into())), Some("/x".into()));
        assert_eq!(unless(true, Some("/x".into())), None);
        assert_eq!(unless(false, None), None);
    }

    #[test]
    fn paths_are_below_the_root() {
        assert_eq!(Host::at("/a").path("x"), Path::new("/a/x"));
        assert_eq!(Host::at("/").path("x"), Path::new("/x"));
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
