// SPDX-License-Identifier: GPL-2.0
//! Sets of CPUs.

use std::fmt;

/// Whether a bitmap has this bit; bits beyond its end are 0.
#[inline]
pub fn has(words: &[u64], cpu: u32) -> bool {
    let word = words.get(cpu as usize / 64).copied().unwrap_or(0);
    word >> (cpu % 64) & 1 != 0
}

/// The bits of a word at `index`, as numbers of CPUs, from the least on.
#[inline]
pub fn bits(index: usize, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(index as u32 * 64 + bit)
    })
}

/// A set of CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpus {
    words: Vec<u64>,
}

impl Cpus {
    /// The set that a list of ranges names, such as `0-3,8`.
    pub fn from_list(list: &str) -> Option<Self> {
        const MOST: u32 = 1 << 16;
        let mut cpus = Cpus::default();
        for range in list.trim().split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if first > last || last >= MOST {
                return None;
            }
            (first..=last).for_each(|cpu| cpus.insert(cpu));
        }
        Some(cpus)
    }

    /// The set that a bitmap is.
    pub fn from_words(words: &[u64]) -> Self {
        let length = words
            .iter()
            .rposition(|word| *word != 0)
            .map_or(0, |at| at + 1);
        Cpus {
            words: words[..length].to_vec(),
        }
    }

    /// Adds a CPU.
    pub fn insert(&mut self, cpu: u32) {
        let at = cpu as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (cpu % 64);
    }

    /// Whether it has a CPU.
    pub fn contains(&self, cpu: u32) -> bool {
        has(&self.words, cpu)
    }

    /// Its CPUs, from the least on.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(index, word)| bits(index, *word))
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As a bitmap; there may be zeros at its end.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The CPUs that both have.
    pub fn and(&self, other: &Cpus) -> Cpus {
        let both = self.words.iter().zip(&other.words);
        Cpus::from_words(&both.map(|(one, two)| one & two).collect::<Vec<_>>())
    }
}

impl FromIterator<u32> for Cpus {
    fn from_iter<I: IntoIterator<Item = u32>>(iter: I) -> Self {
        let mut cpus = Cpus::default();
        iter.into_iter().for_each(|cpu| cpus.insert(cpu));
        cpus
    }
}

/// As a list of ranges.
impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        let mut cpus = self.iter().peekable();
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&(last + 1)) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

/// Which CPUs a thread may use, for those who remember it: most may use all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Affinity {
    /// All CPUs.
    #[default]
    All,
    /// These, of a machine with at most 64.
    Few(u64),
    /// These, as a bitmap.
    Some(Box<[u64]>),
}

impl Affinity {
    /// Takes over what an event says. Allocates only when a thread has got other limits.
    #[inline]
    pub fn update(&mut self, nr_allowed: u32, nr_cpus: u32, allowed: &[u64]) {
        match allowed {
            _ if nr_allowed >= nr_cpus => *self = Affinity::All,
            [word] => *self = Affinity::Few(*word),
            _ => self.update_some(allowed),
        }
    }

    fn update_some(&mut self, allowed: &[u64]) {
        match self {
            Affinity::Some(old) if old.len() == allowed.len() => old.copy_from_slice(allowed),
            _ => *self = Affinity::Some(allowed.into()),
        }
    }

    /// Whether the thread may use this CPU.
    #[inline]
    pub fn allows(&self, cpu: u32) -> bool {
        match self {
            Affinity::All => true,
            Affinity::Few(word) => has(&[*word], cpu),
            Affinity::Some(words) => has(words, cpu),
        }
    }

    /// The bitmap; None: all.
    #[inline]
    pub fn words(&self) -> Option<&[u64]> {
        match self {
            Affinity::All => None,
            Affinity::Few(word) => Some(std::slice::from_ref(word)),
            Affinity::Some(words) => Some(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written() {
        for list in ["0", "0-3", "0-1,5,63-65,130"] {
            assert_eq!(Cpus::from_list(list).unwrap().to_string(), list);
        }
        for bad in ["", "3-1", "a", "0-", "1-99999999"] {
            assert_eq!(Cpus::from_list(bad), None, "{bad}");
        }
        let cpus = Cpus::from_list("1-2,70").unwrap();
        assert_eq!(cpus.iter().collect::<Vec<_>>(), [1, 2, 70]);
        assert!(cpus.contains(70) && !cpus.contains(71) && !cpus.contains(700));
        assert_eq!(cpus.and(&Cpus::from_list("2-9").unwrap()).to_string(), "2");
    }

    #[test]
    fn an_affinity_follows_the_events() {
        let mut affinity = Affinity::All;
        affinity.update(1, 4, &[0b100]);
        assert!(affinity.allows(2) && !affinity.allows(1));
        affinity.update(2, 4, &[0b11]);
        assert!(!affinity.allows(2) && affinity.allows(1));
        affinity.update(4, 4, &[0b1111]);
        assert_eq!(affinity, Affinity::All);
        for cpu in [1, 65] {
            let mut words = [0; 2];
            words[cpu as usize / 64] = 1 << (cpu % 64);
            affinity.update(1, 70, &words);
            assert!(affinity.allows(cpu) && !affinity.allows(cpu + 1));
            assert_eq!(affinity.words(), Some(&words[..]));
        }
        affinity.update(1, 4, &[0b100]);
        assert_eq!(affinity.words(), Some(&[0b100][..]));
        assert!(affinity.allows(2) && !affinity.allows(66));
    }
}
