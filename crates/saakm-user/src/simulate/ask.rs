// SPDX-License-Identifier: GPL-2.0
//! `saakm` builds simulators, and knows what workloads are: asked once for each in a process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use saakm::failure::Failure;
use serde::Deserialize;

/// What `saakm sim user --agent-elsewhere` prints.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Answer {
    /// Its program.
    pub(super) simulator: PathBuf,
    /// The file of what operations cost.
    pub(super) costs: PathBuf,
    /// The workload's text.
    pub(super) program: String,
}

static ANSWERS: Mutex<BTreeMap<(u32, String), Answer>> = Mutex::new(BTreeMap::new());

/// The variable that names another `saakm` than the one beside these sources.
const VARIABLE: &str = "SAAKM";

/// A simulator of at least so many CPUs, and this workload on such a machine.
pub(super) fn ask(cpus: u32, workload: &str) -> Result<Answer, Failure> {
    // Others wait meanwhile: it builds for the first of them.
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (cpus, workload.to_owned());
    if let Some(answer) = answers.get(&key) {
        return Ok(answer.clone());
    }
    let answer = ask_saakm(cpus, workload)?;
    answers.insert(key, answer.clone());
    Ok(answer)
}

fn ask_saakm(cpus: u32, workload: &str) -> Result<Answer, Failure> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../saakm"));
    let program = named.unwrap_or_else(beside);
    let topology = format!("1s{cpus}c");
    let words = ["sim", "user", "--agent-elsewhere", "--topology", &topology];
    let failure = |why: String| {
        let command = format!(
            "{} {} --workload '{workload}'",
            program.display(),
            words.join(" ")
        );
        Failure::new("there is no simulator to run", why).hint(format!(
            "this must work, or {VARIABLE} name another saakm: {command}"
        ))
    };
    // What it says, also while it builds, is for whoever runs the tests.
    let asked = Command::new(&program)
        .args(words)
        .args(["--workload", workload])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failure(format!("{}: {error}", program.display())))?;
    if !asked.status.success() {
        return Err(failure(format!(
            "saakm has said why above ({})",
            asked.status
        )));
    }
    serde_json::from_slice(&asked.stdout)
        .map_err(|error| failure(format!("saakm has printed something else: {error}")))
}
