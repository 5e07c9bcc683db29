// SPDX-License-Identifier: GPL-2.0
//! The levels of CPUs that policies see, nearest to farthest.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::failure::Failure;
use crate::host::Host;
use crate::policies;

const TABLE: &str = "proc/saakm/topology";

/// One level of one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Its place, nearest first.
    pub level: u32,
    /// What its CPUs share, such as `smt`.
    pub kind: String,
    /// Its CPUs, as a list of ranges.
    pub span: String,
}

/// Each CPU with its levels, nearest first.
pub type Topology = BTreeMap<u32, Vec<Level>>;

/// Reads it from /proc/saakm/topology.
pub fn read(host: &Host) -> Result<Topology, Failure> {
    // For the message about a kernel without SaaKM.
    policies::read(host)?;
    let what = "cannot read the topology";
    let text = host
        .read(TABLE)
        .map_err(|error| Failure::new(what, format!("/{TABLE}: {error}")))?;
    parse(&text).map_err(|why| Failure::new(what, format!("/{TABLE}: {why}")))
}

/// The table as the kernel writes it.
pub fn parse(text: &str) -> Result<Topology, String> {
    let mut topology = Topology::new();
    for line in text.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let bad = || format!("cannot read the row '{line}'");
        let columns: Vec<&str> = line.split_whitespace().collect();
        let &[cpu, level, kind, span, ..] = columns.as_slice() else {
            return Err(bad());
        };
        let cpu: u32 = cpu.parse().map_err(|_| bad())?;
        topology.entry(cpu).or_default().push(Level {
            level: level.parse().map_err(|_| bad())?,
            kind: kind.to_owned(),
            span: span.to_owned(),
        });
    }
    for levels in topology.values_mut() {
        levels.sort_by_key(|level| level.level);
    }
    Ok(topology)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    #[test]
    fn a_bad_row_is_named() {
        let error = parse("cpu level kind span\n0 0 smt\n").unwrap_err();
        assert_eq!(error, "cannot read the row '0 0 smt'");
        assert!(parse("cpu level kind span\nx 0 smt 0\n").is_err());
    }

    #[test]
    fn without_saakm_it_says_so() {
        let failure = read(&FakeHost::bare().host).unwrap_err();
        assert!(failure.why.contains("no SaaKM"));
    }
}
