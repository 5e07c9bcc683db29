// SPDX-License-Identifier: GPL-2.0
//! /etc/saakm.toml: the policies of a machine, and who runs under them.
//!
//! A mistake is told with its line, before anything is done.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use saakm::cgroup;
use saakm::failure::Failure;
use saakm::host::Host;
use saakm::name::{self, NONE};
use serde::Deserialize;
use toml::{Spanned, Value};

/// The file that every boot follows.
pub const FILE: &str = "/etc/saakm.toml";

/// More than this is a mistake, and shall not fill the memory.
const LONGEST: u64 = 256 << 20;

/// What the file says.
#[derive(Debug, PartialEq)]
pub struct Config {
    /// Which policies shall be there.
    pub policies: Vec<Wanted>,
    /// Who runs under them.
    pub assigns: Vec<Assign>,
}

/// A policy that shall be loaded.
#[derive(Debug, PartialEq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// Its module, if it is not to be looked for.
    pub file: Option<String>,
    /// Parameters of the module, as NAME=VALUE.
    pub params: Vec<String>,
    /// Where the file says so.
    pub line: usize,
}

/// Somebody's policy.
#[derive(Debug, PartialEq)]
pub struct Assign {
    /// Who.
    pub target: Target,
    /// The policy's name, or [`NONE`].
    pub policy: String,
    /// Where the file says so.
    pub line: usize,
}

/// What has a policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A service or slice of systemd's.
    Unit(String),
    /// A user, by number.
    User(u32),
    /// A directory below /sys/fs/cgroup.
    Cgroup(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Unit(name) => write!(f, "{name}"),
            Target::User(uid) => write!(f, "user {uid}"),
            Target::Cgroup(path) => write!(f, "/{path}"),
        }
    }
}

impl Target {
    /// The unit whose cgroup has the threads; None for a bare cgroup.
    pub fn unit(&self) -> Option<String> {
        match self {
            Target::Unit(name) => Some(name.clone()),
            Target::User(uid) => Some(format!("user-{uid}.slice")),
            Target::Cgroup(_) => None,
        }
    }
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    policy: Vec<WrittenPolicy>,
    #[serde(default)]
    assign: Vec<Spanned<WrittenAssign>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPolicy {
    name: Spanned<String>,
    file: Option<Spanned<String>>,
    #[serde(default)]
    params: BTreeMap<String, Spanned<Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAssign {
    unit: Option<Spanned<String>>,
    user: Option<Spanned<Value>>,
    cgroup: Option<Spanned<String>>,
    policy: Spanned<String>,
}

/// Which line a byte is in; a long file has as many questions as lines.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Lines(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    fn at(&self, byte: usize) -> usize {
        1 + self.0.partition_point(|end| *end < byte)
    }
}

/// A mistake, and at which byte of the text.
type Fault = (usize, String);

/// Where the file is.
pub fn path(host: &Host, file: &Path) -> PathBuf {
    if file == Path::new(FILE) {
        host.path(&FILE[1..])
    } else {
        file.to_owned()
    }
}

/// Reads the file, and finds every mistake that can be found without the kernel.
pub fn read(host: &Host, file: &Path) -> Result<Config, Failure> {
    let text = read_text(&path(host, file)).map_err(|error| {
        Failure::new(format!("cannot read {}", file.display()), error.to_string())
            .hint("'saakmctl apply --help' shows a whole file")
    })?;
    let users = host.read("etc/passwd").unwrap_or_default();
    parse(&text, &users).map_err(|(at, why)| mistake(file, Lines::new(&text).at(at), &why))
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?
        .take(LONGEST + 1)
        .read_to_string(&mut text)?;
    match length as u64 {
        0..=LONGEST => Ok(text),
        _ => Err(io::Error::other("it is too long")),
    }
}

/// The failure for a mistake in a line of the file.
pub fn mistake(file: &Path, line: usize, why: &str) -> Failure {
    Failure::new(
        format!("cannot use {}", file.display()),
        format!("line {line}: {why}"),
    )
    .hint("mend that line; nothing was done. 'saakmctl apply --help' shows a whole file")
}

fn parse(text: &str, users: &str) -> Result<Config, Fault> {
    let written: Written = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (at, error.message().replace('\n', ", "))
    })?;
    let lines = Lines::new(text);
    let users = numbers(users);
    let mut names = HashSet::new();
    let mut policies = Vec::new();
    for policy in written.policy {
        let wanted = wanted(&lines, policy)?;
        if !names.insert(wanted.0.name.clone()) {
            return Err((
                wanted.1,
                format!("policy '{}' is there twice", wanted.0.name),
            ));
        }
        policies.push(wanted.0);
    }
    let mut targets = HashSet::new();
    let mut assigns = Vec::new();
    for entry in written.assign {
        let (assign, at) = assigned(&lines, entry, &users, &names)?;
        if !targets.insert(assign.target.clone()) {
            return Err((at, format!("{} is assigned twice", assign.target)));
        }
        assigns.push(assign);
    }
    Ok(Config { policies, assigns })
}

fn wanted(lines: &Lines, written: WrittenPolicy) -> Result<(Wanted, usize), Fault> {
    let at = written.name.span().start;
    let name = written.name.into_inner();
    if let Some(fault) = name::fault(&name) {
        return Err((at, format!("no policy can be called '{name}': {fault}")));
    }
    let file = match written.file {
        // It would be another one with each directory that apply is started in.
        Some(file) if !file.get_ref().starts_with('/') => {
            let why = format!("the file '{}' is no absolute path", file.get_ref());
            return Err((file.span().start, why));
        }
        file => file.map(Spanned::into_inner),
    };
    let mut params = Vec::new();
    for (key, value) in written.params {
        let at = value.span().start;
        let value = match value.into_inner() {
            Value::String(text) => text,
            Value::Integer(number) => number.to_string(),
            Value::Boolean(yes) => u8::from(yes).to_string(),
            _ => return Err((at, format!("'{key}' must be a string, a number, or a bool"))),
        };
        params.push(format!("{key}={value}"));
    }
    let line = lines.at(at);
    Ok((
        Wanted {
            name,
            file,
            params,
            line,
        },
        at,
    ))
}

fn assigned(
    lines: &Lines,
    entry: Spanned<WrittenAssign>,
    users: &HashMap<&str, u32>,
    names: &HashSet<String>,
) -> Result<(Assign, usize), Fault> {
    let at = entry.span().start;
    let entry = entry.into_inner();
    let (target, at) = match (entry.unit, entry.user, entry.cgroup) {
        (Some(unit), None, None) => (unit_of(&unit)?, unit.span().start),
        (None, Some(user), None) => (user_of(&user, users)?, user.span().start),
        (None, None, Some(path)) => (cgroup_of(&path)?, path.span().start),
        _ => return Err((at, "[[assign]] needs one of unit, user, cgroup".to_owned())),
    };
    let policy = entry.policy.get_ref().clone();
    if policy != NONE && !names.contains(&policy) {
        let why = format!("no [[policy]] is called '{policy}'");
        return Err((entry.policy.span().start, why));
    }
    let line = lines.at(at);
    Ok((
        Assign {
            target,
            policy,
            line,
        },
        at,
    ))
}

fn unit_of(unit: &Spanned<String>) -> Result<Target, Fault> {
    let name = unit.get_ref();
    let is_name = |char: char| char.is_ascii_alphanumeric() || ":-_.\\@".contains(char);
    let known = [".service", ".slice"].iter().any(|end| {
        name.strip_suffix(end)
            .is_some_and(|stem| !stem.is_empty() && stem.chars().all(is_name))
    });
    if !known {
        let why = format!("'{name}' is not a unit NAME.service or NAME.slice");
        return Err((unit.span().start, why));
    }
    Ok(Target::Unit(name.clone()))
}

fn user_of(user: &Spanned<Value>, users: &HashMap<&str, u32>) -> Result<Target, Fault> {
    let fault = |why: String| Err((user.span().start, why));
    match user.get_ref() {
        Value::Integer(uid) => match u32::try_from(*uid) {
            Ok(uid) => Ok(Target::User(uid)),
            Err(_) => fault(format!("{uid} is no user's number")),
        },
        Value::String(name) => match users.get(name.as_str()) {
            Some(uid) => Ok(Target::User(*uid)),
            None => fault(format!("/etc/passwd has no user '{name}'")),
        },
        _ => fault("a user is a name or a number".to_owned()),
    }
}

/// Of /etc/passwd; of two that are called the same the first counts.
fn numbers(users: &str) -> HashMap<&str, u32> {
    let mut found = HashMap::new();
    for line in users.lines() {
        let mut row = line.split(':');
        if let (Some(name), Some(Ok(uid))) = (row.next(), row.nth(1).map(str::parse)) {
            found.entry(name).or_insert(uid);
        }
    }
    found
}

fn cgroup_of(path: &Spanned<String>) -> Result<Target, Fault> {
    match cgroup::below_mount(path.get_ref()) {
        Some(below) => Ok(Target::Cgroup(below)),
        None => Err((
            path.span().start,
            format!("'{}' is no directory below /sys/fs/cgroup", path.get_ref()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:::\nalice:x:1000:1000::/home/alice:/bin/sh\n";

    fn fault(text: &str) -> (usize, String) {
        let (at, why) = parse(text, USERS).expect_err(text);
        (Lines::new(text).at(at), why)
    }

    #[test]
    fn a_whole_file() {
        let text = r#"
[[policy]]
name = "rr"
params = { slice_us = 3000, on_violation = "warn", loud = true }
[[policy]]
name = "mine"
file = "/x/mine.ko"
[[assign]]
unit = "nginx.service"
policy = "rr"
[[assign]]
user = "alice"
policy = "mine"
[[assign]]
cgroup = "/sys/fs/cgroup/jobs/"
policy = "none"
"#;
        let config = parse(text, USERS).unwrap();
        let params = ["loud=1", "on_violation=warn", "slice_us=3000"];
        assert_eq!(config.policies[0].params, params);
        assert_eq!(config.policies[1].file.as_deref(), Some("/x/mine.ko"));
        let who: Vec<String> = config
            .assigns
            .iter()
            .map(|a| a.target.to_string())
            .collect();
        assert_eq!(who, ["nginx.service", "user 1000", "/jobs"]);
        assert_eq!(config.assigns[1].target.unit().unwrap(), "user-1000.slice");
        assert_eq!(config.assigns[2].line, 15);
    }

    #[test]
    fn lines_count_from_one() {
        let lines = Lines::new("a\n\nb\n");
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 99].map(|at| lines.at(at)),
            [1, 1, 2, 3, 3, 4, 4]
        );
    }

    #[test]
    fn the_first_of_a_name_is_the_user() {
        let users = numbers("a:x:5:0:::\nbroken\na:x:6:0:::\n:x\nb:x:no:0:::\n");
        assert_eq!(users, HashMap::from([("a", 5)]));
    }

    #[test]
    fn an_endless_file_is_refused() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is too long");
    }

    #[test]
    fn mistakes_have_a_line() {
        let rr = "[[policy]]\nname = \"rr\"\n";
        for (more, line, words) in [
            ("[[polcy]]\n", 3, "polcy"),
            ("nme = 1\n", 3, "nme"),
            ("params = { a = 1.5 }\n", 3, "'a' must be"),
            ("params = [\n", 3, ""),
            ("[[policy]]\nname = \"rr\"\n", 4, "twice"),
            ("[[policy]]\nname = \"none\"\n", 4, "another meaning"),
            ("[[policy]]\nname = \"13\"\n", 4, "would be an id"),
            ("[[policy]]\nname = \"a\\nb\"\n", 4, "printable ASCII"),
            ("[[policy]]\nname = \"a\\u001b[2J\"\n", 4, "printable ASCII"),
            (
                "[[policy]]\nname = \"\"\"a\nb\"\"\"\n",
                4,
                "printable ASCII",
            ),
            ("file = \"rr.ko\"\n", 3, "no absolute path"),
            ("file = \"./rr.ko\"\n", 3, "no absolute path"),
            ("file = \"rr\"\n", 3, "no absolute path"),
            (
                "[[assign]]\npolicy = \"rr\"\n",
                3,
                "one of unit, user, cgroup",
            ),
            ("[[assign]]\nunit = \"a.service\"\n", 3, "policy"),
            (
                "[[assign]]\nunit = \"a.socket\"\npolicy = \"rr\"\n",
                4,
                "a.socket",
            ),
            (
                "[[assign]]\nunit = \"../a.service\"\npolicy = \"rr\"\n",
                4,
                "not a unit",
            ),
            ("[[assign]]\nuser = \"bob\"\npolicy = \"rr\"\n", 4, "bob"),
            ("[[assign]]\ncgroup = \"/\"\npolicy = \"rr\"\n", 4, "'/'"),
            ("[[assign]]\nuser = 5\npolicy = \"fifo\"\n", 5, "fifo"),
            (
                "[[assign]]\nuser = 5\npolicy = \"rr\"\n[[assign]]\npolicy = \"none\"\nuser = 5\n",
                8,
                "twice",
            ),
        ] {
            let (at, why) = fault(&format!("{rr}{more}"));
            assert!(why.contains(words), "{more}: {why}");
            assert_eq!(at, line, "{more}: {why}");
        }
    }
}
