# SPDX-License-Identifier: MIT
"""
Programs that read their own counts (include/tare/exact.h) write all of their readings to standard output,
as raw numbers, also natively: their control flow must not depend on the values. Each reading must equal the number
that the judge saw retire up to it.
"""
import struct

CLASSES = 18
READING = struct.Struct(f"<qq{CLASSES}q")


def by_program(output):
    """(thread, kind, counts) of each reading, in each thread's order."""
    found = []
    for at in range(0, len(output) - READING.size + 1, READING.size):
        thread, is_all, *counts = READING.unpack_from(output, at)
        if any(counts):
            found.append((thread, "all" if is_all else "now", tuple(counts if is_all else counts[:1])))
    return sorted(found, key=lambda r: r[0])


def by_judge(path):
    rows = [line.split() for line in path.read_text().splitlines()]
    return sorted(((int(t), kind, tuple(map(int, counts))) for t, kind, *counts in rows), key=lambda r: r[0])


def compare(output, path, least):
    got, want = by_program(output), by_judge(path)
    if len(want) < least or len(got) != len(want):
        return [f"{len(got)} readings by the program, {len(want)} by the judge, {least} at least were to come"]
    return [f"reading {i}: the program says {g}, the judge {w}" for i, (g, w) in enumerate(zip(got, want)) if g != w][:5]
