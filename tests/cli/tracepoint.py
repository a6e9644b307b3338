# SPDX-License-Identifier: MIT
"""Recordings of tracepoints with their formats (TRACING_DATA), made here: events that no machine has."""
import struct
from pathlib import Path

FORMAT = """name: exec_probe
ID: 777
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:u16 depth;\toffset:28;\tsize:2;\tsigned:0;
\tfield:__data_loc char[] file;\toffset:32;\tsize:4;\tsigned:0;
\tfield:unsigned long args[2];\toffset:40;\tsize:16;\tsigned:0;
\tfield:u64 far;\toffset:4000;\tsize:8;\tsigned:0;

print fmt: "comm=%s", REC->comm
"""


def tracing(order="<", formats=(FORMAT,)):
    """A section TRACING_DATA with one tracepoint."""
    sized = lambda b: struct.pack(order + "Q", len(b)) + b
    out = b"\x17\x08\x44tracing0.6\0" + bytes([order == ">", 8]) + struct.pack(order + "I", 4096)
    out += b"header_page\0" + sized(b"page") + b"header_event\0" + sized(b"event") + struct.pack(order + "I", 1) + sized(b"name: x\n")
    out += struct.pack(order + "I", 1) + b"made\0" + struct.pack(order + "I", len(formats))
    return out + b"".join(sized(f.encode()) for f in formats) + struct.pack(order + "IIQ", 0, 0, 0)


def raw_data(order="<", comm=b"sh\0rest", pid=-7, depth=3, file=b"/bin/\"\x1b\0"):
    """The raw data of a sample as FORMAT has it."""
    raw = struct.pack(order + "HBBi16siHxxIxxxx16sI", 777, 0, 0, 9, comm, pid, depth, len(file) << 16 | 60, bytes(range(16)), 0) + file
    return raw + bytes(-(len(raw) + 4) % 8)


def of_tracepoint(path, pipe, order="<", data=None, raws=None):
    """A recording of samples of the tracepoint (two equal ones); only its format names the event."""
    def record_of(kind, body, misc=0):
        return struct.pack(order + "IHH", kind, misc, 8 + len(body)) + body

    raws = raws or [raw_data(order)] * 2
    samples = b"".join(record_of(9, struct.pack(order + "QIIQI", 0x1000, 1, 1, 1, len(raw)) + raw, 2) for raw in raws)
    attr = struct.pack(order + "IIQQQQQ", 2, 64, 777, 1, 1 | 2 | 256 | 1024, 0, 0).ljust(64, b"\0")
    data = tracing(order) if data is None else data
    if pipe:
        padded = data + bytes(-len(data) % 8)
        out = (b"PERFILE2" if order == "<" else b"2ELIFREP") + struct.pack(order + "Q", 16) + record_of(64, attr + struct.pack(order + "Q", 1))
        out += record_of(66, struct.pack(order + "I", len(data))) + padded + samples
    else:
        begin = 104 + 80
        out = (b"PERFILE2" if order == "<" else b"2ELIFREP") + struct.pack(order + "QQQQQQQQ", 104, 80, 104, 80, begin, len(samples), 0, 0)
        out += struct.pack(order + "QQQQ", 2, 0, 0, 0) + attr + struct.pack(order + "QQ", 0, 0) + samples
        out += struct.pack(order + "QQ", len(out) + 16, len(data)) + data
    Path(path).write_bytes(out)
    return str(path)


OTHER = """name: other_probe
ID: 778
format:
\tfield:int common_pid;\toffset:0;\tsize:4;\tsigned:1;

\tfield:int pid;\toffset:4;\tsize:4;\tsigned:1;
\tfield:u64 big;\toffset:8;\tsize:8;\tsigned:0;

print fmt: "pid=%d", REC->pid
"""


def of_two(path):
    """A recording of made:exec_probe (comm sh twice, ls once), made:other_probe (once) and a software event (once, with no fields)."""
    def sample(ident, raw):
        body = struct.pack("<QQIIQQ", ident, 0x1000, 1, 1, 1000 * ident, 1) + struct.pack("<I", len(raw)) + raw
        body += bytes(-len(body) % 8)
        return struct.pack("<IHH", 9, 2, 8 + len(body)) + body

    kinds = 1 << 16 | 1 | 2 | 4 | 256 | 1024
    attrs = [struct.pack("<IIQQQQQ", kind, 64, config, 1, kinds, 0, 0).ljust(64, b"\0") for kind, config in ((2, 778), (2, 777), (1, 2))]
    other = struct.pack("<iiQI", 0, 5, 2**64 - 1, 0)
    data = b"".join((sample(2, raw_data()), sample(2, raw_data(comm=b"ls", pid=8)), sample(2, raw_data(comm=b"sh", pid=9)), sample(1, other),
                     sample(3, b"\0\0\0\0")))
    ids, at = struct.pack("<QQQ", 1, 2, 3), 104
    begin = at + len(ids) + 3 * 80
    out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 80, at + len(ids), 3 * 80, begin, len(data), 0, 0) + struct.pack("<QQQQ", 2, 0, 0, 0) + ids
    out += b"".join(a + struct.pack("<QQ", at + 8 * i, 8) for i, a in enumerate(attrs)) + data
    section = tracing(formats=(OTHER, FORMAT))
    out += struct.pack("<QQ", len(out) + 16, len(section)) + section
    Path(path).write_bytes(out)
    return str(path)
