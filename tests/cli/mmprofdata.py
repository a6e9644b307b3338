# SPDX-License-Identifier: MIT
"""`.mm_profdata` files for tests, and the truth about them by brute force."""
import random
import struct

INSTANT, INTEGER = 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFE
REGULAR = 100000003
WALL_TIME = ('{ "start_time": 1700000000000000000, "process_id": 42, "cmd": "made by a test ", '
             '"counter": { "name": "wall-time", "units": [["ns", 1]] } }')
INSTRUCTIONS = WALL_TIME.replace("wall-time", "instructions:u").replace('"ns"', '"instructions"')


def write(path, events, version=9, metadata=WALL_TIME, page=8000):
    """events: (kind, label, thread, first, second) in the order of the file; labels are str, with \\x1e before arguments."""
    w = "<Q" if version >= 9 else "<I"
    strings, ids = b"MMSD" + struct.pack("<I", version), {}

    def string(s):
        nonlocal strings
        if isinstance(s, int): # an id of the caller's
            return s
        if s not in ids:
            ids[s] = REGULAR + len(strings)
            strings += s.encode() + b"\xff"
        return ids[s]

    out = bytearray(b"MMES" + struct.pack("<I", version))
    for kind, label, thread, first, second in events:
        out += struct.pack(w, string(kind)) + struct.pack(w, string(label))
        out += struct.pack("<IIII", thread, first & 0xFFFFFFFF, second & 0xFFFFFFFF, (first >> 32) << 16 | second >> 32)
    index = b"MMSI" + struct.pack("<I", version)
    if metadata is not None:
        index += struct.pack(w, REGULAR - 2) + struct.pack(w, len(strings))
        strings += metadata.encode() + b"\xff"
    pages = [(0, out[i:i + page]) for i in range(0, len(out), page)] + [(1, strings), (2, index)]
    path.write_bytes(b"MMPD" + struct.pack("<I", version) + b"".join(struct.pack("<BI", t, len(b)) + b for t, b in pages))
    return path


def trees(seed, steps=1500, labels=8, threads=3, depth=30, noise=None):
    """Random trees, threads mixed. `seed` gives the sequence, `noise` the times (the same seed, another noise: a second run)."""
    shape, times = random.Random(seed), random.Random(seed if noise is None else noise)
    clock, stack, events = [1000] * threads, [[] for _ in range(threads)], []
    for _ in range(steps):
        t = shape.randrange(threads)
        clock[t] += 10 + times.randrange(100)
        what = shape.random()
        if what < 0.05:
            events.append(("Mark", f"instant {shape.randrange(3)}", t, clock[t], INSTANT))
        elif stack[t] and (what < 0.5 or len(stack[t]) == depth):
            label, start = stack[t].pop()
            events.append(("GenericActivity", label, t, start, clock[t]))
        else:
            n = shape.randrange(labels)
            stack[t].append((f"label {n}" + (f"\x1e{shape.randrange(4)}" if n % 3 == 0 else ""), clock[t]))
    for t in range(threads):
        while stack[t]:
            clock[t] += 10 + times.randrange(100)
            label, start = stack[t].pop()
            events.append(("GenericActivity", label, t, start, clock[t]))
    return events


def truth(events):
    """By label: count, self, sum, total (recursion once), durations; by looking at every pair."""
    intervals = [(t, a, b, l.split("\x1e")[0]) for k, l, t, a, b in events if b < INTEGER]
    out = {}
    for t, a, b, l in intervals:
        inside = [(c, d, m) for u, c, d, m in intervals if u == t and a <= c and d <= b and (c, d) != (a, b)]
        around = [m for u, c, d, m in intervals if u == t and c <= a and b <= d and (c, d) != (a, b)]
        direct = [(c, d) for c, d, m in inside if not any(e <= c and d <= f and (e, f) != (c, d) for e, f, _ in inside)]
        row = out.setdefault(l, {"count": 0, "self": 0, "sum": 0, "total": 0, "recursive": 0, "all": []})
        row["count"] += 1
        row["self"] += b - a - sum(d - c for c, d in direct)
        row["sum"] += b - a
        row["total"] += 0 if l in around else b - a
        row["recursive"] += l in around
        row["all"].append(b - a)
    return out
