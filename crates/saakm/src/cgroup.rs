// SPDX-License-Identifier: GPL-2.0
//! Cgroups and their policy: the file cpu.saakm.policy of cgroup v2.
//!
//! A cgroup is named by its path below /sys/fs/cgroup, without a slash in front.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use procfs::{FromRead, ProcessCGroups};

use crate::failure::Failure;
use crate::host::Host;
use crate::name::NONE;
use crate::sysfs::{self, Refused};

const MOUNT: &str = "sys/fs/cgroup";
const POLICY: &str = "cpu.saakm.policy";

/// A path as people write it; None for the root and for what leads out of it.
pub fn below_mount(path: &str) -> Option<String> {
    let below = match path.strip_prefix("/sys/fs/cgroup") {
        Some(below) if below.is_empty() || below.starts_with('/') => below,
        _ => path,
    };
    let parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
    let is_good = !parts.is_empty() && parts.iter().all(|part| !matches!(*part, "." | ".."));
    is_good.then(|| parts.join("/"))
}

/// The cgroup of a unit of the system's systemd, if it is running.
pub fn of_unit(host: &Host, unit: &str) -> Option<String> {
    units(host).remove(unit)
}

/// The cgroups of all units of the system's systemd, by their names.
pub fn units(host: &Host) -> HashMap<String, String> {
    let mut found = HashMap::new();
    add_units(host, "", &mut found);
    found
}

fn add_units(host: &Host, above: &str, found: &mut HashMap<String, String>) {
    let children = children(host, above);
    for child in &children {
        let name = name(child);
        // systemd escapes names that could be those of a controller's files.
        for name in [Some(name), name.strip_prefix('_')].into_iter().flatten() {
            found
                .entry(name.to_owned())
                .or_insert_with(|| child.clone());
        }
    }
    // Units are in slices. What is in a service or a scope is a user's or a container's,
    // who may call it like one of ours.
    for child in children.iter().filter(|child| child.ends_with(".slice")) {
        add_units(host, child, found);
    }
}

fn name(cgroup: &str) -> &str {
    cgroup.rsplit('/').next().unwrap_or(cgroup)
}

fn children(host: &Host, above: &str) -> Vec<String> {
    let entries = std::fs::read_dir(host.path(MOUNT).join(above));
    let mut found: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| match above {
            "" => name,
            _ => format!("{above}/{name}"),
        })
        .collect();
    found.sort();
    found
}

/// The cgroup that we are in; a control process of a service counts as the service.
pub fn own(host: &Host) -> Option<String> {
    let text = host.read("proc/self/cgroup").ok()?;
    let mut all = ProcessCGroups::from_read(text.as_bytes()).ok()?.into_iter();
    let path = all.find(|one| one.hierarchy == 0)?.pathname;
    let path = path.strip_suffix("/.control").unwrap_or(&path);
    // From within a namespace one outside of it begins with "/..".
    below_mount(path)
}

/// The cgroup above.
pub fn parent(cgroup: &str) -> Option<String> {
    cgroup.rsplit_once('/').map(|(above, _)| above.to_owned())
}

/// True if it is there.
pub fn exists(host: &Host, cgroup: &str) -> bool {
    host.path(MOUNT).join(cgroup).is_dir()
}

/// Makes it, and those above.
pub fn make(host: &Host, cgroup: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(host.path(MOUNT).join(cgroup)).map_err(|error| {
        Failure::new(
            format!("cannot make the cgroup /{cgroup}"),
            error.to_string(),
        )
    })
}

/// The name of the policy that it names; None if it names none.
pub fn policy(host: &Host, cgroup: &str) -> Option<String> {
    let text = host.read(Path::new(MOUNT).join(cgroup).join(POLICY)).ok()?;
    let name = text.trim();
    (!name.is_empty() && name != NONE).then(|| name.to_owned())
}

/// Gives its threads, present and future, to a policy.
pub fn set_policy(host: &Host, cgroup: &str, policy: &str) -> Result<(), Failure> {
    let what = format!("cannot assign '{policy}' to /{cgroup}");
    let file = Path::new(MOUNT).join(cgroup).join(POLICY);
    if !exists(host, cgroup) {
        return Err(Failure::new(what, "there is no such cgroup")
            .hint("'systemd-cgls' shows them; a unit has one while it runs"));
    }
    if !host.path(&file).exists() {
        enable_cpu(host, cgroup);
    }
    host.write(&file, policy)
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound if !host.path("proc/saakm").exists() => Failure::no_saakm(what),
            ErrorKind::NotFound => Failure::new(what, format!("it has no {POLICY}"))
                .hint("enable the controller 'cpu' in the cgroup.subtree_control of those above"),
            ErrorKind::PermissionDenied => {
                Failure::new(what, "permission denied").hint("run it as root")
            }
            _ => match sysfs::last_error(host, Refused::Cgroup) {
                Some(sentence) => Failure::new(what, format!("the kernel says: {sentence}"))
                    .hint("'saakmctl list' shows what is loaded"),
                None => Failure::new(what, error.to_string()),
            },
        })
}

/// From the top down, as the kernel wants it. What fails shows when the file is missing.
fn enable_cpu(host: &Host, cgroup: &str) {
    let mut above = Path::new(MOUNT).to_owned();
    for part in cgroup.split('/') {
        let _ = host.write(above.join("cgroup.subtree_control"), "+cpu");
        above.push(part);
    }
}

/// All cgroups that name a policy, with its name.
pub fn assigned(host: &Host) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(host, "", &mut |cgroup| {
        if let Some(policy) = policy(host, cgroup) {
            found.push((cgroup.to_owned(), policy));
        }
    });
    found
}

/// How many threads it and those below have.
pub fn threads(host: &Host, cgroup: &str) -> usize {
    let count = |cgroup: &str| {
        let file = Path::new(MOUNT).join(cgroup).join("cgroup.threads");
        host.read(file).map_or(0, |text| text.lines().count())
    };
    let mut sum = count(cgroup);
    walk(host, cgroup, &mut |inner| sum += count(inner));
    sum
}

fn walk(host: &Host, above: &str, visit: &mut dyn FnMut(&str)) {
    for child in children(host, above) {
        visit(&child);
        walk(host, &child, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

    fn tree() -> FakeHost {
        let fake = FakeHost::with_policies();
        for (cgroup, policy, threads) in [
            ("system.slice", NONE, ""),
            ("system.slice/a.service", "fifo", "1\n2\n"),
            ("system.slice/_cpu.service", NONE, ""),
            (
                "user.slice/user-5.slice/user@5.service/app.slice/b.service",
                NONE,
                "9\n",
            ),
        ] {
            fake.write(&format!("{MOUNT}/{cgroup}/{POLICY}"), format!("{policy}\n"));
            fake.write(&format!("{MOUNT}/{cgroup}/cgroup.threads"), threads);
        }
        fake
    }

    #[test]
    fn units_are_found_unless_they_are_a_users() {
        let host = &tree().host;
        assert_eq!(
            of_unit(host, "a.service").unwrap(),
            "system.slice/a.service"
        );
        assert_eq!(
            of_unit(host, "cpu.service").unwrap(),
            "system.slice/_cpu.service"
        );
        assert_eq!(
            of_unit(host, "user-5.slice").unwrap(),
            "user.slice/user-5.slice"
        );
        assert_eq!(of_unit(host, "b.service"), None);
        let fake = tree();
        let container = "sys/fs/cgroup/machine.slice/c.scope/system.slice/a.service/cgroup.threads";
        fake.write(container, "");
        let found = of_unit(&fake.host, "a.service");
        assert_eq!(found.as_deref(), Some("system.slice/a.service"));
    }

    #[test]
    fn policies_are_read_and_written() {
        let host = &tree().host;
        let fifo = ("system.slice/a.service".to_owned(), "fifo".to_owned());
        assert_eq!(assigned(host), [fifo]);
        assert_eq!(
            (threads(host, "system.slice"), threads(host, "user.slice")),
            (2, 1)
        );
        set_policy(host, "system.slice", "lottery").unwrap();
        assert_eq!(policy(host, "system.slice").as_deref(), Some("lottery"));
        let failure = set_policy(host, "gone", "fifo").unwrap_err();
        assert_eq!(failure.why, "there is no such cgroup");
    }

    #[test]
    fn own_is_that_of_the_service() {
        let fake = FakeHost::bare();
        assert_eq!(own(&fake.host), None);
        fake.write("proc/self/cgroup", "0::/system.slice/a.service/.control\n");
        assert_eq!(own(&fake.host).unwrap(), "system.slice/a.service");
        for outside in ["/../x", "/", "/a/../../b"] {
            fake.write("proc/self/cgroup", format!("0::{outside}\n"));
            assert_eq!(own(&fake.host), None, "{outside}");
        }
        assert_eq!(parent("system.slice/a.service").unwrap(), "system.slice");
    }

    #[test]
    fn paths_stay_below_the_mount() {
        let good = Some("a/b".to_owned());
        assert_eq!(below_mount("/sys/fs/cgroup/a/b/"), good);
        assert_eq!(below_mount("a//b"), good);
        let named_alike = Some("sys/fs/cgroups/a".to_owned());
        assert_eq!(below_mount("/sys/fs/cgroups/a"), named_alike);
        for bad in ["", "/", "/sys/fs/cgroup", "a/../..", "."] {
            assert_eq!(below_mount(bad), None, "{bad}");
        }
    }
}
