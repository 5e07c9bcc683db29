// SPDX-License-Identifier: GPL-2.0
//! The schedulers decide for a model of a machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use saakm_schedulers::fifo::Fifo;
use saakm_schedulers::llc::{Llc, Shared};
use saakm_schedulers::rustland::{clocks, slice, Limits, Rustland};
use saakm_user::area::Area;
use saakm_user::cpus::Cpus;
use saakm_user::domains::Domain;
use saakm_user::fake::{Machine, Ran, Report, Thread};
use saakm_user::Scheduler;

const MS: u64 = 1_000_000;
const START: u64 = 1_000_000_000;

const LIMITS: Limits = Limits {
    slice_ns: 20 * MS,
    slice_min_ns: MS,
    percpu_local: false,
};

fn thread(pid: u32, weight: u32, cpus: &str, bursts: &[(u64, u64)]) -> Thread {
    Thread {
        pid,
        weight,
        allowed: Cpus::from_list(cpus).unwrap(),
        bursts: bursts.to_vec(),
    }
}

fn llc(cpus: u32) -> Llc {
    let domain = Domain {
        number: 0,
        cpus: Cpus::from_iter(0..cpus),
        others: Vec::new(),
    };
    Llc::of(LIMITS, &Arc::new(Shared::new(1)), domain)
}

fn all(cpus: u32) -> Vec<(&'static str, Box<dyn Scheduler>)> {
    let local = Limits {
        percpu_local: true,
        ..LIMITS
    };
    vec![
        ("fifo", Box::new(Fifo::new(5 * MS))),
        ("rustland", Box::new(Rustland::new(LIMITS))),
        ("rustland -l", Box::new(Rustland::new(local))),
        ("rustland-llc", Box::new(llc(cpus))),
    ]
}

fn run(cpus: u32, scheduler: &mut dyn Scheduler, threads: &[Thread]) -> Report {
    let area = Area::on_heap(cpus);
    Machine::new(&area, threads.to_vec()).run(scheduler)
}

/// What holds for each scheduler and whatever threads do.
fn check(name: &str, report: &Report, threads: &[Thread]) {
    assert_eq!(report.lost, [0u32; 0], "{name} has lost threads");
    assert_eq!(report.stale, 0, "{name} dispatched a thread twice");
    assert_eq!(
        report.bounced, 0,
        "{name} sent a thread where it may not run"
    );
    assert_eq!(
        report.waits,
        report.turns.len() as u64,
        "{name}: a turn for each wait"
    );
    for thread in threads {
        let wanted: u64 = thread.bursts.iter().map(|burst| burst.1).sum();
        assert_eq!(
            report.ran_ns(thread.pid, u64::MAX),
            wanted,
            "{name}: {thread:?}"
        );
    }
    let mut by_cpu: BTreeMap<u32, Vec<&Ran>> = BTreeMap::new();
    for turn in &report.turns {
        let meant = threads
            .iter()
            .find(|thread| thread.pid == turn.pid)
            .unwrap();
        assert!(meant.allowed.contains(turn.cpu), "{name}: {turn:?}");
        by_cpu.entry(turn.cpu).or_default().push(turn);
    }
    for turns in by_cpu.values() {
        assert!(turns
            .windows(2)
            .all(|two| two[0].stop_ns <= two[1].start_ns));
    }
}

fn some_threads(cpus: u32) -> impl Strategy<Value = Vec<Thread>> {
    let bursts = prop::collection::vec((0..10 * MS, 1..10 * MS), 1..5);
    let allowed = prop::collection::btree_set(0..cpus, 1..=cpus as usize);
    let one = (bursts, allowed, 3..90_000u32).prop_map(|(bursts, allowed, weight)| Thread {
        pid: 0,
        weight,
        allowed: allowed.into_iter().collect(),
        bursts,
    });
    prop::collection::vec(one, 1..20).prop_map(|mut threads| {
        (1..)
            .zip(&mut threads)
            .for_each(|(pid, thread)| thread.pid = pid);
        threads
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0), // as in simulator/simulated.rs
        ..Default::default()
    })]

    #[test]
    fn each_wait_gets_one_turn(
        (cpus, threads) in (1..5u32).prop_flat_map(|cpus| (Just(cpus), some_threads(cpus)))
    ) {
        for (name, mut scheduler) in all(cpus) {
            let report = run(cpus, &mut *scheduler, &threads);
            check(name, &report, &threads);
            prop_assert_eq!(scheduler.held(), 0);
        }
    }
}

#[test]
fn fifo_keeps_the_order_of_arrival() {
    let threads: Vec<Thread> = (1..=5)
        .map(|pid| thread(pid, 1024, "0", &[(0, 8 * MS)]))
        .collect();
    let report = run(1, &mut Fifo::new(5 * MS), &threads);
    let order: Vec<u32> = report.turns.iter().map(|turn| turn.pid).collect();
    assert_eq!(order, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
}

#[test]
fn short_bursts_go_first() {
    // Two hogs, and a thread that runs for 100 us each time.
    let mut threads = vec![thread(1, 1024, "0", &[(0, 900 * MS)])];
    threads.push(thread(2, 1024, "0", &[(0, 900 * MS)]));
    threads.push(thread(3, 1024, "0", &[(5 * MS, MS / 10); 100]));
    for (name, mut scheduler) in all(1).into_iter().skip(1) {
        let report = run(1, &mut *scheduler, &threads);
        let turns: Vec<_> = report.turns.iter().filter(|turn| turn.pid == 3).collect();
        let waits = turns
            .windows(2)
            .map(|two| two[1].start_ns - two[0].stop_ns - 5 * MS);
        let worst = waits.max().unwrap();
        assert!(worst <= 2 * MS, "{name}: it waited for {worst} ns");
    }
}

#[test]
fn weights_are_honoured() {
    // Nice -5 and nice 5, always busy.
    let threads = [3121, 335].map(|weight| thread(weight, weight, "0", &[(0, 4000 * MS)]));
    let report = run(1, &mut llc(1), &threads);
    let until = START + 2000 * MS;
    let (heavy, light) = (report.ran_ns(3121, until), report.ran_ns(335, until));
    let ratio = heavy as f64 / light as f64;
    assert!((8.0..11.0).contains(&ratio), "{heavy} : {light}");
    // rustland gives the heavy one longer turns, and more.
    let report = run(1, &mut Rustland::new(LIMITS), &threads);
    let (heavy, light) = (report.ran_ns(3121, until), report.ran_ns(335, until));
    assert!(heavy > 3 * light, "{heavy} : {light}");
}

#[test]
fn equals_get_the_same() {
    let threads: Vec<Thread> = (1..=6)
        .map(|pid| thread(pid, 1024, "0-1", &[(0, 999 * MS)]))
        .collect();
    for (name, mut scheduler) in all(2) {
        let report = run(2, &mut *scheduler, &threads);
        if name == "rustland -l" {
            // They all come from one CPU, and stay there.
            continue;
        }
        let shares = threads
            .iter()
            .map(|it| report.ran_ns(it.pid, START + 900 * MS));
        let (least, most) = (shares.clone().min().unwrap(), shares.max().unwrap());
        assert!(most - least <= 20 * MS, "{name}: {least} to {most}");
    }
}

#[test]
fn an_idle_cpu_is_used_and_the_own_one_preferred() {
    let threads: Vec<Thread> = (0..4)
        .map(|cpu| {
            thread(
                cpu + 1,
                1024,
                "0-3",
                &[(0, 3 * MS), (MS, 3 * MS), (MS, 3 * MS)],
            )
        })
        .collect();
    for (name, mut scheduler) in all(4)
        .into_iter()
        .skip(1)
        .filter(|(name, _)| *name != "rustland -l")
    {
        let report = run(4, &mut *scheduler, &threads);
        check(name, &report, &threads);
        let end = report.turns.iter().map(|turn| turn.stop_ns).max().unwrap();
        assert!(end <= START + 12 * MS, "{name}: they waited for each other");
        for pid in 1..=4 {
            let cpus = report
                .turns
                .iter()
                .filter(|turn| turn.pid == pid)
                .map(|turn| turn.cpu);
            let cpus: Vec<u32> = cpus.collect();
            assert!(
                cpus.windows(2).all(|two| two[0] == two[1]),
                "{name}: {cpus:?}"
            );
        }
    }
}

#[test]
fn a_successor_knows_the_clocks() {
    let threads = [1, 2].map(|pid| thread(pid, 1024 * pid, "0", &[(0, 50 * MS), (MS, MS)]));
    // The last event of each has told that it has left, so what is saved is the clock.
    let mut old = Rustland::new(LIMITS);
    run(1, &mut old, &threads);
    let mut new = Rustland::new(LIMITS);
    new.load(&old.save());
    assert_eq!(new.save(), old.save());
    new.load(b"what another scheduler has left");
    assert_eq!(new.save(), old.save());
}

#[test]
fn a_new_thread_has_not_the_clock_of_one_that_had_its_pid() {
    let threads = [1, 2].map(|pid| thread(pid, 1024, "0", &[(0, 90 * MS)]));
    for (name, mut scheduler) in all(1).into_iter().skip(1) {
        scheduler.load(&clocks::save(1, [(1, 1 << 50)].into_iter()));
        let report = run(1, &mut *scheduler, &threads);
        let ran = [1, 2].map(|pid| report.ran_ns(pid, START + 90 * MS));
        assert!(ran[0].abs_diff(ran[1]) <= 20 * MS, "{name}: {ran:?}");
    }
}

#[test]
fn turns_are_as_long_as_the_weight_says() {
    assert_eq!(slice(&LIMITS, 1024), MS);
    assert_eq!(slice(&LIMITS, 8 * 1024), 8 * MS);
    assert_eq!(slice(&LIMITS, 0), 1);
}
