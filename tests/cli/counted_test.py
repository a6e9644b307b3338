# SPDX-License-Identifier: MIT
"""What the exact engine counted at each instruction, in reports of its recordings: against functions whose counts are known by
construction, and against totals.

usage: counted_test.py TARE SCHEMA CC
"""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import refused_by_the_engine, validated  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "PAGER": "cat", "HOME": ROOM.name, "DEBUGINFOD_URLS": "", "COLUMNS": "200"}

# Visits of 10 * 21 + 1 instructions with 10 + 1 branches, of which 9 + 1 are taken; and of 50 * 4 + 1 with 50 * 3 + 1, taken but one.
# `once` runs once, between two periods: no sample is in it. `on` falls through into `behind`, in one block.
FUNCTIONS = r"""
__asm__(".text\n"
    ".globl few\n.type few,@function\nfew: mov $10, %edi\n1:\n.rept 19\nnop\n.endr\ndec %edi\njnz 1b\nret\n.size few,.-few\n"
    ".globl many\n.type many,@function\nmany: mov $50, %edi\n1: dec %edi\njmp 2f\n2: jmp 3f\n3: jnz 1b\nret\n.size many,.-many\n"
    ".globl once\n.type once,@function\nonce: nop\nnop\nnop\njmp 1f\n1: ret\n.size once,.-once\n"
    ".globl on\n.type on,@function\non: nop\nnop\nnop\n.size on,.-on\n"
    ".globl behind\n.type behind,@function\nbehind: nop\nret\n.size behind,.-behind\n");
void few(void), many(void), once(void), on(void), behind(void);
int main(void) { once(); for (int i = 0; i < 20000; i++) { few(); many(); on(); } behind(); return 0; }
"""
TRUTH = {  # instructions, branches, taken
    "few": (20000 * 212, 20000 * 11, 20000 * 10),
    "many": (20000 * 202, 20000 * 151, 20000 * 150),
    "once": (5, 2, 2),
    "on": (20000 * 3, 0, 0),
    "behind": (20001 * 2, 20001, 20001),
}
# mov ecx, 50000; 1: dec ecx; jnz 1b; ret: in memory that the program has written.
WRITTEN = r"""
#include <string.h>
#include <sys/mman.h>
int main(void) {
    static const unsigned char code[] = { 0xb9, 0x50, 0xc3, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
    void *at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(at, code, sizeof code);
    for (int i = 0; i < 20; i++) ((void (*)(void))at)();
    return 0;
}
"""
BOTH = "exact/branches/ / exact/instructions/"


def sh(*words, **options):
    return subprocess.run(words, capture_output=True, timeout=200, env=ENV, text=True, **options)


def compiled(name, source, *options):
    out = str(Path(ROOM.name, name))
    if not os.path.exists(out):
        subprocess.run([CC, "-O1", "-g", "-x", "c", "-", "-o", out, *options], input=source, text=True, check=True)
    return out


def recorded(name, *words, events="{exact/instructions/,exact/branches/}:S", period="10007"):
    path = str(Path(ROOM.name, name))
    if sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")
    if not os.path.exists(path):
        sh(TARE, "record", "-q", "--engine", "exact", "-e", events, "-c", period, "-o", path, "--", *words)
    true(os.path.exists(path), f"{name} is recorded")
    return path


def functions(name="functions.data", **options):
    return recorded(name, compiled("functions", FUNCTIONS), **options)


def report(*words):
    r = sh(TARE, "report", *words)
    equal(r.returncode, 0, r.stderr)
    return r.stdout


def document(*words):
    d = json.loads(report("--format", "json", *words))
    validated(d, SCHEMA)
    return d


def by_function(d, what="self"):
    return {r["function"]: tuple(e[what] for e in r["events"]) for r in d["rows"]}


@test
def each_function_has_what_was_counted_in_it():
    d = document("--ratio", BOTH, functions())
    of = by_function(d)
    for name, truth in TRUTH.items():
        row = next(r for r in d["rows"] if r["function"] == name)
        equal(of[name], truth[:2], name)
        equal(row["ratio"], truth[1] / truth[0], f"{name}: branches an instruction")
        equal([(e["exact"], e["margin"]) for e in row["events"]], [(True, 0), (True, 0)], name)
    for i, event in enumerate(d["events"]):
        equal((event["exact"], event["amount"]), (True, event["total"]), "all that was counted")
        equal(sum(r["events"][i]["self"] for r in d["rows"]), event["total"], "rows are all of it")
    equal((d["ratio_mixed"], d["by_samples_as"]), (False, None))
    equal(by_function(d, "samples")["once"], (0, 0), "no sample is in it")


@test
def taken_branches_are_counted_too():
    d = document(functions("taken.data", events="{exact/instructions/,exact/taken-branches/,exact/branches/}:S"))
    of = by_function(d)
    for name, (instructions, branches, taken) in TRUTH.items():
        equal(of[name], (instructions, taken, branches), name)
    of = by_function(document(functions("first.data", events="{exact/branches/,exact/instructions/}:S", period="5003")))
    for name, (instructions, branches, taken) in TRUTH.items():
        equal(of[name], (branches, instructions), f"{name}, by samples of branches")


@test
def events_that_are_sampled_each_by_itself():
    events = "exact/instructions/,exact/branches/"
    for name, period in ("apart.data", "10007"), ("apart-none.data", "1000000000"):
        d = document(functions(name, events=events, period=period))
        of = by_function(d)
        equal({f: of[f] for f in TRUTH}, {f: t[:2] for f, t in TRUTH.items()}, name)
        equal([(e["exact"], e["read_with_another"], e["mixed"]) for e in d["events"]], [(True, False, False)] * 2, name)


@test
def text_csv_and_folded_have_the_same():
    path = functions()
    text = report("--ratio", BOTH, "-n", "0", path)
    true("\n Amounts are exact: the engine counted every instruction.\n" in text, text)
    rows = {r["function"]: r for r in csv.DictReader(io.StringIO(report("--format", "csv", "--ratio", BOTH, path)))}
    folded = {line.split()[0].split(";")[-1]: float(line.split()[-1]) for line in report("--folded", "--ratio", BOTH, path).splitlines() if not line.endswith("-")}
    for name, (instructions, branches, taken) in TRUTH.items():
        line = next(w for w in (line.split() for line in text.splitlines()) if w and w[-1] == name)
        true(f"{instructions:,}" in line and f"{branches:,}" in line, f"{name}: {line}")
        equal(int(rows[name]["exact/instructions/ self"]), instructions, name)
        equal(float(rows[name][BOTH]), branches / instructions, name)
        equal(folded[name], float(f"{branches / instructions:g}"), f"{name}: folded")


@test
def a_period_longer_than_the_program():
    d = document(functions("none.data", period="1000000000"))
    equal([e["samples"] for e in d["events"]], [0, 0])
    of = by_function(d)
    equal({f: of[f] for f in TRUTH}, {f: t[:2] for f, t in TRUTH.items()})


@test
def lines_and_addresses_too():
    path = functions()
    d = document("--sort", "function,address", path)
    for name, truth in TRUTH.items():
        of = [tuple(e["self"] for e in r["events"]) for r in d["rows"] if r["function"] == name]
        equal(tuple(map(sum, zip(*of))), truth[:2], name)
    many = sorted((r["address"], *(e["self"] for e in r["events"])) for r in d["rows"] if r["function"] == "many")
    equal([m[1:] for m in many], [(20000, 0), (10**6, 0), (10**6, 10**6), (10**6, 10**6), (10**6, 10**6), (20000, 20000)], "instruction by instruction")
    d = document("--sort", "line", path)
    equal(sum(r["events"][0]["self"] for r in d["rows"]), d["events"][0]["total"])


def annotated(function, *words):
    r = sh(TARE, "annotate", "--format", "json", function, *words)
    equal(r.returncode, 0, r.stderr)
    d = json.loads(r.stdout)
    validated(d, Path(SCHEMA).with_name("tare-annotate-1.json"))
    return d


@test
def annotate_shows_what_was_counted_at_each_instruction():
    path = functions("annotated.data", events="{exact/instructions/,exact/branches/,exact/taken-branches/}:S")
    turn, visit = 10**6, 20000
    d = annotated("many", path)
    equal([i["amounts"] for i in d["instructions"]],
          [[visit, 0, 0], [turn, 0, 0], [turn] * 3, [turn] * 3, [turn, turn, turn - visit], [visit] * 3], "many")
    equal([(e["quality"], e["here"]) for e in d["events"]], [("exact", n) for n in TRUTH["many"]])
    for name in ("once", "behind"):
        equal([e["here"] for e in annotated(name, path)["events"]], list(TRUTH[name]), name)
    text = sh(TARE, "annotate", "many", path).stdout
    true("of all: every execution was counted" in text and "share" in text and "mean little" not in text, text)
    d = annotated("many", "--filter", "comm=*", path)
    equal([e["quality"] for e in d["events"]], ["sampled"] * 3)
    true(d["by_samples_as"] and "although the recording has exact counts" in sh(TARE, "annotate", "--filter", "comm=*", "many", path).stdout, "said")
    command = annotated("many", "--", compiled("functions", FUNCTIONS))
    equal([i["amounts"][0] for i in command["instructions"]], [visit, turn, turn, turn, turn, visit], "as the profile of a command has it")


@test
def callers_are_by_samples_and_keep_the_sum():
    path = recorded("callers.data", compiled("functions", FUNCTIONS))
    subprocess.run([TARE, "record", "-q", "--engine", "exact", "-g", "-e", "{exact/instructions/,exact/branches/}:S", "-c", "10007", "-o", path,
                    "--", compiled("functions", FUNCTIONS)], env=ENV, check=True, capture_output=True)
    d = document(path)
    of = by_function(d)
    equal({f: of[f] for f in TRUTH}, {f: t[:2] for f, t in TRUTH.items()})
    text = report(path)
    true("; with callees they are from samples" in text and "A share of 10 % from samples is known to" in text, text)


@test
def differences_are_to_the_event():
    source = "%s int main(void) { return work(2000000) + turns(%d); }"
    functions = "".join('__attribute__((noinline)) int %s(int n) { __asm__ volatile("1: dec %%0; jnz 1b" : "+r"(n)); return n; }' % f for f in ("work", "turns"))
    paths = []
    for turns in 1000000, 1030000:
        folder = Path(ROOM.name, str(turns))
        folder.mkdir()
        subprocess.run([CC, "-O1", "-x", "c", "-", "-o", str(folder / "program")], input=source % (functions, turns), text=True, check=True)
        paths.append(recorded(f"{turns}.data", str(folder / "program"), events="exact/instructions/"))
    truth = [by_function(document(p))["turns"][0] for p in paths]
    equal(truth[1] - truth[0], 60000, "two instructions a turn")
    for words, before, after in ([], *truth), (["--normalise"], *truth):
        d = json.loads(report("--format", "json", *words, "--diff", *paths))
        validated(d, SCHEMA.replace("tare-report-1", "tare-report-diff-1"))
        self = next(r for r in d["rows"] if r["function"] == "turns")["self"]
        equal([self[k] for k in ("before", "after", "half_95", "p", "beyond", "exact")], [before, after, 0, 0, True, True], words)
        equal({r["self"]["exact"] for r in d["rows"]} | {d["before"]["exact"], d["after"]["exact"]}, {True})
    text = report("--diff", *paths)
    line = next(w for w in map(str.split, text.splitlines()) if w and w[-1] == "turns")
    equal(line[:4], [f"{truth[0]:,}", f"{truth[1]:,}", "+60,000", "more"], text)
    true("±" not in text and "noise" not in text and "Amounts are exact: the engine counted every instruction." in text, text)
    row = next(r for r in csv.DictReader(io.StringIO(report("--format", "csv", "--diff", *paths))) if r["function"] == "turns")
    equal([float(row[k]) for k in ("self before", "self after", "self change", "self half_95")], [*truth, 60000, 0])
    text = report("--filter", "comm=*", "--diff", *paths)
    true("although the recording has exact amounts: filters" in text and "±" in text, text)


@test
def processes_that_are_not_in_a_recording_are_named():
    path, program = str(Path(ROOM.name, "partial.data")), compiled("functions", FUNCTIONS)
    r = sh(TARE, "record", "--engine", "exact", "-o", path, "--", "sh", "-c", f"{program}; {refused_by_the_engine(Path(ROOM.name, 'far'))}; exit 3")
    if not os.path.exists(path):
        skip("no exact engine here")
    said = next(line.strip() for line in r.stderr.splitlines() if line.startswith("  Without far, process "))
    schemas = Path(SCHEMA).parent
    for words, schema, times, of in ((["report", path], "report", 1, lambda d: [d["quality"]]), (["annotate", "many", path], "annotate", 1, lambda d: [d]),
                                     (["report", "--diff", path, path], "report-diff", 2, lambda d: [d["before"], d["after"]])):
        equal(sh(TARE, *words).stdout.count(said), times, words)
        r = sh(TARE, *words, "--format", "csv")
        equal((r.returncode, r.stderr.count(f"tare {words[0]}: {path}: {said}\n")), (0, times), f"{words}: {r.stderr}")
        d = json.loads(sh(TARE, *words, "--format", "json").stdout)
        validated(d, str(schemas / f"tare-{schema}-1.json"))
        for part in of(d):
            equal([part["without_processes"], *((p["comm"], p["ended_by_engine"]) for p in part["uncounted_processes"])], [1, ("far", True)])
    r = sh(TARE, "report", "--folded", path)
    true(said in r.stderr and said not in r.stdout, r.stderr)
    true("Without" not in report(functions()) and "without_processes" not in document(functions())["quality"], "all are there")


@test
def callers_have_what_the_table_has():
    path = recorded("callers-of.data", compiled("functions", FUNCTIONS))
    subprocess.run([TARE, "record", "-q", "--engine", "exact", "-g", "-e", "{exact/instructions/,exact/branches/}:S", "-c", "10007", "-o", path,
                    "--", compiled("functions", FUNCTIONS)], env=ENV, check=True, capture_output=True)
    rows = {r["function"]: r["events"][0] for r in document(path)["rows"]}
    table = report("-n", "0", path)
    for name in TRUTH:
        d = document("--callers", name, path)
        equal((d["function"]["self"], d["function"]["total"], d["function"]["self_exact"]), (rows[name]["self"], rows[name]["total"], True), name)
        line = next(w for w in map(str.split, table.splitlines()) if w and w[-1] == name)
        text = report("--callers", name, path)
        true(f" {name}: {line[2]} % of exact/instructions/, {line[0]} % in itself" in text, f"{line}: {text}")
    true("Amounts are exact: the engine counted every instruction; with callees they are from samples." in text, text)
    by_samples = document("--callers", "many", "--filter", "comm=*", path)
    true(by_samples["by_samples_as"] and not by_samples["function"]["self_exact"], by_samples["function"])


@test
def samples_where_rows_are_by_what_was_not_counted():
    path = functions()
    for words in (["--filter", "comm=*"], ["--filter", "pid=1"], ["--filter", "from=0.001"]):
        d = document(*words, path)
        true(d["by_samples_as"] and not any(e["exact"] for e in d["events"]), f"{words}: {d['events']}")
    true("Amounts are from samples, although the recording has exact amounts: filters" in report("--filter", "comm=*", path), "said")
    equal(document("--sort", "comm,tid,function", path)["by_samples_as"], None, "there is one alone")
    two = recorded("two.data", "sh", "-c", f"{compiled('functions', FUNCTIONS)}; true | cat")
    d = document(two)
    equal(by_function(d)["many"], TRUTH["many"][:2], "of all commands")
    equal("comm" in d["keys"], False)
    for keys in ("comm,function", "pid,function", "tid"):
        true(document("--sort", keys, two)["by_samples_as"], keys)
    true("--sort module,function has exact amounts" in report("--sort", "comm", two), "the remedy")


@test
def code_in_no_file_has_a_row_of_its_own():
    program, turns = compiled("written", WRITTEN), 20 * (2 * 50000 + 2)
    d = document("--ratio", BOTH, recorded("written.data", program, period="1000000000"))
    row = next(r for r in d["rows"] if not r["code"])
    equal([e["self"] for e in row["events"]], [turns, 20 * 50001])
    equal(sum(r["events"][0]["self"] for r in d["rows"]), d["events"][0]["total"])
    d = document("--ratio", BOTH, recorded("written-sampled.data", program))
    rows = [r for r in d["rows"] if not r["events"][0]["exact"]]
    equal(sum(r["events"][0]["self"] for r in rows), turns, "spread over its samples")
    true(all(r["events"][0]["margin"] > 0 for r in rows) and len(rows) < len(d["rows"]), "and said to be by them")
    text = report(recorded("written-sampled.data", program))
    true("Amounts are exact: the engine counted every instruction of code in files; amounts of other code are from samples" in text, text)
    gone = compiled("gone", FUNCTIONS)
    path = recorded("gone.data", "sh", "-c", f"{gone}; rm {gone}")
    d = document(path)
    true(any(not r["events"][0]["exact"] for r in d["rows"]), "a file that is gone when the recording ends")
    equal(sum(r["events"][0]["self"] for r in d["rows"]), d["events"][0]["total"])


@test
def threads_forks_and_signals_add_up():
    python = shutil.which("python3")
    script = ("import os, signal, threading\n"
              "signal.signal(signal.SIGALRM, lambda *a: None); signal.setitimer(signal.ITIMER_REAL, .001, .001)\n"
              "t = [threading.Thread(target=lambda: sum(range(20000))) for i in range(4)]\n"
              "[x.start() for x in t]; [x.join() for x in t]\n"
              "p = os.fork()\nif not p: os._exit(sum(i * i for i in range(5000)) & 0)\nos.waitpid(p, 0)\n")
    d = document(recorded("python.data", python, "-c", script, period="100003"))
    for i, event in enumerate(d["events"]):
        equal((event["exact"], event["amount"]), (True, event["total"]))
        equal(sum(r["events"][i]["self"] for r in d["rows"]), event["total"], "rows are all of it")


@test
def perf_reads_it():
    if not shutil.which("perf"):
        skip("no perf")
    path = functions()
    r = sh("perf", "script", "-i", path)
    equal(r.returncode, 0, r.stderr)
    equal(len(r.stdout.splitlines()) >= document(path)["events"][0]["samples"], True, "all samples")


main()
