# SPDX-License-Identifier: MIT
"""The judge itself: Debian's perf on this machine counts the programs' known instructions."""
from check import equal, main, test
from programs import FAMILY, LOOPS, perf


@test
def loops_by_construction():
    for rounds, instructions in LOOPS.items():
        equal(perf("instructions:u,cycles:u", f"loop-{rounds}"),
              {"instructions:u": instructions, "cycles:u": instructions}, f"loop-{rounds}")


@test
def forks_and_threads_by_construction():
    equal(perf("instructions:u,cycles:u", "family-100000"), {"instructions:u": FAMILY, "cycles:u": FAMILY})


main()
