# SPDX-License-Identifier: MIT
"""tare compare as a user runs it.

usage: compare_test.py TARE SCHEMAS CC
"""
import copy
import html
import json
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import ROOM, ended, running, sh, validated  # noqa: E402

TARE, SCHEMA, CC = os.path.abspath(sys.argv[1]), Path(sys.argv[2]) / "tare-compare-1.json", sys.argv[3]

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) static long parse_line(long n) { long s = 0; for (long i = 0; i < n; i++) s += i * i % 7; return s; }
__attribute__((noinline)) static long helper(long n) { long s = 0; for (long i = 0; i < n; i++) s ^= i; return s; }
#ifdef EXTRA
__attribute__((noinline)) static long extra(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s ^= i; return s; }
#endif
int main(void)
{
	volatile long s = parse_line(STEPS) + helper(10000);
#ifdef EXTRA
	s += extra(EXTRA);
#endif
	(void)s;
	return puts("done") < 0;
}
"""


def built(name, *flags):
    Path(ROOM.name, "made.c").write_text(SOURCE)
    sh(CC, "-O1", "-g", *flags, "-o", name, "made.c")
    return f"./{name}"


BEFORE, AFTER = built("before", "-DSTEPS=200000"), built("after", "-DSTEPS=200020")
EXTRA = built("extra", "-DSTEPS=200000", "-DEXTRA=100")


def compare(*words, status=0, **options):
    return sh(TARE, "compare", *words, status=status, **options)


def document(*words, status=0, **options):
    return validated(compare("-j", *words, status=status, **options).stdout, SCHEMA)


def adds_up(d):
    cause, event = d["cause"], d["events"][0]
    for side in ("before", "after", "change"):
        equal(sum(f[side] for f in cause["functions"]) + cause["others"][side], cause["total"][side], f"the rows add up: {side}")
        if cause["lines"]:
            equal(sum(x[side] for x in cause["lines"]["changed"]) + cause["lines"]["others"][side], cause["functions"][0][side], f"the lines add up: {side}")
    for side in ("before", "after"):
        equal(cause["total"][side], event[side]["median"], f"to the count: {side}")
        equal(len(set(event[side]["runs"])), 1, "it repeats")


@test
def a_small_planted_change_is_found():
    """20 steps of 200,000: 0.01 %."""
    d = document("-r", "0", "--", BEFORE, ":::", AFTER, status=2)
    equal((d["verdict"], d["regression"], d["events"][0]["verdict"], d["events"][0]["compared"]), ("slower", True, "more", "equality"), "verdict")
    adds_up(d)
    f = d["cause"]["functions"][0]
    equal((f["function"], f["change"], f["module"], f["state"]), ("parse_line", d["events"][0]["change"], "after", None), "the function")
    true(d["events"][0]["change"] % 20 == 0 and d["events"][0]["percent"] < 0.02, d["events"][0])
    text = compare("-r", "0", "--", BEFORE, ":::", AFTER, status=2).stdout
    true(re.match(r"slower: 0\.0\d+ % more instructions \(exact\), in parse_line \+\d+\n\n", text), text)
    true("Not seen: the same instructions" in text, text)
    text = compare("-r", "0", "--", AFTER, ":::", BEFORE).stdout
    true(re.match(r"faster: 0\.0\d+ % fewer instructions \(exact\), in parse_line -\d+\n\n", text), text)


@test
def new_and_gone_functions():
    d = document("-r", "0", "-n", "0", "--", BEFORE, ":::", EXTRA, status=2)
    adds_up(d)
    states = {f["function"]: f["state"] for f in d["cause"]["functions"]}
    equal(states["extra"], "new", f"{states}")
    d = document("-r", "0", "-n", "1", "--", EXTRA, ":::", BEFORE)
    adds_up(d)
    equal([(f["function"], f["state"]) for f in d["cause"]["functions"]], [("extra", "gone")], "only one is shown")
    equal(document("-r", "0", "--no-cause", "--", EXTRA, ":::", BEFORE)["cause"], None, "--no-cause")


LINED = """static int parse(const char *s)
{
	volatile int n = 0;

	for (; *s; s++)
		if (*s == ',')
			n++;
	return n;
}
int main(void)
{
	int all = 0;

	for (int i = 0; i < 100; i++)
		all += parse("a,b,c");
	return all == 0;
}
"""


@test
def small_changes_are_added_up():
    """In text, but not in JSON: main has 6 more instructions than the 200 of 100 steps."""
    large = built("large", "-DSTEPS=2000000", "-DEXTRA=1000000")
    names = [f["function"] for f in document("-r", "0", "--", BEFORE, ":::", large, status=2)["cause"]["functions"]]
    true({"main", "parse_line", "extra"} <= set(names), names)
    text, full = (compare("-r", "0", *words, "--", BEFORE, ":::", large, status=2).stdout for words in ((), ("-n", "0")))
    equal([[bool(re.search(rf"^ .* {n} ", t, re.M)) for n in ("parse_line", "extra", "main")] for t in (text, full)], [[True, True, False], [True, True, True]], text)
    changes = [int(n.replace(",", "")) for n in re.findall(r"^ *([-+]?[\d,]+) +[\d,]+ +[\d,]+  (?:parse_line|extra|\d+ other|all)", text, re.M)]
    equal(sum(changes[:-1]), changes[-1], "the rows add up")


@test
def the_lines_of_the_function():
    for name, source in (("lined", LINED), ("moved", "/* \n\n */\n" + LINED.replace("for (; *s; s++)", "for (; *s; s++) {\n\t\t(void)*(volatile const char *)s; /* \033[1m */")
                                            .replace("== ','", "== ',' && n < 1000").replace("n++;", "n++; }"))):
        os.makedirs(os.path.join(ROOM.name, name), exist_ok=True)
        Path(ROOM.name, name, "p.c").write_text(source)
        sh(CC, "-O0", "-g", "-o", f"{name}.out", f"{name}/p.c")
    d = document("-r", "0", "--", "./lined.out", ":::", "./moved.out", status=2)
    adds_up(d)
    lines = d["cause"]["lines"]
    equal(lines["function"], "parse")
    equal([(x["at_before"]["line"], x["at_after"]["line"]) for x in sorted(lines["changed"], key=lambda x: x["at_after"]["line"])], [(None, 9), (6, 10)],
          "the new line, and the one that is longer; lines that only moved did not change")
    equal(lines["others"]["change"], 0, "nothing else changed")
    text = compare("-r", "0", "--", "./lined.out", ":::", "./moved.out", status=2).stdout
    for x in lines["changed"]:
        was = f" (was {x['at_before']['line']})" if x["at_before"]["line"] else ""
        true(re.search(rf"\+{x['change']} +{x['before']} +{x['after']} +p\.c:{x['at_after']['line']}{re.escape(was)}", text.replace(",", "")), f"{x} in the text: {text}")
    true("if (*s == ',' && n < 1000)" in text and "\033" not in text, text)
    os.remove(Path(ROOM.name, "moved", "p.c"))
    d = document("-r", "0", "--", "./lined.out", ":::", "./moved.out", status=2)
    adds_up(d)
    equal({x["text"] for x in d["cause"]["lines"]["changed"] if x["at_after"]["line"]}, {None}, "without the source")
    sh("strip", "-g", "lined.out", "moved.out")
    equal(document("-r", "0", "--", "./lined.out", ":::", "./moved.out", status=2)["cause"]["lines"], None, "without line information")


@test
def the_same_program():
    d = document("-r", "8", "--", BEFORE, ":::", BEFORE)
    equal((d["events"][0]["verdict"], d["events"][0]["change"], d["cause"]), ("same", 0, None), "exact")
    equal([e["event"] for e in d["events"]], ["instructions:u", "cpu-time", "wall"], "events")
    equal([len(e["before"]["runs"]) for e in d["events"]], [2, 8, 8], "runs")
    equal([e["compared"] for e in d["events"]], ["equality", "pairs", "pairs"], "tests")
    for e in d["events"][1:]:
        ratios = sorted(b / a for a, b in zip(e["before"]["runs"], e["after"]["runs"]))
        equal([round(e[key], 6) for key in ("low_percent", "high_percent")], [round(100 * (r - 1), 6) for r in (ratios[0], ratios[-1])],
              "with eight pairs at a level of 1 %, the interval is from the smallest to the largest ratio")
        true(e["low_percent"] <= e["percent"] <= e["high_percent"], e)
    true(compare("-r", "0", "--", BEFORE, ":::", BEFORE).stdout.startswith("same: "), "text")


@test
def too_few_pairs():
    d = document("-r", "5", "--", BEFORE, ":::", BEFORE)
    equal([(e["verdict"], e["low_percent"], e["runs_needed"]) for e in d["events"][1:]], [("cannot tell", None, 8)] * 2, "no interval")
    equal([n for n in d["notes"] if "at least" in n], [f"{name}: the test of pairs needs at least 8 runs of each side (-r 8)" for name in ("cpu-time", "wall")], "notes")


@test
def the_threshold():
    d = document("-r", "0", "--threshold", "1", "--", BEFORE, ":::", AFTER)
    equal((d["verdict"], d["events"][0]["verdict"], d["events"][0]["below_threshold"]), ("same", "more", True), "small")
    true("below the threshold" in d["headline"], d["headline"])
    equal(document("-r", "0", "--threshold", "0.001", "--", BEFORE, ":::", AFTER, status=2)["verdict"], "slower", "large")


@test
def counts_that_do_not_repeat():
    noisy = "for ((i = 0; i < RANDOM % 200; i++)); do :; done"
    d = document("-r", "0", "--deterministic=none", "--", "bash", "-c", noisy, ":::", "bash", "-c", noisy, status=None)
    e = d["events"][0]
    equal((e["compared"], e["before"]["varies"], e["after"]["varies"]), ("test", True, True), "both vary")
    true(len(e["before"]["runs"]) >= 5 and any("does not repeat before" in n for n in d["notes"]), d["notes"])


@test
def the_first_run_creates_a_file():
    script = "[ -e made ] || { for ((i = 0; i < 500; i++)); do :; done; : >made; }"
    d = document("-r", "0", "--", "bash", "-c", script, ":::", "bash", "-c", script)
    equal((d["verdict"], len(d["events"][0]["before"]["runs"])), ("same", 2), "the first run is left out")
    true(any(n.startswith("The first run before is left out") for n in d["notes"]), d["notes"])


@test
def slower_times_are_confirmed():
    """By a second set of pairs, unless a busy machine makes the shorter command as long as the other."""
    d = document("-r", "8", "--threshold", "50", "--", "sleep", "0.0", ":::", "sleep", "0.3", status=None)
    wall = [e for e in d["events"] if e["event"] == "wall"][0]
    sets = [list(zip(wall["before"][key], wall["after"][key])) for key in ("runs", "second_runs")]
    if any(b <= 1.5 * a for of in sets for a, b in of):
        true(wall["verdict"] != "same", wall)
        return
    equal((wall["verdict"], d["verdict"], [len(of) for of in sets]), ("more", "slower", [8, 8]), "confirmed")
    true(" % more wall time" in d["headline"] and wall["low_percent"] > 50, d["headline"])


@test
def pairs_end_early_when_they_decide():
    """Ten pairs of up to twenty, then twice as many. One pair that a busy machine delayed cannot prevent it: the others have ratios above 10."""
    d = document("-r", "20", "--threshold", "50", "--", "true", ":::", "sleep", "0.3", status=None)
    wall = [e for e in d["events"] if e["event"] == "wall"][0]
    first = [b / a for a, b in zip(wall["before"]["runs"], wall["after"]["runs"])]
    if min(first[:10]) <= 1.5:
        return
    equal((len(first), len(wall["before"]["second_runs"])), (10, 20), "the second set is twice as large")


@test
def commands_that_fail():
    for words, said in ((("false", ":::", "true"), "before: false failed with exit status 1"), (("true", ":::", "false"), "after: false failed with exit status 1"),
                        (("true", ":::", "sh", "-c", "kill -TERM $$"), "after: sh was ended by SIGTERM")):
        for more in ((), ("--allow-failure",)):
            r = compare("-r", "0", *more, "--", *words, status=125)
            true(said in r.stderr and not r.stdout, r.stderr)
    true("before: false failed" in compare("-r", "0", "--", "false", ":::", "false", status=125).stderr, "both")
    d = document("-r", "0", "--allow-failure", "--", "false", ":::", "false")
    equal((d["verdict"], "The command fails, the same way on both sides" in d["notes"]), ("same", True), "both, allowed")
    true("there is no command './none'" in compare("--", BEFORE, ":::", "./none", status=127).stderr, "none")
    equal(compare("--", "/etc/passwd", ":::", BEFORE, status=126).stdout, "", "cannot be executed")


@test
def wrong_usage():
    for words, said in (((), "two commands"), (("--", BEFORE), "two commands"), (("--", BEFORE, ":::"), "two commands"), (("--", ":::", BEFORE), "two commands"),
                        (("--", "a", ":::", "b", ":::", "c"), "more than one :::"), (("-r", "x", "--", "a", ":::", "b"), "-r")):
        r = compare(*words, status=125)
        true(said in r.stderr and r.stderr.count("\n") <= 2, r.stderr)


@test
def each_run_gets_the_same_input():
    d = document("-r", "0", "--", "cat", ":::", "cat", input="x" * 100000)
    equal((d["verdict"], d["events"][0]["change"]), ("same", 0), "a pipe")
    d = document("-r", "0", "--", "wc", "-c", ":::", "wc", "-c", input="x\n" * 100000)
    equal(d["notes"], [], "the output is the same")
    writes = "sh", "-c", "while read x; do :; done; { echo more >&0; } 2>/dev/null; true"
    d = document("-r", "0", "--", *writes, ":::", *writes, input="x\n")
    equal((d["verdict"], d["events"][0]["change"]), ("same", 0), "a command that writes to its input")
    d = document("-r", "0", "--", "echo", "a", ":::", "echo", "b")
    true(any("different output" in n for n in d["notes"]), d["notes"])


def stat(name, program, *options):
    sh(TARE, "stat", "-r", "2", "--engine", "exact", *options, "--format", "json", "-o", name, "--", program)
    return json.loads(Path(ROOM.name, name).read_text())


def changed(name, d, change):
    d = copy.deepcopy(d)
    change(d)
    Path(ROOM.name, name).write_text(json.dumps(d))
    return name


@test
def two_documents():
    a, b = stat("a.json", BEFORE, "--deterministic"), stat("b.json", AFTER, "--deterministic")
    counts = [next(e["value"] for e in d["events"] if e["event"] == "instructions:u") for d in (a, b)]
    d = document("a.json", "b.json", status=2)
    e = d["events"][0]
    equal((d["verdict"], e["event"], e["change"], e["compared"]), ("slower", "instructions:u", counts[1] - counts[0], "equality"), "exact")
    true("task-clock" not in [e["event"] for e in d["events"]], "times with the engine's overhead are not compared")
    equal((d["before"]["command"], d["after"]["path"], d["conditions"]["engine"]), ([BEFORE], "b.json", "exact"), "sides")
    equal(document("a.json", "a.json")["verdict"], "same", "the same")
    equal(document("--format", "json", "a.json", "a.json", "--threshold", "1")["verdict"], "same", "options anywhere")

    def runs(*values):
        def change(d):
            for e in d["events"]:
                if e["event"] == "instructions:u":
                    e.update(runs=list(values), quality="counted")
        return change
    # Of a PMU: a difference of some spreads may be a drift, as the runs of one side precede those of the other.
    d = document(changed("c.json", a, runs(1000, 1130, 1040, 1210, 1090)), changed("d.json", a, runs(1400, 1530, 1440, 1610, 1490)), status=None)
    equal(d["events"][0]["verdict"], "cannot tell", "blocks")
    d = document("c.json", changed("e.json", a, runs(40000, 41300, 40400, 42100, 40900)), status=2)
    equal(d["events"][0]["verdict"], "more", "a large one")
    both = stat("g.json", BEFORE, "--deterministic", "-e", "instructions,branches")

    def noisy(*values):
        return lambda d: [e.update(runs=list(values), quality="counted") for e in d["events"] if e["event"] == "branches:u"]
    words = changed("h.json", both, noisy(1000)), changed("i.json", both, noisy(1400))
    d = document(*words)
    equal((d["verdict"], {e["event"]: e["verdict"] for e in d["events"]}), ("same", {"instructions:u": "same", "branches:u": "cannot tell"}), "one run of a side")
    true(d["headline"].endswith(" on both sides (exact); cannot tell: branches:u"), d["headline"])
    more = changed("j.json", both, lambda d: [e.update(runs=[int(v) + 1000 for v in e["runs"]]) for e in d["events"] if e["event"] == "instructions:u"])
    true(document("g.json", more, status=2)["headline"].endswith("more instructions (exact); same: branches:u"), "what is the same")
    true(re.search(r"branches:u .* cannot tell +1 run each\n", compare(*words).stdout), "1 run")
    large = changed("f.json", a, lambda d: d["events"][1].update(runs=[str(2**60), str(2**60)]))
    equal(document(large, large)["events"][0]["before"]["runs"], [str(2**60)] * 2, "large counts")


@test
def documents_that_are_not_comparable():
    a = stat("a.json", BEFORE, "--deterministic")
    for change, said in ((lambda d: d["conditions"].update(isa="x86-64-v2"), "different CPU models"), (lambda d: d["conditions"].update(isa=None), "different CPU models"),
                         (lambda d: d["conditions"].update(engine="perf"), "different engines"), (lambda d: d.update(exit_status=3), "failed with exit status 3"),
                         (lambda d: d.update(schema="tare/diff/1"), "but of tare/diff/1"), (lambda d: d.update(events=[]), "no event with numbers in common"),
                         (lambda d: d["events"][1].update(runs=[1, -2]), "run 2 of instructions:u is not a count"), (lambda d: d["events"][1].update(runs=["x"]), "is not a count"),
                         (lambda d: d.update(conditions=[]), "does not name its engine"), (lambda d: d.update(events={}), "no event with numbers in common"),
                         (lambda d: d["conditions"].update(engine="x\x1b[31m"), "different engines"),
                         (lambda d: d["conditions"].update(interrupted=True), "it was interrupted"), (lambda d: d["conditions"].update(timed_out=True), "ended by --timeout")):
        r = compare("a.json", changed("bad.json", a, change), status=125)
        true(said in r.stderr and r.stderr.count("\n") <= 2 and "\x1b" not in r.stderr, r.stderr)
    Path(ROOM.name, "bad.json").write_text("{")
    for words, said in ((("a.json", "bad.json"), "not JSON"), (("none.json", "a.json"), "none.json"), (("a.json", BEFORE), "not JSON"),
                        (("a.json", "a.json", "a.json"), "two commands"), (("a.json",), "two commands"), ((BEFORE, ":::", AFTER), "after --"),
                        (("-e", "branches", "a.json", "a.json"), "-e is for commands"), (("--engine", "exact", "a.json", "a.json"), "--engine is for commands"),
                        (("--timeout", "1s", "a.json", "a.json"), "--timeout is for commands")):
        r = compare(*words, status=125)
        true(said in r.stderr and r.stderr.count("\n") <= 2, r.stderr)
    r = compare("-o", "a.json", "a.json", "a.json", status=125)
    true("a.json" in r.stderr and Path(ROOM.name, "a.json").read_text().startswith("{"), "an input is not overwritten")
    stat("other.json", BEFORE)
    true("different CPU models" in compare("a.json", "other.json", status=125).stderr, "isa")
    for d, side in ((document("a.json", changed("less.json", a, lambda d: d["events"][1].update(runs=[], quality="unavailable"))), "after"), (document("less.json", "a.json"), "before")):
        equal([n for n in d["notes"] if "not compared" in n], [f"instructions:u was not compared: the document {side} has no number for it"], "an event of one side alone")
    changed("esc.json", a, lambda d: d["conditions"].update(fixed=["\x1b[31mred"]))
    true("\\x1b[31mred" in compare("a.json", "esc.json").stdout and "\x1b[31m" not in compare("a.json", "esc.json").stdout, "names of items are escaped")
    d = document(changed("fixed.json", a, lambda d: d["conditions"].update(fixed=["aslr"])), "a.json")
    true(any("The conditions differ" in n and "fixed before: aslr; after: aslr, environment" in n for n in d["notes"]), d["notes"])


@test
def two_recordings():
    for program in (BEFORE, AFTER):
        sh(TARE, "record", "-q", "--engine", "exact", "-o", f"{program}.data", "--", program)
    d = document(f"{BEFORE}.data", f"{AFTER}.data", status=2)
    adds_up(d)
    equal((d["verdict"], sum(f["change"] for f in d["cause"]["functions"] if f["function"] == "parse_line")), ("slower", d["events"][0]["change"]), "the function")
    sh(TARE, "stat", "-r", "2", "--engine", "exact", "--format", "json", "-o", "a.json", "--", BEFORE)
    true("one file is a recording" in compare("a.json", f"{AFTER}.data", status=125).stderr, "mixed")


HOSTILE = "a|b`c`<img src=x>&amp;\x1b[31m\n**@user** #1 [x](http://y) __i__ \"'"


@test
def names_are_text_everywhere():
    """A name of an event, from a document, that is markup in every format."""
    a = stat("a.json", BEFORE)

    def rename(runs):
        return lambda d: d["events"][1].update(event=HOSTILE, runs=runs, quality="exact")
    words = changed("a2.json", a, rename([1, 1])), changed("b2.json", a, rename([2, 2]))
    text = compare("--color", "never", *words, status=2).stdout
    true("\x1b" not in text and "\\x1b[31m" in text and len([x for x in text.splitlines() if "**@user" in x]) >= 1, text)
    equal(document(*words, status=2)["events"][0]["event"], HOSTILE, "JSON")
    md = compare("--format", "markdown", *words, status=2).stdout
    table = [x for x in md.splitlines() if x.startswith("|")]
    true(all(x.count("|") == table[0].count("|") for x in table), md)
    true(not re.search(r"[`<@#\[\x1b]", re.sub(r"&#\d+;|</?(details|summary)>", "", md)), md)
    true("<img src=x>&amp;" in html.unescape(md), md)
    head = html.unescape(md.splitlines()[0])
    true("\\x1b[31m" in head and "\\\\x1b" not in head, head)
    xml_ = compare("--format", "junit", *words, status=2).stdout
    head = xml.etree.ElementTree.fromstring(xml_).find(".//property[@name='headline']").get("value")
    true("\\x1b[31m" in head and "\\\\x1b" not in head, head)
    true(HOSTILE in document(*words, status=2)["headline"], "JSON")
    case = xml.etree.ElementTree.fromstring(xml_).find(".//testcase")
    true(case.get("name").startswith("a|b`c`<img src=x>&amp;\\x1b[31m\\x0a**@user**"), case.attrib)


@test
def markdown_fits_a_comment():
    md = compare("-n", "0", "--format", "markdown", "--", BEFORE, ":::", EXTRA, status=2).stdout
    true(md.count("\n") <= 30 and md.startswith("**slower: ") and "| extra (new) |" in md and "| parse\\_line |" not in md, md)
    true(md.index("<details><summary>") < md.index("Not seen") < md.index("</details>"), md)
    rows = [[int(c.replace(",", "")) for c in line.split("|")[1:4]] for line in md.splitlines() if re.match(r"\| -?[\d,]+ \|", line)]
    equal([sum(c) for c in zip(*rows[:-1])], rows[-1], "rows add up")


@test
def junit():
    root = xml.etree.ElementTree.fromstring(compare("-r", "2", "--format", "junit", "--", BEFORE, ":::", AFTER, status=2).stdout)
    suite = root.find("testsuite")
    equal((suite.get("tests"), suite.get("failures")), ("3", "1"), "counts")
    failure = suite.find("testcase[@name='instructions:u']/failure")
    true(" parse_line" in failure.text and "more" in failure.get("message"), failure.text)
    equal(xml.etree.ElementTree.fromstring(compare("-r", "0", "--format", "junit", "--", BEFORE, ":::", BEFORE).stdout).find("testsuite").get("failures"), "0", "none")


@test
def a_page():
    """All functions, and one flame graph of both sides."""
    r = compare("-r", "0", "--html", "page.html", "--", BEFORE, ":::", EXTRA, status=None)
    if "built without the page" in r.stderr:
        equal((r.returncode, r.stdout), (125, ""), "nothing was run")
        return

    def data(name):
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', Path(ROOM.name, name).read_text(), re.S)[1])
    page = data("page.html")
    equal([d["schema"] for d in page["documents"]], ["tare/compare/1", "tare/stacks/1"], "documents")
    d = validated(page["documents"][0], SCHEMA)
    adds_up(d)
    true({"extra", "main"} <= {f["function"] for f in d["cause"]["functions"]}, d["cause"]["functions"])
    true("extra" in page["documents"][1]["names"] and page["documents"][1]["difference"], "the flame graph")
    compare("-r", "0", "--html", "same.html", "--", BEFORE, ":::", BEFORE)
    equal([d["schema"] for d in data("same.html")["documents"]], ["tare/compare/1"], "nothing changed")
    true("is a directory" in compare("--html", ".", "--", "false", ":::", "false", status=125).stderr.lower(), "before anything runs")


# No settings of the user, and a name for commits.
GIT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "TMPDIR": ROOM.name,
       **{f"GIT_{who}_{what}": "made@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
BUILD = f"{CC} -O1 -g -o prog prog.c"


def git(*words, where="repository"):
    return sh("git", "-c", "core.hooksPath=/dev/null", *words, env=GIT, cwd=f"{ROOM.name}/{where}").stdout.strip()


def repository():
    """Two commits, the second one slower; a tag each."""
    where = Path(ROOM.name, "repository")
    if where.exists():
        return where
    where.mkdir()
    git("init", "-q", "-b", "main")
    for tag, steps in (("one", 200000), ("two", 200020)):
        (where / "prog.c").write_text(SOURCE.replace("STEPS", str(steps)))
        git("add", "prog.c")
        git("commit", "-q", "-m", tag)
        git("tag", tag)
    # It would write into the checkout if it ran.
    hook = where / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\n: >{where}/hooked\n")
    hook.chmod(0o755)
    return where


def left(where):
    """Files that must not remain after a comparison of revisions."""
    return git("worktree", "list").count("\n"), [p.name for p in Path(ROOM.name).glob("tare-compare-*")], (where / "hooked").exists()


CLEAN = (0, [], False)


@test
def two_revisions():
    where = repository()
    words = ("-r", "0", "--build", BUILD, "--rev")
    for range_, wanted, status in (("one..two", "slower", 2), ("two..one", "faster", 0), ("main~", "slower", 2), ("one...", "slower", 2), ("one..one", "same", 0)):
        d = document(*words, range_, "--", "./prog", status=status, cwd=where, env=GIT)
        equal((d["verdict"], left(where)), (wanted, CLEAN), range_)
        if wanted != "same":
            adds_up(d)
            equal((d["cause"]["functions"][0]["function"], d["cause"]["functions"][0]["module"]), ("parse_line", "prog"), "the function")
    equal((d["before"]["revision"], d["before"]["commit"]), ("one", git("rev-parse", "one")), "sides")
    equal((git("status", "--porcelain"), sorted(p.name for p in where.iterdir())), ("", [".git", "prog.c"]), "the checkout is not touched")
    text = compare(*words, "one..two", "--", "./prog", status=2, cwd=where, env=GIT).stdout
    true(f" before: one ({git('rev-parse', 'one')[:12]})\n after:  two (" in text and "Uncommitted" not in text, text)

@test
def uncommitted_changes():
    """As for git diff: A alone is compared with the working tree."""
    repository()
    git("worktree", "add", "-q", "--detach", "../dirty", "two")
    where, words = Path(ROOM.name, "dirty"), ("-r", "0", "--build", BUILD, "--rev")
    (where / "prog.c").write_text(SOURCE.replace("STEPS", "200040"))
    (where / "new.h").write_text("")
    before = git("for-each-ref"), git("stash", "list"), git("diff", where="dirty"), git("diff", "--cached", where="dirty")

    def said(d):
        """Notes in the document; the same are printed at once."""
        return [n for n in d["notes"] if n in d["stderr"]]

    def notes(range_, status):
        r = compare("-j", *words, range_, "--", "./prog", status=status, cwd=where, env=GIT)
        return {**validated(r.stdout, SCHEMA), "stderr": r.stderr}
    first, second = notes("HEAD", 2), notes("one", 2)
    equal((first["after"]["revision"], first["before"]["commit"]), ("working tree", git("rev-parse", "two")), "sides")
    equal([second["events"][0]["change"], said(first)], [2 * first["events"][0]["change"], ["Untracked files are not compared (new.h); git add includes them"]], "they are measured")
    for range_, change, wanted in (("one..", first["events"][0]["change"], ["Uncommitted changes are not compared; --rev one compares them"]),
                                   ("one...", first["events"][0]["change"], [f"Uncommitted changes are not compared; --rev {git('rev-parse', 'one')[:12]} compares them"]),
                                   ("one..one", 0, [f"Both sides are the same commit, {git('rev-parse', 'one')[:12]}"]),
                                   (f"HEAD..{git('stash', 'create', where='dirty')}", first["events"][0]["change"], [])):
        d = notes(range_, 2 if change else 0)
        equal((d["events"][0]["change"], said(d)), (change, wanted), range_)
    equal((git("for-each-ref"), git("stash", "list"), git("diff", where="dirty"), git("diff", "--cached", where="dirty")), before, "nothing is touched")
    (where / "prog.c").write_text(SOURCE.replace("STEPS", "200020"))
    git("add", "new.h", where="dirty")
    r = compare(*words, "HEAD", "--", "./prog", cwd=where, env=GIT)
    equal((r.stderr, "after:  working tree" in r.stdout), ("", True), "a new file that was added")
    git("worktree", "remove", "--force", "../dirty")


@test
def in_a_folder_of_the_repository():
    where = repository()
    git("checkout", "-q", "-b", "folder")
    (where / "sub").mkdir(exist_ok=True)
    (where / "sub" / "name").write_text("here")
    git("add", "sub")
    git("commit", "-q", "-m", "sub")
    d = document("-r", "0", "--rev", "HEAD", "--build", "cp name copy", "--", "cat", "copy", cwd=where / "sub", env=GIT)
    equal((d["verdict"], left(where)), ("same", CLEAN), "built and run there")
    git("checkout", "-q", "main")


@test
def output_is_in_the_working_directory_of_the_user():
    where = repository()
    for name in ("../out.txt", "out.txt"):
        r = compare("-r", "1", "--rev", "one..two", "--build", BUILD, "-o", name, "--", "./prog", status=2, cwd=where, env=GIT)
        true("slower" in (where / name).read_text() and not r.stderr, f"{name}: {r.stderr}")
        (where / name).unlink()
    page = compare("-r", "0", "--rev", "one..two", "--build", BUILD, "--html", "page.html", "--", "./prog", status=None, cwd=where, env=GIT)
    if "built without the page" in page.stderr:
        return
    true((where / "page.html").exists(), page.stderr)
    (where / "page.html").unlink()


@test
def revisions_that_cannot_be_compared():
    where = repository()
    none = Path(ROOM.name, "no_git")
    none.mkdir()
    git("clone", "-q", "--depth", "1", f"file://{where}", "../shallow")
    for words, said, cwd in ((("--rev", "none..one"), "there is no revision 'none'", where), (("--rev", "one..--help"), "there is no revision '--help'", where),
                             (("--rev", "one"), "no work tree of a git repository here: git: fatal: not a git repository", none), (("--rev", "HEAD~1"), "git fetch --unshallow, or fetch-depth: 0", f"{ROOM.name}/shallow"),
                             (("--rev", "one..two", "--build", "echo the reason; exit 3"), "the build of one", where),
                             (("--rev", "one..two", "--build", "kill -9 $$"), "was ended by SIGKILL", where), (("--rev", "one..two", "--build", BUILD), "before: false failed", where)):
        command = "false" if "false" in said else "./prog"
        r = compare("-r", "0", *words, "--", command, status=125, cwd=cwd, env={**GIT, "GIT_CEILING_DIRECTORIES": ROOM.name})
        true(said in r.stderr and r.stderr.count("\n") <= 3, r.stderr)
        equal(left(where), CLEAN, f"{words}")
    true("  | the reason\n" in compare("--rev", "one..two", "--build", "echo the reason; exit 3", "--", "./prog", status=125, cwd=where, env=GIT).stderr, "the build's output")
    for words, said in (((), "'./prog' in the worktree of one (" + git("rev-parse", "one")[:12] + "), which was not built: no --build was given\n  a worktree has only committed files"), (("--build", "true"), "after the build\n  --build must create it")):
        r = compare("--rev", "one..two", *words, "--", "./prog", status=127, cwd=where, env=GIT)
        true(said in r.stderr and "there is no command" in r.stderr, r.stderr)
    true("worktree" not in compare("--rev", "one..two", "--", "no-such-command", status=127, cwd=where, env=GIT).stderr, "one of PATH")
    r = compare("--rev", "one", "--", "./prog", status=125, cwd=where, env={**GIT, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    true("dubious ownership" in r.stderr, r.stderr)
    true("git is not installed" in compare("--rev", "one", "--", "./prog", status=125, cwd=where, env={**GIT, "PATH": "/none"}).stderr, "no git")
    for words, said in ((("--build", "x", "--", "a", ":::", "b"), "--build is for --rev"), (("--rev", "one", "--", "a", ":::", "b"), "one command"), (("--rev", "one"), "needs a command")):
        true(said in compare(*words, status=125, cwd=where, env=GIT).stderr, f"{words}")


@test
def interrupted_revisions():
    """While it builds, and while it measures: the worktrees are removed."""
    where = repository()
    for build, command in (("echo >started; sleep 100", "true"), ("true", "sh")):
        with subprocess.Popen([TARE, "compare", "-r", "0", "--rev", "one..two", "--build", build, "--", command, "-c", "echo >started; exec sleep 100"], stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, cwd=where, env=GIT) as p:
            while not list(Path(ROOM.name).glob("tare-compare-*/*/started")):
                equal(p.poll(), None, "it has not ended")
                time.sleep(0.05)
            p.send_signal(signal.SIGINT)
            err = p.stderr.read()
            equal((p.wait(60), left(where)), (128 + signal.SIGINT, CLEAN), err)
            true("stopped by SIGINT" in err, err)


@test
def programs_that_a_repository_names():
    """Of its configuration, only filters and core.fsmonitor run, as in git status and git checkout; without a checkout, smudge filters do not."""
    where = Path(ROOM.name, "programs")
    sh("git", "clone", "-q", str(repository()), str(where), env=GIT)
    (where / ".git/info/attributes").write_text("* filter=x diff=x\n")
    ran, hooks = Path(ROOM.name, "ran"), where / ".git/hooks"
    for name, key in (("clean", "filter.x.clean"), ("smudge", "filter.x.smudge"), ("fsmonitor", "core.fsmonitor"), ("ssh", "core.sshCommand"), ("pager", "core.pager"),
                      ("gpg", "gpg.program"), ("diff", "diff.external"), ("textconv", "diff.x.textconv"), ("alias", "alias.status"), ("hook", "x.hook")):
        program = where / ".git" / name
        program.write_text(f"#!/bin/sh\necho {name} >>{ran}\ncat\n")
        program.chmod(0o755)
        git("config", key, ("!" if name == "alias" else "") + str(program), where="programs")
    git("config", "log.showSignature", "true", where="programs")
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).symlink_to("../hook")
    sh(TARE, "stat", "-e", "task-clock", "--format", "json", "-o", "stat.json", "--", "true", env=GIT)
    env = {**GIT, "XDG_STATE_HOME": ROOM.name}
    for words, allowed in ((["history", "add", "--benchmark", "a", f"{ROOM.name}/stat.json"], {"clean", "fsmonitor"}), (["history", "show", "a"], set()),
                           (["compare", "-r", "0", "--rev", "origin/HEAD~..origin/HEAD", "--", "true"], {"clean", "fsmonitor", "smudge"})):
        ran.write_text("")
        sh(TARE, *words, env=env, cwd=where)
        true(set(ran.read_text().split()) <= allowed, f"{words}: {ran.read_text()}")


@test
def a_directory_that_is_a_link_in_the_revision():
    """To a place outside its worktree: nothing is built there."""
    where, outside = repository(), Path(ROOM.name, "outside")
    outside.mkdir()
    git("checkout", "-q", "-b", "linked")
    (where / "part").symlink_to(outside)
    git("add", "part")
    git("commit", "-q", "-m", "a link")
    git("rm", "-q", "part")
    (where / "part").mkdir()
    (where / "part" / "name").write_text("here")
    git("add", "part")
    git("commit", "-q", "-m", "a folder")
    r = compare("-r", "0", "--rev", "HEAD~..HEAD", "--build", "touch built", "--", "true", status=125, cwd=where / "part", env=GIT)
    true("has a link to a place outside its worktree" in r.stderr, r.stderr)
    equal((list(outside.iterdir()), left(where)), ([], CLEAN), "neither built nor left")
    git("checkout", "-q", "main")


@test
def a_repository_that_git_waits_on():
    """Its HEAD is a FIFO, from the start or by a build: SIGTERM ends tare, and no folder is left."""
    where = repository()
    head = where / ".git" / "HEAD"
    for build in ("true", f"mv {head} {head}.saved; mkfifo {head}"):
        if build == "true":
            head.rename(f"{head}.saved")
            os.mkfifo(head)
        with subprocess.Popen([TARE, "compare", "-r", "0", "--rev", "one..two", "--build", build, "--", "true"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, cwd=where, env=GIT) as p:
            while not head.is_fifo() or not Path(f"/proc/{p.pid}/task/{p.pid}/children").read_text():
                equal(p.poll(), None, "it has not ended")
                time.sleep(0.01)
            p.terminate()
            err = p.stderr.read()
            equal(p.wait(60), 128 + signal.SIGTERM, err)
        equal(list(Path(ROOM.name).glob("tare-compare-*")), [], err)
        head.unlink()
        Path(f"{head}.saved").rename(head)
        git("worktree", "prune")
        equal(left(where), CLEAN, build)


SECONDS = f"98765.{os.getpid()}"
STUBBORN = f"trap '' INT TERM; echo >started; exec sleep {SECONDS}"


@test
def commands_that_ignore_signals():
    """They are killed some seconds after the signal, or at a second one."""
    where = repository()
    words = ["--", "sh", "-c", STUBBORN]
    for options, cwd, again in ((words + [":::"] + words[1:], ROOM.name, False), (words + [":::"] + words[1:], ROOM.name, True),
                                (["--deterministic=none", "--", "sh", "-c", STUBBORN.replace("exec ", "") + "; true", ":::", "true"], ROOM.name, False),
                                (["--rev", "one..two"] + words, where, False), (["--rev", "one..two", "--build", STUBBORN, "--", "true"], where, False),
                                (["--rev", "one..two", "--build", STUBBORN, "--", "true"], where, True),
                                (["--rev", "one..two", "--build", f"setsid sh -c \"{STUBBORN}\" & wait", "--", "true"], where, False)):
        Path(ROOM.name, "started").unlink(missing_ok=True)
        with subprocess.Popen([TARE, "compare", "-r", "0", *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=cwd, env=GIT) as p:
            while not list(Path(ROOM.name).glob("tare-compare-*/*/started")) + list(Path(ROOM.name).glob("started")):
                equal(p.poll(), None, f"it has not ended: {options}")
                time.sleep(0.05)
            p.send_signal(signal.SIGINT)
            while again and p.poll() is None:
                time.sleep(0.6)
                p.send_signal(signal.SIGINT)
            err = ended(p)
            equal((p.returncode, running(SECONDS), left(where)), (128 + signal.SIGINT, [], CLEAN), f"{options}: {err}")
            true("stopped by SIGINT" in err, err)


def building(where):
    """A comparison that builds until it is ended; its folder."""
    before = set(Path(ROOM.name).glob("tare-compare-*/*/started"))
    p = subprocess.Popen([TARE, "compare", "-r", "0", "--rev", "one..two", "--build", f"echo >started; exec sleep {SECONDS}", "--", "true"],
                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=where, env=GIT)
    while not set(Path(ROOM.name).glob("tare-compare-*/*/started")) - before:
        equal(p.poll(), None, "it has not ended")
        time.sleep(0.05)
    return p, (set(Path(ROOM.name).glob("tare-compare-*/*/started")) - before).pop().parent.parent


@test
def folders_of_a_killed_tare():
    """The next comparison, of any repository, removes them with their worktrees; not those in use, nor another program's."""
    where, kept = repository(), Path(ROOM.name, "kept")
    live, used = building(where)
    dead, stale = building(where)
    dead.kill()
    dead.communicate()
    for pid in running(SECONDS):
        if os.readlink(f"/proc/{pid}/cwd").startswith(str(stale.resolve())):
            os.kill(int(pid), signal.SIGKILL)
    kept.mkdir()
    (kept / "file").write_text("kept")
    (stale / "old" / "link").symlink_to(kept)
    (stale / "old" / "deep").mkdir()
    (stale / "old" / "deep" / "file").write_text("")
    (stale / "old" / "deep").chmod(0o555)
    (stale / "link").symlink_to(kept)
    link, other = Path(ROOM.name, "tare-compare-linked"), Path(ROOM.name, "tare-compare-others")
    (kept / ".tare-folder").write_text("")
    link.symlink_to(kept)
    other.mkdir(0o700)
    (other / "file").write_text("kept")
    equal(git("worktree", "list").count("\n"), 2, "worktrees of both")
    compare("-r", "0", "--", "true", ":::", "true", env=GIT)
    equal((stale.exists(), used.exists(), (used / "old" / "started").exists()), (False, True, True), "the one that is used stays")
    equal(str(used) in git("worktree", "list"), True, "and its worktree")
    equal(git("worktree", "list").count("\n"), 1, "the other is not registered any more")
    equal(((kept / "file").read_text(), (other / "file").read_text(), link.is_symlink()), ("kept", "kept", True), "nothing else is removed")
    live.send_signal(signal.SIGINT)
    ended(live)
    for f in (kept / ".tare-folder", kept / "file", other / "file", link):
        f.unlink()
    kept.rmdir()
    other.rmdir()
    equal(left(where), CLEAN, "all")


@test
def a_closed_standard_error():
    """The output of a build that fails has no reader: the worktrees are removed."""
    where = repository()
    with subprocess.Popen([TARE, "compare", "--rev", "one..two", "--build", "echo why; exit 3", "--", "true"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=where, env=GIT) as p:
        p.stderr.close()
        equal((p.wait(60), left(where)), (125, CLEAN), "removed")


@test
def stopped():
    with subprocess.Popen([TARE, "compare", "--", "sleep", "60", ":::", "sleep", "60"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOM.name) as p:
        time.sleep(1)
        p.send_signal(signal.SIGTERM)
        err = p.stderr.read()
        equal(p.wait(60), 128 + signal.SIGTERM, err)


main()
