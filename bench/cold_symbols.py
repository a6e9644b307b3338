# SPDX-License-Identifier: MIT
"""usage: cold_symbols.py PROGRAM COUNT OUT: a perf.data (pipe layout) with samples at COUNT different addresses, evenly spread over the code of an ELF program."""
import struct
import sys

program, count, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(program, "rb") as f:
    head = f.read(64)
    at, size, n = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
    f.seek(at)
    segments = [struct.unpack_from("<IIQQQQ", f.read(size)) for _ in range(n)]
# type 1: PT_LOAD, flag 1: executable; offset, address, physical, bytes in the file
offset, length = next((s[2], s[5]) for s in segments if s[0] == 1 and s[1] & 1)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


# attr: cpu-clock, period 1, IP | TID; no ids
attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1, 1 | 2, 0, 0) + bytes(16)
page, base = offset & ~4095, 0x10000000
name = program.encode() + b"\0" * (8 - len(program.encode()) % 8)
with open(out, "wb") as f:
    f.write(struct.pack("<QQ", 0x32454C4946524550, 16) + record(64, 0, attr))
    f.write(record(1, 2, struct.pack("<IIQQQ", 7, 7, base, offset - page + length, page) + name))
    for i in range(count):
        f.write(record(9, 2, struct.pack("<QII", base + offset - page + i * length // count, 7, 7)))
