// SPDX-License-Identifier: GPL-2.0
//! What the kernel logs while a module is loaded.
//!
//! An unknown symbol or a module of another kernel is explained nowhere but
//! in the kernel's log: fetch it from there, so that the user need not.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use saakm::host::Host;

/// More than this would bury the message itself.
const MOST_LINES: usize = 8;

/// Whoever logs without end shall not keep us reading.
const MOST_RECORDS: usize = 10_000;

/// A place in the kernel's log.
pub struct Mark(Option<File>);

/// Marks the end of the log; without permission the mark yields nothing.
pub fn mark(host: &Host) -> Mark {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(host.path("dev/kmsg"));
    let at_end = file.and_then(|mut file| {
        file.seek(SeekFrom::End(0))?;
        Ok(file)
    });
    Mark(at_end.ok())
}

impl Mark {
    /// What was logged since the mark about the given module.
    pub fn lines_about(self, module: &str) -> Vec<String> {
        let Some(file) = self.0 else {
            return Vec::new();
        };
        messages(&read_records(file))
            .filter(|line| line.contains(module) || line.contains("saakm"))
            .take(MOST_LINES)
            .map(str::to_owned)
            .collect()
    }
}

fn read_records(mut file: File) -> String {
    let mut text = String::new();
    // The kernel gives one record a read, and fails when it does not fit.
    let mut record = [0; 8192];
    for _ in 0..MOST_RECORDS {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(length) => text.push_str(&String::from_utf8_lossy(&record[..length])),
            // EPIPE: records were overwritten; the next read goes on after them.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(_) => break,
        }
    }
    text
}

/// `6,1234,5678,-;text`; lines that start with a blank carry properties.
fn messages(records: &str) -> impl Iterator<Item = &str> {
    records
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_once(';'))
        .map(|(_, message)| message.trim())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use saakm::fake::FakeHost;

    #[test]
    fn only_what_is_new_and_about_the_module() {
        let fake = FakeHost::bare();
        fake.write("dev/kmsg", "6,1,1,-;fifo: of long ago\n");
        let mark = mark(&fake.host);
        let mut log = OpenOptions::new()
            .append(true)
            .open(fake.host.path("dev/kmsg"))
            .unwrap();
        log.write_all(
            b"3,2,9,-;fifo: Unknown symbol saakm_x (err -2)\n SUBSYSTEM=fifo;\n\
              6,3,9,-;eth0: link up\n4,4,9,c;saakm: refused\n",
        )
        .unwrap();
        assert_eq!(
            mark.lines_about("fifo"),
            ["fifo: Unknown symbol saakm_x (err -2)", "saakm: refused"]
        );
    }

    #[test]
    fn a_log_without_end_is_read_in_part() {
        let endless = File::open("/dev/zero").unwrap();
        assert_eq!(read_records(endless).len(), MOST_RECORDS * 8192);
    }

    #[test]
    fn no_log_is_no_trouble() {
        let fake = FakeHost::bare();
        assert!(mark(&fake.host).lines_about("fifo").is_empty());
    }
}
