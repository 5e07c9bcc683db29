// SPDX-License-Identifier: GPL-2.0
//! Which CPUs an agent is responsible for, and which agents are near each other.

use std::collections::BTreeMap;

use saakm::host::Host;
use saakm::topology::{Level, Topology};

use crate::cpus::Cpus;

/// What the CPUs of a domain have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Shape {
    /// One domain: the machine.
    Machine,
    /// The memory.
    Node,
    /// The last level of cache.
    Llc,
    /// Nothing: each CPU is a domain.
    Cpu,
}

/// A set of CPUs with an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Its place among the domains.
    pub number: usize,
    /// Its CPUs.
    pub cpus: Cpus,
    /// The other domains by number, nearest first.
    pub others: Vec<usize>,
}

/// The CPUs that there are; for one domain also those that may come online later.
pub fn machine(host: &Host, shape: Shape) -> Cpus {
    if cfg!(saakm_sim) {
        // A simulated one is known later, and has no more.
        return (0..4096).collect();
    }
    match shape {
        Shape::Machine => listed(host, "sys/devices/system/cpu/possible"),
        _ => online(host),
    }
}

/// The CPUs that are online.
pub(crate) fn online(host: &Host) -> Cpus {
    listed(host, "sys/devices/system/cpu/online")
}

fn listed(host: &Host, file: &str) -> Cpus {
    let said = host.read(file).ok();
    said.and_then(|list| Cpus::from_list(list.trim()))
        .unwrap_or_else(own_cpus)
}

/// Where there is no /sys: those that this thread may use.
fn own_cpus() -> Cpus {
    let size = std::mem::size_of::<libc::cpu_set_t>();
    // SAFETY: a set of bits may be all zeros, and the call writes no more than its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size, &mut set);
        set
    };
    // SAFETY: the CPUs asked for are below the size of the set.
    let has = |cpu: &u32| unsafe { libc::CPU_ISSET(*cpu as usize, &set) };
    (0..libc::CPU_SETSIZE as u32).filter(has).collect()
}

/// The domains of these CPUs; `only`: without others.
pub fn of(topology: &Topology, shape: Shape, only: Option<&Cpus>) -> Vec<Domain> {
    let mut sets: BTreeMap<u32, Cpus> = BTreeMap::new();
    let wanted = |cpu: &u32| only.is_none_or(|only| only.contains(*cpu));
    for cpu in topology.keys().copied().filter(wanted) {
        let span = span(topology, shape, cpu);
        // Whoever shares it has it from its first CPU.
        sets.entry(span.iter().next().unwrap_or(cpu))
            .or_default()
            .insert(cpu);
    }
    let sets: Vec<Cpus> = sets.into_values().collect();
    let domain = |number: usize| Domain {
        number,
        cpus: sets[number].clone(),
        others: by_distance(topology, &sets, number),
    };
    (0..sets.len()).map(domain).collect()
}

/// Of a simulated machine: of so many CPUs in all, to a core, a last-level cache, a node. Levels that
/// share no more than the one below are left out, as a kernel does.
#[cfg(any(test, saakm_sim, feature = "simulate"))]
pub(crate) fn of_sizes([all, smt, llc, node]: [u32; 4]) -> Topology {
    let kinds = [
        ("smt", smt),
        ("cache", llc),
        ("package", node),
        ("numa", all),
    ];
    let levels = |cpu: u32| {
        let mut below = 1;
        let mut found = Vec::new();
        for (kind, size) in kinds.into_iter().filter(|(_, size)| *size > 1) {
            if size == below {
                continue;
            }
            below = size;
            let first = cpu / size * size;
            found.push(Level {
                level: found.len() as u32,
                kind: kind.to_owned(),
                span: format!("{first}-{}", first + size - 1),
            });
        }
        found
    };
    (0..all).map(|cpu| (cpu, levels(cpu))).collect()
}

fn span(topology: &Topology, shape: Shape, cpu: u32) -> Cpus {
    let kinds: &[&str] = match shape {
        Shape::Machine => return topology.keys().copied().collect(),
        Shape::Node => &["smt", "cluster", "cache", "package"],
        Shape::Llc => &["smt", "cluster", "cache"],
        Shape::Cpu => &[],
    };
    // A level with the same CPUs as the one below is left out by the kernel, so the widest
    // level of these kinds is meant, or the CPU alone.
    let levels = topology.get(&cpu).map_or(&[][..], Vec::as_slice);
    let meant = levels
        .iter()
        .rfind(|level| kinds.contains(&level.kind.as_str()));
    meant
        .and_then(cpus_of)
        .unwrap_or_else(|| Cpus::from_iter([cpu]))
}

fn cpus_of(level: &Level) -> Option<Cpus> {
    Cpus::from_list(&level.span)
}

fn by_distance(topology: &Topology, sets: &[Cpus], from: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..sets.len()).filter(|other| *other != from).collect();
    let count = sets.len();
    // Of equally far ones the next goes first, so that not all turn to the same.
    others.sort_by_key(|other| {
        let round = (other + count - from) % count;
        (distance(topology, &sets[from], &sets[*other]), round)
    });
    others
}

/// The number of the first level that has CPUs of both.
fn distance(topology: &Topology, one: &Cpus, two: &Cpus) -> usize {
    let first = one.iter().next().and_then(|cpu| topology.get(&cpu));
    let levels = first.map_or(&[][..], Vec::as_slice);
    let shared = |level: &Level| cpus_of(level).is_some_and(|span| !span.and(two).is_empty());
    levels.iter().position(shared).unwrap_or(levels.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes of two caches of two CPUs.
    fn machine() -> Topology {
        let mut text = "cpu level kind span\n".to_owned();
        for cpu in 0..8 {
            let (cache, node) = (cpu / 2 * 2, cpu / 4 * 4);
            text += &format!("{cpu} 0 cache {cache}-{}\n", cache + 1);
            text += &format!("{cpu} 1 package {node}-{}\n", node + 3);
            text += &format!("{cpu} 2 numa 0-7\n");
        }
        saakm::topology::parse(&text).unwrap()
    }

    fn lists(shape: Shape, only: Option<&Cpus>) -> Vec<String> {
        let domains = of(&machine(), shape, only);
        domains
            .iter()
            .map(|domain| domain.cpus.to_string())
            .collect()
    }

    #[test]
    fn domains_are_what_cpus_share() {
        assert_eq!(lists(Shape::Machine, None), ["0-7"]);
        assert_eq!(lists(Shape::Node, None), ["0-3", "4-7"]);
        assert_eq!(lists(Shape::Llc, None), ["0-1", "2-3", "4-5", "6-7"]);
        assert_eq!(lists(Shape::Cpu, None).len(), 8);
        let only = Cpus::from_list("1-4").unwrap();
        assert_eq!(lists(Shape::Llc, Some(&only)), ["1", "2-3", "4"]);
    }

    #[test]
    fn the_nearest_domain_goes_first() {
        let domains = of(&machine(), Shape::Llc, None);
        assert_eq!(domains[0].others, [1, 2, 3]);
        assert_eq!(domains[2].others, [3, 0, 1]);
        assert_eq!(domains[3].others, [2, 0, 1]);
    }

    #[test]
    fn a_cpu_without_levels_is_a_domain() {
        let mut topology = Topology::new();
        topology.insert(0, Vec::new());
        assert_eq!(of(&topology, Shape::Node, None)[0].cpus.to_string(), "0");
    }
}
