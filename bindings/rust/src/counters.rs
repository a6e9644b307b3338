// SPDX-License-Identifier: MIT
//! Counters that a program reads itself (include/tare/group.h, pinned.h, exact.h).
//!
//! ```no_run
//! use tare::counters::Group;
//!
//! # fn main() -> Result<(), tare::Error> {
//! let mut group = Group::open("instructions:u,page-faults:u", Default::default())?;
//! group.start()?;
//! // work
//! for r in group.read()? {
//!     println!("{} {:?} {}", r.name, r.value, r.quality);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! An event that cannot be counted is an [`Error`] with the reason and a remedy, never a 0.
use crate::{call, text, Error, RawError};
use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::ptr;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawReading {
    raw: u64,
    enabled_ns: u64,
    running_ns: u64,
    quality: c_int,
}

extern "C" {
    fn tare_events_new(text: *const c_char, err: *mut RawError) -> *mut c_void;
    fn tare_events_free(events: *mut c_void);
    fn tare_events_count(events: *const c_void) -> usize;
    fn tare_events_name(events: *const c_void, i: usize) -> *const c_char;
    fn tare_events_unit(events: *const c_void, i: usize) -> *const c_char;
    fn tare_events_scale(events: *const c_void, i: usize) -> f64;
    fn tare_group_open(events: *const c_void, thread: c_int, flags: c_uint, err: *mut RawError) -> *mut c_void;
    fn tare_group_open_cpu(events: *const c_void, cpu: c_int, flags: c_uint, err: *mut RawError) -> *mut c_void;
    fn tare_group_close(g: *mut c_void);
    fn tare_group_start(g: *mut c_void, err: *mut RawError) -> c_int;
    fn tare_group_stop(g: *mut c_void, err: *mut RawError) -> c_int;
    fn tare_group_read(g: *mut c_void, out: *mut RawReading, err: *mut RawError) -> c_int;
    fn tare_group_count(g: *mut c_void, i: usize, count: *mut u64, err: *mut RawError) -> c_int;
    fn tare_group_user_reads(g: *const c_void, why: *mut RawError) -> bool;
    fn tare_reading_scaled(r: *const RawReading) -> u64;
    fn tare_pinned_open(events: *const c_void, err: *mut RawError) -> *mut RawPinned;
    fn tare_pinned_close(p: *mut RawPinned);
    fn tare_pinned_read_slowly(p: *mut RawPinned, out: *mut u64, n: u32) -> c_int;
    fn tare_exact_read(out: *mut i64, n: usize, err: *mut RawError) -> c_int;
    fn tare_exact_class_name(class: c_uint) -> *const c_char;
}

/// What kind of number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// No number.
    Unavailable,
    /// Multiplexed: estimated from the fraction of time it was counted.
    Scaled,
    /// By a model of the hardware.
    Simulated,
    /// By hardware or the kernel; may be off by known effects.
    Counted,
    /// Proved, or counted by construction.
    Exact,
}

impl Quality {
    fn of(raw: c_int) -> Quality {
        match raw {
            1 => Quality::Scaled,
            2 => Quality::Simulated,
            3 => Quality::Counted,
            4 => Quality::Exact,
            _ => Quality::Unavailable,
        }
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Quality::Unavailable => "unavailable",
            Quality::Scaled => "scaled",
            Quality::Simulated => "simulated",
            Quality::Counted => "counted",
            Quality::Exact => "exact",
        })
    }
}

/// One event of a group, at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// As it was written.
    pub name: String,
    /// The count: an estimate if it is [`Quality::Scaled`], `None` if it is [`Quality::Unavailable`].
    pub value: Option<u64>,
    /// What kind of number it is.
    pub quality: Quality,
    /// The unit of `value * scale`: "MiB", "Joules"; "" for a plain count.
    pub unit: String,
    /// 1.0 for a plain count.
    pub scale: f64,
    /// Time during which the event was enabled.
    pub enabled_ns: u64,
    /// Time on the PMU; less than `enabled_ns` if it was multiplexed.
    pub running_ns: u64,
}

struct Events(*mut c_void);

impl Events {
    fn new(events: &str) -> Result<Events, Error> {
        let events = text(events);
        pointer(|err| unsafe { tare_events_new(events.as_ptr(), err) }).map(Events)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        unsafe { tare_events_free(self.0) }
    }
}

/// The pointer that a function returns, or its error.
fn pointer<T>(f: impl FnOnce(*mut RawError) -> *mut T) -> Result<*mut T, Error> {
    let mut p = ptr::null_mut();
    call(|err| {
        p = f(err);
        if p.is_null() {
            -unsafe { (*err).code }.max(1)
        } else {
            0
        }
    })?;
    Ok(p)
}

fn string(s: *const c_char) -> String {
    unsafe { CStr::from_ptr(s) }.to_string_lossy().into_owned()
}

/// What a group counts, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// A kernel thread id; `None`: the calling thread.
    pub thread: Option<i32>,
    /// All threads on this CPU instead; needs CAP_PERFMON or kernel.perf_event_paranoid 0.
    pub cpu: Option<u32>,
    /// Also threads and child processes that begin later.
    pub inherit: bool,
    /// Stay on the PMU, or fail: no multiplexing.
    pub never_share: bool,
}

/// Events that start and stop together, and are read at one instant.
///
/// It belongs to the thread that opened it. A child process after `fork` must not use it.
pub struct Group {
    raw: *mut c_void,
    events: Vec<(String, String, f64)>,
    stays: PhantomData<*const ()>,
}

impl Group {
    /// Open events in perf's syntax ("cycles,instructions:u", "{cache-misses,cache-references}"), stopped.
    ///
    /// Error codes: EACCES or EPERM (not allowed), ENOENT (no PMU counts it), EINVAL (no such event; it does not fit on the PMU; `cpu` with
    /// `thread` or `inherit`). Two or three system calls per event.
    pub fn open(events: &str, options: Options) -> Result<Group, Error> {
        const USER_READS: c_uint = 1;
        const INHERIT: c_uint = 2;
        const NEVER_SHARE: c_uint = 8;
        let found = Events::new(events)?;
        let mut flags = if options.never_share { NEVER_SHARE } else { 0 };
        let raw = match options.cpu {
            Some(cpu) if options.thread.is_none() && !options.inherit => {
                pointer(|err| unsafe { tare_group_open_cpu(found.0, cpu as c_int, flags, err) })?
            }
            Some(_) => {
                let what = "cpu excludes thread and inherit".into();
                return Err(Error { code: 22, what, hint: String::new() });
            }
            None => {
                flags |= match (options.inherit, options.thread) {
                    (true, _) => INHERIT,
                    (false, None) => USER_READS,
                    _ => 0,
                };
                pointer(|err| unsafe { tare_group_open(found.0, options.thread.unwrap_or(0), flags, err) })?
            }
        };
        let events = (0..unsafe { tare_events_count(found.0) })
            .map(|i| unsafe { (string(tare_events_name(found.0, i)), string(tare_events_unit(found.0, i)), tare_events_scale(found.0, i)) })
            .collect();
        Ok(Group { raw, events, stays: PhantomData })
    }

    /// The events, in the order of [`read`](Group::read). An event that several PMUs count appears once per PMU.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(|e| e.0.as_str())
    }

    /// Count from now on; counts continue from where they were. One system call.
    pub fn start(&mut self) -> Result<(), Error> {
        call(|err| unsafe { tare_group_start(self.raw, err) }).map(|_| ())
    }

    /// Stop counting; counts stay readable. One system call.
    pub fn stop(&mut self) -> Result<(), Error> {
        call(|err| unsafe { tare_group_stop(self.raw, err) }).map(|_| ())
    }

    /// All events, at one instant. If the group was never on the PMU, all are unavailable.
    pub fn read(&mut self) -> Result<Vec<Reading>, Error> {
        const ENODATA: i32 = 61;
        let mut room = vec![RawReading::default(); self.events.len()];
        match call(|err| unsafe { tare_group_read(self.raw, room.as_mut_ptr(), err) }) {
            Err(e) if e.code != ENODATA => return Err(e),
            _ => (),
        }
        Ok(room
            .iter()
            .zip(&self.events)
            .map(|(r, (name, unit, scale))| {
                let quality = Quality::of(r.quality);
                Reading {
                    name: name.clone(),
                    value: if quality == Quality::Unavailable { None } else { Some(unsafe { tare_reading_scaled(r) }) },
                    quality,
                    unit: unit.clone(),
                    scale: *scale,
                    enabled_ns: r.enabled_ns,
                    running_ns: r.running_ns,
                }
            })
            .collect())
    }

    /// The count of event `i`; the difference of two is exact. An error (ENODATA) if the group was off the PMU at any time.
    #[inline]
    pub fn count(&mut self, i: usize) -> Result<u64, Error> {
        let mut count = 0;
        call(|err| unsafe { tare_group_count(self.raw, i, &mut count, err) }).map(|_| count)
    }

    /// Can [`count`](Group::count) read without a system call now?
    pub fn user_reads(&self) -> bool {
        unsafe { tare_group_user_reads(self.raw, ptr::null_mut()) }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        unsafe { tare_group_close(self.raw) }
    }
}

const PINNED_MAX: usize = 8;

#[cfg(target_arch = "x86_64")]
type Handle = u32;
#[cfg(target_arch = "aarch64")]
type Handle = *const c_void;

/// struct tare_pinned of include/tare/pinned.h
#[repr(C)]
struct RawPinned {
    pages: *const u8,
    counter: [Handle; PINNED_MAX],
    version: u32,
    n: u32,
    mask: u64,
}

/// Counters of the calling thread that stay on the PMU: the cheapest correct read, for differences over a few instructions.
pub struct Pinned {
    raw: *mut RawPinned,
    stays: PhantomData<*const ()>,
}

#[cfg(target_arch = "x86_64")]
mod cpu {
    use std::arch::asm;

    #[inline(always)]
    pub fn fence() {
        unsafe { asm!("lfence", options(nostack, preserves_flags)) }
    }

    /// # Safety
    /// The kernel must allow this thread to read the counter; otherwise SIGSEGV.
    #[inline(always)]
    pub unsafe fn read(counter: u32) -> u64 {
        let (low, high): (u64, u64);
        asm!("rdpmc", out("rax") low, out("rdx") high, in("ecx") counter, options(nostack, preserves_flags));
        high << 32 | low
    }

    /// The sum of the versions of the first `n` pages, as in include/tare/x86/pmc.h.
    ///
    /// # Safety
    /// `pages` are `n` mapped pages.
    #[inline(always)]
    pub unsafe fn version(pages: *const u8, n: usize) -> u32 {
        (0..n).fold(0u32, |sum, i| sum.wrapping_add(pages.add(4096 * i + 8).cast::<u32>().read_volatile()))
    }
}

#[cfg(target_arch = "aarch64")]
mod cpu {
    use std::arch::asm;
    use std::os::raw::c_void;

    #[inline(always)]
    pub fn fence() {
        unsafe { asm!("isb", options(nostack, preserves_flags)) }
    }

    /// # Safety
    /// The counter is the address of `mrs x0, REGISTER; ret` of a counter that the kernel lets this thread read.
    #[inline(always)]
    pub unsafe fn read(counter: *const c_void) -> u64 {
        let value: u64;
        asm!("blr {0}", in(reg) counter, lateout("x0") value, out("x30") _, options(preserves_flags));
        value
    }

    /// The version of the first page, as in include/tare/arm64/pmc.h.
    ///
    /// # Safety
    /// `pages` is mapped.
    #[inline(always)]
    pub unsafe fn version(pages: *const u8, _n: usize) -> u32 {
        pages.add(8).cast::<u32>().read_volatile()
    }
}

impl Pinned {
    /// Open at most 8 events of the CPU's own PMU, and start them.
    ///
    /// Error codes: EOPNOTSUPP (no register, or user space may not read it: the hint has the command), EBUSY (the counters are in use),
    /// and those of [`Group::open`].
    pub fn open(events: &str) -> Result<Pinned, Error> {
        let found = Events::new(events)?;
        let raw = pointer(|err| unsafe { tare_pinned_open(found.0, err) })?;
        Ok(Pinned { raw, stays: PhantomData })
    }

    /// Read the first `N` counters, in the order of the events; only differences have a meaning ([`difference`](Pinned::difference)).
    ///
    /// Serialised before and after. No system call, unless the kernel moved a counter. `Err`: an errno, EIO if the kernel took the counters away,
    /// ENODATA if they were multiplexed, EINVAL if `N` is not the number of events.
    #[inline(always)]
    pub fn read<const N: usize>(&mut self) -> Result<[u64; N], i32> {
        let mut out = [0; N];
        unsafe {
            let p = &*self.raw;
            if N != p.n as usize {
                return Err(22);
            }
            cpu::fence();
            for (value, counter) in out.iter_mut().zip(p.counter) {
                *value = cpu::read(counter);
            }
            cpu::fence();
            if cpu::version(p.pages, N) != p.version {
                let ret = tare_pinned_read_slowly(self.raw, out.as_mut_ptr(), N as u32);
                if ret < 0 {
                    return Err(-ret);
                }
            }
        }
        Ok(out)
    }

    /// The events between two reads of a counter.
    #[inline]
    pub fn difference(&self, before: u64, after: u64) -> u64 {
        after.wrapping_sub(before) & unsafe { (*self.raw).mask }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        unsafe { tare_pinned_close(self.raw) }
    }
}

/// The number of classes of [`exact_counts`].
const CLASSES: usize = 18;

/// What the calling thread has executed in user mode since it began, by class ("instructions", "loads", ...). Only under the exact engine; if
/// that counts instructions alone, there is one class.
///
/// Error codes: ENOTSUP (the program does not run under the engine). One system call, and about ten microseconds in a small program.
pub fn exact_counts() -> Result<Vec<(&'static str, i64)>, Error> {
    const ENODATA: i32 = 61;
    let mut room = [0; CLASSES];
    let n = match call(|err| unsafe { tare_exact_read(room.as_mut_ptr(), CLASSES, err) }) {
        Err(e) if e.code == ENODATA => call(|err| unsafe { tare_exact_read(room.as_mut_ptr(), 1, err) }).map(|_| 1),
        other => other.map(|_| CLASSES),
    }?;
    let name = |i| unsafe { CStr::from_ptr(tare_exact_class_name(i as c_uint)) }.to_str().expect("it is ASCII");
    Ok(room[..n].iter().enumerate().map(|(i, count)| (name(i), *count)).collect())
}
