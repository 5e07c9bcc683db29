// SPDX-License-Identifier: GPL-2.0
//! `saakmctl assign`: give cgroups to a policy.

use saakm::cgroup;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::name::NONE;
use saakm::policies;
use serde_json::json;

use crate::report::Report;

/// As many as possible.
pub fn assign(host: &Host, wanted: &str, words: &[String]) -> Result<Report, Failure> {
    let policies = policies::read(host)?;
    let mut report = Report::default();
    let mut done = Vec::new();
    let kernels = match lookup::lookup(&policies, wanted)? {
        // To the kernel this word never is a name.
        Some(policy) if wanted == NONE => {
            let (id, why) = (policy.id, "takes the policy of the cgroup above, it");
            let warning = format!("'{NONE}' {why} does not mean the policy of that name (id {id})");
            report.warnings.push(warning);
            NONE.to_owned()
        }
        Some(policy) if policy.is_live() => lookup::kernel_word(&policies, policy)?,
        // The kernel says why.
        _ => wanted.to_owned(),
    };
    for word in words {
        let result = named(host, word).and_then(|cgroup| {
            cgroup::set_policy(host, &cgroup, &kernels)?;
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
    use saakm::fake::FakeHost;

    #[test]
    fn the_kernel_gets_a_word_that_means_one_policy_only() {
        let fake = FakeHost::with_policies();
        fake.add_policy("8 1 odd 0 active 0 0 0 0");
        fake.add_policy("9 none odd2 0 active 0 0 0 0");
        let file = "sys/fs/cgroup/a/cpu.saakm.policy";
        fake.write(file, "none\n");
        let assign = |word: &str| assign(&fake.host, word, &["/a".into()]);
        for (wanted, word) in [("fifo", "fifo"), ("8", "8"), ("none", "none"), ("9", "9")] {
            fake.write(file, "");
            assert_eq!(assign(wanted).unwrap().status(), 0);
            assert_eq!(fake.host.read(file).unwrap(), word);
        }
        assert_eq!(assign("none").unwrap().warnings.len(), 1);
        assert_eq!(assign("1").unwrap_err().what, "'1' may mean two policies");
    }

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
