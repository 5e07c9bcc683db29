// SPDX-License-Identifier: GPL-2.0
//! `saakmctl exec`: become another program, under a policy.

use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::errno::Errno;

use crate::attr::{self, Request};
use crate::failure::Failure;
use crate::host::Host;

/// saakmctl itself failed; the command was not tried.
pub const EXIT_OWN: u8 = 125;
/// The command is there but could not be started.
pub const EXIT_CANNOT_RUN: u8 = 126;
/// The command was not found.
pub const EXIT_NOT_FOUND: u8 = 127;

/// Returns only when it failed.
pub fn exec(host: &Host, request: &Request, command: Vec<OsString>) -> Failure {
    let args: Result<Vec<CString>, _> = command
        .into_iter()
        .map(|arg| CString::new(arg.into_vec()))
        .collect();
    let Ok(args) = args else {
        // Cannot come from a shell: the kernel ends each argument at a NUL.
        return Failure::new("cannot run the command", "an argument holds a NUL").status(EXIT_OWN);
    };
    if let Err(failure) = attr::apply(host, 0, request) {
        return failure.status(EXIT_OWN);
    }
    // Not std's exec: it would empty the signal mask that the command inherits.
    match nix::unistd::execvp(&args[0], &args) {
        Ok(never) => match never {},
        Err(errno) => explain(&args[0], errno),
    }
}

fn explain(program: &CStr, errno: Errno) -> Failure {
    let name = program.to_string_lossy();
    let what = format!("cannot run '{name}'");
    let path = Path::new(std::ffi::OsStr::from_bytes(program.to_bytes()));
    match errno {
        Errno::ENOENT if name.contains('/') && path.exists() => Failure::new(
            what,
            "the file is there, but not the interpreter or loader it names",
        )
        .hint("'head -1' shows the interpreter of a script, 'file' the loader of a program")
        .status(EXIT_NOT_FOUND),
        Errno::ENOENT if name.contains('/') => {
            Failure::new(what, "no such file").status(EXIT_NOT_FOUND)
        }
        Errno::ENOENT => Failure::new(what, "no directory in $PATH has it")
            .hint("give its whole path, or install it")
            .status(EXIT_NOT_FOUND),
        Errno::EACCES => Failure::new(what, "permission denied (EACCES)")
            .hint(format!("if it is a program: chmod +x {name}"))
            .status(EXIT_CANNOT_RUN),
        errno => Failure::new(what, errno.desc()).status(EXIT_CANNOT_RUN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_env() {
        let status = |name: &CStr, errno| explain(name, errno).status;
        assert_eq!(status(c"nope", Errno::ENOENT), 127);
        assert_eq!(status(c"/nope/x", Errno::ENOENT), 127);
        assert_eq!(status(c"/etc/passwd", Errno::EACCES), 126);
        assert_eq!(status(c"x", Errno::ENOEXEC), 126);
    }

    #[test]
    fn a_missing_interpreter_is_told_from_a_missing_file() {
        assert!(explain(c"/etc/passwd", Errno::ENOENT)
            .why
            .contains("interpreter"));
        assert_eq!(explain(c"/nope/x", Errno::ENOENT).why, "no such file");
    }
}
