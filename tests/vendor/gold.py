# SPDX-License-Identifier: MIT
"""Vendor events as tare reads them, against perf's own reader: jevents.py of the Linux source.

usage: gold.py TARE FOLDER [FULL]

FOLDER is tools/perf/pmu-events of a Linux source tree (Debian: package linux-source-6.12), or TARE_PMU_EVENTS names it. Each folder of a
CPU of x86 and arm64 is read as a whole, and each row must have the PMU and the terms of jevents.py, but for the slips that SLIPS names.
"""
import collections
import json
import os
import subprocess
import sys
from pathlib import Path


def no_value(model, name, want, got):
    return got and terms(want[1].replace("ldlat=None", "ldlat=0")) == terms(got[1])


# A difference that is right: why, and which rows (model, name, PMU and terms of jevents.py, PMU and terms of tare; None where tare refuses the row).
SLIPS = {"jevents.py writes ldlat=None where a row has an MSRIndex and no MSRValue, which is 0 there": no_value}


def terms(text):
    """{term: value}; a term of value 0 is as if absent, and the period is the user's."""
    out = {}
    for term in text.split(","):
        key, _, value = term.partition("=")
        try:
            value = int(value, 0) if value else 1
        except ValueError:
            pass
        if key and key != "period" and (value != 0 or key == "event"):
            out[key] = value
    return out


def jevents_of(folder, arch):
    sys.path.insert(0, str(folder))
    import jevents

    jevents._args = type("Args", (), {"arch": arch, "starting_dir": str(folder / "arch")})()
    jevents._arch_std_events = {}
    for f in sorted((folder / "arch" / arch).glob("*.json")):
        for event in json.loads(f.read_text(), object_hook=jevents.JsonEvent):
            for name in (getattr(event, "name", None), getattr(event, "metric_name", None)):
                if name:
                    jevents._arch_std_events[name.lower()] = event
    return jevents


def wanted(jevents, model):
    for f in sorted(model.glob("*.json")) + sorted(model.glob("sys/*.json")):
        rows = json.loads(f.read_text(), object_hook=jevents.JsonEvent)
        if isinstance(rows, list):
            for row in rows:
                if getattr(row, "name", None) and row.event:
                    yield row.name.lower(), ("" if row.pmu == "default_core" else row.pmu, row.event)


def read(tare, model):
    cpu = "skl" if "/arch/x86/" in str(model) else "Neoverse N1"
    r = subprocess.run([tare, "events", "--event-file", str(model), "--cpu", cpu, "--format", "json"], capture_output=True, text=True, timeout=120)
    if r.returncode:
        sys.exit(f"{model}: {r.stderr}")
    document = json.loads(r.stdout)
    rows = collections.defaultdict(list)
    for row in document["events"]:
        if row["group"].startswith(str(model) + "/"):
            rows[row["name"].lower()].append((row["pmu"] or "", row["terms"]))
    return rows, document["refused"]


def models(root):
    return sorted({f.parent.parent if f.parent.name == "sys" else f.parent for f in root.rglob("*.json") if f.parent != root})


def check(tare, folder, arch):
    jevents = jevents_of(folder, arch)
    same = 0
    slips, bad, refused = collections.Counter(), [], []
    for model in models(folder / "arch" / arch):
        expected = list(wanted(jevents, model))
        if not expected:
            continue
        got, no = read(tare, model)
        refused += no
        for name, want in expected:
            rows = got[name]
            if any(pmu == want[0] and terms(t) == terms(want[1]) for pmu, t in rows):
                same += 1
                continue
            row = next((r for r in rows if r[0] == want[0]), rows[0] if rows else None)
            slip = next((why for why, is_it in SLIPS.items() if is_it(model.name, name, want, row)), None)
            if slip:
                slips[slip] += 1
            else:
                bad.append(f"{model.name}: {name}: jevents.py {want}, tare {row}")
        names = collections.Counter(n for n, _ in expected)
        bad += [f"{model.name}: {n} is no event of jevents.py" for n in got if got[n] and not names[n]]
    return same, slips, bad, refused


def main():
    tare = sys.argv[1]
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("TARE_PMU_EVENTS", ""))
    if not (folder / "jevents.py").is_file():
        print("1..0 # SKIP TARE_PMU_EVENTS names no tools/perf/pmu-events of a Linux source tree")
        return 0
    print("1..2")
    failed = 0
    for n, arch in enumerate(("x86", "arm64"), 1):
        same, slips, bad, refused = check(tare, folder.resolve(), arch)
        for why, count in slips.items():
            print(f"# {arch}: {count}: {why}")
        for line in refused[:10] + bad[:25]:
            print(f"# {line}")
        failed += bool(bad)
        print(f"{'not ok' if bad else 'ok'} {n} - {arch}: {same} rows equal jevents.py's, {sum(slips.values())} slips of jevents.py, {len(bad)} differ, {len(refused)} refused")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
