# SPDX-License-Identifier: MIT
"""tare windows on a PMU that counts exactly: every window has its known count."""
import csv
import json

from check import equal, main, sh, test, true
from programs import FAMILY, CHILD, LOOPS


def windows(*words, status=0):
    out = sh("tare", "windows", "--format", "json", "-o", "/tmp/windows.json", *words)
    equal(out.returncode, status, f"status of tare windows {' '.join(words)}\n{out.stdout}{out.stderr}")
    with open("/tmp/windows.json") as f:
        return json.load(f)


@test
def each_window_is_as_long_as_asked():
    """2 instructions per round, one cycle each: windows of N cycles, and the rest of the program in the last one."""
    for rounds, every in ((1000000, 100000), (1000000, 99999), (1000000, 2000), (1000, 500)):
        document = windows("-i", "-e", "cycles:u,instructions:u", "--every", f"{every}:cycles:u", "--", f"loop-{rounds}")
        (thread,) = document["threads"]
        columns = thread["columns"]
        n = LOOPS[rounds] // every
        rest = LOOPS[rounds] % every
        wanted = [every] * n + ([rest] if rest else [])
        equal([e["event"] for e in document["events"]], ["cycles:u", "instructions:u"])
        equal(columns["events"][0], wanted, f"cycles of loop-{rounds}, {every}")
        equal(columns["events"][1], wanted, f"instructions of loop-{rounds}, {every}")
        equal(columns["begin"], [every * i for i in range(len(wanted))])
        equal(columns["ended"], ["whole"] * n + (["rest"] if rest else []))
        equal(document["metrics"][0]["metric"], "ipc")
        equal(set(columns["metrics"][0]), {1})
        equal((document["lost"], document["rests_unknown"]), (0, False))


@test
def default_events_are_those_that_count_here():
    document = windows("-i", "--every", "100k:cycles:u", "--", "loop-1000000")
    true("cache-misses" not in [e["event"] for e in document["events"]], str(document["events"]))
    equal(document["threads"][0]["columns"]["events"][0][0], 100000)


@test
def the_sum_is_the_whole():
    """A foreign program: the sum of its windows equals tare stat's count."""
    out = sh("tare", "stat", "--format", "json", "-e", "{cycles:u,instructions:u}", "--", "busybox", "md5sum", "/bin/busybox")
    whole = {e["event"]: e["value"] for e in json.loads(out.stderr[out.stderr.index("{"):])["events"]}
    document = windows("-i", "-e", "instructions:u", "--every", "1M:cycles:u", "--", "busybox", "md5sum", "/bin/busybox")
    events = document["threads"][0]["columns"]["events"]
    equal([sum(e) for e in events], [whole["cycles:u"], whole["instructions:u"]])
    equal(len(document["threads"]), 1)


@test
def without_children_the_first_thread_alone():
    document = windows("-i", "-e", "instructions:u", "--every", "100:cycles:u", "--", "family-100000")
    equal(len(document["threads"]), 1)
    equal(sum(document["threads"][0]["columns"]["events"][0]), FAMILY - 7 * CHILD)
    equal([k for k in document if k in ("rest", "threads_without_windows")], [], "children are not counted")


@test
def this_kernel_cannot_read_groups_in_children():
    """Linux 6.1: reported, and the first thread is still right."""
    document = windows("-e", "instructions:u", "--every", "100:cycles:u", "--", "family-100000")
    equal(document["children_left_out"], True)
    equal(sum(document["threads"][0]["columns"]["events"][0]), FAMILY - 7 * CHILD)


@test
def a_timer_reads_all_of_it():
    document = windows("--mode", "poll", "--every", "10ms", "-e", "cycles:u,instructions:u", "--", "loop-100000000")
    (thread,) = document["threads"]
    equal([sum(e) for e in thread["columns"]["events"][1:]], [LOOPS[100000000]] * 2)
    true(len(thread["columns"]["begin"]) >= 15, str(len(thread["columns"]["begin"])))


@test
def two_runs_are_the_same_to_the_last_count():
    for name in ("a", "b"):
        out = sh("tare", "windows", "-i", "--format", "csv", "-o", f"/tmp/{name}.csv", "-e", "instructions:u", "--every",
                 "50000:cycles:u", "--", "loop-1000000")
        equal(out.returncode, 0, out.stderr)
    with open("/tmp/a.csv") as f:
        rows = list(csv.DictReader(f))
    equal(len(rows), LOOPS[1000000] // 50000 + 1)
    out = sh("tare", "windows", "diff", "/tmp/a.csv", "/tmp/b.csv")
    equal(out.returncode, 0, out.stdout + out.stderr)
    true("No difference stands out" in out.stdout, out.stdout)


main()
