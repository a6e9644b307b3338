# SPDX-License-Identifier: MIT
"""Recordings of accesses to memory, put together for tests: samples with a data source, and Arm SPE's own data."""
import os
import struct

HOSTNAME, ARCH, VERSION, CPUID, NUMA, PMU_MAPPINGS, MEM_TOPOLOGY = 3, 6, 5, 9, 14, 16, 22
MMAP, LOST, COMM, FORK, SAMPLE, AUX, LOST_SAMPLES, MMAP2 = 1, 2, 3, 7, 9, 11, 13, 10
SWITCH, SWITCH_CPU_WIDE = 14, 15
AUXTRACE_INFO, AUXTRACE, TIME_CONV, SPE = 70, 71, 79, 4
ATTR_SIZE, KERNEL, USER, DATA, EXEC = 128, 1, 2, 1 << 13, 1 << 13
IP, TID, TIME, ADDR, CPU, PERIOD, WEIGHT, DATA_SRC, IDENTIFIER, PHYS = 1, 2, 4, 8, 0x80, 0x100, 0x4000, 0x8000, 0x10000, 0x80000
KIND = IDENTIFIER | IP | TID | TIME | ADDR | CPU | PERIOD | WEIGHT | DATA_SRC | PHYS

OP = {"load": 2, "store": 4, "update": 6, "prefetch": 8}
# name as tare shows it: the bits of mem_lvl, and the distance they tell
LEVELS = {"L1": (0x8, "own"), "fill buffer": (0x10, "own"), "L2": (0x20, "own"), "L3": (0x40, "socket"), "memory": (0x80, "socket"),
          "far memory": (0x100, "remote"), "far cache": (0x400, "remote")}
SNOOPS = {"none": 2, "hit": 4, "miss": 8, "modified": 16}
TLBS = {"L1": 2 | 8, "L2": 2 | 16, "walk": 4 | 32}


def string(text):
    return struct.pack("<I", (len(text) + 64) // 64 * 64) + text.encode().ljust((len(text) + 64) // 64 * 64, b"\0")


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def name(text):
    return text.encode() + bytes(8 - len(text.encode()) % 8)


def source(op, level=None, snoop=None, tlb=None, locked=False):
    v = OP[op] | (2 if locked else 0) << 24
    if level:
        v |= (LEVELS[level][0] | 2) << 5
    if snoop:
        v |= SNOOPS[snoop] << 19
    if tlb:
        v |= TLBS[tlb] << 26
    return v


class Recording:
    """Records of one event in the order they are stated; every one has an id trailer of tid, time, cpu, id."""

    def __init__(self, config=0x1cd, config1=3, pmu=(4, "cpu"), kind=KIND, cpuid="GenuineIntel-6-55-4", event=None, features=None, period=1000):
        self.config, self.config1, self.pmu, self.kind, self.period = config, config1, pmu, kind, period
        self.data, self.features = bytearray(), {HOSTNAME: string(os.uname().nodename), ARCH: string("x86_64"), VERSION: string("made"), CPUID: string(cpuid), **(features or {})}

    def trailer(self, pid, tid, time):
        out = b""
        if self.kind & TID:
            out += struct.pack("<II", pid, tid)
        if self.kind & TIME:
            out += struct.pack("<Q", time)
        if self.kind & CPU:
            out += struct.pack("<II", 0, 0)
        return out + (struct.pack("<Q", 1) if self.kind & IDENTIFIER else b"")

    def add(self, kind, body, misc=0, pid=0, tid=0, time=0, trailer=True):
        self.data += record(kind, body + (self.trailer(pid, tid, time) if trailer else b""), misc)

    def mmap(self, pid, start, size, offset, file, time=0, data=False, kernel=False):
        """Of a file that is here with its inode: that it is the one that ran."""
        here = os.path.isfile(file)
        inode = struct.pack("<IIQQII", 0, 0, os.stat(file).st_ino, 0, 5, 2) if here else b""
        self.add(MMAP2 if here else MMAP, struct.pack("<IIQQQ", pid & 0xffffffff, pid & 0xffffffff, start, size, offset) + inode + name(file),
                 (KERNEL if kernel else USER) | (DATA if data else 0), pid & 0xffffffff, pid & 0xffffffff, time)

    def comm(self, pid, tid, text, time=0, exec=False):
        self.add(COMM, struct.pack("<II", pid, tid) + name(text), EXEC if exec else 0, pid, tid, time)

    def fork(self, pid, ppid, tid, ptid, time=0):
        self.add(FORK, struct.pack("<IIIIQ", pid, ppid, tid, ptid, time), 0, pid, tid, time)

    def sample(self, ip=0, pid=1, tid=1, time=0, addr=0, cpu=0, period=1, weight=0, src=1, phys=0, kernel=False):
        fields = ((IDENTIFIER, "<Q", (1,)), (IP, "<Q", (ip,)), (TID, "<II", (pid, tid)), (TIME, "<Q", (time,)), (ADDR, "<Q", (addr,)),
                  (CPU, "<II", (cpu, 0)), (PERIOD, "<Q", (period,)), (WEIGHT, "<Q", (weight,)), (DATA_SRC, "<Q", (src,)), (PHYS, "<Q", (phys,)))
        body = b"".join(struct.pack(form, *v) for bit, form, v in fields if self.kind & bit)
        self.data += record(SAMPLE, body, (KERNEL if kernel else USER) | 1 << 14)

    def announce_spe(self):
        """What is in AUX data; recorders write it before all else."""
        if not getattr(self, "announced", False):
            self.data += record(AUXTRACE_INFO, struct.pack("<IIQQ", SPE, 0, 9, 0))
            self.announced = True

    def spe(self, aux, tid=1000, cpu=0):
        """AUX data of SPE, of one thread; or with a tid of 0xffffffff of one CPU."""
        self.announce_spe()
        aux += bytes(-len(aux) % 8)
        self.data += record(AUXTRACE, struct.pack("<QQQIIII", len(aux), 0, 0x1000, cpu, tid, cpu if tid == 0xffffffff else 0xffffffff, 0)) + aux

    def clock_is_spe(self):
        """SPE's timestamps are nanoseconds of the records' clock."""
        self.data += record(TIME_CONV, struct.pack("<QQQ", 0, 1, 0))

    def switch(self, pid, tid, time, out=False, wide=False):
        """A thread comes to CPU 0, or leaves it; `wide`: as the kernel writes it when a CPU is recorded and no task."""
        self.add(SWITCH_CPU_WIDE if wide else SWITCH, struct.pack("<II", 0, 0) if wide else b"", 1 << 13 if out else 0, pid, tid, time)

    def write(self, path):
        a = bytearray(ATTR_SIZE)
        struct.pack_into("<IIQQQ", a, 0, self.pmu[0], ATTR_SIZE, self.config, self.period, self.kind)
        struct.pack_into("<Q", a, 40, 1 << 18 | 2 << 15)  # sample_id_all, precise
        struct.pack_into("<Q", a, 56, self.config1)
        self.features[PMU_MAPPINGS] = struct.pack("<I", 1) + struct.pack("<I", self.pmu[0]) + string(self.pmu[1])
        attrs_at = 112
        data_at = attrs_at + ATTR_SIZE + 16
        out = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, ATTR_SIZE + 16, attrs_at, ATTR_SIZE + 16, data_at, len(self.data), 0, 0)
        out += struct.pack("<QQQQ", sum(1 << f for f in self.features), 0, 0, 0)
        out += struct.pack("<Q", 1) + bytes(a) + struct.pack("<QQ", 104, 8) + self.data
        at = len(out) + 16 * len(self.features)
        table, body = b"", b""
        for f in sorted(self.features):
            table += struct.pack("<QQ", at + len(body), len(self.features[f]))
            body += self.features[f]
        with open(path, "wb") as f:
            f.write(out + table + body)
        return path


def spe_record(ip, address, store=False, events=0x16, latency=30, time=None, source=None, contexts=()):
    """One load or store as SPE writes it. `contexts`: of (exception level, what its CONTEXTIDR holds)."""
    out = bytes([0xb0]) + (0x8000 << 48 | ip).to_bytes(8, "little")
    for level, held in contexts:
        out += bytes([0x63 + level, *held.to_bytes(4, "little")])
    width = 2 if events < 1 << 16 else 4
    out += bytes([0x49, 1 if store else 0, {2: 0x52, 4: 0x62}[width], *events.to_bytes(width, "little")])
    out += bytes([0x98]) + latency.to_bytes(2, "little") + bytes([0xb2]) + address.to_bytes(8, "little")
    if source is not None:
        out += bytes([0x43, source])
    return out + (bytes([0x71]) + time.to_bytes(8, "little") if time is not None else b"\x01")
