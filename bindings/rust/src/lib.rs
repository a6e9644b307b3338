// SPDX-License-Identifier: MIT
//! Named parts of a program, recorded by tare (include/tare/region.h, docs/recipes/regions.md).
//!
//! ```no_run
//! tare::region!(PARSE, "parse");
//!
//! fn parse() {
//!     let _r = tare::region(&PARSE); // ends where the scope does, also by `?` or a panic
//! }
//!
//! let typeck = tare::Label::new("query", &["typeck", "main"]);
//! let _q = typeck.enter();
//! typeck.integer(42);
//! ```
//!
//! `tare regions -o run.tare -- program` records, as does [`start`]. Off, a region costs a load and a branch at its begin and
//! its end. Needs libtare and nothing else: pkg-config says where, or `TARE_LIB_DIR` (README.md).
#![warn(missing_docs)]

pub mod counters;

use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

const UNKNOWN: u32 = 0xffff_fff9;
const END: u32 = 4;
const PATH: u32 = 3; // TARE_PATH_RUST
const PATH_LABEL: u32 = 4; // TARE_PATH_RUST_LABEL

#[repr(C)]
struct RawError {
    code: c_int,
    at: c_int,
    what: [c_char; 384],
    hint: [c_char; 320],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawTiming {
    label: u32,
    number: u64,
}

extern "C" {
    fn tare_region_point(r: *const Region, label: u32, clock: u64);
    fn tare_label_new_by(path: c_uint, name: *const c_char, args: *const *const c_char, n: c_uint) -> u32;
    fn tare_region_measure(path: c_uint, empty: extern "C" fn(u32, c_uint, *mut c_void), with: *mut c_void) -> c_int;
    fn tare_label_instant(label: u32);
    fn tare_label_integer(label: u32, value: u64);
    fn tare_timing_start(label: u32) -> RawTiming;
    fn tare_timing_finish(t: RawTiming);
    fn tare_regions_start(path: *const c_char, events: *const c_char, err: *mut RawError) -> c_int;
    fn tare_regions_stop(err: *mut RawError) -> c_int;
    fn tare_regions_from_environment(err: *mut RawError) -> c_int;
    fn tare_regions_generation() -> c_uint;
}

/// A static region; made by [`region!`](crate::region!).
#[repr(C)]
pub struct Region {
    label: AtomicU32,
    line: u32,
    name: *const c_char,
    file: *const c_char,
}

// Its texts are static and never change; the label is atomic.
unsafe impl Sync for Region {}

impl Region {
    #[doc(hidden)]
    pub const fn made(name: &'static str, file: &'static str, line: u32) -> Region {
        Region {
            label: AtomicU32::new(UNKNOWN),
            line: line | PATH << 24,
            name: name.as_ptr() as *const c_char,
            file: file.as_ptr() as *const c_char,
        }
    }
}

/// `tare::region!(NAME, "name");` a region with that name, as a static item.
#[macro_export]
macro_rules! region {
    ($vis:vis $id:ident, $name:literal) => {
        $vis static $id: $crate::Region =
            $crate::Region::made(concat!($name, "\0"), concat!(file!(), "\0"), line!());
    };
}

/// An open region: ends when it is dropped, on the thread that began it.
#[must_use = "the region ends when this is dropped"]
pub struct Open {
    region: *const Region,
    label: u32,
    generation: c_uint, // of a label; a region's own label tells
    stays: PhantomData<*const ()>,
}

/// Begin a region.
#[inline]
pub fn region(r: &'static Region) -> Open {
    let label = r.label.load(Ordering::Relaxed);
    if label != 0 {
        if label == UNKNOWN {
            first();
        }
        unsafe { tare_region_point(r, label, 0) }
    }
    Open { region: r, label: 0, generation: 0, stays: PhantomData }
}

/// Of a region that was never begun: what regions cost is to be known before there are any.
#[cold]
fn first() {
    if from_environment() == 1 || unsafe { tare_regions_generation() } & 1 == 1 {
        measure();
    }
}

extern "C" fn empty_regions(label: u32, n: c_uint, _: *mut c_void) {
    region!(PROBE, "");
    PROBE.label.store(label, Ordering::Relaxed);
    for _ in 0..n {
        let _r = region(&PROBE);
    }
}

extern "C" fn empty_labels(label: u32, n: c_uint, _: *mut c_void) {
    let probe = Label { label, generation: unsafe { tare_regions_generation() } };
    for _ in 0..n {
        let _r = probe.enter();
    }
}

fn measure() {
    unsafe {
        tare_region_measure(PATH, empty_regions, std::ptr::null_mut());
        tare_region_measure(PATH_LABEL, empty_labels, std::ptr::null_mut());
    }
}

impl Drop for Open {
    #[inline]
    fn drop(&mut self) {
        if self.region.is_null() {
            if self.label != 0 && self.generation == unsafe { tare_regions_generation() } {
                unsafe { tare_region_point(std::ptr::null(), self.label | END, 0) }
            }
            return;
        }
        let label = unsafe { (*self.region).label.load(Ordering::Relaxed) };
        if label != 0 {
            unsafe { tare_region_point(self.region, label | END, 0) }
        }
    }
}

/// A label made at run time, with arguments. Does nothing when it was made while nothing was recorded.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    label: u32,
    generation: c_uint,
}

fn text(s: &str) -> CString {
    // A byte 0 would end it: shown as the replacement character.
    CString::new(s.replace('\0', "\u{fffd}")).expect("no byte 0 is left")
}

impl Label {
    /// The same texts give the same label. Takes a lock: keep it where it is used often.
    pub fn new(name: &str, args: &[&str]) -> Label {
        from_environment();
        let generation = unsafe { tare_regions_generation() };
        if generation & 1 == 0 {
            return Label { label: 0, generation };
        }
        measure();
        let name = text(name);
        let args: Vec<CString> = args.iter().map(|a| text(a)).collect();
        let pointers: Vec<*const c_char> = args.iter().map(|a| a.as_ptr()).collect();
        let label = unsafe { tare_label_new_by(PATH_LABEL, name.as_ptr(), pointers.as_ptr(), pointers.len() as c_uint) };
        Label { label, generation }
    }

    fn now(&self) -> u32 {
        if self.label != 0 && self.generation == unsafe { tare_regions_generation() } {
            self.label
        } else {
            0
        }
    }

    /// Begin it, until what is returned is dropped.
    pub fn enter(&self) -> Open {
        let label = self.now();
        if label != 0 {
            unsafe { tare_region_point(std::ptr::null(), label, 0) }
        }
        Open { region: std::ptr::null(), label, generation: self.generation, stays: PhantomData }
    }

    /// A point in time.
    pub fn instant(&self) {
        unsafe { tare_label_instant(self.now()) }
    }

    /// A number at a point in time.
    pub fn integer(&self, value: u64) {
        unsafe { tare_label_integer(self.now(), value) }
    }

    /// Start a timing that may be finished on another thread.
    pub fn start(&self) -> Timing {
        Timing { raw: unsafe { tare_timing_start(self.now()) }, generation: self.generation }
    }
}

/// A timing under way.
#[must_use = "a timing that is not finished has no end"]
pub struct Timing {
    raw: RawTiming,
    generation: c_uint,
}

impl Timing {
    /// From any thread.
    pub fn finish(self) {
        if self.raw.label != 0 && self.generation == unsafe { tare_regions_generation() } {
            unsafe { tare_timing_finish(self.raw) }
        }
    }
}

/// What could not be done.
#[derive(Debug)]
pub struct Error {
    /// An errno value.
    pub code: i32,
    /// What, and why.
    pub what: String,
    /// What would help, or "".
    pub hint: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.hint.is_empty() {
            write!(f, " ({})", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

fn call(f: impl FnOnce(*mut RawError) -> c_int) -> Result<c_int, Error> {
    let mut err = RawError { code: 0, at: -1, what: [0; 384], hint: [0; 320] };
    let ret = f(&mut err);
    if ret >= 0 {
        return Ok(ret);
    }
    let text = |t: &[c_char]| unsafe { CStr::from_ptr(t.as_ptr()) }.to_string_lossy().into_owned();
    Err(Error { code: -ret, what: text(&err.what), hint: text(&err.hint) })
}

/// Record from now on; `events` as in tare-regions(1), `None` for wall-time.
pub fn start(path: &str, events: Option<&str>) -> Result<(), Error> {
    let path = text(path);
    let events = events.map(text);
    let events = events.as_ref().map_or(std::ptr::null(), |e| e.as_ptr());
    call(|err| unsafe { tare_regions_start(path.as_ptr(), events, err) }).map(|_| measure())
}

/// Stop. An error says what could not be written.
pub fn stop() -> Result<(), Error> {
    call(|err| unsafe { tare_regions_stop(err) }).map(|_| ())
}

/// Whether it is recording. Looks at the environment first, once, as the first region does.
pub fn recording() -> bool {
    from_environment();
    unsafe { tare_regions_generation() & 1 == 1 }
}

fn from_environment() -> c_int {
    unsafe { tare_regions_from_environment(std::ptr::null_mut()) }
}
