# SPDX-License-Identifier: MIT
"""tare record on a PMU that counts exactly: known samples, as read by Debian's perf."""
import os
import re
import signal
import subprocess
import time

from check import equal, main, sh, test, true
from programs import CHILD, FAMILY, LOOPS

FRAMES = 2 * 100000 + 21
FILE = "/tmp/record.data"


def record(*words, status=0):
    out = sh("tare", "record", "-o", FILE, *words)
    equal(out.returncode, status, f"status of tare record {' '.join(words)}\n{out.stdout}{out.stderr}")
    return out.stderr


def fields(line):
    return {k: v.strip('"') for k, v in re.findall(r'(\w+)=("[^"]*"|\S+)', line)}


def dump(*words):
    """The records of a type and the rows after each."""
    out = sh("tare", "dump", *words, FILE)
    equal(out.returncode, 0, out.stderr)
    records = []
    for line in out.stdout.splitlines():
        if line.startswith("@"):
            records.append((fields(line), []))
        elif line.startswith(" ") and records:
            records[-1][1].append(line.strip())
    return records


def samples():
    return dump("-r", "sample")


def script(*words):
    """Debian's perf on the same file."""
    out = sh("perf", "script", "-i", FILE, *words)
    equal(out.returncode, 0, out.stderr)
    return out.stdout


@test
def as_many_samples_as_periods():
    """floor(count / period), at any period; perf reads the same number."""
    for rounds, period in ((1000000, 10000), (1000000, 100003), (1000000, 2000), (1000000, 400000), (1000, 777)):
        record("-e", "cycles:u", "-c", str(period), "--", f"loop-{rounds}")
        equal(len(samples()), LOOPS[rounds] // period, f"loop-{rounds}, every {period}")
        lines = script("-F", "ip").split()
        equal(len(lines), LOOPS[rounds] // period, "lines of perf script")


@test
def no_skid():
    """In the loop, two instructions long, the address of each sample is known from its number."""
    record("-e", "cycles:u", "-c", "10000", "--", "loop-1000000")
    got = [int(s["ip"], 16) for s, _ in samples()]
    equal(len(set(got)), 1, f"one address, as the period is even: {sorted(set(got))}")
    record("-e", "cycles:u", "-c", "9999", "--", "loop-1000000")
    odd = [int(s["ip"], 16) for s, _ in samples()]
    equal(sorted(set(odd)), sorted({odd[0], odd[1]}), "two addresses")
    equal(odd, [odd[i % 2] for i in range(len(odd))], "alternating")
    equal(abs(odd[0] - odd[1]), 4, "neighbours")


@test
def group_members_are_read_at_the_instant():
    """{a,b}:S: both count the same here, so every sample says period * n for both, to the instruction."""
    record("-e", "{cycles:u,instructions:u}:S", "-c", "100000", "--", "loop-1000000")
    got = samples()
    equal(len(got), LOOPS[1000000] // 100000)
    for n, (_, rows) in enumerate(got, 1):
        values = [int(fields(r.replace("value ", "value="))["value"]) for r in rows if r.startswith("value")]
        equal(values, [100000 * n] * 2, f"sample {n}")


@test
def call_chains_are_complete():
    record("-e", "cycles:u", "-c", "10000", "-g", "--", "frames-100000")
    equal(len(samples()), FRAMES // 10000)
    stacks = [re.findall(r"^\s*[0-9a-f]+ (\w+)", block, re.M) for block in script("-F", "ip,sym").strip().split("\n\n")]
    equal(len(stacks), FRAMES // 10000)
    for s in stacks:
        equal(s, ["inner", "middle", "outer", "_start"])


@test
def children_and_threads_have_their_own():
    """Sequential children or threads: each one has floor(its count / period) samples."""
    record("-e", "cycles:u", "-c", "20000", "--", "family-100000")
    per = {}
    for s, _ in samples():
        per[s["tid"]] = per.get(s["tid"], 0) + 1
    equal(sorted(per.values()), [CHILD // 20000] * 7, str(per))
    record("-i", "-e", "cycles:u", "-c", "20", "--", "family-100000")
    equal(len({s["tid"] for s, _ in samples()}), 1)
    equal(len(samples()), (FAMILY - 7 * CHILD) // 20)


@test
def names_ids_and_build_ids_are_perfs():
    """The same command recorded by perf: its mappings, names and build ids."""
    record("-e", "cycles:u", "-c", "100000", "--", "busybox", "md5sum", "/bin/busybox")
    ours = script("-F", "comm,ip,sym,dso")
    equal(len(ours.splitlines()), len(samples()))
    maps = sorted(re.sub(r"\d+/\d+", "PID", l.split("PERF_RECORD_MMAP2")[1])
                  for l in script("--show-mmap-events").splitlines() if "MMAP2" in l)
    ids = sh("perf", "buildid-list", "-i", FILE).stdout
    out = sh("perf", "record", "-o", FILE, "-e", "cycles:u", "-c", "100000", "--buildid-all", "--", "busybox", "md5sum",
             "/bin/busybox")
    equal(out.returncode, 0, out.stderr)
    equal(maps, sorted(re.sub(r"\d+/\d+", "PID", l.split("PERF_RECORD_MMAP2")[1])
                       for l in script("--show-mmap-events").splitlines() if "MMAP2" in l))
    for line in sh("perf", "buildid-list", "-i", FILE).stdout.splitlines():
        if line.strip() and "[vdso]" not in line and "[kernel" not in line:
            true(line in ids.splitlines(), f"{line} in\n{ids}")
    theirs = script("-F", "comm,ip,sym,dso")
    # perf adds variables to its command's environment; hashing takes nearly all of the time.
    true(abs(len(theirs.splitlines()) - len(ours.splitlines())) <= 1,
         f"{len(ours.splitlines())} samples, {len(theirs.splitlines())} of perf's")


@test
def compressed_it_is_the_same():
    record("-e", "cycles:u", "-c", "10000", "--", "loop-1000000")
    plain = [{k: v for k, v in s.items() if k in ("ip", "event", "period")} for s, _ in samples()]
    record("-z", "-e", "cycles:u", "-c", "10000", "--", "loop-1000000")
    equal([{k: v for k, v in s.items() if k in ("ip", "event", "period")} for s, _ in samples()], plain)
    equal(len(script("-F", "ip").split()), len(plain))


@test
def what_runs_already():
    """A process that already runs: its name and mappings are in the file."""
    p = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    time.sleep(0.1)
    err = record("-e", "cycles:u", "-c", "100000", "-p", str(p.pid), "--timeout", "100ms")
    p.send_signal(signal.SIGKILL)
    p.wait()
    got = samples()
    true(len(got) > 500, f"{len(got)} samples\n{err}")
    equal({s["pid"] for s, _ in got}, {str(p.pid)})
    true("busybox" in script("-F", "comm,dso,ip"), script("-F", "comm,dso,ip")[:400])


@test
def kernel_functions_have_names():
    record("-e", "cycles", "-c", "5000", "--", "busybox", "dd", "if=/dev/zero", "of=/dev/null", "bs=4096", "count=2000")
    out = script("-F", "ip,sym,dso")
    true("[kernel.kallsyms]" in out, out[:600])
    named = [l for l in out.splitlines() if "kernel.kallsyms" in l]
    true(all("[unknown]" not in l for l in named), "\n".join(l for l in named if "[unknown]" in l)[:600])


@test
def a_killed_recorder_leaves_what_it_had():
    os.unlink(FILE)
    p = subprocess.Popen(["tare", "record", "-o", FILE, "-e", "cycles:u", "-c", "10000", "--", "loop-100000000"],
                         stderr=subprocess.DEVNULL)
    while p.poll() is None and (not os.path.exists(FILE) or os.path.getsize(FILE) < 20000):
        time.sleep(0.01)
    p.send_signal(signal.SIGKILL)
    p.wait()
    out = sh("tare", "dump", "--counts", FILE)
    equal(out.returncode, 0, out.stderr)
    true("cycles:u" in out.stdout, out.stdout)
    equal(len(script("-F", "ip").split()), len(samples()), "samples as perf reads them")


main()
