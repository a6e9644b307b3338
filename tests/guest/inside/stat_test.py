# SPDX-License-Identifier: MIT
"""tare stat on a PMU that counts exactly: equal to the known counts and to Debian's perf; otherwise reported as unavailable."""
import json
import subprocess
import time

from check import equal, main, sh, test, true
from programs import CHILD, CREW, FAMILY, LOOPS, counts, environment_under_perf, perf, tare

BOTH = "instructions:u,cycles:u"


@test
def loops_are_exact():
    """Counting starts with the program's first instruction (enable_on_exec) and ends with its last."""
    for rounds, instructions in LOOPS.items():
        equal(counts(tare("-e", BOTH, "--", f"loop-{rounds}")),
              {"instructions:u": instructions, "cycles:u": instructions}, f"loop-{rounds}")


@test
def a_group_counts_the_same():
    equal(counts(tare("-e", "{instructions:u,cycles:u}", "--", "loop-1000000")),
          {"instructions:u": LOOPS[1000000], "cycles:u": LOOPS[1000000]})


@test
def forks_and_threads_are_exact():
    equal(counts(tare("-e", BOTH, "--", "family-100000")), {"instructions:u": FAMILY, "cycles:u": FAMILY})


@test
def without_inherit_only_the_first_thread():
    equal(counts(tare("--no-inherit", "-e", BOTH, "--", "family-100000")),
          {"instructions:u": FAMILY - 7 * CHILD, "cycles:u": FAMILY - 7 * CHILD})


@test
def runs_repeat_without_spread():
    document = tare("-r", "5", "-e", BOTH, "--", "loop-1000")
    equal(document["runs"], 5)
    for e in document["events"]:
        equal((e["min"], e["median"], e["max"], e["n"]), (LOOPS[1000],) * 3 + (5,), e["event"])


@test
def programs_of_others_as_perf_counts_them():
    """A foreign static program, in the same boot: tare and perf must agree to the instruction."""
    environment = environment_under_perf()
    for command in (["busybox", "true"], ["busybox", "seq", "1", "2000"], ["busybox", "md5sum", "/bin/busybox"]):
        equal(counts(tare("-e", BOTH, "--", *command, env=environment)), perf(BOTH, *command), " ".join(command))


@test
def the_environment_is_passed_on():
    before = sh("cat", "/proc/self/environ").stdout
    equal(sh("tare", "stat", "-o", "/dev/null", "-e", BOTH, "--", "cat", "/proc/self/environ").stdout, before)


@test
def raw_events():
    """0x08 and 0x11 are Arm's numbers for instructions and cycles; all others open here and count 0."""
    equal(counts(tare("-e", "r08:u,r11:u", "--", "loop-1000")), {"r08:u": LOOPS[1000], "r11:u": LOOPS[1000]})
    equal(counts(tare("-e", "armv8_pmuv3/inst_retired/u", "--", "loop-1000")),
          {"armv8_pmuv3/inst_retired/u": LOOPS[1000]})


@test
def multiplexed_counts_say_so():
    """
    Twelve events on six counters. The loop retires one instruction per nanosecond except during the kernel's
    ticks, so an estimate can only be off by the ends of a time slice (4 ms of about 200).
    """
    document = tare("-e", ",".join(["instructions:u"] * 12), "--", "loop-100000000")
    equal(len(document["events"]), 12)
    for e in document["events"]:
        equal(e["quality"], "scaled", str(e))
        true(0.3 < e["share"] < 0.7, f"share of {e}")
        true(abs(e["value"] - LOOPS[100000000]) < LOOPS[100000000] / 200, f"{e} is far from {LOOPS[100000000]}")


@test
def a_group_that_never_counts_is_not_zero():
    """The kernel lets seven events into a group for six counters, and then never counts them."""
    for group in ("{" + ",".join(["instructions:u"] * 7) + "}", "{" + ",".join(["instructions:u"] * 8) + "}"):
        out = sh("tare", "stat", "-e", group, "--", "loop-1000")
        equal(out.returncode, 125, out.stderr)
        true("its group cannot be counted" in out.stderr, out.stderr)


@test
def no_multiplexing_is_exact_or_fails():
    out = sh("tare", "stat", "--no-multiplex", "-e", ",".join(["instructions:u"] * 12), "--", "loop-1000000")
    equal(out.returncode, 125, out.stderr)
    true("instructions:u" in out.stderr, f"which event did not fit: {out.stderr}")


@test
def kernel_and_user_add_up():
    c = counts(tare("-e", "{instructions:u,instructions:k,instructions}", "--", "busybox", "seq", "1", "100"))
    equal(c["instructions:u"] + c["instructions:k"], c["instructions"])


@test
def too_many_events_split_over_runs_are_exact():
    document = tare("--split", "-e", ",".join(["instructions:u"] * 12), "--", "loop-1000000")
    equal([e["value"] for e in document["events"]], [LOOPS[1000000]] * 12)
    equal([e["quality"] for e in document["events"]], ["counted"] * 12)


def attach(kind, *words):
    """Count a running crew of four threads until it ends: in total, and per thread."""
    crew = subprocess.Popen(["crew-100000"], stdin=subprocess.PIPE)
    time.sleep(0.1)
    task = crew.pid if kind == "-p" else crew.pid + 1  # the second thread
    counting = subprocess.Popen(["tare", "stat", "--format", "json", "-o", "/tmp/stat.json", "-e", BOTH, kind, str(task), *words])
    time.sleep(0.5)
    crew.stdin.close()
    crew.wait()
    time.sleep(0.5)
    counting.terminate()
    equal(counting.wait(10), 0, "tare stat")
    with open("/tmp/stat.json") as f:
        return json.load(f)


@test
def threads_of_a_running_process():
    document = attach("-p", "--per-thread")
    for event in ("instructions:u", "cycles:u"):
        equal(sorted(e["value"] for e in document["events"] if e["event"] == event), CREW, event)


@test
def a_running_process_as_a_whole():
    equal(counts(attach("-p")), {"instructions:u": sum(CREW), "cycles:u": sum(CREW)})


@test
def one_thread_of_it():
    equal(counts(attach("-t")), {"instructions:u": CREW[0], "cycles:u": CREW[0]})


@test
def intervals_add_up():
    out = sh("tare", "stat", "-I", "20", "-e", "instructions:u", "--format", "json", "--", "loop-100000000")
    rows = [json.loads(line) for line in out.stderr.splitlines() if line.startswith('{"schema": "tare/stat-interval/1"')]
    true(len(rows) >= 8, f"{len(rows)} rows in about 200 ms: {out.stderr[:400]}")
    equal(sum(r["events"][0]["value"] for r in rows), LOOPS[100000000])


@test
def as_perf_prints_it():
    """-x: the same fields as perf stat, except the time counted, which differs."""
    def fields(tool):
        out = sh(tool, "stat", "-x,", "-e", "instructions:u,cycles:u,r01:u,branches", "--", "loop-1000")
        return [line.split(",")[:3] + line.split(",")[4:] for line in out.stderr.splitlines()]
    equal(fields("tare"), fields("perf"))


@test
def every_level_of_permission():
    """As uid 1000: permitted counts are right, others are refused with the knob that would allow them."""
    user = {"user": 1000, "group": 1000, "extra_groups": []}
    knob = "/proc/sys/kernel/perf_event_paranoid"
    allowed = {3: (), 2: ("instructions:u",), 1: ("instructions:u", "instructions:k"),
               0: ("instructions:u", "instructions:k", "-a"), -1: ("instructions:u", "instructions:k", "-a")}
    try:
        for level, may in allowed.items():
            with open(knob, "w") as f:
                f.write(str(level))
            for what in ("instructions:u", "instructions:k", "-a"):
                words = ["-a", "-e", "instructions:u"] if what == "-a" else ["-e", what]
                out = sh("tare", "stat", "-x,", *words, "--", "loop-1000", **user)
                if what in may:
                    equal(out.returncode, 0, f"{what} at level {level}: {out.stderr}")
                    value = int(out.stderr.split(",")[0])
                    true(value == LOOPS[1000] if what == "instructions:u" else value > LOOPS[1000],
                         f"{what} at level {level}: {value}")
                else:
                    equal(out.returncode, 125, f"{what} at level {level}: {out.stderr}")
                    true("sysctl kernel.perf_event_paranoid=" in out.stderr, f"{what} at level {level}: {out.stderr}")
    finally:
        with open(knob, "w") as f:
            f.write("2")


@test
def interrupted_it_prints_what_it_has():
    counting = subprocess.Popen(["tare", "stat", "-x,", "-o", "/tmp/interrupted", "-e", "instructions:u", "--",
                                 "sh", "-c", "loop-1000; exec sleep 100"])
    time.sleep(1)
    counting.send_signal(2)
    counting.wait(10)
    value = int(open("/tmp/interrupted").read().splitlines()[-1].split(",")[0])
    true(value > LOOPS[1000], f"{value}")


main()
