// SPDX-License-Identifier: GPL-2.0
//! Which names a policy may have.

/// Gives threads to the policy of the cgroup above.
pub const NONE: &str = "none";

/// Names that mean something else wherever a policy may be named.
const RESERVED: [&str; 5] = [NONE, "all", "fair", "other", "-1"];

/// What is wrong with a policy's name: the kernel loads none that is called so.
pub fn fault(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 31;
    let is_good = |byte: u8| byte.is_ascii_graphic() && !b"/\"\\".contains(&byte);
    let digits = name.strip_prefix('+').unwrap_or(name);
    let is_number = |digits: &str| {
        let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
        digits.bytes().all(|byte| byte.is_ascii_digit())
            || hex.is_some_and(|hex| {
                !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
    };
    match name {
        "" => Some("a name has one character at least"),
        "." | ".." => Some("that is a directory"),
        _ if RESERVED.contains(&name) => Some("that word has another meaning"),
        _ if name.len() > LONGEST => Some("a name has 31 characters at most"),
        _ if name.starts_with('-') => Some("that would be an option"),
        _ if !name.bytes().all(is_good) => {
            Some("a name is printable ASCII without blanks, quotes, / and \\")
        }
        _ if is_number(digits) => Some("that would be an id"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_kernel_refuses() {
        for good in [
            "fifo", "a1", "1a", "0x", "0xg", "rr-2", "a.b", "none2", "x+1", "...",
        ] {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "13",
            "0",
            "+7",
            "007",
            "99999999999999999999",
            "0x1f",
            "+0XA",
            "-1",
            "-x",
            "none",
            "all",
            "fair",
            "other",
            "a b",
            "a\nb",
            "a\u{1b}[2J",
            "a\u{7f}",
            "ü",
            "a/b",
            "a\"b",
            "a\\b",
            "a\tb",
            "0123456789012345678901234567890x",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
