# SPDX-License-Identifier: MIT
"""`tare diverge` on a program with planted causes, and on real ones that repeat.

usage: diverge_test.py TARE NOISY SCHEMAS     (NOISY: tests/programs/noisy)
"""
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh, validated  # noqa: E402

TARE, NOISY, SCHEMAS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), Path(sys.argv[3])


def diverge(*words, tries=3):
    """The document, checked; again where the place moved, as it may on a busy machine."""
    for _ in range(tries):
        r = sh(TARE, "diverge", "--format", "json", *words, status=None)
        true(r.stdout, r.stderr)
        d = json.loads(r.stdout)
        equal(r.returncode, 0 if d["verdict"] == "same" else 1, "status")
        if d["verdict"] not in ("moves", "settled"):
            break
    validated(d, SCHEMAS / "tare-diverge-1.json")
    return d


def without(item):
    return f"--deterministic=-{item}"


@test
def the_same_way():
    d = diverge("--", NOISY, "none")
    equal((d["verdict"], d["pairs"], d["output_differs"]), ("same", 1, False), "verdict")
    equal(d["instructions_min"], d["instructions_max"], "instructions")
    counted = json.loads(sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--deterministic", "--format", "json", "-o", "-", "--", NOISY,
                            "none", status=0).stdout)
    equal(counted["events"][0]["value"], d["instructions_max"], "as many as stat counts")
    text = sh(TARE, "diverge", "--", NOISY, "none", status=0).stdout
    true("Two runs went the same way" in text and "1 thread." in text, text)


# cause, what must not be fixed for it, what it is called, and the call it came by
PLANTED = (("clock", "seeds", "system-call-memory", "clock_gettime"), ("clock", "vdso", "ticks", None), ("ticks", "seeds", "ticks", None),
           ("random", "random", "system-call-memory", "getrandom"), ("urandom", "random", "system-call-memory", "read"),
           ("at-random", "random", "startup", None), ("child", "seeds", "system-call-memory", "wait4"), ("signal", "seeds", "signal", None))


@test
def each_planted_cause_is_found_where_it_is():
    for cause, item, kind, call in PLANTED:
        for _ in range(4):  # two runs may be given the same by chance
            d = diverge(without(item), "--", NOISY, cause)
            if d["verdict"] == "parted":
                break
        what = f"{cause}: {json.dumps(d)[:1500]}"
        equal(d["verdict"], "parted", what)
        # A clock of a virtual machine may be the hypervisor's page in place of rdtsc.
        true(d["cause"]["kind"] in ((kind, "clock-page") if item == "vdso" else (kind,)), what)
        equal(d["cause"].get("call"), call, what)
        if cause != "signal":
            equal(d["at"]["function"], "spin", what)
            true(d["at"]["file"].endswith("noisy.c") and d["at"]["line"] > 0 and d["at"]["instruction"].startswith("j"), what)
            equal(d["callers"][0]["function"], "main", what)
            true(d["next"][0]["pc"] != d["next"][1]["pc"], what)
            values = d["cause"]["values"]
            true(values[0] != values[1], what)
        else:
            true("count_signal" in [n["function"] for n in d["next"] if n], what)


@test
def what_came_in_long_before_is_not_made_up():
    d = diverge("--", NOISY, "late")
    if d["verdict"] == "same":
        skip("two clocks were the same")
    equal((d["cause"]["kind"], "call" in d["cause"]), ("before", False), str(d["cause"]))


@test
def for_people():
    text = sh(TARE, "diverge", "--", NOISY, "ticks", status=1).stdout
    for words in ("They part at instruction", "of thread 1 (noisy):", "spin+0x", "noisy.c:", "run 1 goes on at", "run 2 goes on at", "called from\n   main+",
                  "What differed: the processor's clock (rdtsc)", "in one run,", "Fixed in each run: aslr"):
        true(words in text, f"{words!r} in {text}")


@test
def what_the_first_run_leaves_behind_is_no_cause():
    d = diverge("--", "sh", "-c", "[ -e left ] || echo > left", tries=1)
    equal(d["verdict"], "settled", str(d)[:800])


@test
def processes_in_another_order():
    sh("sh", "-c", "rm -f turn")
    d = diverge("--", "sh", "-c", "if [ -e turn ]; then rm turn; cat /dev/null; else : > turn; ls -d /; fi", tries=1)
    true(d["verdict"] == "parted" and d["output_differs"], str(d)[:800])


@test
def checkpoints_further_apart_find_the_same():
    near = diverge("--every", "100", without("random"), "--", NOISY, "at-random")
    far = diverge("--every", "100M", without("random"), "--", NOISY, "at-random")
    for d in (near, far):
        if d["verdict"] != "same":
            equal((d["verdict"], d["at"]["function"]), ("parted", "spin"), str(d)[:800])


@test
def real_programs_repeat():
    programs = {
        "perl": ["-e", "my %h = map { $_ => 1 } 1..1000; print join(',', keys %h), rand(), $$"],
        "git": ["--version"],
        "sqlite3": [":memory:", "select hex(randomblob(16)), count(*) from sqlite_master"],
        "gcc": ["-x", "c", "-S", "-o", "-", "-"],
        sys.executable: ["-S", "-c", "import json, re; print(hash('x'), json.dumps({1: [2]}), re.sub('a', 'b', 'banana'))"],
    }
    any_there = False
    for name, words in programs.items():
        if not shutil.which(name):
            print(f"# {name} is not installed")
            continue
        any_there = True
        d = diverge("--", name, *words, tries=2)
        if d["not_fixed"]:
            print(f"# {name}: {d['not_fixed']}")
            continue
        equal((d["verdict"], d["output_differs"]), ("same", False), f"{name}: {json.dumps(d)[:1500]}")
    if not any_there:
        skip("none of them is installed")


@test
def a_program_whose_threads_race_is_told_truly():
    """It repeats, or what is named is of another thread, a clock or a signal: nothing that an item has fixed."""
    if not shutil.which("node"):
        skip("node is not installed")
    d = diverge("--", "node", "-e", "console.log(1)", tries=2)
    true(d["verdict"] in ("same", "parted", "moves", "settled"), str(d)[:800])
    if d["verdict"] == "parted":
        true(d["at"]["module"] and d["cause"]["kind"] not in ("rdrand", "startup", "cpuid") and "getrandom" not in d["cause"].get("call", ""), json.dumps(d)[:1500])


@test
def bad_input():
    for words, what in (([], "which command?"), (["--deterministic=none", "true"], "part at once"), (["--deterministic=-aslr", "true"], "part at once"),
                        (["--every", "10", "true"], "100 to 1G"), (["--every", "x", "true"], "x"), (["--format", "xml", "true"], "text or json"),
                        (["--timeout", "0", "true"], "above 0"), (["--timeout", "300", "sleep", "100"], "did not end within --timeout"),
                        (["-o", "/nowhere/x", "true"], "/nowhere/x")):
        r = sh(TARE, "diverge", *words, status=125)
        true(what in r.stderr and r.stderr.count("\n") <= 2, r.stderr)
    sh(TARE, "diverge", "./nothing", status=127)
    sh(TARE, "diverge", ROOM.name, status=126)


main()
