// SPDX-License-Identifier: GPL-2.0
//! `saakmctl replace`: load a policy that takes the threads of another one,
//! which goes on until the new one has agreed.

use saakm::ejected::Exit;
use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::policies::{self, Policy};
use saakm::sysfs::{self, Replacement};
use serde_json::json;

use crate::find::{self, ModuleFile, Search};
use crate::load;
use crate::module::{self, Loaded};
use crate::report::Report;
use crate::text;

/// Loads `new` in the place of `old`, and unloads that unless told to keep it.
pub fn replace(
    host: &Host,
    search: &Search,
    old: &str,
    new: &str,
    params: &[String],
    keep: bool,
) -> Result<Report, Failure> {
    let before = policies::read(host)?;
    let old = lookup::find(&before, old)?;
    if !old.is_live() {
        return Err(nothing_to_take(&before, old));
    }
    let word = lookup::kernel_word(&before, old)?;
    let file = find::module_file(host, search, new)?;
    check(&file, old)?;
    let params = [params, &[format!("replaces={word}")]].concat();
    let loaded =
        module::insert(host, &before, &file, &params).map_err(|failure| goes_on(failure, old))?;
    let remove = |module: &str| match keep {
        true => None,
        false => Some(module::remove(module)),
    };
    finish(host, old, loaded, remove)
}

fn nothing_to_take(policies: &[Policy], old: &Policy) -> Failure {
    let mut failure = lookup::closed(policies, old);
    failure.what = format!("cannot replace '{}'", old.name);
    failure.why += "; its threads cannot be taken over";
    failure
}

/// What can be known before the kernel is asked.
fn check(file: &ModuleFile, old: &Policy) -> Result<(), Failure> {
    let path = file.path.display();
    let what = format!("cannot replace '{}' with {path}", old.name);
    let module = file.name();
    if module == old.module {
        let why = format!(
            "its module is called '{module}', like the loaded one, and no two modules \
             of one name can be loaded"
        );
        return Err(Failure::new(what, why).hint(format!(
            "build it under another name, as from {module}2.c (obj-m := {module}2.o); \
             copying the .ko is not enough, for KBUILD_MODNAME decides"
        )));
    }
    // What is no module at all is refused by the kernel in better words.
    let is_module = !file.modinfo.values("vermagic").is_empty();
    let takes_it = |param: &String| param.starts_with("replaces:");
    if is_module && !file.modinfo.values("parmtype").iter().any(takes_it) {
        return Err(Failure::new(what, "it has no parameter 'replaces'")
            .hint("define it by module_saakm_policy(), and build it for the running kernel"));
    }
    Ok(())
}

fn goes_on(mut failure: Failure, old: &Policy) -> Failure {
    failure.why += &format!("; '{}' goes on", old.name);
    failure
}

/// Says how it went. `remove` removes a module, or does nothing.
fn finish(
    host: &Host,
    old: &Policy,
    loaded: Loaded,
    remove: impl Fn(&str) -> Option<Result<(), Failure>>,
) -> Result<Report, Failure> {
    if !was_replaced(&loaded.after, old) {
        return Err(not_replaced(&loaded, old));
    }
    let new = loaded.policies[0].clone();
    let figures = sysfs::replacement(host, &old.name, &new.name);
    let (unloaded, warning) = unload(&loaded.after, old, remove);
    let mut report = load::report(loaded);
    report.text = line(old, &new, figures.as_ref());
    report.warnings.extend(warning);
    let fields = [
        ("replaced", json!(old)),
        ("replacement", json!(figures)),
        ("unloaded", json!(unloaded)),
    ];
    for (field, value) in fields {
        report.fields.insert(field.into(), value);
    }
    Ok(report)
}

/// Somebody may have unloaded the old one already.
fn was_replaced(after: &[Policy], old: &Policy) -> bool {
    match after.iter().find(|policy| policy.id == old.id) {
        Some(policy) => {
            policy.is_ejected() && policy.exit.as_ref().is_none_or(Exit::is_replacement)
        }
        None => true,
    }
}

/// A module that evaluates its parameters itself may forget this one.
fn not_replaced(loaded: &Loaded, old: &Policy) -> Failure {
    let new = &loaded.policies[0];
    Failure::new(
        format!(
            "'{}' is loaded, but did not replace '{}'",
            new.name, old.name
        ),
        format!("it took no notice of replaces={}", old.name),
    )
    .hint(format!(
        "unload it with 'saakmctl unload {}'; it must be defined by module_saakm_policy()",
        lookup::handle(&loaded.after, new)
    ))
}

fn line(old: &Policy, new: &Policy, figures: Option<&Replacement>) -> String {
    let names = [old, new].map(|policy| printable(&policy.name));
    let line = format!("{}: replaced by {} (id {})", names[0], names[1], new.id);
    match figures {
        None => format!("{line}\n"),
        Some(figures) if figures.threads == 0 => format!("{line}, it had no threads\n"),
        Some(figures) => format!(
            "{line}, {} taken over, longest pause {}\n",
            text::count(figures.threads, "thread"),
            text::milliseconds(figures.longest_pause_ns)
        ),
    }
}

/// True when the old module is gone; if it was to go and stays, with a warning.
fn unload(
    after: &[Policy],
    old: &Policy,
    remove: impl Fn(&str) -> Option<Result<(), Failure>>,
) -> (bool, Option<String>) {
    let id = old.id;
    let stays = |why: &str| {
        let text = format!("the old {} (id {id}) stays loaded: {why}", old.name);
        (false, Some(text))
    };
    let Some(old) = after.iter().find(|policy| policy.id == id) else {
        return (true, None);
    };
    if old.module == "-" {
        return stays("it is built into the kernel");
    }
    let shares = |policy: &&Policy| policy.module == old.module && !policy.is_ejected();
    if let Some(other) = after.iter().find(shares) {
        return stays(&format!("its module holds '{}' as well", other.name));
    }
    match remove(&old.module) {
        None => (false, None),
        Some(Ok(())) => (true, None),
        Some(Err(failure)) => stays(&format!(
            "{}; to try again: saakmctl unload {id}",
            failure.why
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::{module, FakeHost};
    use saakm::sysfs::LAST_REPLACEMENT;

    use crate::find::fake::search;

    const AFTER: &str = "\
id name module priority state threads new terminated switches
1 fifo fifo_mod 0 ejected 0 5 5 1234567
7 fifo fifo2 0 active 3 3 0 0
";
    const ENDS: &str = "\
id name number kind seconds handler cpu thread reason
1 fifo 2 replaced 5.0 none 0 - by fifo (id 7), which took over 3 threads
";

    /// A machine on which policy 1 has just been replaced.
    fn replaced() -> (FakeHost, Policy, Loaded) {
        let fake = FakeHost::with_policies();
        let old = policies::read(&fake.host).unwrap()[1].clone();
        fake.write("proc/saakm/policies", AFTER);
        fake.write("proc/saakm/ejected", ENDS);
        fake.write(
            LAST_REPLACEMENT,
            "from fifo\nto fifo\nthreads 1000\nlongest_pause_ns 12345\ntotal_ns 999\n",
        );
        let loaded = loaded(&fake);
        (fake, old, loaded)
    }

    fn loaded(fake: &FakeHost) -> Loaded {
        let after = policies::read(&fake.host).unwrap();
        Loaded {
            path: "fifo2.ko".into(),
            policies: after.iter().filter(|p| p.id == 7).cloned().collect(),
            after,
            log: Vec::new(),
        }
    }

    fn removes(_: &str) -> Option<Result<(), Failure>> {
        Some(Ok(()))
    }

    #[test]
    fn says_who_took_over_how_many() {
        let (fake, old, loaded) = replaced();
        let report = finish(&fake.host, &old, loaded, |module| {
            assert_eq!(module, "fifo_mod");
            removes(module)
        });
        let report = report.unwrap();
        assert_eq!(
            report.text,
            "fifo: replaced by fifo (id 7), 1,000 threads taken over, longest pause 0.012 ms\n"
        );
        let document = report.document();
        assert_eq!(document["policies"][0]["id"], 7);
        assert_eq!(document["module"], "fifo2");
        assert_eq!(document["replaced"]["id"], 1);
        assert_eq!(document["replacement"]["longest_pause_ns"], 12345);
        assert_eq!(document["unloaded"], true);
        assert!(report.warnings.is_empty());
    }

    #[test]
    fn figures_may_be_missing_or_of_another_replacement() {
        let (fake, old, loaded) = replaced();
        fake.write(LAST_REPLACEMENT, "from a\nto b\nthreads 1\n");
        let report = finish(&fake.host, &old, loaded, removes).unwrap();
        assert_eq!(report.text, "fifo: replaced by fifo (id 7)\n");
        assert!(report.document()["replacement"].is_null());
        std::fs::remove_file(fake.host.path(LAST_REPLACEMENT)).unwrap();
        assert_eq!(sysfs::replacement(&fake.host, "fifo", "fifo"), None);
    }

    #[test]
    fn an_empty_policy_has_no_pause() {
        let (fake, old, loaded) = replaced();
        let mut none = sysfs::replacement(&fake.host, "fifo", "fifo").unwrap();
        none.threads = 0;
        let text = line(&old, &loaded.policies[0], Some(&none));
        let expected = "fifo: replaced by fifo (id 7), it had no threads\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_old_module_that_stays_is_a_warning() {
        let (fake, old, loaded) = replaced();
        let busy = |_: &str| Some(Err(Failure::new("cannot unload", "something else uses it")));
        let report = finish(&fake.host, &old, loaded, busy).unwrap();
        assert_eq!(report.status(), 0);
        assert_eq!(
            report.warnings,
            ["the old fifo (id 1) stays loaded: something else uses it; \
              to try again: saakmctl unload 1"]
        );
        assert_eq!(report.document()["unloaded"], false);
    }

    #[test]
    fn the_old_module_may_be_kept() {
        let (fake, old, loaded) = replaced();
        let report = finish(&fake.host, &old, loaded, |_| None).unwrap();
        assert!(report.warnings.is_empty());
        assert_eq!(report.document()["unloaded"], false);
    }

    #[test]
    fn a_module_with_another_live_policy_stays() {
        let (fake, old, _) = replaced();
        let never = |_: &str| -> Option<Result<(), Failure>> { panic!("removed") };
        fake.add_policy("8 twin fifo_mod 0 active 1 1 0 0");
        let (unloaded, warning) = unload(&loaded(&fake).after, &old, never);
        assert!(!unloaded && warning.unwrap().contains("holds 'twin' as well"));
        let text = AFTER.replace("fifo_mod", "-");
        fake.write("proc/saakm/policies", &text);
        let (_, warning) = unload(&loaded(&fake).after, &old, never);
        assert!(warning.unwrap().ends_with("built into the kernel"));
        // Somebody else was faster.
        assert_eq!(unload(&[], &old, never), (true, None));
    }

    #[test]
    fn a_policy_that_ignored_the_parameter_is_found_out() {
        let (fake, old, _) = replaced();
        let text = AFTER.replace("ejected", "active");
        fake.write("proc/saakm/policies", &text);
        let failure = finish(&fake.host, &old, loaded(&fake), removes).unwrap_err();
        assert_eq!(failure.what, "'fifo' is loaded, but did not replace 'fifo'");
        assert!(failure.hint.unwrap().contains("module_saakm_policy()"));
        // It was ejected, but not by this.
        fake.write("proc/saakm/policies", AFTER);
        fake.write("proc/saakm/ejected", ENDS.replace("replaced", "stall"));
        assert!(finish(&fake.host, &old, loaded(&fake), removes).is_err());
    }

    #[test]
    fn only_a_live_policy_can_be_replaced() {
        let fake = FakeHost::with_ejected();
        let replace =
            |old| replace(&fake.host, &search(&fake), old, "x.ko", &[], false).unwrap_err();
        let failure = replace("bad");
        assert_eq!(failure.what, "cannot replace 'bad'");
        assert!(failure.why.starts_with("it was ejected (stall): "));
        assert!(failure.why.ends_with("its threads cannot be taken over"));
        assert!(replace("old").why.starts_with("it is being removed"));
        assert_eq!(replace("nope").what, "no policy 'nope' is loaded");
        assert_eq!(replace("1").what, "cannot load 'x.ko'");
    }

    #[test]
    fn a_module_of_the_same_name_is_refused() {
        let fake = FakeHost::with_policies();
        let replace =
            || replace(&fake.host, &search(&fake), "fifo", "x.ko", &[], false).unwrap_err();
        fake.write("cwd/x.ko", module("name=fifo_mod\0vermagic=6.12\0"));
        let failure = replace();
        assert!(failure.why.contains("called 'fifo_mod'"), "{failure}");
        let hint = failure.hint.unwrap();
        assert!(hint.contains("fifo_mod2.c"), "{hint}");
        assert!(hint.contains("KBUILD_MODNAME"), "{hint}");
    }

    #[test]
    fn a_module_without_the_parameter_is_refused() {
        let fake = FakeHost::with_policies();
        let old = policies::read(&fake.host).unwrap()[1].clone();
        let check = |file: &[u8]| {
            fake.write("cwd/x.ko", file);
            check(
                &find::module_file(&fake.host, &search(&fake), "x.ko").unwrap(),
                &old,
            )
        };
        let failure = check(&module("vermagic=6.12\0parmtype=slice:int\0")).unwrap_err();
        assert_eq!(failure.why, "it has no parameter 'replaces'");
        let good = "vermagic=6.12\0parmtype=slice:int\0parmtype=replaces:charp\0";
        assert_eq!(check(&module(good)), Ok(()));
        assert_eq!(check(b"no module"), Ok(()));
    }

    #[test]
    fn a_refusal_says_that_the_old_one_goes_on() {
        let (_, old, _) = replaced();
        let failure = goes_on(Failure::new("cannot load x.ko", "no"), &old);
        assert_eq!(failure.why, "no; 'fifo' goes on");
    }
}
