// SPDX-License-Identifier: GPL-2.0
//! What the programs refuse, before they ask the kernel for anything.

use std::process::Command;

#[test]
fn cpus_that_there_are_not_are_bad_input() {
    let programs = [
        env!("CARGO_BIN_EXE_fifo"),
        env!("CARGO_BIN_EXE_rustland"),
        env!("CARGO_BIN_EXE_rustland-llc"),
    ];
    let lists = [
        ("0,60000", "there is no CPU 60000"),
        ("", "a list is meant"),
        ("3-1", "a list is meant"),
    ];
    for program in programs {
        for (list, why) in lists {
            let done = Command::new(program)
                .args(["--cpus", list])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{said}");
            assert!(
                said.contains(why) && said.contains("this machine has CPUs 0"),
                "{said}"
            );
        }
    }
}
