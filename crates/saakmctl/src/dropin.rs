// SPDX-License-Identifier: GPL-2.0
//! Drop-ins for systemd: a unit that starts takes its policy before its first thread runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use saakm::host::Host;

use crate::config::{Config, Target};

/// Where systemd lets generators write.
pub const GENERATED: &str = "run/systemd/generator";
/// Where it finds units, in its order.
const UNITS: [&str; 5] = [
    "etc/systemd/system",
    "run/systemd/system",
    "usr/local/lib/systemd/system",
    "usr/lib/systemd/system",
    "lib/systemd/system",
];
const HEAD: &str = "# Made from /etc/saakm.toml by saakmctl.\n";

/// The drop-ins that a file asks for, by their path below the generator's directory.
pub fn wanted(host: &Host, config: &Config) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for assign in &config.assigns {
        let policy = &assign.policy;
        match &assign.target {
            Target::Unit(name) if name.ends_with(".slice") => {
                found.insert(path(name), slice(host, name));
            }
            Target::Unit(name) => {
                found.insert(path(name), service(host, name, policy, "."));
            }
            // The first that starts in the slice of a user who logs in.
            Target::User(uid) => {
                let (above, first) = (
                    format!("user-{uid}.slice"),
                    format!("user-runtime-dir@{uid}.service"),
                );
                found.insert(path(&above), slice(host, &above));
                found.insert(path(&first), service(host, &first, policy, ".."));
            }
            Target::Cgroup(_) => {}
        }
    }
    found
}

fn path(unit: &str) -> String {
    format!("{unit}.d/00-saakm.conf")
}

fn slice(host: &Host, unit: &str) -> String {
    format!("{HEAD}[Slice]\n{}", weight(host, unit))
}

/// A service starts without its policy rather than not at all.
fn service(host: &Host, unit: &str, policy: &str, cgroup: &str) -> String {
    format!(
        "{HEAD}[Unit]\nWants=saakm.service\nAfter=saakm.service\n\n[Service]\n{}\
         ExecStartPre=-+/usr/bin/saakmctl assign {} {cgroup}\n",
        weight(host, unit),
        word(policy)
    )
}

/// As a word of a command line of systemd's. A policy has no blanks, quotes or backslashes.
fn word(policy: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-.:+".contains(char);
    match policy.chars().all(is_plain) {
        true => policy.to_owned(),
        false => format!("\"{}\"", policy.replace('%', "%%").replace('$', "$$")),
    }
}

/// Any weight makes systemd enable the controller that has the policy: the default
/// one, unless the unit has its own. That of a drop-in comes later and wins.
fn weight(host: &Host, unit: &str) -> &'static str {
    let template = match (unit.split_once('@'), unit.rsplit_once('.')) {
        (Some((stem, _)), Some((_, kind))) => format!("{stem}@.{kind}"),
        _ => unit.to_owned(),
    };
    let texts = UNITS.iter().flat_map(|folder| {
        [unit, &template].map(|name| host.read(Path::new(folder).join(name)).ok())
    });
    // The first one hides the others.
    let has_its_own = texts.flatten().next().is_some_and(|text| {
        let mut lines = text.lines();
        lines.any(|line| line.trim_start().starts_with("CPUWeight"))
    });
    if has_its_own {
        ""
    } else {
        "CPUWeight=100\n"
    }
}

/// Those that systemd has read.
pub fn current(host: &Host) -> BTreeMap<String, String> {
    let entries = fs::read_dir(host.path(GENERATED));
    let names = entries
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| Some(path(name.strip_suffix(".d")?)))
        .filter_map(|path| {
            Some((
                path.clone(),
                host.read(Path::new(GENERATED).join(path)).ok()?,
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    #[test]
    fn a_name_is_one_word_to_systemd() {
        assert_eq!(word("fifo-2"), "fifo-2");
        assert_eq!(word("%h$HOME"), "\"%%h$$HOME\"");
        assert_eq!(word(";"), "\";\"");
    }

    #[test]
    fn a_unit_keeps_its_own_weight() {
        let fake = FakeHost::with_policies();
        let has = |unit: &str| !weight(&fake.host, unit).is_empty();
        fake.write("lib/systemd/system/a.service", "[Service]\nCPUWeight=300\n");
        fake.write(
            "usr/lib/systemd/system/b@.service",
            "[Service]\nCPUWeight=300\n",
        );
        assert_eq!(
            ["a.service", "b@1.service", "c.slice"].map(has),
            [false, false, true]
        );
        fake.write("etc/systemd/system/a.service", "[Service]\n");
        assert!(has("a.service"));
    }
}
