# SPDX-License-Identifier: MIT
"""Progress with the time left: on a terminal only, and taken away before the result.

usage: progress_test.py TARE
"""
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
os.chdir(ROOM.name)
os.environ.update(LC_ALL="C.UTF-8", XDG_STATE_HOME=ROOM.name, COLUMNS="120")
# Long enough for a second line: the first comes at once, others a tenth of a second later at the earliest.
NAP = ["sleep", "0.12"]
LEFT = r", about \d+ s left"
CLEARED = "\r\x1b[K"


def on_a_terminal(*words, both=False):
    """What it writes to a terminal, which is its standard error (and output); its exit status."""
    ours, terminal = pty.openpty()
    p = subprocess.Popen([TARE, *words], stdin=subprocess.DEVNULL, stdout=terminal if both else subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return said.decode(), p.wait(100)


def shown(said, name):
    """The lines of progress, and the text after the last."""
    lines = re.findall(rf"\rtare {name}: ([^\r\x1b]*)\x1b\[K", said)
    return lines, said.rpartition(CLEARED)[2]


def need_exact():
    if subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode:
        skip("no exact engine here")


def nothing_elsewhere(*words):
    r = subprocess.run([TARE, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
    true("\r" not in r.stderr and " left" not in r.stderr and "run 1" not in r.stderr, f"{words}: {r.stderr}")


@test
def stat_of_several_runs():
    words = ("stat", "-r", "3", "-e", "page-faults", "--")
    lines, behind = shown(on_a_terminal(*words, *NAP)[0], "stat")
    equal([re.sub(r"about \d+ s", "about N s", line) for line in lines], ["run 1 of 3", "run 2 of 3, about N s left", "run 3 of 3, about N s left"])
    true("page-faults" in behind and "median of 3 runs" in behind, behind)
    said, _ = on_a_terminal(*words, "echo", "words of the command", both=True)
    equal((said.count("tare stat: run 1 of 3\r\n"), said.count("words of the command\r\n"), said.count("\x1b[K")), (1, 3, 0), "a line of its own where the command writes")
    for quiet in (("stat", "-e", "page-faults", "--"), ("stat", "-q", *words[1:]), ("stat", "-I", "20", "-r", "1", "-e", "page-faults", "--")):
        true("run 1" not in on_a_terminal(*quiet, *NAP)[0], f"{quiet}")
    nothing_elsewhere(*words, *NAP)


@test
def runs_of_several_rounds_are_all_counted():
    need_exact()
    lines, _ = shown(on_a_terminal("stat", "-r", "2", "--clean-times", "-e", "instructions:u,page-faults", "--", *NAP)[0], "stat")
    equal(len(lines), 4, str(lines))
    true(all(line.startswith(f"run {i} of 4") for i, line in enumerate(lines, 1)), str(lines))


@test
def verify_of_events():
    said, _ = on_a_terminal("verify", "--no-store", "-e", "page-faults:u,minor-faults:u", both=True)
    lines, behind = shown(said, "verify")
    equal(lines[0], "event 1 of 2: page-faults:u")
    true("page-faults:u" in behind, behind)
    nothing_elsewhere("verify", "--no-store", "-e", "page-faults:u")


@test
def verify_launch_and_diverge():
    need_exact()
    lines, behind = shown(on_a_terminal("verify", "launch", "-r", "2", "--deterministic=aslr,seeds", "--", *NAP, both=True)[0], "verify launch")
    equal(lines[0], "run 1 of 6")
    true(all(re.fullmatch(rf"run \d of 6(, without \w+)?{LEFT}", line) for line in lines[1:]) and "run 6 of 6, without seeds" in lines[-1], str(lines))
    true("without" in behind and "spread" in behind, behind)
    lines, behind = shown(on_a_terminal("diverge", "-r", "3", "--", *NAP, both=True)[0], "diverge")
    equal(lines[0], "run 1 of 3 if all take the same path")
    true(len(lines) >= 3 and re.fullmatch(rf"run 3 of 3 if all take the same path{LEFT}", lines[2]), str(lines))
    true("sleep" in behind, behind)
    lines, _ = shown(on_a_terminal("diverge", "--", *NAP)[0], "diverge")
    equal(lines[0], "run 1 of 6 if all take the same path")
    nothing_elsewhere("diverge", "-r", "3", "--", "true")


@test
def bench_of_many_runs():
    said, status = on_a_terminal("bench", "--engine", "clock", "--runs", "20", "--baselines", "5", "--include", "time.h",
                                 "--c", "nanosleep(&(struct timespec){ 0, 20000000 }, NULL)", both=True)
    lines, behind = shown(said, "bench")
    equal(status, 0, said)
    true(lines and all(re.fullmatch(rf"\d+ % of the runs({LEFT})?", line) for line in lines), str(lines))
    true(" left" not in lines[0] and any(" left" in line for line in lines[1:]), str(lines))
    true("nanosleep" in behind or "tsc" in behind or "cntvct" in behind, behind)
    nothing_elsewhere("bench", "--engine", "clock", "--runs", "5", "--asm", "nop")


main()
