# SPDX-License-Identifier: MIT
"""tare history in a PostgreSQL database: a server in a temporary folder, which an ordinary user runs.

usage: history_postgres_test.py TARE
"""
import ctypes
import glob
import json
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import ROOM, sh  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
LOCK = 8386103129427304  # history_postgres.c
os.environ.update(HOME=ROOM.name, TMPDIR=ROOM.name, GIT_CEILING_DIRECTORIES=ROOM.name)
for name in [n for n in os.environ if n.startswith("PG")]:
    del os.environ[name]
BIN = next((os.path.dirname(p) for p in sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), reverse=True)), None)
if not BIN or not shutil.which("psql"):
    print("1..0 # SKIP PostgreSQL's server is not installed")
    sys.exit()


def end_with_the_test():
    ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


class Server:
    """The names of sockets are short: not in the room."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tare-pg-", dir="/tmp")
        self.user = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            os.chown(self.folder, pwd.getpwnam("nobody").pw_uid, -1)
        self.data = f"{self.folder}/data"
        subprocess.run([f"{BIN}/initdb", "-D", self.data, "-A", "trust", "-U", "tare", "-N", "-E", "UTF8", "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd="/", **self.user)
        self.process = subprocess.Popen([f"{BIN}/postgres", "-D", self.data, "-k", self.folder, "-c", "listen_addresses=", "-c", "max_connections=120", "-F"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", preexec_fn=end_with_the_test, **self.user)
        self.host = self.folder.replace("/", "%2F")
        while subprocess.run(["psql", self.url("postgres"), "-c", "SELECT 1"], capture_output=True).returncode:
            true(self.process.poll() is None, "the server runs")
            time.sleep(0.05)

    def url(self, database):
        return f"postgresql://tare@/{database}?host={self.host}"

    def new(self):
        """A database of its own."""
        Server.count = getattr(Server, "count", 0) + 1
        self.sql(f"CREATE DATABASE d{Server.count}")
        return self.url(f"d{Server.count}")

    def sql(self, words, url=None):
        return sh("psql", url or self.url("postgres"), "-XAtqc", words).stdout.strip()

    def end(self):
        self.process.send_signal(signal.SIGINT)  # fast shutdown
        self.process.wait()
        shutil.rmtree(self.folder)


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        true(time.monotonic() < end, "it happens within a minute")
        time.sleep(0.02)


def document(i, **events):
    rows = [{"event": e, "value": v, "unit": "", "quality": "exact", "engine": "exact", "n": 2, "min": v, "max": v} for e, v in events.items()]
    return {"schema": "tare/stat/1", "command": ["prog", "x"], "exit_status": 0, "runs": 2, "events": rows,
            "conditions": {"tare": f"0.{i % 2}", "isa": "x86-64-v3", "fixed": ["aslr"], "engine": "exact", "interrupted": False, "timed_out": False}}


def gate(i):
    rows = [{"function": "tab\tand \\ and\nline", "module": "prog", "count": 40 + i}, {"function": "main", "module": "prog", "count": 5}]
    return {"schema": "tare/gate/1", "commit": None, "benchmarks": [{"benchmark": "b\\n\té", "verdict": "slower" if i else "new", "why": "it's 'so'", "command": "./b", "tare": "0.1", "fixed": "aslr", "isa": "v3",
            "events": {"instructions:u": 50 + i, "branches:u": str(2**64 - 1)}, "functions": {"total": 50 + i, "others": 5, "rows": rows}}]}


def history(db, *words, status=0, **options):
    return sh(TARE, "history", *words, "--db", db, cwd=ROOM.name, status=status, **options)


def add(db, d, commit, name="d.json", **options):
    Path(ROOM.name, name).write_text(json.dumps(d))
    return history(db, "add", name, "--commit", commit, **options)


def one_error(r, *said):
    true(r.stderr.startswith("tare history: ") and r.stderr.count("\n") <= 2 and all(s in r.stderr for s in said), r.stderr)


@test
def as_in_a_file():
    """Every subcommand prints what it prints about a file with the same measurements."""
    file, db = str(Path(ROOM.name, "h.db")), SERVER.new()
    one_error(history(db, "list", status=125), "there is no history in the database")
    for where in (file, db):
        for i in range(4):
            equal(add(where, document(i, **{"instructions:u": 100 + i // 2, "energy": 0.1 * i, "tiny": 1e-300}), f"r{i}").stdout, "added 1 measurement\n", "stat")
        for i in range(2):
            add(where, gate(i), f"g{i}")
        equal(add(where, gate(1), "g1").stdout, "added 0 measurements; 1 was added before\n", "again")
    dates = history(file, "export", "--format", "json").stdout
    Path(ROOM.name, "e.json").write_text(dates)
    other = SERVER.new()
    equal(history(other, "import", "e.json").stdout, "added 6 measurements\n", "import")
    equal(sorted(history(other, "export").stdout.splitlines()), sorted(history(file, "export").stdout.splitlines()), "exported values have all digits")
    for words in (("show", "--commit", "g1", "-j"), ("list",), ("show", "*", "-e", "instructions*")):
        a, b = (history(where, *words).stdout for where in (file, db))
        cut = lambda text: "".join(line for line in text.splitlines(True) if '"date"' not in line)
        equal(cut(b), cut(a), f"{words}")
    true("other code" in history(db, "show", "--commit", "g1").stdout, "functions")
    for where in (file, db):
        history(where, "prune", "--keep", "1", "--dry-run")
        equal(history(where, "prune", "--keep", "1").stdout.split(";")[0].splitlines()[-1], "removed 11 values", "prune")
    equal(history(db, "list").stdout, history(file, "list").stdout, "after prune")
    equal([SERVER.sql(f"SELECT count(*) FROM tare.{t}", db) for t in ("run", "verdict", "functions")], ["2", "1", "1"], "rows of removed measurements are removed")


@test
def fifty_writers_and_kills():
    """No acknowledged value is lost, and no measurement is there in part."""
    db, n, draw = SERVER.new(), 50, random.Random(1)
    writers = []
    for i in range(n):
        Path(ROOM.name, f"w{i}.json").write_text(json.dumps(document(i, **{f"e{k}": 1000 * i + k for k in range(20)})))
        writers.append(subprocess.Popen([TARE, "history", "add", f"w{i}.json", "--commit", f"w{i}", "--db", db, "--wait", "60s"], cwd=ROOM.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    for i in draw.sample(range(n), 20):
        time.sleep(draw.random() / 50)
        writers[i].kill()
    done = [w.communicate() + (w.returncode,) for w in writers]
    true(all(r in (0, -signal.SIGKILL) for *_, r in done), [d for d in done if d[2] not in (0, -9)][:2])
    until(lambda: SERVER.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tare'") == "0")
    stored = dict(line.split("|") for line in SERVER.sql("SELECT name, count(*) FROM tare.run r JOIN tare.value v ON v.run = r.id GROUP BY name", db).splitlines())
    equal(set(stored.values()), {"20"}, "whole measurements")
    equal([i for i, (*_, r) in enumerate(done) if r == 0 and f"w{i}" not in stored], [], "nothing that was acknowledged is lost")
    for i in range(n):
        history(db, "add", f"w{i}.json", "--commit", f"w{i}")
    equal(SERVER.sql("SELECT count(*) FROM tare.run", db), str(n), "the others are added later")


@test
def a_writer_that_waits():
    """For another one: it gives up in time, or finds the server gone."""
    db = SERVER.new()
    add(db, document(0, e=1), "a")
    holder = subprocess.Popen(["psql", db, "-Xqc", f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}); SELECT pg_sleep(600)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: SERVER.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted") == "1")
    one_error(history(db, "add", "d.json", "--commit", "b", "--wait", "100ms", status=125), "is in use by another program; waited 0.1 s", "--wait TIME")
    waiting = subprocess.Popen([TARE, "history", "add", "d.json", "--commit", "b", "--db", db, "--wait", "600s"], cwd=ROOM.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: SERVER.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tare' AND wait_event_type = 'Lock'") == "1")
    SERVER.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tare'")
    waiting.stdout, waiting.stderr = waiting.communicate()
    equal((waiting.returncode, waiting.stdout), (125, ""), "status")
    one_error(waiting, "the connection to the database", "was lost", "repeat it")
    holder.kill()
    holder.wait()
    SERVER.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
    equal(history(db, "add", "d.json", "--commit", "b").stdout, "added 1 measurement\n", "repeated")


@test
def databases_that_are_refused():
    db = SERVER.new()
    SERVER.sql("CREATE SCHEMA tare; CREATE TABLE tare.mine (x int)", db)
    for words in (("list",), ("add", "d.json", "--commit", "a")):
        one_error(history(db, *words, status=125), "has a schema tare that is not a history")
    equal(SERVER.sql("SELECT relname FROM pg_class WHERE relnamespace = 'tare'::regnamespace", db), "mine", "not changed")
    db = SERVER.new()
    add(db, document(0, e=1), "a")
    SERVER.sql("UPDATE tare.format SET version = 7", db)
    one_error(history(db, "list", status=125), "is of a newer version of tare (format 7)", "update tare")
    one_error(history(SERVER.url("absent"), "list", status=125), "no connection to the history", "absent")
    one_error(history("postgresql://tare:secret@/x?host=%2Fnowhere", "list", status=125), "no connection to the history")
    true("secret" not in history("postgresql://tare:secret@/x?host=%2Fnowhere", "list", status=125).stderr, "no password")


SERVER = Server()
try:
    main()
finally:
    SERVER.end()
