// SPDX-License-Identifier: GPL-2.0
//! The C header and its mirror in Rust say the same.

#![cfg(not(any(loom, shuttle)))]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;

use saakm_user::protocol as rust;
use saakm_user::protocol::{Attach, Decision, EventHead, Page, State};

type Numbers = BTreeMap<String, u64>;

macro_rules! structure {
    ($numbers:ident, $c:literal, $rust:ty, $($field:ident)*) => {
        $($numbers.insert(
            format!("offsetof({}, {})", $c, stringify!($field)),
            offset_of!($rust, $field) as u64,
        );)*
        $numbers.insert(format!("sizeof({})", $c), size_of::<$rust>() as u64);
    };
}

fn ours() -> Numbers {
    let mut all = Numbers::new();
    structure!(all, "struct user_page", Page, protocol nr_cpus event_bytes events_at decisions_at
        idle_at bytes events_written decisions_read retire lost events_read decisions_written held);
    structure!(all, "struct user_event", EventHead, at_ns start_ns stop_ns used_ns exec_ns pid
        tgid generation weight cpu nr_allowed waker kind flags comm);
    structure!(all, "struct user_decision", Decision, key slice_ns pid generation cpu flags);
    structure!(all, "struct user_attach", Attach, protocol flags cpus cpus_bytes unused name
        sentence);
    structure!(all, "struct user_state", State, data bytes);
    let numbers = [
        (
            "offsetof(struct user_event, allowed)",
            rust::EVENT_WORDS as u64 * 8,
        ),
        ("USER_PROTOCOL", rust::PROTOCOL.into()),
        ("USER_RECORDS", rust::RECORDS.into()),
        ("USER_NAME_LEN", rust::NAME_LEN as u64),
        ("USER_ANY", rust::ANY as u64),
        ("USER_READY", rust::kind::READY.into()),
        ("USER_CHANGED", rust::kind::CHANGED.into()),
        ("USER_SLEEPS", rust::kind::SLEEPS.into()),
        ("USER_LEFT", rust::kind::LEFT.into()),
        ("USER_NEW", rust::why::NEW.into()),
        ("USER_WOKEN", rust::why::WOKEN.into()),
        ("USER_SYNC", rust::why::SYNC.into()),
        ("USER_SLICE", rust::why::SLICE.into()),
        ("USER_YIELDED", rust::why::YIELDED.into()),
        ("USER_MOVED", rust::why::MOVED.into()),
        ("USER_PREEMPT", rust::PREEMPT.into()),
        ("USER_TICKS", rust::TICKS.into()),
        ("USER_TAKE_OVER", rust::attach::TAKE_OVER.into()),
        ("USER_TELL_SLEEPS", rust::attach::TELL_SLEEPS.into()),
        ("USER_NO_FAST_PATH", rust::attach::NO_FAST_PATH.into()),
        ("USER_NO_BURST", rust::attach::NO_BURST.into()),
        ("USER_ATTACH", rust::ATTACH.into()),
        ("USER_PARK", rust::PARK.into()),
        ("USER_SUBMIT", rust::SUBMIT.into()),
        ("USER_SAVE", rust::SAVE.into()),
        ("USER_LOAD", rust::LOAD.into()),
    ];
    all.extend(numbers.map(|(name, number)| (name.to_owned(), number)));
    all
}

/// What the C compiler makes of the same expressions.
fn theirs(names: impl Iterator<Item = String>) -> Numbers {
    let header = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../policies/user/protocol.h"
    );
    let mut source = format!("#include <stdio.h>\n#include <stddef.h>\n#include \"{header}\"\n");
    source += "int main(void)\n{\n";
    for name in names {
        writeln!(
            source,
            "printf(\"%lld %s\\n\", (long long)({name}), \"{name}\");"
        )
        .unwrap();
    }
    source += "puts(\"0 \" USER_DEVICE);\n}\n";
    let dir = tempdir();
    let (file, program) = (dir.join("dump.c"), dir.join("dump"));
    std::fs::write(&file, source).unwrap();
    let compiled = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .arg(&file)
        .status();
    assert!(compiled.expect("a C compiler").success());
    let output = Command::new(&program).output().unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let (number, name) = line.split_once(' ').unwrap();
        (name.to_owned(), number.parse::<i64>().unwrap() as u64)
    };
    text.lines().map(line).collect()
}

fn tempdir() -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("saakm-protocol-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn the_header_and_its_mirror_are_the_same() {
    let ours = ours();
    let mut theirs = theirs(ours.keys().cloned());
    assert_eq!(theirs.remove(rust::DEVICE), Some(0), "the device's name");
    assert_eq!(theirs, ours);
}
