// SPDX-License-Identifier: GPL-2.0
//! `saakmctl assign`: give cgroups to a policy.

use serde_json::json;

use crate::cgroup;
use crate::failure::Failure;
use crate::host::Host;
use crate::policy;
use crate::report::Report;

/// As many as possible.
pub fn assign(host: &Host, wanted: &str, words: &[String]) -> Result<Report, Failure> {
    policy::read(host)?;
    let mut report = Report::default();
    let mut done = Vec::new();
    for word in words {
        let result = named(host, word).and_then(|cgroup| {
            cgroup::set_policy(host, &cgroup, wanted)?;
            Ok(cgroup)
        });
        match result {
            Ok(cgroup) => done.push(json!({"cgroup": cgroup, "policy": wanted})),
            Err(failure) => report.failures.push(failure),
        }
    }
    report.fields.insert("assignments".into(), json!(done));
    Ok(report)
}

fn named(host: &Host, word: &str) -> Result<String, Failure> {
    let found = match word {
        "." => cgroup::own(host),
        ".." => cgroup::own(host).and_then(|own| cgroup::parent(&own)),
        _ if word.contains('/') => cgroup::below_mount(word),
        _ => cgroup::of_unit(host, word).or_else(|| cgroup::below_mount(word)),
    };
    found.filter(|cgroup| !cgroup.is_empty()).ok_or_else(|| {
        Failure::new(
            format!("cannot assign a policy to '{word}'"),
            "that is no cgroup below the root of cgroup v2",
        )
        .hint("the root has no policy; threads of it take one by 'saakmctl set'")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::FakeHost;

    #[test]
    fn names_paths_and_dots() {
        let fake = FakeHost::with_policies();
        let file = "sys/fs/cgroup/system.slice/a.service/cpu.saakm.policy";
        fake.write(file, "none\n");
        fake.write("sys/fs/cgroup/system.slice/cpu.saakm.policy", "none\n");
        fake.write("proc/self/cgroup", "0::/system.slice/a.service\n");
        for word in ["a.service", "/system.slice/a.service", "."] {
            fake.write(file, "none\n");
            let report = assign(&fake.host, "fifo", &[word.into()]).unwrap();
            assert_eq!((report.status(), report.failures.len()), (0, 0), "{word}");
            assert_eq!(fake.host.read(file).unwrap().trim(), "fifo", "{word}");
        }
        assign(&fake.host, "lottery", &["..".into()]).unwrap();
        let above = cgroup::policy(&fake.host, "system.slice");
        assert_eq!(above.as_deref(), Some("lottery"));
        let report = assign(&fake.host, "fifo", &["b.service".into(), "/".into()]).unwrap();
        assert_eq!((report.status(), report.failures.len()), (1, 2));
    }
}
