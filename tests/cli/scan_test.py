# SPDX-License-Identifier: MIT
"""tare scan as a user runs it. Where there is no core PMU (most machines that run this) it says so; what it finds: tests/guest.

usage: scan_test.py TARE SCHEMA
"""
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, SCHEMA = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
ROOM = tempfile.TemporaryDirectory()
ENV = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | {"HOME": ROOM.name}


def scan(*words, status=0):
    r = subprocess.run([TARE, "scan", *words], capture_output=True, text=True, timeout=100, env=ENV)
    if status is not None:
        equal(r.returncode, status, f"{words}: {r.stderr}")
    return r


def need_pmu():
    r = scan("--selectors", "0", status=None)
    if r.returncode == 125 and "core PMU" in r.stderr:
        true("nothing to scan" in r.stderr and "tare doctor" in r.stderr, r.stderr)
        skip("this machine shows no core PMU")
    if r.returncode == 125:
        skip(r.stderr.strip())


@test
def bad_words():
    for words, what in ((["--selectors", "x"], "not a range of event selectors"), (["--selectors", "5-3"], "not a range"), (["--selectors", ""], "are expected"),
                        (["--selectors", "0-0x10000"], "not a range"), (["--selectors", ",".join("1" * 17)], "more than 16 ranges"), (["--format", "xml"], "text, json or csv"),
                        (["--state", ""], "a name is expected"), (["--selektors", "1"], "--selectors")):
        r = scan(*words, status=125)
        true(what in r.stderr and r.stderr.count("\n") <= 2, r.stderr)


@test
def one_scan_at_a_time():
    """A second one on the same state is refused; once the first has gone it is not."""
    state = Path(ROOM.name, "busy", "one.state")
    state.parent.mkdir()
    with open(f"{state}.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for words in ((), ("--fresh",), ("--kernel",)):
            r = scan("--selectors", "0", "--state", str(state), *words, status=125)
            equal(r.stderr, f"tare scan: another tare process is writing {state}\n", "in words")
    r = scan("--selectors", "0", "--state", str(state), status=None)
    true("another tare" not in r.stderr, r.stderr)


@test
def a_document_of_its_schema():
    need_pmu()
    d = json.loads(scan("--selectors", "0-0x3f", "--format", "json").stdout)
    validated(d, SCHEMA)
    true(len(d["events"]) >= 64, "tried")


@test
def stopped_and_gone_on_with():
    need_pmu()
    state = Path(ROOM.name, "one.state")
    p = subprocess.Popen([TARE, "scan", "--selectors", "0-0xff", "--state", state, "--fresh"], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    said = p.stderr.read()
    true(p.wait(60) in (0, 130), said)
    true(state.read_text().endswith("end\n"), "whole")
    scan("--selectors", "0-0xff", "--state", state)


@test
def what_was_kept_is_listed():
    """A table where tare scan would keep it, of this machine's PMU; without one nothing is read."""
    need_pmu()
    scan("--selectors", "0-0x3f")
    r = subprocess.run([TARE, "events", "scan."], capture_output=True, text=True, env=ENV, timeout=60)
    true("scan.0x" in r.stdout or r.returncode == 125, r.stdout)


main()
