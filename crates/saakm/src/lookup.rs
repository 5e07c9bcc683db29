// SPDX-License-Identifier: GPL-2.0
//! Which policy is meant by a name or an id, and what to say when there is none.

use std::collections::HashMap;

use crate::failure::Failure;
use crate::host::Host;
use crate::name::NONE;
use crate::policies::{self, Policy};

/// Names under which users know the kernel's default class.
const FAIR_NAMES: [&str; 2] = ["fair", "other"];

/// What a thread shall be scheduled by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// SCHED_OTHER, the kernel's default.
    Fair,
    /// SCHED_SAAKM with a policy of this id.
    Saakm(u32),
}

/// Finds out what the user means by POLICY in `exec` and `set`.
pub fn choose(host: &Host, wanted: &str) -> Result<Choice, Failure> {
    if FAIR_NAMES.contains(&wanted) {
        return choose_fair(host, wanted);
    }
    let id = wanted.parse::<u32>().ok();
    let policies = match (policies::read(host), id) {
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

/// The module that is meant by a name, an id or the module's own name.
pub fn module_of<'a>(policies: &'a [Policy], wanted: &str) -> Result<&'a str, Failure> {
    let in_module = policies.iter().find(|policy| policy.module == wanted);
    let (called, numbered) = (named(policies, wanted), numbered(policies, wanted));
    let found = called.or(in_module).or(numbered).ok_or_else(|| {
        unknown(policies, wanted).hint("'saakmctl list' shows what can be unloaded")
    })?;
    // A word that is an id as well, of a policy in another module: nobody is to guess.
    if let Some(other) = numbered.filter(|other| other.module != found.module) {
        lookup(policies, wanted)?;
        return Err(Failure::new(
            format!("'{wanted}' may mean two modules"),
            format!(
                "one is called so, and policy {wanted} is in '{}'",
                other.module
            ),
        )
        .hint(format!(
            "say '{}' for the policy of this id, or '{}' for one in this module",
            handle(policies, other),
            handle(policies, found)
        )));
    }
    if found.module == "-" {
        return Err(Failure::new(
            format!("cannot unload '{wanted}'"),
            "it is built into the kernel",
        ));
    }
    Ok(&found.module)
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

/// An alias must not hide a loaded policy of the same name, nor the reverse:
/// measuring the wrong scheduler is worse than being asked.
fn choose_fair(host: &Host, wanted: &str) -> Result<Choice, Failure> {
    let policies = policies::read(host).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeHost;

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
        let policies = policies::read(&fake.host).unwrap();
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
        let policies = policies::read(&fake.host).unwrap();
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
        fake.add_policy("5 other other 0 active 0 0 0 0");
        let hint = choose(&fake.host, "other").unwrap_err().hint.unwrap();
        assert_eq!(hint, "say 5 for the policy, or 'fair' for SCHED_OTHER");
        assert_eq!(choose(&fake.host, "fair"), Ok(Choice::Fair));
    }

    #[test]
    fn eevdf_is_a_policy_like_any_other() {
        let fake = FakeHost::with_policies();
        assert!(choose(&fake.host, "eevdf").is_err());
        fake.add_policy("5 eevdf eevdf 0 active 0 0 0 0");
        assert_eq!(choose(&fake.host, "eevdf"), Ok(Choice::Saakm(5)));
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
    }

    #[test]
    fn a_live_policy_hides_its_ejected_namesakes() {
        let fake = FakeHost::with_ejected();
        fake.add_policy("8 bad bad2 0 active 0 0 0 0");
        fake.add_policy("9 quitter quit2 0 ejected 0 0 0 0");
        assert_eq!(choose(&fake.host, "bad"), Ok(Choice::Saakm(8)));
        let policies = policies::read(&fake.host).unwrap();
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
        let policies = policies::read(&FakeHost::with_ejected().host).unwrap();
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
    fn unload_goes_by_name_module_or_id() {
        let policies = policies::read(&FakeHost::with_policies().host).unwrap();
        for wanted in ["fifo", "fifo_mod", "1"] {
            assert_eq!(module_of(&policies, wanted).unwrap(), "fifo_mod");
        }
        let failure = module_of(&policies, "nope").unwrap_err();
        assert!(failure.why.starts_with("loaded are:"), "{failure}");
    }

    #[test]
    fn unload_guesses_no_module() {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 1 odd 0 active 0 0 0 0");
        fake.add_policy("6 2 lottery 0 active 0 0 0 0");
        fake.add_policy("7 x 4 0 active 0 0 0 0");
        let policies = policies::read(&fake.host).unwrap();
        let failure = module_of(&policies, "1").unwrap_err();
        assert_eq!(failure.what, "'1' may mean two policies");
        assert_eq!(module_of(&policies, "2").unwrap(), "lottery");
        assert_eq!(module_of(&policies, "5").unwrap(), "odd");
        let failure = module_of(&policies, "4").unwrap_err();
        assert_eq!(failure.what, "'4' may mean two modules");
    }

    #[test]
    fn unload_prefers_the_live_and_reaches_the_ejected() {
        let fake = FakeHost::with_ejected();
        fake.add_policy("8 bad bad2 0 active 0 0 0 0");
        let policies = policies::read(&fake.host).unwrap();
        for (wanted, module) in [("bad", "bad2"), ("bad2", "bad2"), ("5", "bad")] {
            assert_eq!(module_of(&policies, wanted).unwrap(), module);
        }
        assert_eq!(module_of(&policies, "quit_mod").unwrap(), "quit_mod");
    }
}
