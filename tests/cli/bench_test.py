# SPDX-License-Identifier: MIT
"""`tare bench` as a user runs it. On the exact engine results are known by construction, and compared with ==.

usage: bench_test.py TARE SCHEMA CC EXACT(yes|no)
"""
import csv
import fcntl
import io
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, SCHEMA = (os.path.abspath(p) for p in sys.argv[1:3])
CC, X86 = sys.argv[3], sys.argv[4] == "yes"
CLOCK = "tsc" if X86 else "cntvct"
ROOM = tempfile.TemporaryDirectory()
TMP = os.path.join(ROOM.name, "tmp")
os.mkdir(TMP)
ENV = {**os.environ, "LC_ALL": "C", "COLUMNS": "120", "CC": CC, "TMPDIR": TMP}
HEAD = "typedef void mark(void); void execute_test(mark *start, mark *stop);\n"


def sh(*words, timeout=100, **more):
    return subprocess.run(words, capture_output=True, timeout=timeout, env=ENV, cwd=ROOM.name, text=True, **more)


def bench(*words, status=0, engine="exact", runs=20):
    r = sh(TARE, "bench", "--format", "json", "--engine", engine, "--runs", str(runs), *words)
    equal(r.returncode, status, f"status of tare bench {' '.join(words)[:200]}; {r.stderr[:600]}")
    document = json.loads(r.stdout)
    validated(document, SCHEMA)
    return document


def values(document, variant=0):
    """What is not 0, of exact counters by their short names; every run must be alike."""
    out = {}
    for r in document["results"]:
        if r["variant"] == variant:
            if r["quality"] == "exact":
                equal((r["min"], r["max"], r["low"], r["high"]), (r["value"],) * 4, f"{r['event']}: every run alike")
            if r["value"] != 0 and r["event"] != "exact/accesses/":  # loads and stores together
                out[r["event"].removeprefix("exact/").rstrip("/")] = r["value"]
    return out


def write(name, text):
    Path(ROOM.name, name).write_text(text)
    return name


def refused(*words, status, says, runs="3", timeout=100):
    r = sh(TARE, "bench", "--runs", runs, *words, timeout=timeout)
    equal(r.returncode, status, f"{' '.join(words)}: {r.stderr[:400]}")
    equal(r.stdout, "", "nothing on standard output")
    true(re.search(says, r.stderr), f"{says!r} in {r.stderr!r}")
    true(r.stderr.startswith("tare bench: "), r.stderr)
    return r.stderr


def need_exact():
    if not X86 or sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode:
        skip("no exact engine here")


@test
def an_empty_test_is_0():
    need_exact()
    equal(values(bench(write("empty.c", HEAD + "void execute_test(mark *start, mark *stop) { start(); stop(); }\n"))), {})


@test
def snippets_are_what_they_are():
    need_exact()
    for code, wanted in {
        "imul rax, rbx": {"instructions": 1},
        "imul %rbx, %rax": {"instructions": 1},
        "nop; nop; nop": {"instructions": 3},
        "mov rax, [r14]": {"instructions": 1, "loads": 1},
        "mov [r14+8], rax; lock inc qword ptr [rsi]": {"instructions": 2, "stores": 2, "loads": 1, "atomics": 1},
        "paddd xmm0, xmm1": {"instructions": 1, "vector-128": 1},
        "push rax; pop rbx": {"instructions": 2, "loads": 1, "stores": 1},
        "call 1f; 1: add rsp, 8": {"instructions": 2, "branches": 1, "taken-branches": 1, "calls": 1, "stores": 1},
        "cmp rax, rax; jne 1f; nop; 1:": {"instructions": 3, "branches": 1, "conditional-branches": 1},
        "fld1; fstp st(0)": {"instructions": 2, "x87": 2},
        "rep stosb": {"instructions": 1, "rep": 1, "stores": 1},
    }.items():
        got = values(bench("--form", "written", "--init", "mov ecx, 0", "--unroll", "50", "--asm", code, runs=5)
                     if "%" not in code else bench("--form", "written", "--asm", code, runs=5))
        if "rep" in got:  # how often it stores is not what this test is about
            got["stores"] = 1
        equal(got, wanted, code)


@test
def snippets_of_c_need_no_semicolon():
    for words in (("strlen(p)", "--init", 'char s[] = "hello", *p = s; hide(p)', "--include", "string.h"),  # as in the man page
                  ("p = malloc(10); hide(p); free(p)", "--init", "void *p", "--include", "stdlib.h"),
                  ("for (int i = 0; i < 3; i++) hide(i)",), ("for (int i = 0; i < 3; i++) { hide(i); }",),
                  ("x++", "--init", "int x = 1; // a comment"), ("x++; // another", "--init", "volatile int x = 1;")):
        bench("--c", *words, engine="clock", runs=3)
    page = Path(SCHEMA).parent.parent.joinpath("tare-bench.1.scd").read_text()
    true("tare bench --c 'strlen(p)' --init 'char s[] = \"hello\", *p = s; hide(p)' --include string.h\n" in page, "the example is the one that was tried")


@test
def loops_and_copies():
    """The round's own two instructions are in the baseline, too, as often."""
    need_exact()
    for unroll, loop in ((1, 1), (7, 3), (100, 1000)):
        document = bench("--form", "written", "--unroll", str(unroll), "--loop", str(loop), "--asm", "imul rax, rbx; nop", runs=5)
        equal(values(document), {"instructions": 2}, f"{unroll} copies, {loop} rounds")
        equal(document["variants"][0]["ops"], unroll * loop)


@test
def registers_take_turns():
    need_exact()
    for code in ("imul rax, rbx", "imul %rbx, %rax", "vpaddd ymm0, ymm1, ymm2", "movzx eax, r9b", "mov rax, [r14]", "lea rax, [r8+r9]"):
        if code.startswith("v") and "avx2" not in Path("/proc/cpuinfo").read_text():
            continue
        document = bench("--asm", code, "--unroll", "30", runs=5)
        equal([v["name"] for v in document["variants"]], [code, f"{code} (in turn)"])
        equal(values(document, 0), values(document, 1))
    # A register that an address is made of, a single operand, several instructions: no other can stand for it.
    for code in ("mov rax, [rax]", "inc rax", "imul rax, rbx; nop", "cmp [r14], rax", "nop", "adc rax, rbx", "sbb rax, rbx", "rcl rax, 1",
                 "shl rax, cl", "xchg rax, rbx", "xadd rax, rbx", "cmpxchg rbx, rcx"):
        equal(len(bench("--init", "mov [r14], r14; mov rax, r14", "--asm", code, runs=3)["variants"]), 1, code)
    refused("--form", "in-turn", "--asm", "inc rax", status=125, says="no register that can be replaced")
    refused("--form", "in-turn", "--asm", "adc rax, rbx", status=125, says=r"without a flag \(adc\)")


def expect_value(store, registers, value, size, init=""):
    """A snippet that stores each register, and traps where an element is not the value."""
    code = "".join(f"{store.format(r)}; lea rbx, [r14+{size}]; mov rcx, {value}; 1: sub rbx, 8; cmp [rbx], rcx; je 2f; ud2; 2: cmp rbx, r14; jne 1b; " for r in registers)
    document = bench("--form", "written", "--unroll", "1", *(["--init", init] if init else []), "--asm", code, engine="clock", runs=3)
    equal(len(document["results"]) > 0, True, store)


@test
def registers_hold_one():
    if os.uname().machine != "x86_64":
        skip("x86 registers")
    flags = re.search("^flags.*", Path("/proc/cpuinfo").read_text(), re.M)[0].split()
    one, single = 0x3FF0000000000000, 0x3F8000003F800000
    expect_value("movupd [r14], xmm{}", range(16), one, 16)
    expect_value("mulss xmm0, xmm1; movups [r14], xmm{}", range(1, 16), single, 16)
    expect_value("cvtss2sd xmm0, xmm1; movups [r14], xmm{}", range(1, 16), single, 16)
    expect_value("cvtsd2ss xmm0, xmm1; movups [r14], xmm{}", range(1, 16), one, 16)
    if "avx" in flags:
        expect_value("vmovupd [r14], ymm{}", range(16), one, 32)
        expect_value("vaddps ymm0, ymm1, ymm2; vmovups [r14], ymm{}", range(1, 16), single, 32)
    if {"avx512vl", "avx512bw"} <= set(flags):
        expect_value("vmovupd [r14], zmm{}", range(32), one, 64)
        expect_value("vmovupd [r14], ymm{}", range(16, 32), one, 32)
        expect_value("kmovq [r14], k{}", range(8), -1, 8)
    expect_value("fstp qword ptr [r14]; {}", ["nop"] * 4, one, 8)
    expect_value("movq [r14], mm{}", range(8), one, 8)
    expect_value("mov [r14], {}", ["rax", "r8", "r9", "r10", "r11", "r12", "r13", "r15"], 1, 8)
    # --init has the last word.
    document = bench("--form", "written", "--init", "mov rbx, 7", "--unroll", "1", "--asm", "cmp rbx, 7; je 1f; ud2; 1:", engine="clock", runs=3)
    equal(len(document["results"]) > 0, True, "init")


@test
def statements_of_c():
    need_exact()
    document = bench("--c", "gettimeofday(&tv, 0)", "--init", "struct timeval tv", "--include", "sys/time.h", runs=50)
    counts = sorted(next(r for r in document["results"] if r["event"] == "exact/instructions/")["per_operation"])
    true(counts[0] > 20, "it does something")
    true(counts[0] == counts[len(counts) * 3 // 4], f"constant, but where a tick of the kernel's lands in it: {counts}")
    got = values(bench("--c", "x += 3;", "--init", "volatile int x = 1;", "--unroll", "10"))
    equal((got["loads"], got["stores"]), (1, 1), "of a volatile")
    equal(values(bench("--c", "none(&x)", "--init", "volatile int x = 1;", "--include", "static void none(volatile int *p) { *p = 2; }")) != {}, True, "an expression of no type")


@test
def code_that_the_compiler_removed_is_an_error():
    for words in (("int y = x * 3;", "--init", "int x = 7; hide(x)"), ("x++;", "--init", "int x = 1;"), ("nothing()", "--include", "#define nothing() (void)0"),
                  ("for (int i = 0; i < 1000; i++) { s += i; }", "--init", "long s = 0;", "--unroll", "3", "--loop", "4")):
        refused("--c", *words, status=125, says="the compiler removed it")
    bench("--c", "int y = x * 3; keep(y)", "--init", "int x = 7; hide(x)", engine="clock", runs=3)


@test
def the_tsc_is_one_counter():
    if os.uname().machine != "x86_64" or not Path("/sys/bus/event_source/devices/msr/events/tsc").exists():
        skip("no PMU msr with tsc")
    for events in ("tsc", "msr/tsc/", "msr/tsc/,tsc"):
        equal([c["event"] for c in bench("-e", events, "--asm", "nop", engine="auto", runs=3)["counters"]], ["tsc"], events)
    calls = bench("--function", "count", write("count.c", "unsigned volatile x; void count(void) { for (int i = 0; i < 100; i++) x++; }\nvoid none(void) { }\n"))
    equal(values(calls)["stores"], 100, "however the loop is compiled")
    equal(values(bench("--function", "none", "count.c")), {}, "a function that only returns")
    equal(sh(CC, "-O1", "-shared", "-fPIC", "-o", "count.so", "count.c").returncode, 0)
    equal(values(bench("--function", "count", "count.so"))["stores"], 100)


@test
def calls_within_calls():
    """fib(10) is 177 calls, each known to its instruction; compiled by nobody."""
    need_exact()
    write("fib.S", """
        .text
        .globl execute_test
        .type execute_test, @function
execute_test:
        push %rbx
        mov %rsi, %rbx
        call *%rdi
        mov $10, %edi
        call fib
        call *%rbx
        pop %rbx
        ret
fib:    cmp $2, %edi            # of a leaf: cmp, jb, mov, ret
        jb 1f
        push %rdi               # of the others 12
        dec %edi
        call fib
        pop %rdi
        push %rax
        sub $2, %edi
        call fib
        pop %rdx
        add %rdx, %rax
        ret
1:      mov %edi, %eax
        ret
        .section .note.GNU-stack, "", @progbits
""")
    leaves, inner = 89, 88
    got = values(bench("fib.S"))
    equal(got["instructions"], 2 + 4 * leaves + 12 * inner)
    equal((got["calls"], got["returns"]), (leaves + inner,) * 2)


@test
def pairs_baselines_and_functions_of_a_test():
    need_exact()
    document = bench(write("pairs.c", HEAD + """
#include <stdint.h>
static volatile int x;
static int ready;
void setup(void); void setup(void) { ready = 1; }
uint64_t ops(void); uint64_t ops(void) { return ready ? 27 : 1; }
uint64_t bytes(void); uint64_t bytes(void) { return 54; }
void execute_baseline(int times, mark *start, mark *stop);
void execute_baseline(int times, mark *start, mark *stop)
{
	while (times--) { start(); __asm__ volatile("nop; nop"); stop(); }
}
void execute_test(mark *start, mark *stop)
{
	for (int i = 0; i < 9; i++) { start(); __asm__ volatile("nop; nop; nop; nop; nop"); stop(); }
}
"""))
    equal(values(document), {"instructions": 1}, "three in each of nine pairs, of 27 operations")
    equal((document["variants"][0]["ops"], document["variants"][0]["bytes"], document["variants"][0]["own_baseline"]), (27, 54, True))
    equal(document["pairs"], [[9] * 20])
    instructions = document["results"][0]
    equal(instructions["per_byte"], 0.5)
    equal(set(instructions["runs"]), {27 + 9 * instructions["baseline"]["value"]})


@test
def results_below_0_stay():
    need_exact()
    document = bench(write("below.c", HEAD + """
void execute_baseline(int times, mark *start, mark *stop);
void execute_baseline(int times, mark *start, mark *stop) { while (times--) { start(); __asm__ volatile("nop; nop"); stop(); } }
void execute_test(mark *start, mark *stop) { start(); stop(); }
"""))
    equal(values(document), {"instructions": -2})
    true(any("below 0" in r for r in document["remarks"]), str(document["remarks"]))


@test
def two_tests_compared():
    need_exact()
    write("a.c", HEAD + 'void execute_test(mark *start, mark *stop) { start(); __asm__ volatile("nop; nop; nop; nop"); stop(); }\n')
    write("b.c", HEAD + 'void execute_test(mark *start, mark *stop) { start(); __asm__ volatile("nop; nop; nop"); stop(); }\n')
    document = bench("a.c", "b.c")
    verdict = next(v for v in document["verdicts"] if v["event"] == "exact/instructions/")
    equal((verdict["verdict"], verdict["change"], verdict["half"], verdict["percent"]), ("less", -1, 0, -25))
    equal({v["verdict"] for v in document["verdicts"]} - {"less"}, {"no difference"})
    bench("--check", "a.c", "b.c")
    bench("--check", "b.c", "a.c", status=2)
    bench("--check=exact/loads/", "b.c", "a.c")
    bench("--check=loads", "b.c", "a.c")
    bench("--check=instructions", "b.c", "a.c", status=2)
    for name in ("cycles", "load", "exact", "tsc"):
        said = refused("--engine", "exact", f"--check={name}", "no-such-file.c", "b.c", status=125, says=f"{name} is not counted", runs="10")
        true("exact/instructions/, " in said, said)
    equal(bench("a.c", "b.c", "a.c", runs=5)["verdicts"][0]["verdict"], "too few runs")


@test
def a_check_that_compares_nothing_is_not_passed():
    write("a.c", HEAD + 'void execute_test(mark *start, mark *stop) { start(); __asm__ volatile("nop; nop; nop; nop"); stop(); }\n')
    clock = ("--engine", "clock", "--check")
    for words in (("a.c",), ("--asm", "nop", "--form", "written"), ("--asm", "nop")):
        said = refused(*clock, *words, status=125, says="there is only one", runs="10")
        equal(said.count("\n"), 1, said)
    said = refused(*clock, "a.c", "a.c", status=125, says="at least 10 runs", runs="9")
    equal(said.count("\n"), 1, said)
    refused(*clock, "--baselines", "5", "no-such-file.c", "a.c", status=125, says="at least 6 baselines", runs="10")
    refused("--engine", "clock", "--check=instructions", "no-such-file.c", "a.c", status=125, says="instructions is not counted", runs="10")
    r = sh(TARE, "bench", "--runs", "10", *clock, "a.c", "a.c")
    true(r.returncode in (0, 2) and "against a.c" in r.stdout, f"{r.returncode} {r.stderr} {r.stdout}")  # two of twenty are told apart


@test
def a_file_in_a_folder_that_may_not_be_written():
    if os.geteuid() or not shutil.which("setpriv"):
        skip("needs root, and setpriv")
    with tempfile.TemporaryDirectory() as room:
        os.chmod(room, 0o755)
        tare = shutil.copy(TARE, room)  # where this one is may be hidden from others
        out = Path(room, "o.csv")
        out.write_text("old" * 100000)
        out.chmod(0o666)
        Path(room, "home").mkdir()
        os.chmod(Path(room, "home"), 0o777)
        words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", tare, "bench", "--engine", "clock", "--runs", "5", "--asm", "nop",
                 "--format", "csv", "-o"]
        how = {"capture_output": True, "text": True, "timeout": 100, "cwd": f"{room}/home", "env": {**ENV, "TMPDIR": f"{room}/home"}}
        r = subprocess.run([*words, out], **how)
        equal(r.returncode, 0, r.stderr)
        text = out.read_text()
        true("old" not in text and text.count("\n") > 5 and out.stat().st_mode & 0o777 == 0o666, text[:300])
        r = subprocess.run([*words, f"{room}/new.csv"], **how)
        true(r.returncode == 125 and "Permission denied" in r.stderr, r.stderr)
        equal(sorted(os.listdir(room)), ["home", "o.csv", "tare"], "nothing beside it")


@test
def the_order_of_runs():
    """A test that writes down when it ran: A B B A, or by the seed."""
    for name in "ab":
        write(f"order_{name}.c", HEAD + f"""
#include <stdio.h>
void execute_test(mark *start, mark *stop) {{ start(); stop(); FILE *f = fopen("order.txt", "a"); fputs("{name}", f); fclose(f); }}
""")
    orders = []
    for more in ([], ["--order", "shuffled"], ["--seed", "2"], ["--seed", "2"]):
        Path(ROOM.name, "order.txt").unlink(missing_ok=True)
        bench("--warmup", "0", *more, "order_a.c", "order_b.c", engine="clock", runs=16)
        orders.append(Path(ROOM.name, "order.txt").read_text())
    equal(orders[0], "abba" * 8)
    true(orders[1] != orders[0] and orders[2] != orders[1], "shuffled")
    equal(orders[2], orders[3], "the seed decides")
    equal({len(o) for o in orders}, {32})
    equal({o.count("a") for o in orders}, {16})


@test
def the_clock_everywhere():
    document = bench("--asm", "nop", engine="clock", runs=30)
    equal([c["how"] for c in document["counters"]], ["clock"])
    true(document["conditions"]["clock_hz"] > 1000000, str(document["conditions"]))
    step = document["conditions"]["clock_step"]
    true(step >= 1, str(document["conditions"]))
    true((step > 4) == any("advances in steps" in r for r in document["remarks"]), str(document["remarks"]))
    (result,) = document["results"]
    equal(len(result["runs"]), 30)
    equal(len(result["baseline"]["pairs"]), 100)
    ops = document["variants"][0]["ops"] * document["variants"][0]["rounds"]
    true(result["value"] - result["low"] >= 0.999 * step / ops, f"surer than a step of {step}: {result['value']} from {result['low']}, {ops} operations")
    true(result["low"] <= result["value"] <= result["high"] and result["min"] <= result["value"] <= result["max"], str(result))
    if X86:
        true(any("interrupts and the hypervisor" in r for r in document["remarks"]), str(document["remarks"]))
    for word in ("-j", "--json"):
        short = sh(TARE, "bench", word, "--engine", "clock", "--runs", "2", "--form", "written", "--asm", "nop")
        equal(json.loads(short.stdout)["schema"], document["schema"], short.stderr)
    true(any("is time, not cycles" in r or "generic timer" in r for r in document["remarks"]), str(document["remarks"]))


@test
def cycles_are_estimated_without_a_counter():
    adds = [n for k in (1, 2, 4) for n in ("--asm", "; ".join(k * ["add rax, rbx" if X86 else "add x0, x0, x1"]))]
    document = bench("--form", "written", "--unroll", "1000", *adds, engine="auto", runs=40)
    counters = {c["event"]: c for c in document["counters"] if "cycles" in c["event"] and c["quality"] != "unavailable"}
    if any(c["quality"] == "counted" for c in counters.values()):
        equal((document["conditions"]["chain"], [c["quality"] for c in counters.values()]), (None, ["counted"] * len(counters)), "where a PMU counts them")
        return
    clock = next(c for c in document["counters"] if c["how"] == "clock")
    equal({k: counters["cycles"][k] for k in ("quality", "how", "set")}, {"quality": "estimated", "how": "clock and additions", "set": clock["set"]})
    chain = document["conditions"]["chain"]
    true(chain["additions"] >= 40448 and chain["ticks"] > 0, str(chain))
    got = [r for r in document["results"] if r["event"] == "cycles"]
    for r in got:
        equal((r["quality"], len(r["runs"]), len(r["baseline"]["pairs"])), ("estimated", 40, 100))
        true(r["low"] < r["value"] < r["high"], str((r["low"], r["value"], r["high"])))
    true(got[0]["value"] < got[1]["value"] < got[2]["value"], f"by the length of the chain: {[r['value'] for r in got]}")
    true(any("Cycles are estimated" in r for r in document["remarks"]), str(document["remarks"]))
    rows = list(csv.DictReader(io.StringIO(sh(TARE, "bench", "--runs", "6", "--format", "csv", "--form", "written", *adds[:2]).stdout)))
    equal({r["quality"] for r in rows if r["event"] == "cycles"}, {"estimated"})
    true("cycles (estimated)" in sh(TARE, "bench", "--runs", "6", "--form", "written", *adds[:2]).stdout, "text")
    for words in (("--engine", "clock"), ("--engine", "exact"), ("-e", "page-faults"), ("--cpu", "any")):
        r = sh(TARE, "bench", "--runs", "6", "--format", "json", *words, *adds[:2])
        if r.returncode == 0:  # no exact engine
            true("estimated" not in r.stdout, str(words))
    refused("--check=cycles", "--form", "written", *adds[:4], status=125, says="cycles is not counted", runs="10")


def clock_of(document, variant=0):
    (result,) = [r for r in document["results"] if r["event"] == CLOCK and r["variant"] == variant]
    return result


@test
def runs_are_long_enough_for_the_clock():
    if not X86:
        skip("latencies of x86")
    code = "imul rax, rbx"
    document = bench("--form", "written", "--asm", code, engine="clock")
    rounds, ops, step = document["variants"][0]["rounds"], document["variants"][0]["ops"], max(1, document["conditions"]["clock_step"] or 1)
    equal(ops, 100, "of one round")
    said = " ".join(document["remarks"])
    result = clock_of(document)
    net = result["value"] * ops * rounds
    true(net >= 99.99 * step or "fewer than 100" in said, f"{rounds} rounds, {net} ticks, a step of {step}: {said}")
    run, base = result["runs"][0], result["baseline"]["value"]
    true(abs((run - base) / (ops * rounds) - result["per_operation"][0]) < 1e-9 * run, "per operation of all rounds")
    if rounds > 1:
        true("several rounds" in said, said)
        text = sh(TARE, "bench", "--runs", "6", "--engine", "clock", "--form", "written", "--asm", code).stdout
        true("rounds of them" in text or "has one round" in text, text)
    # Where it must not: the register of the loop, and what was asked for.
    for words in (("--asm", "imul r15, rbx"), ("--init", "mov r15d, 3", "--asm", code), ("--loop", "0", "--asm", code), ("--loop", "3", "--asm", code), ("--unroll", "99", "--asm", code),
                  ("--cold", "evict", "--asm", code), ("--ops", "50", "--asm", code), ("--c", "x *= 3; hide(x)", "--init", "long x = 5")):
        document = bench(*(("--form", "written") if "--asm" in words else ()), *words, engine="clock", runs=6)
        equal(document["variants"][0]["rounds"], 1, str(words))
    # Each round begins with the values of the one before: the first copy of the second meets ud2.
    document = bench("--form", "written", "--init", "mov ebx, 100", "--asm", "sub rbx, 1; jns 1f; ud2; 1:", engine="clock", runs=6)
    equal(document["variants"][0]["rounds"], 1, "it crashes in the second round")
    true(any("with more it crashes" in r for r in document["remarks"]) or clock_of(document)["value"] * 100 >= 99.99 * step, str(document["remarks"]))


@test
def exact_counts_are_of_one_round():
    """Flags at the begin of a second round would be those of the loop."""
    need_exact()
    words = ("--form", "written", "--init", "xor eax, eax", "--asm", "jz 1f; nop; 1:")
    alone = values(bench(*words))
    equal(alone, {"instructions": 1, "branches": 1, "taken-branches": 1, "conditional-branches": 1})
    equal(values({"results": [r for r in bench(*words, engine="auto")["results"] if r["quality"] == "exact"]}), alone)


@test
def short_runs_of_c_are_named():
    document = bench("--c", "x *= 3; hide(x)", "--init", "long x = 5", engine="clock")
    said = " ".join(document["remarks"])
    true(re.search(r"fewer than 100: --loop \d+ makes runs long enough", said), said)


@test
def few_runs_have_no_interval():
    for runs in (1, 5, 6):
        (result,) = bench("--loop", "0", "--asm", "nop", engine="clock", runs=runs)["results"]
        equal((result["low"] is None, result["high"] is None), (runs < 6,) * 2, f"{runs} runs")
        equal(result["error_of_mean"] is None, runs == 1, f"{runs} runs")
    true(result["high"] - result["low"] >= 0.01, f"a hundredth of a tick at least: {result['low']} to {result['high']}")
    r = sh(TARE, "bench", "--engine", "clock", "--runs", "5", "--asm", "nop")
    true("too few to say" in r.stdout and "at least 6 runs and baselines" in r.stdout, r.stdout)
    document = bench("--asm", "nop", "--asm", "nop", "--form", "written", engine="clock", runs=9)
    equal([(v["verdict"], v["half"], v["p"]) for v in document["verdicts"]], [("too few runs", None, None)])
    document = bench("--baselines", "5", "--asm", "nop", "--asm", "nop", "--form", "written", engine="clock", runs=10)
    equal([v["verdict"] for v in document["verdicts"]], ["too few runs"])


@test
def cold_caches():
    for how, more in (("evict", []), ("flush", [])):
        document = bench("--cold", how, "--asm", "nop", *more, engine="clock", runs=5)
        equal(document["conditions"]["cold"], how)
    write("plain.c", HEAD + "void execute_test(mark *start, mark *stop) { start(); stop(); }\n")
    refused("--cold", "flush", "plain.c", status=125, says=r"plain.c: it has no function buffers\(\)")


@test
def events_by_name():
    need_exact()
    equal([c["event"] for c in bench("-e", "exact/loads/,exact/stores/", "--asm", "nop", runs=3)["counters"]], ["exact/loads/", "exact/stores/"])
    document = bench("-e", "page-faults,exact/loads/", "--asm", "nop", engine="auto", runs=3)
    equal([(c["event"].split(":")[0], c["how"]) for c in document["counters"][:2]], [("exact/loads/", "exact engine"), ("page-faults", "system call")])
    equal(len({c["set"] for c in document["counters"]}), 3, "each in runs of its own")
    refused("-e", "no-such-event", "--asm", "nop", status=125, says="no-such-event")
    refused("-e", "page-faults", "--engine", "exact", "--asm", "nop", status=125, says="does not count page-faults")
    refused("--via", "msr", "--asm", "nop", status=125, says="with --engine msr")
    refused("-e", "cycles,instructions-minus-irqs:u", "--asm", "nop", status=125, says="instructions-minus-irqs:u is not counted by tare bench")
    r = sh(TARE, "bench", "--engine", "perf", "--runs", "3", "--asm", "nop")
    if r.returncode:  # no PMU
        equal((r.returncode, r.stdout), (125, ""), r.stderr)
        true("this machine has no hardware counters" in r.stderr and "--engine auto" in r.stderr, r.stderr)


@test
def a_compiler_takes_its_files_away():
    """A signal while it compiles: the compiler is asked to end; one that is deaf is asked again, and killed by the third."""
    with tempfile.TemporaryDirectory() as room:
        for deaf in (False, True):
            cc, mine = os.path.join(room, "compiler"), os.path.join(room, "mine")
            with open(cc, "w") as f:
                f.write("#!/bin/sh\ntrap '%s' TERM\ntouch %s\nwhile :; do sleep 0.05; done\n" % (f"echo asked >>{mine}" if deaf else f"rm -f {mine}; exit 1", mine))
            os.chmod(cc, 0o755)
            p = subprocess.Popen([TARE, "bench", "--cc", cc, "--engine", "clock", "--asm", "nop"], env=dict(os.environ, TMPDIR=room))
            while not os.path.exists(mine):
                time.sleep(0.01)
            for asked in (1, 2) if deaf else ():
                p.send_signal(signal.SIGINT)
                while Path(mine).read_text() != asked * "asked\n":
                    time.sleep(0.01)
            p.send_signal(signal.SIGINT)
            equal(p.wait(), 130, "the signal's status")
            equal(sorted(os.listdir(room)), ["compiler", "mine"] if deaf else ["compiler"], "what is left")


@test
def temporary_files_of_a_killed_compiler_are_removed():
    """As those of collect2, which the end of gcc leaves to itself."""
    with tempfile.TemporaryDirectory() as room:
        cc, begun = os.path.join(room, "compiler"), os.path.join(room, "begun")
        Path(cc).write_text(f"#!/bin/sh\ntouch $TMPDIR/part.c {begun}\nwhile :; do sleep 0.05; done\n")
        os.chmod(cc, 0o755)
        p = subprocess.Popen([TARE, "bench", "--cc", cc, "--engine", "clock", "--asm", "nop"], env=dict(os.environ, TMPDIR=room))
        while not os.path.exists(begun):
            time.sleep(0.01)
        p.terminate()
        equal(p.wait(), 143, "the signal's status")
        equal(sorted(os.listdir(room)), ["begun", "compiler"], "files in TMPDIR")


@test
def a_signal_takes_the_folder_away():
    """At each of the system calls with which it is made, used and removed."""
    if not shutil.which("strace") or subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode:
        skip("strace does not work here")
    with tempfile.TemporaryDirectory() as room, tempfile.TemporaryDirectory() as logs:
        log, env = os.path.join(logs, "calls"), {**ENV, "TMPDIR": room}
        bench = [TARE, "bench", "--engine", "clock", "--asm", "nop"]
        for call in ("mkdir", "flock", "memfd_create", "rmdir", "unlinkat"):
            for when in (1, 2):
                r = subprocess.run(["strace", "-qq", "-o", log, "-e", f"trace={call}", "-e", f"inject={call}:signal=SIGTERM:when={when}", *bench],
                                   env=env, capture_output=True, timeout=100)
                equal(os.listdir(room), [], f"what is left after a signal at {call} {when}; status {r.returncode}")
                true(when > 1 or "SIGTERM" in Path(log).read_text(), f"{call} was made, and the signal came")


@test
def folders_of_the_dead_are_removed():
    with tempfile.TemporaryDirectory() as room:
        for name in ("tare-bench-aaaaaa", "tare-bench-bbbbbb"):
            os.mkdir(os.path.join(room, name))
            Path(room, name, "0.c").write_text("int x;")
        used = os.open(os.path.join(room, "tare-bench-bbbbbb"), os.O_RDONLY)
        fcntl.flock(used, fcntl.LOCK_EX)
        subprocess.run([TARE, "bench", "--engine", "clock", "--asm", "nop"], env={**ENV, "TMPDIR": room}, capture_output=True, timeout=100)
        equal(os.listdir(room), ["tare-bench-bbbbbb"], "only the one in use")
        os.close(used)


@test
def threads_are_counted_one_by_one():
    need_exact()
    body = """
#include <pthread.h>
static void *go(void *stop) { ((void (*)(void))stop)(); return 0; }
void execute_test(void (*start)(void), void (*stop)(void))
{
	pthread_t t;

	start();
	pthread_create(&t, 0, go, (void *)stop);
	pthread_join(t, 0);
}
"""
    refused("--engine", "exact", write("other_thread.c", body), status=1, says=r"stop\(\) was not called by the thread that called start\(\)")
    true(bench("--engine", "clock", write("other_thread.c", body), engine="clock", runs=3)["counters"], "time passes for all")


@test
def the_clock_is_no_answer_to_another_question():
    """An event of a PMU that is not there, alone; with one that can be counted, that one's numbers are shown."""
    for words in (["-e", "no_such_pmu/event=1/"],):
        r = sh(TARE, "bench", *words, "--asm", "nop")
        true(r.returncode in (2, 125) and r.stdout == "", f"{r.returncode} {r.stdout}")
    r = sh(TARE, "bench", "--engine", "perf", "--runs", "3", "-e", "cycles", "--asm", "nop", "--form", "written")
    if r.returncode == 0:
        true("cycles" in r.stdout, r.stdout)
    else:
        equal((r.returncode, r.stdout), (125, ""), r.stderr)
        true("no event can be counted here" in r.stderr, r.stderr)
        equal(sh(TARE, "bench", "--check", "-e", "cycles", "--engine", "perf", "--asm", "nop", "--asm", "nop; nop").returncode, 125, "nor is the clock judged")
        r = sh(TARE, "bench", "--engine", "auto", "--runs", "3", "-e", "cycles,page-faults", "--asm", "nop", "--form", "written")
        true(r.returncode == 0 and "page-faults" in r.stdout and "cycles" in r.stdout, f"{r.returncode} {r.stderr} {r.stdout}")
    with tempfile.TemporaryDirectory() as empty:
        r = sh(TARE, "bench", "--engine", "msr", "--device-root", empty, "-e", "cycles", "--cpu", "0", "--asm", "nop")
        equal((r.returncode, r.stdout), (125, ""), r.stderr)


@test
def tests_that_misbehave():
    def of(body, before=""):
        return write("bad.c", "#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <signal.h>\n#include <sys/wait.h>\n" + HEAD + before +
                     f"\nvoid execute_test(mark *start, mark *stop) {{ {body} }}\n")

    engines = ("clock", "exact") if X86 and not sh(TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true").returncode else ("clock",)
    for engine in engines:
        for body, says in (
            ("(void)start; (void)stop;", r"bad.c: warm-up run 1: it called neither start\(\) nor stop\(\)"),
            ("start(); (void)stop;", r"called start\(\) and never stop\(\)"),
            ("start(); start(); stop(); stop();", r"did not alternate\n.*nested pairs are not supported"),
            ("stop(); start();", r"did not alternate"),
            ("for (int i = 0; i < 20000; i++) { start(); stop(); }", r"more than 16384 pairs"),
            ("start(); *(volatile int *)16 = 1; stop();", r"crashed: SIGSEGV at address 0x10"),
            ("start(); abort(); stop();", r"crashed: SIGABRT"),
            ("start(); kill(getpid(), SIGKILL); stop();", r"killed by SIGKILL"),
            ("start(); if (fork() > 0) wait(0); stop();", r"a child that it forked came back"),
            ("start(); exit(3); stop();", r"ended its process, by exit status 3"),
            ("start(); stop(); static int n; if (n++ == 5) start();", r"bad.c: run 4 of 5: it called start\(\) and never stop\(\)"),
        ):
            text = refused("--engine", engine, "--warmup", "2", of(body), status=1, says=says, runs="5")
            true(len([line for line in text.splitlines() if not line.startswith("  ")]) == 1, f"one line: {text}")
        begun = time.monotonic()
        refused("--engine", engine, "--timeout", "500ms", of("start(); for (;;) __asm__ volatile(\"\"); stop();"), status=1, says="no end after 0.5 s")
        true(time.monotonic() - begun < 60, "ended")
        # Jumping into a function that has returned is nothing that can go well; it must not give a number.
        r = sh(TARE, "bench", "--engine", engine, "--timeout", "2s",
               of("start(); longjmp(there, 1); stop();", "static jmp_buf there; void setup(void); void setup(void) { if (setjmp(there)) return; }"))
        equal((r.returncode, r.stdout), (1, ""), f"longjmp: {r.stderr}")
    refused(of("start(); stop();", "void execute_baseline(int n, mark *start, mark *stop); void execute_baseline(int n, mark *start, mark *stop) { (void)n; start(); stop(); }"),
            status=1, says=r"execute_baseline\(\d+, ...\) called start and stop 1 times")
    refused(of("start(); stop();", "void setup(void); void setup(void) { *(volatile int *)16 = 1; }"), status=1, says=r"bad.c: setup\(\): it crashed: SIGSEGV at address 0x10")
    for function in ("ops", "bytes"):
        for says in ("0", "-1"):
            refused(of("start(); stop();", f"unsigned long {function}(void); unsigned long {function}(void) {{ return {says}; }}"), status=1,
                    says=rf"bad.c: its {function}\(\) says {'0' if says == '0' else 2**64 - 1}: a run has 1 to 2\^53")
    refused(of("start(); stop();", "void setup(void); void setup(void) { exit(4); }"), status=1, says=r"bad.c: setup\(\): it ended its process")


TRUNCATES = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int parent_of(int pid)
{
	char path[64], text[512] = "", *name;
	FILE *f;
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	name = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return name && sscanf(name, ") %*c %d", &parent) == 1 ? parent : 0;
}
void execute_test(void (*start)(void), void (*stop)(void))
{
	char path[64], to[128] = "";

	for (int pid = getppid(), k = 0; pid > 1 && k < 2; pid = parent_of(pid), k++)
		for (int fd = 0; fd < 64; fd++) {
			ssize_t n;

			snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
			n = readlink(path, to, sizeof to - 1);
			if (n <= 0)
				continue;
			to[n] = 0;
			if (!strncmp(to, "/memfd:tare-bench", 17) && ftruncate(open(path, O_RDWR), 0) == 0)
				dprintf(2, "truncated\n");
		}
	start();
	stop();
}
"""


@test
def a_test_cannot_truncate_the_shared_state():
    r = sh(TARE, "bench", "--engine", "clock", "--runs", "3", write("truncates.c", TRUNCATES))
    equal((r.returncode, "truncated" in r.stderr), (0, False), r.stderr)


@test
def children_that_a_test_leaves_behind_are_ended():
    """One in its process group; one in a session of its own; a daemon, whose parent has ended."""
    write("leaves.c", HEAD + """
#include <stdio.h>
#include <unistd.h>
static void wait_here(FILE *f) { fprintf(f, "%d\\n", (int)getpid()); fflush(f); for (;;) pause(); }
void setup(void);
void setup(void)
{
	FILE *f = fopen("left.txt", "w");
	if (fork() == 0) wait_here(f);
	if (fork() == 0) { setsid(); wait_here(f); }
	if (fork() == 0) { setsid(); if (fork()) _exit(0); setsid(); if (fork() == 0) wait_here(f); wait_here(f); }
	usleep(300000);
}
void execute_test(mark *start, mark *stop) { start(); stop(); }
void teardown(void);
void teardown(void) { int n = 0, c; for (int i = 0; i < 200 && n < 4; i++) { FILE *f = fopen("left.txt", "r"); n = 0; while ((c = getc(f)) != EOF) n += c == '\\n'; fclose(f); usleep(50000); } }
""")
    bench("leaves.c", engine="clock", runs=3)
    pids = [int(p) for p in Path(ROOM.name, "left.txt").read_text().split()]
    equal(len(set(pids)), 4, "four were started")
    left = [p for p in pids if os.path.exists(f"/proc/{p}")]
    for p in left:
        os.kill(p, signal.SIGKILL)
    equal(left, [], "they are gone when tare ends")


@test
def children_that_are_left_behind_do_not_spoil_exact_counts():
    """The engine's supervisor adds up their counts as they are ended; on a busy machine it is interrupted in this."""
    need_exact()
    write("many.c", HEAD + """
#include <unistd.h>
void execute_test(mark *start, mark *stop)
{
	static int runs;

	start();
	stop();
	for (int i = 0; runs == 0 && i < 60; i++)
		if (fork() == 0) for (;;) pause();
	runs++;
}
""")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    try:
        for _ in range(8):
            bench("many.c", "-e", "exact/instructions/", engine="auto", runs=20)
    finally:
        for b in busy:
            b.kill()
            b.wait()


@test
def what_a_test_writes_is_kept_apart():
    write("says.c", HEAD + '#include <stdio.h>\nvoid execute_test(mark *start, mark *stop) { start(); printf("hello\\n"); fflush(stdout); stop(); }\n')
    document = bench("says.c", engine="clock", runs=3)
    true(any("78 bytes" in r and "hello" in r for r in document["remarks"]), str(document["remarks"]))
    write("floods.c", HEAD + '#include <unistd.h>\nstatic char b[1 << 19];\nvoid execute_test(mark *start, mark *stop) { start(); stop(); for (int i = 0; i < 5; i++) if (write(1, b, sizeof(b)) < 0) break; }\n')
    bench("floods.c", engine="clock", runs=3)


@test
def what_is_no_test():
    refused(status=125, says="nothing to measure")
    refused("nowhere.c", status=125, says="nowhere.c: No such file")
    refused(write("text.so", "hello"), status=125, says="text.so is neither C")
    refused(ROOM.name, status=125, says="is not a regular file")
    refused(write("none.c", "int x;\n"), status=125, says=r"none.c: there is no function execute_test\(\) in it")
    refused("--function", "f", "none.c", status=125, says=r"no function f\(\)")
    text = refused(write("broken.c", "int x = wrong1;\nint y = wrong2;\n"), status=125, says="broken.c does not compile")
    true("wrong1" in text and "wrong2" in text, f"all of what the compiler says: {text}")
    if X86:
        text = refused("--asm", "imulx rax, rbx", status=125, says="'imulx rax, rbx' does not assemble")
        equal(len(re.findall("no such instruction|invalid instruction", text)), 1, f"one mistake is said once: {text}")
        refused("--asm", "here: jmp here", status=125, says="not 100 times in a row")
    refused("--c", "missing(1)", status=125, says="does not compile")
    if not Path("/usr/include/tare/bench.h").exists() and not Path("/usr/local/include/tare/bench.h").exists():
        refused(write("header.c", "#include <tare/bench.h>\n"), status=125, says="--cflags -Iinclude")
    refused("--asm", " ; ", status=125, says="no instruction")
    refused("--asm", "# nothing", status=125, says="no instruction")
    refused("--c", " ;", status=125, says="no statement")
    if X86:
        refused("--asm", "lock inc [r14]", status=125, says=r"qword ptr \[r14\]")
        refused("--asm", "hlt", status=1, says="an instruction of the kernel's")
    refused("--cc", "no-such-compiler", "none.c", status=125, says="there is no compiler 'no-such-compiler'")
    refused("/bin/true" if not os.path.islink("/bin/true") else os.path.realpath("/bin/true"), status=125, says="is a program, but no test|for another processor")
    refused("--asm", "nop", "a.c", status=125, says="cannot be combined")
    refused("--init", "nop", "none.c", status=125, says="--init")
    refused("--asm", "nop", "--format", "kdb", status=125, says="a directory of files")
    for word, value in (("--runs", "0"), ("--unroll", "0"), ("--cpu", "x"), ("--cold", "icy"), ("--order", "x"), ("--timeout", "x"), ("--timeout", "0"), ("--timeout", "0s")):
        r = sh(TARE, "bench", word, value, "--asm", "nop")
        equal((r.returncode, r.stdout), (125, ""), f"{word} {value}: {r.stderr}")
        true(word in r.stderr, r.stderr)
    equal(sh(TARE, "bench", "--cpu", "60000", "--engine", "clock", "--runs", "2", "--asm", "nop").returncode, 125)
    equal(os.listdir(TMP), [], "no file is left")


@test
def an_interrupt_ends_it():
    write("long.c", HEAD + "#include <stdio.h>\n#include <unistd.h>\nvoid execute_test(mark *start, mark *stop) { start(); fclose(fopen(\"long.txt\", \"w\")); sleep(1); stop(); }\n")
    p = subprocess.Popen([TARE, "bench", "--engine", "clock", "long.c"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV, cwd=ROOM.name,
                         preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    while not Path(ROOM.name, "long.txt").exists():
        true(p.poll() is None, "it ended early")
        time.sleep(0.01)
    p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=60)
    equal((p.returncode, out), (128 + signal.SIGTERM, b""), err.decode())
    equal(os.listdir(TMP), [], "no file is left")


@test
def rows_of_runs():
    r = sh(TARE, "bench", "--engine", "clock", "--runs", "4", "--format", "csv", "--asm", "nop")
    rows = list(csv.DictReader(io.StringIO(r.stdout)))
    equal([row["run"] for row in rows], ["1", "2", "3", "4"], r.stderr)
    equal(set(rows[0]), {"variant", "run", "event", "quality", "pairs", "value", "less_baseline", "per_operation"})
    equal(sh(TARE, "bench", "--engine", "clock", "--runs", "4", "--format", "parquet", "-o", "runs.parquet", "--asm", "nop").returncode, 0)
    data = Path(ROOM.name, "runs.parquet").read_bytes()
    equal((data[:4], data[-4:]), (b"PAR1", b"PAR1"))
    try:
        import pyarrow.parquet as pq
        equal(pq.read_table(os.path.join(ROOM.name, "runs.parquet")).num_rows, 4)
    except ImportError:
        pass


def kdb(path):
    """A reader of kdb+ files, by its published layout: docs/internals/bench.md."""
    data = Path(path).read_bytes()
    if data[:2] == b"\xff\x01":
        kind, attribute, n = struct.unpack_from("<BBi", data, 2)
        equal((kind, attribute, data[-1]), (11, 0, 0))
        symbols = [s.decode() for s in data[8:-1].split(b"\0")]
        equal(len(symbols), n)
        return symbols
    equal(data[:2], b"\xfe\x20")
    kind, attribute, zero, n = struct.unpack_from("<BBiq", data, 2)
    equal((attribute, zero), (0, 0))
    letter = {6: "i", 7: "q", 9: "d"}[kind]
    equal(len(data), 16 + n * struct.calcsize(letter))
    return list(struct.unpack_from(f"<{n}{letter}", data, 16))


@test
def a_table_of_kdb():
    words = ("--engine", "clock", "--runs", "6", "--loop", "0", "--asm", "nop", "--asm", "nop; nop")
    equal(sh(TARE, "bench", "--format", "kdb", "-o", "table", *words).returncode, 0)
    room = Path(ROOM.name, "table")
    columns = kdb(room / "runs/.d")
    equal(columns, ["variant", "run", "event", "pairs", "raw", "net", "perop"])
    table = {c: kdb(room / "runs" / c) for c in columns}
    equal(kdb(room / "variants"), ["nop", "nop; nop"])
    equal(len(kdb(room / "events")), 1)
    equal(table["variant"], [0] * 6 + [1] * 6)
    equal(table["run"], list(range(1, 7)) * 2)
    equal(table["pairs"], [1] * 12)
    for i in range(12):
        equal(table["perop"][i], table["net"][i] / 100)
        true(abs(table["raw"][i] - table["net"][i]) < 1e6, "about the same")
    true("get`:runs/" in (room / "tare.q").read_text(), "the loader names the table")
    refused("--format", "kdb", "-o", "table", *words, status=125, says="is not empty")


ON_A_FULL_DISK = r"""
form=$1; shift
try() { "$@" --format "$form" -o full/out >said 2>&1; echo "status $?, $(grep -c "cannot write.*full/out.*No space left" said) said:" $(find full -mindepth 1 ! -name fill); }
mount -t tmpfs -o size=8k none full || exit 77
try "$@"
mount -o remount,size=16m full
"$@" --format "$form" -o full/out || echo "no retry: $?"
cp -r full/out earlier
[ "$form" != kdb ] || { rm -r full/out; mkdir full/out earlier.none; rm -r earlier; mv earlier.none earlier; }
cat /dev/zero > full/fill 2>/dev/null
try "$@"
diff -rq full/out earlier && echo "as it was"
"""


@test
def what_could_not_be_written_whole_is_not_there():
    os.mkdir(os.path.join(ROOM.name, "full"))
    words = (TARE, "bench", "--engine", "clock", "--runs", "4000", "--warmup", "0", "--baselines", "6", "--asm", "nop")
    for form in ("csv", "json", "parquet", "kdb"):
        r = sh("unshare", "-rm", "sh", "-c", ON_A_FULL_DISK, "sh", form, *words)
        if r.returncode == 77 or "unshare failed" in r.stderr:
            skip("no file system can be mounted here")
        equal(r.stdout.splitlines(), ["status 125, 1 said:", "status 125, 1 said: full/out", "as it was"], f"{form}: {r.stderr}")
        shutil.rmtree(os.path.join(ROOM.name, "earlier")) if form == "kdb" else os.unlink(os.path.join(ROOM.name, "earlier"))
    with open("/dev/full", "w") as full:
        r = subprocess.run([TARE, "bench", "--engine", "clock", "--runs", "4", "--format", "json", "--asm", "nop"], stdout=full, stderr=subprocess.PIPE, env=ENV, cwd=ROOM.name, text=True, timeout=100)
    equal((r.returncode, "cannot write results to standard output" in r.stderr), (125, True), r.stderr)


@test
def text_and_page():
    r = sh(TARE, "bench", "--asm", "nop", "--asm", "nop; nop", "--runs", "20")
    equal(r.returncode, 0, r.stderr)
    for words in ("per op", "nop; nop against nop", "interleaved (A B B A)", "is time, not cycles" if X86 else "generic timer"):
        true(words in r.stdout, f"{words} in {r.stdout}")
    true(max(len(line) for line in r.stdout.splitlines()) <= 120, "as wide as the terminal")
    true("\033" not in r.stdout, "no colour in a pipe")
    r = sh(TARE, "bench", "-e", "task-clock", "--asm", "nop", "--runs", "6", "--warmup", "0")
    true("  task-clock ns " in r.stdout or "task-clock: unavailable" in r.stdout, f"a clock's row has its unit: {r.stdout}")
    r = sh(TARE, "bench", "--engine", "clock", "--runs", "5", "--html", "page.html", "-o", os.devnull, "--asm", "nop")
    if "without a page" in r.stderr or "--html" in r.stderr:
        return
    page = Path(ROOM.name, "page.html").read_text()
    true('"tare/bench/1"' in page.replace(" ", "") or "tare/bench/1" in page, "the document is in the page")


@test
def processes_that_start_alike():
    plain = bench("--asm", "nop", engine="clock")
    equal((plain["conditions"]["fixed"], plain["conditions"]["aslr"]), (["aslr", "environment"], False))
    d = bench("--deterministic=-pid", "--asm", "nop", engine="clock")["conditions"]
    had = set(d["fixed"]) | {n["item"] for n in d["not_fixed"]}
    true({"aslr", "environment", "order", "random", "seeds", "vdso"} <= had and "pid" not in had, f"{d}")
    equal(bench("--aslr", "--asm", "nop", engine="clock")["conditions"]["aslr"], True)
    text = sh(TARE, "bench", "--engine", "clock", "--runs", "5", "--deterministic=aslr,seeds", "--asm", "nop")
    true("Fixed in each process: aslr, seeds." in text.stdout, text.stdout + text.stderr)
    if X86:
        d = bench("--deterministic=isa=v2", "--asm", "nop")["conditions"]
        equal((d["isa"], d["not_fixed"]), ("x86-64-v2", []), "a test without AVX: nor does its setup use that")
    refused("--aslr", "--deterministic", "--asm", "nop", status=125, says="choose one")
    refused("--deterministic=x", "--asm", "nop", status=125, says="there is no item 'x'")


main()
