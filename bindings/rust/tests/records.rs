// SPDX-License-Identifier: MIT
//! Recorded from Rust; what is in the file is then read by tests/bindings, with tare itself.

tare::region!(OUTER, "outer");
tare::region!(INNER, "inner");

fn nested(depth: u32) {
    let _outer = tare::region(&OUTER);
    if depth > 0 {
        nested(depth - 1);
    }
    let _inner = tare::region(&INNER);
}

#[test]
fn records() {
    let path = std::env::var("TARE_TEST_FILE").unwrap_or_else(|_| format!("rust-{}.tare", std::process::id()));

    nested(1); // off
    assert!(tare::start("/nowhere/x", None).unwrap_err().what.contains("/nowhere/x"));
    tare::start(&path, Some("wall-time")).unwrap();
    assert!(tare::recording());
    nested(1);
    let label = tare::Label::new("query", &["typeck", "zero \0 in it"]);
    {
        let _q = label.enter();
        label.instant();
        label.integer(7);
    }
    let timing = label.start();
    std::thread::spawn(move || {
        timing.finish();
        nested(0);
    })
    .join()
    .unwrap();
    tare::stop().unwrap();
    assert!(!tare::recording());
    let _none = label.enter(); // of a recording that is over
    nested(0);
    assert!(std::fs::metadata(&path).unwrap().len() > 4096);
    if std::env::var("TARE_TEST_FILE").is_err() {
        std::fs::remove_file(&path).unwrap();
    }
}
