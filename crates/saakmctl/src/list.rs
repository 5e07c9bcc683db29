// SPDX-License-Identifier: GPL-2.0
//! `saakmctl list`: the loaded policies, in the order in which they elect.

use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::policies::{self, Policy};
use serde_json::json;

use crate::report::Report;
use crate::text::{self, Align};

/// Shows them, and how the ejected ones ended.
pub fn list(host: &Host) -> Result<Report, Failure> {
    let policies = policies::read(host)?;
    let columns = [
        ("ID", Align::Right),
        ("NAME", Align::Left),
        ("MODULE", Align::Left),
        ("PRIORITY", Align::Right),
        ("STATE", Align::Left),
        ("THREADS", Align::Right),
        ("NEW", Align::Right),
        ("TERMINATED", Align::Right),
        ("SWITCHES", Align::Right),
    ];
    let rows: Vec<Vec<String>> = policies
        .iter()
        .map(|policy| {
            vec![
                policy.id.to_string(),
                policy.name.clone(),
                policy.module.clone(),
                policy.priority.to_string(),
                policy.state.clone(),
                policy.threads.to_string(),
                policy.new.to_string(),
                policy.terminated.to_string(),
                policy.switches.to_string(),
            ]
        })
        .collect();
    let text = if rows.is_empty() {
        "no policy is loaded; load one with: saakmctl load NAME\n".to_owned()
    } else {
        text::table(&columns, &rows)
    };
    let ends: String = policies.iter().filter_map(end_line).collect();
    Ok(Report::new(text + &ends, "policies", json!(policies)))
}

/// Of an ejected policy: what became of it.
fn end_line(policy: &Policy) -> Option<String> {
    if !policy.is_ejected() {
        return None;
    }
    let story = match &policy.exit {
        Some(exit) => exit.story(),
        None => "ejected; 'dmesg' may say why".to_owned(),
    };
    let line = format!("{} (id {}) was {story}", policy.name, policy.id);
    Some(printable(&line) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    #[test]
    fn a_name_may_hold_what_others_call_blanks() {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 a\u{b}\u{a0}\u{2028}\rb evil 0 active 0 0 0 0");
        let report = list(&fake.host).unwrap();
        assert_eq!(
            report.document()["policies"][3]["name"],
            "a\u{b}\u{a0}\u{2028}\rb"
        );
        let shown = "a\\x0b\u{a0}\\u{2028}\\rb";
        assert!(report.text.contains(shown), "{}", report.text);
        assert!(!report.text.contains(['\u{b}', '\r', '\u{2028}']));
    }

    #[test]
    fn the_end_of_a_policy_cannot_command_the_terminal() {
        let fake = FakeHost::with_ejected();
        let ends = fake.host.read("proc/saakm/ejected").unwrap();
        let ends = ends.replace("hackbench/412", "\u{1b}[2J/412");
        fake.write(
            "proc/saakm/ejected",
            ends.replace("gave up", "gave\rup\u{9b}"),
        );
        let report = list(&fake.host).unwrap();
        assert!(!report.text.contains(['\u{1b}', '\r', '\u{9b}']));
        let exit = &report.document()["policies"][4]["exit"];
        assert_eq!(exit["reason"], "gave\rup\u{9b}");
    }

    #[test]
    fn lists_as_table_and_as_json() {
        let fake = FakeHost::with_policies();
        let report = list(&fake.host).unwrap();
        assert!(report.text.starts_with("ID  NAME "), "{}", report.text);
        assert_eq!(report.text.lines().count(), 4);
        assert_eq!(report.document()["policies"][1]["threads"], 3);
        fake.write(
            "proc/saakm/policies",
            "id name module priority state threads new terminated switches\n",
        );
        assert!(list(&fake.host).unwrap().text.contains("saakmctl load"));
    }

    #[test]
    fn lists_the_ends_of_the_ejected() {
        let report = list(&FakeHost::with_ejected().host).unwrap();
        let lines: Vec<&str> = report.text.lines().collect();
        assert_eq!(lines.len(), 8);
        assert!(lines[4].contains("ejected"), "{}", report.text);
        assert!(lines[6].starts_with("bad (id 5) was ejected at 12.345678 s (stall), thread"));
        assert_eq!(
            lines[7],
            "quitter (id 6) was ejected at 20.000000 s (policy-error) in tick: gave up"
        );
        let policies = &report.document()["policies"];
        assert!(policies[0]["exit"].is_null());
        assert_eq!(policies[3]["exit"]["number"], 17);
        assert_eq!(policies[3]["exit"]["seconds"], 12.345678);
        assert!(policies[3]["exit"]["handler"].is_null());
    }

    #[test]
    fn the_reason_of_an_ejection_may_be_unknown() {
        let fake = FakeHost::with_ejected();
        std::fs::remove_file(fake.host.path("proc/saakm/ejected")).unwrap();
        let text = list(&fake.host).unwrap().text;
        let last = "quitter (id 6) was ejected; 'dmesg' may say why\n";
        assert!(text.ends_with(last), "{text}");
    }
}
