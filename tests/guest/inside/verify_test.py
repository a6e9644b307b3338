# SPDX-License-Identifier: MIT
"""tare verify with a known PMU: QEMU's counts instructions and cycles, and nothing else."""
import json

from check import equal, main, sh, test, true


def verdicts(events):
    out = sh("tare", "verify", "counts", "--format", "json", "-e", events)
    true(out.returncode in (0, 1), out.stderr)
    return {e["event"]: e for e in json.loads(out.stdout)["events"]}


@test
def instructions_are_exact():
    for name, row in verdicts("instructions:u,r08:u,page-faults:u").items():
        true(row["verdict"] in ("exact", "exact-minus-fixed") and row["trusted"], f"{name}: {row}")


@test
def cycles_are_exact():
    """One instruction per cycle: cycles have no known count, and are found to count instructions."""
    for name, row in verdicts("cycles:u,r11:u").items():
        true(row["trusted"], f"{name}: {row}")
        equal(row["counts"], "instructions", name)


@test
def all_other_events_are_dead():
    """A few of the selectors; tare scan tries all."""
    others = (0x01, 0x07, 0x09, 0x10, 0x12, 0x1e, 0x3f)
    found = verdicts(",".join(f"r{n:02x}:u" for n in others))
    live = {name: v["verdict"] for name, v in found.items() if v["verdict"] != "dead"}
    equal(live, {"r1e:u": "unavailable"}, "not dead: of the chain event the kernel takes no order")
    equal(len(found), len(others), "events")


main()
