// SPDX-License-Identifier: GPL-2.0
//! `saakmctl load`: put a policy into the kernel.

use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::policies;
use serde_json::json;

use crate::find::{self, Search};
use crate::module::{self, Loaded};
use crate::report::Report;
use crate::text;

/// Loads the policy of this name or file.
pub fn load(
    host: &Host,
    search: &Search,
    wanted: &str,
    params: &[String],
) -> Result<Report, Failure> {
    let before = policies::read(host)?;
    let file = find::module_file(host, search, wanted)?;
    module::insert(host, &before, &file, params).map(report)
}

/// What there is to say of a module that was loaded just now.
pub fn report(loaded: Loaded) -> Report {
    let text = loaded
        .policies
        .iter()
        .map(|policy| {
            let name = printable(&policy.name);
            format!("{name}: loaded, id {}\n", policy.id)
        })
        .collect();
    let mut report = Report::new(text, "policies", json!(loaded.policies));
    let module = json!(loaded.policies[0].module);
    report.fields.insert("module".into(), module);
    report
        .fields
        .insert("file".into(), text::path(&loaded.path));
    // The kernel accepts a misspelt parameter and only murmurs.
    report.warnings = loaded
        .log
        .into_iter()
        .filter(|line| line.contains("unknown parameter"))
        .collect();
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use saakm::fake::FakeHost;
    use saakm::policies::Policy;

    use crate::find::fake::search;

    #[test]
    fn reports_the_new_policy_only() {
        let after = policies::read(&FakeHost::with_policies().host).unwrap();
        let path = Path::new("lottery.ko");
        let log = vec![
            "lottery: unknown parameter 'x' ignored".to_owned(),
            "saakm: policy lottery registered".to_owned(),
        ];
        let loaded = |path, module, before: &[Policy], log| {
            Loaded::new(path, module, before, after.clone(), log).map(report)
        };
        let report = loaded(path, "lottery", &after[1..], log).unwrap();
        assert_eq!(report.text, "lottery: loaded, id 2\n");
        assert_eq!(report.warnings.len(), 1);
        assert_eq!(report.document()["module"], "lottery");
        assert_eq!(report.document()["policies"][0]["id"], 2);

        let renamed = loaded(path, "renamed", &after[1..], vec![]).unwrap();
        assert_eq!(renamed.text, "lottery: loaded, id 2\n");
        let failure = loaded(path, "e1000", &after, vec![]).unwrap_err();
        assert!(failure.what.contains("is no policy"), "{failure}");
    }

    #[test]
    fn load_checks_the_kernel_and_the_file_first() {
        let load = |wanted, fake: FakeHost| load(&fake.host, &search(&fake), wanted, &[]);
        let failure = load("fifo", FakeHost::bare()).unwrap_err();
        assert!(failure.why.contains("no SaaKM"));
        let failure = load("fifo", FakeHost::with_policies()).unwrap_err();
        assert!(failure.what.contains("cannot find policy"));
    }
}
