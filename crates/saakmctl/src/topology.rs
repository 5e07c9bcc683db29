// SPDX-License-Identifier: GPL-2.0
//! `saakmctl topology`: the levels that policies see, nearest to farthest.

use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::topology::{self, Level, Topology};
use serde_json::json;

use crate::report::Report;
use crate::text;

/// Shows the topology as a tree.
pub fn topology(host: &Host) -> Result<Report, Failure> {
    let topology = topology::read(host)?;
    let cpus: Vec<_> = topology
        .iter()
        .map(|(cpu, levels)| json!({"cpu": cpu, "levels": levels}))
        .collect();
    Ok(Report::new(render(&topology), "cpus", json!(cpus)))
}

fn render(topology: &Topology) -> String {
    if topology.is_empty() {
        return "one CPU, no levels\n".to_owned();
    }
    let cpus: Vec<u32> = topology.keys().copied().collect();
    let mut out = format!("machine ({})\n", text::count(cpus.len() as u64, "CPU"));
    render_below(topology, &cpus, 0, "", &mut out);
    out
}

/// Draws `cpus`, which share their `depth` farthest levels. Counting from the
/// far end keeps CPUs side by side that have fewer near levels than others.
fn render_below(topology: &Topology, cpus: &[u32], depth: usize, indent: &str, out: &mut String) {
    let groups = group(topology, cpus, depth);
    // The span above has named these CPUs already.
    if groups.iter().all(|(level, _)| level.is_none()) {
        return;
    }
    for (index, (level, members)) in groups.iter().enumerate() {
        let last = index + 1 == groups.len();
        let (branch, below) = if last {
            ("└─ ", "   ")
        } else {
            ("├─ ", "│  ")
        };
        let label = match level {
            Some(level) => printable(&format!("{} {}", level.kind, level.span)),
            None => format!("cpu {}", members[0]),
        };
        out.push_str(&format!("{indent}{branch}{label}\n"));
        if level.is_some() {
            let indent = format!("{indent}{below}");
            render_below(topology, members, depth + 1, &indent, out);
        }
    }
}

/// CPUs with the same level at `depth`; those without one stand alone.
fn group<'a>(
    topology: &'a Topology,
    cpus: &[u32],
    depth: usize,
) -> Vec<(Option<&'a Level>, Vec<u32>)> {
    let mut groups: Vec<(Option<&Level>, Vec<u32>)> = Vec::new();
    for &cpu in cpus {
        let level = topology[&cpu].iter().rev().nth(depth);
        let same = |other: &Option<&Level>| match (level, other) {
            (Some(a), Some(b)) => a.kind == b.kind && a.span == b.span,
            _ => false,
        };
        match groups.iter_mut().find(|(other, _)| same(other)) {
            Some((_, members)) => members.push(cpu),
            None => groups.push((level, vec![cpu])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    const ROWS: &str = "\
cpu level kind span
0 0 smt 0-1
0 1 package 0-2
0 2 numa 0-4
1 0 smt 0-1
1 1 package 0-2
1 2 numa 0-4
2 0 package 0-2
2 1 numa 0-4
3 0 package 3-4
3 1 numa 0-4
4 0 package 3-4
4 1 numa 0-4
";

    #[test]
    fn draws_an_uneven_machine() {
        let expected = "\
machine (5 CPUs)
└─ numa 0-4
   ├─ package 0-2
   │  ├─ smt 0-1
   │  └─ cpu 2
   └─ package 3-4
";
        assert_eq!(render(&topology::parse(ROWS).unwrap()), expected);
    }

    #[test]
    fn json_lists_levels_nearest_first() {
        let fake = FakeHost::with_policies();
        fake.write("proc/saakm/topology", ROWS);
        let document = topology(&fake.host).unwrap().document();
        assert_eq!(
            document["cpus"][0],
            json!({"cpu": 0, "levels": [
                {"level": 0, "kind": "smt", "span": "0-1"},
                {"level": 1, "kind": "package", "span": "0-2"},
                {"level": 2, "kind": "numa", "span": "0-4"},
            ]})
        );
    }

    #[test]
    fn one_cpu_has_no_rows() {
        let rows = topology::parse("cpu level kind span\n").unwrap();
        assert_eq!(render(&rows), "one CPU, no levels\n");
    }
}
