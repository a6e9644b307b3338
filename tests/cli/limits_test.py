# SPDX-License-Identifier: MIT
"""Every command that writes a file, on a full disk, under limits of size and descriptors, and killed at any moment: the file is the old
one, a whole new one, or not there; nothing else is left; a failure has a message.

usage: limits_test.py TARE PROGRAM [--rounds N | --kills N [COMMAND...]]     (PROGRAM: tests/programs/regions)

In each of N rounds every command is killed twice; before, it runs under more limits, unless --kills. 0: one short round of some commands.
The outcomes are printed, for the tables of docs/internals/limits.md.
"""
import collections
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import resident  # noqa: E402
from made_accesses import Recording, source  # noqa: E402

TARE, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:3])
ROUNDS = int(sys.argv[4]) if sys.argv[3:4] in (["--rounds"], ["--kills"]) else 0
ONLY_KILLS = sys.argv[3:4] == ["--kills"]
ONLY = sys.argv[5:]
NAMESPACE = "TARE_LIMITS_INSIDE"
if NAMESPACE not in os.environ:  # a file system of one's own, where that may be had
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if shutil.which("unshare") and subprocess.run([*own, "true"], capture_output=True).returncode == 0:
        os.execvpe("unshare", [*own, sys.executable, *sys.argv], {**os.environ, NAMESPACE: "yes"})

ROOM = tempfile.TemporaryDirectory()
HERE = Path(ROOM.name)
MARK = f"TARE_LIMITS_MARK={os.getpid()}-{random.random()}"
DISK, OUT, TMP, INPUTS = HERE / "disk", HERE / "out", HERE / "tmp", HERE / "inputs"
ENV = {**os.environ, "TMPDIR": str(TMP), "HOME": ROOM.name, "LC_ALL": "C", MARK.split("=")[0]: MARK.split("=")[1]}
LOOP = ("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; done")
OLD = b"the old result\n"
RUN, OTHER, DATA, ACCESSES = (str(INPUTS / n) for n in ("run.tare", "other.tare", "perf.data", "accesses.data"))
# Name: the words, with FILE for the output; what says that a new one is whole; in the short round.
COMMANDS = {
    "stat": (["stat", "--format", "json", "-e", "task-clock", "-o", "FILE", "--", "true"], None, True),
    "stat --html": (["stat", "-e", "task-clock", "--html", "FILE", "--", "true"], None, False),
    "stat exact": (["stat", "--engine", "exact", "-e", "instructions:u", "-o", "FILE", "--", "true"], None, False),
    "record": (["record", "-q", "-e", "page-faults:u", "-c", "5", "-o", "FILE", "--", *LOOP], "report", True),
    "record exact": (["record", "-q", "--engine", "exact", "-o", "FILE", "--", "true"], "report", False),
    "regions": (["regions", "-q", "-o", "FILE", "--", PROGRAM, "loop", "2000", "2"], "summarize", True),
    "windows": (["windows", "-e", "page-faults:u", "--every", "2ms", "--format", "csv", "-o", "FILE", "--", *LOOP], None, True),
    "windows --html": (["windows", "-e", "page-faults:u", "--every", "2ms", "--html", "FILE", "--", *LOOP], None, False),
    "export": (["export", "-f", "csv", "-o", "FILE", RUN], None, True),
    "summarize": (["summarize", "-o", "FILE", RUN], None, True),
    "summarize --html": (["summarize", "--html", "FILE", RUN], None, False),
    "aggregate": (["aggregate", "-o", "FILE", RUN, OTHER], None, False),
    "diff": (["diff", "-o", "FILE", RUN, "--", OTHER], None, False),
    "report --html": (["report", "--html", "FILE", DATA], None, False),
    "annotate": (["annotate", "-o", "FILE", "main", "--", PROGRAM, "loop", "1", "1"], None, False),
    "bench": (["bench", "--engine", "clock", "--runs", "4", "--format", "json", "-o", "FILE", "--init", "int x = 1", "--c", "x++"], None, False),
}
seen = {name: collections.Counter() for name in COMMANDS}
usual = {}


def words(name, path):
    return [TARE, *(str(path) if w == "FILE" else w for w in COMMANDS[name][0])]


def run(name, path, **options):
    return subprocess.run(words(name, path), **{"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": 100, "env": ENV, "cwd": INPUTS, **options})


def start(name):
    """At a low priority, so that a signal arrives on time on a loaded machine. Popen() returns after the exec."""
    return subprocess.Popen(words(name, OUT / "f"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV, cwd=INPUTS,
                            start_new_session=True, preexec_fn=lambda: os.nice(19))


def chosen():
    prepare()
    return [n for n, (_, _, short) in COMMANDS.items() if (ROUNDS or short) and n in usual]


def prepare():
    """Inputs, and how long each command takes, how its file ends, for those that work here."""
    if usual:
        return
    for folder in (DISK, OUT, TMP, INPUTS):
        folder.mkdir()
    for path in (RUN, OTHER):
        subprocess.run([TARE, "regions", "-q", "-o", path, "--", PROGRAM, "loop", "300", "2"], env=ENV, check=True)
    subprocess.run([TARE, "record", "-q", "-e", "page-faults:u", "-c", "1", "-o", DATA, "--", *LOOP], env=ENV, capture_output=True)
    accesses = Recording()
    accesses.mmap(1, 0x400000, 0x1000, 0, PROGRAM)
    for i in range(8):
        accesses.sample(ip=0x400100, tid=1 + i % 2, time=i, cpu=i % 2, addr=0x500000 + i % 4 * 8, src=source("store" if i % 2 else "load", "L1"))
    accesses.write(Path(ACCESSES))
    for name, (_, _, short) in COMMANDS.items():
        if not (name in ONLY if ONLY else ROUNDS or short):
            continue
        took = 100
        for _ in range(3 if ROUNDS else 1):
            p = start(name)
            began = time.monotonic()
            p.wait(timeout=100)
            took = min(took, time.monotonic() - began)
            r = run(name, OUT / "f")
        if (OUT / "f").exists() and r.returncode in (0, 1):
            usual[name] = (took, (OUT / "f").read_bytes())
        else:
            print(f"# {name} does not work here: {r.returncode} {r.stderr[:150]!r}")
        clean(OUT)


def clean(folder):
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def is_whole(name, path):
    reader = COMMANDS[name][1]
    if reader:
        return subprocess.run([TARE, reader, str(path)], capture_output=True, env=ENV, timeout=100).returncode in (0, 1)
    got, wanted = path.read_bytes(), usual[name][1]
    if wanted.startswith(b"{"):
        try:
            return bool(json.loads(got))
        except ValueError:
            return False
    if name.startswith("windows"):  # as many rows as the machine has time for
        wanted = wanted[:wanted.index(b"\n") + 1]
    return len(got) >= len(wanted) // 2 and got[-1:] == b"\n" and (wanted[-8:] != b"</html>\n" or got.endswith(b"</html>\n"))


def state(name, folder, killed=None, had_old=True):
    """The state of the output file; checks that the rest of the folder is as expected."""
    path = folder / "f"
    others = {p.name: p for p in folder.iterdir() if p.name not in ("f", "fill")}
    if not path.exists():
        what = "absent"
        true(not had_old, f"{name}: the old file is gone: {list(others)}")
    elif path.read_bytes() == OLD:
        what = "old"
    else:
        what = "new"
        true(is_whole(name, path), f"{name}: neither the old file nor a whole one: {path.read_bytes()[:300]!r}")
    if what == "new" and name.startswith("record") and had_old:  # as perf does
        true(others.pop("f.old", None) is not None, f"{name}: no f.old")
    for part in [n for n in others if killed and n.startswith("f.part")]:
        grows = name.split()[0] in ("record", "regions")  # a recording that had begun: the next run reports it
        true(killed == signal.SIGKILL, f"{name}: {part} after a signal that tare hears")
        # Of other commands it is the whole file, before the rename that replaces the old one.
        true(grows or is_whole(name, others[part]), f"{name}: {part} is not whole")
        others.pop(part)
        what += ", f.part"
    true(not others, f"{name}: left: {list(others)}")
    return what


def left_running():
    """Processes of ours that outlive tare: not for long, as what they ran was short. At their low priority a busy machine takes its time."""
    for _ in range(600):
        found = []
        for p in Path("/proc").iterdir():
            try:
                if p.name.isdigit() and int(p.name) != os.getpid() and MARK.encode() in (p / "environ").read_bytes().split(b"\0"):
                    found.append(p.name)
            except OSError:
                pass
        if not found:
            return []
        time.sleep(0.1)
    return [f"{p}: {Path('/proc', p, 'cmdline').read_bytes()}" for p in found]


def under(limit, name, folder, **options):
    """One run: no crash, a message where it fails, the file as it should be."""
    (folder / "f").write_bytes(OLD)
    r = run(name, folder / "f", **options)
    true(0 <= r.returncode < 128 or r.returncode == 128 + signal.SIGXFSZ, f"{name}, {limit}: ended by {r.returncode}: {r.stderr[-500:]!r}")
    true(r.returncode in (0, 1) or r.stderr, f"{name}, {limit}: {r.returncode} in silence")
    what = state(name, folder)
    true(what == "new" or r.returncode, f"{name}, {limit}: success, and no new file: {r.stderr[-300:]!r}")
    seen[name][f"{limit}: {what}"] += 1
    clean(folder)


@test
def full_disks():
    if ONLY_KILLS:
        skip("only kills")
    if NAMESPACE not in os.environ:
        skip("no file system can be mounted here")
    names = chosen()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(DISK)], capture_output=True).returncode:
        skip("no file system can be mounted here")
    try:
        for name in names:
            for pages in (0, 4) if not ROUNDS else (0, 1, 2, 4, 8, 40):
                (DISK / "f").write_bytes(OLD)
                with open(DISK / "fill", "wb", buffering=0) as f:
                    try:
                        while True:
                            f.write(bytes(4096))
                    except OSError:
                        f.truncate(max(0, f.tell() - 4096 * pages) // 4096 * 4096)
                under("full disk", name, DISK)
    finally:
        subprocess.run(["umount", str(DISK)], check=True)


@test
def limits_of_size():
    if ONLY_KILLS:
        skip("only kills")
    for name in chosen():
        for most in (4096,) if not ROUNDS else (0, 1, 4096, 16384, 65536):
            under("ulimit -f", name, OUT, preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))


@test
def limits_of_descriptors():
    if ONLY_KILLS:
        skip("only kills")
    for name in chosen():
        for most in (6,) if not ROUNDS else (4, 5, 6, 7, 9, 12):
            under("ulimit -n 6" if most == 6 else "ulimit -n 4 to 12", name, OUT,
                  preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))


def kill_once(name, how, draw):
    had_old = draw.random() < 0.7
    if had_old:
        (OUT / "f").write_bytes(OLD)
    p = start(name)
    time.sleep(draw.uniform(0, usual[name][0]))
    in_time = p.poll() is None
    p.send_signal(how)
    p.wait(timeout=60)
    left = left_running()
    true(not left, f"{name}, {how.name}: still runs: {left}")
    what = state(name, OUT, how, had_old)
    if how == signal.SIGTERM:
        true(not os.listdir(TMP), f"{name}, {how.name}: left in TMPDIR: {os.listdir(TMP)}")
    return what if in_time else f"{what}, had ended"


# Of every command, words that need no PMU; whether the output is the same in each run.
EVERY = {
    "stat": (["-e", "task-clock", "--", "true"], False),
    "compare": (["-r", "0", "--no-cause", "--", "true", ":::", "true"], False),
    "bisect": (["HEAD~1..HEAD", "--no-cause", "--", "sh", "work.sh"], True),
    "history": (["add", "--db", "history.db", "stat.json"], False),
    "gate": (["run", "--config", "gate.json"], False),
    "regions": (["-o", "of.tare", "--", PROGRAM, "loop", "3", "2"], False),
    "bench": (["--engine", "clock", "--runs", "4", "--asm", "nop"], False),
    "record": (["-e", "page-faults:u", "-c", "1", "-o", "of.data", "--", "true"], False),
    "report": ([DATA], True),
    "annotate": (["main", "--", PROGRAM, "loop", "1", "1"], True),
    "memory": ([ACCESSES], True),
    "sharing": ([ACCESSES], True),
    "windows": (["-e", "page-faults", "--every", "2ms", "--", "true"], False),
    "dump": ([DATA], True),
    "export": (["-f", "csv", RUN], True),
    "summarize": ([RUN], True),
    "diff": ([RUN, "--", OTHER], True),
    "run": (["--", "true"], True),
    "verify": (["faults"], True),
    "diverge": (["--", "true"], True),
    "scan": (["--selectors", "0xc0"], False),
    "aggregate": ([RUN, OTHER], True),
    "doctor": ([], False),
    "events": ([], True),
    "msr": (["read", "IA32_PERF_GLOBAL_CTRL"], True),
}


def prepare_every():
    """What the commands of EVERY read."""
    if ONLY_KILLS:
        skip("only kills")
    if not shutil.which("git"):
        skip("git is not installed")
    prepare()
    if (INPUTS / "gate.json").exists():
        return
    (INPUTS / "gate.json").write_text('{"benchmarks": {"true": {"command": ["true"]}}}')
    event = {"event": "e", "unit": "", "engine": "exact", "quality": "exact", "value": 1, "min": 1, "max": 1, "n": 1}
    (INPUTS / "stat.json").write_text(json.dumps({"schema": "tare/stat/1", "command": ["true"], "runs": 1, "events": [event]}))
    git = ["git", "-C", INPUTS, "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for work in ("true", "for i in 1 2 3; do true; done"):
        (INPUTS / "work.sh").write_text(work)
        subprocess.run([*git, "add", "work.sh"], check=True)
        subprocess.run([*git, "commit", "-qm", work], check=True)
    listed = subprocess.run([TARE, "help", "all"], capture_output=True, text=True, env=ENV).stdout
    true(set(re.findall(r"^  ([a-z]+)  +", listed, re.M)) == set(EVERY), listed)


def limited(which, most):
    return lambda: resource.setrlimit(which, (most, most))


@test
def six_descriptors():
    """Every command says that it has too few, or does all that it does with enough."""
    prepare_every()
    for name, (more, same) in EVERY.items():
        options = {"capture_output": True, "stdin": subprocess.DEVNULL, "timeout": 100, "env": ENV, "cwd": INPUTS}
        enough = subprocess.run([TARE, name, *more], **options)
        few = subprocess.run([TARE, name, *more], **options, preexec_fn=limited(resource.RLIMIT_NOFILE, 6))
        reported = b"Too many open files" in few.stdout + few.stderr
        print(f"# {name}: {few.returncode}, {'too few' if reported else 'enough'}")
        if few.returncode != enough.returncode:
            true(few.returncode == 125 and reported and b"ulimit -n" in few.stdout + few.stderr, f"{name}: {few}")
        elif not reported:
            true(few.stdout == enough.stdout if same else few.stdout or few.stderr, f"{name}: {few}; not {enough}")


@test
def small_stacks():
    """512 KiB are enough for every command; with less, each says so."""
    prepare_every()
    for name, (more, same) in EVERY.items():
        options = {"capture_output": True, "stdin": subprocess.DEVNULL, "timeout": 100, "env": ENV, "cwd": INPUTS}
        usual, least, *less = (subprocess.run([TARE, name, *more], **options, preexec_fn=limited(resource.RLIMIT_STACK, kib << 10))
                               for kib in (8192, 512, 511, 128, 32))
        equal(least.returncode, usual.returncode, f"{name}: {least}")
        true(not same or least.stdout == usual.stdout, f"{name}: {least}; not {usual}")
        for r in less:
            true(r.returncode == 125 and re.fullmatch(b"tare: the stack is limited to [0-9]+ KiB, and tare needs 512\n  ulimit -s 8192; .*\n", r.stderr), f"{name}: {r}")


@test
def few_processes():
    """A fork that fails: a message, never silence or a signal."""
    if os.geteuid() or not shutil.which("setpriv"):
        skip("needs root, and setpriv")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        tare, work = shutil.copy(TARE, folder), Path(folder, "work")
        work.mkdir()
        work.chmod(0o777)
        user = ("setpriv", "--reuid", str(200000 + os.getpid()), "--regid", "65534", "--clear-groups")  # it has no other processes
        failed = 0
        for words in (["stat"], ["stat", "-r", "3"], ["stat", "--engine", "exact", "--deterministic"], ["compare", "-r", "0"], ["diverge"], ["run"], ["run", "--deterministic"],
                      ["regions"], ["record", "-e", "page-faults:u"]):
            for most in range(1, 7):
                r = subprocess.run([*user, "prlimit", f"--nproc={most}", tare, *words, "--", "true"], capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=100,
                                   env={**ENV, "TMPDIR": str(work)}, cwd=work)
                failed += r.returncode != 0
                true(r.returncode in (0, 125, 126) and (r.returncode == 0 or r.stderr), f"{words}, {most}: {r}")
                true("cannot fork" not in r.stderr or "ulimit -u N" in r.stderr, f"{words}, {most}: {r.stderr}")
        true(failed > 5, "some cannot fork")


# Commands that read JSON; FILE is its name.
JSON_READERS = (["compare", "FILE", "FILE"], ["gate", "run", "--config", "FILE"], ["gate", "run", "--baseline", "FILE"], ["history", "add", "FILE"],
                ["history", "import", "FILE"])


@test
def json_of_very_many_values():
    """9 MB of text with 800 MB of values: refused before it is parsed."""
    folder = HERE / "many"
    folder.mkdir()
    (folder / "tare.json").write_text('{"benchmarks": {"a": {"command": ["true"]}}}')
    (folder / "many.json").write_text("[" + ",".join(["{}"] * 3000000) + "]")
    subprocess.run(["git", "init", "-q", folder], check=True, env=ENV)
    for words in JSON_READERS:
        words = [TARE, *("many.json" if w == "FILE" else w for w in words)]
        r = subprocess.run(words, capture_output=True, text=True, timeout=100, env=ENV, cwd=folder)
        true(r.returncode == 125 and "many.json: its values need 809 MiB of memory, for 8789 KiB of text\n" in r.stderr, f"{words}: {r}")
        true(resident(*words, status=125, env=ENV, cwd=folder, stderr=subprocess.DEVNULL) < 64 << 10, f"{words}: memory")


@test
def kills():
    draw, failures = random.Random(), []
    for _ in range(max(1, ROUNDS)):
        for name in chosen():
            for how in (signal.SIGKILL, signal.SIGTERM):
                try:
                    what = kill_once(name, how, draw)
                except AssertionError as e:
                    failures.append(str(e))
                    print(f"# {e}", flush=True)
                    what = "FAILED"
                seen[name][f"{how.name}: {what}"] += 1
                clean(OUT)
                clean(TMP)
    true(not failures, f"{len(failures)} failures: {failures[:3]}")


@test
def table():
    """For docs/internals/limits.md."""
    for name, found in seen.items():
        for what, n in sorted(found.items()):
            print(f"# | {name} | {what} | {n} |")
    print(f"# {sum(n for found in seen.values() for what, n in found.items() if what.startswith('SIG'))} kills, "
          f"{sum(n for found in seen.values() for what, n in found.items() if not what.startswith('SIG'))} runs under limits")


main()
