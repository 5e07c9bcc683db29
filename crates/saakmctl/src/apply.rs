// SPDX-License-Identifier: GPL-2.0
//! `saakmctl apply`: make the machine what /etc/saakm.toml says.
//!
//! All that can be wrong is looked for first. What goes wrong then is undone.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;

use saakm::cgroup;
use saakm::escape::printable;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::lookup;
use saakm::name::NONE;
use saakm::policies;
use saakm::sysfs;
use serde_json::{json, Value};

use crate::config::{self, Assign, Config, Target, Wanted};
use crate::dropin;
use crate::find::{self, ModuleFile, Search};
use crate::module;
use crate::report::Report;
use crate::text;

/// Applies a file, or only looks for mistakes in it.
pub fn apply(host: &Host, search: &Search, file: &Path, check: bool) -> Result<Report, Failure> {
    let config = config::read(host, file)?;
    if check && !host.path("proc/saakm").exists() {
        let mut report = Report::new(good(file, &config), "file", text::path(file));
        report
            .warnings
            .push("this kernel has no SaaKM: modules were not looked for".to_owned());
        return Ok(report);
    }
    let loads = plan(host, search, file, &config)?;
    if check {
        return Ok(Report::new(good(file, &config), "file", text::path(file)));
    }
    let mut done = Done::default();
    carry_out(host, search, file, &config, loads, &mut done).inspect_err(|_| done.undo(host))
}

fn good(file: &Path, config: &Config) -> String {
    let (policies, assigns) = (config.policies.len(), config.assigns.len());
    format!(
        "{}: good; policies: {policies}, assignments: {assigns}\n",
        file.display()
    )
}

/// What can be known before anything is done: the policies that are to be loaded.
fn plan<'a>(
    host: &Host,
    search: &Search,
    file: &Path,
    config: &'a Config,
) -> Result<Vec<&'a Wanted>, Failure> {
    let loaded = policies::read(host)?;
    let by_name = lookup::by_name(&loaded);
    if let Some(assign) = config
        .assigns
        .iter()
        .find(|assign| assign.target.unit().is_some())
    {
        if !has_systemd(host) {
            let why = format!(
                "{} belongs to systemd, which does not run here",
                assign.target
            );
            return Err(config::mistake(file, assign.line, &why));
        }
    }
    let mut loads = Vec::new();
    for wanted in &config.policies {
        match by_name.get(wanted.name.as_str()) {
            Some(policy) if policy.is_live() => continue,
            Some(policy) => return Err(lookup::closed(&loaded, policy)),
            None => {}
        }
        module_of(host, search, file, wanted)?;
        loads.push(wanted);
    }
    Ok(loads)
}

/// Its module, which takes its parameters.
fn module_of(
    host: &Host,
    search: &Search,
    file: &Path,
    wanted: &Wanted,
) -> Result<ModuleFile, Failure> {
    let module = find::module_file(host, search, wanted.file.as_deref().unwrap_or(&wanted.name))
        .map_err(|failure| at(file, wanted.line, failure))?;
    check_params(&module, wanted).map_err(|why| config::mistake(file, wanted.line, &why))?;
    Ok(module)
}

/// The kernel takes a parameter that the module does not have, and only murmurs.
fn check_params(module: &ModuleFile, wanted: &Wanted) -> Result<(), String> {
    let types = module.modinfo.values("parmtype");
    let known: Vec<&str> = types
        .iter()
        .filter_map(|t| Some(t.split_once(':')?.0))
        .collect();
    for param in &wanted.params {
        let name = param.split('=').next().unwrap_or(param);
        if !known.contains(&name) {
            let (policy, known) = (&wanted.name, known.join(", "));
            return Err(format!(
                "policy '{policy}' has no parameter '{name}', but: {known}"
            ));
        }
    }
    Ok(())
}

/// A failure that has its cause in a line of the file.
fn at(file: &Path, line: usize, failure: Failure) -> Failure {
    let what = format!("{} line {line}: {}", file.display(), failure.what);
    Failure { what, ..failure }
}

fn has_systemd(host: &Host) -> bool {
    host.path("run/systemd/system").exists()
}

/// What was done so far.
#[derive(Default)]
struct Done {
    modules: Vec<String>,
    cgroups: Vec<(String, String)>,
}

impl Done {
    /// The latest first. What cannot be undone shows in `saakmctl status`.
    fn undo(&mut self, host: &Host) {
        for (cgroup, before) in self.cgroups.drain(..).rev() {
            let _ = cgroup::set_policy(host, &cgroup, &before);
        }
        for module in self.modules.drain(..).rev() {
            let _ = module::remove(&module);
        }
    }
}

fn carry_out(
    host: &Host,
    search: &Search,
    file: &Path,
    config: &Config,
    loads: Vec<&Wanted>,
    done: &mut Done,
) -> Result<Report, Failure> {
    let (mut lines, mut report) = (String::new(), Report::default());
    for wanted in &loads {
        // It is looked at once more: it may be another file by now.
        let module = module_of(host, search, file, wanted)?;
        let id = load_policy(host, wanted, &module, done).map_err(|f| at(file, wanted.line, f))?;
        lines.push_str(&format!("{}: loaded, id {id}\n", wanted.name));
    }
    if file == Path::new(config::FILE) {
        refresh_systemd(host, config)?;
    } else if config
        .assigns
        .iter()
        .any(|assign| assign.target.unit().is_some())
    {
        let who = "units that start and users who log in from now on";
        report
            .warnings
            .push(format!("{who} follow {} only", config::FILE));
    }
    let mut assignments = Vec::new();
    let mut units = HashMap::new();
    if config
        .assigns
        .iter()
        .any(|assign| assign.target.unit().is_some())
    {
        units = cgroup::units(host);
    }
    for assign in &config.assigns {
        let cgroup =
            assign_one(host, assign, &mut units, done).map_err(|f| at(file, assign.line, f))?;
        lines.push_str(&line(host, assign, cgroup.as_deref()));
        assignments.push(row(assign, cgroup.as_deref()));
    }
    let names: Vec<&str> = loads.iter().map(|wanted| wanted.name.as_str()).collect();
    report.text = lines;
    report.warnings.extend(other_params(host, config, &names));
    report.fields.insert("loaded".into(), json!(names));
    report
        .fields
        .insert("assignments".into(), json!(assignments));
    Ok(report)
}

/// A policy that was loaded before may have other parameters than the file wants.
fn other_params(host: &Host, config: &Config, loaded: &[&str]) -> Vec<String> {
    let policies = policies::read(host).unwrap_or_default();
    let by_name = lookup::by_name(&policies);
    let fresh: HashSet<&str> = loaded.iter().copied().collect();
    let is_old = |wanted: &&Wanted| !fresh.contains(wanted.name.as_str());
    let mut found = Vec::new();
    for wanted in config.policies.iter().filter(is_old) {
        let name = &wanted.name;
        let module = by_name
            .get(name.as_str())
            .map_or(name, |policy| &policy.module);
        for (key, value) in wanted.params.iter().filter_map(|p| p.split_once('=')) {
            match sysfs::parameter(host, module, key).as_deref() {
                Some(now)
                    if now != value && (now, value) != ("Y", "1") && (now, value) != ("N", "0") =>
                {
                    found.push(format!(
                        "{name} was loaded with {key}={now}, not {value}; \
                         to load it anew: saakmctl unload {name}, then apply again"
                    ));
                }
                _ => {}
            }
        }
    }
    found
}

fn load_policy(
    host: &Host,
    wanted: &Wanted,
    module: &ModuleFile,
    done: &mut Done,
) -> Result<u32, Failure> {
    let before = policies::read(host)?;
    let loaded = module::insert(host, &before, module, &wanted.params)?;
    done.modules.push(module.name());
    let name = &wanted.name;
    let found = loaded.policies.iter().find(|policy| policy.name == *name);
    found.map(|policy| policy.id).ok_or_else(|| {
        Failure::new(
            format!("cannot load '{name}'"),
            format!(
                "{} has a policy '{}'",
                module.path.display(),
                loaded.policies[0].name
            ),
        )
        .hint("call it by that name in the file")
    })
}

/// systemd reads the generator's drop-ins anew, if they are to change. At boot it has them.
fn refresh_systemd(host: &Host, config: &Config) -> Result<(), Failure> {
    if !has_systemd(host) || dropin::wanted(host, config) == dropin::current(host) {
        return Ok(());
    }
    systemctl(&["daemon-reload"])
}

fn systemctl(words: &[&str]) -> Result<(), Failure> {
    let what = format!("systemctl {} failed", words.join(" "));
    match Command::new("systemctl").args(words).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Failure::new(
            what,
            String::from_utf8_lossy(&output.stderr).trim(),
        )),
        Err(error) => Err(Failure::new(what, error.to_string())),
    }
}

/// The cgroup that has the policy now; None for a unit or user without one at the moment.
fn assign_one(
    host: &Host,
    assign: &Assign,
    units: &mut Units,
    done: &mut Done,
) -> Result<Option<String>, Failure> {
    let Some(cgroup) = present(host, &assign.target, units)? else {
        return Ok(None);
    };
    let before = cgroup::policy(host, &cgroup).unwrap_or_else(|| NONE.to_owned());
    if before != assign.policy {
        cgroup::set_policy(host, &cgroup, &assign.policy)?;
        done.cgroups.push((cgroup.clone(), before));
    }
    Ok(Some(cgroup))
}

/// The cgroups of systemd's units, by the units' names.
type Units = HashMap<String, String>;

fn present(host: &Host, target: &Target, units: &mut Units) -> Result<Option<String>, Failure> {
    match target {
        Target::Cgroup(path) => {
            cgroup::make(host, path)?;
            Ok(Some(path.clone()))
        }
        // A slice is there before what starts in it.
        Target::Unit(name) if name.ends_with(".slice") && !units.contains_key(name) => {
            systemctl(&["start", "--", name])?;
            *units = cgroup::units(host);
            Ok(units.get(name).cloned())
        }
        Target::Unit(_) | Target::User(_) => {
            Ok(target.unit().and_then(|unit| units.get(&unit).cloned()))
        }
    }
}

fn line(host: &Host, assign: &Assign, cgroup: Option<&str>) -> String {
    let when = match (cgroup, &assign.target) {
        (Some(cgroup), _) => text::count(cgroup::threads(host, cgroup) as u64, "thread"),
        (None, Target::User(_)) => "from the next login".to_owned(),
        (None, _) => "from its start".to_owned(),
    };
    let target = printable(&assign.target.to_string());
    format!("{target}: {}, {when}\n", printable(&assign.policy))
}

fn row(assign: &Assign, cgroup: Option<&str>) -> Value {
    json!({
        "target": assign.target.to_string(),
        "policy": assign.policy,
        "cgroup": cgroup,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::{module, FakeHost};

    use crate::find::fake::search;

    const FIFO: &str = "[[policy]]\nname = \"fifo\"\n";

    fn run(fake: &FakeHost, text: &str) -> Result<Report, Failure> {
        fake.write("etc/saakm.toml", text);
        apply(&fake.host, &search(fake), Path::new(config::FILE), false)
    }

    #[test]
    fn cgroups_get_the_policy_and_are_named() {
        let fake = FakeHost::with_policies();
        fake.write("sys/fs/cgroup/jobs/cpu.saakm.policy", "none\n");
        let text = format!("{FIFO}[[assign]]\ncgroup = \"/jobs\"\npolicy = \"fifo\"\n");
        let report = run(&fake, &text).unwrap();
        assert_eq!(report.text, "/jobs: fifo, 0 threads\n");
        assert_eq!(cgroup::policy(&fake.host, "jobs").as_deref(), Some("fifo"));
        assert_eq!(run(&fake, &text).unwrap().status(), 0);
    }

    #[test]
    fn other_parameters_of_a_loaded_policy_are_a_warning() {
        let fake = FakeHost::with_policies();
        for (key, value) in [("slice_us", "4000"), ("loud", "Y")] {
            fake.write(
                &format!("sys/module/fifo_mod/parameters/{key}"),
                format!("{value}\n"),
            );
        }
        let text = format!("{FIFO}params = {{ slice_us = 3000, loud = true }}\n");
        let warnings = run(&fake, &text).unwrap().warnings;
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("fifo was loaded with slice_us=4000, not 3000;"));
    }

    #[test]
    fn a_failure_undoes_what_was_done() {
        let fake = FakeHost::with_policies();
        fake.write("sys/fs/cgroup/a/cpu.saakm.policy", "lottery\n");
        fake.write("sys/fs/cgroup/b/cgroup.threads", "");
        let assign = |path| format!("[[assign]]\ncgroup = \"{path}\"\npolicy = \"fifo\"\n");
        let failure = run(&fake, &format!("{FIFO}{}{}", assign("/a"), assign("/b"))).unwrap_err();
        assert!(
            failure.what.contains("line 7: cannot assign 'fifo' to /b"),
            "{failure}"
        );
        assert_eq!(cgroup::policy(&fake.host, "a").as_deref(), Some("lottery"));
    }

    #[test]
    fn what_is_wrong_is_found_first() {
        let fake = FakeHost::with_policies();
        fake.write("sys/fs/cgroup/a/cpu.saakm.policy", "none\n");
        let assign = "[[assign]]\ncgroup = \"/a\"\npolicy = \"fifo\"\n";
        let path = fake.host.path("x.ko");
        let text = "parmtype=slice_us:uint\0parmtype=timeout_ms:int\0";
        fake.write("x.ko", module(text));
        let x = format!("[[policy]]\nname = \"x\"\nfile = {path:?}\nparams = {{ slice = 1 }}\n");
        for (more, line, why) in [
            ("[[policy]]\nname = \"nobody\"\n", 7, "tried "),
            (&x, 7, "no parameter 'slice', but: slice_us, timeout_ms"),
            ("[[policy]]\nname = \"old\"\n", 0, "removed"),
            (
                "[[assign]]\nunit = \"a.service\"\npolicy = \"fifo\"\n",
                7,
                "systemd",
            ),
        ] {
            let failure = run(&fake, &format!("{FIFO}{assign}{more}")).unwrap_err();
            assert!(failure.why.contains(why), "{failure}");
            assert!(
                line == 0 || failure.to_string().contains(&format!("line {line}: ")),
                "{failure}"
            );
            assert_eq!(cgroup::policy(&fake.host, "a"), None);
        }
    }

    /// Reads a file of so many policies, and one with an error at its end; CPU time in ms.
    fn time_of(many: usize) -> i64 {
        let fake = FakeHost::with_policies();
        let (mut table, mut config) = (
            fake.host.read("proc/saakm/policies").unwrap(),
            String::new(),
        );
        for n in 0..many {
            table.push_str(&format!("{} p{n} p{n} 0 active 0 0 0 0\n", n + 10));
            config.push_str(&format!(
                "[[policy]]\nname = \"p{n}\"\nparams = {{ a = 1 }}\n"
            ));
        }
        fake.write("proc/saakm/policies", &table);
        let start = own_cpu_ms();
        let report = run(&fake, &config).unwrap();
        assert_eq!(report.status(), 0);
        let bad = format!("{config}[[policy]]\nname = \"a\\u001b\\nb\"\n");
        let failure = run(&fake, &bad).unwrap_err();
        let line = format!("line {}: no policy can be called", 3 * many + 2);
        assert!(failure.why.contains(&line), "{failure}");
        own_cpu_ms() - start
    }

    /// With the square of it sixteen times as long.
    #[test]
    fn four_times_the_policies_take_four_times_as_long() {
        // The least is what nobody else on the machine has lengthened.
        let least = |many| (0..3).map(|_| time_of(many)).min().unwrap().max(1);
        let (few, many) = (least(8_000), least(32_000));
        assert!(many < 9 * few, "{few} ms, {many} ms");
    }

    /// That of others on this machine does not count.
    fn own_cpu_ms() -> i64 {
        // SAFETY: the kernel fills in a timespec, for which zeroes are good as well.
        unsafe {
            let mut time: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time);
            time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }
    }

    #[test]
    fn check_only_looks() {
        let fake = FakeHost::with_policies();
        fake.write("sys/fs/cgroup/a/cpu.saakm.policy", "none\n");
        fake.write(
            "etc/saakm.toml",
            format!("{FIFO}[[assign]]\ncgroup = \"/a\"\npolicy = \"fifo\"\n"),
        );
        let report = apply(&fake.host, &search(&fake), Path::new(config::FILE), true).unwrap();
        assert_eq!(
            report.text,
            "/etc/saakm.toml: good; policies: 1, assignments: 1\n"
        );
        assert_eq!(cgroup::policy(&fake.host, "a"), None);
    }
}
