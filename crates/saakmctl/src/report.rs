// SPDX-License-Identifier: GPL-2.0
//! What a command has to say, once for people and once for programs.

use std::io::{self, Write};

use saakm::escape::{harmless, plain_json, printable};
use saakm::failure::Failure;
use serde_json::{json, Map, Value};

/// The exit status of a command that failed in the ordinary way.
pub const EXIT_FAILURE: u8 = 1;

/// The answer of a command that ran to its end, perhaps not for every thread.
#[derive(Debug, Default)]
pub struct Report {
    /// For people; empty when there is nothing to say.
    pub text: String,
    /// For programs: the fields of the JSON document.
    pub fields: Map<String, Value>,
    /// What the user should know although it worked.
    pub warnings: Vec<String>,
    /// What did not work.
    pub failures: Vec<Failure>,
    /// The exit status for a failure, if it is not [`EXIT_FAILURE`].
    pub own_status: Option<u8>,
}

impl Report {
    /// A report of one field.
    pub fn new(text: String, field: &str, value: Value) -> Self {
        let mut fields = Map::new();
        fields.insert(field.to_owned(), value);
        Report {
            text,
            fields,
            ..Report::default()
        }
    }

    /// A report that consists of one failure.
    pub fn failed(failure: Failure) -> Self {
        Report {
            failures: vec![failure],
            ..Report::default()
        }
    }

    /// The same, with an exit status of its own.
    pub fn failed_with(status: u8, failure: Failure) -> Self {
        Report {
            own_status: Some(status),
            ..Report::failed(failure)
        }
    }

    /// The exit status of the program.
    pub fn status(&self) -> u8 {
        match self.failures.is_empty() {
            true => 0,
            false => self.failure_status(),
        }
    }

    fn failure_status(&self) -> u8 {
        self.own_status.unwrap_or(EXIT_FAILURE)
    }

    /// The JSON document; `failures` and `warnings` are always there.
    pub fn document(&self) -> Value {
        let mut fields = self.fields.clone();
        fields.insert("warnings".into(), json!(self.warnings));
        let mut failures = json!(self.failures);
        for failure in failures.as_array_mut().into_iter().flatten() {
            failure["status"] = json!(self.failure_status());
        }
        fields.insert("failures".into(), failures);
        Value::Object(fields)
    }

    /// Prints for people: results on stdout, complaints on stderr.
    pub fn print_text(&self) -> u8 {
        let written = write_all(io::stdout(), &harmless(&self.text));
        for warning in &self.warnings {
            complain(&format!("warning: {}", printable(warning)));
        }
        for failure in &self.failures {
            complain(&failure.to_string());
        }
        self.status_after(written)
    }

    /// Prints for programs: one document.
    pub fn print_json(&self, to: impl Write) -> u8 {
        let written = write_all(to, &plain_json(&format!("{:#}\n", self.document())));
        self.status_after(written)
    }

    fn status_after(&self, written: io::Result<()>) -> u8 {
        match written {
            Ok(()) => self.status(),
            Err(error) => {
                complain(&format!("cannot write the result: {error}"));
                self.status().max(EXIT_FAILURE)
            }
        }
    }
}

/// Not eprintln: that dies of an unwritable stderr, and the exit status with it.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "saakmctl: {text}");
}

fn write_all(mut to: impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_always_has_failures_and_warnings() {
        let report = Report::new(String::new(), "policies", json!([]));
        assert_eq!(
            report.document(),
            json!({"policies": [], "warnings": [], "failures": []})
        );
        assert_eq!(report.status(), 0);
    }

    #[test]
    fn a_failure_decides_the_status() {
        let report = Report::failed_with(125, Failure::new("a", "b"));
        assert_eq!(report.status(), 125);
        let document = report.document();
        assert_eq!(document["failures"][0]["why"], "b");
        assert_eq!(document["failures"][0]["status"], 125);
        assert_eq!(Report::failed(Failure::new("a", "b")).status(), 1);
    }

    #[test]
    fn an_unwritable_stdout_is_a_failure() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(Report::default().print_json(Full), EXIT_FAILURE);
    }
}
