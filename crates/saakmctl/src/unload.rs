// SPDX-License-Identifier: GPL-2.0
//! `saakmctl unload`: take a policy out of the kernel.

use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::policies::{self, Policy};
use serde_json::json;

use crate::module;
use crate::report::Report;
use crate::text;

/// Unloads the module of the policy of this name, module or id.
pub fn unload(host: &Host, wanted: &str) -> Result<Report, Failure> {
    let policies = policies::read(host)?;
    let module = lookup::module_of(&policies, wanted)?;
    let gone: Vec<&Policy> = policies
        .iter()
        .filter(|policy| policy.module == module)
        .collect();
    module::remove(module)?;
    let text = gone.iter().map(|policy| unloaded_line(policy)).collect();
    let mut report = Report::new(text, "policies", json!(gone));
    report.fields.insert("module".into(), json!(module));
    report.warnings = ejected_namesakes(&policies, &gone);
    Ok(report)
}

/// A live policy hides them, and who unloads it may have meant one of them.
fn ejected_namesakes(policies: &[Policy], gone: &[&Policy]) -> Vec<String> {
    let is_left = |policy: &&Policy| {
        let is_namesake = |other: &&Policy| other.name == policy.name && other.id != policy.id;
        policy.is_ejected() && policy.module != gone[0].module && gone.iter().any(is_namesake)
    };
    policies
        .iter()
        .filter(is_left)
        .map(|policy| {
            let (name, id) = (&policy.name, policy.id);
            format!("the ejected {name} (id {id}) stays loaded; to unload it: saakmctl unload {id}")
        })
        .collect()
}

fn unloaded_line(policy: &Policy) -> String {
    let name = printable(&policy.name);
    match policy.threads {
        0 => format!("{name}: unloaded\n"),
        threads => format!(
            "{name}: unloaded, {} went back to SCHED_OTHER\n",
            text::count(threads, "thread")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    #[test]
    fn an_ejected_namesake_that_stays_is_a_warning() {
        let fake = FakeHost::with_ejected();
        fake.add_policy("8 bad bad2 0 active 0 0 0 0");
        let policies = policies::read(&fake.host).unwrap();
        let live = lookup::named(&policies, "bad").unwrap();
        let left = "the ejected bad (id 5) stays loaded; to unload it: saakmctl unload 5";
        assert_eq!(ejected_namesakes(&policies, &[live]), [left]);
        let dead = lookup::find(&policies, "5").unwrap();
        assert!(ejected_namesakes(&policies, &[dead]).is_empty());
    }

    #[test]
    fn says_where_the_threads_went() {
        let policies = policies::read(&FakeHost::with_policies().host).unwrap();
        assert_eq!(unloaded_line(&policies[0]), "lottery: unloaded\n");
        assert_eq!(
            unloaded_line(&policies[1]),
            "fifo: unloaded, 3 threads went back to SCHED_OTHER\n"
        );
    }
}
