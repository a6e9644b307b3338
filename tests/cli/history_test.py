# SPDX-License-Identifier: MIT
"""tare history: documents that are made here, in git repositories and outside of them.

usage: history_test.py TARE SCHEMAS
"""
import base64
import csv
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh, validated  # noqa: E402

TARE, SCHEMAS = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
SCHEMA, LIST_SCHEMA = SCHEMAS / "tare-history-1.json", SCHEMAS / "tare-history-list-1.json"
# Nothing of the user's configuration of git, and no repository around the room.
os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1", HOME=ROOM.name, TMPDIR=ROOM.name, GIT_CEILING_DIRECTORIES=ROOM.name)
for name in [n for n in os.environ if n.startswith("GIT_") and n not in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES")]:
    del os.environ[name]


class Place:
    """A folder with a history of its own."""

    count = 0

    def __init__(self, git=False):
        Place.count += 1
        self.path = Path(ROOM.name, f"place-{Place.count}")
        self.path.mkdir()
        self.db = [] if git else ["--db", "h.db"]
        if git and not shutil.which("git"):
            skip("git is not installed")
        if git:
            self.git("init", "-q", "-b", "main")

    def git(self, *words, date="2026-11-28T12:00:00Z"):
        env = {**os.environ, "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
        return sh("git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words, cwd=self.path, env=env).stdout.strip()

    def commit(self, subject="change", **date):
        self.git("commit", "-q", "--allow-empty", "-m", subject, **date)
        return self.git("rev-parse", "HEAD")

    def run(self, *words, status=0, **options):
        return sh(TARE, "history", *words, *self.db, status=status, cwd=self.path, **options)

    def add(self, document, *words, name="d.json", **options):
        (self.path / name).write_text(document if isinstance(document, str) else json.dumps(document))
        return self.run("add", name, *words, **options)

    def show(self, benchmark="*", *words):
        return validated(self.run("show", benchmark, "-j", *words).stdout, SCHEMA)["series"]

    def list(self, *words):
        return validated(self.run("list", "-j", *words).stdout, LIST_SCHEMA)["series"]


def event(value, event="instructions:u", **more):
    e = {"event": event, "value": value, "unit": "", "quality": "exact", "engine": "exact", "n": 2, "min": value, "max": value, "median": value, **more}
    return e


def stat(*events, command=("prog", "x"), conditions=(), **more):
    usual = {"tare": "0.1.0", "isa": "x86-64-v3", "fixed": ["aslr", "environment", "cpus", "isa"], "environment_bytes": 8192, "cpus": 1, "engine": "exact",
             "interrupted": False, "timed_out": False}
    return {"schema": "tare/stat/1", "command": list(command), "exit_status": 0, "runs": 2, "conditions": {**usual, **dict(conditions)}, "events": list(events), **more}


def gate(commit, **counts):
    row = {"benchmark": "loop", "verdict": "new", "command": "./loop", "tare": "0.1.0", "fixed": "aslr, cpus=1", "isa": "x86-64-v3", "events": counts}
    return {"schema": "tare/gate/1", "commit": commit, "benchmarks": [row]}


def one_error(r, *said):
    true(r.stderr.startswith("tare history: ") and r.stderr.count("\n") <= 2 and all(s in r.stderr for s in said), r.stderr)


def values(series):
    return [v["value"] for v in series["values"]]


@test
def wrong_usage():
    p = Place()
    for words, said in (((), "one of: add, list, show, plot, export, import, prune"), (("ad",), "'ad' is not one of"), (("add",), "add needs documents, or --notes"), (("show",), "show needs one"),
                        (("list", "a", "b"), "one pattern"), (("list",), "there is no history in h.db"), (("show", "x"), "there is no history in h.db"),
                        (("plot",), "plot needs the name of the page"), (("plot", "-j", "-o", "x"), "plot writes a page"), (("plot", "a", "b"), "one benchmark"),
                        (("add", "-j", "x"), "add writes no document"), (("add", "absent.json"), "absent.json"), (("add", "--notes"), "there is no git repository")):
        one_error(p.run(*words, status=125), said)
    one_error(sh(TARE, "history", "list", status=125), "there is no git repository here", "--db FILE")
    one_error(sh(TARE, "history", "list", "--db", "mysql://host/x", status=125), "--db postgresql://HOST/DATABASE")
    one_error(p.add(stat(event(1)), status=125), "there is no git repository here", "--commit NAME")
    true(not (p.path / "h.db").exists(), "no file after errors")


@test
def values_over_commits():
    p = Place()
    for i, n in enumerate((1000, 1000, 1500, 1500, 1200)):
        r = p.add(stat(event(n), event(n // 10, "branches:u")), "--commit", f"r{i}")
        equal(r.stdout, "added 1 measurement\n", "words")
    listed = p.list()
    equal([(s["benchmark"], s["event"], s["unit"], s["values"], s["added_last"]["commit"], s["added_last"]["value"]) for s in listed],
          [("prog x", "branches:u", "", 5, "r4", 120), ("prog x", "instructions:u", "", 5, "r4", 1200)], "list")
    equal(sorted(os.listdir(p.path)), ["d.json", "h.db"], "no other files are left")
    text = p.run("list").stdout
    true(re.search(r"\n prog x +instructions:u +5 +1,200 +r4 +\d{4}-\d\d-\d\d\n", text), text)
    s, = p.show("prog x", "-e", "instructions*")
    equal(values(s), [1000, 1000, 1500, 1500, 1200], "values")
    equal([v["change"] and (v["change"]["from"], v["change"]["change"], v["change"]["percent"]) for v in s["values"]],
          [None, None, ("r1", 500, 50), None, ("r3", -300, -20)], "changes")
    equal([(v["min"], v["max"], v["runs"]) for v in s["values"]][0], (1000, 1000, 2), "spread")
    equal(s["conditions"], [{"tare": "0.1.0", "engine": "exact", "quality": "exact", "isa": "x86-64-v3", "fixed": "aslr, environment=8192, cpus=1, isa=x86-64-v3",
                             "command": None, "machine": None, "exact": True}], "conditions")
    lines = p.run("show", "prog*", "-e", "instructions:u").stdout.split("\n")
    equal(lines[0], "prog x: instructions:u", "headline")
    equal([re.sub(r" \d{4}-\d\d-\d\d ", " ", line).split() for line in lines[3:8]],
          [["r0", "1,000"], ["r1", "1,000"], ["r2", "1,500", "+500", "(+50", "%)"], ["r3", "1,500"], ["r4", "1,200", "-300", "(-20", "%)"]], "rows")
    equal(len(p.show("*")), 2, "a pattern")
    one_error(p.run("show", "prg x", status=125), "the history has no benchmark 'prg x'", "did you mean prog x?")
    one_error(p.run("show", "prog x", "-e", "cycles", status=125), "no benchmark 'prog x' with event 'cycles'")


@test
def numbers_are_not_changed():
    """Text and JSON have the same digits, up to 2^64-1."""
    p = Place()
    for i, n in enumerate((0, 2**53, "9007199254740993", "9223372036854775808", "18446744073709551615")):
        p.add(stat(event(n)), "--commit", f"r{i}")
    s, = p.show()
    equal(values(s), [0, 2**53, "9007199254740993", "9223372036854775808", "18446744073709551615"], "whole numbers")
    equal([v["change"] and v["change"]["change"] for v in s["values"]], [None, 2**53, 1, "9214364837600034815", "9223372036854775807"], "changes")
    text = p.run("show", "*").stdout
    for v in values(s):
        true(f" {int(v):,}" in text, text)
    p = Place()
    for i, n in enumerate((0.1, 1e-7, 12.5, 1e20)):
        p.add(stat(event(n, "energy", quality="counted", unit="Joules")), "--commit", f"r{i}")
    s, = p.show()
    equal(values(s), [0.1, 1e-7, 12.5, 1e20], "real numbers")
    rows = p.run("show", "*").stdout.split("\n")[3:7]
    equal([float(r.split()[2]) for r in rows], values(s), "in text")
    true("energy (Joules)" in p.run("show", "*").stdout, "the unit")


@test
def a_document_is_added_once():
    p = Place()
    equal(p.add(stat(event(5)), "--commit", "a").stdout, "added 1 measurement\n", "first")
    equal(p.add(stat(event(5)), "--commit", "a").stdout, "added 0 measurements; 1 was added before\n", "again")
    (p.path / "e.json").write_text(json.dumps(stat(event(6))))
    equal(p.run("add", "d.json", "e.json", "--commit", "a").stdout, "added 1 measurement; 1 was added before\n", "with another")
    equal(p.add(stat(event(5)), "--commit", "b").stdout, "added 1 measurement\n", "for another commit")
    equal(values(p.show()[0]), [5, 6, 5], "values")


@test
def only_totals_are_taken():
    p = Place()
    p.add(stat(event(7), event(3, cpu=0), event(4, thread=9), event(9), event(8, "cycles", quality="counted", with_engine_work=True),
               event(None, "loads", quality="unavailable", n=0, min=None, max=None),
               times_ns={"wall": {"value": 15, "min": 10, "max": 20}}), "--commit", "a")
    equal([(s["event"], s["unit"], values(s)) for s in p.show()], [("instructions:u", "", [7]), ("wall", "ns", [15])], "values")
    p = Place()
    p.add(stat(event(7), times_ns={"with_engine_work": True, "wall": {"value": 1, "min": 1, "max": 1}}), "--commit", "a")
    equal([s["event"] for s in p.show()], ["instructions:u"], "no time of the engine")


@test
def only_like_is_compared_with_like():
    p = Place()
    cases = [({}, 100), ({"isa": "x86-64-v2"}, 120), ({"tare": "0.2.0"}, 130), ({"fixed": ["aslr"]}, 140), ({}, 100), ({"isa": "x86-64-v2"}, 121)]
    for i, (conditions, n) in enumerate(cases):
        p.add(stat(event(n), conditions=conditions), "--commit", f"r{i}")
    s, = p.show()
    equal([v["change"] and (v["change"]["from"], v["change"]["change"]) for v in s["values"]], [None] * 5 + [("r1", 1)], "changes")
    equal([v["other_conditions"] for v in s["values"]], [False, True, True, True, True, True], "marks")
    equal([s["conditions"][v["conditions"]]["isa"] for v in s["values"]], ["x86-64-v3", "x86-64-v2", "x86-64-v3", "x86-64-v3", "x86-64-v3", "x86-64-v2"], "conditions")
    text = p.run("show", "*", env={**os.environ, "COLUMNS": "1000"}).stdout
    for said in ("Conditions 1 and 2 differ in the CPU model (x86-64-v3; x86-64-v2)", "Conditions 1 and 3 differ in the version of tare (0.1.0; 0.2.0).",
                 "measure one of the commits under both"):
        true(said in " ".join(text.split()), text)
    # counts of the CPU itself are compared on one machine only
    p = Place()
    for machine, n in (("A", 5), ("B", 6), ("A", 7)):
        p.add(stat(event(n), conditions={"isa": None}), "--commit", f"m{n}", "--machine", machine)
    s, = p.show()
    equal([v["change"] and v["change"]["from"] for v in s["values"]], [None, None, "m5"], "machines")
    equal([c["machine"] for c in s["conditions"]], ["A", "B"], "machines")


@test
def counts_that_do_not_repeat():
    p = Place()
    for i, (n, quality, spread) in enumerate(((100, "exact", 0), (110, "exact", 9))):
        p.add(stat(event(n, quality=quality, min=n - spread, max=n + spread)), "--commit", f"r{i}")
    s, = p.show()
    equal((s["conditions"][0]["exact"], [v["change"] for v in s["values"]]), (False, [None, None]), "one does not repeat")


@test
def change_points_of_noisy_values():
    p = Place()
    values_of = [1000 + 7 * i % 5 + (100 if i >= 12 else 0) for i in range(24)]
    for i, n in enumerate(values_of):
        (p.path / f"{i:02}.json").write_text(json.dumps(stat(event(n, "cycles", quality="counted", engine="perf"))))
        p.run("add", f"{i:02}.json", "--commit", f"r{i:02}")
    s, = p.show()
    equal([v["commit"] for v in s["values"] if v["change"]], ["r12"], "change points")
    c = s["values"][12]["change"]
    before, after = sum(values_of[:12]) / 12, sum(values_of[12:]) / 12
    true(abs(c["before"] - before) < 1e-9 and abs(c["after"] - after) < 1e-9 and abs(c["change"] - (after - before)) < 1e-9 and 0 <= c["p"] < 1e-6, c)
    row = next(line for line in p.run("show", "*").stdout.split("\n") if " r12 " in line)
    shown = re.search(r" 1,104 +\+([\d.]+) % \(p = ([\d.e-]+)\)", row)
    true(shown and abs(float(shown[1]) - c["percent"]) < 0.06 and f"{c['p']:.2g}" == shown[2].rstrip(), row)


@test
def commits_of_git_in_their_order():
    p = Place(git=True)
    hashes = [p.commit(f"commit {i}", date=f"2026-11-{20 + i // 3}T12:00:00Z") for i in range(6)]  # three per second
    for i in (4, 0, 5, 2, 1, 3):
        p.add(stat(event(100 + i)), "--commit", hashes[i])
    s, = p.show()
    equal([(v["commit"], v["value"], v["subject"], v["date"]) for v in s["values"]],
          [(h, 100 + i, f"commit {i}", f"2026-11-{20 + i // 3}T12:00:00Z") for i, h in enumerate(hashes)], "commits")
    equal([v["parent"] for v in s["values"]], [None, *hashes[:-1]], "parents")
    true(p.git("rev-parse", "--git-dir") == ".git" and (p.path / ".git/tare-history.db").exists(), "in the git directory")
    one_error(p.add(stat(event(1)), "--commit", "nothing", status=125), "there is no commit 'nothing'")
    # HEAD, with uncommitted changes
    (p.path / "file").write_text("a")
    p.git("add", "file")
    p.add(stat(event(200)))
    last = p.show()[0]["values"][-1]
    equal((last["commit"], last["value"], last["dirty"]), (hashes[5], 200, True), "dirty")
    true(f" {hashes[5][:12]} + " in p.run("show", "*").stdout, "marked")


@test
def commits_that_were_not_measured():
    p = Place(git=True)
    hashes = [p.commit(f"commit {i}") for i in range(4)]
    p.add(stat(event(5)), "--commit", hashes[0])
    p.add(stat(event(6)), "--commit", hashes[1])
    true("tare bisect" not in p.run("show", "*").stdout, "its parent was measured")
    p.add(stat(event(7)), "--commit", hashes[3])
    text = p.run("show", "*").stdout
    true(f"tare bisect {hashes[1][:12]}..{hashes[3][:12]} --build COMMAND -- COMMAND" in " ".join(text.split()), text)
    p = Place(git=True)
    hashes = [p.commit(f"commit {i}") for i in range(3)]
    p.add(stat(event(7)), "--commit", hashes[0])
    p.add(stat(event(5)), "--commit", hashes[2])
    true("tare bisect" not in p.run("show", "*").stdout, "bisect finds no decrease")


@test
def results_of_the_gate():
    p = Place(git=True)
    hashes = [p.commit(f"commit {i}") for i in range(3)]
    p.add(gate(hashes[0], **{"instructions:u": 50, "branches:u": "9007199254740993"}))
    equal([(s["benchmark"], s["event"], values(s), s["values"][0]["commit"]) for s in p.show()],
          [("loop", "branches:u", ["9007199254740993"], hashes[0]), ("loop", "instructions:u", [50], hashes[0])], "a document")
    one_error(p.add(gate(hashes[0], **{"instructions:u": 50}), "--commit", hashes[1], status=125), "--commit is", "but the document is of")
    # the notes have the same result, which is not added twice
    for i, h in enumerate(hashes):
        line = {**gate(h, **{"instructions:u": 50 + i // 2})["benchmarks"][0]}
        del line["verdict"]
        if not i:
            line["events"]["branches:u"] = "9007199254740993"
        accept = {**line, "accept": "why", "events": {"instructions:u": 99}}
        p.git("notes", "--ref=tare", "add", "-m", json.dumps(line) + "\n\n" + json.dumps(accept), h)
    p.git("checkout", "-q", "-b", "side", hashes[1])
    side = p.commit("of another branch")
    p.git("notes", "--ref=tare", "add", "-m", json.dumps({**line, "events": {"instructions:u": 77}}), side)
    p.git("checkout", "-q", "main")
    first = p.run("add", "--notes").stdout
    true(first in ("added 2 measurements; 1 was added before\n", "added 3 measurements\n"), first)
    equal(p.run("add", "--notes").stdout, "added 0 measurements; 3 were added before\n", "again")
    true(re.search(rf" loop +instructions:u +3 +51 +{hashes[2][:12]} ", p.run("list").stdout), "the newest commit was added last: " + p.run("list").stdout)
    s, = p.show("loop", "-e", "instructions:u")
    equal([(v["commit"], v["value"], bool(v["change"])) for v in s["values"]][-2:], [(hashes[1], 50, False), (hashes[2], 51, True)], "the notes")
    p.git("notes", "--ref=tare", "add", "-f", "-m", "{broken", hashes[1])
    one_error(p.run("add", "--notes", status=125), f"the note of {hashes[1][:12]}", "not JSON")


def found(commit, verdict, functions, others=0, why=None, **counts):
    """A document of the gate with the functions of its benchmark."""
    d = gate(commit, **{"instructions:u": sum(functions.values()) + others, **counts})
    rows = [{"function": f, "module": "prog", "count": n} for f, n in functions.items()]
    d["benchmarks"][0].update(verdict=verdict, why=why, functions={"total": sum(functions.values()) + others, "others": others, "rows": rows})
    return d


def functions(value):
    f = value["finding"]["functions"]
    return [(r["function"], r["before"], r["after"]) for r in f["rows"]] + [(None, f["others"]["before"], f["others"]["after"])]


@test
def the_functions_of_a_commit():
    p = Place(git=True)
    a, b, c = (p.commit(f"commit <{n}>") for n in "abc")
    many = {f"f{i}": 100 - i for i in range(30)}
    p.add(found(a, "new", {**many, "gone": 7}, 10, **{"branches:u": 4}))
    p.add(found(b, "slower", {**many, "f20": 180, "new\x1b[1m": 3}, 12, "most of the change is in f20: +100 instructions", **{"branches:u": 4}))
    show = lambda *words: validated(p.run("show", "-j", "--commit", *words).stdout, SCHEMAS / "tare-history-commit-1.json")["values"]
    branches, instructions = show("HEAD~2")
    equal((branches["event"], branches["finding"]["verdict"], branches["finding"]["why"], instructions["finding"]), ("branches:u", "new", None, None), "once per measurement")
    equal(functions(branches), [*((f, None, n) for f, n in many.items()), ("gone", None, 7), (None, None, 10)], "the first one, by counts")
    branches, instructions = show(b[:9], "loop")
    rows = functions(branches)
    equal((branches["finding"]["verdict"], rows[:3], rows[-1]), ("slower", [("f20", 80, 180), ("gone", 7, 0), ("new\x1b[1m", 0, 3)], (None, 10, 12)), "the largest change first")
    equal((sum(r[1] for r in rows), sum(r[2] for r in rows)), (instructions["change"]["before"], instructions["change"]["after"]), "they add up")
    text = p.run("show", "--commit", b).stdout
    true(text.startswith(f"{b[:12]} 2026-11-28 commit <b>\n\nloop: branches:u\n\n 4\n\n Verdict: slower: most of the change is in f20: +100 instructions.\n\n"), text)
    true(re.search(r"\n change +before +now +function +module\n +\+100 +80 +180 +f20 +prog\n +-7 +7 +0 +gone +prog\n", text) and "\x1b" not in text, text)
    true(re.search(r"\n +\+2 +[\d,]+ +[\d,]+ +other code *\n", text), text)
    one_error(p.run("show", "--commit", c, status=125), f"no values of commit {c}")
    one_error(p.run("show", "--commit", b, "nothing", status=125), "no benchmark 'nothing'")
    # a note or a document without functions is the same measurement: the first finding remains
    plain = gate(c, **{"instructions:u": 5})
    p.add(plain)
    equal(p.add(found(c, "faster", {"main": 5})).stdout, "added 0 measurements; 1 was added before\n", "again")
    equal((show(c)[0]["finding"]["verdict"], ("main", 0, 5) in functions(show(c)[0])), ("new", True), "functions are added later")
    p.run("prune", "--keep", "1")
    db = sqlite3.connect(p.path / ".git/tare-history.db")
    equal([db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("run", "verdict", "functions")], [2, 2, 2], "findings of removed measurements are removed")
    for row, said in (({"function": 1}, "a function is wrong"), ({"count": -1}, "a function is wrong"), ({"function": ""}, "a function is wrong"), ({"function": "x" * 1001}, "a function is wrong")):
        d = found(a, "new", {"main": 5})
        d["benchmarks"][0]["functions"]["rows"][0].update(row)
        one_error(p.add(d, status=125), said)


VERSION_1 = ("CREATE TABLE run (id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, name TEXT NOT NULL, parent TEXT NOT NULL, subject TEXT NOT NULL, time INTEGER NOT NULL,"
             " depth INTEGER NOT NULL, dirty INTEGER NOT NULL, added INTEGER NOT NULL);"
             "CREATE TABLE series (id INTEGER PRIMARY KEY, benchmark TEXT NOT NULL, event TEXT NOT NULL, unit TEXT NOT NULL, region TEXT NOT NULL, UNIQUE (benchmark, event, unit, region));"
             "CREATE TABLE conditions (id INTEGER PRIMARY KEY, tare TEXT NOT NULL, engine TEXT NOT NULL, quality TEXT NOT NULL, isa TEXT NOT NULL, fixed TEXT NOT NULL,"
             " command TEXT NOT NULL, machine TEXT NOT NULL, UNIQUE (tare, engine, quality, isa, fixed, command, machine));"
             "CREATE TABLE value (series INTEGER NOT NULL REFERENCES series (id), run INTEGER NOT NULL REFERENCES run (id), conditions INTEGER NOT NULL REFERENCES conditions (id),"
             " value NOT NULL, least NOT NULL, most NOT NULL, runs INTEGER NOT NULL, PRIMARY KEY (series, run)) WITHOUT ROWID;"
             "PRAGMA application_id = 0x74617265; PRAGMA user_version = 1;")


@test
def a_file_of_an_older_version():
    """It can be read as it is; the first command that writes adds the new tables, and nothing is lost."""
    p = Place()
    file = p.path / "h.db"
    db = sqlite3.connect(file)
    db.executescript(VERSION_1)
    db.execute("INSERT INTO run VALUES (1, ?, 'old', '', 'subject', 5, 0, 0, 6)", (b"d" * 16,))
    db.execute("INSERT INTO series VALUES (1, 'loop', 'instructions:u', '', '')")
    db.execute("INSERT INTO conditions VALUES (1, '0.1.0', 'exact', 'exact', 'x86-64-v3', 'aslr, cpus=1', './loop', '')")
    db.execute("INSERT INTO value VALUES (1, 1, 1, 40, 40, 40, 2)")
    db.commit()
    db.close()
    before = file.read_bytes()
    equal(values(p.show()[0]), [40], "read")
    equal((p.run("show", "--commit", "old").stdout, file.read_bytes() == before), ("old 1970-01-01 subject\n\nloop: instructions:u\n\n 40\n", True), "no finding, not changed")
    p.add(found("new", "slower", {"main": 41}), "--commit", "new")
    equal([values(s) for s in p.show()], [[40, 41]], "both")
    db = sqlite3.connect(file)
    equal(db.execute("PRAGMA user_version").fetchone(), (2,), "version")
    for change, said in (("UPDATE functions SET packed = x'07'", "are damaged"), ("UPDATE functions SET packed = x'01ffff'", "damaged"), ("UPDATE functions SET unpacked = 4", "damaged"),
                         ("UPDATE functions SET unpacked = 1 << 40", "is damaged"), ("UPDATE functions SET packed = x'0041004200', unpacked = 4", "are damaged")):
        db.execute("SAVEPOINT s")
        db.execute(change)
        db.commit()
        one_error(p.run("show", "--commit", "new", status=125), "h.db", said)


@test
def a_real_document():
    p = Place()
    r = sh(TARE, "stat", "-r", "2", "--deterministic", "-e", "instructions:u", "--format", "json", "-o", "real.json", "--", "true", cwd=p.path, status=None)
    d = json.loads((p.path / "real.json").read_text()) if r.returncode == 0 else {"events": [{"quality": "unavailable"}]}
    if d["events"][0]["quality"] != "exact":
        skip("no exact counts here")
    p.run("add", "real.json", "--commit", "a")
    s, = p.show("true", "-e", "instructions:u")
    equal((values(s), s["conditions"][0]["tare"], s["conditions"][0]["exact"]), ([d["events"][0]["value"]], d["conditions"]["tare"], True), "its value")


def plotted(p, *words):
    r = p.run("plot", "-o", "plot.html", *words, status=None)
    if "without the page" in r.stderr:
        skip("built without the page")
    equal((r.returncode, r.stderr), (0, ""), "status")
    page = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', (p.path / "plot.html").read_text(), re.S)[1])
    return validated(json.dumps(page["documents"][0]), SCHEMAS / "tare-history-plot-1.json")


def unpacked(column):
    """The numbers of a column: docs/internals/page.md."""
    if isinstance(column, list):
        return [int(v) if isinstance(v, str) else v for v in column]
    kind = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}.get(column["packed"])
    raw = base64.b64decode(column["base64"])
    values = struct.unpack(f"<{len(raw) // struct.calcsize(kind)}{kind}", raw) if kind else [0] * (column["n"] - ("step" in column))
    if column["packed"] == "f64":
        return list(values)
    if "step" not in column:
        return [column["first"] + v for v in values]
    out = [column["first"]]
    for v in values:
        out.append(out[-1] + column["step"] + v)
    return out


@test
def the_document_of_the_page():
    """It has the same values and changes as show."""
    p = Place()
    draw = random.Random(5)
    for i in range(30):
        wall = int(draw.gauss(1e6, 1e3)) + (10**5 if i >= 15 else 0)
        p.add(stat(event(str(2**63 + i // 10)), event(i / 3, "energy", quality="counted", unit="J"), conditions={"tare": f"0.{i // 20}"}, times_ns={"wall": {"value": wall, "min": wall - 5, "max": wall}}),
              "--commit", f"r{i}\nx" if i == 3 else f"r{i}")
    doc, shown = plotted(p), p.show()
    equal(len(doc["series"]), len(shown), "series")
    names = doc["commits"]["names"].split("\n")
    equal(names[3], "r3 x", "a line for each")
    for a, b in zip(doc["series"], shown):
        columns = {k: unpacked(v) for k, v in a["columns"].items()}
        equal([names[i] for i in columns["commit"]], [v["commit"].replace("\n", " ") for v in b["values"]], "commits")
        for key in ("value", "min", "max", "conditions", "runs"):
            equal(columns.get(key, columns["value"]), [int(v[key]) if isinstance(v[key], str) else v[key] for v in b["values"]], key)
        equal(a["conditions"], b["conditions"], "conditions")
        exact = [c["exact"] for c in a["conditions"]]
        equal([(c["at"], c["change"]) for c in a["changes"]], [(i, v["change"]) for i, v in enumerate(b["values"]) if v["change"] and not exact[v["conditions"]]], "changes")
    equal([len(s["changes"]) for s in doc["series"] if s["event"] == "wall"], [1], "a change point")
    equal(len(plotted(p, "-e", "wall")["series"]), 1, "one event")
    one_error(p.run("plot", "-o", "plot.html", "other", status=125), "no benchmark 'other'")


@test
def exported_values():
    """CSV, JSON and Parquet have the same rows, with all digits."""
    p = Place()
    p.add(stat(event("18446744073709551615"), event(0.1, "energy", quality="counted", unit="J")), "--commit", "a,\n=b")
    p.add(stat(event(7), event(12.5, "energy", quality="counted", unit="J", min=12, max=13)), "--commit", "b")
    doc = validated(p.run("export", "-j").stdout, SCHEMAS / "tare-history-export-1.json")["values"]
    equal([(v["event"], v["commit"], v["value"], v["min"], v["max"]) for v in doc],
          [("energy", "a,\n=b", 0.1, 0.1, 0.1), ("energy", "b", 12.5, 12, 13), ("instructions:u", "a,\n=b", "18446744073709551615",) + ("18446744073709551615",) * 2,
           ("instructions:u", "b", 7, 7, 7)], "JSON")
    equal(doc[0]["measurement"] == doc[2]["measurement"] != doc[1]["measurement"], True, "values that were added together")
    table = list(csv.DictReader(io.StringIO(p.run("export").stdout)))
    equal(list(table[0]), list(doc[0]), "columns")
    for a, b in zip(table, doc):
        for key in a:
            want = {True: "1", False: "0"}.get(b[key], str(b[key])) if key != "commit" else b[key].replace("\n", "\\x0a")
            equal(a[key], want, key)
    p.run("export", "-o", "out.csv")
    equal((p.path / "out.csv").read_text(), p.run("export", "--format", "csv").stdout, "by the ending")
    equal([r["value"] for r in csv.DictReader(io.StringIO(p.run("export", "prog x", "-e", "energy").stdout))], ["0.1", "12.5"], "one event")
    p.run("export", "-o", "out.json")
    equal(json.loads((p.path / "out.json").read_text())["values"], doc, "by the ending")
    p.run("export", "-o", "out.parquet")
    true((p.path / "out.parquet").read_bytes()[:4] == b"PAR1", "Parquet")
    node, duckdb = shutil.which("node"), Path(__file__).parent.parent.parent / "web/node_modules/@duckdb/node-api"
    if node and duckdb.exists():
        script = f"""import {{ DuckDBInstance }} from {json.dumps(str(duckdb / 'lib/index.js'))};
            const c = await (await DuckDBInstance.create(":memory:")).connect();
            const r = await c.runAndReadAll("select event, value, value_whole, date, dirty from 'out.parquet'");
            console.log(JSON.stringify(r.getRowObjectsJson()));"""
        (p.path / "read.mjs").write_text(script)
        rows = json.loads(sh(node, "read.mjs", cwd=p.path).stdout)
        equal([(r["event"], float(r["value"]), r["value_whole"]) for r in rows],
              [("energy", 0.1, None), ("energy", 12.5, None), ("instructions:u", 2.0**64, "18446744073709551615"), ("instructions:u", 7, "7")], "read by DuckDB")
    one_error(p.run("export", "-o", "absent/x.csv", status=125), "absent/x.csv")
    one_error(p.run("show", "*", "--format", "csv", status=125), "show has the formats text and json")


def action(*entries, suite="Rust Benchmark"):
    return {"lastUpdate": 1, "repoUrl": "https://github.com/a/b", "entries": {suite: list(entries)}}


def entry(commit, *benches, timestamp="2020-07-01T12:00:00+09:00", **more):
    return {"commit": {"id": commit, "message": f"subject of {commit}\n\nbody", "timestamp": timestamp}, "date": 1593600000123, "tool": "cargo",
            "benches": [{"name": n, "value": v, "unit": u, "range": "± 3"} for n, v, u in benches], **more}


def imported(p, document, *words, **options):
    (p.path / "i.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return p.run("import", "i.json", *words, **options)


@test
def import_from_github_action_benchmark():
    p = Place()
    h = ["%040x" % (i + 1) for i in range(3)]
    data = action(entry(h[1], ("fib/10", 41, "ns/iter"), ("fib/20", 12.5, "ns/iter")), entry(h[0], ("fib/10", 40, "ns/iter"), timestamp="2020-07-01T01:00:00.5Z"),
                  entry(h[2], ("fib/10", 42, "ns/iter"), timestamp=None))
    equal(imported(p, "window.BENCHMARK_DATA = " + json.dumps(data, indent=2) + ";\n", "--machine", "ci").stdout, "added 3 measurements\n", "data.js")
    equal(imported(p, data, "--machine", "ci").stdout, "added 0 measurements; 3 were added before\n", "the same as JSON")
    a, b = p.show()
    equal((a["benchmark"], a["event"], a["unit"], b["benchmark"]), ("Rust Benchmark: fib/10", "value", "ns/iter", "Rust Benchmark: fib/20"), "names and units")
    equal([(v["commit"], v["date"], v["subject"], v["value"]) for v in a["values"]],
          [(h[0], "2020-07-01T01:00:00Z", f"subject of {h[0]}", 40), (h[1], "2020-07-01T03:00:00Z", f"subject of {h[1]}", 41), (h[2], "2020-07-01T10:40:00Z", f"subject of {h[2]}", 42)], "commits")
    equal([(c["engine"], c["quality"], c["machine"], c["exact"]) for c in a["conditions"]], [("cargo", "imported", "ci", False)], "conditions")


@test
def import_from_bencher():
    p = Place()
    bmf = {"parse": {"latency": {"value": 88.5, "lower_value": 87.4, "upper_value": 88.9}, "throughput": {"value": 5}}, "my binary": {"file-size": {"value": 2**53}}}
    one_error(imported(p, bmf, status=125), "does not name the commit", "--commit REV")
    equal(imported(p, bmf, "--commit", "v1").stdout, "added 1 measurement\n", "with a commit")
    equal([(s["benchmark"], s["event"], s["unit"], values(s)) for s in p.show()],
          [("my binary", "file-size", "", [2**53]), ("parse", "latency", "", [88.5]), ("parse", "throughput", "", [5])], "values")


RUSTC_SERIES = ("crate TEXT, profile TEXT, cache TEXT, statistic TEXT", "crate TEXT, profile TEXT, scenario TEXT, backend TEXT, target TEXT, frontend_threads INTEGER, metric TEXT")


def rustc_perf(path, columns, series, artifacts, stats):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.executescript(f"CREATE TABLE artifact(id INTEGER PRIMARY KEY, name TEXT, date INTEGER, type TEXT); CREATE TABLE pstat_series(id INTEGER PRIMARY KEY, {columns});"
                     "CREATE TABLE pstat(series INTEGER, aid INTEGER, cid INTEGER, value DOUBLE, PRIMARY KEY(series, aid, cid))")
    db.executemany(f"INSERT INTO pstat_series VALUES ({','.join('?' * (1 + len(columns.split(', '))))})", series)
    db.executemany("INSERT INTO artifact VALUES (?, ?, ?, 'master')", artifacts)
    db.executemany("INSERT INTO pstat VALUES (?, ?, ?, ?)", stats)
    db.commit()
    db.close()


@test
def import_from_rustc_perf():
    h = ["%040x" % (i + 1) for i in range(2)]
    artifacts = [(1, h[0], 1600000000), (2, h[1], 1600000600), (3, "1.51.0", None)]
    stats = [(1, 1, 1, 1e9), (2, 1, 1, 0.25), (1, 2, 1, 1000000001.0), (1, 1, 2, 5.0), (1, 3, 1, 7.0)]
    for columns, series, names in ((RUSTC_SERIES[1], [(1, "serde", "check", "full", "llvm", "x86_64", 1, "instructions:u"), (2, "serde", "opt", "full", "llvm", "x86_64", 1, "wall-time")],
                                    ("serde check full llvm x86_64 1", "serde opt full llvm x86_64 1")),
                                   (RUSTC_SERIES[0], [(1, "serde", "check", "full", "instructions:u"), (2, "serde", "opt", "full", "wall-time")], ("serde check full", "serde opt full"))):
        p = Place()
        rustc_perf(p.path / "r.db", columns, series, artifacts, stats)
        equal(p.run("import", "r.db").stdout, "added 3 measurements\n1 values of releases were left out: they have no date\n", "added")
        equal(p.run("import", "r.db").stdout.split("\n")[0], "added 0 measurements; 3 were added before", "again")
        equal([(s["benchmark"], s["event"], [(v["commit"], v["date"], v["value"]) for v in s["values"]]) for s in p.show()],
              [(names[0], "instructions:u", [(h[0], "2020-09-13T12:26:40Z", 10**9), (h[0], "2020-09-13T12:26:40Z", 5), (h[1], "2020-09-13T12:36:40Z", 10**9 + 1)]),
               (names[1], "wall-time", [(h[0], "2020-09-13T12:26:40Z", 0.25)])], "values")
    for artifacts, stats, said in (([(1, "", 1)], [(1, 1, 1, 1)], "wrong name"), ([(1, "c" * 2000, 1)], [(1, 1, 1, 1)], "wrong name"), ([(1, "c", 1)], [(1, 1, 1, float("inf"))], "number"),
                                   ([(1, "c", "x")], [(1, 1, 1, 1)], "no values"), ([], [], "no values")):
        rustc_perf(p.path / "r.db", columns, series, artifacts, stats)
        one_error(p.run("import", "r.db", status=125), said)
    one_error(p.run("import", "h.db", status=125), "is not a database of rustc-perf")
    for words in ("DROP TABLE pstat; CREATE VIEW pstat AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT 1 AS series, 1 AS aid, x AS cid, x AS value FROM r", "DROP TABLE artifact"):
        rustc_perf(p.path / "r.db", columns, series, [(1, "c", 1)], [(1, 1, 1, 1)])
        db = sqlite3.connect(p.path / "r.db")
        db.executescript(words)
        db.close()
        one_error(p.run("import", "r.db", status=125, timeout=60), "is not a database of rustc-perf")
    text = bytearray((p.path / "r.db").read_bytes())
    text[200:4000] = os.urandom(3800)
    (p.path / "r.db").write_bytes(text)
    one_error(p.run("import", "r.db", status=125), "r.db")


@test
def import_of_an_export():
    """All that a history has, into another one; twice changes nothing."""
    p, q = Place(git=True), Place()
    for i in range(4):
        p.add(stat(event(str(2**64 - 1 - i)), event(i / 3, "energy", quality="counted", unit="J"), conditions={"tare": f"0.{i}"}), "--commit", p.commit(f"commit {i}"))
    export = p.run("export", "-j").stdout
    equal(imported(q, export).stdout, "added 4 measurements\n", "first")
    equal(imported(q, export).stdout, "added 0 measurements; 4 were added before\n", "again")
    equal(q.run("export", "-j").stdout, export, "the same")
    equal(q.show(), p.show(), "shown")


@test
def what_others_put_beside_it():
    """A FIFO, a link, or a file of another user in a sticky folder: refused before SQLite opens it."""
    p = Place()
    p.add(stat(event(1)), "--commit", "v1")
    for ending in ("-journal", "-wal", "-shm"):
        beside = p.path / f"h.db{ending}"
        beside.unlink(missing_ok=True)
        for make in (lambda: os.mkfifo(beside), lambda: beside.symlink_to("/dev/null"), lambda: beside.symlink_to("absent")):
            make()
            one_error(p.run("list", status=125, timeout=60), f"h.db{ending}")
            one_error(p.run("import", "h.db", status=125, timeout=60), f"h.db{ending}")
            beside.unlink()
    if os.geteuid():
        return
    p.path.chmod(0o1777)
    os.chown(p.path, 1, 1)
    journal, before = p.path / "h.db-journal", p.run("list").stdout
    journal.write_bytes(bytes(2000))
    os.chown(journal, 65534, 65534)
    one_error(p.run("list", status=125), "h.db-journal")
    os.chown(journal, 0, 0)
    equal(p.run("list").stdout, before, "its own")
    (p.path / "h.db").rename(p.path / "other.db")
    (p.path / "h.db").symlink_to("other.db")
    os.chown(p.path / "h.db", 65534, 65534, follow_symlinks=False)
    one_error(p.run("list", status=125), "h.db")


@test
def hostile_imports():
    p = Place()
    p.add(stat(event(1)), "--commit", "a", "--benchmark", "one")
    row = json.loads(p.run("export", "-j").stdout)["values"][0]
    export = lambda *rows: {"schema": "tare/history-export/1", "values": list(rows)}
    for d, said in (("", "not JSON"), ("[]", "its format is not known"), ("{}", "its format is not known"), ({"entries": {}}, "it has no values"), ("window.BENCHMARK_DATA = ", "not JSON"),
                    (action({"benches": []}), "an entry has no commit"), (action(7), "an entry has no commit"), (action(entry("", ("n", 1, "u"))), "an entry has no commit"),
                    (action(entry("c")), "no benches"), (action(entry("c", ("n", "x", "u"))), "is not a number"), (action(entry("c", ("n", 1e300, "u"))), "is not a number"),
                    (action(entry("c", ("", 1, "u"))), "no name"), (action(entry("c", ("n" * 2000, 1, "u"))), "too long"), (action(entry("c", ("n", 1, "u"), ("n", 2, "u"))), "occurs twice"),
                    (action(entry("c", ("n", 1, "u"), timestamp=None, date="x")), "no date"), (action(entry("c", ("n", 1, "u"), timestamp=None, date=1e300)), "no date"),
                    ({"b": {"m": {"value": "1"}}}, "its format is not known"), ({"b": {"m": {"value": 1}, "k": {"value": None}}}, "is not a number"), ({"b": {"m": {"value": 1}}, "c": 7}, "not an object"),
                    (stat(event(5)), "tare history add"), (export(), "it has no values"), (export(7), 'key "measurement"'), (export({**row, "measurement": "zz"}), 'key "measurement"'),
                    (export({**row, "commit": ""}), 'key "commit"'), (export({**row, "date": "2020"}), 'key "date"'), (export({**row, "min": 2}), 'key "min"'), (export({**row, "max": 0}), 'key "max"'),
                    (export({**row, "runs": 0}), 'key "runs"'), (export({**row, "depth": "18446744073709551615"}), 'key "depth"'), (export({**row, "benchmark": None}), 'key "benchmark"'),
                    (export(row, row), "twice")):
        one_error(imported(p, d, "--commit", "c", status=125), said)
    equal(len(p.list()), 1, "nothing was added")
    for words, said in ((("import",), "needs files"), (("import", "i.json", "--benchmark", "x"), "keeps the names"), (("import", "absent"), "absent"), (("import", "-j", "i.json"), "writes no document")):
        one_error(p.run(*words, status=125), said)


@test
def pruned_values():
    p = Place(git=True)
    hashes = [p.commit(f"commit {i}", date=f"20{20 + i}-01-01T12:00:00Z") for i in range(4)]
    for i, h in enumerate(hashes):
        p.add(stat(event(i), event(10 + i, "branches:u")), "--commit", h)
    left = lambda e="instructions:u": [s for s in p.list() if s["event"] == e] and values(p.show("*", "-e", e)[0])
    one_error(p.run("prune", status=125), "prune needs a condition", "--older-than 180d")
    for words, said in ((("--older-than", "x"), "is not an age"), (("--older-than", "99999999999d"), "is not an age"), (("-j", "x"), "writes no document"),
                        (("nothing",), "no benchmark 'nothing'")):
        one_error(p.run("prune", *words, status=125), said)
    p.run("prune", "--keep", "0", status=125)
    text = p.run("prune", "--keep", "3", "-e", "instructions:u", "--dry-run").stdout
    equal(text, "prog x: instructions:u: 1 of 4 values\nwould remove 1 value\n", "dry")
    equal(left(), [0, 1, 2, 3], "unchanged")
    text = p.run("prune", "--keep", "3", "-e", "instructions:u").stdout
    true(text.startswith("prog x: instructions:u: 1 of 4 values\nremoved 1 value; 0 measurements and 0 series have none left") and "the file has" in text, text)
    equal((left(), left("branches:u")), ([1, 2, 3], [10, 11, 12, 13]), "the last ones")
    # conditions are combined: old, but not the last two
    old = (time.time() - time.mktime((2022, 6, 1, 0, 0, 0, 0, 0, 0))) // 86400
    true("removed 3 values; 2 measurements and 0 series" in p.run("prune", "--older-than", f"{old:.0f}d", "--keep", "2").stdout, "both")
    equal((left(), left("branches:u")), ([2, 3], [12, 13]), "the last two")
    # what is not reachable
    p.git("reset", "-q", "--hard", hashes[1])
    p.git("checkout", "-q", "-b", "side", hashes[2])
    p.add(stat(event(7)), "--commit", p.commit("on the side"))
    p.git("checkout", "-q", "main")
    p.git("branch", "-q", "-f", "side", hashes[2])
    true("removed 3 values; 2 measurements" in p.run("prune", "--unreachable").stdout, "two commits")
    equal((left(), left("branches:u")), ([2], [12]), "reachable")
    equal(p.run("prune", "--unreachable").stdout, "removed 0 values\n", "again")
    # a benchmark; a document that was removed can be added again
    true("removed 2 values; 1 measurement and 2 series" in p.run("prune", "prog x").stdout, "all")
    equal(p.list(), [], "nothing is left")
    equal(p.add(stat(event(2), event(12, "branches:u")), "--commit", hashes[2]).stdout, "added 1 measurement\n", "again")
    check = sqlite3.connect(p.path / ".git/tare-history.db")
    equal((check.execute("PRAGMA integrity_check").fetchall(), check.execute("SELECT count(*) FROM conditions").fetchall()), ([("ok",)], [(1,)]), "whole")
    check.close()
    q = Place()
    q.add(stat(event(1)), "--commit", "a")
    one_error(q.run("prune", "--unreachable", status=125), "no git repository")
    one_error(Place().run("prune", "--keep", "1", status=125), "there is no history")


@test
def a_journal_that_names_another_file():
    """SQLite would restore the store and delete that file. Source: sqlite.org, fileformat2.html, "The Rollback Journal"."""
    p = Place()
    p.add(stat(event(5)), "--commit", "a")
    victim, journal, magic = p.path / "victim", p.path / "h.db-journal", bytes.fromhex("d9d505f920a163d7")
    store = bytearray((p.path / "h.db").read_bytes())
    size = struct.unpack(">H", store[16:18])[0]
    store[18:20] = b"\1\1"  # of a rollback journal, not of a write-ahead log
    head = magic + struct.pack(">IIIII", 0, 0, len(store) // size, 512, size)
    for name in (str(victim), str(p.path / "fifo")):
        name = name.encode()
        victim.write_text("kept")
        for command in (("list",), ("show", "*"), ("export",), ("add", "d.json", "--commit", "b"), ("prune", "--keep", "1")):
            (p.path / "h.db").write_bytes(store)
            journal.write_bytes(head.ljust(512, b"\0") + struct.pack(">I", 0x40000000 // size + 1) + name + struct.pack(">II", len(name), sum(name)) + magic)
            one_error(p.run(*command, status=125), "h.db-journal names another file")
        true(victim.read_text() == "kept" and journal.exists(), "nothing was deleted")
    journal.unlink()
    equal(len(p.list()), 1, "without it")


@test
def foreign_tables_are_refused():
    """A view with the name of a table, or a column that is computed, could take any time and memory."""
    for words in ("CREATE INDEX i ON run (abs(time))", "CREATE TABLE other (x)",
                  "ALTER TABLE run RENAME TO r; CREATE TABLE run (id INTEGER PRIMARY KEY, digest BLOB, name TEXT, parent TEXT,"
                  " subject TEXT AS (printf('%.*c', 1000000, 'x')), time INTEGER, depth INTEGER, dirty INTEGER, added INTEGER); DROP TABLE r",
                  "CREATE VIEW v AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM value; END",
                  "ALTER TABLE value RENAME TO other; CREATE VIEW value AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS series FROM r"):
        p = Place()
        p.add(stat(event(5)), "--commit", "a")
        db = sqlite3.connect(p.path / "h.db")
        db.executescript(words)
        db.close()
        for command in (("list",), ("show", "*"), ("add", "d.json", "--commit", "b"), ("prune", "--keep", "1")):
            one_error(p.run(*command, status=125, timeout=60), "has tables, views or triggers that tare never creates")


@test
def a_small_file_takes_little():
    """The pages of a b-tree that several parents share hold any number of rows, and so does a join of equal keys. Source: sqlite.org, fileformat2.html, "B-tree Pages"."""
    p = Place()
    p.add(stat(event(5)), "--commit", "a")
    db = sqlite3.connect(p.path / "h.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = DELETE")
    size, root = db.execute("PRAGMA page_size").fetchone()[0], db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'value'").fetchone()[0]
    db.close()
    store = bytearray((p.path / "h.db").read_bytes())
    leaf = bytes(store[(root - 1) * size:root * size])
    first = struct.unpack(">H", leaf[8:10])[0]
    row = leaf[first:first + 1 + leaf[first]]
    n = len(store) // size + 1
    store += leaf  # page n: the only leaf, below twelve interior pages
    for level in range(12):
        cell, k = struct.pack(">I", n) + row, (size - 12) // (6 + len(row))
        page = struct.pack(">BHHHBI", 2, 0, k, size - k * len(cell), 0, n) + struct.pack(f">{k}H", *(size - (i + 1) * len(cell) for i in range(k)))
        page = page.ljust(size - k * len(cell), b"\0") + k * cell
        if level == 11:
            store[(root - 1) * size:root * size] = page
        else:
            store += page
            n += 1
    store[28:32] = struct.pack(">I", n)
    (p.path / "h.db").write_bytes(store)
    for command in (("list",), ("show", "*"), ("export", "--json"), ("prune", "--keep", "1")):
        one_error(p.run(*command, status=125, timeout=100), "h.db is damaged: it has more rows than fit into its size")
    p = Place()
    db = sqlite3.connect(p.path / "r.db")
    db.executescript("CREATE TABLE artifact (id, name, date, type); CREATE TABLE pstat (series, aid, cid, value); CREATE TABLE pstat_series (id, crate, profile, cache, statistic)")
    for i in range(1000):
        db.execute("INSERT INTO artifact VALUES (1, 'n', ?, 'x')", (i % 2 or None,))
        db.execute("INSERT INTO pstat VALUES (1, 1, ?, 1)", (i,))
        db.execute("INSERT INTO pstat_series VALUES (1, 'c', 'p', ?, ?)", (f"{i}" + "s" * 200, f"{i}" + "m" * 200))
    db.commit()
    db.close()
    one_error(p.run("import", "r.db", status=125, timeout=100), "r.db: its tables have more values than fit into its size")


@test
def hostile_documents():
    p = Place()
    good = event(5)
    for d, said in (("", "not JSON"), ("{", "not JSON"), ("[1]", "not a document of"), ("7", "not"), ('{"schema": "tare/stat/1", "schema": "x"}', "not JSON"),
                    ({"schema": "tare/windows/1"}, "is not a document of tare stat or tare gate"), (stat(), "it has no values"), (stat(event(3, cpu=1)), "it has no values"),
                    (stat(good, exit_status=1), "the command failed"), (stat(good, conditions={"interrupted": True}), "a part of a run"),
                    (stat(event(-1)), None), (stat(event(5, max=4)), "the numbers of instructions:u"), (stat(event("5x")), "the numbers"), (stat(event("")), "the numbers"),
                    (stat(event("18446744073709551616")), "the numbers"), (stat(event(5, n=0)), "the numbers"), (stat(event(5, n=[])), "the numbers"), (stat(event({})), "the numbers"),
                    (stat(event(5, event=7)), "an event is wrong"), (stat(event(5, event="e" * 2000)), "an event is wrong"), (stat(7), "an event is wrong"),
                    (stat(good, command=()), "there is no command"), (stat(good, command=("x" * 2000,)), "too long"), (stat(good, command=(1,)), "not a string"),
                    (stat(good, conditions={"fixed": [1]}), "a fixed item"), ("[" * 100000, "not JSON"), (stat(*[event(1, f"e{i}") for i in range(5000)]), "too many events"),
                    ({"schema": "tare/gate/1", "benchmarks": [{}]}, "benchmark"), ({"schema": "tare/gate/1", "benchmarks": []}, "it has no values"), ("\0", "not JSON")):
        r = p.add(d, "--commit", "a", status=None)
        if said:
            equal(r.returncode, 125, str(d)[:100])
            one_error(r, said)
            true(not (p.path / "h.db").exists() or not p.list(), f"{str(d)[:100]}: nothing was added")
        else:
            (p.path / "h.db").unlink()
    # names cannot do anything to a terminal, and survive JSON
    p.add(stat(event(5, "\x1b[31mred")), "--commit", "a", "--benchmark", "x\ny\x1b]0;")
    s, = p.show()
    equal((s["benchmark"], s["event"]), ("x\ny\x1b]0;", "\x1b[31mred"), "names")
    for words in (("list",), ("show", "*")):
        text = p.run(*words).stdout
        true("\x1b" not in text and "\\x1b[31mred" in text, repr(text))


@test
def foreign_files_are_not_changed():
    p = Place()
    db = p.path / "h.db"
    other = sqlite3.connect(db)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    other.close()
    for text, said in ((db.read_bytes(), "is not a history of tare"), (b"a text\n" * 30, "is not a history of tare")):
        db.write_bytes(text)
        for words in (("list",), ("show", "x"), ("add", "d.json", "--commit", "a")):
            (p.path / "d.json").write_text(json.dumps(stat(event(5))))
            one_error(p.run(*words, status=125), said)
            equal(db.read_bytes(), text, "unchanged")
            equal(sorted(os.listdir(p.path)), ["d.json", "h.db"], "files")
    db.unlink()
    db.mkdir()
    one_error(p.run("list", status=125), "h.db")
    p = Place()
    p.add(stat(event(5)), "--commit", "a")
    newer = sqlite3.connect(p.path / "h.db")
    newer.execute("PRAGMA user_version = 7")
    newer.close()
    text = (p.path / "h.db").read_bytes()
    for words in (("list",), ("add", "d.json", "--commit", "b")):
        one_error(p.run(*words, status=125), "is of a newer version of tare (format 7)", "update tare")
    equal((p.path / "h.db").read_bytes(), text, "unchanged")


@test
def a_locked_file():
    p = Place()
    p.add(stat(event(5)), "--commit", "a")
    lock = sqlite3.connect(p.path / "h.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    one_error(p.add(stat(event(6)), "--commit", "b", "--wait", "50", status=125), "h.db is in use by another program; waited 0.05 s", "--wait")
    equal(values(p.show()[0]), [5], "readers do not wait")
    waiting = subprocess.Popen([TARE, "history", "add", "d.json", "--commit", "b", *p.db, "--wait", "100s"], cwd=p.path, stdout=subprocess.PIPE, text=True)
    time.sleep(0.2)
    lock.execute("ROLLBACK")
    equal((waiting.communicate(timeout=100)[0], waiting.returncode), ("added 1 measurement\n", 0), "waits")
    equal(values(p.show()[0]), [5, 6], "both")


@test
def many_writers_and_kills():
    """Each measurement that was reported as added is kept, and the file stays whole."""
    p = Place()
    p.add(stat(event(0)), "--commit", "first")
    draw = random.Random(1)
    acknowledged, running = {"first"}, {}
    for i in range(24):
        (p.path / f"{i}.json").write_text(json.dumps(stat(*[event(i, f"e{k}") for k in range(40)])))
        out = open(p.path / f"{i}.out", "w")
        running[i] = subprocess.Popen([TARE, "history", "add", f"{i}.json", "--commit", f"c{i}", *p.db, "--wait", "200s"], cwd=p.path, stdout=out)
        out.close()
        if len(running) == 6:
            for n, child in running.items():
                if n % 3 == 0:
                    time.sleep(draw.uniform(0, 0.05))
                    child.send_signal(signal.SIGKILL)
            for n, child in running.items():
                child.wait(200)
                if (p.path / f"{n}.out").read_text():
                    acknowledged.add(f"c{n}")
                true(n % 3 == 0 or child.returncode == 0, f"writer {n}: {child.returncode}")
            running = {}
    stored = {}
    for s in p.show("prog x", "-e", "e*"):
        for v in s["values"]:
            equal(v["value"], int(v["commit"][1:]), "a value")
            stored[v["commit"]] = stored.get(v["commit"], 0) + 1
    true(acknowledged - {"first"} <= stored.keys(), f"lost: {acknowledged - stored.keys()}")
    equal(set(stored.values()), {40}, "each measurement is whole")
    check = sqlite3.connect(p.path / "h.db")
    equal(check.execute("PRAGMA integrity_check").fetchall(), [("ok",)], "integrity")
    check.close()


@test
def a_file_of_limited_size():
    """As on a full disk: an error, and the old data stay."""
    import resource
    p = Place()
    p.add(stat(event(5)), "--commit", "a")
    size = (p.path / "h.db").stat().st_size
    big = stat(*[event(i, f"event-{i}-" + "x" * 500) for i in range(200)])
    r = p.add(big, "--commit", "b", status=125, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, size + 4096)))
    one_error(r, "h.db")
    equal([(s["event"], values(s)) for s in p.show()], [("instructions:u", [5])], "old data")
    equal(p.add(big, "--commit", "b").stdout, "added 1 measurement\n", "afterwards")


@test
def a_read_only_file():
    if os.geteuid() == 0:
        skip("root may write")
    p = Place()
    p.add(stat(event(5)), "--commit", "a")
    (p.path / "h.db").chmod(0o444)
    p.path.chmod(0o555)
    try:
        equal(values(p.show()[0]), [5], "it is read")
        one_error(p.run("add", "d.json", "--commit", "b", status=125), "h.db")
    finally:
        p.path.chmod(0o755)


main()
