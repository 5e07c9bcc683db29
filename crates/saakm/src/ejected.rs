// SPDX-License-Identifier: GPL-2.0
//! Why a policy was ejected: it has lost its threads, but its module is there.

use std::collections::HashMap;

use serde::Serialize;

use crate::host::Host;

const TABLE: &str = "proc/saakm/ejected";

/// From this number on the policy is at fault; below, somebody wished it.
const FIRST_FAULT: u32 = 16;

/// The end of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exit {
    /// A word for the cause, such as `stall`.
    pub kind: String,
    /// The kernel's number of that cause.
    pub number: u32,
    /// When, in the time of the kernel's log.
    pub seconds: f64,
    /// The handler that was at work.
    pub handler: Option<String>,
    /// The CPU on which it was noticed.
    pub cpu: u32,
    /// The thread that it was about, as NAME/TID.
    pub thread: Option<String>,
    /// The kernel's sentence.
    pub reason: String,
}

impl Exit {
    /// True when another policy has its threads.
    pub fn is_replacement(&self) -> bool {
        self.kind == "replaced"
    }

    /// True when the policy did something that it must not.
    pub fn is_fault(&self) -> bool {
        self.number >= FIRST_FAULT
    }

    /// `ejected (stall): its reason`
    pub fn cause(&self) -> String {
        self.with_reason(format!("ejected ({})", self.kind))
    }

    /// `ejected at 12.345678 s (stall) in tick, thread job/412: its reason`
    pub fn story(&self) -> String {
        let mut story = format!("ejected at {:.6} s ({})", self.seconds, self.kind);
        if let Some(handler) = &self.handler {
            story.push_str(&format!(" in {handler}"));
        }
        if let Some(thread) = &self.thread {
            story.push_str(&format!(", thread {thread}"));
        }
        self.with_reason(story)
    }

    fn with_reason(&self, story: String) -> String {
        match self.reason.as_str() {
            "" => story,
            reason => format!("{story}: {reason}"),
        }
    }
}

/// The kernel's words for "there is none".
pub fn unless_none(word: &str) -> Option<String> {
    (!matches!(word, "" | "-" | "none")).then(|| word.to_owned())
}

/// Reads why policies were ejected, by their ids. An older kernel ejects none.
pub fn read(host: &Host) -> HashMap<u32, Exit> {
    parse(&host.read(TABLE).unwrap_or_default())
}

/// A row that cannot be read is left out: that a policy was ejected is known
/// without it, and loading and listing must not fail for want of the reason.
fn parse(text: &str) -> HashMap<u32, Exit> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    lines.filter_map(|line| parse_row(&header, line)).collect()
}

fn parse_row(header: &[&str], line: &str) -> Option<(u32, Exit)> {
    let row: HashMap<&str, &str> = header
        .iter()
        .copied()
        .zip(cells(line, header.len()))
        .collect();
    let exit = Exit {
        kind: (*row.get("kind")?).to_owned(),
        number: row.get("number")?.parse().ok()?,
        seconds: row.get("seconds")?.parse().ok()?,
        handler: unless_none(row.get("handler")?),
        cpu: row.get("cpu")?.parse().ok()?,
        thread: unless_none(row.get("thread")?),
        reason: (*row.get("reason")?).to_owned(),
    };
    Some((row.get("id")?.parse().ok()?, exit))
}

/// The last one goes to the end of the line, blanks and all.
fn cells(line: &str, count: usize) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut rest = line.trim_ascii_start();
    while cells.len() + 1 < count {
        let (cell, tail) = rest
            .split_once(|char: char| char.is_ascii_whitespace())
            .unwrap_or((rest, ""));
        cells.push(cell);
        rest = tail.trim_ascii_start();
    }
    cells.push(rest.trim_ascii_end());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeHost, EJECTED};

    #[test]
    fn the_reason_goes_to_the_end_of_the_line() {
        let exits = parse(EJECTED);
        assert_eq!(exits.len(), 2);
        let stall = &exits[&5];
        assert_eq!((stall.number, stall.cpu), (17, 1));
        assert_eq!(stall.seconds, 12.345678);
        assert_eq!(stall.handler, None);
        assert_eq!(stall.thread.as_deref(), Some("hackbench/412"));
        assert_eq!(
            stall.reason,
            "hackbench/412 has been READY on CPU 1 for 30012 ms; see dmesg"
        );
        assert_eq!(exits[&6].handler.as_deref(), Some("tick"));
        assert_eq!(exits[&6].thread, None);
    }

    #[test]
    fn says_what_is_known_and_no_more() {
        let exits = parse(EJECTED);
        assert_eq!(
            exits[&5].story(),
            "ejected at 12.345678 s (stall), thread hackbench/412: hackbench/412 has \
             been READY on CPU 1 for 30012 ms; see dmesg"
        );
        assert_eq!(
            exits[&6].story(),
            "ejected at 20.000000 s (policy-error) in tick: gave up"
        );
        assert_eq!(exits[&6].cause(), "ejected (policy-error): gave up");
        // The kernel sets the kind a moment before the reason.
        let mut fresh = exits[&6].clone();
        fresh.reason.clear();
        assert_eq!(fresh.cause(), "ejected (policy-error)");
    }

    #[test]
    fn a_newer_kernel_may_add_and_move_columns() {
        let exits = parse(
            "name id more reason_code number kind seconds handler cpu thread reason\n\
             bad 3 x y 18 overrun 1.5 tick 0 - too slow\n",
        );
        assert_eq!(
            exits[&3].story(),
            "ejected at 1.500000 s (overrun) in tick: too slow"
        );
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        assert!(read(&FakeHost::bare().host).is_empty());
        assert!(parse("").is_empty());
        let header = EJECTED.lines().next().unwrap();
        let exits = parse(&format!("{header}\nforged by a newline in a name\n7\n\n"));
        assert!(exits.is_empty());
    }

    #[test]
    fn faults_and_wishes_differ() {
        let mut exit = parse(EJECTED)[&5].clone();
        assert!(exit.is_fault() && !exit.is_replacement());
        exit.kind = "replaced".into();
        exit.number = 2;
        assert!(!exit.is_fault() && exit.is_replacement());
    }
}
