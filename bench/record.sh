# SPDX-License-Identifier: MIT
# The cost of sampling: CPU time of a program with fixed work, alternately run alone, under perf record and under tare record.
command -v perf >/dev/null || exit 0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Medians over the rounds: the program's CPU time under each, and the recorder's own, against perf's in the same round.
python3 - "$BUILD/src/tare" "$dir" <<'END'
import json, os, resource, statistics, subprocess, sys

tare, room = sys.argv[1], sys.argv[2]
WORK = ["/usr/bin/python3", "-S", "-c", """
import time
def deep(n):
    return deep(n - 1) if n else sum(i * i for i in range(1000))
for i in range(12000): deep(20)
print(time.process_time())
"""]
OPTIONS = ["-q", "-e", "cpu-clock", "-F", "10000", "-g", "-o", os.path.join(room, "perf.data"), "--"]
HOW = {"alone": [], "perf": ["perf", "record", *OPTIONS], "tare": [tare, "record", *OPTIONS]}
rounds = int(os.environ.get("ROUNDS", "21"))
program, own = {h: [] for h in HOW}, {h: [] for h in HOW}
for i in range(rounds):
    for h in sorted(HOW, reverse=i % 2):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        r = subprocess.run([*HOW[h], *WORK], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = float(r.stdout.split()[0])
        program[h].append(took)
        own[h].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - took)

def row(*cells):
    print("\t".join(cells))

ratio = lambda of, a, b: statistics.median(x / y for x, y in zip(of[a], of[b]))
how = f"10 kHz cpu-clock with call chains, {statistics.median(program['alone']):.1f} s of python; median of {rounds} rounds"
row("tare record, the program slower by", f"{100 * ratio(program, 'tare', 'alone') - 100:.1f}", "%", "", how)
row("perf record, the program slower by", f"{100 * ratio(program, 'perf', 'alone') - 100:.1f}", "%", "", "the same")
row("tare record against perf record, the program", f"{ratio(program, 'tare', 'perf'):.3f}", "times its CPU time", "<= 1.05",
    "the same; the kernel's interrupt is both's")
row("tare record against perf record, the recorder", f"{ratio(own, 'tare', 'perf'):.2f}", "times its CPU time", "<= 1", "the same; build ids looked up by both")
END
