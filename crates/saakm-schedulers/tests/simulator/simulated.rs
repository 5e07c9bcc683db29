// SPDX-License-Identifier: GPL-2.0
//! The schedulers decide for a simulated machine: the class and the policy `user` are their own C files.
//!
//! `PROPTEST_CASES=1000 cargo test --test simulator` tries more.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use saakm_schedulers::fifo::Fifo;
use saakm_schedulers::llc::{Llc, Shared};
use saakm_schedulers::rustland::{Limits, Rustland};
use saakm_user::domains::Shape;
use saakm_user::simulate::{Run, Simulation};
use saakm_user::{simulate, Event, Options, Out, Scheduler, Task, Turn};

const MS: u64 = 1_000_000;
const CASES: u32 = 24;

const LIMITS: Limits = Limits {
    slice_ns: 20 * MS,
    slice_min_ns: MS,
    percpu_local: false,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ours {
    Fifo,
    Rustland,
    RustlandLlc,
}

impl Ours {
    const ALL: [Ours; 3] = [Ours::Fifo, Ours::Rustland, Ours::RustlandLlc];

    /// As its program sets it up.
    fn simulation(self, options: &Options) -> Simulation {
        let mut options = options.clone();
        let simulation = match self {
            Ours::Fifo => simulate(|_| Fifo::new(5 * MS)),
            Ours::Rustland => simulate(|_| Rustland::new(LIMITS)),
            Ours::RustlandLlc => {
                options.domains = Shape::Llc;
                options.tell_sleeps = true;
                let shared = Arc::new(Shared::new(64));
                simulate(move |place| Llc::new(LIMITS, &shared, place))
            }
        };
        simulation.options(&options)
    }
}

/// What no scheduler may do, whatever its threads and the machine do. Empty: nothing of it was done.
fn faults(run: &Run, threads: u64) -> Vec<String> {
    let mut found = Vec::new();
    let mut unless = |holds: bool, what: String| {
        if !holds {
            found.push(what);
        }
    };
    let done: u64 = run.groups.iter().map(|group| group.iterations).sum();
    unless(
        done == threads,
        format!("{done} of {threads} threads have come to their ends"),
    );
    unless(run.ejected.is_none(), format!("ejected: {:?}", run.ejected));
    unless(!run.misbehaved, format!("the class complains: {}", run.log));
    unless(
        run.warnings.is_empty(),
        format!("warnings: {:?}", run.warnings),
    );
    let counts = run.counts;
    unless(counts.stale == 0, format!("stale: {counts:?}"));
    unless(counts.bounced == 0, format!("bounced: {counts:?}"));
    unless(counts.no_answer == 0, format!("no answer: {counts:?}"));
    found
}

/// Some threads that do the same.
#[derive(Debug, Clone)]
struct Alike {
    threads: u64,
    nice: i32,
    cpus: Option<Vec<u32>>,
    rounds: u32,
    steps: Vec<String>,
}

/// In the text form of src/saakm/workload/program_text.py. Each thread's end is an iteration.
fn text_of(groups: &[Alike]) -> String {
    let mut text = "saakm-program 1\n".to_owned();
    for (number, group) in groups.iter().enumerate() {
        let list = |cpus: &Vec<u32>| {
            cpus.iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(",")
        };
        let cpus = group.cpus.as_ref().map_or("all".to_owned(), list);
        let (threads, nice) = (group.threads, group.nice);
        text += &format!("group g{number} {threads} 0 main {nice} {cpus} none\n");
    }
    for (number, group) in groups.iter().enumerate() {
        let (rounds, steps) = (group.rounds, group.steps.join("\n"));
        text += &format!("program g{number}\nloop {rounds}\n{steps}\nend\niteration\nend\n");
    }
    text
}

fn threads_of(groups: &[Alike]) -> u64 {
    groups.iter().map(|group| group.threads).sum()
}

fn some_groups(cpus: u32) -> impl Strategy<Value = Vec<Alike>> {
    let step = prop_oneof![
        4 => (1..4 * MS).prop_map(|ns| format!("run {ns}")),
        2 => (1..2 * MS).prop_map(|ns| format!("run exponential:{ns}")),
        4 => (1..4 * MS).prop_map(|ns| format!("sleep {ns}")),
        1 => Just("yield".to_owned()),
    ];
    let allowed = prop::collection::btree_set(0..cpus, 1..=cpus as usize);
    let allowed = prop::option::of(allowed.prop_map(|set| set.into_iter().collect()));
    let group = (
        1..6u64,
        -20..20i32,
        allowed,
        1..4u32,
        prop::collection::vec(step, 1..5),
    );
    let group = group.prop_map(|(threads, nice, cpus, rounds, steps)| Alike {
        threads,
        nice,
        cpus,
        rounds,
        steps,
    });
    prop::collection::vec(group, 1..4)
}

/// CPUs that share a cache, and how many such caches there are.
fn machines() -> impl Strategy<Value = (u32, u32)> {
    (1..5u32, 1..3u32)
}

fn some_options() -> impl Strategy<Value = Options> {
    (any::<bool>(), any::<bool>()).prop_map(|(no_fast_path, no_burst)| Options {
        no_fast_path,
        no_burst,
        ..Options::default()
    })
}

fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let usual = ProptestConfig::default();
    ProptestConfig {
        cases: if asked { usual.cases } else { CASES },
        failure_persistence: None,
        // The same in each run, so that one fails for what has changed: more cases have other seeds.
        rng_seed: if asked {
            usual.rng_seed
        } else {
            RngSeed::Fixed(0)
        },
        // Each is a run: a failure shall be small, but not take an hour to get so.
        max_shrink_iters: 200,
        ..usual
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nobody_is_lost_and_each_run_repeats(
        ((llc, llcs), groups) in machines().prop_flat_map(|(llc, llcs)| {
            (Just((llc, llcs)), some_groups(llc * llcs))
        }),
        ours in prop::sample::select(&Ours::ALL[..]),
        options in some_options(),
        seed: u64,
        interleave in prop::option::of(5..50u32),
    ) {
        let program = text_of(&groups);
        let run = || {
            let simulation = ours.simulation(&options).cpus(llc * llcs).cpus_per_llc(llc).seed(seed);
            simulation.interleave(interleave.unwrap_or(0)).program(&program).run().unwrap()
        };
        let first = run();
        let mut found = faults(&first, threads_of(&groups));
        if interleave.is_some() {
            // The kernel may run a thread itself while the agent decides about it.
            found.retain(|fault| !fault.starts_with("stale"));
        }
        prop_assert_eq!(found, [""; 0]);
        if seed % 4 == 0 {
            prop_assert_eq!(run(), first);
        }
    }

    #[test]
    fn nobody_is_lost_when_agents_die(
        ((llc, llcs), groups) in machines().prop_flat_map(|(llc, llcs)| {
            (Just((llc, llcs)), some_groups(llc * llcs))
        }),
        ours in prop::sample::select(&Ours::ALL[..]),
        seed: u64,
        rounds in 1..40u64,
    ) {
        let simulation = ours
            .simulation(&Options::default())
            .cpus(llc * llcs)
            .cpus_per_llc(llc)
            .seed(seed)
            .ends_after(rounds)
            .program(&text_of(&groups));
        let mut found = faults(&simulation.run().unwrap(), threads_of(&groups));
        // While there is none the kernel decides, and a new one hears of waits that it has ended.
        let kinds = ["stale", "bounced", "no answer"];
        found.retain(|fault| !kinds.iter().any(|kind| fault.starts_with(kind)));
        prop_assert_eq!(found, [""; 0]);
    }
}

fn hogs(threads: u64, ms: u64) -> Alike {
    Alike {
        threads,
        nice: 0,
        cpus: None,
        rounds: 1,
        steps: vec![format!("run {}", ms * MS)],
    }
}

/// They ask for a CPU often.
fn restless(threads: u64, cpus: Option<Vec<u32>>) -> Alike {
    Alike {
        cpus,
        rounds: 20,
        steps: vec![format!("run {MS}"), format!("sleep {MS}")],
        ..hogs(threads, 0)
    }
}

#[test]
fn no_cpu_idles_while_somebody_waits() {
    const CPUS: u32 = 4;
    for ours in Ours::ALL {
        let program = text_of(&[hogs(12, 40)]);
        let simulation = ours.simulation(&Options::default()).cpus(CPUS);
        let run = simulation.program(&program).run().unwrap();
        assert_eq!(faults(&run, 12), [""; 0], "{ours:?}");
        // The last turns do not all end at one time, and before the first one there is nobody.
        let most = u64::from(CPUS) * 5 * MS;
        assert!(run.idle_ns <= most, "{ours:?}: idle for {} ns", run.idle_ns);
    }
}

/// Two hogs on one CPU, turns of 1 ms: how often was it asked?
fn asked(end: fn(Turn) -> Turn) -> u64 {
    struct Sliced(u64, fn(Turn) -> Turn);
    impl Scheduler for Sliced {
        fn ready(&mut self, task: Task, _: &Event, out: &mut Out) {
            self.0 += 1;
            let turn = Turn::anywhere().key(self.0).slice_ns(MS);
            out.dispatch(task, (self.1)(turn));
        }
    }
    let simulation = simulate(move |_| Sliced(0, end)).cpus(1);
    let run = simulation.program(&text_of(&[hogs(2, 40)])).run().unwrap();
    assert_eq!(faults(&run, 2), [""; 0]);
    run.agents.iter().map(|agent| agent.events).sum()
}

#[test]
fn a_slice_ends_exactly_or_with_a_tick() {
    let (exact, with_ticks) = (asked(|turn| turn), asked(Turn::ends_with_tick));
    // Of 80 ms; a tick comes each 4 ms.
    assert!((70..=90).contains(&exact), "{exact}");
    assert!((15..=25).contains(&with_ticks), "{with_ticks}");
}

#[test]
fn a_turn_ends_for_who_waits_elsewhere_for_the_agent() {
    for ours in [Ours::Rustland, Ours::RustlandLlc] {
        let simulation = ours.simulation(&Options::default()).cpus(2);
        let program = text_of(&[hogs(1, 200), hogs(1, 200), hogs(1, 200)]);
        let run = simulation.program(&program).run().unwrap();
        assert_eq!(faults(&run, 3), [""; 0], "{ours:?}");
        for group in &run.groups {
            // Turns of 1 ms end with a tick, each 4 ms.
            assert!((21..=60).contains(&group.switches), "{ours:?}: {group:?}");
        }
    }
}

#[test]
fn a_slow_agent_is_not_waited_for() {
    for ours in Ours::ALL {
        let simulation = ours.simulation(&Options::default()).round_takes_us(300_000);
        let run = simulation.program(&text_of(&[hogs(12, 40)])).run().unwrap();
        assert!(run.counts.no_answer > 0, "{ours:?}: {:?}", run.counts);
        assert_eq!(run.ejected, None, "{ours:?}");
        assert_eq!(run.group("g0").iterations, 12, "{ours:?}");
        // The limit, and a look each 5 ms at a turn of 20.
        assert!(run.longest_wait_ms("g0") < 500.0, "{ours:?}");
    }
}

// --- schedulers that are wrong ---

/// As the first-come-first-served one, but for what it does with each tenth thread.
struct Wrong {
    arrivals: u64,
    each_tenth: fn(Task, &mut Out),
}

impl Scheduler for Wrong {
    fn ready(&mut self, task: Task, _event: &Event, out: &mut Out) {
        self.arrivals += 1;
        match self.arrivals % 10 {
            0 => (self.each_tenth)(task, out),
            _ => out.dispatch(task, Turn::anywhere().key(self.arrivals)),
        }
    }
}

/// 12 threads of which 6 may use the CPUs 0 and 1 only, on 4 CPUs; each wait is for the agent.
fn with_wrong(each_tenth: fn(Task, &mut Out)) -> Simulation {
    let make = move |_: &_| Wrong {
        arrivals: 0,
        each_tenth,
    };
    let groups = [restless(6, Some(vec![0, 1])), restless(6, None)];
    simulate(make)
        .options(&Options {
            no_fast_path: true,
            ..Options::default()
        })
        .program(&text_of(&groups))
}

#[test]
fn a_right_one_passes() {
    let right = with_wrong(|task, out| out.dispatch(task, Turn::anywhere()));
    assert_eq!(faults(&right.run().unwrap(), 12), [""; 0]);
}

#[test]
fn a_lost_thread_is_found() {
    let run = with_wrong(|task, _| drop(task)).run().unwrap();
    let found = faults(&run, 12);
    assert!(
        found.iter().any(|fault| fault.starts_with("no answer")),
        "{found:?}"
    );
    assert!(run.longest_wait_ms("g0").max(run.longest_wait_ms("g1")) > 90.0);
}

#[test]
fn a_cpu_that_is_not_the_threads_is_found() {
    let run = with_wrong(|task, out| out.dispatch(task, Turn::on(3)))
        .run()
        .unwrap();
    let found = faults(&run, 12);
    assert!(
        matches!(&found[..], [fault] if fault.starts_with("bounced")),
        "{found:?}"
    );
}

#[test]
fn who_never_decides_is_ejected() {
    struct Never;
    impl Scheduler for Never {
        fn ready(&mut self, _: Task, _: &Event, _: &mut Out) {}
    }
    // Nor does the kernel decide for it, until the watchdog comes.
    let simulation = simulate(|_| Never)
        .param("answer_ms", 100_000)
        .at_most_ms(60_000);
    let run = simulation.program(&text_of(&[hogs(12, 40)])).run().unwrap();
    let ejected = run.ejected.as_ref().expect("it was ejected");
    assert_eq!(ejected.kind, "stall", "{}", ejected.reason);
}

#[test]
#[should_panic(expected = "of the scheduler")]
fn a_panic_is_the_tests() {
    let run = with_wrong(|_, _| panic!("of the scheduler")).run();
    unreachable!("{run:?}");
}

#[test]
fn what_is_no_workload_is_said() {
    let failure = simulate(|_| Fifo::new(MS))
        .program("saakm-program 1\nnonsense\n")
        .run();
    let why = failure.unwrap_err().why;
    assert!(why.contains("standard input:2: "), "{why}");
    let options = Options {
        cpus: Some([3, 4].into_iter().collect()),
        ..Options::default()
    };
    let failure = simulate(|_| Fifo::new(MS)).options(&options).run();
    assert!(failure.unwrap_err().why.contains("there is no CPU 4"));
}

/// tests/unit/test_sim_user.py compares it with what `saakm sim` makes of the program `fifo`.
#[test]
#[ignore = "it only prints"]
fn hash_of_fifos_run() {
    let run = simulate(|_| Fifo::new(5 * MS)).at_most_ms(30).run();
    println!("hash {}", run.unwrap().hash);
}
