# SPDX-License-Identifier: MIT
"""A longer recording from a short one: every SAMPLE record N times in its place. Of the file layout and this byte order.

usage: repeat_samples.py IN OUT N
"""
import struct
import sys

source, out, times = open(sys.argv[1], "rb").read(), open(sys.argv[2], "wb"), int(sys.argv[3])
attrs = struct.unpack_from("<QQ", source, 24)
begin, size = struct.unpack_from("<QQ", source, 40)
bits = struct.unpack_from("<4Q", source, 72)

out.write(source[:begin])
at = begin
while at < begin + size:
    kind, _, n = struct.unpack_from("<IHH", source, at)
    out.write(source[at:at + n] * (times if kind == 9 else 1))
    at += n
end = out.tell()

# The list of features stands behind the records, and points behind itself: all of it moves alike.
features = sum(bin(b).count("1") for b in bits)
moved = end - (begin + size)
for i in range(features):
    offset, length = struct.unpack_from("<QQ", source, begin + size + 16 * i)
    out.write(struct.pack("<QQ", offset + moved if offset >= begin + size else offset, length))
out.write(source[begin + size + 16 * features:])
out.seek(40)
out.write(struct.pack("<QQ", begin, end - begin))
out.close()
