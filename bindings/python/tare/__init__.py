# SPDX-License-Identifier: MIT
"""Named parts of a Python program, recorded by tare (include/tare/region.h, docs/recipes/regions.md).

    import tare

    with tare.region("parse"):
        work()

    with tare.region("query", "typeck", name):      # with arguments
        work()

    @tare.region("solve")                           # each call of a function
    def solve(): ...

`tare regions -o run.tare -- python3 program.py` records, as does tare.start("run.tare"). A region that is not recorded costs
about 0.1 us with the extension module _region, which is built where Python's headers are, and about 0.7 us without. The library is found as libtare.so.0 is by the dynamic linker, or by TARE_LIBRARY. Needs no
other package.

Where there is no libtare a program runs all the same: `import tare` works, regions do nothing, recording() is False and start()
raises Error. If a recording was asked for (TARE_REGIONS), one warning says that there is none. Only a TARE_LIBRARY that
cannot be loaded is an ImportError.
"""
import contextlib
import ctypes
import errno
import functools
import os
import sys
import threading
import warnings

try:
    from . import _region
except ImportError:  # not built, or for another Python
    _region = None

__all__ = ["Error", "Timing", "generation", "instant", "integer", "label", "recording", "region", "start", "stop"]


class Error(OSError):
    """What tare could not do: errno, what, and the hint if there is one."""


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("at", ctypes.c_int), ("what", ctypes.c_char * 384), ("hint", ctypes.c_char * 320)]


class _Timing(ctypes.Structure):
    _fields_ = [("label", ctypes.c_uint32), ("number", ctypes.c_uint64)]


_Empty = ctypes.PYFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint, ctypes.c_void_p)


class _Without:
    """In the place of a library that is not there: never recording."""

    def __init__(self, why):
        self.why = why

    def tare_regions_generation(self):
        return 0

    def tare_regions_start(self, path, events, err):
        err._obj.what = self.why.encode(errors="replace")[:383]
        return -errno.ENOENT

    def tare_timing_start(self, label):
        return _Timing()

    def __getattr__(self, name):
        return lambda *args: 0


def _open(path):
    # PyDLL keeps the interpreter's lock: calls are shorter than letting it go would be.
    if path:
        return ctypes.PyDLL(path)
    try:
        return ctypes.PyDLL("libtare.so.0")  # the one that the program has, if it has one
    except OSError:
        try:
            from ._installed import LIBRARY  # which the loader knows only where it looks there
        except ImportError:
            LIBRARY = None
        if not LIBRARY or not os.path.exists(LIBRARY):
            raise
        return ctypes.PyDLL(LIBRARY)


def _load():
    path = os.environ.get("TARE_LIBRARY")
    try:
        lib = _open(path)
    except OSError as e:
        why = f"{e}; install libtare, or say where it is: TARE_LIBRARY is the path of libtare.so, LD_LIBRARY_PATH its folder"
        if path:
            raise ImportError(why) from None
        if os.environ.get("TARE_REGIONS"):
            warnings.warn(f"tare: no regions of this program are recorded: {why}", RuntimeWarning, stacklevel=3)
        return _Without(why)
    # No argtypes: converting by them calls Python, and a RecursionError there would become an ArgumentError. What is given is
    # int for 32 bits, bytes, or of ctypes.
    for name, result in (
        ("tare_label_point", None),
        ("tare_label_new_at", ctypes.c_uint32),
        ("tare_label_cut", None),
        ("tare_region_measure", ctypes.c_int),
        ("tare_label_instant", None),
        ("tare_label_integer", None),
        ("tare_timing_start", _Timing),
        ("tare_timing_finish", None),
        ("tare_regions_start", ctypes.c_int),
        ("tare_regions_stop", ctypes.c_int),
        ("tare_regions_from_environment", ctypes.c_int),
        ("tare_regions_generation", ctypes.c_uint),
    ):
        getattr(lib, name).restype = result
    return lib


_lib = _load()
_point, _generation = _lib.tare_label_point, _lib.tare_regions_generation
_END = 4  # TARE_LABEL_END
_PATH = 2  # TARE_PATH_PYTHON
_MAKERS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
_labels = {}
_labels_of = 0  # the generation that they are of


def _check(ret, err):
    if ret < 0:
        what = err.what.decode(errors="replace") or os.strerror(-ret)
        hint = err.hint.decode(errors="replace")
        raise Error(-ret, what + (f" ({hint})" if hint else ""))


def generation():
    """A number that changes when recording starts or stops; odd while it is on."""
    return _generation()


def recording():
    return generation() & 1 == 1


def label(name, *args):
    """The number of a label; 0 while nothing is recorded, and of a label "". Valid for one generation()."""
    now = _generation()  # a region must not need more of the interpreter's stack at its end than at its beginning
    if not now & 1:
        return 0
    if now != _labels_of:
        _begin(now)
    # By its words: 1, 1.0 and True are equal, and a list is no key.
    key = (str(name), *map(str, args)) if args else name if type(name) is str or name is _run_empty else str(name)
    found = _labels.get(key)
    if found is None:
        words = [_bytes(word) for word in (key if args else (key,))]
        array = (ctypes.c_char_p * len(args))(*words[1:])
        found = _labels[key] = _lib.tare_label_new_at(_PATH, words[0], array, len(args), *_place())
    return found


def _bytes(text):
    """UTF-8 of any text: bytes that os.fsdecode() hid in it come back as they were; what else has none is written as U+D800, and a NUL as U+0000."""
    try:
        encoded = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        encoded = "".join(f"U+{ord(c):04X}" if "\ud800" <= c <= "\udfff" else c for c in text).encode()
    return encoded.replace(b"\0", b"U+0000")


def _place():
    """File and line of the program that use a label first."""
    frame = sys._getframe(1)
    while frame and frame.f_globals.get("__name__") in (__name__, "contextlib"):
        frame = frame.f_back
    return (_bytes(frame.f_code.co_filename), min(frame.f_lineno or 0, 0xFFFFFF)) if frame else (None, 0)


class _Here(threading.local):
    """The calling thread's regions that are open, outermost first: (region, label or 0, generation, asyncio's task or None or _CROSSED,
    how many were begun in the recording before it). An exception may come anywhere in what is below (a signal's handler raises one, the
    stack has an end), so how many are begun is counted by libtare, with the points: a region is when there are more than before it."""

    def __init__(self):
        self.open = []
        self.begun = ctypes.c_uint32()
        self.count = ctypes.byref(self.begun)
        if _region:
            _region.opens(self.open)


_here = _Here()
_CROSSED = object()  # open while another task had regions
_modules = sys.modules


def _task():
    """The asyncio task that runs on this thread, or None."""
    asyncio = _modules["asyncio"]
    try:
        return asyncio._get_running_loop() and asyncio.current_task()
    except AttributeError:  # asyncio is being imported
        return None


def _cross(mine, task):
    """Another task begins a region: those above are open across an await, and hold what others do."""
    for i in reversed(range(len(mine))):
        if mine[i][3] is None or mine[i][3] is task:
            break
        mine[i] = (*mine[i][:3], _CROSSED, mine[i][4])


def _cut(here, at):
    """What was begun from there on has not ended where it should."""
    for _, begun, of, _, before in reversed(here.open[at:]):
        if here.begun.value > before and begun and of == _generation():
            _lib.tare_label_cut(begun)
            here.begun.value = before


def _drop(here, at):
    """The same, of what an exception left behind: or it ends later, and is not missed then."""
    _cut(here, at)
    for entry in here.open[at:]:
        entry[0]._dropped = getattr(entry[0], "_dropped", 0) + 1
    del here.open[at:]


def _end(here, at):
    """A region ends, which is or was the innermost."""
    _, begun, of, _, before = here.open[at]
    # One that was begun in an earlier recording has nothing to end in this one.
    if begun and of == _generation() and here.begun.value > before:
        _point(begun | _END, here.count)
    here.begun.value = before
    del here.open[at]


def _end_crossed(ended, here):
    """A region ends that is not the innermost, or that another task's came into. What was begun in it is cut; so is it itself, with
    what others did in it."""
    mine, task = here.open, _task() if "asyncio" in _modules else None
    found = [i for i, entry in enumerate(mine) if entry[0] is ended]
    if not found:
        if getattr(ended, "_dropped", 0):
            ended._dropped -= 1
            return
        if _region and _region.ends_off():
            return
        _point(label(ended._name, *ended._args) | _END, None)  # begun on another thread
        return
    at = ([i for i in found if mine[i][3] is task] or found)[-1]
    if mine[at][3] is None or mine[at][3] is task:
        _drop(here, at + 1)
        _end(here, at)
        return
    _cut(here, at)
    mine[at:] = [(region_, 0, of, of_task, before) for region_, _, of, of_task, before in mine[at + 1:]]


def _refuse_makers(function):
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & _MAKERS:
        raise TypeError(f"a region around {function.__qualname__} would end before any of it ran, for calling it only makes a "
                        "coroutine or generator; put regions into it where nothing is awaited or yielded, or a Timing around it")


class region(contextlib.ContextDecorator):
    """A part of the program: `with tare.region("name", argument...):`, or before a function.

    Regions of a thread nest. One that is open across an `await` holds what other tasks do meanwhile. Where that is seen - another
    task begins a region, one ends on another thread - it is cut, as all begun in it that are open still; and so is one that is open when
    one around it ends: `tare regions` and `tare summarize` tell it as begun and not ended, with its place. Use `Timing` there.
    """

    __slots__ = ("_name", "_args", "_dropped")

    def __init__(self, name, *args):
        self._name, self._args = name, args

    def __call__(self, function):
        _refuse_makers(function)
        return super().__call__(function)

    def _recreate_cm(self):
        return region(self._name, *self._args)

    def __enter__(self):
        begun = label(self._name, *self._args)
        here, task = _here, None
        mine = here.open
        if begun and "asyncio" in _modules:
            task = _task()
            if mine and mine[-1][3] is not None and mine[-1][3] is not task:
                _cross(mine, task)
        entry = (self, begun, _labels_of, task, here.begun.value)
        try:
            mine.append(entry)
            if begun:
                _point(begun, here.count)
        except BaseException:
            if mine and mine[-1] is entry:
                if here.begun.value > entry[4]:
                    _cut(here, -1)
                del mine[-1]
            raise
        return self

    def __exit__(self, *what):
        here = _here
        mine = here.open
        last = mine[-1] if mine else (None, 0, 0, None)
        if last[0] is not self or (last[3] is not None and last[3] is not _task()):
            _end_crossed(self, here)
            return False
        try:
            if last[1] and last[2] == _generation():
                _point(last[1] | _END, here.count)
            mine.pop()
        except BaseException:
            if mine and mine[-1] is last:
                _end(here, -1)
            raise
        return False


def _around(self, function):
    """As contextlib.ContextDecorator does."""
    _refuse_makers(function)
    name, args = self._name, self._args

    @functools.wraps(function)
    def inner(*words, **named):
        with region(name, *args):
            return function(*words, **named)
    return inner


if _region:
    _address = ctypes.cast(_generation, ctypes.c_void_p).value if isinstance(_lib, ctypes.PyDLL) else 0
    _region.hooks(_address, region.__enter__, region.__exit__, _around)
    region = _region.region


def _begin(now):
    """A recording that is new here: its labels, and what a region costs."""
    global _labels, _labels_of
    _labels, _labels_of = {}, now
    _lib.tare_region_measure(_PATH, _empty, None)


def _run_empty(number, n, _):
    """As programs do, by turns: a region that is made each time, and one that is kept."""
    global _kept
    _labels[_run_empty] = number
    _kept = not _kept
    if not _kept:
        for _ in range(n):
            with region(_run_empty):
                pass
        return
    r = region(_run_empty)
    for _ in range(n):
        with r:
            pass


_kept = False


_empty = _Empty(_run_empty)


def instant(name, *args):
    _lib.tare_label_instant(label(name, *args))


def integer(value, name, *args):
    """A number at a point in time, 0 to 2^64-1: first the number, then the label, which has arguments."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__index__"):
        raise TypeError("tare.integer(value, name, ...): the value comes first, and is an integer")
    value = value.__index__()
    if not 0 <= value < 1 << 64:
        raise ValueError("0 to 2**64 - 1")
    _lib.tare_label_integer(label(name, *args), ctypes.c_uint64(value))


class Timing:
    """Starts now, on this thread; finish() may come from another one."""

    __slots__ = ("_timing", "_of")

    def __init__(self, name, *args):
        self._timing = _lib.tare_timing_start(label(name, *args))
        self._of = generation()

    def finish(self):
        timing, self._timing = self._timing, None
        if timing is not None and timing.label and self._of == generation():
            _lib.tare_timing_finish(timing)


def start(path, events=None):
    """Record from now on. events: "wall-time" (default), "instructions:u", ...; see tare-regions(1)."""
    err = _Error()
    _check(_lib.tare_regions_start(os.fsencode(path), events.encode() if events else None, ctypes.byref(err)), err)
    _begin(generation())


def stop():
    """Stop; an Error says what could not be written."""
    err = _Error()
    _check(_lib.tare_regions_stop(ctypes.byref(err)), err)


if _lib.tare_regions_from_environment(None) == 1:
    _begin(generation())
