// SPDX-License-Identifier: MIT
//! Groups of events, pinned reads and exact counts from Rust, as far as the machine has them.
use tare::counters::{exact_counts, Group, Options, Pinned, Quality};

/// The compiler has to keep each step.
fn work() -> u64 {
    (0..1_000_000u64).fold(0, |sum, i| unsafe { std::ptr::read_volatile(&(sum ^ i)) })
}

#[test]
fn a_group_counts() {
    let mut group = Group::open("task-clock,page-faults:u", Options::default()).unwrap();
    assert_eq!(group.names().collect::<Vec<_>>(), ["task-clock", "page-faults:u"]);
    assert!(group.read().unwrap().iter().all(|r| r.value.unwrap_or(0) == 0));
    group.start().unwrap();
    work();
    let pages = vec![1u8; 64 << 12];
    assert_eq!(unsafe { std::ptr::read_volatile(&pages[4096]) }, 1);
    group.stop().unwrap();
    let first = group.read().unwrap();
    assert!(first[0].value.unwrap() > 10_000 && first[0].unit == "ns" && first[0].quality == Quality::Counted, "{first:?}");
    assert!((64..200).contains(&first[1].value.unwrap()), "{first:?}");
    assert_eq!(group.count(1).unwrap(), first[1].value.unwrap());
    work();
    assert_eq!(group.read().unwrap(), first, "it is stopped");
    assert_eq!(group.count(2).unwrap_err().code, 22);
}

#[test]
fn errors_say_why() {
    let open = |events, options| Group::open(events, options).map(|_| ()).unwrap_err();
    let err = open("nonsense", Options::default());
    assert!(err.code == 2 && err.what.contains("nonsense") && !err.hint.is_empty(), "{err}");
    assert_eq!(open("task-clock", Options { cpu: Some(0), inherit: true, ..Options::default() }).code, 22);
    let err = Pinned::open("task-clock").map(|_| ()).unwrap_err();
    assert!(err.code != 0 && err.what.contains("task-clock"), "{err}");
}

/// Where there is a PMU that user space may read.
#[test]
fn pinned_reads_count_the_same_each_time() {
    let mut pinned = match Pinned::open("instructions:u") {
        Ok(p) => p,
        Err(e) => return println!("skipped: {e}"),
    };
    assert_eq!(pinned.read::<2>(), Err(22));
    let least = (0..100)
        .map(|_| {
            let before = pinned.read::<1>().unwrap()[0];
            work();
            let after = pinned.read::<1>().unwrap()[0];
            pinned.difference(before, after)
        })
        .min();
    assert!((1_000_000..20_000_000).contains(&least.unwrap()), "{least:?}");
}

/// Under the engine: tests/bindings starts this program in it.
#[test]
fn exact_counts_under_the_engine() {
    let under = std::env::var_os("TARE_TEST_EXACT").is_some();
    let read = || exact_counts().map(|c| c[0].1);
    match exact_counts() {
        Err(e) => assert!(!under && e.code == 95, "{e}"),
        Ok(counts) => {
            assert!(under && counts[0].0 == "instructions" && [1, 18].contains(&counts.len()), "{counts:?}");
            let spans: Vec<i64> = (0..5)
                .map(|_| {
                    let before = read().unwrap();
                    work();
                    read().unwrap() - before
                })
                .collect();
            assert!(spans[1..].iter().all(|s| *s == spans[1] && *s > 1_000_000), "{spans:?}");
        }
    }
}
