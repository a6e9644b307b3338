# SPDX-License-Identifier: MIT
"""What tests of commands share: a folder to run them in, and documents that are of a schema."""
import functools
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from check import equal, true

ROOM = tempfile.TemporaryDirectory()


def sh(*words, status=0, **options):
    """Run in the room, with nothing to read but `input`; status None: any."""
    usual = {"capture_output": True, "text": True, "timeout": 200, "cwd": ROOM.name, **({} if "input" in options else {"stdin": subprocess.DEVNULL})}
    r = subprocess.run(words, **{**usual, **options})
    if status is not None:
        equal(r.returncode, status, f"exit status of {' '.join(words)}; {r.stdout[:300]}{r.stderr[:800]}")
    return r


def running(word):
    """Processes with this word in their command line."""
    found = []
    for p in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [p.parent.name] if word in p.read_bytes().decode(errors="replace") else []
        except OSError:
            pass
    return found


def ended(p, seconds=100):
    """Wait for its end; its standard error. It must end without more help."""
    try:
        return p.communicate(timeout=seconds)[1]
    finally:
        p.kill()


def children(pid):
    """Of its first thread; none of one that is gone."""
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def tiny_program(path, code, entry=0x400078):
    """Of nothing but this code, for x86-64."""
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    size = 120 + len(code)
    Path(path).write_bytes(head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0x400000, 0x400000, size, size, 4096) + code)
    Path(path).chmod(0o755)
    return str(path)


def ended_within_exec(path):
    """A program that the kernel takes for one, and ends by SIGSEGV before its first instruction: none can be at its entry point."""
    return tiny_program(path, b"", 0xdead000000000000)


def refused_by_the_engine(path):
    """A program that the exact engine ends, as it does not count a far return."""
    return tiny_program(path, b"\xcb")


@functools.cache
def validator(path):
    """Of a schema, itself checked once; None where there is no python3-jsonschema."""
    try:
        import jsonschema
    except ImportError:
        return None
    schema = json.loads(Path(path).read_text())
    made = jsonschema.validators.validator_for(schema)
    made.check_schema(schema)
    return made(schema)


def validated(document, path):
    """The document, or that of a text."""
    d = json.loads(document) if isinstance(document, str) else document
    if validator(path):
        validator(path).validate(d)
    return d


# A process has at first the size of the one that it comes from, which is why that is a small one.
SIZE = """
import os, sys
told = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)
os.write(told, b"%d %d" % (os.waitstatus_to_exitcode(status), used.ru_maxrss))
"""


def resident(*words, status=0, **options):
    """KiB of memory that this command had at most, or 9 MiB, whichever is more."""
    r = subprocess.run([sys.executable, "-I", "-S", "-c", SIZE, *map(str, words)], stdout=subprocess.PIPE, text=True, timeout=100, **options)
    equal(r.returncode, 0, r.stdout)
    ended, most = map(int, r.stdout.split())
    equal(ended, status, f"exit status of {words}")
    return most


def told_while_input_stays_open(words, name, status):
    """Standard input is a pipe, which these words wait for: that is said while they do, and --timeout ends it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOM.name}
    with subprocess.Popen(words, **pipes) as p:
        line = p.stderr.readline()
        true(line.startswith(f"{name}: reading standard input to its end") and "</dev/null" in line, line)
        out, err = p.communicate("hi\n", timeout=100)
        equal((p.returncode, err), (status, ""), out)
    at = words.index("--")
    with subprocess.Popen([*words[:at], "--timeout", "200", *words[at:]], **pipes) as p:
        err = p.stderr.read()  # nobody writes or closes
        equal(p.wait(60), 125, err)
        true("did not end within --timeout" in err and "</dev/null" in err and err.count("\n") == 2, err)


def told_of_a_terminal(words, name, status):
    line = f"{name}: standard input is a terminal, which each run reads separately; to give all the same: < FILE\n"
    ours, terminal = pty.openpty()
    equal(sh(*words, status=status, stdin=terminal).stderr, line)
    os.close(terminal)
    os.close(ours)
