// SPDX-License-Identifier: GPL-2.0
//! `saakmctl exec`: become another program, under a policy.

use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use nix::errno::Errno;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::join::{self, Request};

/// saakmctl itself failed; the command was not tried.
pub const EXIT_OWN: u8 = 125;
/// The command is there but could not be started.
pub const EXIT_CANNOT_RUN: u8 = 126;
/// The command was not found.
pub const EXIT_NOT_FOUND: u8 = 127;

/// Returns only when it failed, with the exit status that says how.
pub fn exec(host: &Host, request: &Request, command: Vec<OsString>) -> (u8, Failure) {
    let args: Result<Vec<CString>, _> = command
        .into_iter()
        .map(|arg| CString::new(arg.into_vec()))
        .collect();
    let Ok(args) = args else {
        // Cannot come from a shell: the kernel ends each argument at a NUL.
        let failure = Failure::new("cannot run the command", "an argument holds a NUL");
        return (EXIT_OWN, failure);
    };
    if let Err(failure) = join::apply(host, 0, request) {
        return (EXIT_OWN, failure);
    }
    // Not std's exec: it would empty the signal mask that the command inherits.
    match nix::unistd::execvp(&args[0], &args) {
        Ok(never) => match never {},
        Err(errno) => explain(&args[0], errno),
    }
}

fn explain(program: &CStr, errno: Errno) -> (u8, Failure) {
    let name = program.to_string_lossy();
    let what = format!("cannot run '{name}'");
    let path = Path::new(std::ffi::OsStr::from_bytes(program.to_bytes()));
    match errno {
        Errno::ENOENT if name.contains('/') && path.exists() => {
            let why = "the file is there, but not the interpreter or loader it names";
            let hint =
                "'head -1' shows the interpreter of a script, 'file' the loader of a program";
            (EXIT_NOT_FOUND, Failure::new(what, why).hint(hint))
        }
        Errno::ENOENT if name.contains('/') => (EXIT_NOT_FOUND, Failure::new(what, "no such file")),
        Errno::ENOENT => {
            let why = "no directory in $PATH has it";
            let hint = "give its whole path, or install it";
            (EXIT_NOT_FOUND, Failure::new(what, why).hint(hint))
        }
        Errno::EACCES => {
            let hint = format!("if it is a program: chmod +x {name}");
            let failure = Failure::new(what, "permission denied (EACCES)").hint(hint);
            (EXIT_CANNOT_RUN, failure)
        }
        errno => (EXIT_CANNOT_RUN, Failure::new(what, errno.desc())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_those_of_env() {
        let status = |name: &CStr, errno| explain(name, errno).0;
        assert_eq!(status(c"nope", Errno::ENOENT), 127);
        assert_eq!(status(c"/nope/x", Errno::ENOENT), 127);
        assert_eq!(status(c"/etc/passwd", Errno::EACCES), 126);
        assert_eq!(status(c"x", Errno::ENOEXEC), 126);
    }

    #[test]
    fn a_missing_interpreter_is_told_from_a_missing_file() {
        assert!(explain(c"/etc/passwd", Errno::ENOENT)
            .1
            .why
            .contains("interpreter"));
        assert_eq!(explain(c"/nope/x", Errno::ENOENT).1.why, "no such file");
    }
}
