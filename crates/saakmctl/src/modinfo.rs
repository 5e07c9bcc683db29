// SPDX-License-Identifier: GPL-2.0
//! What a module says of itself: the section `.modinfo` of its ELF file.

use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, FileKind};

/// Strings `KEY=VALUE`.
#[derive(Debug)]
pub struct Modinfo(Vec<u8>);

impl Modinfo {
    /// Of a file that is no module it is empty: the kernel refuses that in better words.
    pub fn of(module: &[u8]) -> Self {
        let section = match FileKind::parse(module) {
            Ok(FileKind::Elf32) => section::<FileHeader32<Endianness>>(module),
            Ok(FileKind::Elf64) => section::<FileHeader64<Endianness>>(module),
            _ => None,
        };
        Modinfo(section.unwrap_or_default().to_vec())
    }

    /// All values under a key.
    pub fn values(&self, key: &str) -> Vec<String> {
        self.0
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.strip_prefix(key.as_bytes())?.strip_prefix(b"="))
            .map(|value| String::from_utf8_lossy(value).into_owned())
            .collect()
    }
}

fn section<Elf: FileHeader<Endian = Endianness>>(module: &[u8]) -> Option<&[u8]> {
    let header = Elf::parse(module).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, module).ok()?;
    let (_, section) = sections.section_by_name(endian, b".modinfo")?;
    section.data(endian, module).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use saakm::fake;

    #[test]
    fn modules_speak_of_themselves() {
        let text = "parmtype=a:int\0parmtype=b:charp\0\0parm=a:A number\0";
        let modinfo = Modinfo::of(&fake::module(text));
        assert_eq!(modinfo.values("parmtype"), ["a:int", "b:charp"]);
        assert_eq!(modinfo.values("parm"), ["a:A number"]);
        assert!(modinfo.values("vermagic").is_empty());
    }

    #[test]
    fn only_the_section_counts() {
        let mut file = fake::module("name=fifo\0");
        file.extend(b"\0name=signature\0");
        assert_eq!(Modinfo::of(&file).values("name"), ["fifo"]);
    }

    #[test]
    fn what_is_no_module_says_nothing() {
        let whole = fake::module("name=fifo\0");
        for length in 0..whole.len() {
            let cut = Modinfo::of(&whole[..length]);
            assert!(cut.values("name").is_empty(), "{length}");
        }
        assert!(Modinfo::of(b"\0name=fifo\0").values("name").is_empty());
    }
}
