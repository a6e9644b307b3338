# SPDX-License-Identifier: MIT
"""How often `tare compare` is wrong: false alarms without a change, planted changes that it misses.

usage: compare.py TARE CC exact|planted|times|slower|slower-busy COMPARISONS [RUNS]

exact: a program with itself, exact counts only. An alarm is any verdict but "same".
planted: a loop of N steps with one of N + N / 10000 (0.01 % of its instructions), N different each time. A miss is any verdict but "slower",
or another function than that of the loop.
times: a program with itself, up to RUNS runs of each side (default 16), while four other processes are busy. An alarm is a verdict "more" or "less" of
a time. The number of each verdict is shown, too, because a test that never decides has no false alarms.
slower: a loop of 20 M steps with one of 3 % more, up to RUNS runs of each side (default 1000). In a miss, neither
CPU time nor wall time has the verdict "more": a set ends as soon as one of them has it.
slower-busy: the same while four other processes are busy.
Also shown: the mean number of pairs, and the number of first sets with a change that the second set did not confirm.
The last line has the rate with its 95 % interval (Wilson). Ctrl-C ends it early, with the comparisons so far.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

TARE, CC, KIND, TIMES = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
RUNS = sys.argv[5] if len(sys.argv) > 5 else "16" if KIND == "times" else "1000"

LOOP = """
__attribute__((noinline)) static long planted(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
int main(void) { return planted(STEPS) < 0; }
"""


def programs(room):
    """Twenty, with their arguments: small tools, interpreters, a compiler. The first ten are those of `times`."""
    with open(f"{room}/text", "w") as text:
        text.writelines(f"line {i * 7919 % 10007} of some text\n" for i in range(20000))
    with open(f"{room}/x.c", "w") as source:
        source.write(LOOP)
    with open(f"{room}/x.json", "w") as source:
        json.dump([{"key": i, "value": str(i) * 3} for i in range(3000)], source)
    return [["gzip", "-c", "text"], ["sort", "text"], ["grep", "-c", "9.*7", "text"], ["sed", "s/line/word/", "text"], ["awk", "{ n += $2 } END { print n }", "text"],
            ["python3", "-c", "import json; json.load(open('x.json'))"], ["perl", "-e", "my %h; $h{$_ % 977} += $_ for 1 .. 50000; print scalar keys %h"],
            ["bash", "-c", "for ((i = 0; i < 3000; i++)); do :; done"], [CC, "-O2", "-DSTEPS=1", "-S", "-o", "/dev/null", "x.c"], ["sha256sum", "text"],
            ["xz", "-1", "-c", "text"], ["tar", "-cf", "-", "text", "x.c"], ["uniq", "-c", "text"], ["find", "/usr/include", "-name", "std*.h"],
            ["openssl", "sha256", "text"], ["git", "hash-object", "text"], ["wc", "x.json"], ["od", "-c", "x.json"],
            ["sqlite3", ":memory:", "select sum(value) from (with recursive n(value) as (select 1 union all select value + 1 from n where value < 9999) select value from n)"], ["make", "-n", "x"]]


def compare(room, *words):
    r = subprocess.run([TARE, "compare", "-j", *words], capture_output=True, text=True, cwd=room, stdin=subprocess.DEVNULL)
    if r.returncode not in (0, 2, 125) or not r.stdout:
        sys.exit(f"tare compare {' '.join(words)}: status {r.returncode}: {r.stderr}")
    return json.loads(r.stdout)


def exact(room, n):
    every = programs(room)
    program = every[n % len(every)]
    d = compare(room, "-r", "0", "--no-cause", "--", *program, ":::", *program)
    return d["verdict"] != "same", program[0]


def planted(room, n):
    steps = 10000 * (1 + n * 37 % 100)
    with open(f"{room}/loop.c", "w") as source:
        source.write(LOOP)
    for name, of in (("a", steps), ("b", steps + steps // 10000)):
        subprocess.run([CC, "-O1", f"-DSTEPS={of}", "-o", f"{room}/{name}", f"{room}/loop.c"], check=True)
    d = compare(room, "-r", "0", "--", "./a", ":::", "./b")
    return d["verdict"] != "slower" or d["cause"]["functions"][0]["function"] != "planted", "loop"


def look(d):
    for e in d["events"]:
        if e["unit"] == "ns":
            verdicts[f"{e['event']} {e['verdict']}"] += 1
            first[e["unconfirmed"]] += 1
    pairs.append(max(len(e["before"]["runs"]) + len(e["before"]["second_runs"]) for e in d["events"] if e["unit"] == "ns"))


def times(room, n):
    program = programs(room)[n % 10]
    d = compare(room, "-r", RUNS, "--no-cause", "--", *program, ":::", *program)
    look(d)
    return any(e["unit"] == "ns" and e["verdict"] in ("more", "less") for e in d["events"]), program[0]


def slower(room, n):
    for name, steps in (("a", 20000000), ("b", 20600000)) if n == 0 else ():
        with open(f"{room}/loop.c", "w") as source:
            source.write(LOOP)
        subprocess.run([CC, "-O1", f"-DSTEPS={steps}", "-o", f"{room}/{name}", f"{room}/loop.c"], check=True)
    d = compare(room, "-r", RUNS, "--no-cause", "--", "./a", ":::", "./b")
    look(d)
    return all(e["verdict"] != "more" for e in d["events"] if e["unit"] == "ns"), "loop"


wrong, of, verdicts, first, pairs = 0, collections.Counter(), collections.Counter(), collections.Counter(), []
busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 if KIND in ("times", "slower-busy") else 0)]
try:
    with tempfile.TemporaryDirectory() as room:
        for n in range(TIMES):
            bad, name = {"exact": exact, "planted": planted, "times": times, "slower": slower, "slower-busy": slower}[KIND](room, n)
            wrong += bad
            of[name] += bad
except KeyboardInterrupt:
    TIMES = n
finally:
    for p in busy:
        p.kill()

if not TIMES:
    sys.exit("no comparison ended")
share, z = wrong / TIMES, 1.96
middle = (share + z * z / (2 * TIMES)) / (1 + z * z / TIMES)
half = z * (share * (1 - share) / TIMES + z * z / (4 * TIMES * TIMES)) ** 0.5 / (1 + z * z / TIMES)
print(f"{KIND}: {TIMES} comparisons, {wrong} wrong: {100 * share:.1f} % ({100 * max(middle - half, 0):.1f} to {100 * (middle + half):.1f}) {dict(+of)}; times: {dict(verdicts)}, {first[True]} alarms of a first set were not confirmed; {sum(pairs) / max(len(pairs), 1):.0f} pairs on average")
