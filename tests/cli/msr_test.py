# SPDX-License-Identifier: MIT
"""`tare msr` as a user runs it: plans against the manuals' values, registers against a model of them that is a file system, with rdmsr and
wrmsr of msr-tools as another reader and writer.

usage: msr_test.py TARE SCHEMAS [REGISTER_FILES]
"""
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, sh, skip, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, SCHEMAS = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
MODEL = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else None

cpuinfo = Path("/proc/cpuinfo").read_text()
INTEL = "GenuineIntel" in cpuinfo
MAKER = INTEL or "AuthenticAMD" in cpuinfo or "HygonGenuine" in cpuinfo
# One select, its counter, the gate, a register that faults in the model, and one that is never written.
SELECT, COUNTER, GATE, FAULT = (("IA32_PERFEVTSEL0", "IA32_PMC0", "IA32_PERF_GLOBAL_CTRL", "IA32_PMC4") if INTEL else
                                ("PERF_CTL0", "PERF_CTR0", "PERF_GLOBAL_CTL", "PERF_LEGACY_CTR3"))
SELECT_AT, GATE_AT = (0x186, 0x38F) if INTEL else (0xC0010200, 0xC0000301)


def msr(*words, **options):
    return sh(TARE, "msr", *words, **options)


def validate(d, name):
    validated(d, SCHEMAS / f"tare-{name}-1.json")


def document(name, *words):
    r = msr(*words, "--json")
    equal((r.returncode, r.stderr), (0, ""), "status and stderr")
    d = json.loads(r.stdout)
    validate(d, name)
    return d


def refused(words, *said, status=125):
    r = msr(*words)
    equal(r.returncode, status, f"{words}: {r.stdout}{r.stderr}")
    for s in said:
        true(s in r.stderr, f"{words}: '{s}' is not in: {r.stderr}")
    return r


# ---- plans: the same on every machine ----

GOLDEN = "instructions:u,cycles:u,ref-cycles:u,r00c5:u,r01c2:u,r81d0:u,r82d0:u"


@test
def a_plan_has_the_values_of_the_manual():
    trace = msr("plan", "--cpu", "skl", "--format", "trace", "-e", GOLDEN).stdout.splitlines()
    for line in ("186, value 4100c5", "187, value 4101c2", "188, value 4181d0", "189, value 4182d0", "38d, value 222", "38f, value 70000000f"):
        true(f"write_msr: {line}" in trace, line)
    equal(trace[0], "read_msr: 38f, value ?", "the module looks before it writes")
    equal(trace[-1], "write_msr: 38f, value saved", "the gate last")
    apart = [w for e in GOLDEN.split(",") for w in ("-e", e)]
    equal(msr("plan", "--cpu", "skl", "--format", "trace", *apart).stdout.splitlines(), trace, "-e more than once")


@test
def a_window_starts_below_zero():
    out = msr("plan", "--cpu", "skl", "-e", GOLDEN.replace("instructions:u", "instructions/period=512000/u")).stdout
    true(re.search(r"write IA32_FIXED_CTR_CTRL +0x38d +0x22a EN0=0x2 EN1=0x2 EN2=0x2 PMI0", out), out)
    true(re.search(r"write IA32_FIXED_CTR0 +0x309 +0xfffffff83000", out), out)


@test
def a_plan_as_json():
    d = document("msr-plan", "plan", "--cpu", "zen 4", "-e", "cycles:u,r1000001cf")
    equal([e["counter"] for e in d["events"]], ["PERF_CTR0", "PERF_CTR1"], "counters")
    equal([s["value"] for s in d["steps"] if s["register"] == "PERF_CTL1" and "value" in s], [0x1004301CF], "event bits 35:32")
    equal(d["cpu"]["version"], 2, "it has a global control")
    equal(sum(s.get("saved", False) for s in d["steps"]), sum(s["phase"] == "save" for s in d["steps"]), "what is saved comes back")


@test
def a_plan_of_a_vendor_file():
    files = ["--event-file", str(Path(__file__).parent.parent / "vendor" / "intel.json")]
    d = document("msr-plan", "plan", "--cpu", "skl", *files, "-e", "l1d_pend_miss.fb_full:u,mem_load_retired.l1_miss:u,ocr.demand_data_rd.l3_miss:u")
    equal(d["events"][0]["counter"], "IA32_PMC2" if d["cpu"]["version"] < 2 else "IA32_A_PMC2", "the file names the counter")
    configured = [s["value"] for s in d["steps"] if s["phase"] == "configure"]
    true(0x1C50248 in configured and 0x4108D1 in configured and 0x3FBFC00001 in configured, [hex(v) for v in configured])
    refused(["plan", "--cpu", "skl", "--event-file", "/nonexistent", "-e", "r1"], "/nonexistent")


@test
def plans_for_cpus_of_every_age():
    d = document("msr-plan", "plan", "--cpu", "core 2", "-e", "instructions:u,cycles:u,r12:u,rc4:u")
    equal((d["cpu"]["version"], d["cpu"]["width"], d["cpu"]["programmable"]), (2, 40, 2))
    equal([e["counter"] for e in d["events"]], ["IA32_FIXED_CTR0", "IA32_FIXED_CTR1", "IA32_PMC1", "IA32_PMC0"], "r12 (mul) counts on the second alone")
    equal([s["value"] for s in d["steps"] if s["phase"] == "start"][-1], 0x300000003)
    d = document("msr-plan", "plan", "--cpu", "core duo", "-e", "instructions:u")
    equal((d["cpu"]["version"], [e["counter"] for e in d["events"]]), (1, ["IA32_PMC0"]))
    true(not any(s["register"] == "IA32_PERF_GLOBAL_CTRL" for s in d["steps"]), "it has no gate")
    d = document("msr-plan", "plan", "--cpu", "AMD family 10h", "-e", "cycles:u,r1c0:u")
    equal([e["counter"] for e in d["events"]], ["PERF_LEGACY_CTR0", "PERF_LEGACY_CTR1"])
    true(0x4101C0 in [s.get("value") for s in d["steps"] if s["register"] == "PERF_LEGACY_CTL1"], d["steps"])
    for words, kind, n in (("alder lake", "core", 8), ("alder lake cpu_atom", "atom", 6), ("raptor lake cpu_core", "core", 8)):
        cpu = document("msr-plan", "plan", "--cpu", words, "-e", "rc4")["cpu"]
        true(cpu["name"].endswith(f" Lake cpu_{kind}"), cpu["name"])
        equal(cpu["programmable"], n, words)


@test
def plans_that_cannot_be():
    refused(["plan", "--cpu", "skl", "-e", "r1,r2,r3,r4,r5"], "r5", "4 programmable and 3 fixed")
    refused(["plan", "--cpu", "skl", "-e", "faults"], "counted by the kernel")
    refused(["plan", "--cpu", "skl", "-e", "r4300c0"], "0x430000", ":u and :k")
    refused(["plan", "--cpu", "skl", "-e", "r01c0/cmask=1/"], "takes only config", "cpu/event=0xc0,umask=0x01,cmask=.../")
    msr("plan", "--cpu", "skl", "-e", "cpu/event=0xc0,umask=0x01,cmask=1/")
    refused(["plan", "--cpu", "skl", "-e", "cycles:p"], "precise")
    refused(["plan", "--cpu", "skl", "-e", "instructions/freq=100/u"], "only perf supports a frequency", "period=N")
    refused(["plan", "--cpu", "n1", "-e", "cycles"], "Neoverse N1")
    refused(["plan", "--cpu", "nonsense", "-e", "cycles"], "no CPU model 'nonsense'")
    refused(["plan", "--cpu", "skl", "-e", "nonsense"], "there is no event 'nonsense'")
    refused(["plan", "--cpu", "skl"], "-e EVENTS")
    refused(["plan", "--cpu", "skl", "-e", "cycles", "more"], "'more'")


@test
def guests_and_their_host():
    """By AMD's bits 40 and 41. Intel's registers have none: what cannot be told apart is refused, and not counted together."""
    for mods, value in (("", 0x430076), (":G", 0x10000430076), (":H", 0x20000430076), (":GH", 0x430076), (":uG", 0x10000410076)):
        steps = document("msr-plan", "plan", "--cpu", "zen 4", "-e", f"cycles{mods}")["steps"]
        true(value in [s.get("value") for s in steps if s["register"] == "PERF_CTL0"], f"cycles{mods}: {steps}")
    for mods in (":G", ":H"):
        refused(["plan", "--cpu", "skl", "-e", f"cycles{mods}"], "cannot tell guests from their host", f"Without {mods}")
    for mods in ("", ":GH"):
        msr("plan", "--cpu", "skl", "-e", f"cycles{mods}")


@test
def mistakes_on_the_command_line():
    refused([], "list, plan, read, write, batch, watch")
    refused(["peek"], "'peek'")
    refused(["read", "-C", "x", "0x10"], "'x' is not a list of CPUs")
    refused(["read", "--via", "telepathy", "0x10"], "telepathy")
    refused(["watch", "-I", "1us", "0x10"], "too short")
    refused(["read", "0x10", "--", "true"], "only write")
    refused(["batch", "/nonexistent"], "/nonexistent")


@test
def the_list_says_what_may_be_written():
    d = document("msr-list", "list", "--cpu", "skl")
    rows = {r["name"]: r for r in d["registers"]}
    equal(rows["IA32_PERFEVTSEL"]["write"] & (1 << 20 | 1 << 19 | 1 << 21), 0, "no interrupt, pin or AnyThread")
    equal(rows["IA32_FIXED_CTR_CTRL"]["write"], 0x3333, "modes only")
    true("PERF_CTL" not in rows, "AMD's are not Intel's")
    true(re.search(r"INT +bit 20 +never written", msr("list", "--cpu", "skl", "ia32_perfevtsel3").stdout), "fields of one")
    refused(["list", "--cpu", "skl", "PERF_CTL0"], "AMD")


# ---- registers: over the model ----

MOUNT = None


def model():
    """Where the model's devices are. One mount for all tests."""
    global MOUNT
    if MOUNT:
        return MOUNT
    if not MAKER:
        skip("this CPU is neither Intel's nor AMD's")
    if not MODEL:
        skip("libfuse3 is not here")
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        skip("mounting takes root and /dev/fuse")
    where = tempfile.mkdtemp(prefix="tare-msr-")
    server = subprocess.Popen([MODEL, where], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def leave():
        sh("umount", where)
        server.send_signal(signal.SIGTERM)
        server.wait()
        os.rmdir(where)

    for _ in range(600):
        if os.path.exists(f"{where}/cpu"):
            break
        if server.poll() is not None:
            os.rmdir(where)
            skip(f"FUSE does not mount here: {server.stderr.read().decode()[:200]}")
        time.sleep(0.05)
    atexit.register(leave)
    MOUNT = where
    return where


def on_model(*words, **options):
    return msr(words[0], "--device-root", model(), *words[1:], **options)


def ok(*words):
    r = on_model(*words)
    equal((r.returncode, r.stderr), (0, ""), f"{words}: {r.stdout}")
    return r.stdout


def witness(*words):
    """rdmsr or wrmsr, which know /dev/cpu only: in a mount namespace of their own that is the model."""
    tool = shutil.which(words[0], path="/usr/sbin:/usr/bin:/sbin:/bin")
    if not tool:
        skip("msr-tools is not installed")
    r = sh("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /dev && mkdir /dev/cpu && mount --bind "$0/cpu" /dev/cpu && exec "$@"',
           model(), tool, *map(str, words[1:]))
    equal((r.returncode, r.stderr), (0, ""), f"{words}")
    return r.stdout.strip()


@test
def what_is_written_reads_back():
    equal(ok("write", "-C", "2", f"{SELECT}=0x4300c5"), f"cpu 2   write {SELECT} 0x4300c5 EVENT=0xc5 USR OS EN\n", "text")
    equal(ok("read", "-C", "2", SELECT), f"cpu 2   read  {SELECT} 0x4300c5 EVENT=0xc5 USR OS EN\n", "text")
    equal(ok("read", "-C", "2", f"{SELECT}.EVENT"), f"cpu 2   read  {SELECT}.EVENT 0xc5\n", "a field")
    equal(ok("read", "-C", "3", SELECT), f"cpu 3   read  {SELECT} 0x0\n", "another CPU")
    equal(ok("write", "-C", "2", f"{SELECT}=0", "--format", "trace"), f"write_msr: {SELECT_AT:x}, value 0\n", "as the kernel traces it")


@test
def other_programs_see_the_same():
    ok("write", "-C", "4", f"{SELECT}=0x4101c2")
    equal(witness("rdmsr", "-p", 4, SELECT_AT), "4101c2", "rdmsr reads what tare wrote")
    witness("wrmsr", "-p", 4, SELECT_AT, 0x4381D0)
    true(ok("read", "-C", "4", SELECT).endswith("0x4381d0 EVENT=0xd0 UMASK=0x81 USR OS EN\n"), "tare reads what wrmsr wrote")
    ok("write", "-C", "4", f"{SELECT}=0")


@test
def a_field_is_put_into_what_stands_there():
    ok("write", f"{SELECT}=0x4300c5")
    ok("write", f"{SELECT}.OS=0", f"{SELECT}.EVENT=0xc2")
    equal(ok("read", SELECT).split()[4], "0x4100c2", "both fields, and the others as they were")
    ok("write", f"{SELECT}=0")


@test
def written_for_the_time_of_a_command():
    ok("write", "-C", "0-1", f"{GATE}=1")
    r = on_model("write", "-C", "0-1", f"{GATE}=2", "--", TARE, "msr", "read", "--device-root", model(), "-C", "0-1", GATE)
    equal([line.split()[4] for line in r.stdout.splitlines()], ["0x2", "0x2"], "while it runs")
    equal([line.split()[4] for line in ok("read", "-C", "0-1", GATE).splitlines()], ["0x1", "0x1"], "afterwards")
    equal(on_model("write", f"{GATE}=2", "--", "sh", "-c", "exit 7").returncode, 7, "its status")
    equal(on_model("write", f"{GATE}=2", "--", "sh", "-c", "kill -9 $$").returncode, 128 + 9, "its death")
    equal(on_model("write", f"{GATE}=2", "--", "/nonexistent").returncode, 127, "there is none")
    equal(ok("read", GATE).split()[4], "0x1", "put back each time")
    ok("write", "-C", "0-1", f"{GATE}=0")


@test
def put_back_when_tare_is_told_to_end():
    ok("write", "-C", "12", f"{GATE}=1")
    p = subprocess.Popen([TARE, "msr", "write", "--device-root", model(), "-C", "12", f"{GATE}=2", "--", "sleep", "60"])
    for _ in range(600):
        if ok("read", "-C", "12", GATE).split()[4] == "0x2" and sh("pgrep", "-P", str(p.pid), "-x", "sleep").returncode == 0:
            break
        time.sleep(0.05)
    p.terminate()
    equal(p.wait(60), 128 + signal.SIGTERM, "the command's death")
    equal(ok("read", "-C", "12", GATE).split()[4], "0x1", "put back")
    ok("write", "-C", "12", f"{GATE}=0")


@test
def a_batch_with_a_fault_in_the_middle():
    with tempfile.NamedTemporaryFile("w", suffix=".batch") as f:
        f.write(f"# the model has not all of the counters\nwrite {COUNTER} 7\nread {COUNTER}\nread {FAULT}\nread {COUNTER}\n")
        f.flush()
        r = on_model("batch", "-C", "1", f.name)
    equal(r.returncode, 125, "status")
    lines = r.stdout.splitlines()
    true(lines[1].split()[4] == "0x7" and lines[2].endswith("#GP") and lines[3].endswith("not run"), r.stdout)
    true(f"cpu 1: read {FAULT}" in r.stderr and "#GP" in r.stderr, r.stderr)
    ok("write", "-C", "1", f"{COUNTER}=0")


@test
def a_batch_from_standard_input_as_json():
    r = on_model("batch", "--json", "-C", "6,7", "-", input=f"write {SELECT} EVENT=0xc0 USR=1 EN=1\nread {SELECT}\n")
    d = json.loads(r.stdout)
    equal([c["cpu"] for c in d["cpus"]], [6, 7], "CPUs")
    for c in d["cpus"]:
        equal(c["operations"][1]["value"], 0x4100C0, "value")
        equal(c["operations"][1]["fields"]["EVENT"], 0xC0, "a field of it")
    equal(d["via"], "msr", "the way")
    document("msr", "read", "--device-root", model(), SELECT, f"{SELECT}.EN")


@test
def nothing_of_a_refused_batch_is_done():
    ok("write", f"{COUNTER}=5")
    r = on_model("batch", "-", input=f"write {COUNTER} 9\nwrite {SELECT} 0x5300c0\n")
    equal(r.returncode, 125, "status")
    true("INT" in r.stderr and "no operation of the batch was executed" in r.stderr, r.stderr)
    equal(ok("read", COUNTER).split()[4], "0x5", "the first operation did not run either")
    r = on_model("write", "0xc0000080=0")
    true("not on the list" in r.stderr, r.stderr)
    r = on_model("write", "IA32_MPERF=0")
    true("not to be written" in r.stderr, r.stderr)
    ok("write", f"{COUNTER}=0")


@test
def each_refused_operation_has_its_reason():
    words = f"write {COUNTER} 9\nwrite 0xc0000080 1\nwrite {SELECT} 0x100000\nread {COUNTER}\nwrite IA32_MPERF 1\n"
    r = on_model("batch", "--json", "-", input=words)
    equal(r.returncode, 125, "status")
    d = json.loads(r.stdout)
    validate(d, "msr")
    ops = d["cpus"][0]["operations"]
    equal([(o["error"], o["value"]) for o in ops], [("not run", None), ("not allowed", None), ("bits not allowed", None), ("not run", None), ("not allowed", None)])
    for at, said in ((1, "0xc0000080 is not on the list"), (2, "INT"), (4, "IA32_MPERF is not to be written")):
        true(said in ops[at]["reason"], ops[at])
    equal([o.get("asked") for o in ops], [9, 1, 0x100000, None, 1], "what was asked for")
    true("reason" not in ops[0], "it was allowed")
    lines = on_model("batch", "-", input=words).stdout.splitlines()
    equal(len(lines), 5, lines)
    true(lines[0].endswith("0x9: not run") and "0xc0000080 is not on the list" in lines[1] and "bits 0x100000 may not be set, by tare's list of registers: INT" in lines[2], lines)
    equal(on_model("batch", "--format", "trace", "-", input=words).stdout, "", "nothing was read or written")
    r = on_model("write", "--json", "0xc0000080=0", f"{COUNTER}=3", "IA32_MPERF=1")
    equal(r.returncode, 125, r.stderr)
    equal([o["error"] for o in json.loads(r.stdout)["cpus"][0]["operations"]], ["not allowed", "not run", "not allowed"], "words, too")
    equal(json.loads(r.stdout)["via"], None, "it went no way")


@test
def counting_and_freezing():
    ok("write", "-C", "9", f"{SELECT}=0x4300c0", f"{GATE}=1")
    a, b = (int(ok("read", "-C", "9", COUNTER).split()[4], 16) for _ in "ab")
    true(b > a, f"{a} and {b}: it counts")
    ok("write", "-C", "9", f"{GATE}=0")
    equal(ok("read", "-C", "9", COUNTER), ok("read", "-C", "9", COUNTER), "it is frozen")


@test
def rates():
    out = ok("watch", "-n", "3", "-I", "20ms", "-C", "10,11", "IA32_APERF", "IA32_MPERF", GATE)
    # Of the model each reading makes one step and two: two readings of three registers each.
    rates = re.findall(r"cpu (\d+) +(IA32_[AM]PERF) +([\d,]+) ", out)
    equal(len(rates), 3 * 4, out)
    for _, name, n in rates:
        equal(int(n.replace(",", "")), 3000 if name == "IA32_APERF" else 6000, "difference")
    equal(len(re.findall(rf"{GATE} +0x0\n", out)), 4 * 2, "a register that does not count is shown as it is")
    ok("write", "-C", "11", f"{SELECT}=0x4300c5")
    out = ok("watch", "-n", "1", "-I", "5ms", "-C", "11", f"{SELECT}.EVENT", SELECT)
    equal(re.findall(rf"({SELECT}\S*) +(0x.*)", out), [(f"{SELECT}.EVENT", "0xc5"), (SELECT, "0x4300c5 EVENT=0xc5 USR OS EN")] * 2, "a field, as read takes it")
    d = document("msr-watch", "watch", "--device-root", model(), "-n", "1", "-I", "5ms", "-C", "11", f"{SELECT}.EVENT")
    equal([(r["field"], r["value"]) for r in d["readings"]], [("EVENT", 0xC5)] * 2)
    ok("write", "-C", "11", f"{SELECT}=0")
    true("watch takes no value" in on_model("watch", f"{SELECT}=1").stderr, "a value")
    d = document("msr-watch", "watch", "--device-root", model(), "-n", "1", "-I", "5ms", "IA32_APERF")
    equal([("difference" in r) for r in d["readings"]], [False, True], "the first has nothing before it")


@test
def watching_is_ended_by_a_signal():
    p = subprocess.Popen([TARE, "msr", "watch", "--json", "--device-root", model(), "-I", "10s", "IA32_APERF"], stdout=subprocess.PIPE)
    time.sleep(0.5)
    for _ in range(100):  # it may not have got so far as to listen
        p.send_signal(signal.SIGTERM)
        try:
            p.wait(0.2)
            break
        except subprocess.TimeoutExpired:
            pass
    if p.returncode == -signal.SIGTERM:
        skip("it was not yet listening: a busy machine")
    equal(p.returncode, 0, "status")
    true(json.loads(p.stdout.read())["readings"], "what was read")


@test
def cpus_that_are_off_or_not_there():
    true("that CPU is off" in on_model("read", "-C", "1000", GATE).stderr, "off")
    true("that CPU is off, or is not there" in on_model("read", "-C", "2000", GATE).stderr, "not there")
    r = on_model("read", "-C", "0,1000", GATE)
    equal(r.returncode, 125, "one of two")


# ---- tare bench --engine msr: a register that is read goes up by 1000, so a pair of marks counts the same each time ----

EMPTY = "void execute_test(void (*start)(void), void (*stop)(void)) { start(); stop(); }"
TWICE = "void execute_test(void (*start)(void), void (*stop)(void)) { start(); stop(); start(); stop(); }"
CRASH = "void execute_test(void (*start)(void), void (*stop)(void)) { start(); *(volatile int *)8 = 1; stop(); }"
ENDLESS = "void execute_test(void (*start)(void), void (*stop)(void)) { start(); for (;;) __asm__ volatile(\"\"); stop(); }"


def bench(source, *words):
    if not shutil.which("cc"):
        skip("there is no compiler")
    with tempfile.TemporaryDirectory() as room:
        with open(os.path.join(room, "t.c"), "w") as f:
            f.write(source)
        return sh(TARE, "bench", "--engine", "msr", "--device-root", model(), "--cpu-model", CPU_MODEL, "--cpu", "0", "--runs", "5", "--timeout", "2s",
                  "--format", "json", *words, os.path.join(room, "t.c"))


def put_back():
    for register in (SELECT, COUNTER, GATE):
        equal(ok("read", register).split()[4], "0x0", f"{register} is put back")


@test
def bench_counts_by_registers():
    for source, pairs in ((EMPTY, 1), (TWICE, 2)):
        r = bench(source, "-e", EVENTS + ",r0002")
        equal(r.returncode, 0, r.stderr)
        document = json.loads(r.stdout)
        equal([(c["event"], c["how"]) for c in document["counters"]][:2], [(EVENTS, "msr"), ("r0002", "msr")])
        equal(document["counters"][0]["set"], document["counters"][1]["set"], "counted in the same runs")
        for result in document["results"][:2]:
            # Both counters are read in a start, the second one behind the first: 2000 pass between reads of the same.
            equal((result["runs"], set(result["baseline"]["pairs"]), result["value"]), ([2000 * pairs] * 5, {2000}, 0), result["event"])
        put_back()


@test
def bench_puts_registers_back_whatever_the_test_does():
    for source, said in ((CRASH, "SIGSEGV"), (ENDLESS, "no end")):
        r = bench(source, "-e", EVENTS)
        equal(r.returncode, 1, r.stderr)
        true(said in r.stderr, r.stderr)
        put_back()


@test
def bench_in_sets():
    """More events than counters: in runs of their own."""
    r = bench(EMPTY, "-e", "r0001,r0002,r0003,r0004,r0005,r0006,r0007")
    equal(r.returncode, 0, r.stderr)
    document = json.loads(r.stdout)
    true(len({c["set"] for c in document["counters"][:7]}) == 2, str(document["counters"]))
    equal({x["value"] for x in document["results"][:7]}, {0})


# ---- tare stat --engine msr: the model's counters go up by 1000 for each register that is read ----

CPU_MODEL = "skl" if INTEL else "zen 4"
EVENTS = "r00c5:u" if INTEL else "r00c3:u"


def stat(*words):
    command = words[words.index("--") + 1:] if "--" in words else ["true"]
    words = words[:words.index("--")] if "--" in words else words
    return sh(TARE, "stat", "--engine", "msr", "--device-root", model(), "--cpu-model", CPU_MODEL, "-C", "0", "--format", "json", "-o", "-", *words,
              "--", *command)


def counts(r):
    return {e["event"]: e for e in json.loads(r.stdout)["events"]}


@test
def stat_counts_by_registers():
    r = stat("-e", "{" + EVENTS + ",r0002},task-clock")
    equal(r.returncode, 0, r.stderr)
    got = counts(r)
    equal(got["r0002"]["value"], got[EVENTS]["value"], "the gate froze both before they were read")
    true(got[EVENTS]["value"] % 1000 == 0 and got[EVENTS]["value"] <= 20000, f"{got[EVENTS]['value']}: steps of the model")
    equal((got[EVENTS]["engine"], got[EVENTS]["quality"], got["task-clock"]["engine"]), ("msr", "counted", "perf"), "who counted")
    for register in (SELECT, COUNTER, GATE):
        equal(ok("read", register).split()[4], "0x0", f"{register} is put back")


@test
def stat_does_not_count_guests_as_their_host():
    r = stat("-e", "cycles:H")
    said = "cannot tell guests from their host" if INTEL else "stays 0 where"
    true(r.returncode == 125 and said in r.stderr, f"{r.returncode} {r.stderr}")
    true("counted" not in r.stdout, r.stdout)
    r = stat("-e", "cycles:G")
    if INTEL:
        true(r.returncode == 125 and said in r.stderr, r.stderr)
    else:
        equal(counts(r)["cycles:G"]["quality"], "counted", r.stderr)


@test
def stat_puts_back_what_was_there():
    ok("write", f"{COUNTER}=0x1234", f"{SELECT}=0x3003c")
    equal(stat("-e", EVENTS).returncode, 0, "status")
    equal([ok("read", r).split()[4] for r in (SELECT, COUNTER)], ["0x3003c", "0x1234"], "as it was")
    ok("write", f"{COUNTER}=0", f"{SELECT}=0")


@test
def stat_leaves_counters_in_use_alone():
    ok("write", f"{SELECT}=0x43003c", f"{GATE}=1")
    r = stat("-e", EVENTS)
    true(r.returncode == 125 and "already counts with it" in r.stderr, r.stderr)
    equal(ok("read", SELECT).split()[4], "0x43003c", "untouched")
    equal(ok("read", GATE).split()[4], "0x1", "untouched")
    ok("write", f"{SELECT}=0", f"{GATE}=0", f"{COUNTER}=0")  # it counted meanwhile: the model's, by being looked at


@test
def stat_notices_another_writer():
    r = stat("-e", EVENTS, "--", "sh", "-c", '"$@" >/dev/null', "sh", TARE, "msr", "write", "--device-root", model(), f"{SELECT}.EVENT=0x3c")
    event = counts(r)[EVENTS]
    equal((event["value"], event["quality"]), (None, "unavailable"), "no number")
    true(f"another program has written {SELECT}" in event["reason"], event["reason"])
    equal(ok("read", SELECT).split()[4], "0x0", "put back all the same")


@test
def stat_notices_a_counter_that_went_round():
    # The second event's counter: its number, and its bit of the status, are not those of the first.
    second = COUNTER[:-1] + "1"
    nearly = (1 << 48) - 1500
    r = stat("-e", "{r0002," + EVENTS + "}", "--", "sh", "-c", '{ $0 write $1 && $0 read $2 && $0 read $2; } >/dev/null',
             f"{TARE} msr --device-root {model()}", f"{second}={nearly:#x}", second)
    got = counts(r)
    equal((got[EVENTS]["value"], got[EVENTS]["quality"]), (None, "unavailable"), "no number")
    true("went round" in got[EVENTS]["reason"], got[EVENTS]["reason"])
    got = counts(stat("-e", "{r0002," + EVENTS + "}"))
    equal(got[EVENTS]["quality"], "counted", "the next time it is whole again")


@test
def stat_counts_no_more_than_there_are_counters():
    got = counts(stat("-e", ",".join(f"r000{i}" for i in range(1, 8))))
    there = [e for e, v in got.items() if v["value"] is not None]
    equal(len(there), 4 if INTEL else 6, "counters of the CPU")
    true("no counter is left" in got["r0007"]["reason"], got["r0007"]["reason"])


@test
def stat_by_registers_is_of_cpus():
    r = sh(TARE, "stat", "--engine", "msr", "-e", "cycles", "--", "true")
    true(r.returncode == 125 and "needs -C or -a" in r.stderr, r.stderr)
    r = sh(TARE, "stat", "--via", "msr", "--", "true")
    true(r.returncode == 125 and "--engine msr" in r.stderr, r.stderr)


@test
def stat_against_perf():
    """Both have to be there. Whether they agree is judged over made-up engines (cross_check_test.c): a model's counters count nothing."""
    before = [ok("read", r).split()[4] for r in (SELECT, COUNTER, GATE)]
    r = stat("--cross-check", "-r", "3", "-e", EVENTS, "--", "sh", "-c", "echo it runs")
    if r.returncode in (0, 1):
        d = json.loads(r.stdout[r.stdout.index("{"):])
        equal([(e["event"], e["msr"]["runs"], e["perf"]["runs"]) for e in d["events"]], [(EVENTS, 3, 3)], "runs of each")
        equal(r.returncode, int(d["events"][0]["verdict"] == "differ"), "the status says so")
    else:
        equal(r.returncode, 125, r.stderr)
        true(f"--cross-check needs both, but perf cannot count {EVENTS}: " in r.stderr, r.stderr)
        true("it runs" not in r.stdout, "the command is not started")
    equal([ok("read", r).split()[4] for r in (SELECT, COUNTER, GATE)], before, "registers as before")
    for words, said in ((["-e", "faults"], "nothing to compare"), (["-I", "100", "-e", EVENTS], "not with -I"), (["--format", "csv"], "text or json"),
                        (["--split"], "not with --split")):
        r = sh(TARE, "stat", "--engine", "msr", "-C", "0", "--cross-check", *words, "--", "true")
        true(r.returncode == 125 and said in r.stderr, f"{words}: {r.stderr}")
    r = sh(TARE, "stat", "--cross-check", "--", "true")
    true(r.returncode == 125 and "--engine msr" in r.stderr, r.stderr)
    with tempfile.TemporaryDirectory() as empty:
        r = sh(TARE, "stat", "--engine", "msr", "--device-root", empty, "--cpu-model", CPU_MODEL, "-C", "0", "--cross-check", "-e", EVENTS, "--", "true")
        true(r.returncode == 125 and "registers cannot count" in r.stderr and "modprobe" in r.stderr, r.stderr)


@test
def bench_against_perf():
    r = bench(EMPTY, "-e", EVENTS, "--cross-check", "--runs", "10")
    if r.returncode in (0, 1):
        d = json.loads(r.stdout)
        equal([c["event"] for c in d["cross"]], [EVENTS], "each event once")
        true(f"{EVENTS} by perf" in [x["event"] for x in d["results"]], "perf's own numbers")
        equal(r.returncode, int(d["cross"][0]["verdict"] == "differ"), "the status says so")
    else:
        equal((r.returncode, r.stdout), (125, ""), r.stderr)
        true(f"--cross-check needs both, but perf cannot count {EVENTS}: " in r.stderr, r.stderr)
    put_back()
    for words, said in ((["--engine", "exact", "--cross-check"], "with --engine msr"), (["--engine", "msr", "--cross-check", "--format", "csv"], "text or json"),
                        (["--engine", "msr", "--cross-check", "-e", "faults"], "perf|registers|kernel")):
        r = sh(TARE, "bench", "--device-root", model(), *words, "--c", "1") if "exact" not in words else sh(TARE, "bench", *words, "--c", "1")
        true(r.returncode and re.search(said, r.stderr), f"{words}: {r.stderr}")


@test
def no_way_to_registers():
    with tempfile.TemporaryDirectory() as empty:
        if not MAKER:
            skip("this CPU is neither Intel's nor AMD's")
        r = msr("read", "--device-root", empty, "0x10")
        true("modprobe tare_msr" in r.stderr, r.stderr)
        r = msr("read", "--device-root", empty, "--via", "module", "0x10")
        true(f"{empty}/tare_msr" in r.stderr, r.stderr)
        r = msr("read", "--device-root", empty, "--via", "msr", "0x10")
        true(f"{empty}/cpu/0/msr" in r.stderr, r.stderr)
        r = msr("read", "--device-root", "/" + "x" * 300, "0x10")
        true("too long" in r.stderr, r.stderr)


@test
def a_name_of_the_other_maker():
    if not MAKER:
        skip("this CPU is neither Intel's nor AMD's")
    refused(["read", "PERF_CTL0" if INTEL else "IA32_PMC0"], "AMD" if INTEL else "Intel")
    refused(["read", f"{SELECT}.EVNT"], "no field 'EVNT'", "UMASK")
    refused(["write", f"{SELECT}"], "has no value")
    refused(["write", f"{SELECT}.EVENT=0x1c0"], "8 bits", *([] if INTEL else ["EVENT=0xc0 EVENT_HIGH=0x1"]))


main()
