// SPDX-License-Identifier: GPL-2.0
//! What the agents of a process leave to their successors: the kernel keeps one state, so
//! theirs is the list of their states, each with the CPUs that it is about.

use crate::cpus::Cpus;
use crate::protocol::STATE_MAX;

/// Adds what the agent of these CPUs leaves. False: there is no room for it.
pub fn add(all: &mut Vec<u8>, cpus: &Cpus, state: &[u8]) -> bool {
    let words = cpus.words();
    if all.len() + 8 + words.len() * 8 + state.len() > STATE_MAX {
        return false;
    }
    all.extend((words.len() as u32).to_le_bytes());
    words.iter().for_each(|word| all.extend(word.to_le_bytes()));
    all.extend((state.len() as u32).to_le_bytes());
    all.extend(state);
    true
}

/// The states that are about any of these CPUs. Ends where it cannot be read.
pub fn about<'a>(mut all: &'a [u8], cpus: &'a Cpus) -> impl Iterator<Item = &'a [u8]> + 'a {
    std::iter::from_fn(move || loop {
        let count = number(&mut all)?;
        let words = take(&mut all, count.checked_mul(8)?)?;
        let words: Vec<u64> = words
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")))
            .collect();
        let length = number(&mut all)?;
        let state = take(&mut all, length)?;
        if !Cpus::from_words(&words).and(cpus).is_empty() {
            return Some(state);
        }
    })
}

fn number(all: &mut &[u8]) -> Option<usize> {
    let bytes = take(all, 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

fn take<'a>(all: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = all.split_at_checked(count)?;
    *all = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_agent_gets_what_is_about_its_cpus() {
        let mut all = Vec::new();
        let list = |text| Cpus::from_list(text).unwrap();
        assert!(add(&mut all, &list("0-3"), b"one"));
        assert!(add(&mut all, &list("4-70"), b""));
        assert!(add(&mut all, &list("71"), b"three"));
        assert!(!add(&mut all, &list("72"), &vec![0; STATE_MAX]));
        let about = |text| {
            about(&all, &list(text))
                .map(<[u8]>::to_vec)
                .collect::<Vec<_>>()
        };
        assert_eq!(about("2"), [b"one".to_vec()]);
        assert_eq!(
            about("3,70-80"),
            [b"one".to_vec(), Vec::new(), b"three".to_vec()]
        );
        assert!(about("99").is_empty());
    }

    proptest! {
        #[test]
        fn nonsense_does_no_harm(bytes: Vec<u8>) {
            about(&bytes, &Cpus::from_iter([0])).for_each(drop);
        }
    }
}
