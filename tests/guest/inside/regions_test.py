# SPDX-License-Identifier: MIT
"""tare regions on a PMU that counts exactly: every interval of a known loop is exact, on every thread."""
import os
import subprocess

from check import equal, main, test, true


def tare(*words, status=0):
    r = subprocess.run(["tare", "regions", *words], capture_output=True, text=True)
    equal(r.returncode, status, f"exit status of tare regions {' '.join(words)}; {r.stderr}")
    return r.stderr


def known(counters, threads, rounds="700"):
    tare("-q", "-e", counters, "-o", "/tmp/known.tare", "--", "regions", "known", rounds, str(threads))
    r = subprocess.run(["regions", "known-check", "/tmp/known.tare"], capture_output=True, text=True)
    return r.stdout


@test
def every_interval_of_a_known_loop_is_exact():
    for counters in ("instructions:u", "cycles:u", "wall-time,cycles:u,instructions:u", "instructions:u,cycles:u"):
        for threads in (1, 2, 8) if counters == "instructions:u,cycles:u" else (1, 2):
            out = known(counters, threads)
            true(out.startswith(f"{threads} threads, {700 * threads} intervals,") and out.endswith(": all exact\n"),
                 f"{counters}, {threads} threads: {out}")
    equal(known("instructions:u", 2), known("instructions:u", 2), "two runs")


@test
def also_where_blocks_fill_up():
    out = known("instructions:u", 2, rounds="9000")
    true(out.startswith("2 threads, 18000 intervals,") and out.endswith(": all exact\n"), out)
    size = os.path.getsize("/tmp/known.tare")
    true(size > 4 * 65536, f"two blocks of a thread and more: {size}")


@test
def what_cannot_be_counted_is_refused():
    said = tare("-e", "instructions-minus-irqs:u", "--", "true", status=125)
    true("no event is known that counts interrupts on this CPU" in said, said)
    said = tare("-e", "branches:u", "--", "true", status=125)
    true("branches" in said, said)


@test
def more_than_there_are_counters_is_refused():
    said = tare("-e", ",".join(["instructions:u"] + [f"r{n:x}:u" for n in (0x11, 0x8, 0x12, 0x13, 0x14, 0x15, 0x16)]), "--", "regions", "loop",
                "3", "1", status=125)
    true(said.startswith("tare regions: "), said)


main()
