// SPDX-License-Identifier: GPL-2.0
//! The loaded policies, and which one the user means.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::str::FromStr;

use serde::Serialize;
use serde_json::json;

use crate::config::NONE;
use crate::exit::{self, Exit};
use crate::failure::Failure;
use crate::host::Host;
use crate::report::Report;
use crate::text::{self, Align};

const TABLE: &str = "proc/saakm/policies";

/// Names under which users know the kernel's default class.
const FAIR_NAMES: [&str; 3] = ["fair", "other", "eevdf"];

/// One row of `/proc/saakm/policies`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The number that `sched_attr` carries.
    pub id: u32,
    /// The name.
    pub name: String,
    /// The kernel module it lives in.
    pub module: String,
    /// Its place in the election order.
    pub priority: i64,
    /// `active`, `dying` or `ejected`.
    pub state: String,
    /// Threads it has now.
    pub threads: u64,
    /// Threads that ever joined.
    pub new: u64,
    /// Threads that ever left.
    pub terminated: u64,
    /// How often one of its threads got a CPU.
    pub switches: u64,
    /// Why it was ejected, if it was and the reason is known.
    pub exit: Option<Exit>,
}

impl Policy {
    /// True while it is being removed and takes no more threads.
    pub fn is_dying(&self) -> bool {
        self.state == "dying"
    }

    /// True when it has lost its threads for good; its module is still there.
    pub fn is_ejected(&self) -> bool {
        self.state == "ejected"
    }

    /// True while it takes threads.
    pub fn is_live(&self) -> bool {
        !self.is_dying() && !self.is_ejected()
    }

    /// `it was ejected (stall): its reason`
    pub fn why_ejected(&self) -> String {
        let cause = self.exit.as_ref().map(Exit::cause);
        format!("it was {}", cause.as_deref().unwrap_or("ejected"))
    }
}

/// What a thread shall be scheduled by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// SCHED_OTHER, the kernel's default.
    Fair,
    /// SCHED_SAAKM with a policy of this id.
    Saakm(u32),
}

/// Reads the loaded policies, in election order.
pub fn read(host: &Host) -> Result<Vec<Policy>, Failure> {
    let what = "cannot read the loaded policies";
    match host.read(TABLE) {
        Ok(text) => parse(&text)
            .map(|policies| with_exits(host, policies))
            .map_err(|why| {
                Failure::new(what, format!("/{TABLE}: {why}"))
                    .hint("use the saakmctl that comes with this kernel")
            }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if host.path("proc/self").exists() {
                Err(Failure::no_saakm(what))
            } else {
                Err(Failure::new(what, "/proc is not mounted")
                    .hint("mount it with: mount -t proc proc /proc"))
            }
        }
        Err(error) => Err(Failure::new(what, format!("/{TABLE}: {error}"))),
    }
}

/// `exec` shall be quick: the second file is read only if there is need.
fn with_exits(host: &Host, mut policies: Vec<Policy>) -> Vec<Policy> {
    if policies.iter().any(Policy::is_ejected) {
        let mut exits = exit::read(host);
        for policy in policies.iter_mut().filter(|policy| policy.is_ejected()) {
            policy.exit = exits.remove(&policy.id);
        }
    }
    policies
}

/// Columns are found by their names, so that a newer kernel may add some.
fn parse(text: &str) -> Result<Vec<Policy>, String> {
    // A name on an older kernel may hold what Unicode or C call blanks and line ends.
    let cells = |line| str::split(line, ' ').filter(|cell| !cell.is_empty());
    let mut lines = text.split('\n').filter(|line| !line.trim().is_empty());
    let header: Vec<&str> = cells(lines.next().ok_or("it is empty")?).collect();
    lines
        .map(|line| {
            let row: HashMap<&str, &str> = header.iter().copied().zip(cells(line)).collect();
            parse_row(&row).map_err(|why| format!("{why} in '{line}'"))
        })
        .collect()
}

fn parse_row(row: &HashMap<&str, &str>) -> Result<Policy, String> {
    Ok(Policy {
        id: field(row, "id")?,
        name: field(row, "name")?,
        module: field(row, "module")?,
        priority: field(row, "priority")?,
        state: field(row, "state")?,
        threads: field(row, "threads")?,
        new: field(row, "new")?,
        terminated: field(row, "terminated")?,
        switches: field(row, "switches")?,
        exit: None,
    })
}

fn field<T: FromStr>(row: &HashMap<&str, &str>, name: &str) -> Result<T, String> {
    let text = row.get(name).ok_or_else(|| format!("no column '{name}'"))?;
    text.parse()
        .map_err(|_| format!("'{text}' is no valid '{name}'"))
}

/// Finds out what the user means by POLICY in `exec` and `set`.
pub fn choose(host: &Host, wanted: &str) -> Result<Choice, Failure> {
    if FAIR_NAMES.contains(&wanted) {
        return choose_fair(host, wanted);
    }
    let id = wanted.parse::<u32>().ok();
    let policies = match (read(host), id) {
        (Ok(policies), _) => policies,
        (Err(_), Some(_)) => Vec::new(),
        (Err(failure), None) => return Err(failure),
    };
    match (lookup(&policies, wanted)?, id) {
        (Some(policy), _) if policy.is_live() => Ok(Choice::Saakm(policy.id)),
        (Some(policy), _) if policy.name == wanted => Err(closed(&policies, policy)),
        (_, Some(0)) => Err(Failure::new("no policy has the id 0", "ids start at 1")
            .hint("'saakmctl list' shows them; 'fair' means SCHED_OTHER")),
        // The kernel knows best whether an id is good: that of a policy that
        // was replaced stands for its successor.
        (_, Some(id)) => Ok(Choice::Saakm(id)),
        (_, None) => Err(unknown(&policies, wanted)),
    }
}

/// The policy of this name. A live one hides those on their way out, and a
/// younger one the older.
pub fn named<'a>(policies: &'a [Policy], name: &str) -> Option<&'a Policy> {
    policies
        .iter()
        .filter(|policy| policy.name == name)
        .max_by_key(|policy| (policy.is_live(), policy.id))
}

/// All by their names, each as [`named`] finds it.
pub fn by_name(policies: &[Policy]) -> HashMap<&str, &Policy> {
    let mut found: HashMap<&str, &Policy> = HashMap::new();
    for policy in policies {
        let holder = found.entry(&policy.name).or_insert(policy);
        if (policy.is_live(), policy.id) >= (holder.is_live(), holder.id) {
            *holder = policy;
        }
    }
    found
}

/// The policy whose id was given as text.
pub fn numbered<'a>(policies: &'a [Policy], id: &str) -> Option<&'a Policy> {
    policies.iter().find(|policy| policy.id.to_string() == id)
}

/// The policy that is meant by a name or, if none is called so, by an id. On an
/// older kernel one may be called like the id of another: nobody is to guess then.
pub fn lookup<'a>(policies: &'a [Policy], wanted: &str) -> Result<Option<&'a Policy>, Failure> {
    match (named(policies, wanted), numbered(policies, wanted)) {
        (Some(called), Some(other)) if called.id != other.id => {
            Err(ambiguous(policies, wanted, called, other))
        }
        (called, other) => Ok(called.or(other)),
    }
}

/// Finds out which loaded policy the user means, by name or id.
pub fn find<'a>(policies: &'a [Policy], wanted: &str) -> Result<&'a Policy, Failure> {
    lookup(policies, wanted)?.ok_or_else(|| unknown(policies, wanted))
}

/// A word that means this policy and no other, if there is one.
fn exact(policies: &[Policy], policy: &Policy) -> Option<String> {
    let means_it = |word: &String| {
        let mut meant = named(policies, word)
            .into_iter()
            .chain(numbered(policies, word));
        meant.all(|found| found.id == policy.id)
    };
    [policy.name.clone(), policy.id.to_string()]
        .into_iter()
        .find(means_it)
}

fn ambiguous(policies: &[Policy], wanted: &str, called: &Policy, other: &Policy) -> Failure {
    let say = |policy: &Policy, which: &str| match exact(policies, policy) {
        Some(word) => format!("'{word}' for {which}"),
        // Its module has a name as well.
        None => format!("'saakmctl unload {}' to be rid of {which}", policy.module),
    };
    Failure::new(
        format!("'{wanted}' may mean two policies"),
        format!(
            "one is called so (id {}), and it is the id of '{}'",
            called.id, other.name
        ),
    )
    .hint(format!(
        "say {}, or {}",
        say(called, "the one of this name"),
        say(other, "the one of this id")
    ))
}

/// What to call a policy in advice: by its name unless that means another one.
pub fn handle(policies: &[Policy], policy: &Policy) -> String {
    exact(policies, policy).unwrap_or_else(|| policy.id.to_string())
}

/// The policy's name or id as the kernel shall get it: it takes the first policy
/// of its list for which a word is either. Of those on their way out it knows none.
pub fn kernel_word(policies: &[Policy], policy: &Policy) -> Result<String, Failure> {
    let means_it = |word: &String| {
        let id = word.parse().unwrap_or(0);
        let mut meant = policies
            .iter()
            .filter(|other| other.is_live() && (other.name == *word || other.id == id));
        // A cgroup's file takes those for no policy.
        !matches!(word.as_str(), NONE | "-1") && meant.all(|other| other.id == policy.id)
    };
    [policy.name.clone(), policy.id.to_string()]
        .into_iter()
        .find(means_it)
        .ok_or_else(|| {
            let why = "the kernel takes its name, and its id, for another policy as well";
            Failure::new(format!("no word means policy {} only", policy.id), why).hint(format!(
                "unload it by its module: saakmctl unload {}",
                policy.module
            ))
        })
}

/// Names that mean something else wherever a policy may be named.
const RESERVED: [&str; 5] = [NONE, "all", "fair", "other", "-1"];

/// What is wrong with a policy's name: the kernel loads none that is called so.
pub fn name_fault(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 31;
    let is_good = |byte: u8| byte.is_ascii_graphic() && !b"/\"\\".contains(&byte);
    let digits = name.strip_prefix('+').unwrap_or(name);
    let is_number = |digits: &str| {
        let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
        digits.bytes().all(|byte| byte.is_ascii_digit())
            || hex.is_some_and(|hex| {
                !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
    };
    match name {
        "" => Some("a name has one character at least"),
        "." | ".." => Some("that is a directory"),
        _ if RESERVED.contains(&name) => Some("that word has another meaning"),
        _ if name.len() > LONGEST => Some("a name has 31 characters at most"),
        _ if name.starts_with('-') => Some("that would be an option"),
        _ if !name.bytes().all(is_good) => {
            Some("a name is printable ASCII without blanks, quotes, / and \\")
        }
        _ if is_number(digits) => Some("that would be an id"),
        _ => None,
    }
}

/// An alias must not hide a loaded policy of the same name, nor the reverse:
/// measuring the wrong scheduler is worse than being asked.
fn choose_fair(host: &Host, wanted: &str) -> Result<Choice, Failure> {
    let policies = read(host).unwrap_or_default();
    match policies.iter().find(|policy| policy.name == wanted) {
        None => Ok(Choice::Fair),
        Some(policy) => {
            let free = FAIR_NAMES
                .iter()
                .find(|name| policies.iter().all(|policy| policy.name != **name));
            let other = free.map_or(String::new(), |name| {
                format!(", or '{name}' for SCHED_OTHER")
            });
            Err(Failure::new(
                format!("'{wanted}' may mean two things"),
                "it is a name of SCHED_OTHER and of a loaded policy",
            )
            .hint(format!("say {} for the policy{other}", policy.id)))
        }
    }
}

/// The failure for a policy on its way out.
pub fn closed(policies: &[Policy], policy: &Policy) -> Failure {
    let name = &policy.name;
    let what = format!("policy '{name}' takes no threads");
    if policy.is_ejected() {
        Failure::new(what, policy.why_ejected()).hint(after_ejection(policies, policy))
    } else {
        Failure::new(what, "it is being removed")
            .hint(format!("wait for its end, then: saakmctl load {name}"))
    }
}

/// What to do about an ejected policy.
pub fn after_ejection(policies: &[Policy], policy: &Policy) -> String {
    let it = handle(policies, policy);
    match &policy.exit {
        Some(exit) if exit.is_replacement() => format!(
            "use the policy that replaced it, see 'saakmctl list'; \
             this one can go: saakmctl unload {it}"
        ),
        Some(exit) if !exit.is_fault() => {
            format!("unload it with 'saakmctl unload {it}', then load it again")
        }
        _ => format!(
            "'saakmctl dump {it}' says more; unload its module with \
             'saakmctl unload {it}' and load a mended one"
        ),
    }
}

/// The failure for a policy that nobody loaded; names those that are.
pub fn unknown(policies: &[Policy], wanted: &str) -> Failure {
    let what = format!("no policy '{wanted}' is loaded");
    let names: Vec<String> = policies
        .iter()
        .map(|policy| format!("{} (id {})", policy.name, policy.id))
        .collect();
    let why = if names.is_empty() {
        "none is loaded at all".to_owned()
    } else {
        format!("loaded are: {}", names.join(", "))
    };
    let name = if wanted.parse::<u32>().is_ok() {
        "NAME"
    } else {
        wanted
    };
    Failure::new(what, why).hint(format!("load it with: saakmctl load {name}"))
}

/// `saakmctl list`
pub fn list(host: &Host) -> Result<Report, Failure> {
    let policies = read(host)?;
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
    Some(text::printable(&line) + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::FakeHost;

    #[test]
    fn reads_rows_in_election_order() {
        let policies = read(&FakeHost::with_policies().host).unwrap();
        let ids: Vec<u32> = policies.iter().map(|policy| policy.id).collect();
        assert_eq!(ids, [2, 1, 4]);
        assert_eq!(policies[1].module, "fifo_mod");
        assert_eq!(policies[1].switches, 1_234_567);
        assert!(policies[2].is_dying());
    }

    #[test]
    fn a_newer_kernel_may_add_and_move_columns() {
        let rows = parse(
            "name id extra module priority state threads new terminated switches\n\
             fifo 1 9 fifo -3 active 0 0 0 0\n",
        )
        .unwrap();
        assert_eq!(
            (rows[0].id, rows[0].name.as_str(), rows[0].priority),
            (1, "fifo", -3)
        );
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(parse("").unwrap_err(), "it is empty");
        let header = "id name module priority state threads new terminated switches\n";
        assert_eq!(parse(header).unwrap(), []);
        let error = parse(&format!("{header}x fifo fifo 0 active 0 0 0 0\n")).unwrap_err();
        assert!(error.starts_with("'x' is no valid 'id'"), "{error}");
        let error = parse("id\n1\n").unwrap_err();
        assert!(error.starts_with("no column 'name'"), "{error}");
    }

    #[test]
    fn without_saakm_it_says_which_kernel_to_boot() {
        let failure = read(&FakeHost::bare().host).unwrap_err();
        assert!(failure.why.contains("CONFIG_SCHED_CLASS_SAAKM"));
        assert!(failure.hint.unwrap().contains("./saakm shell"));
    }

    #[test]
    fn without_proc_it_says_so() {
        let fake = FakeHost::bare();
        std::fs::remove_dir_all(fake.host.path("proc")).unwrap();
        assert_eq!(read(&fake.host).unwrap_err().why, "/proc is not mounted");
    }

    #[test]
    fn chooses_by_name_by_id_and_fair() {
        let fake = FakeHost::with_policies();
        let choose = |name| choose(&fake.host, name);
        assert_eq!(choose("fifo").unwrap(), Choice::Saakm(1));
        assert_eq!(choose("7").unwrap(), Choice::Saakm(7));
        for name in FAIR_NAMES {
            assert_eq!(choose(name).unwrap(), Choice::Fair);
        }
        assert_eq!(choose("0").unwrap_err().why, "ids start at 1");
        assert_eq!(choose("old").unwrap_err().why, "it is being removed");
    }

    #[test]
    fn a_name_goes_before_an_id_and_two_meanings_are_refused() {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 13 odd 0 active 0 0 0 0");
        assert_eq!(choose(&fake.host, "13"), Ok(Choice::Saakm(5)));
        assert_eq!(choose(&fake.host, "5"), Ok(Choice::Saakm(5)));
        fake.add_policy("6 14 odd2 0 ejected 0 0 0 0");
        assert!(choose(&fake.host, "14")
            .unwrap_err()
            .what
            .contains("takes no threads"));
        fake.add_policy("13 x x 0 active 0 0 0 0");
        let failure = choose(&fake.host, "13").unwrap_err();
        assert_eq!(failure.what, "'13' may mean two policies");
        assert_eq!(
            failure.why,
            "one is called so (id 5), and it is the id of 'x'"
        );
        let hint = "say '5' for the one of this name, or 'x' for the one of this id";
        assert_eq!(failure.hint.unwrap(), hint);
        let policies = read(&fake.host).unwrap();
        let found = |word| find(&policies, word).map(|policy| policy.id).ok();
        assert_eq!(
            [found("5"), found("x"), found("13")],
            [Some(5), Some(13), None]
        );
        let words = [5, 13].map(|id| {
            let policy = policies.iter().find(|policy| policy.id == id).unwrap();
            (handle(&policies, policy), kernel_word(&policies, policy))
        });
        let both = |word: &str| (word.to_owned(), Ok(word.to_owned()));
        assert_eq!(words, [both("5"), both("x")]);
    }

    #[test]
    fn policies_called_like_each_others_ids_go_by_module() {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 6 five 0 active 0 0 0 0");
        fake.add_policy("6 5 six 0 active 0 0 0 0");
        let policies = read(&fake.host).unwrap();
        let failure = find(&policies, "5").unwrap_err();
        let hint = failure.hint.unwrap();
        assert!(
            hint.contains("'saakmctl unload six' to be rid of"),
            "{hint}"
        );
        let failure = kernel_word(&policies, &policies[3]).unwrap_err();
        assert!(failure.hint.unwrap().ends_with("saakmctl unload five"));
    }

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
            &ends.replace("gave up", "gave\rup\u{9b}"),
        );
        let report = list(&fake.host).unwrap();
        assert!(!report.text.contains(['\u{1b}', '\r', '\u{9b}']));
        let exit = &report.document()["policies"][4]["exit"];
        assert_eq!(exit["reason"], "gave\rup\u{9b}");
    }

    #[test]
    fn names_that_the_kernel_refuses() {
        for good in [
            "fifo", "a1", "1a", "0x", "0xg", "rr-2", "a.b", "none2", "x+1", "...",
        ] {
            assert_eq!(name_fault(good), None, "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "13",
            "0",
            "+7",
            "007",
            "99999999999999999999",
            "0x1f",
            "+0XA",
            "-1",
            "-x",
            "none",
            "all",
            "fair",
            "other",
            "a b",
            "a\nb",
            "a\u{1b}[2J",
            "a\u{7f}",
            "ü",
            "a/b",
            "a\"b",
            "a\\b",
            "a\tb",
            "0123456789012345678901234567890x",
        ] {
            assert!(name_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn fair_needs_no_saakm() {
        assert_eq!(choose(&FakeHost::bare().host, "fair"), Ok(Choice::Fair));
    }

    #[test]
    fn a_reloaded_policy_hides_its_dying_namesake() {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 old old 0 active 0 0 0 0");
        assert_eq!(choose(&fake.host, "old"), Ok(Choice::Saakm(5)));
    }

    #[test]
    fn an_ambiguous_alias_is_refused() {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 eevdf eevdf 0 active 0 0 0 0");
        let hint = choose(&fake.host, "eevdf").unwrap_err().hint.unwrap();
        assert_eq!(hint, "say 5 for the policy, or 'fair' for SCHED_OTHER");
        assert_eq!(choose(&fake.host, "other"), Ok(Choice::Fair));
    }

    #[test]
    fn an_unknown_name_lists_those_loaded() {
        let failure = choose(&FakeHost::with_policies().host, "fif").unwrap_err();
        assert_eq!(
            failure.why,
            "loaded are: lottery (id 2), fifo (id 1), old (id 4)"
        );
        assert_eq!(unknown(&[], "fifo").why, "none is loaded at all");
        assert_eq!(
            unknown(&[], "3").hint.unwrap(),
            "load it with: saakmctl load NAME"
        );
    }

    #[test]
    fn lists_as_table_and_as_json() {
        let fake = FakeHost::with_policies();
        let report = list(&fake.host).unwrap();
        assert!(report.text.starts_with("ID  NAME "), "{}", report.text);
        assert_eq!(report.text.lines().count(), 4);
        assert_eq!(report.document()["policies"][1]["threads"], 3);
        fake.write(
            TABLE,
            "id name module priority state threads new terminated switches\n",
        );
        assert!(list(&fake.host).unwrap().text.contains("saakmctl load"));
    }

    #[test]
    fn an_ejected_policy_says_why_it_takes_no_threads() {
        let fake = FakeHost::with_ejected();
        let failure = choose(&fake.host, "bad").unwrap_err();
        assert_eq!(failure.what, "policy 'bad' takes no threads");
        assert!(failure.why.starts_with("it was ejected (stall): hackb"));
        let hint = failure.hint.unwrap();
        assert!(hint.contains("saakmctl dump bad"), "{hint}");
        assert!(hint.contains("saakmctl unload bad"), "{hint}");
    }

    #[test]
    fn the_reason_of_an_ejection_may_be_unknown() {
        let fake = FakeHost::with_ejected();
        std::fs::remove_file(fake.host.path("proc/saakm/ejected")).unwrap();
        let failure = choose(&fake.host, "bad").unwrap_err();
        assert_eq!(failure.why, "it was ejected");
        let text = list(&fake.host).unwrap().text;
        let last = "quitter (id 6) was ejected; 'dmesg' may say why\n";
        assert!(text.ends_with(last), "{text}");
    }

    #[test]
    fn a_live_policy_hides_its_ejected_namesakes() {
        let fake = FakeHost::with_ejected();
        fake.add_policy("8 bad bad2 0 active 0 0 0 0");
        fake.add_policy("9 quitter quit2 0 ejected 0 0 0 0");
        assert_eq!(choose(&fake.host, "bad"), Ok(Choice::Saakm(8)));
        let policies = read(&fake.host).unwrap();
        for (name, policy) in by_name(&policies) {
            assert_eq!(named(&policies, name), Some(policy));
        }
        let found = |wanted| find(&policies, wanted).unwrap().id;
        assert_eq!((found("bad"), found("5"), found("quitter")), (8, 5, 9));
        let handle_of = |id| handle(&policies, find(&policies, id).unwrap());
        assert_eq!(handle_of("5"), "5");
        assert_eq!(handle_of("8"), "bad");
    }

    #[test]
    fn advice_depends_on_the_kind_of_end() {
        let policies = read(&FakeHost::with_ejected().host).unwrap();
        let advice = |kind: &str, number| {
            let mut policy = find(&policies, "bad").unwrap().clone();
            let exit = policy.exit.as_mut().unwrap();
            (exit.kind, exit.number) = (kind.to_owned(), number);
            after_ejection(&policies, &policy)
        };
        assert!(advice("replaced", 2).starts_with("use the policy that replaced it"));
        assert!(advice("user", 4).ends_with("then load it again"));
        assert!(advice("overrun", 18).ends_with("load a mended one"));
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
}
