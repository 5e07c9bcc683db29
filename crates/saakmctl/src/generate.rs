// SPDX-License-Identifier: GPL-2.0
//! `saakmctl generate`: write the drop-ins, as a generator of systemd's.

use std::fs;
use std::path::Path;

use saakm::failure::Failure;
use saakm::host::Host;

use crate::config;
use crate::dropin;
use crate::report::Report;

/// Writes them into a directory. On another kernel, and without the file, there is nothing to do.
pub fn generate(host: &Host, directory: &Path) -> Result<Report, Failure> {
    let file = Path::new(config::FILE);
    if !host.path("proc/saakm").exists() || !config::path(host, file).exists() {
        return Ok(Report::default());
    }
    for (path, text) in dropin::wanted(host, &config::read(host, file)?) {
        let path = directory.join(path);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| {
                Failure::new(
                    format!("cannot write {}", path.display()),
                    error.to_string(),
                )
            })?;
    }
    Ok(Report::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    const TEXT: &str = "\
[[policy]]
name = \"fifo\"
[[assign]]
unit = \"a.service\"
policy = \"fifo\"
[[assign]]
unit = \"b.slice\"
policy = \"fifo\"
[[assign]]
user = 5
policy = \"none\"
[[assign]]
cgroup = \"/c\"
policy = \"fifo\"
";

    #[test]
    fn what_is_generated_is_what_is_wanted() {
        let fake = FakeHost::with_policies();
        let directory = fake.host.path(dropin::GENERATED);
        generate(&fake.host, &directory).unwrap();
        assert!(dropin::current(&fake.host).is_empty());
        fake.write("etc/saakm.toml", TEXT);
        generate(&fake.host, &directory).unwrap();
        let config = config::read(&fake.host, Path::new(config::FILE)).unwrap();
        let found = dropin::current(&fake.host);
        assert_eq!(found, dropin::wanted(&fake.host, &config));
        let names: Vec<&str> = found
            .keys()
            .filter_map(|path| path.split_once(".d/"))
            .map(|(n, _)| n)
            .collect();
        let expected = [
            "a.service",
            "b.slice",
            "user-5.slice",
            "user-runtime-dir@5.service",
        ];
        assert_eq!(names, expected);
        assert!(found["a.service.d/00-saakm.conf"].contains("assign fifo .\n"));
        assert!(found["user-runtime-dir@5.service.d/00-saakm.conf"].contains("assign none ..\n"));
    }

    #[test]
    fn a_bad_file_generates_nothing() {
        let fake = FakeHost::with_policies();
        fake.write("etc/saakm.toml", format!("{TEXT}oops\n"));
        let directory = fake.host.path(dropin::GENERATED);
        assert!(generate(&fake.host, &directory).is_err());
        assert!(!directory.exists());
    }
}
