// SPDX-License-Identifier: GPL-2.0
//! Text of others, made so that a terminal does not act on it.

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
    fn names_are_made_harmless() {
        let name = "job\u{1b}[2J\r\n\t\u{7f}\u{9b}\u{202e}ü\\x";
        let shown = r"job\x1b[2J\r\n\t\x7f\u{9b}\u{202e}ü\x";
        assert_eq!(printable(name), shown);
        assert_eq!(printable(shown), shown);
        assert_eq!(harmless("a\t\u{1b}\n"), "a\t\\x1b\n");
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
}
