# SPDX-License-Identifier: MIT
"""With capabilities on its file (setcap), tare alone has them: no command, compiler or loaded object does.

usage: privilege_test.py TARE CC
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402

CC = sys.argv[2]
ROOM = tempfile.TemporaryDirectory()
HERE = Path(ROOM.name)
SEEN = HERE / "home" / "seen"
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
CAP_PERFMON = 38  # linux/capability.h
VFS_CAP_REVISION_2, EFFECTIVE = 0x02000000, 1

OBJECT = """
#include <stdio.h>
#include <string.h>

static void say(void)
{
	FILE *from = fopen("/proc/self/status", "r"), *to = fopen("%s", "a");
	char line[256];

	while (from && to && fgets(line, sizeof(line), from))
		if (!strncmp(line, "Cap", 3))
			fputs(line, to);
	fclose(from);
	fclose(to);
}

__attribute__((constructor)) static void loaded(void) { say(); }
void setup(void) { say(); }
void execute_test(void (*start)(void), void (*stop)(void)) { start(); stop(); }
void teardown(void) { say(); }
"""


def ready():
    """A copy of tare that has CAP_PERFMON for every user."""
    tare = HERE / "tare"
    if tare.exists():
        return tare
    if os.geteuid() or not shutil.which("setpriv"):
        skip("needs root, and setpriv")
    os.chmod(HERE, 0o755)
    (HERE / "home").mkdir()
    os.chmod(HERE / "home", 0o777)
    shutil.copy(sys.argv[1], tare)
    sets = struct.pack("<5I", VFS_CAP_REVISION_2 | EFFECTIVE, 0, 0, 1 << (CAP_PERFMON - 32), 0)
    try:
        os.setxattr(tare, "security.capability", sets)
        status = subprocess.run([*NOBODY, tare, "--version"], capture_output=True).returncode
    except OSError as e:
        status = str(e)
    if status:
        tare.unlink()
        skip(f"no file capabilities here: {status}")
    grep = subprocess.run([*NOBODY, shutil.copy(shutil.which("grep"), HERE / "grep"), "CapEff", "/proc/self/status"],
                          capture_output=True, text=True).stdout
    equal(int(grep.split()[1], 16), 0, "an ordinary program of this user")
    (HERE / "say").write_text(f"#!/bin/sh\ngrep ^Cap /proc/self/status >>{SEEN}\n")
    (HERE / "cc").write_text(f"#!/bin/sh\ngrep ^Cap /proc/self/status >>{SEEN}\nexec {CC} \"$@\"\n")
    for name in ("say", "cc"):
        os.chmod(HERE / name, 0o755)
    return tare


def capabilities(*words, status=(0,), cwd=None):
    """The permitted, effective, inheritable and ambient sets that code of others had meanwhile."""
    tare = ready()
    SEEN.unlink(missing_ok=True)
    r = subprocess.run([*NOBODY, tare, *words], capture_output=True, text=True, timeout=100, cwd=cwd or HERE / "home",
                       env={**os.environ, "CC": str(HERE / "cc"), "TMPDIR": str(HERE / "home"), "HOME": str(HERE / "home")})
    true(r.returncode in status, f"{words}: {r.returncode} {r.stderr}")
    seen = [line.split() for line in SEEN.read_text().splitlines()]
    true(seen, f"{words}: nothing was seen; {r.stderr}")
    return {(name, int(value, 16)) for name, value in seen if name != "CapBnd:"}


NONE = {("CapInh:", 0), ("CapPrm:", 0), ("CapEff:", 0), ("CapAmb:", 0)}


@test
def tare_has_them():
    """What the other cases would see: a shell that is tare's file has the capability."""
    ready()
    shell = shutil.copy(shutil.which("cat"), HERE / "cat")
    os.setxattr(shell, "security.capability", os.getxattr(HERE / "tare", "security.capability"))
    r = subprocess.run([*NOBODY, shell, "/proc/self/status"], capture_output=True, text=True)
    true("CapEff:\t0000004000000000" in r.stdout, r.stdout)


@test
def commands_have_none():
    exact = subprocess.run([sys.argv[1], "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode == 0
    cases = [["stat", "-e", "page-faults"], ["record", "-e", "cpu-clock:u", "-o", "r.data"], ["run"], ["regions", "-o", "r.tare"]]
    if exact:
        cases += [["stat", "--engine", "exact", "-e", "instructions:u"], ["stat", "--deterministic", "--engine", "exact", "-e", "instructions:u"]]
    for words in cases:
        equal(capabilities(*words, "--", HERE / "say", status=(0, 125) if words[0] == "regions" else (0,)), NONE, words)


@test
def builds_of_revisions_have_none():
    ready()
    if subprocess.run([sys.argv[1], "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode:
        skip("needs the exact engine")
    repository = HERE / "home" / "repository"
    repository.mkdir()
    os.chown(repository, 65534, 65534)

    def git(*words):
        who = ("-c", "user.name=n", "-c", "user.email=e")
        subprocess.run([*NOBODY, "git", *who, *words], cwd=repository, check=True, capture_output=True, env={**os.environ, "HOME": str(HERE / "home")})

    git("init", "-q", "-b", "main")
    (repository / "tare.json").write_text('{"benchmarks": {"a": {"command": ["./loop"]}}}')
    for n in (10, 20):
        (repository / "loop").write_text(f"#!/bin/sh\n{HERE}/say\ni=0; while [ $i -lt {n} ]; do i=$((i+1)); done\n")
        (repository / "loop").chmod(0o755)
        git("add", "-A")
        git("commit", "-qm", f"{n}")
    say = str(HERE / "say")
    for words in (["compare", "-r", "0", "--rev", "HEAD~1", "--build", say, "--", "./loop"],
                  ["gate", "--measure-base", "--base", "HEAD~1", "--build", say, "run"],
                  ["bisect", "--build", say, "HEAD~1..HEAD", "--", "./loop"]):
        equal(capabilities(*words, status=(0, 1, 2), cwd=repository), NONE, words)


@test
def objects_of_bench_have_none():
    ready()
    source = HERE / "home" / "t.c"
    source.write_text(OBJECT % SEEN)
    subprocess.run([CC, "-shared", "-fPIC", "-o", HERE / "home" / "t.so", source], check=True)
    for file in ("t.so", "t.c"):  # t.c: a compiler, too
        equal(capabilities("bench", "--engine", "clock", "--runs", "6", f"./{file}"), NONE, file)


main()
