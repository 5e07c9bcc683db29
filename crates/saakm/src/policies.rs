// SPDX-License-Identifier: GPL-2.0
//! The loaded policies, as /proc/saakm/policies has them.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::str::FromStr;

use serde::Serialize;

use crate::ejected::{self, Exit};
use crate::failure::Failure;
use crate::host::Host;

const TABLE: &str = "proc/saakm/policies";

/// One row of `/proc/saakm/policies`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The number that `sched_attr` carries.
    pub id: u32,
    /// The name.
    pub name: String,
    /// The kernel module it lives in.
    pub module: String,
    /// Its place in the election order.
    pub priority: i64,
    /// `active`, `dying` or `ejected`.
    pub state: String,
    /// Threads it has now.
    pub threads: u64,
    /// Threads that ever joined.
    pub new: u64,
    /// Threads that ever left.
    pub terminated: u64,
    /// How often one of its threads got a CPU.
    pub switches: u64,
    /// Why it was ejected, if it was and the reason is known.
    pub exit: Option<Exit>,
}

impl Policy {
    /// True while it is being removed and takes no more threads.
    pub fn is_dying(&self) -> bool {
        self.state == "dying"
    }

    /// True when it has lost its threads for good; its module is still there.
    pub fn is_ejected(&self) -> bool {
        self.state == "ejected"
    }

    /// True while it takes threads.
    pub fn is_live(&self) -> bool {
        !self.is_dying() && !self.is_ejected()
    }

    /// `it was ejected (stall): its reason`
    pub fn why_ejected(&self) -> String {
        let cause = self.exit.as_ref().map(Exit::cause);
        format!("it was {}", cause.as_deref().unwrap_or("ejected"))
    }
}

/// Reads the loaded policies, in election order.
pub fn read(host: &Host) -> Result<Vec<Policy>, Failure> {
    let what = "cannot read the loaded policies";
    match host.read(TABLE) {
        Ok(text) => parse(&text)
            .map(|policies| with_exits(host, policies))
            .map_err(|why| {
                Failure::new(what, format!("/{TABLE}: {why}"))
                    .hint("use the saakmctl that comes with this kernel")
            }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if host.path("proc/self").exists() {
                Err(Failure::no_saakm(what))
            } else {
                Err(Failure::new(what, "/proc is not mounted")
                    .hint("mount it with: mount -t proc proc /proc"))
            }
        }
        Err(error) => Err(Failure::new(what, format!("/{TABLE}: {error}"))),
    }
}

/// `exec` shall be quick: the second file is read only if there is need.
fn with_exits(host: &Host, mut policies: Vec<Policy>) -> Vec<Policy> {
    if policies.iter().any(Policy::is_ejected) {
        let mut exits = ejected::read(host);
        for policy in policies.iter_mut().filter(|policy| policy.is_ejected()) {
            policy.exit = exits.remove(&policy.id);
        }
    }
    policies
}

/// Columns are found by their names, so that a newer kernel may add some.
fn parse(text: &str) -> Result<Vec<Policy>, String> {
    // A name on an older kernel may hold what Unicode or C call blanks and line ends.
    let cells = |line| str::split(line, ' ').filter(|cell| !cell.is_empty());
    let mut lines = text.split('\n').filter(|line| !line.trim().is_empty());
    let header: Vec<&str> = cells(lines.next().ok_or("it is empty")?).collect();
    lines
        .map(|line| {
            let row: HashMap<&str, &str> = header.iter().copied().zip(cells(line)).collect();
            parse_row(&row).map_err(|why| format!("{why} in '{line}'"))
        })
        .collect()
}

fn parse_row(row: &HashMap<&str, &str>) -> Result<Policy, String> {
    Ok(Policy {
        id: field(row, "id")?,
        name: field(row, "name")?,
        module: field(row, "module")?,
        priority: field(row, "priority")?,
        state: field(row, "state")?,
        threads: field(row, "threads")?,
        new: field(row, "new")?,
        terminated: field(row, "terminated")?,
        switches: field(row, "switches")?,
        exit: None,
    })
}

fn field<T: FromStr>(row: &HashMap<&str, &str>, name: &str) -> Result<T, String> {
    let text = row.get(name).ok_or_else(|| format!("no column '{name}'"))?;
    text.parse()
        .map_err(|_| format!("'{text}' is no valid '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    #[test]
    fn reads_rows_in_election_order() {
        let policies = read(&FakeHost::with_policies().host).unwrap();
        let ids: Vec<u32> = policies.iter().map(|policy| policy.id).collect();
        assert_eq!(ids, [2, 1, 4]);
        assert_eq!(policies[1].module, "fifo_mod");
        assert_eq!(policies[1].switches, 1_234_567);
        assert!(policies[2].is_dying());
    }

    #[test]
    fn a_newer_kernel_may_add_and_move_columns() {
        let rows = parse(
            "name id extra module priority state threads new terminated switches\n\
             fifo 1 9 fifo -3 active 0 0 0 0\n",
        )
        .unwrap();
        assert_eq!(
            (rows[0].id, rows[0].name.as_str(), rows[0].priority),
            (1, "fifo", -3)
        );
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(parse("").unwrap_err(), "it is empty");
        let header = "id name module priority state threads new terminated switches\n";
        assert_eq!(parse(header).unwrap(), []);
        let error = parse(&format!("{header}x fifo fifo 0 active 0 0 0 0\n")).unwrap_err();
        assert!(error.starts_with("'x' is no valid 'id'"), "{error}");
        let error = parse("id\n1\n").unwrap_err();
        assert!(error.starts_with("no column 'name'"), "{error}");
    }

    #[test]
    fn without_saakm_it_says_which_kernel_to_boot() {
        let failure = read(&FakeHost::bare().host).unwrap_err();
        assert!(failure.why.contains("CONFIG_SCHED_CLASS_SAAKM"));
        assert!(failure.hint.unwrap().contains("./saakm shell"));
    }

    #[test]
    fn without_proc_it_says_so() {
        let fake = FakeHost::bare();
        std::fs::remove_dir_all(fake.host.path("proc")).unwrap();
        assert_eq!(read(&fake.host).unwrap_err().why, "/proc is not mounted");
    }
}
