// SPDX-License-Identifier: GPL-2.0
//! Where a policy's module file is.
//!
//! A module is code of the kernel's: root gets it from where root looks, never from
//! the directory that root happens to be in, nor from where anybody may put one.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use saakm::failure::Failure;
use saakm::host::{self, Host};

use crate::modinfo::Modinfo;
use crate::packed;

/// More than this is no module, and shall not fill the memory.
const LONGEST: u64 = 256 << 20;

/// Where policies are looked for.
#[derive(Debug, Clone)]
pub struct Search {
    /// The directory that relative paths start from.
    pub cwd: PathBuf,
    /// `$SAAKM_POLICIES`: colon-separated folders of policies.
    pub policy_path: Option<OsString>,
    /// The kernel release, as `uname -r` prints it.
    pub release: String,
}

impl Search {
    /// As the kernel and the environment have it.
    pub fn from_env() -> Self {
        let release = nix::sys::utsname::uname()
            .map(|name| name.release().to_string_lossy().into_owned())
            .unwrap_or_default();
        Search {
            cwd: ".".into(),
            policy_path: host::variable("SAAKM_POLICIES"),
            release,
        }
    }
}

/// A module's file, open: what is looked at is what is loaded, whatever becomes of its path.
#[derive(Debug)]
pub struct ModuleFile {
    /// Where it was found.
    pub path: PathBuf,
    /// For the kernel.
    pub file: File,
    /// What it says of itself.
    pub modinfo: Modinfo,
}

impl ModuleFile {
    /// Opens and reads `real`, which goes by the name of `path`.
    fn open(path: PathBuf, real: &Path) -> Result<Self, Failure> {
        let failed = |why: String| Failure::new(format!("cannot open {}", path.display()), why);
        // A pipe would keep us waiting.
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(real);
        let file = opened.map_err(|error| failed(error.to_string()))?;
        let mut bytes = Vec::new();
        let length = match file.metadata() {
            Ok(data) if data.is_file() => (&file).take(LONGEST + 1).read_to_end(&mut bytes),
            Ok(_) => return Err(failed("it is not a file".into())),
            Err(error) => Err(error),
        };
        match length {
            Ok(length) if length as u64 <= LONGEST => {}
            Ok(_) => return Err(failed("it is too long for a module".into())),
            Err(error) => return Err(failed(error.to_string())),
        }
        match packed::refuse(&path, &bytes) {
            Some(failure) => Err(failure),
            None => Ok(ModuleFile {
                path,
                file,
                modinfo: Modinfo::of(&bytes),
            }),
        }
    }

    /// The name of the module. A renamed file's module keeps its name.
    /// Old modules do not say it: as kmod does, `-` then counts as `_`.
    pub fn name(&self) -> String {
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let said = self
            .modinfo
            .values("name")
            .into_iter()
            .find(|name| !name.is_empty() && name.chars().all(is_name));
        said.unwrap_or_else(|| {
            let stem = self.path.file_stem().unwrap_or_default();
            stem.to_string_lossy().replace('-', "_")
        })
    }
}

/// Finds the file for `load NAME|FILE.ko`.
pub fn module_file(host: &Host, search: &Search, wanted: &str) -> Result<ModuleFile, Failure> {
    if wanted.contains('/') || wanted.ends_with(".ko") {
        return explicit_file(search, wanted);
    }
    let candidates = candidates(host, search, wanted)?;
    match candidates.into_iter().find(|path| path.is_file()) {
        Some(path) => trusted_file(path),
        None => Err(not_found(host, search, wanted)),
    }
}

fn explicit_file(search: &Search, wanted: &str) -> Result<ModuleFile, Failure> {
    let path = search.cwd.join(wanted);
    let why = match path.metadata() {
        Ok(data) if data.is_file() => return ModuleFile::open(path.clone(), &path),
        Ok(_) => "it is not a file".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            "there is no such file".to_owned()
        }
        Err(error) => error.to_string(),
    };
    Err(Failure::new(format!("cannot load '{wanted}'"), why)
        .hint("give a module file (NAME.ko), or the bare NAME of a policy"))
}

/// Who gave a bare name has not looked at the file.
fn trusted_file(path: PathBuf) -> Result<ModuleFile, Failure> {
    let what = format!("cannot load {}", path.display());
    let real = path
        .canonicalize()
        .map_err(|error| Failure::new(&what, error.to_string()))?;
    if let Some(open) = open_to_others(&real) {
        return Err(
            Failure::new(what, format!("anybody may change {}", open.display())).hint(
                "take that permission away (chmod o-w), or, if you trust the file, give its path",
            ),
        );
    }
    ModuleFile::open(path, &real)
}

/// The first on the way up that anybody may write to, or has put there, if there is one.
fn open_to_others(real: &Path) -> Option<&Path> {
    const OTHERS: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    // SAFETY: geteuid cannot fail and touches nothing.
    let user = unsafe { libc::geteuid() };
    let mut owner = None;
    real.ancestors().find(|path| {
        let Ok(data) = path.metadata() else {
            return false;
        };
        let below = owner.replace(data.uid());
        // Of a directory like /tmp everyone owns what he put there.
        let is_safe = data.is_dir()
            && data.mode() & STICKY != 0
            && below.is_none_or(|uid| uid == 0 || uid == user);
        data.mode() & OTHERS != 0 && !is_safe
    })
}

fn candidates(host: &Host, search: &Search, name: &str) -> Result<Vec<PathBuf>, Failure> {
    let file = format!("{name}.ko");
    let mut paths = Vec::new();
    for dir in search.policy_path.iter().flat_map(std::env::split_paths) {
        // An empty entry is a slip ("a::b").
        if dir.as_os_str().is_empty() {
            continue;
        }
        if !dir.is_absolute() {
            let why = "which depends on the directory that you are in";
            return Err(Failure::new(
                format!("cannot look for policy '{name}'"),
                format!("SAAKM_POLICIES names '{}', {why}", dir.display()),
            )
            .hint("give absolute paths there, or the path of the .ko here"));
        }
        paths.push(dir.join(&file));
        paths.push(dir.join(name).join(&file));
    }
    for sub in ["extra", "updates", "updates/dkms"] {
        let dir = host.path(format!("lib/modules/{}/{sub}", search.release));
        paths.push(dir.join(&file));
    }
    Ok(paths)
}

fn not_found(host: &Host, search: &Search, name: &str) -> Failure {
    let what = format!("cannot find policy '{name}'");
    let candidates = candidates(host, search, name).unwrap_or_default();
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
    let packed = candidates
        .iter()
        .find_map(|path| packed::refuse_beside(&what, path));
    if let Some(failure) = packed {
        return failure;
    }
    let places: Vec<String> = candidates
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let here = [
        format!("policies/{name}/{name}.ko"),
        format!("{name}/{name}.ko"),
        format!("{name}.ko"),
    ];
    let here = here.iter().find(|path| search.cwd.join(path).is_file());
    let hint = match (here, &search.policy_path) {
        (Some(path), _) => {
            format!("a bare name is not looked up here; if you trust it: saakmctl load {path}")
        }
        (None, Some(_)) => "give the path of the .ko, or correct SAAKM_POLICIES".to_owned(),
        (None, None) => {
            "give the path of the .ko, or say where to look: SAAKM_POLICIES=/DIR[:/DIR...]"
                .to_owned()
        }
    };
    Failure::new(what, format!("tried {}", places.join(", "))).hint(hint)
}

/// Where a machine of tests is searched.
#[cfg(test)]
pub mod fake {
    use saakm::fake::FakeHost;

    use super::Search;

    /// From its own directory `cwd`.
    pub fn search(fake: &FakeHost) -> Search {
        Search {
            cwd: fake.host.path("cwd"),
            policy_path: None,
            release: "6.12.0-saakm".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{symlink, PermissionsExt};

    use super::fake::search;
    use super::*;
    use saakm::fake::{module, FakeHost};

    fn chmod(fake: &FakeHost, below: &str, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(fake.host.path(below), permissions).unwrap();
    }

    /// Below the root of the machine.
    fn found(fake: &FakeHost, search: &Search, wanted: &str) -> String {
        let path = module_file(&fake.host, search, wanted).unwrap().path;
        let root = fake.host.path("");
        path.strip_prefix(root).unwrap().display().to_string()
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        let fake = FakeHost::bare();
        fake.write("cwd/x.ko", "");
        assert!(module_file(&fake.host, &search(&fake), "x.ko").is_ok());
        assert!(module_file(&fake.host, &search(&fake), "./x.ko").is_ok());
        chmod(&fake, "cwd/x.ko", 0o666);
        assert!(module_file(&fake.host, &search(&fake), "./x.ko").is_ok());
        assert_eq!(
            module_file(&fake.host, &search(&fake), "y.ko")
                .unwrap_err()
                .why,
            "there is no such file"
        );
        assert_eq!(
            module_file(&fake.host, &search(&fake), "../cwd")
                .unwrap_err()
                .why,
            "it is not a file"
        );
    }

    #[test]
    fn the_order_is_path_then_the_system() {
        let fake = FakeHost::bare();
        let mut search = search(&fake);
        fake.write("lib/modules/6.12.0-saakm/updates/fifo.ko", "");
        assert_eq!(
            found(&fake, &search, "fifo"),
            "lib/modules/6.12.0-saakm/updates/fifo.ko"
        );
        fake.write("lib/modules/6.12.0-saakm/extra/fifo.ko", "");
        assert_eq!(
            found(&fake, &search, "fifo"),
            "lib/modules/6.12.0-saakm/extra/fifo.ko"
        );
        fake.write("b/fifo/fifo.ko", "");
        let (a, b) = (fake.host.path("a"), fake.host.path("b"));
        search.policy_path = Some(format!("{}::{}", a.display(), b.display()).into());
        assert_eq!(found(&fake, &search, "fifo"), "b/fifo/fifo.ko");
        fake.write("a/fifo.ko", "");
        assert_eq!(found(&fake, &search, "fifo"), "a/fifo.ko");
    }

    #[test]
    fn a_bare_name_is_not_looked_up_here() {
        let fake = FakeHost::bare();
        let mut search = search(&fake);
        for here in [
            "policies/fifo/fifo.ko",
            "fifo/fifo.ko",
            "fifo.ko",
            "lib/modules/6.12.0-saakm/extra/fifo.ko",
        ] {
            fake.write(&format!("cwd/{here}"), "");
        }
        let failure = module_file(&fake.host, &search, "fifo").unwrap_err();
        assert_eq!(failure.what, "cannot find policy 'fifo'");
        let hint = failure.hint.unwrap();
        assert!(hint.ends_with("saakmctl load policies/fifo/fifo.ko"));
        for relative in [".", "policies", "a:./b", ".."] {
            search.policy_path = Some(relative.into());
            let failure = module_file(&fake.host, &search, "fifo").unwrap_err();
            assert!(failure.why.contains("depends on the directory"));
        }
        search.policy_path = Some(":".into());
        assert!(module_file(&fake.host, &search, "fifo").is_err());
    }

    #[test]
    fn what_anybody_may_change_is_not_loaded_by_name() {
        let fake = FakeHost::bare();
        let extra = "lib/modules/6.12.0-saakm/extra";
        let file = format!("{extra}/fifo.ko");
        fake.write(&file, "");
        let complaint = || {
            let failure = module_file(&fake.host, &search(&fake), "fifo").unwrap_err();
            failure.why
        };
        chmod(&fake, &file, 0o666);
        assert!(complaint().ends_with("fifo.ko"), "{}", complaint());
        chmod(&fake, &file, 0o664);
        assert!(module_file(&fake.host, &search(&fake), "fifo").is_ok());
        chmod(&fake, "lib/modules", 0o777);
        assert!(complaint().ends_with("lib/modules"), "{}", complaint());
        chmod(&fake, "lib/modules", 0o1777);
        assert!(module_file(&fake.host, &search(&fake), "fifo").is_ok());
        // A link counts as what it leads to.
        std::fs::remove_file(fake.host.path(&file)).unwrap();
        fake.write("open/fifo.ko", "");
        chmod(&fake, "open", 0o777);
        symlink(fake.host.path("open/fifo.ko"), fake.host.path(&file)).unwrap();
        assert!(complaint().ends_with("open"), "{}", complaint());
        chmod(&fake, "open", 0o755);
        assert_eq!(found(&fake, &search(&fake), "fifo"), file);
    }

    #[test]
    fn what_was_looked_at_is_what_is_loaded() {
        let fake = FakeHost::bare();
        let first = module("name=first\0");
        fake.write("x.ko", &first);
        let path = fake.host.path("x.ko");
        let found = module_file(&fake.host, &search(&fake), path.to_str().unwrap()).unwrap();
        fake.write("y.ko", module("name=second\0"));
        std::fs::rename(fake.host.path("y.ko"), &path).unwrap();
        let mut bytes = Vec::new();
        use std::io::Seek;
        (&found.file).rewind().unwrap();
        (&found.file).read_to_end(&mut bytes).unwrap();
        assert_eq!((bytes, found.name()), (first, "first".into()));
    }

    #[test]
    fn a_pipe_or_a_huge_file_is_no_module() {
        let fake = FakeHost::bare();
        let path = fake.host.path("x.ko");
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name is a string that ends.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let open = || ModuleFile::open(path.clone(), &path).unwrap_err().why;
        assert_eq!(open(), "it is not a file");
        std::fs::remove_file(&path).unwrap();
        File::create(&path).unwrap().set_len(LONGEST + 1).unwrap();
        assert_eq!(open(), "it is too long for a module");
    }

    #[test]
    fn says_where_it_looked() {
        let fake = FakeHost::bare();
        let failure = module_file(&fake.host, &search(&fake), "fifo").unwrap_err();
        assert!(failure.why.contains("6.12.0-saakm/extra/fifo.ko"));
        assert!(failure.hint.unwrap().contains("SAAKM_POLICIES="));
    }

    #[test]
    fn says_when_it_is_only_not_built() {
        let fake = FakeHost::bare();
        let mut search = search(&fake);
        fake.write("mine/fifo/fifo.c", "");
        search.policy_path = Some(fake.host.path("mine").into());
        let failure = module_file(&fake.host, &search, "fifo").unwrap_err();
        assert!(failure.why.contains("fifo.c is there"), "{failure}");
    }

    #[test]
    fn names_modules_as_the_kernel_does() {
        let fake = FakeHost::bare();
        let name = |below: &str, file: &[u8]| {
            fake.write(below, file);
            let path = fake.host.path(below);
            let found = module_file(&fake.host, &search(&fake), path.to_str().unwrap());
            found.unwrap().name()
        };
        assert_eq!(name("my-fifo.ko", b""), "my_fifo");
        assert_eq!(name("my-fifo.ko", &module("license=GPL\0")), "my_fifo");
        let text = "name=%s\0rename=x\0license=GPL\0name=fifo\0";
        assert_eq!(name("copy.ko", &module(text)), "fifo");
    }

    #[test]
    fn a_compressed_module_is_to_be_unpacked() {
        let fake = FakeHost::bare();
        fake.write("lib/modules/6.12.0-saakm/extra/fifo.ko.zst", "");
        fake.write("cwd/fifo.ko.gz", b"\x1f\x8b");
        for wanted in ["fifo", "./fifo.ko.gz"] {
            let failure = module_file(&fake.host, &search(&fake), wanted).unwrap_err();
            assert!(failure.why.ends_with("is compressed"), "{failure}");
        }
    }
}
