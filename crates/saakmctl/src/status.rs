// SPDX-License-Identifier: GPL-2.0
//! `saakmctl status`: policies, cgroups that have one, and how policies ended.

use saakm::cgroup;
use saakm::failure::Failure;
use saakm::host::Host;
use serde_json::json;

use crate::list;
use crate::report::Report;
use crate::text::{self, Align};

/// Reads it all from the kernel.
pub fn status(host: &Host) -> Result<Report, Failure> {
    let mut report = list::list(host)?;
    let found: Vec<(String, String, usize)> = cgroup::assigned(host)
        .into_iter()
        .map(|(cgroup, policy)| {
            let threads = cgroup::threads(host, &cgroup);
            (cgroup, policy, threads)
        })
        .collect();
    report.text.push('\n');
    if found.is_empty() {
        report.text.push_str("no cgroup has a policy\n");
    } else {
        let columns = [
            ("CGROUP", Align::Left),
            ("POLICY", Align::Left),
            ("THREADS", Align::Right),
        ];
        let rows: Vec<Vec<String>> = found
            .iter()
            .map(|(cgroup, policy, threads)| {
                vec![format!("/{cgroup}"), policy.clone(), threads.to_string()]
            })
            .collect();
        report.text.push_str(&text::table(&columns, &rows));
    }
    let rows: Vec<_> = found
        .iter()
        .map(|(cgroup, policy, threads)| {
            json!({"cgroup": cgroup, "policy": policy, "threads": threads})
        })
        .collect();
    report.fields.insert("assignments".into(), json!(rows));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    #[test]
    fn policies_cgroups_and_ends() {
        let fake = FakeHost::with_ejected();
        assert!(status(&fake.host)
            .unwrap()
            .text
            .ends_with("no cgroup has a policy\n"));
        fake.write("sys/fs/cgroup/jobs/cpu.saakm.policy", "fifo\n");
        fake.write("sys/fs/cgroup/jobs/cgroup.threads", "1\n2\n");
        let report = status(&fake.host).unwrap();
        assert!(report
            .text
            .contains("bad (id 5) was ejected at 12.345678 s (stall)"));
        assert!(report
            .text
            .ends_with("CGROUP  POLICY  THREADS\n/jobs   fifo          2\n"));
        assert_eq!(report.document()["assignments"][0]["threads"], 2);
    }
}
