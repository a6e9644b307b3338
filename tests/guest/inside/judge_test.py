# SPDX-License-Identifier: MIT
"""The judge itself: Debian's perf counts on this machine what the programs retire by construction."""
from check import equal, main, sh, test

# ROUNDS of tests/programs/arm64/loop.S -> instructions
LOOPS = {n: 2 * n + 5 for n in (1, 1000, 1000000, 100000000)}
FAMILY = 14 * 100000 + 124


def perf(*command):
    out = sh("perf", "stat", "-x", ",", "-e", "instructions:u,cycles:u", "--", *command)
    equal(out.returncode, 0, out.stderr)
    return {line.split(",")[2]: int(line.split(",")[0]) for line in out.stderr.splitlines()}


@test
def loops_by_construction():
    for rounds, instructions in LOOPS.items():
        counts = perf(f"loop-{rounds}")
        equal(counts, {"instructions:u": instructions, "cycles:u": instructions}, f"loop-{rounds}")


@test
def forks_and_threads_by_construction():
    equal(perf("family-100000"), {"instructions:u": FAMILY, "cycles:u": FAMILY})


main()
