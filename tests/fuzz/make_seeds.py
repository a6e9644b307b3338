#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the targets bench_reader, debug_file, exact_samples and exact_shared. Run it after their input changes."""
import re
import struct
from pathlib import Path

HERE = Path(__file__).parent
SEEDS = HERE / "seeds"
EXACT, REGISTER, READ, CLOCK, MSR = range(5)  # enum bench_how
CLASSES_H = (HERE / "../../src/exact/classes.h").read_text()
CLASSES = len(re.findall(r"^\tEXACT_\w+", CLASSES_H, re.M)) - 1


def write(target, seeds):
    (SEEDS / target).mkdir(exist_ok=True)
    for name, content in seeds.items():
        (SEEDS / target / name).write_bytes(content)


def reader(how, by_read, counters, order, fixed, words):
    """The head of tests/fuzz/bench_reader_fuzz.c; a log."""
    head = struct.pack("<14BH", how, by_read, counters - 1, 0, order, fixed, *range(8), 1)
    return head + b"".join(struct.pack("<Q", w) for w in words)


def bench_reader():
    exact = [w for i in range(6) for w in (1 - i % 2, *range(20 * i, 20 * i + CLASSES))]
    group = [w for i in range(6) for w in (1 - i % 2, 2, 50, 50, 7 * i, 0, 9 * i, 0)]
    return {
        "clock": reader(CLOCK, 0, 1, 0, 0, [1, 100, 0, 130, 1, 200, 0, 230]),
        "clock-open": reader(CLOCK, 0, 1, 0, 0, [1, 100, 0, 130, 1, 200]),
        "clock-backwards": reader(CLOCK, 0, 1, 0, 0, [1, 100, 0, 90]),
        "clock-counters": reader(CLOCK, 0, 3, 1, 0, range(40)),
        "exact": reader(EXACT, 0, CLASSES, 0, 1, exact),
        "exact-counters": reader(EXACT, 0, 2, 0, 1, exact),
        "group": reader(READ, 1, 2, 1, 3, group),
        "group-shared": reader(READ, 1, 2, 1, 1, [1, 2, 50, 20, 7, 0, 9, 0] * 2),
        "registers": reader(REGISTER, 0, 2, 1, 0, range(30)),
        "msr": reader(MSR, 0, 2, 1, 0, range(30)),
    }


def section(name, kind, flags, address, at, size, link=0, info=0, align=1, entry=0):
    numbers = (name, kind, flags, address, at, size, link, info, align, entry)
    return struct.pack("<IIQQQQIIQQ", *numbers)


def note(build_id):
    return struct.pack("<III4s", 4, len(build_id), 3, b"GNU\0") + build_id


def debug_elf(build_id=b"", lines=b""):
    """A debug file for the program of debug_file_fuzz.c: functions one and two, a build id."""
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0.debug_line\0"
    strings = b"\0one\0two\0"
    symbols = bytes(24)
    for at, address in ((1, 0x400200), (5, 0x400240)):
        symbols += struct.pack("<IBBHQQ", at, 0x12, 0, 1, address, 0x40)
    content, where = b"", []
    for part in (symbols, strings, names, note(build_id), lines):
        where.append((64 + len(content), len(part)))
        content += part + bytes(-len(part) % 8)
    table = b"".join((
        bytes(64),
        section(names.index(b".text"), 8, 6, 0x400200, 64, 0x100),  # SHT_NOBITS
        section(names.index(b".symtab"), 2, 0, 0, *where[0], 3, 1, 8, 24),
        section(names.index(b".strtab"), 3, 0, 0, *where[1]),
        section(names.index(b".shstrtab"), 3, 0, 0, *where[2]),
        section(names.index(b".note"), 7, 2, 0, *where[3], align=4) if build_id else bytes(64),
        section(names.index(b".debug_line"), 1, 0, 0, *where[4]),
    ))
    numbers = (2, 62, 1, 0, 0, 64 + len(content), 0, 64, 56, 0, 64, 7, 4)
    head = struct.pack("<HHIQQQIHHHHHH", *numbers)
    return b"\x7fELF\2\1\1" + bytes(9) + head + content + table


TRUE_SUM, SECOND_PLACE, LINES = 1, 2, 4


def program(flags, link=b"", alt=b"", build_id=b"", debug=b""):
    return bytes((flags, len(link), len(alt), len(build_id))) + link + alt + build_id + debug


def debug_file():
    build_id, d = bytes(range(20)), b"d\0\0\0????"
    return {
        "sum": program(TRUE_SUM, d, debug=debug_elf()),
        "sum-folder": program(TRUE_SUM | SECOND_PLACE, d, debug=debug_elf()),
        "sum-wrong": program(0, d, debug=debug_elf()),
        "id": program(0, d, build_id=build_id, debug=debug_elf(build_id)),
        "id-wrong": program(TRUE_SUM, d, build_id=build_id, debug=debug_elf(build_id[::-1])),
        "id-long": program(0, build_id=bytes(200), debug=debug_elf()),
        "fifo": program(TRUE_SUM, b"fifo\0\0\0\0????", debug=debug_elf()),
        "folder": program(TRUE_SUM, b".debug\0\0????", debug=debug_elf()),
        "elsewhere": program(TRUE_SUM, b"../d\0\0\0\0????", debug=debug_elf()),
        "sum-0-alt": program(LINES, b"x\0\0\0\0\0\0\0", b"x\0" + build_id),
        "not-opened": program(TRUE_SUM, d, debug=debug_elf()[:-64]),
        "no-end": program(TRUE_SUM, b"dddddddd"),
        "alt": program(LINES, alt=b"d\0" + build_id, debug=debug_elf(build_id, bytes(8))),
        "alt-fifo": program(LINES, alt=b"fifo\0" + build_id),
        "alt-absolute": program(LINES, alt=b"/dev/zero\0" + build_id),
        "alt-no-end": program(LINES, alt=b"dddd"),
    }


# Indices in parts[] of exact_state.h.
PROCESS, THREAD, RING, RING_BYTES, COUNTERS, FACTS, KINDS = range(1, 8)
PAST, ENDED, MODULE, MAPPING, CODE, HAPPENING, TOPS, N_PAST, NOT_PAST, N_MODULES, N_HAPPENINGS, STATES, LINEAGE_TOP = range(9, 22)


def put(part, content, element=0, offset=0):
    return struct.pack("<BHHB", part, element, offset // 4, len(content)) + content


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


def longs(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def exact_samples():
    """A thread's sample, its end and its program; in the second half the same again."""
    record = words(112, 0, 0, 0) + longs(1) + words(7, 7) + longs(1, 9, 0x401000, 0, 0, 0) + words(0, 0, 0) + bytes([1]) + bytes(19)
    ended = words(0, 0) + longs(1) + words(7, 7, 1, 0) + longs(0, 0, 0) + bytes(8 * CLASSES)
    program = words(1, 0, 0, 7, 0, 7) + longs(0, 0, 0) + words(0) + b"prog"
    mapping = words(3, 0, 0, 7, 0, 7) + longs(0, 0x400000, 0x402000) + words(1)
    state = put(TOPS, words(1, 1)) + put(STATES, words(1)) + put(RING_BYTES, record) + put(RING, longs(112)) + put(N_PAST, words(0, 1))
    happened = put(HAPPENING, program) + put(HAPPENING, mapping, 1) + put(N_MODULES, words(2, 2)) + put(N_HAPPENINGS, words(2))
    return {
        "thread": bytes(8) + 2 * (state + put(ENDED, ended)),
        "happened": bytes(8) + 2 * (state + happened),
        "damaged": bytes(8) + 2 * (state + put(RING_BYTES, words(120))),
    }


def exact_shared():
    """A running and an ended process, a thread with counters, code of a module."""
    fact = longs(0x401000) + bytes([2]) + bytes(CLASSES - 1) + struct.pack("<HI", 5, 1)
    thread = put(TOPS, words(1, 1)) + put(STATES, words(1)) + put(PROCESS, words(1, 7, 1)) + put(COUNTERS, longs(5, 6))
    code = put(LINEAGE_TOP, words(2)) + put(FACTS, fact + fact) + put(KINDS, words(0, 1))
    past = put(N_PAST, words(1, 0)) + put(PAST, words(7, 1, 0, 0))
    profile = put(N_MODULES, words(2, 2, 1)) + put(MAPPING, longs(0x400000, 0) + words(1, 0), 1) + put(CODE, longs(0x1000, 3) + words(1))
    return {name: bytes([3]) + content for name, content in
            {"thread": thread + code, "past": past, "profile": thread + code + profile, "all": thread + code + past + profile}.items()}


write("bench_reader", bench_reader())
write("exact_samples", exact_samples())
write("exact_shared", exact_shared())
write("debug_file", debug_file())
