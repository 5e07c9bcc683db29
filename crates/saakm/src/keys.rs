// SPDX-License-Identifier: GPL-2.0
//! Files of the kernel that have a key and a value in each line.

use std::collections::HashMap;

/// Lines of `key value`.
pub fn keys(text: &str) -> HashMap<&str, &str> {
    text.lines()
        .filter_map(|line| line.trim().split_once(char::is_whitespace))
        .map(|(key, value)| (key, value.trim()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_rest_of_the_line() {
        let keys = keys("policy 1\nname  a b \nempty\n");
        assert_eq!((keys.len(), keys["policy"], keys["name"]), (2, "1", "a b"));
    }
}
