# SPDX-License-Identifier: MIT
"""In which environments tare works, and its message where it does not: the table of docs/recipes/permissions.md, which must have the same rows.

usage: places_test.py TARE FILTERED CC PERMISSIONS.md
"""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh  # noqa: E402

TARE, FILTERED, PAGE = (os.path.abspath(p) for p in (*sys.argv[1:3], sys.argv[4]))
CC = sys.argv[3]
ROOT = os.getuid() == 0
os.chmod(ROOM.name, 0o777)
LOOP = ROOM.name + "/loop"
NEW_ROOT = ROOM.name + "/root"
# A mount namespace with a copy of this root, in which only /dev, /tmp and the mounts of mounts() are mounted.
BELOW = f'mkdir -p {NEW_ROOT} && mount --bind / {NEW_ROOT} && mount --rbind /dev {NEW_ROOT}/dev && mount --rbind /tmp {NEW_ROOT}/tmp'
ENTER = f'exec chroot {NEW_ROOT} "$@"'


def mounts(*words):
    return ["unshare", "-m", "sh", "-c", " && ".join([BELOW, *words, ENTER]), "-"]


def mounted(*names):
    return [f"mount --rbind /{n} {NEW_ROOT}/{n}" for n in names]


NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# First cell of the row: the command that enters the environment, and whether it needs root.
PLACES = {
    "root": ([], True),
    "an ordinary user": (NOBODY if ROOT else [], False),
    "a container, by its seccomp filter": ([*(NOBODY if ROOT else []), FILTERED, "container"], False),
    "root of a user namespace": (["unshare", "-U", "-r"], False),
    "a user namespace without names": (["unshare", "-U"], False),
    "no `/proc`": (mounts(*mounted("sys")), True),
    "no `/sys`": (mounts(*mounted("proc")), True),
    "a read-only root file system": (mounts(*mounted("proc", "sys"), f"mount -o remount,bind,ro {NEW_ROOT}"), True),
    "an empty environment": (["env", "-i"], False),
}
COLUMNS = ("exact counts", "`compare`", "`record`, `report`", "times")


def program():
    if not os.path.exists(LOOP):
        source = Path(LOOP + ".c")
        source.write_text("int main(void) { volatile int i; for (i = 0; i < 20000000; i++); return 0; }\n")
        sh(CC, "-O1", "-static", "-o", LOOP, str(source))
    return LOOP


def one(before, *words):
    r = subprocess.run([*before, TARE, *words], capture_output=True, text=True, timeout=200, cwd=ROOM.name, stdin=subprocess.DEVNULL)
    true(r.returncode < 126, f"{words}: {r.returncode} {r.stderr}")
    return r.returncode, r.stdout + r.stderr


def tried(before):
    """What each column's command does there: yes, or its message."""
    data = f"{ROOM.name}/{len(os.listdir(ROOM.name))}.data"
    status, text = one(before, "stat", "--engine", "exact", "-e", "instructions:u", "--", program())
    yield bool(re.search(r"^ +[\d,]+ +instructions:u +exact", text, re.M)) and status == 0, text
    status, text = one(before, "compare", "-r", "1", "--", program(), ":::", program())
    yield bool(re.search(r"^same: [\d,]+ instructions", text)) and status == 0, text
    status, text = one(before, "record", "-o", data, "--", program())
    if status == 0:
        report = one(before, "report", "-i", data)
        yield "main" in report[1] and report[0] == 0, report[1]
    else:
        yield False, text
    status, text = one(before, "stat", "-e", "task-clock", "--", program())
    yield bool(re.search(r"^ +[\d.,]+ +m?s +task-clock +counted", text, re.M)) and status == 0, text


def rows():
    """The table's rows: first cell -> the others."""
    found = {}
    for line in Path(PAGE).read_text().splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if cells[0] in PLACES and len(cells) == 2 + len(COLUMNS):
            found[cells[0]] = cells[1:]
    return found


def the_table_has_each_place():
    equal(sorted(rows()), sorted(PLACES), "rows")


test(the_table_has_each_place)


def place(name):
    before, needs_root = PLACES[name]

    def check():
        if needs_root and not ROOT:
            skip("needs root")
        r = subprocess.run([*before, "true"], capture_output=True, text=True, timeout=60)
        if r.returncode:
            skip(f"cannot be made here: {r.stderr.strip()[:80]}")
        if "PMU" in sh(TARE, "doctor", status=None).stdout.splitlines()[0] and "no PMU" not in sh(TARE, "doctor", status=None).stdout:
            skip("this machine has a PMU, the table is for machines without one")
        *cells, remedy = rows()[name]
        for column, cell, (works, text) in zip(COLUMNS, cells, tried(before)):
            equal("yes" if works else "no", cell, f"{column}: {text}")
            command = re.search(r"`(mount [^`]*)`", remedy)
            true(works or not command or command[1] in text, f"{column}: the remedy is in the message: {text}")
    check.__name__ = re.sub(r"\W+", "_", name)
    return check


for name in PLACES:
    test(place(name))
main()
