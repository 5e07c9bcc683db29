// SPDX-License-Identifier: GPL-2.0
//! Small pieces of text: tables, durations, plurals.

use std::path::Path;

use saakm::escape::printable;
use serde_json::Value;

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a header; columns are two spaces apart. Cells are made [`printable`].
pub fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = columns.iter().map(|(name, _)| name.len()).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| printable(cell)).collect())
        .collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let header: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut out = String::new();
    for row in std::iter::once(&header).chain(&rows) {
        let mut line = String::new();
        for ((cell, &width), (_, align)) in row.iter().zip(&widths).zip(columns) {
            match align {
                Align::Left => line.push_str(&format!("{cell:<width$}  ")),
                Align::Right => line.push_str(&format!("{cell:>width$}  ")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A duration in the unit in which it is easy to read.
pub fn duration(ns: u64) -> String {
    const US: u64 = 1_000;
    const MS: u64 = 1_000 * US;
    const S: u64 = 1_000 * MS;
    const MIN: u64 = 60 * S;
    const HOUR: u64 = 60 * MIN;
    const DAY: u64 = 24 * HOUR;
    // Tenths are cut, not rounded: 999.99 us must not read "1000.0 us".
    let tenths = |unit: u64, name: &str| {
        let tenths = ns / (unit / 10);
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    };
    match ns {
        0..US => format!("{ns} ns"),
        US..MS => tenths(US, "us"),
        MS..S => tenths(MS, "ms"),
        S..MIN => tenths(S, "s"),
        MIN..HOUR => format!("{} min {} s", ns / MIN, ns % MIN / S),
        HOUR..DAY => format!("{} h {} min", ns / HOUR, ns % HOUR / MIN),
        DAY.. => format!("{} d {} h", ns / DAY, ns % DAY / HOUR),
    }
}

/// Milliseconds to the microsecond, for what is expected to be short.
pub fn milliseconds(ns: u64) -> String {
    let us = ns / 1_000;
    format!("{}.{:03} ms", us / 1_000, us % 1_000)
}

/// Seconds to the microsecond, as in the kernel's log.
pub fn seconds(ns: u64) -> String {
    let us = ns / 1_000;
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// `1 thread`, `2,000 threads`.
pub fn count(number: u64, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {noun}{s}", grouped(number))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// For JSON, which has no other names than those in UTF-8.
pub fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up_without_trailing_blanks() {
        let columns = [("ID", Align::Right), ("NAME", Align::Left)];
        let rows = [
            vec!["1".into(), "fifo".into()],
            vec!["100".into(), "x".into()],
        ];
        assert_eq!(table(&columns, &rows), " ID  NAME\n  1  fifo\n100  x\n");
    }

    #[test]
    fn durations_read_well() {
        let expected = [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.0 us"),
            (999_999, "999.9 us"),
            (12_345_678, "12.3 ms"),
            (1_500_000_000, "1.5 s"),
            (59_999_999_999, "59.9 s"),
            (60_000_000_000, "1 min 0 s"),
            (7_260_000_000_000, "2 h 1 min"),
            (90_000_000_000_000, "1 d 1 h"),
        ];
        for (ns, text) in expected {
            assert_eq!(duration(ns), text);
        }
        assert!(duration(u64::MAX).ends_with(" h"));
    }

    #[test]
    fn fixed_units() {
        assert_eq!(milliseconds(12_345), "0.012 ms");
        assert_eq!(milliseconds(1_002_000_999), "1002.000 ms");
        assert_eq!(seconds(12_345_678_999), "12.345678");
        assert_eq!(seconds(1), "0.000000");
    }

    #[test]
    fn a_cell_cannot_forge_a_row() {
        let rows = [vec!["a\n\u{1b}[2J1".to_owned()]];
        let expected = "NAME\na\\n\\x1b[2J1\n";
        assert_eq!(table(&[("NAME", Align::Left)], &rows), expected);
    }

    #[test]
    fn plurals() {
        assert_eq!(count(1, "thread"), "1 thread");
        assert_eq!(count(0, "thread"), "0 threads");
        assert_eq!(count(999, "thread"), "999 threads");
        assert_eq!(count(1_000, "thread"), "1,000 threads");
        assert_eq!(count(1_234_567, "CPU"), "1,234,567 CPUs");
    }
}
