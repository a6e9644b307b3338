# SPDX-License-Identifier: MIT
"""The cost of reads from user space, in instructions counted by the PMU; and the examples run."""
from check import equal, main, sh, test, true


def costs():
    out = sh("/bin/read_cost", "1000")
    equal(out.returncode, 0, out.stderr)
    rows = [line.split("\t") for line in out.stdout.splitlines()]
    return {what: float(figure) for what, figure, unit, _, _ in rows if unit == "instructions"}


@test
def instructions_of_a_read():
    cost = costs()
    print(*(f"# {what}: {figure}" for what, figure in cost.items()), sep="\n")
    true(4 <= cost["pinned read, 1 counter"] <= 11, f"pinned: {cost}")
    true(10 <= cost["full page protocol, inline"] <= 24, f"page: {cost}")
    if "pinned read, 2 counters" in cost:  # a CPU with 64-bit event counters
        true(cost["pinned read, 2 counters"] - cost["pinned read, 1 counter"] <= 6, f"a further counter: {cost}")


@test
def examples():
    for name, words in (("read_group", "read without a system call"), ("read_pinned", "cycles (and"),
                        ("read_threads", "instructions:u (counted)")):
        out = sh(f"/bin/{name}")
        equal(out.returncode, 0, out.stderr)
        true(words in out.stdout, out.stdout)


main()
