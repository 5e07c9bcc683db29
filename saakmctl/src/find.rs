// SPDX-License-Identifier: GPL-2.0
//! Where a policy's module file is.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::host::Host;

/// Finds the file for `load NAME|FILE.ko`.
pub fn module_file(host: &Host, wanted: &str) -> Result<PathBuf, Failure> {
    if wanted.contains('/') || wanted.ends_with(".ko") {
        return explicit_file(host, wanted);
    }
    let candidates = candidates(host, wanted);
    match candidates.iter().find(|path| path.is_file()) {
        Some(path) => Ok(path.clone()),
        None => Err(not_found(host, wanted, &candidates)),
    }
}

/// The name of the module in a file. A renamed file's module keeps its name.
/// Old modules do not say it: as kmod does, `-` then counts as `_`.
pub fn module_name(path: &Path) -> String {
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let said = modinfo(path, "name")
        .into_iter()
        .find(|name| !name.is_empty() && name.chars().all(is_name));
    said.unwrap_or_else(|| {
        let stem = path.file_stem().unwrap_or_default();
        stem.to_string_lossy().replace('-', "_")
    })
}

/// What a module says of itself under a key: its section `.modinfo` consists
/// of strings `key=value`, which are looked for in the whole file.
pub fn modinfo(path: &Path, key: &str) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|entry| entry.strip_prefix(key.as_bytes())?.strip_prefix(b"="))
        .map(|value| String::from_utf8_lossy(value).into_owned())
        .collect()
}

fn explicit_file(host: &Host, wanted: &str) -> Result<PathBuf, Failure> {
    let path = host.cwd.join(wanted);
    if path.is_file() {
        return Ok(path);
    }
    let why = if path.exists() {
        "it is not a file"
    } else {
        "there is no such file"
    };
    Err(Failure::new(format!("cannot load '{wanted}'"), why)
        .hint("give a module file (NAME.ko), or the bare NAME of a policy"))
}

fn candidates(host: &Host, name: &str) -> Vec<PathBuf> {
    let file = format!("{name}.ko");
    let mut paths = Vec::new();
    for dir in host.policy_path.iter().flat_map(std::env::split_paths) {
        // An empty entry is a slip ("a::b"), not a wish for the current folder.
        if !dir.as_os_str().is_empty() {
            let dir = host.cwd.join(dir);
            paths.push(dir.join(&file));
            paths.push(dir.join(name).join(&file));
        }
    }
    paths.push(host.cwd.join("policies").join(name).join(&file));
    for sub in ["extra", "updates", "updates/dkms"] {
        let dir = host.path(format!("lib/modules/{}/{sub}", host.release));
        paths.push(dir.join(&file));
    }
    paths
}

fn not_found(host: &Host, name: &str, candidates: &[PathBuf]) -> Failure {
    let what = format!("cannot find policy '{name}'");
    let source = candidates
        .iter()
        .map(|path| path.with_extension("c"))
        .find(|path| path.is_file());
    if let Some(source) = source {
        return Failure::new(
            what,
            format!("its source {} is there, but no {name}.ko", source.display()),
        )
        .hint("build it for the running kernel first");
    }
    let places: Vec<String> = candidates
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let hint = match host.policy_path {
        Some(_) => "give the path of the .ko, or correct SAAKM_POLICIES",
        None => "give the path of the .ko, or say where to look: SAAKM_POLICIES=DIR[:DIR...]",
    };
    Failure::new(what, format!("tried {}", places.join(", "))).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::fake::FakeHost;

    #[test]
    fn a_path_is_taken_as_it_is() {
        let fake = FakeHost::bare();
        fake.write("cwd/x.ko", "");
        assert!(module_file(&fake.host, "x.ko").is_ok());
        assert!(module_file(&fake.host, "./x.ko").is_ok());
        assert_eq!(
            module_file(&fake.host, "y.ko").unwrap_err().why,
            "there is no such file"
        );
        assert_eq!(
            module_file(&fake.host, "../cwd").unwrap_err().why,
            "it is not a file"
        );
    }

    #[test]
    fn the_order_is_path_then_here_then_the_system() {
        let mut fake = FakeHost::bare();
        let found = |fake: &FakeHost| {
            let path = module_file(&fake.host, "fifo").unwrap();
            let root = fake.host.path("");
            path.strip_prefix(root).unwrap().display().to_string()
        };
        fake.write("lib/modules/6.12.0-saakm/updates/fifo.ko", "");
        assert_eq!(found(&fake), "lib/modules/6.12.0-saakm/updates/fifo.ko");
        fake.write("lib/modules/6.12.0-saakm/extra/fifo.ko", "");
        assert_eq!(found(&fake), "lib/modules/6.12.0-saakm/extra/fifo.ko");
        fake.write("cwd/policies/fifo/fifo.ko", "");
        assert_eq!(found(&fake), "cwd/policies/fifo/fifo.ko");
        fake.write("cwd/b/fifo/fifo.ko", "");
        fake.host.policy_path = Some("a::b".into());
        assert_eq!(found(&fake), "cwd/b/fifo/fifo.ko");
        fake.write("cwd/a/fifo.ko", "");
        assert_eq!(found(&fake), "cwd/a/fifo.ko");
    }

    #[test]
    fn says_where_it_looked() {
        let fake = FakeHost::bare();
        let failure = module_file(&fake.host, "fifo").unwrap_err();
        assert!(failure.why.contains("policies/fifo/fifo.ko"), "{failure}");
        assert!(failure.why.contains("6.12.0-saakm/extra/fifo.ko"));
        assert!(failure.hint.unwrap().contains("SAAKM_POLICIES="));
    }

    #[test]
    fn says_when_it_is_only_not_built() {
        let fake = FakeHost::bare();
        fake.write("cwd/policies/fifo/fifo.c", "");
        let failure = module_file(&fake.host, "fifo").unwrap_err();
        assert!(failure.why.contains("fifo.c is there"), "{failure}");
    }

    #[test]
    fn names_modules_as_the_kernel_does() {
        assert_eq!(module_name(Path::new("/a/my-fifo.ko")), "my_fifo");
        let fake = FakeHost::bare();
        fake.write(
            "copy.ko",
            "ELF\0name=%s\0rename=x\0license=GPL\0name=fifo\0",
        );
        assert_eq!(module_name(&fake.host.path("copy.ko")), "fifo");
    }

    #[test]
    fn modules_speak_of_themselves() {
        let fake = FakeHost::bare();
        fake.write(
            "x.ko",
            "\0parmtype=a:int\0parmtype=b:charp\0parm=a:A number\0",
        );
        let said = |key| modinfo(&fake.host.path("x.ko"), key);
        assert_eq!(said("parmtype"), ["a:int", "b:charp"]);
        assert_eq!(said("parm"), ["a:A number"]);
        assert!(said("vermagic").is_empty());
        assert!(modinfo(Path::new("/no/such/file.ko"), "name").is_empty());
    }
}
