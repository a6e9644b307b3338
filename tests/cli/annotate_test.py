# SPDX-License-Identifier: MIT
"""`tare annotate` as a user runs it: samples of Debian's perf, exact executions, objdump as the judge of instructions.

usage: annotate_test.py TARE SCHEMA CC EXACT(yes|no)
"""
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, SCHEMA, CC, EXACT = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "yes"
SOURCE = Path(__file__).resolve().parent / "report" / "stacks.c"
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": ROOM.name, "DEBUGINFOD_URLS": ""}
ROUNDS = 4000  # of deep() in main()


def sh(*words, **options):
    return subprocess.run(words, capture_output=True, timeout=100, **{"env": ENV, **options})


def program():
    out = os.path.join(ROOM.name, "prog")
    if not os.path.exists(out):
        r = sh(CC, "-g", "-O1", "-fno-optimize-sibling-calls", str(SOURCE), "-o", out, "-lpthread")
        true(r.returncode == 0, r.stderr.decode())
    return out


def recording():
    path = os.path.join(ROOM.name, "perf.data")
    if not os.path.exists(path):
        r = sh("perf", "record", "-q", "--no-bpf-event", "-e", "cpu-clock:u", "-F", "4000", "-o", path, "--", program())
        true(r.returncode == 0, r.stderr.decode())
    return path


def annotate(*words, status=0):
    r = sh(TARE, "annotate", *words)
    equal(r.returncode, status, f"exit status of {words}; {r.stderr.decode()[:400]}")
    return r.stdout.decode()


def document(*words, status=0):
    d = json.loads(annotate("--format", "json", *words, status=status))
    validated(d, SCHEMA)
    if d["no_instructions"] and "apstone" in d["no_instructions"]:
        skip("this build has no Capstone")
    return d


def by_objdump(function):
    """Address and bytes of each instruction, and where it goes."""
    out = sh("objdump", "-d", "--no-show-raw-insn", program()).stdout.decode()
    body = re.search(rf"^[0-9a-f]+ <{function}>:\n(.*?)\n\n", out + "\n\n", re.S | re.M)[1]
    return [(int(m[1], 16), m[2]) for m in re.finditer(r"^\s+([0-9a-f]+):\t(.*)$", body, re.M)]


@test
def the_same_instructions_as_objdump():
    d = document("-i", recording(), "leaf")
    wanted = by_objdump("leaf")
    equal([int(i["address"], 16) for i in d["instructions"]], [a for a, _ in wanted], "addresses")
    if platform.machine() == "x86_64":
        # A suffix for the size of the operand is the one matter of taste.
        for i, (_, text) in zip(d["instructions"], wanted):
            mine, theirs = i["text"].split()[0], text.split()[0]
            true(mine in (theirs, *(theirs + c for c in "lqwb")), f"{i['text']}, not {text}")
    equal(d["events"][0]["here"], sum(i["amounts"][0] for i in d["instructions"]), "amounts add up")
    equal(d["events"][0]["samples"], sum(i["samples"][0] for i in d["instructions"]), "samples add up")
    true(d["events"][0]["here"] <= d["events"][0]["all"], "of all")
    true({os.path.basename(i["file"] or "") for i in d["instructions"]} == {"stacks.c"}, "source lines")


@test
def the_same_samples_as_perf():
    script = sh("perf", "script", "-i", recording(), "-F", "ip,sym", "-f").stdout.decode()
    base = {}
    for line in script.splitlines():
        ip, _, name = line.strip().partition(" ")
        if name.strip() == "leaf":
            base[int(ip, 16)] = base.get(int(ip, 16), 0) + 1
    got = {int(i["address"], 16): i["samples"][0] for i in document("-i", recording(), "leaf")["instructions"] if i["samples"][0]}
    moved = min(base) - min(got)
    equal({a - moved: n for a, n in base.items()}, got, "samples by instruction, but for where the program was loaded")
    equal(moved % 4096, 0, "which is a page")


@test
def exact_executions():
    if not EXACT:
        skip("the exact engine is for x86-64")
    d = document("outer", "--", program())
    equal(d["events"][0]["quality"], "exact", "quality")
    equal({i["amounts"][0] for i in d["instructions"]}, {ROUNDS}, "every instruction of a straight function, once per call")
    equal(d["events"][0]["here"], ROUNDS * len(d["instructions"]), "all of them")
    d = document("leaf", "--", program())
    # inner calls leaf(20000), outer leaf(10000): so often runs the loop's body.
    most = max(i["amounts"][0] for i in d["instructions"])
    equal(most, ROUNDS * 30000, "executions of the loop")
    equal(d["instructions"][0]["amounts"][0], 2 * ROUNDS, "calls")
    again = document("leaf", "--", program())
    equal([i["amounts"] for i in again["instructions"]], [i["amounts"] for i in d["instructions"]], "the same on every run")


@test
def code_without_names_is_said():
    bare = Path(program()).with_name("stripped")
    sh("strip", "-o", str(bare), program())
    data = bare.with_suffix(".data")
    sh(TARE, "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", str(data), "--", str(bare))
    r = subprocess.run([TARE, "annotate", "-i", str(data), "work"], capture_output=True, text=True)
    equal(r.returncode, 125, "exit status")
    true(re.search(r"no samples in 'work', but \d+ % are in code without names: .*stripped: ", r.stderr), r.stderr)
    true("tare report --sort module,address" in r.stderr, r.stderr)


@test
def a_command_has_its_own_status():
    if not EXACT:
        skip("the exact engine is for x86-64")
    annotate("main", "--", "sh", "-c", f"{program()} deep; exit 3", status=3)
    annotate("no_such_function", "--", "true", status=125)
    annotate("x", "--", "/no/such/command", status=125)
    annotate("x", "--", status=125)
    annotate("-i", recording(), "x", "--", "true", status=125)
    annotate("x", recording(), "--", "true", status=125)


@test
def a_command_without_counts_has_no_executions():
    if not EXACT:
        skip("the exact engine is for x86-64")
    source, steps = os.path.join(ROOM.name, "steps.c"), os.path.join(ROOM.name, "steps")
    Path(source).write_text('int main(void) { __asm__ volatile("pushf; orq $0x100, (%rsp); popf; nop"); return 0; }')
    r = sh(CC, "-g", "-O1", "-mno-red-zone", source, "-o", steps)
    true(r.returncode == 0, r.stderr.decode())
    r = sh(TARE, "annotate", "main", "--", steps)
    true(r.returncode == 125 and "sets the trap flag" in r.stderr.decode(), f"{r.returncode}: {r.stdout.decode()} {r.stderr.decode()}")


@test
def text_for_people():
    out = annotate("-i", recording(), "leaf")
    equal(annotate("leaf", recording()), out, "the file as a word")
    narrow = sh(TARE, "annotate", "leaf", recording(), env={**ENV, "COLUMNS": "80"}).stdout.decode()
    true(max(len(l) for l in narrow.split("\n\n")[1].splitlines() if "stacks.c:" not in l) <= 80 and "cpu-clock:u" in narrow, narrow)
    equal(annotate("--no-source", "leaf", recording(), "--intel"), annotate("-i", recording(), "--no-source", "--intel", "leaf"), "with options around")
    true("of cpu-clock:u in" in out and "stacks.c:" in out and " % " in out, out)
    true("x += i * i % 7;" in out, "the source's text")
    true("x += i * i % 7;" not in annotate("-i", recording(), "--no-source", "leaf"), "or not")
    true("with less" in annotate("-i", recording(), "--percent-limit", "1", "leaf"), "cold instructions stand together")
    if platform.machine() == "x86_64":
        true("%" not in "".join(re.findall(r"\s[0-9a-f]+  (\S.*)", annotate("-i", recording(), "--intel", "leaf"))), "Intel's syntax")
    csv = annotate("-i", recording(), "--format", "csv", "leaf").splitlines()
    equal(csv[0], 'address,instruction,file,line,"cpu-clock:u"', "csv")
    equal(len(csv) - 1, len(by_objdump("leaf")), "a line each")


@test
def source_lines_are_as_they_are():
    """Quotes, backslashes, tabs and length stay; what could move the cursor or turn the direction of writing is escaped."""
    if not EXACT:
        skip("the exact engine is for x86-64")
    wicked = [b'\tx += "a\\tb\\"\\x1b"[i % 3] + \'\\\\\';\t/* two\ttabs, \xc3\xa9 */', b"\tx ^= i; /* " + b"long " * 60 + b"end */",
              b"\tx -= i; /* \x1b[31m \xe2\x80\xae \xff */"]
    wanted = [wicked[0].decode(), wicked[1].decode(), "\tx -= i; /* \\x1b[31m \\xe2\\x80\\xae \\xff */"]
    source, exe = os.path.join(ROOM.name, "wicked.c"), os.path.join(ROOM.name, "wicked")
    with open(source, "wb") as f:
        f.write(b"volatile int x;\n__attribute__((noinline)) void wick(int i)\n{\n" + b"\n".join(wicked) + b"\r\n}\nint main(void) { wick(1); return 0; }\n")
    equal(sh(CC, "-g", "-O1", source, "-o", exe).returncode, 0, "compiles")
    text = sh(TARE, "annotate", "wick", "--", exe, env={**ENV, "COLUMNS": "80"}).stdout.decode()
    for line in wanted:
        true(any(l.endswith("  " + line) for l in text.splitlines()), f"{line!r} in {text}")
    d = document("wick", "--", exe)
    lines = {l["line"]: l["text"] for l in d["source_lines"]}
    equal([lines[n] for n in (4, 5)], wanted[:2], "JSON")
    true(lines[6].startswith("\tx -= i; /* \x1b[31m \u202e"), lines[6])
    equal({l["file"] for l in d["source_lines"]}, {source}, "of this file")
    equal(len(lines), len(d["source_lines"]), "each once")
    equal(document("--no-source", "wick", "--", exe)["source_lines"], [], "or none")
    os.utime(source, (2e9, 2e9))
    equal(document("wick", "--", exe)["newer_sources"], [source], "newer than the program")


@test
def few_lines_without_instructions_are_context():
    """Context: up to 8 lines between two lines with instructions; none before the first or after the last."""
    if not EXACT:
        skip("the exact engine is for x86-64")
    for few in (8, 9):
        source, exe = os.path.join(ROOM.name, "gap.c"), os.path.join(ROOM.name, "gap")
        with open(source, "w") as f:
            f.write("volatile int x;\n__attribute__((noinline)) void gap(void)\n{\n\tx = 1;\n" + "\t/* note */\n" * few +
                    "\tx = 2;\n}\nint main(void) { gap(); return 0; }\n")
        equal(sh(CC, "-g", "-O1", source, "-o", exe).returncode, 0, "compiles")
        lines = [l["line"] for l in document("gap", "--", exe)["source_lines"]]
        equal([n for n in lines if 4 <= n <= few + 5], list(range(4, few + 6)) if few == 8 else [4, few + 5], f"{few} between")
        true(lines == sorted(set(lines)) and min(lines) >= 2 and max(lines) <= few + 6, lines)


@test
def calls_name_where_they_go():
    if not EXACT:
        skip("the exact engine is for x86-64")
    targets = {i["target"] for i in document("outer", "--", program())["instructions"]} - {None}
    true({"inner", "leaf"} <= targets, targets)


@test
def of_an_inlined_function_it_says_where_it_is():
    exe, path = os.path.join(ROOM.name, "inl"), os.path.join(ROOM.name, "inl.data")
    r = sh(CC, "-g", "-O2", "-DINLINE", "-fno-omit-frame-pointer", str(SOURCE), "-o", exe, "-lpthread")
    true(r.returncode == 0, r.stderr.decode())
    sh(TARE, "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", path, "--", exe, "deep")
    r = sh(TARE, "annotate", "-i", path, "tiny")
    err = r.stderr.decode()
    true(r.returncode == 125 and "'tiny' was inlined" in err and "they are in 'leaf'" in err and "tare annotate 'leaf'" in err, err)
    for word, said in (("tiny", "'tiny' was inlined and has no instructions of its own: they are in 'leaf', which has most of its executions"), ("no_such_function", "nothing was counted")) if EXACT else ():
        r = sh(TARE, "annotate", word, "--", exe, "deep")
        true(r.returncode == 125 and said in r.stderr.decode(), f"{word}, of a command: {r.stderr.decode()}")
    true("inlined" not in sh(TARE, "annotate", "-i", path, "no_such_function").stderr.decode(), "another that is not there")


@test
def events_that_are_read_at_samples_of_another_are_mixed():
    path = os.path.join(ROOM.name, "group.data")
    r = sh(TARE, "record", "-q", "-e", "{task-clock,page-faults}:S", "-c", "200000", "-o", path, "--", program())
    if r.returncode not in (0, 5) or not os.path.exists(path):
        skip("no perf events here")
    d = json.loads(sh(TARE, "report", "--format", "json", "--sort", "function", path).stdout)
    name = next(x["function"] for x in d["rows"] if x["code"] and not x["kernel"] and x["function"] in re.findall(r"\b(\w+)\(", SOURCE.read_text()))
    equal([e["mixed"] for e in document(name, path)["events"]], [False, True])
    text = annotate(name, path)
    true("page-faults is mixed where functions are short: the counters of a group are read at each sample" in text, text)
    r = sh(TARE, "annotate", "-i", path, "--format", "csv", name)
    true("tare annotate: note: page-faults is mixed where functions are short" in str(r.stderr), r.stderr)


@test
def what_cannot_be_shown():
    annotate(status=125)
    annotate("-i", recording(), "no_such_function", status=125)
    annotate("-i", "/no/such/file", "leaf", status=125)
    annotate("-i", recording(), "leaf", "more", status=125)
    annotate("leaf", recording(), "more", status=125)
    r = sh(TARE, "annotate", "leaf", "/bin/true")
    true("a command follows --: tare annotate FUNCTION -- /bin/true" in r.stderr.decode(), r.stderr)
    annotate("-i", recording(), "-e", "cycles", "leaf", status=125)
    annotate("-i", recording(), "--percent-limit", "x", "leaf", status=125)
    # A program that has changed: no names, so no such function; and never another build's instructions.
    os.rename(program(), program() + ".old")
    try:
        r = sh(TARE, "annotate", "-i", recording(), "leaf")
        copy = os.path.join(ROOM.name, ".debug")
        true(r.returncode == 125 or os.path.isdir(copy), f"gone: {r.stdout.decode()[:300]}")
    finally:
        os.rename(os.path.join(ROOM.name, "prog.old"), os.path.join(ROOM.name, "prog"))


main()
