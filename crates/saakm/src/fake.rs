// SPDX-License-Identifier: GPL-2.0
//! A machine of files, for tests.

use crate::host::Host;

/// Of [`FakeHost::with_ejected`], as the kernel sets it.
pub const EJECTED: &str = "\
id  name             number kind              seconds      handler          cpu thread           reason
5   bad                  17 stall                12.345678 none               1 hackbench/412    hackbench/412 has been READY on CPU 1 for 30012 ms; see dmesg
6   quitter              16 policy-error         20.000000 tick               0 -                gave up
";

/// A directory that stands for `/`, gone when dropped.
pub struct FakeHost {
    dir: tempfile::TempDir,
    /// The host that looks into that directory.
    pub host: Host,
}

impl FakeHost {
    /// A machine with a mounted /proc and a kernel without SaaKM.
    pub fn bare() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let host = Host::at(dir.path());
        let fake = FakeHost { dir, host };
        fake.write("proc/self/comm", "saakmctl\n");
        fake
    }

    /// A machine with SaaKM and two policies.
    pub fn with_policies() -> Self {
        let fake = FakeHost::bare();
        fake.write(
            "proc/saakm/policies",
            "id name module priority state threads new terminated switches\n\
             2 lottery lottery 10 active 0 7 7 90\n\
             1 fifo fifo_mod 0 active 3 5 2 1234567\n\
             4 old old 0 dying 1 1 0 8\n",
        );
        fake
    }

    /// The same machine with two more policies, both ejected.
    pub fn with_ejected() -> Self {
        let fake = FakeHost::with_policies();
        fake.add_policy("5 bad bad 0 ejected 0 2 2 8");
        fake.add_policy("6 quitter quit_mod 0 ejected 0 1 1 2");
        fake.write("proc/saakm/ejected", EJECTED);
        fake
    }

    /// Adds a row to the table of policies.
    pub fn add_policy(&self, row: &str) {
        let mut text = self.host.read("proc/saakm/policies").expect("policies");
        text.push_str(&format!("{row}\n"));
        self.write("proc/saakm/policies", &text);
    }

    /// Writes a file below the root, and the folders that lead to it.
    pub fn write(&self, below: &str, data: impl AsRef<[u8]>) {
        let path = self.dir.path().join(below);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("mkdir");
        std::fs::write(path, data).expect("write");
    }
}

/// The file of a module that has only a section `.modinfo`: these strings, each ended by a NUL.
pub fn module(modinfo: &str) -> Vec<u8> {
    const HEADER: u64 = 64;
    const NAMES: &[u8] = b"\0.modinfo\0.shstrtab\0";
    const PROGBITS: u32 = 1;
    const STRTAB: u32 = 3;
    let names_at = HEADER + modinfo.len() as u64;
    let table_at = names_at + NAMES.len() as u64;
    let mut file = Vec::from(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // ET_REL, EM_X86_64.
    file.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    for offset in [0, 0, table_at] {
        file.extend(offset.to_le_bytes());
    }
    for half in [0u16, 0, HEADER as u16, 0, 0, 64, 3, 2] {
        file.extend(half.to_le_bytes());
    }
    file.extend(modinfo.as_bytes());
    file.extend(NAMES);
    let sections = [
        (0, 0, 0, 0),
        (1, PROGBITS, HEADER, modinfo.len() as u64),
        (10, STRTAB, names_at, NAMES.len() as u64),
    ];
    for (name, kind, at, length) in sections {
        file.extend(u32::to_le_bytes(name));
        file.extend(kind.to_le_bytes());
        for word in [0, 0, at, length, 0, 1, 0] {
            file.extend(word.to_le_bytes());
        }
    }
    file
}
