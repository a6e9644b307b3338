// SPDX-License-Identifier: MIT
// A Rust program: its runtime asks for the bounds of the stack, and it reads its own mappings whole
// and by lines.
// exact: build=dynamic
use std::io::BufRead;

fn main() {
    let whole = std::fs::read_to_string("/proc/self/maps").unwrap();
    let file = std::fs::File::open("/proc/thread-self/maps").unwrap();
    let lines = std::io::BufReader::new(file).lines().map(|l| l.unwrap().len()).sum::<usize>();
    println!("{} {} {}", whole.lines().count(), whole.len(), lines);
}
