# SPDX-License-Identifier: MIT
"""The store of tare history: simultaneous writers, writers that are killed, and look-ups among a million values.

usage: history_store.py TARE [KILLS] [SEED]

50 writers add a measurement of 40 values each, at the same time. Then KILLS (default: 250) writers run one after the other, and each gets SIGKILL at a random
moment. Each measurement that a writer reported as added must be in the store with all its values, and SQLite's integrity check must pass. Then the times of
look-ups in a store of 1000 series with 1000 values. Status 1 if a value was lost.
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

TARE = os.path.abspath(sys.argv[1])
KILLS, SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 250, int(sys.argv[3]) if len(sys.argv) > 3 else 1
WRITERS, EVENTS, SERIES, COMMITS = 50, 40, 1000, 1000


def start(i):
    """A writer that adds EVENTS times the value i, for commit "c" and i."""
    events = [{"event": f"e{k}", "value": i, "unit": "", "quality": "exact", "engine": "exact", "n": 2, "min": i, "max": i} for k in range(EVENTS)]
    with open(f"{i}.json", "w") as f:
        json.dump({"schema": "tare/stat/1", "command": ["p"], "exit_status": 0, "runs": 2, "conditions": {"tare": "1", "isa": "x", "fixed": []}, "events": events}, f)
    with open(f"{i}.out", "w") as out:
        return subprocess.Popen([TARE, "history", "add", f"{i}.json", "--commit", f"c{i}", "--db", "h.db", "--wait", "500s"], stdout=out)


def median_ms(n, f):
    times = []
    for _ in range(n):
        begun = time.monotonic()
        f()
        times.append(time.monotonic() - begun)
    return sorted(times)[n // 2] * 1000


def survives():
    draw, begun = random.Random(SEED), time.monotonic()
    failed = sum(p.wait() != 0 for p in [start(i) for i in range(WRITERS)])
    print(f"{WRITERS} writers at once: {time.monotonic() - begun:.2f} s, {failed} failed")
    alone = iter(range(WRITERS, WRITERS + 9))
    one = median_ms(9, lambda: start(next(alone)).wait())
    killed, added = 0, set(range(WRITERS + 9))
    for i in range(WRITERS + 9, WRITERS + 9 + KILLS):
        writer = start(i)
        time.sleep(draw.uniform(0, 1.1 * one / 1000))
        writer.send_signal(signal.SIGKILL)
        killed += writer.wait() < 0
        with open(f"{i}.out") as out:
            if out.read().startswith("added 1 "):
                added.add(i)
    db = sqlite3.connect("h.db")
    stored = {int(name[1:]): (n, least, most) for name, n, least, most in
              db.execute("SELECT name, count(*), min(value), max(value) FROM value JOIN run ON run.id = run GROUP BY run.id")}
    whole = db.execute("PRAGMA integrity_check").fetchone()[0]
    lost, wrong = len(added - stored.keys()), sum(v != (EVENTS, i, i) for i, v in stored.items())
    print(f"{killed} of {KILLS} writers killed: {len(added)} measurements were reported as added, {lost} of them lost, {wrong} incomplete; integrity: {whole}")
    return not (failed or lost or wrong or whole != "ok")


def look_ups():
    db, draw = sqlite3.connect("h.db"), random.Random(SEED)
    for table in ("value", "run", "series"):
        db.execute(f"DELETE FROM {table}")
    db.executemany("INSERT INTO series VALUES (?, ?, ?, '', '')", ((i + 1, f"bench-{i // 4}", f"event-{i % 4}") for i in range(SERIES)))
    db.executemany("INSERT INTO run VALUES (?, ?, ?, '', ?, ?, ?, 0, 0)",
                   ((i + 1, i.to_bytes(16, "big"), f"{i:040x}", f"the subject of commit number {i}", 1500000000 + 600 * i, i + 1) for i in range(COMMITS)))
    db.executemany("INSERT INTO value VALUES (?, ?, 1, ?, ?, ?, 5)",
                   ((s + 1, i + 1, v, v - 100, v + 100) for s in range(SERIES) for i in range(COMMITS) for v in [int(draw.gauss(1e6, 1e4))]))
    db.commit()
    db.execute("VACUUM")
    db.close()
    print(f"{SERIES * COMMITS} values, {os.path.getsize('h.db') / 1e6:.0f} MB:")
    for words, n in ((["show", "bench-7", "-e", "event-1"], 15), (["list"], 9), (["plot", "-o", "h.html"], 3), (["export", "-o", "h.parquet"], 3)):
        print(f"  {' '.join(words)}: {median_ms(n, lambda: subprocess.run([TARE, 'history', *words, '--db', 'h.db'], stdout=subprocess.DEVNULL, check=True)):.0f} ms")


with tempfile.TemporaryDirectory() as room:
    os.chdir(room)
    ok = survives()
    look_ups()
    os.chdir("/")
sys.exit(0 if ok else 1)
