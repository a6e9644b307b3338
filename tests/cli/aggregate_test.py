# SPDX-License-Identifier: MIT
"""tare aggregate as a user runs it: on made runs whose noise and differences are known, and on rustc's recordings with what
measureme says of them (TARE_FIXTURES names the folder that holds mmprofdata/).

usage: aggregate_test.py TARE SCHEMAS ROOT
"""
import csv
import io
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from mmprofdata import INSTANT, INSTRUCTIONS, INTEGER, trees, truth, write  # noqa: E402
from recordings import copy, document, fixtures, room, tare  # noqa: E402


def points(events, thread):
    """A thread's points in order: (value, kind, label, around), by sorting and a stack. Ties do not occur in trees()."""
    flat = []
    for k, l, t, a, b in events:
        if t == thread and b < INTEGER:
            flat += [(a, "begin", l), (b, "end", l)]
        elif t == thread and b == INSTANT:
            flat.append((a, "instant", l))
    out, stack = [], []
    for v, kind, l in sorted(flat):
        if kind == "end":
            stack.pop()
        out.append((v, kind, l, stack[-1] if stack else None))
        if kind == "begin":
            stack.append(l)
    return out


def ranges(runs):
    """Least, most and range of every interval of runs that did the same."""
    out = []
    for t in sorted({e[2] for e in runs[0]}):
        sides = [points(r, t) for r in runs]
        for i in range(1, len(sides[0])):
            d = [s[i][0] - s[i - 1][0] for s in sides]
            out.append((min(d), max(d), max(d) - min(d)))
    return out


def extreme(values, largest, n=10):
    keys = sorted(set(values), reverse=largest)[:n]
    return [(k, values.count(k)) for k in keys]


def listed(c, key):
    return [(e["value"], e["count"]) for e in c[key]]


@test
def detached_timings_have_rows():
    """b begins in a and ends behind it: the first nests in nothing. Summarize and diff have the same sums."""
    runs = [write(room(f"apart{i}"), [("K", "a", 1, 1000, 3000 + i), ("K", "b", 1, 2000, 3500)]) for i in range(2)]
    d = document("aggregate", *runs)
    rows = {l["label"]: l for l in d["labels"]}
    equal({n: (l["counts"], l.get("detached"), l["counters"]["wall-time"]["self"]["runs"]) for n, l in rows.items()},
          {"a": ([1, 1], [1, 1], [2000, 2001]), "b": ([1, 1], None, [1500, 1500])}, "rows")
    equal([r["regions"] for r in d["runs"]], [document("summarize", r)["regions"] for r in runs], "regions")
    text = tare("aggregate", "--match", "a", runs[0], runs[1]).stdout
    true("; 1 more without a value in every run" in text and "without a value: in a run, the counter" in text, text)
    true(re.search(r"2.0 us +1 ns +range 0.050 % .* a \[K\] +1 detached$", text, re.M) and "detached: timings of the label" in text, text)


@test
def the_same_work_with_noise():
    runs = [trees(4, noise=n) for n in (1, 2, 3, 4)]
    d = document("aggregate", *[write(room(f"run{i}"), r) for i, r in enumerate(runs)])
    want = ranges(runs)
    (c,) = d["counters"]
    equal((d["differences"], d["intervals"], c["intervals"]), (0, len(want), len(want)), "all are compared")
    equal(listed(c, "shortest"), extreme([w[0] for w in want], False), "shortest")
    equal(listed(c, "longest"), extreme([w[1] for w in want], True), "longest")
    equal(listed(c, "smallest_noise"), extreme([w[2] for w in want], False), "smallest noise")
    equal(listed(c, "largest_noise"), extreme([w[2] for w in want], True), "largest noise")
    equal(c["noise"], sum(w[2] for w in want), "noise")
    equal(c["equal"], sum(w[2] == 0 for w in want), "equal")
    for b in c["histogram"]:
        equal(b["count"], sum(b["from"] <= w[2] <= b["to"] for w in want), f"{b}")
    equal(sum(b["count"] for b in c["histogram"]), len(want), "the histogram has them all")
    truths = [truth(r) for r in runs]
    for row in d["labels"]:
        selves = [t.get(row["label"], {"self": 0})["self"] for t in truths]
        equal(row["counters"]["wall-time"]["self"]["runs"], selves, row["label"])
        equal(row["counts"], [t.get(row["label"], {"count": 0})["count"] for t in truths], row["label"])
    inside = sum(r["counters"]["wall-time"]["interval_noise"] for r in d["labels"])
    top = 0  # intervals that lie in no region
    for t in range(3):
        sides = [points(r, t) for r in runs]
        for i in range(1, len(sides[0])):
            v, kind, l, around = sides[0][i]
            if kind != "end" and around is None:
                gaps = [s[i][0] - s[i - 1][0] for s in sides]
                top += max(gaps) - min(gaps)
    equal(inside + top, c["noise"], "each interval's noise is in the label it lies in")


@test
def identical_runs_have_no_noise():
    path = write(room("same"), trees(6))
    d = document("aggregate", path, copy(path), copy(path, 2))
    (c,) = d["counters"]
    equal((c["equal"], c["noise"]), (c["intervals"], 0), "none")
    text = tare("aggregate", "--check", path, copy(path)).stdout
    true("All runs have the same points" in text and "equal in all runs in 100.00 % of them" in text, text)


def flat(names, start=0):
    out, at = [], start
    for n in names:
        out.append(("GenericActivity", n, 1, at, at + 5))
        at += 10
    return out


def wrapped(names):
    inner = flat(names, 10)
    return inner + [("GenericActivity", "main", 1, 0, inner[-1][4] + 5)]


@test
def runs_that_differ_come_together_again():
    a = [f"s{i % 50}" for i in range(200)]
    b = a[:70] + ["new", "newer"] + a[70:120] + a[123:]
    one, two = write(room("one"), wrapped(a)), write(room("two"), wrapped(b))
    d = document("aggregate", one, two)
    equal(d["differences"], 2, "places")
    first, second = d["first_differences"]
    equal(first["in"]["label"], "main", "in")
    equal((first["after"]["label"], first["after_kind"]), (a[69], "end"), "after")
    equal([(r["next"]["label"], r["kind"], r["alone"], r["index"]) for r in first["runs"]],
          [(a[70], "begin", 0, 141), ("new", "begin", 4, 141)], "what each side has")
    equal([r["alone"] for r in second["runs"]], [6, 0], "the other place")
    # 402 points of one, 4 that only two has; each place costs one interval beside those that are not in both.
    equal(d["counters"][0]["intervals"], 401 - 6 - 2, "compared")
    tare("aggregate", "--check", one, two, status=2)
    text = tare("aggregate", one, two).stdout
    true(re.search(r"run 2 +point 141 +begin of new +4 alone", text), text)
    # The other way round it is the same.
    equal([r["alone"] for r in document("aggregate", two, one)["first_differences"][0]["runs"]], [4, 0], "other way")


@test
def a_difference_at_either_end_and_a_longer_run():
    a = [f"s{i}" for i in range(30)]
    base = write(room("base"), wrapped(a))
    for other, alone in ((["x"] + a, [0, 2]), (a + ["x"], [0, 2]), (a[1:], [2, 0]), (a[:-3], [6, 0])):
        d = document("aggregate", base, write(room("other"), wrapped(other)))
        equal((d["differences"], [r["alone"] for r in d["first_differences"][0]["runs"]]), (1, alone), f"{other[:2]} {other[-2:]}")
    d = document("aggregate", base, write(room("other"), flat(["z"] * 20)))
    true(d["differences"] >= 1 and d["counters"][0]["intervals"] == 0, "nothing is the same")


@test
def three_runs_of_which_one_differs():
    a = [f"s{i % 9}" for i in range(100)]
    b = a[:40] + ["odd"] + a[40:]
    d = document("aggregate", write(room("x"), flat(a)), write(room("y"), flat(b)), write(room("z"), flat(a)))
    equal(d["differences"], 1, "one place")
    equal([r["alone"] for r in d["first_differences"][0]["runs"]], [0, 2, 0], "who is alone")
    equal([r["alone"] for r in d["runs"]], [0, 2, 0], "in all")


@test
def the_order_of_files_plays_no_part():
    """Rounds of two, and a third at random: each round goes with its own, whichever file is first."""
    any_of = random.Random(5)
    paths = []
    for r in range(3):
        labels = []
        for i in range(600):
            labels += ["a"] + ["c"] * (any_of.random() < 0.2) + ["b"]
        paths.append(write(room(f"o{r}"), flat(labels)))
    first = document("aggregate", *paths)
    alone = sum(r["alone"] for r in first["runs"])
    true(0 < alone < 1000, f"what is not in all: {alone}")
    rows = lambda d: {r["label"]: r["counters"]["wall-time"]["interval_noise"] for r in d["labels"]}
    other = document("aggregate", paths[2], paths[0], paths[1])
    for key in ("differences", "intervals"):
        equal(other[key], first[key], key)
    equal((rows(other), [r["alone"] for r in other["runs"]]), (rows(first), [first["runs"][i]["alone"] for i in (2, 0, 1)]), "all else")


@test
def runs_that_never_meet_again_are_said():
    a = flat([f"a{i % 7}" for i in range(6000)])
    b = flat([f"a{i % 7}" for i in range(10)] + [f"b{i % 7}" for i in range(6000)])
    d = document("aggregate", write(room("x"), a), write(room("y"), b))
    equal((d["differences"], d["first_differences"][0]["lost"], d["threads"][0]["given_up"]), (1, False, False), "up to the end")
    counts = {r["label"]: r["counts"] for r in d["labels"]}
    equal((counts["a0"][0], counts["b0"][1]), (858, 858), "the rest is summed all the same")
    compared = {r["label"]: r["counters"]["wall-time"]["intervals_compared"] for r in d["labels"]}
    equal((compared["a0"], compared["b0"]), (10 // 7 + 1, 0), "of what only one run has, nothing is known")
    rows = [l for l in tare("aggregate", "--top", "0", room("x"), room("y")).stdout.splitlines() if re.search(r" b0( |$)", l) and "point" not in l]
    true(len(rows) == 1 and " - " in rows[0], f"not plus or minus 0: {rows}")


@test
def threads_are_matched():
    a, b = trees(8, threads=3), trees(8, threads=3, noise=5)
    b2 = [e for e in b if e[2] != 1]
    d = document("aggregate", write(room("x"), a), write(room("y"), b2))
    # By number where they have one; thread 1 of the first run has none but is not matched with another's.
    equal([(t["tid"], t["runs"]) for t in d["threads"]], [(0, 2), (1, 1), (2, 2)], "threads")
    equal(d["differences"], 0, "the others are the same")
    tare("aggregate", "--check", room("x"), room("y"), status=2)
    text = tare("aggregate", room("x"), room("y")).stdout
    true("is in 1 of 2 runs only" in text and "Where they are compared, all runs have" in text, text)


@test
def what_lies_in_no_region_is_a_row():
    """Between two regions 10 and 30: noise that no label has."""
    a, b = (write(room(f"between{gap}"), [("K", "x", 1, 0, 5), ("K", "y", 1, 5 + gap, 10 + gap)]) for gap in (10, 30))
    d = document("aggregate", a, b)
    c = d["counters"][0]
    equal((c["noise"], c["outside_noise"], c["outside_intervals"], c["intervals"]), (20, 20, 1, 3), "in JSON")
    text = tare("aggregate", a, b).stdout
    true(re.search(r"20 ns +\(in no region\)", text), text)
    true("(in no region)" not in tare("aggregate", "--match", "x", a, b).stdout, "of all labels only")


@test
def the_sign_of_an_interval_is_not_that_of_a_range():
    """Six runs or more have a confidence interval of the median, fewer a range; text and JSON show the same number."""
    values = [1000, 1040, 1010, 990, 1100, 1005, 1013, 977, 1021]
    for n in (2, 5, 6, 9):
        files = [write(room(f"sign{n}.{i}"), [("K", "x", 1, 0, v)]) for i, v in enumerate(values[:n])]
        s = sorted(values[:n])
        (label,) = (l for l in document("aggregate", *files)["labels"] if l["label"] == "x")
        self = label["counters"]["wall-time"]["self"]
        low, high = (s[1], s[-2]) if n == 9 else (s[0], s[-1])
        median = s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) // 2
        percent = 100 * (high - low) / (2 if n >= 6 else 1) / median
        equal((self["low"], self["high"], self["median"], self["interval"]), (low, high, median, "confidence" if n >= 6 else "range"), n)
        true(abs(self["interval_percent"] - percent) < 1e-9, (n, self, percent))
        text = tare("aggregate", *files).stdout
        true(re.search(rf"{'±' if n >= 6 else 'range'} {percent:.{0 if percent >= 10 else 1}f} % .* x", text), (n, percent, text))
        true(("±" in text) == (n >= 6), text)


@test
def runs_with_nothing_in_common():
    x, y = write(room("x"), flat(["a"] * 20)), write(room("y"), flat(["b"] * 20))
    text = tare("aggregate", x, y).stdout
    true("nothing to compare" in text and "same points" not in text, text)
    tare("aggregate", "--check", x, y, status=2)
    true("nothing to compare" not in tare("aggregate", x, copy(x)).stdout, "of one with itself")
    tare("aggregate", "--check", x, copy(x))
    tare("aggregate", x, y, "--check", status=2)
    tare("aggregate", x, copy(x), "--check")


@test
def damaged_and_refused():
    path = write(room("x"), trees(1))
    wrong = write(room("wrong"), trees(1) + [("K", "x", 0, 9, 3)])
    tare("aggregate", path, wrong, status=1)
    # Where there is no place for it beside the rows, it is said all the same.
    for words in (("summarize", wrong), ("diff", path, wrong), ("aggregate", path, wrong)):
        said = tare(*words, "--format", "csv", status=1).stderr
        true(f"tare {words[0]}: warning: {wrong}: 1 intervals end before they start" in said, said)
    equal(tare("summarize", "--format", "csv", path).stderr, "", "nothing is damaged")
    true("two or more recordings" in tare("aggregate", path, status=125).stderr, "one is not enough")
    other = write(room("y"), trees(1), metadata=INSTRUCTIONS)
    said = tare("aggregate", path, other, status=125).stderr
    true(f"{other}: its counter 1 is instructions:u; in {path} it is wall-time" in said, said)
    true("have no counter 'cycles'" in tare("aggregate", "--by", "cycles", path, copy(path), status=125).stderr, "no such counter")


@test
def first_times_are_of_threads():
    """Noise that another thread may have taken; where there is one thread, none has."""
    def told(threads):
        runs = [write(room(f"t{threads}n{n}"), trees(4, threads=threads, noise=n), metadata=INSTRUCTIONS) for n in (1, 2)]
        return " ".join(tare("aggregate", *runs).stdout.split())
    true("may be done by another thread" in told(3), told(3))
    true("thread" not in told(1).split("intervals between")[1].split("intervals by range")[0], told(1))


@test
def csv_and_narrow():
    path, other = write(room("x"), trees(1)), write(room("y"), trees(1, noise=9))
    rows = list(csv.DictReader(io.StringIO(tare("aggregate", "--format", "csv", path, other).stdout)))
    want = truth(trees(1, noise=9))
    for r in rows:
        if r["run"] == "2" and r["label"] in want:
            equal((int(r["count"]), int(r["self"]), int(r["total"])), tuple(want[r["label"]][k] for k in ("count", "self", "total")), r["label"])
    for line in tare("aggregate", path, other, COLUMNS="60").stdout.split("\n")[3:]:
        if "in " not in line:  # places are as long as their labels
            true(len(line) <= 60, line)


def in_ns(text):
    n, unit = text.split()
    return round(float(n) * {"ns": 1, "µs": 1000, "ms": 10**6}[unit])


@test
def rustcs_recordings_as_measureme_compares_them():
    path = fixtures()
    text = (path / "expected/aggregate.txt").read_text()
    d = document("aggregate", *sorted(path.glob("rustc-check-*.mm_profdata")))
    (c,) = d["counters"]
    equal(d["differences"], 0, "the same sequence")
    keys = {"Smallest 10 durations": "shortest", "Largest 10 durations": "longest", "Smallest 10 variances": "smallest_noise",
            "Largest 10 variances": "largest_noise"}
    for part in re.split(r"\n\n(?=[SL])", text.strip()):
        head, body = part.split(":\n", 1)
        mine = {e["value"]: e for e in c[keys[head]]}
        theirs = re.findall(r"^  (±?)([\d.]+) ns: (.*(?:\n {3,}.*)*)", body, re.M)
        equal(len(theirs), 10, head)
        for sign, value, what in theirs:
            e = mine[round(float(value) * (2 if sign else 1))]
            m = re.match(r"(\d+) occurrences, or ([\d.]+)%", what)
            if m:
                equal((e["count"], f"{100 * e['count'] / c['intervals']:.2f}"), (int(m[1]), m[2]), f"{head}: {value}")
                continue
            p = e["place"]
            names = re.findall(r"`(\w+)\(\)`", what)
            mine_names = [x["label"] for x in (p["in"], p["from"], p["to"]) if x]
            true(set(names) <= set(mine_names), f"{head}: {what}: {p}")
            if what.startswith("in "):
                equal(p["in"]["label"], names[0], what)
            if "between" in what:
                equal((p["from_kind"], p["to_kind"], p["from"]["label"], p["to"]["label"]), ("end", "begin", *names[-2:]), what)
            elif "after" in what:
                equal((p["from_kind"], p["to_kind"], p["from"]["label"]), ("end", "end", names[-1]), what)
            elif "before" in what:
                equal((p["from_kind"], p["to_kind"], p["to"]["label"]), ("begin", "begin", names[-1]), what)
            else:
                equal((p["from_kind"], p["to_kind"]), ("begin", "end"), what)


@test
def the_budget_of_many_runs():
    files = []
    for n in range(8):
        files.append(room(f"budget.{n}"))
        write(files[-1], trees(3, steps=60, noise=n))
    d = document("aggregate", "--explain", *files)
    c = d["explain"]["events"][0]
    equal((c["state"], c["n"], c["parts"], d["explain"]["conditions"]), ("split", 8, [], 0))
    true(c["unexplained"]["share"] == 1 and c["unexplained"]["place"].startswith("the first interval that differs is "), f"{c}")
    text = tare("aggregate", "--explain", *files).stdout
    true("Where the spread comes from" in text and "unexplained: the first interval that differs is" in text, text)
    d = document("aggregate", "--explain", *files[:3])
    equal(d["explain"]["events"][0]["state"], "too few runs")
    d = document("aggregate", "--explain", files[0], copy(files[0]), copy(files[0], 2))
    equal(d["explain"]["events"][0]["state"], "no spread")
    true("--explain is for text or json" in tare("aggregate", "--explain", "--format", "csv", *files, status=125).stderr, "csv")
    true("explain" not in document("aggregate", *files), "only where it is asked for")


main()
