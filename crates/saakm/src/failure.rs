// SPDX-License-Identifier: GPL-2.0
//! A failure as the user reads it: what happened, why, and what to do.

use std::fmt;

use serde::Serialize;

use crate::escape::printable;

/// One thing that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What could not be done.
    pub what: String,
    /// The cause, as far as it is known.
    pub why: String,
    /// What the user can do about it.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with no advice yet.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Failure {
            what: what.into(),
            why: why.into(),
            hint: None,
        }
    }

    /// Adds advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The kernel has no scheduling class SaaKM.
    pub fn no_saakm(what: impl Into<String>) -> Self {
        Failure::new(what, "this kernel has no SaaKM (CONFIG_SCHED_CLASS_SAAKM)")
            .hint("boot one that has it with: ./saakm shell")
    }
}

/// For people: names and sentences of others are in it, and stay on their line.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, why) = (printable(&self.what), printable(&self.why));
        write!(f, "{what}: {why}")?;
        match &self.hint {
            Some(hint) => write!(f, "\n  to do: {}", printable(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_why_and_what_to_do() {
        let text = Failure::no_saakm("cannot list the policies").to_string();
        assert_eq!(
            text,
            "cannot list the policies: this kernel has no SaaKM \
             (CONFIG_SCHED_CLASS_SAAKM)\n  to do: boot one that has it with: ./saakm shell"
        );
    }

    #[test]
    fn what_others_wrote_stays_on_its_line() {
        let failure = Failure::new("no 'a\nb'", "\u{1b}[2J").hint("\u{9b}c");
        let text = failure.to_string();
        assert_eq!(text, "no 'a\\nb': \\x1b[2J\n  to do: \\u{9b}c");
        assert_eq!(failure.what, "no 'a\nb'");
    }
}
