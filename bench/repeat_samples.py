# SPDX-License-Identifier: MIT
"""Makes a longer recording from a short one: repeats its samples and rounds N times, each time later by the length of the recording.
For the file layout, this byte order, and events that all have the same sample layout.

usage: repeat_samples.py IN OUT N
"""
import struct
import sys

SAMPLE, FINISHED_ROUND, IP, TID, TIME, IDENTIFIER = 9, 68, 1, 2, 4, 1 << 16

source, out, times = bytearray(open(sys.argv[1], "rb").read()), open(sys.argv[2], "wb"), int(sys.argv[3])
attrs = struct.unpack_from("<QQ", source, 24)
begin, size = struct.unpack_from("<QQ", source, 40)
bits = struct.unpack_from("<4Q", source, 72)
kind = struct.unpack_from("<Q", source, attrs[0] + 24)[0]
assert kind & TIME, "samples without a time"
time_at = 8 + 8 * bin(kind & (IDENTIFIER | IP | TID)).count("1")

records, at = [], begin
while at < begin + size:
    t, _, n = struct.unpack_from("<IHH", source, at)
    records.append((t, at, n))
    at += n
clock = [struct.unpack_from("<Q", source, at + time_at)[0] for t, at, _ in records if t == SAMPLE]
length = max(clock) - min(clock) + 1

out.write(source[:begin + size])
for k in range(1, times):
    part = []
    for t, at, n in records:
        if t == SAMPLE:
            struct.pack_into("<Q", source, at + time_at, struct.unpack_from("<Q", source, at + time_at)[0] + length)
        if t in (SAMPLE, FINISHED_ROUND):
            part.append(source[at:at + n])
    out.write(b"".join(part))
end = out.tell()

# The list of features follows the records, and has offsets after itself: all move by the same amount.
features = sum(bin(b).count("1") for b in bits)
moved = end - (begin + size)
for i in range(features):
    offset, n = struct.unpack_from("<QQ", source, begin + size + 16 * i)
    out.write(struct.pack("<QQ", offset + moved if offset >= begin + size else offset, n))
out.write(source[begin + size + 16 * features:])
out.seek(40)
out.write(struct.pack("<QQ", begin, end - begin))
out.close()
