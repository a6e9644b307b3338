# SPDX-License-Identifier: MIT
"""tare bench on a PMU that counts exactly: a program that is its own test, with a loop of a known number of instructions."""
import json

from check import equal, main, sh, test, true

ROUNDS = 1000


def bench(*words, status=0):
    out = sh("tare", "bench", "--format", "json", "--runs", "20", *words)
    equal(out.returncode, status, f"status of tare bench {' '.join(words)}\n{out.stderr}")
    return json.loads(out.stdout)


def of(document, event):
    return next(r for r in document["results"] if r["event"] == event)


def how(document):
    return {c["event"]: c["how"] for c in document["counters"]}


PROGRAM = "/bin/bench_program"


def check(events):
    document = bench("-e", events, PROGRAM)
    for event in events.split(","):
        r = of(document, event)
        # 1 before the loop, 2 per round; an emulated cycle is an instruction.
        equal([run - r["baseline"]["value"] for run in r["runs"]], [2 * ROUNDS + 1] * 20, f"{event} of {events}: each run; {r}")
        equal((r["value"], r["low"], r["high"]), ((2 * ROUNDS + 1) / ROUNDS,) * 3, f"{event} of {events}")
        equal(len(set(r["baseline"]["pairs"])), 1, f"{event}: all baselines are equal: {r['baseline']['pairs']}")
    return document


@test
def a_known_loop():
    for events in ("instructions:u", "cycles:u", "instructions:u,cycles:u"):
        document = check(events)
        equal(document["variants"][0]["ops"], ROUNDS)
        true(document["conditions"]["clock_hz"] > 0, "the generic timer ticks")


@test
def registers_where_the_kernel_allows_it_else_system_calls():
    """64-bit counters are read from user space; 32-bit ones by read(2), as only the kernel handles their wraparound."""
    sh("sysctl", "-w", "kernel.perf_user_access=1")
    document = check("cycles:u")
    equal(how(document)["cycles:u"], "register", "the cycle counter has 64 bits everywhere")
    true(0 < of(document, "cycles:u")["baseline"]["value"] <= 60, str(of(document, "cycles:u")["baseline"]))
    sh("sysctl", "-w", "kernel.perf_user_access=0")
    equal(how(check("cycles:u"))["cycles:u"], "system call")
    sh("sysctl", "-w", "kernel.perf_user_access=1")


@test
def more_events_than_counters():
    """In separate runs: each set is counted completely, with the same result."""
    events = ",".join(["instructions:u", "cycles:u"] + [f"armv8_pmuv3/event=0x8,name=i{i}/u" for i in range(7)])
    document = bench("-e", events, PROGRAM)
    names = [c["event"] for c in document["counters"] if c["quality"] != "unavailable"]
    true(len({c["set"] for c in document["counters"] if c["how"] != "clock"}) > 1, f"more than one set: {document['counters']}")
    equal(len(names), 10, str(document["counters"]))
    for r in document["results"]:
        if "cntvct" not in r["event"]:
            equal([run - r["baseline"]["value"] for run in r["runs"]], [2 * ROUNDS + 1] * 20, r["event"])


@test
def four_counters_cost_little():
    document = bench("-e", "instructions:u,cycles:u,armv8_pmuv3/event=0x8,name=i2/u,armv8_pmuv3/event=0x8,name=i3/u", PROGRAM)
    for c in document["counters"]:
        r = of(document, c["event"])
        print(f"# {c['event']}: {c['how']}, baseline {r['baseline']['value']}")
        if c["how"] == "register":
            true(r["baseline"]["value"] <= 60, f"{c['event']}: {r['baseline']}")


@test
def what_a_static_tare_cannot():
    out = sh("tare", "bench", "--engine", "exact", PROGRAM)
    true(out.returncode != 0 and "exact engine" in out.stderr, f"{out.returncode}: {out.stderr}")
    out = sh("tare", "bench", "--asm", "nop")
    equal(out.returncode, 125, out.stderr)
    true("compiler" in out.stderr, out.stderr)
    out = sh("/bin/bench_program")
    true("tare bench runs it" in out.stdout, out.stdout)


main()
