// SPDX-License-Identifier: GPL-2.0
//! Small pieces of text: tables, durations, plurals.

use std::collections::HashMap;
use std::path::Path;

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

/// Lines of `key value`.
pub fn keys(text: &str) -> HashMap<&str, &str> {
    text.lines()
        .filter_map(|line| line.trim().split_once(char::is_whitespace))
        .map(|(key, value)| (key, value.trim()))
        .collect()
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

/// What anybody wrote, for a line of ours: names, reasons and files may hold terminal commands,
/// line ends that forge a line, or marks that turn the direction of writing. Twice is once.
pub fn printable(text: &str) -> String {
    escape(text, |char| is_unsafe(char).then(|| code(char)))
}

/// The last gate before a terminal: as [`printable`], but lines and tabs stay.
pub fn harmless(text: &str) -> String {
    let is_layout = |char: char| char == '\n' || char == '\t';
    escape(text, |char| {
        (is_unsafe(char) && !is_layout(char)).then(|| code(char))
    })
}

/// A JSON document that says the same without a character that a terminal may act on.
pub fn plain_json(document: &str) -> String {
    escape(document, |char| {
        let mut units = [0; 2];
        let units = char.encode_utf16(&mut units);
        // JSON itself has escaped those below the blank; what is left of them is its layout.
        (is_unsafe(char) && char >= '\x7f')
            .then(|| units.iter().map(|unit| format!("\\u{unit:04x}")).collect())
    })
}

/// For JSON, which has no other names than those in UTF-8.
pub fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}

fn escape(text: &str, code: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match code(char) {
            Some(code) => out.push_str(&code),
            None => out.push(char),
        }
    }
    out
}

fn code(char: char) -> String {
    match char {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\0'..='\x7f' => format!("\\x{:02x}", u32::from(char)),
        _ => format!("\\u{{{:x}}}", u32::from(char)),
    }
}

/// Control characters, and those of Unicode that are not seen but change what is seen.
fn is_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
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
    fn keys_have_the_rest_of_the_line() {
        let keys = keys("policy 1\nname  a b \nempty\n");
        assert_eq!((keys.len(), keys["policy"], keys["name"]), (2, "1", "a b"));
    }

    #[test]
    fn fixed_units() {
        assert_eq!(milliseconds(12_345), "0.012 ms");
        assert_eq!(milliseconds(1_002_000_999), "1002.000 ms");
        assert_eq!(seconds(12_345_678_999), "12.345678");
        assert_eq!(seconds(1), "0.000000");
    }

    #[test]
    fn names_are_made_harmless() {
        let name = "job\u{1b}[2J\r\n\t\u{7f}\u{9b}\u{202e}ü\\x";
        let shown = r"job\x1b[2J\r\n\t\x7f\u{9b}\u{202e}ü\x";
        assert_eq!(printable(name), shown);
        assert_eq!(printable(shown), shown);
        assert_eq!(harmless("a\t\u{1b}\n"), "a\t\\x1b\n");
    }

    #[test]
    fn a_cell_cannot_forge_a_row() {
        let rows = [vec!["a\n\u{1b}[2J1".to_owned()]];
        let expected = "NAME\na\\n\\x1b[2J1\n";
        assert_eq!(table(&[("NAME", Align::Left)], &rows), expected);
    }

    #[test]
    fn json_says_the_same_in_other_characters() {
        let value = serde_json::json!({"a": "\u{9b}2J\u{7f}\u{1b}\n\u{e0001}ü"});
        let text = plain_json(&format!("{value:#}\n"));
        assert_eq!(
            text,
            "{\n  \"a\": \"\\u009b2J\\u007f\\u001b\\n\\udb40\\udc01ü\"\n}\n"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
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
