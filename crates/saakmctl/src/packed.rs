// SPDX-License-Identifier: GPL-2.0
//! Modules that are compressed. They have to be unpacked first: what they say of themselves
//! could not be read, and not every kernel unpacks one.

use std::path::{Path, PathBuf};

use saakm::failure::Failure;

/// How such a file begins and ends, and the program that unpacks it.
const KINDS: [(&[u8], &str, &str); 3] = [
    (b"\x28\xb5\x2f\xfd", "zst", "unzstd"),
    (b"\xfd7zXZ\0", "xz", "unxz"),
    (b"\x1f\x8b", "gz", "gunzip"),
];

/// The failure for a file with these bytes, if they are compressed.
pub fn refuse(path: &Path, bytes: &[u8]) -> Option<Failure> {
    let (_, _, program) = KINDS.iter().find(|(magic, ..)| bytes.starts_with(magic))?;
    let what = format!("cannot load {}", path.display());
    Some(failure(what, path, program))
}

/// The failure for a module that is there in compressed form only.
pub fn refuse_beside(what: &str, module: &Path) -> Option<Failure> {
    KINDS.iter().find_map(|(_, end, program)| {
        let path = PathBuf::from(format!("{}.{end}", module.display()));
        path.is_file()
            .then(|| failure(what.to_owned(), &path, program))
    })
}

fn failure(what: String, path: &Path, program: &str) -> Failure {
    let path = path.display();
    Failure::new(what, format!("{path} is compressed"))
        .hint(format!("unpack it first: {program} -k {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake::FakeHost;

    #[test]
    fn compression_shows_in_the_first_bytes() {
        for (bytes, program) in [
            (b"\x28\xb5\x2f\xfd..." as &[u8], "unzstd"),
            (b"\xfd7zXZ\0...", "unxz"),
            (b"\x1f\x8b...", "gunzip"),
        ] {
            let failure = refuse(Path::new("/x.ko.y"), bytes).unwrap();
            assert_eq!(failure.what, "cannot load /x.ko.y");
            assert_eq!(failure.why, "/x.ko.y is compressed");
            let hint = format!("unpack it first: {program} -k /x.ko.y");
            assert_eq!(failure.hint, Some(hint));
        }
        assert_eq!(refuse(Path::new("x.ko"), b"\x7fELF"), None);
        assert_eq!(refuse(Path::new("x.ko"), b""), None);
    }

    #[test]
    fn the_compressed_one_is_found_where_the_other_would_be() {
        let fake = FakeHost::bare();
        let module = fake.host.path("a/x.ko");
        assert_eq!(refuse_beside("no", &module), None);
        fake.write("a/x.ko.xz", "");
        let failure = refuse_beside("no", &module).unwrap();
        assert!(failure.why.ends_with("a/x.ko.xz is compressed"));
    }
}
