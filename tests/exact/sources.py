# SPDX-License-Identifier: MIT
"""Parses the first comment of a program in prog/ (see suite), and checks whether this CPU can run it."""
import pathlib
import re


def tags(source):
    found = {}
    for line in source.read_text().splitlines()[:15]:
        _, mark, rest = line.partition("exact:")
        if mark:
            found.update(word.split("=", 1) for word in rest.replace("*/", "").split() if "=" in word)
    return found


def skip_reason(tag):
    have = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M).group(1).split()
    missing = [f for f in tag.get("needs", "").split(",") if f and f not in have]
    there = [f for f in tag.get("lacks", "").split(",") if f in have]
    return f"this CPU has no {' '.join(missing)}" if missing else f"this CPU has {' '.join(there)}" if there else None
