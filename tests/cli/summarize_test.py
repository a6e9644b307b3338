# SPDX-License-Identifier: MIT
"""tare summarize as a user runs it: on made recordings whose truth is known by brute force, and on
rustc's with what measureme says of them (TARE_FIXTURES names the folder that holds mmprofdata/).

usage: summarize_test.py TARE SCHEMAS ROOT
"""
import csv
import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from mmprofdata import INSTANT, INSTRUCTIONS, INTEGER, trees, truth, write  # noqa: E402
from recordings import ENV, ROOM, TARE, copy, document, fixtures, nanoseconds, room, tare  # noqa: E402


def nearest_rank(values, q):
    return sorted(values)[max(1, math.ceil(q * len(values))) - 1]


def median(values):
    """Halfway between the middle two, rounded down."""
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) // 2


@test
def made_trees_are_summed_as_brute_force_does():
    for seed in range(3):
        for version in (8, 9):
            events = trees(seed)
            want = truth(events)
            d = document("summarize", write(room("trees"), events, version))
            rows = {r["label"]: r for r in d["labels"] if r["count"]}
            equal(set(rows), set(want), "labels")
            equal(d["regions"], sum(w["count"] for w in want.values()), "regions")
            for name, w in want.items():
                r, t = rows[name], rows[name]["counters"]["wall-time"]
                equal((r["count"], r["recursive"], t["self"], t["sum"], t["total"]), (w["count"], w["recursive"], w["self"], w["sum"], w["total"]),
                      f"{name} of {seed}")
                equal((t["min"], t["max"]), (min(w["all"]), max(w["all"])), name)
                for key, exact in (("median", median(w["all"])), ("p99", nearest_rank(w["all"], 0.99))):
                    true(abs(t[key] - exact) <= t[key + "_error"] <= exact / 127, f"{name}: {key} {t[key]}, not {exact}")
                    equal(t[key + "_error"] == 0, len(w["all"]) <= 256 or t[key + "_error"] == 0, "exact while few")
            instants = {r["label"]: r["instants"] for r in d["labels"] if r["instants"]}
            equal(sum(instants.values()), sum(e[4] == INSTANT for e in events), "instants")


@test
def per_thread_and_with_arguments():
    events = trees(5)
    path = write(room("threads"), events)
    whole = {r["label"]: r for r in document("summarize", path)["labels"]}
    d = document("summarize", "--per-thread", path)
    for t in range(3):
        want = truth([e for e in events if e[2] == t])
        got = {r["label"]: r for r in d["labels"] if r["count"] and d["threads"][r["thread"]]["tid"] == t}
        equal({k: (r["count"], r["counters"]["wall-time"]["self"]) for k, r in got.items()}, {k: (w["count"], w["self"]) for k, w in want.items()},
              f"thread {t}")
        one = document("summarize", "-t", t, path)
        equal({r["label"]: r["count"] for r in one["labels"] if r["count"]}, {k: w["count"] for k, w in want.items()}, f"only thread {t}")
    split = [r for r in document("summarize", "--args", path)["labels"] if r["label"] == "label 3"]
    equal(sorted(r["arguments"] for r in split), [["0"], ["1"], ["2"], ["3"]], "each set of arguments")
    equal(sum(r["counters"]["wall-time"]["self"] for r in split), whole["label 3"]["counters"]["wall-time"]["self"], "their self")
    equal(tare("summarize", "-t", "nine", path, status=125).stderr.split("\n")[0],
          "tare summarize: no thread has the number or name 'nine'", "no such thread")


@test
def several_recordings_are_summed():
    a, b = trees(1), trees(2)
    d = document("summarize", write(room("a"), a), write(room("b"), b))
    wa, wb = truth(a), truth(b)
    for r in d["labels"]:
        if r["count"]:
            equal(r["counters"]["wall-time"]["self"], sum(w.get(r["label"], {"self": 0})["self"] for w in (wa, wb)), r["label"])
    other = write(room("other"), b, metadata=INSTRUCTIONS)
    true("its counter 1 is instructions:u; in" in tare("summarize", room("a"), other, status=125).stderr, "other counters are refused")


@test
def the_dearest_single_regions():
    events = trees(7, threads=1)
    path = write(room("single"), events)
    d = document("summarize", "-l", "label 3", "--top", "5", path)
    want = sorted((b - a for k, l, t, a, b in events if l.startswith("label 3")), reverse=True)[:5]
    equal([s["total"] for s in d["singles"]], want, "totals")
    first = min(e[3] for e in events if e[4] < INTEGER)
    for s in d["singles"]:
        match = [e for e in events if e[1] == "label 3\x1e" + s["arguments"][0] and e[3] == s["begin"] + first]
        equal(match[0][4] - match[0][3], s["total"], "it is where it says")
    said = tare("summarize", "-l", "label", path, status=125).stderr
    true("there is no label 'label'" in said and re.search(r"did you mean label \d, label \d, label \d\?", said), said)
    text = tare("summarize", "-l", "label 3", path).stdout
    true("label 3, the most expensive by wall-time" in text and "begins at" in text, text)


@test
def detached_timings_are_among_the_dearest():
    """b begins in a and ends behind it: one of the two nests in nothing."""
    path = write(room("apart"), [("K", "a", 1, 1000, 3000), ("K", "a", 1, 2000, 3500)])
    singles = document("summarize", "-l", "a", path)["singles"]
    equal([(s["total"], s["detached"]) for s in singles], [(2000, True), (1500, False)], "totals")
    true("csv has a row per label" in tare("summarize", "--label", "a", "--format", "csv", path, status=125).stderr, "csv")
    equal([(s["thread"], s["end_thread"], s["begin"], s["in"]) for s in singles], [(0, 0, None, None), (0, 0, 0, None)], "places")
    text = tare("summarize", "-l", "a", path).stdout
    equal([len(re.findall(r"detached$", line)) for line in text.splitlines() if " us " in line], [1, 0], text)


@test
def counts_have_no_time_unit():
    path = write(room("count"), [("K", "a", 1, 0, 1234567)], metadata=INSTRUCTIONS)
    text = tare("summarize", path).stdout
    true("1,234,567  100.0 %  1,234,567" in text and " ns" not in text and "instructions:u" in text, text)
    d = document("summarize", path)
    equal((d["counters"][0]["unit"], d["labels"][0]["counters"]["instructions:u"]["self"]), ("", 1234567), "json")


@test
def options_may_stand_behind_the_files():
    x = write(room("x"), trees(1))
    equal(tare("summarize", x, "--top", "1", copy(x)).stdout, tare("summarize", "--top", "1", x, copy(x)).stdout)
    r = tare("summarize", "--", x, "--top", status=125)
    true("--top: No such file" in r.stderr, r.stderr)


@test
def values_and_instants():
    events = [("ArtifactSize", "object", 1, 500, INTEGER), ("ArtifactSize", "object", 1, 300, INTEGER), ("Mark", "tick", 1, 7, INSTANT),
              ("GenericActivity", "a", 1, 5, 9)]
    d = document("summarize", write(room("values"), events))
    rows = {r["label"]: r for r in d["labels"]}
    equal(rows["object"]["integers"], {"count": 2, "sum": 800, "min": 300, "max": 500, "last": 300}, "value")
    equal(rows["tick"]["instants"], 1, "instant")
    text = tare("summarize", room("values")).stdout
    true(re.search(r"2 +800 +300 +500 +300 +object \[ArtifactSize\]", text), text)
    # A label of both; and where there is no region, there is no table of them.
    both = write(room("both"), [("Mark", "x", 1, 500, INTEGER), ("Mark", "x", 1, 7, INSTANT), ("Mark", "x", 1, 8, INSTANT)])
    text = tare("summarize", both).stdout
    true(re.search(r"\n +1 +500 +x\b.*\n +2 +x\b.*\(instants\)\n", text) and "self" not in text, text)


@test
def labels_that_only_their_kind_tells_apart():
    """One name of two kinds of region: each row says which, in every command; a name of one kind of region, or with other arguments, does not."""
    def run(name, cost):
        return write(room(name), [("Query", "twin", 1, 0, 40), ("GenericActivity", "twin", 1, 50, 50 + cost), ("Query", "one", 1, 100, 120),
                                  ("QueryCacheHit", "one", 1, 125, INSTANT), ("Query", "args\x1ea", 1, 130, 140), ("Query", "mixed\x1ex", 1, 150, 155),
                                  ("GenericActivity", "mixed\x1ey", 1, 160, 165), ("GenericActivity", "mixed\x1ex", 1, 170, 175)])
    a, b = run("a", 20), run("b", 30)
    query, other = r"\btwin \[Query\](\n| )", r"\btwin \[GenericActivity\](\n| )"
    for command in (("summarize", a), ("diff", a, b), ("aggregate", a, b)):
        text = tare(command[0], "--top", "0", *command[1:]).stdout
        true(re.search(query, text) and re.search(other, text) and not re.search(r"\btwin(?! \[)", text), text)
        true("one" in text and not re.search(r"(one|args\S*) \[(Query|GenericActivity)\]", text), text)
    text = tare("summarize", "-l", "twin", a).stdout
    true(re.search(query, text) and re.search(other, text), text)
    text = tare("summarize", "--args", a).stdout
    true("mixed(x) [Query]" in text and "mixed(x) [GenericActivity]" in text and re.search(r"mixed\(y\)(?! \[)", text), text)


@test
def a_sum_of_values_that_does_not_fit():
    most = 2**48 - 1  # of a value in such a file
    for n, text, want in ((65538, ">18,446,744,073,709,551,615", {"sum": None, "sum_more_than": str(2**64 - 1)}),
                          (65536, " 18,446,744,073,709,486,080", {"sum": str(2**64 - 65536)})):
        path = write(room("big"), n * [("ArtifactSize", "object", 1, most, INTEGER)] + [("GenericActivity", "a", 1, 5, 9)])
        (row,) = [r for r in document("summarize", path)["labels"] if r["label"] == "object"]
        equal({k: row["integers"][k] for k in row["integers"] if k.startswith("sum")}, want, "json")
        true(text in tare("summarize", path).stdout, tare("summarize", path).stdout)


@test
def detached_and_wrong_ones_are_said():
    path = write(room("overlap"), [("K", "a", 1, 0, 10), ("K", "b", 1, 5, 15), ("K", "c", 1, 9, 3)])
    d = document("summarize", path, status=1)
    rows = {r["label"]: r for r in d["labels"] if r["count"]}
    equal((rows["a"]["detached"], rows["b"]["detached"], "c" in rows), (1, 0, False), "detached")
    equal([rows[k]["counters"]["wall-time"]["total"] for k in "ab"], [10, 10], "both count whole")
    true("1 intervals end before they start" in d["recordings"][0]["damage"], d["recordings"][0]["damage"])
    r = tare("summarize", path, status=1)
    true("1 events overlap others" in d["recordings"][0]["remark"], d["recordings"][0]["remark"])
    true("1 detached" in r.stdout and "overlap others" in r.stdout.replace("\n  ", ""), r.stdout)


@test
def a_killed_writer_and_a_cut_file():
    path = write(room("whole"), trees(3))
    whole = path.read_bytes()
    room("cut").write_bytes(whole[:len(whole) // 2])
    r = tare("summarize", room("cut"), status=1)
    true("writer did not finish" in r.stdout.replace("\n  ", " ") and "before the end of its last page" in r.stdout.replace("\n  ", " "), r.stdout)
    for n in (0, 3, 7):
        room("cut").write_bytes(whole[:n])
        r = tare("summarize", room("cut"), status=125)
        equal((r.stdout, len(r.stderr.split("\n")) <= 3), ("", True), r.stderr)
    true("No such file" in tare("summarize", room("nowhere"), status=125).stderr, "not there")
    true("is a directory" in tare("summarize", ROOM.name, status=125).stderr, "directory")


@test
def no_string_is_no_damage():
    """StringId::INVALID, as rustc leaves it when it ends with an error."""
    path = write(room("invalid"), [("K", "a", 1, 0, 500), ("K", 100000002, 1, 600, 700)])
    d = document("summarize", path)
    equal(d["recordings"][0]["damage"], None, "damage")
    equal({x["label"]: x["count"] for x in d["labels"]}, {"a": 1, "(label without a text)": 1}, "labels")
    true("labels without a text" in d["recordings"][0]["remark"], "said")


@test
def csv_has_instants_and_values():
    instant, mark = 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFE
    path = write(room("points"), [("Query", "a", 1, 0, 500), ("QueryCacheHitCount", "a", 1, 7, mark), ("QueryCacheHitCount", "a", 1, 5, mark),
                                  ("ArtifactSize", "lib", 1, 12345, mark), ("Mark", "here", 1, 100, instant)])
    rows = list(csv.DictReader(io.StringIO(tare("summarize", "--format", "csv", path).stdout)))
    got = {(r["kind"], r["label"]): [r[k] for k in ("count", "instants", "values", "values_sum", "values_min", "values_max", "values_last")] for r in rows}
    equal(got, {("Query", "a"): ["1", "0", "0", "", "", "", ""], ("QueryCacheHitCount", "a"): ["0", "0", "2", "12", "5", "7", "5"],
                ("ArtifactSize", "lib"): ["0", "0", "1", "12345", "12345", "12345", "12345"], ("Mark", "here"): ["0", "1", "0", "", "", "", ""]}, "rows")
    true(all(None not in r and None not in r.values() for r in rows), "each line has all fields")
    d = document("summarize", path)
    equal(len(rows), len(d["labels"]), "as many as JSON")


@test
def through_a_pipe_to_a_file_and_to_nobody():
    path = write(room("pipe"), trees(3))
    want = tare("summarize", "--format", "csv", path).stdout
    r = subprocess.run([TARE, "summarize", "--format", "csv", "-o", room("out"), "-"], input=path.read_bytes(), capture_output=True, env=ENV, timeout=60)
    equal((r.returncode, room("out").read_text()), (0, want), "standard input, -o")
    rows = list(csv.DictReader(io.StringIO(want)))
    d = {x["label"]: x for x in document("summarize", path)["labels"]}
    equal(sum(int(x["count"]) for x in rows), sum(x["count"] for x in d.values()), "csv has them all")
    equal(rows[0]["self"], str(d[rows[0]["label"]]["counters"]["wall-time"]["self"]), "and the same numbers")
    with open("/dev/full", "w") as full:
        r = subprocess.run([TARE, "summarize", path], stdout=full, stderr=subprocess.PIPE, text=True, env=ENV, timeout=60)
    equal(r.returncode, 125, "a full disk")
    true("cannot write results to standard output: No space left" in r.stderr, r.stderr)


@test
def narrow_and_plain_terminals():
    path = write(room("narrow"), [("K", "a name that is rather long for a terminal of forty columns", 1, 0, 5000000), ("K", "x\n\x1b[31m", 1, 6000000, 7000000)])
    for columns in (40, 60, 80, 200):
        for line in tare("summarize", path, COLUMNS=str(columns)).stdout.split("\n")[3:]:
            true(len(line) <= columns, f"{columns}: {line!r}")
    text = tare("summarize", path, LC_ALL="C").stdout
    true("\\x0a\\x1b[31m" in text and text.isascii(), text)


@test
def sorted_and_filtered():
    path = write(room("sort"), trees(9, threads=1))
    rows = document("summarize", path)["labels"]
    for key in ("self", "total", "median", "p99", "max"):
        got = [r["counters"]["wall-time"][key] for r in document("summarize", "--sort", key, path)["labels"] if r["count"]]
        equal(got, sorted(got, reverse=True), key)
    equal([r["label"] for r in document("summarize", "--sort", "name", path)["labels"]], sorted(r["label"] for r in rows), "name")
    equal({r["label"] for r in document("summarize", "--match", "bel 3", path)["labels"]}, {"label 3"}, "match")
    text = tare("summarize", "--top", "2", path).stdout
    true(re.search(r"\(\d+ more; --top 0 shows all\)", text) and "(in no region)" in text, text)
    true("'size' is not one of self" in tare("summarize", "--sort", "size", path, status=125).stderr, "no such key")
    true("has no counter 'cycles'" in tare("summarize", "--by", "cycles", path, status=125).stderr, "no such counter")


@test
def kinds_of_a_query_in_one_row():
    """Known sums: nested, blocked, loaded and hashed times, hits one by one and as sums, and names that have neither regions nor hits."""
    path = write(room("kinds"), [
        ("GenericActivity", "inner", 1, 20, 25), ("Query", "q", 1, 10, 30),       # self 15, time 20
        ("Query", "q", 1, 45, 50), ("Query", "q", 1, 40, 60),                     # self 5 + 15, time 5 + 20
        ("QueryBlocked", "q", 1, 70, 77),                                         # self, time, blocked 7
        ("GenericActivity", "inner", 1, 81, 83), ("IncrementalLoadResult", "q", 1, 80, 90),     # self, load 8, time 10
        ("GenericActivity", "inner", 1, 92, 93), ("IncrementalResultHashing", "q", 1, 91, 97),  # self, hashing 5
        ("QueryCacheHit", "q", 1, 98, INSTANT), ("QueryCacheHit", "q", 1, 98, INSTANT),
        ("QueryCacheHit", "r", 1, 98, INSTANT), ("QueryCacheHitCount", "r", 1, 4, INTEGER), ("QueryCacheHitCount", "r", 1, 5, INTEGER),
        ("ArtifactSize", "object", 1, 500, INTEGER), ("Mark", "tick", 1, 99, INSTANT)])
    d = document("summarize", "--merge-kinds", path)
    got = {r["label"]: (r["count"], r["hits"], *(r["counters"]["wall-time"][k] for k in ("self", "time", "blocked", "load", "hashing"))) for r in d["merged"]}
    equal(got, {"q": (3, 2, 15 + 5 + 15 + 7 + 8 + 5, 20 + 25 + 7 + 10, 7, 8, 5), "inner": (3, 0, 8, 8, 0, 0, 0), "r": (0, 9, 0, 0, 0, 0, 0)}, "sums")
    equal(sum(r["counters"]["wall-time"]["self"] for r in d["merged"]) + d["counters"][0]["outside"], d["counters"][0]["whole"], "they add up")
    rows = list(csv.DictReader(io.StringIO(tare("summarize", "--merge-kinds", "--format", "csv", path).stdout)))
    of_csv = {r["label"]: tuple(int(r[k]) for k in ("count", "hits", "self", "time", "blocked", "load", "hashing")) for r in rows}
    equal(of_csv, got, "CSV")
    text = tare("summarize", "--merge-kinds", path).stdout
    true(re.search(r"\n +self +% +time +count +hits +blocked +load +hashing +label\n", text), text)
    true(re.search(r" 55 ns +\S+ % +62 ns +3 +2 +7 ns +8 ns +5 ns +q\n", text), text)
    equal([r["label"] for r in document("summarize", "--merge-kinds", "--sort", "count", "--match", "n", path)["merged"]], ["inner"], "filtered")
    for how in (["--label", "q"], ["--args"], ["--per-thread"], ["--sort", "p99"]):
        true("--merge-kinds" in tare("summarize", "--merge-kinds", *how, path, status=125).stderr, str(how))
    true("merged" not in document("summarize", path), "only if asked for")


@test
def rustcs_recordings_as_measureme_merges_them():
    path = fixtures()
    for n in (1, 2, 3):
        want = json.loads((path / f"expected/summarize-{n}.json").read_text())
        rows = document("summarize", "--merge-kinds", path / f"rustc-check-{n}.mm_profdata")["merged"]
        got = {r["label"]: [r["count"], r["hits"], *(r["counters"]["wall-time"][k] for k in ("self", "time", "blocked", "load", "hashing"))] for r in rows}
        for q in want["query_data"]:
            times = (nanoseconds(q[k]) for k in ("self_time", "time", "blocked_time", "incremental_load_time", "incremental_hashing_time"))
            equal(got.pop(q["label"]), [q["invocation_count"], q["number_of_cache_hits"], *times], q["label"])
        equal(got, {}, "no other rows")


@test
def rustcs_recordings_as_measureme_sums_them():
    path = fixtures()
    for n in (1, 2, 3):
        want = json.loads((path / f"expected/summarize-{n}.json").read_text())
        d = document("summarize", path / f"rustc-check-{n}.mm_profdata")
        got = {}
        for r in d["labels"]:  # measureme has one row for all kinds of a label
            g = got.setdefault(r["label"], [0, 0, 0, 0])
            t = r["counters"].get("wall-time", {"self": 0, "sum": 0})
            g[0] += r["count"] if r["kind"] in ("Query", "GenericActivity") else 0
            g[1] += t["self"]
            g[2] += t["sum"] if r["kind"] != "IncrementalResultHashing" else 0
            g[3] += r["integers"]["sum"] if r["kind"] == "QueryCacheHitCount" else 0
        true(len(want["query_data"]) > 250, "labels")
        for q in want["query_data"]:
            equal(got[q["label"]], [q["invocation_count"], nanoseconds(q["self_time"]), nanoseconds(q["time"]), q["number_of_cache_hits"]], q["label"])
        equal(d["counters"][0]["whole"], nanoseconds(want["total_time"]), "all")
        sizes = {r["label"]: r["integers"]["sum"] for r in d["labels"] if r["kind"] == "ArtifactSize"}
        equal(sizes, {a["label"]: a["value"] for a in want["artifact_sizes"]}, "sizes")
        equal(d["recordings"][0]["damage"], None, "nothing is damaged")


main()
