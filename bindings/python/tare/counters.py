# SPDX-License-Identifier: MIT
"""Counters that a Python program reads itself (include/tare/group.h, include/tare/exact.h).

    from tare.counters import Group

    with Group("instructions:u,page-faults:u") as group:     # counts within
        work()
    for r in group.read():
        print(r.name, r.value, r.quality)

A group counts the thread that opened it. Where there is no PMU, `instructions:u` raises Error, with the reason and a remedy; events of the
kernel (task-clock, page-faults:u) always work. Under the exact engine (`tare stat --engine exact -- python3 ...`) exact_counts() returns
the instructions of the thread so far. The difference of two readings includes what the interpreter executes between them.
"""
from __future__ import annotations

import ctypes
import errno
import operator
import os
import threading
import typing

from . import Error, _check, _Error, _lib

__all__ = ["Error", "Group", "Reading", "exact_counts"]

_QUALITIES = ("unavailable", "scaled", "simulated", "counted", "exact")  # enum tare_quality
_USER_READS, _INHERIT, _NEVER_SHARE = 1, 2, 8  # enum tare_group_flag
_CLASSES = 18  # TARE_EXACT_CLASSES


class _Reading(ctypes.Structure):
    _fields_ = [("raw", ctypes.c_uint64), ("enabled_ns", ctypes.c_uint64), ("running_ns", ctypes.c_uint64), ("quality", ctypes.c_int)]


for _name, _result in (
    ("tare_events_new", ctypes.c_void_p),
    ("tare_events_free", None),
    ("tare_events_count", ctypes.c_size_t),
    ("tare_events_name", ctypes.c_char_p),
    ("tare_events_unit", ctypes.c_char_p),
    ("tare_events_scale", ctypes.c_double),
    ("tare_group_open", ctypes.c_void_p),
    ("tare_group_open_cpu", ctypes.c_void_p),
    ("tare_group_close", None),
    ("tare_group_start", ctypes.c_int),
    ("tare_group_stop", ctypes.c_int),
    ("tare_group_read", ctypes.c_int),
    ("tare_group_count", ctypes.c_int),
    ("tare_group_user_reads", ctypes.c_bool),
    ("tare_reading_scaled", ctypes.c_uint64),
    ("tare_exact_read", ctypes.c_int),
    ("tare_exact_class_name", ctypes.c_char_p),
):
    if isinstance(_lib, ctypes.CDLL):
        getattr(_lib, _name).restype = _result


class Reading(typing.NamedTuple):
    """One event of a group, at one instant."""

    name: str  #: as it was written
    value: int | None  #: the count; an estimate if `quality` is "scaled", None if it is "unavailable"
    quality: str  #: "exact", "counted", "scaled", "simulated", "unavailable"
    unit: str  #: of value * scale: "MiB", "Joules"; "" for a plain count
    scale: float  #: 1.0 for a plain count
    enabled_ns: int  #: time during which the event was enabled
    running_ns: int  #: time on the PMU; less than enabled_ns if it was multiplexed


def _fail(err: _Error) -> typing.NoReturn:
    _check(-(err.code or errno.EIO), err)
    raise AssertionError


def _whole(value: int, name: str) -> int:
    """ctypes would silently truncate it to 32 bits: 2**32 would be thread 0."""
    value = operator.index(value)
    if not -1 << 31 <= value < 1 << 31:
        raise ValueError(f"{name}: {value} has more than 32 bits")
    return value


class Group:
    """Events that start and stop together, and are read at one instant.

    events      in perf's syntax: "cycles,instructions:u", "{cache-misses,cache-references}", "r1a8"
    thread      a kernel thread id; 0: the calling thread
    cpu         count all threads on this CPU instead; needs CAP_PERFMON or kernel.perf_event_paranoid 0
    inherit     also count threads and child processes that begin later
    never_share stay on the PMU, or raise Error: then count() is a pinned read

    Raises Error with errno EACCES or EPERM (not allowed), ENOENT (no PMU counts it), EINVAL (no such event; the group does not fit on the PMU),
    and with the hint. `with` starts and stops it; a further start continues the counts. Close it, or delete it, when it is no longer needed.
    """

    def __init__(self, events: str, *, thread: int = 0, cpu: int | None = None, inherit: bool = False, never_share: bool = False) -> None:
        self._group = None
        self._pid, self._thread = os.getpid(), threading.get_ident()
        if not isinstance(_lib, ctypes.CDLL):
            raise Error(errno.ENOENT, _lib.why)
        if cpu is not None and (thread or inherit):
            raise ValueError("cpu excludes thread and inherit")
        thread = _whole(thread, "thread")
        cpu = cpu if cpu is None else _whole(cpu, "cpu")
        words = os.fsencode(events)
        if b"\0" in words:
            raise ValueError("events: a NUL character")
        err = _Error()
        found = _lib.tare_events_new(words, ctypes.byref(err))
        if not found:
            _fail(err)
        found = ctypes.c_void_p(found)
        try:
            flags = (_INHERIT if inherit else _USER_READS if thread == 0 and cpu is None else 0) | (_NEVER_SHARE if never_share else 0)
            group = (_lib.tare_group_open(found, thread, flags, ctypes.byref(err)) if cpu is None
                     else _lib.tare_group_open_cpu(found, cpu, flags, ctypes.byref(err)))
            if not group:
                _fail(err)
            self._group = ctypes.c_void_p(group)
            self._events = [(_lib.tare_events_name(found, at).decode(errors="replace"), _lib.tare_events_unit(found, at).decode(errors="replace"),
                             _lib.tare_events_scale(found, at)) for at in map(ctypes.c_size_t, range(_lib.tare_events_count(found)))]
        finally:
            _lib.tare_events_free(found)
        self._room = (_Reading * len(self._events))()

    @property
    def names(self) -> list[str]:
        """The events, in the order of read(). An event that several PMUs count appears once per PMU."""
        return [name for name, _, _ in self._events]

    def _open(self) -> ctypes.c_void_p:
        if not self._group:
            raise ValueError("the group is closed")
        if self._pid != os.getpid():
            raise Error(errno.EINVAL, "a child process cannot use a group of its parent; open one in the child")
        return self._group

    def _call(self, function, *args) -> int:
        err = _Error()
        ret = function(self._open(), *args, ctypes.byref(err))
        _check(ret, err)
        return ret

    def start(self) -> None:
        """Count from now on; counts continue from where they were. One system call."""
        self._call(_lib.tare_group_start)

    def stop(self) -> None:
        """Stop counting; counts stay readable. One system call."""
        self._call(_lib.tare_group_stop)

    def read(self) -> list[Reading]:
        """All events, at one instant. If the group was never on the PMU, all are "unavailable"."""
        err = _Error()
        ret = _lib.tare_group_read(self._open(), self._room, ctypes.byref(err))
        if ret != -errno.ENODATA:
            _check(ret, err)
        return [Reading(name, _lib.tare_reading_scaled(ctypes.byref(r)) if r.quality else None, _QUALITIES[r.quality], unit, scale, r.enabled_ns, r.running_ns)
                for r, (name, unit, scale) in zip(self._room, self._events)]

    def count(self, at: int = 0) -> int:
        """The count of one event; the difference of two is exact. Raises Error (ENODATA) if the group was off the PMU at any time."""
        if not 0 <= at < len(self._events):
            raise IndexError("no such event")
        count = ctypes.c_uint64()
        self._call(_lib.tare_group_count, ctypes.c_size_t(at), ctypes.byref(count))
        return count.value

    @property
    def user_reads(self) -> bool:
        """Does count() need no system call now, on this thread?"""
        return threading.get_ident() == self._thread and bool(_lib.tare_group_user_reads(self._open(), None))

    def close(self) -> None:
        """Stop and close; a second time does nothing."""
        group, self._group = self._group, None
        if group:
            _lib.tare_group_close(group)

    def __enter__(self) -> Group:
        self.start()
        return self

    def __exit__(self, *what: object) -> None:
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_group", None) and self._pid == os.getpid():
            self.close()


def exact_counts() -> dict[str, int]:
    """
    What the calling thread has executed in user mode since it began, by class: "instructions", "loads", ... Only under the exact engine; with
    `tare stat --engine exact -e instructions:u` it counts instructions alone. Raises Error (ENOTSUP) elsewhere.
    """
    if not isinstance(_lib, ctypes.CDLL):
        raise Error(errno.ENOENT, _lib.why)
    err = _Error()
    room = (ctypes.c_int64 * _CLASSES)()
    n = _CLASSES
    ret = _lib.tare_exact_read(room, ctypes.c_size_t(n), ctypes.byref(err))
    if ret == -errno.ENODATA:
        n = 1
        ret = _lib.tare_exact_read(room, ctypes.c_size_t(n), ctypes.byref(err))
    _check(ret, err)
    return {_lib.tare_exact_class_name(i).decode(): room[i] for i in range(n)}
