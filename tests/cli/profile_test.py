# SPDX-License-Identifier: MIT
"""`tare stat --profile`: programs whose functions' counts are known get them, and every profile adds up.

usage: profile_test.py TARE SCHEMA
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, SCHEMA = (os.path.abspath(p) for p in sys.argv[1:3])
SOURCES = Path(__file__).resolve().parent / "profile"
os.environ.update(LC_ALL="C.UTF-8", COLUMNS="160")
os.environ.pop("DEBUGINFOD_URLS", None)
WORK = tempfile.TemporaryDirectory()
os.chdir(WORK.name)

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)


def build(out, source, *words):
    cc = "g++" if source.endswith(".cc") else "gcc"
    subprocess.run([cc, "-g", "-O1", "-o", out, SOURCES / source if "/" not in source else source, *words],
                   check=True, stderr=subprocess.PIPE)
    return str(Path(out).resolve())


def stat(*words, status=0):
    r = subprocess.run([TARE, "stat", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=120)
    equal(r.returncode, status, f"status of tare stat {' '.join(words)}\n{r.stderr.decode(errors='replace')}")
    return r


def profile(*words, by="function", status=0):
    """The document; its rows add up to the total, and the total is the event's count."""
    stat("-o", "out.json", "--format", "json", f"--profile={by}", "-e", "instructions:u", *words, status=status)
    d = json.loads(Path("out.json").read_text())
    validated(d, SCHEMA)
    about = d["profile_about"]
    equal(sum(int(r["instructions"]) for r in d["profile"]) + int(about["left_out"]), about["total"], "sum of the rows")
    equal(d["events"][0]["runs"][about["run"]], about["total"], "total against instructions:u")
    for r in d["profile"]:
        true(int(r["instructions"]) >= 0, f"less than nothing: {r}")
    return d


def of(d, function, module=None):
    rows = [r for r in d["profile"] if r["function"] == function and (not module or r["module"].endswith(module))]
    return sum(r["instructions"] for r in rows)


@test
def functions_of_known_counts():
    d = profile("--", build("known", "known.S", "-nostdlib", "-static"))
    equal({r["function"]: r["instructions"] for r in d["profile"]},
          {"_start": 4004, "inner": 16000, "falls": 2000, "into": 3000}, "instructions by function")
    equal(d["profile_about"]["unsplit"], 0, "what could not be told apart")


@test
def lines_of_known_counts():
    d = profile("--", build("known", "known.S", "-nostdlib", "-static"), by="line")
    text = (SOURCES / "known.S").read_text().splitlines()
    counts = {text[r["line"] - 1].split(":")[-1].strip(): r["instructions"] for r in d["profile"]}
    equal(counts["mov $7, %ecx"], 1000, "before the loop")
    equal(counts["jnz 2b"], 7000, "the inner loop")
    equal(counts["lea (%rax), %rax"], 1000, "behind a fall from another function")
    equal(counts["syscall"], 1, "the end")
    equal(len(d["profile"]), 17, "lines executed")


@test
def lines_are_shown_however_long_the_names_of_functions():
    name = "a_name_" + "of_parts_" * 20
    Path("a_file_of_a_long_name.c").write_text(f"static int sum;\nint {name}(int n)\n{{\n\tfor (; n; n--)\n\t\tsum += n;\n\treturn sum;\n}}\nint main(void) {{ return {name}(100000) == 1; }}\n")
    program = build("long", "./a_file_of_a_long_name.c", "-O0")
    for columns in ("50", "66", "80", "120", "200"):
        os.environ["COLUMNS"] = columns
        stat("-o", "out.txt", "--profile=line", "--profile-limit", "2", "-e", "instructions:u", "--", program)
        os.environ["COLUMNS"] = "160"
        text = Path("out.txt").read_text()
        table = text[text.index("instructions by line"):].splitlines()[2:5]
        true(re.search("function +line", table[0]), f"{columns} columns: {table[0]!r}")
        true(all("a_file_of_a_long_name.c:" in row and " a_name" in row for row in table[1:]), f"{columns} columns: {table}")
        true(all(len(row) <= max(int(columns), 72) for row in table), f"{columns} columns: {[len(row) for row in table]}")


@test
def without_line_information_lines_fall_back_to_functions():
    program = build("bare", "known.S", "-nostdlib", "-static", "-g0")
    d = profile("--", program, by="line")
    equal({r["function"]: r["instructions"] for r in d["profile"]},
          {"_start": 4004, "inner": 16000, "falls": 2000, "into": 3000}, "instructions by function")
    true(all(r["file"] is None and r["line"] is None for r in d["profile"]), "a line from nowhere")


@test
def libraries_that_take_turns_at_one_address():
    build("a.so", "plugin.S", "-shared", "-nostdlib", "-DROUNDS=100")
    build("b.so", "plugin.S", "-shared", "-nostdlib", "-DROUNDS=900")
    plugins = build("plugins", "plugins.c", "-ldl")
    r = subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", plugins, "./a.so", "./b.so"],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    equal(r.stdout, "same\n", "where the libraries came to lie")
    d = profile("--", plugins, "./a.so", "./b.so")
    equal(of(d, "work", "/a.so"), 6 * (2 + 3 * 100), "the first library's")
    equal(of(d, "work", "/b.so"), 18 * (2 + 3 * 900), "the second library's, in both processes")


@test
def code_written_at_run_time():
    program = build("jit", "jit.c")
    for words in ([], ["rewrite"]):
        d = profile("--", program, *words)
        rows = [r for r in d["profile"] if r["module"] == "[anonymous memory]"]
        equal(sum(r["instructions"] for r in rows), 10 * (2 + 4 * 250), f"the written code's {words}")
        true(all("generated at run time" in r["reason"] for r in rows), f"reasons: {rows}")


@test
def children_of_one_program_share_what_counts_their_code():
    program = build("fork_fresh", str(SOURCES / "../../exact/prog/fork_fresh.c"), "-D_GNU_SOURCE")
    d = profile("--", program, "3")
    equal(sum(r["instructions"] for r in d["profile"] if r["module"] == "[anonymous memory]"), 3 * 2 * (1 + 24000 + 1),
          "of code that three children and one of each executed")


@test
def the_kernels_own_code():
    Path("clock.c").write_text('#include <time.h>\nint main(void) { struct timespec t; '
                               'for (int i = 0; i < 100; i++) clock_gettime(CLOCK_MONOTONIC, &t); return 0; }\n')
    d = profile("--", build("clock", "./clock.c"))
    rows = [r for r in d["profile"] if r["module"] == "[vdso]"]
    true(sum(r["instructions"] for r in rows) >= 500, f"100 calls: {rows}")
    true(any(r["function"] and "clock_gettime" in r["function"] for r in rows), f"its name: {rows}")


@test
def whole_programs_add_up():
    Path("x.c").write_text('#include <stdio.h>\nint main(void) { puts("x"); }\n')
    profile("--", "gcc", "-O2", "-c", "x.c")
    d = profile("--", sys.executable, "-S", "-c", "import json, ctypes; print(json.dumps({1: 2}))")
    true(of(d, "_PyEval_EvalFrameDefault") > 1000, "python's interpreter loop is in its profile")
    d = profile("--", "bash", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; (:); done; exec /bin/true")
    modules = {os.path.basename(r["module"]) for r in d["profile"]}
    true({"bash", "true"} <= modules, f"modules: {modules}")


@test
def threads_signals_and_a_child_that_is_killed():
    d = profile("--", build("busy", "busy.cc", "-pthread"))
    name = "int counted::add<int>(std::vector<int, std::allocator<int> > const&)"
    rows = [r for r in d["profile"] if r["function"] == name]
    equal(len(rows), 1, f"rows of {name}, demangled")
    true(rows[0]["instructions"] > 5 * 10000 * 3, f"five runs of it: {rows}")
    equal(rows[0]["instructions"] % 5, 0, f"all five the same, that of the killed child among them: {rows}")


@test
def names_of_rust():
    Path("rust.c").write_text(
        'int work(int) __asm__("_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo");\n'
        'int new_kind(int) __asm__("_RNvC1a1f_of_another_kind");\n'
        '__attribute__((noipa)) int work(int n) { return n + 1; }\n'
        '__attribute__((noipa)) int new_kind(int n) { return n + 2; }\n'
        'int main(void) { return work(1) + new_kind(2) - 6; }\n')
    d = profile("--", build("rust", "./rust.c"))
    true(of(d, "<mycrate::Example as mycrate::Trait>::foo", "/rust") >= 2, "a name that is demangled")
    true(of(d, "_RNvC1a1f_of_another_kind", "/rust") >= 2, "one that is not understood stays as it is")


@test
def what_differs_between_runs_is_marked():
    program = build("vary", "vary.c")
    d = profile("-r", "3", "--", program)
    rows = {r["function"]: r for r in d["profile"]}
    true(rows["unsteady"]["min"] < rows["unsteady"]["max"], f"{rows['unsteady']}")
    equal(rows["steady"]["min"], rows["steady"]["max"], "the other one's")
    equal(d["profile_about"]["varied"], sum(r["min"] != r["max"] for r in d["profile"]), "how many varied")
    totals = [int(v) for v in d["events"][0]["runs"]]
    equal(d["profile_about"]["total"], sorted(totals)[1], "the median run is shown")
    equal([sum(r["runs"][k] for r in d["profile"]) for k in range(3)], totals, "each run adds up")
    shown = stat("-r", "3", "--profile", "-e", "instructions:u", "--", program).stderr.decode()
    true(re.search(r"unsteady +vary +[\d,]+ … [\d,]+\n", shown), shown)
    true(re.search(r"\bsteady +vary\n", shown), shown)


@test
def names_that_are_no_names():
    Path("odd.S").write_text(
        '.text\n.globl _start, "a\x1b[31mb", "%s"\n_start: call "a\x1b[31mb"\ncall "%s"\nmov $60, %%eax\n'
        'xor %%edi, %%edi\nsyscall\n.size _start, . - _start\n.type _start, @function\n'
        '.type "a\x1b[31mb", @function\n"a\x1b[31mb": nop\nret\n.size "a\x1b[31mb", . - "a\x1b[31mb"\n'
        '.type "%s", @function\n"%s": nop\nnop\nret\n.section .note.GNU-stack,"",@progbits\n' % (("x" * 100_000,) * 4))
    program = build("odd", "./odd.S", "-nostdlib", "-static", "-g0")
    d = profile("--", program)
    equal(of(d, "a\x1b[31mb"), 2, "a name with control characters")
    equal(of(d, "x" * 4096), 3, "a long name, cut")
    r = stat("--profile", "-e", "instructions:u", "--", program)
    true(b"\x1b" not in r.stderr, "an escape sequence reached the terminal")
    true(b"a\\x1b[31mb" in r.stderr, r.stderr)
    true(max(map(len, r.stderr.splitlines())) < 300, "a long name made a long line")


@test
def what_has_no_symbols_is_said():
    program = build("stripped", "known.S", "-nostdlib", "-static", "-s")
    d = profile("--", program)
    equal([(r["function"], r["instructions"]) for r in d["profile"]], [(None, 25004)], "rows")
    true("stripped" in d["profile"][0]["reason"], d["profile"])
    shown = stat("--profile", "-e", "instructions:u", "--", program).stderr.decode()
    true("no symbol  100 %: stripped\n" in shown and "-dbgsym" in shown, shown)


@test
def functions_of_a_stripped_program_are_told_apart():
    """By call frame information, named by where they begin; with the counts that the same program has with its symbols."""
    source = Path(WORK.name, "parts.c")
    source.write_text("static volatile int v;\n"
                      "__attribute__((noipa)) static void one(int n) { while (n--) v++; }\n"
                      "__attribute__((noipa)) static void two(int n) { while (n--) one(3); }\n"
                      "int main(void) { one(1000); two(500); return 0; }\n")
    whole = build("parts", str(source))
    symbols = {name: int(at, 16) for at, _, name in (line.split() for line in subprocess.check_output(["nm", whole], text=True).splitlines() if len(line.split()) == 3)}
    wanted = {hex(symbols[r["function"]]): r["instructions"] for r in profile("--", whole)["profile"] if r["function"] in ("one", "two", "main")}
    subprocess.run(["strip", whole], check=True)
    d = profile("--", whole)
    found = {r["function"]: r for r in d["profile"] if r["module"] == whole and r["function"]}
    equal({f: found[f]["instructions"] for f in wanted if f in found}, wanted)
    true(len(wanted) == 3 and all("stripped" in found[f]["reason"] for f in wanted), found)
    shown = stat("--profile", "-e", "instructions:u", "--", whole).stderr.decode()
    true(re.search(rf" {max(wanted, key=wanted.get)} +parts$", shown, re.M) and re.search(r"no symbol  .*parts", shown) and "-dbgsym" in shown, shown)
    stat("-o", "parts.csv", "--format", "csv", "--profile", "-e", "instructions:u", "--", whole)
    rows = list(csv.DictReader(Path("parts.csv").read_text().split("\n\n")[-1].splitlines()))
    equal({r["function"] for r in rows if "stripped" in r["reason"]} & set(wanted), set(wanted), "csv")


@test
def a_file_that_is_gone_or_replaced_is_not_trusted():
    program = build("gone", "known.S", "-nostdlib", "-static")
    d = profile("--", "sh", "-c", f"{program}; rm {program}")
    equal([r["instructions"] for r in d["profile"] if r["module"] == program], [25004], "its instructions")
    other = build("other", "plugin.S", "-shared", "-nostdlib", "-DROUNDS=1")
    program = build("gone", "known.S", "-nostdlib", "-static")
    d = profile("--", "sh", "-c", f"{program}; cp {other} {program}")
    rows = [r for r in d["profile"] if r["module"] == program]
    equal([(r["function"], r["instructions"]) for r in rows], [(None, 25004)], "rows of a file that was replaced")
    true("was changed after it ran" in rows[0]["reason"], rows)


@test
def separate_debugging_files_are_found():
    program = build("split", "known.S", "-nostdlib", "-static", "-Wl,--build-id")
    subprocess.run("objcopy --only-keep-debug split split.debug && strip split && "
                   "objcopy --add-gnu-debuglink=split.debug split", shell=True, check=True)
    d = profile("--", program)
    equal(of(d, "inner"), 16000, "by the debugging file beside it")


@test
def limits_and_forms():
    program = build("known", "known.S", "-nostdlib", "-static")
    d = profile("--profile-limit", "2", "--", program)
    equal([r["function"] for r in d["profile"]], ["inner", "_start"], "the two largest")
    equal(d["profile_about"]["left_out"], 5000, "left out")
    shown = stat("--profile", "--profile-limit", "2", "-e", "instructions:u", "--", program).stderr.decode()
    true(re.search(r"\n +5,000 +20\.00 +100\.00 +2 more\n", shown), shown)
    stat("-o", "out.csv", "--format", "csv", "--profile", "-e", "instructions:u", "--", program)
    _, table = Path("out.csv").read_text().split("\n\n")
    rows = list(csv.DictReader(table.splitlines()))
    equal({r["function"]: int(r["instructions"]) for r in rows},
          {"_start": 4004, "inner": 16000, "falls": 2000, "into": 3000}, "CSV")


@test
def refusals():
    for words, says in ((["--profile=foo", "--", "true"], "there is no profile by 'foo': function or line"),
                        (["--profile", "--engine", "perf", "--", "true"], "not with --engine perf"),
                        (["--profile", "-I", "100", "--", "true"], "not with -I"),
                        (["--profile", "-x,", "--", "true"], "not with -x"),
                        (["--profile", "-p", str(os.getpid())], "without command"),
                        (["--profile", "-r", "0", "--", "true"], "1 to 1000 runs"),
                        (["--profile-limit", "3", "--", "true"], "--profile-limit needs --profile")):
        r = stat(*words, status=125)
        true(says in r.stderr.decode().splitlines()[0], f"'{says}' is not in {r.stderr.decode()!r}")


@test
def inlined_functions_are_named():
    """Below the table, by stat --profile and report alike; with rows of their own there is no note."""
    Path("inlined.c").write_text("""
static inline __attribute__((always_inline)) unsigned hash(const char *s, int n) { unsigned h = 5381; for (int i = 0; i < n; i++) h = h * 33 + s[i]; return h; }
static inline __attribute__((always_inline)) unsigned tiny(unsigned x) { return x ^ x >> 3; }
__attribute__((noinline)) static unsigned alone(int n) { volatile unsigned s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void)
{
	static char text[64];
	unsigned all = 0;

	for (int i = 0; i < 5000; i++) {
		text[i % 64] = (char)i;
		all += tiny(hash(text, 64));
	}
	return all + alone(200000) == 7;
}
""")
    program = build("inlined", str(Path("inlined.c").resolve()))
    said = "main includes inlined functions, mainly hash."
    text = stat("--profile", "-e", "instructions:u", "--", program).stderr.decode()
    true(said in text and "alone includes" not in text, text)
    true("includes inlined" not in stat("--profile=line", "-e", "instructions:u", "--", program).stderr.decode(), "lines show it")
    subprocess.run([TARE, "record", "--engine", "exact", "-o", "inlined.data", "--", program], check=True, capture_output=True)

    def report(*words):
        return subprocess.run([TARE, "report", *words, "inlined.data"], check=True, capture_output=True, text=True).stdout
    text = report()
    true(said in text and "--inline shows" in text and "alone includes" not in text, text)
    true("hash (inlined)" in report("--inline") and "includes inlined" not in report("--inline") + report("--sort", "module"), "as rows")


if not shutil.which("gcc"):
    print("1..0 # SKIP no compiler to build the programs with")
    sys.exit(0)
main()
