# SPDX-License-Identifier: MIT
"""What the tests of the commands that read recordings share: `NAME_test.py TARE SCHEMAS ROOT`."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from check import equal, skip
from commands import validated

TARE, SCHEMAS, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "160"}

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)


def room(name):
    return Path(ROOM.name) / name


def tare(*words, status=0, **more):
    r = subprocess.run([TARE, *map(str, words)], capture_output=True, text=True, timeout=60, env={**ENV, **more})
    if status is not None:
        equal(r.returncode, status, f"status of {words}: {r.stderr}")
    return r


def blocks(path, kind=3):
    """Offset and size of a recording's blocks of this kind (recording/region_format.h): 1 a process, 3 points."""
    data, at, found = path.read_bytes(), 4096, []
    while at + 192 <= len(data):
        magic, k, _, size = struct.unpack_from("<IHHI", data, at)
        if magic == 0x31425254 and k == kind:
            found.append((at, size))
        at += size if magic == 0x31425254 else 4096
    return found


def patched(path, name, at, new):
    """A copy with other bytes at an offset."""
    data = bytearray(path.read_bytes())
    data[at:at + len(new)] = new
    to = room(name)
    to.write_bytes(data)
    return to


def damaged(path, name, which):
    """A copy in which one block of points, by its number in the file, cannot be read: a gap, whose number of points is known."""
    at, _ = blocks(path)[which]
    return patched(path, name, at + 1000, bytes(8))


def without_handlers(path, name, points, *labels):
    """A copy that lost so many points of signal handlers, of these labels: 192 + 56 and 192 + 3880, format.h."""
    (at, _), = blocks(path, 1)
    (of, _), = blocks(path, 2)
    data, bits = path.read_bytes(), 0
    of += 192
    while size := struct.unpack_from("<I", data, of)[0]:
        if data[of + 16:of + size].split(b"\0")[0].decode() in labels:
            bits |= 1 << 2 + (struct.unpack_from("<I", data, of + 4)[0] - 1) % 190
        of += size
    equal(bits.bit_count(), len(labels), "all are there")
    return patched(patched(path, name, at + 192 + 56, struct.pack("<Q", points)), name, at + 192 + 3880, bits.to_bytes(24, "little"))


def copy(path, n=1):
    """The same recording in another file."""
    return Path(shutil.copy(path, f"{path}.copy{n}"))


def document(command, *words, status=0):
    d = json.loads(tare(command, "--format", "json", *words, status=status).stdout)
    validated(d, SCHEMAS / f"tare-{command}-1.json")
    return d


def fixtures():
    path = Path(os.environ.get("TARE_FIXTURES") or ROOT.parent / "shared" / "fixtures") / "mmprofdata"
    if not path.is_dir():
        if "fixtures" in os.environ.get("TARE_EXPECT", ""):
            raise AssertionError(f"{path} is not there, and TARE_EXPECT names fixtures")
        skip(f"{path} is not there; TARE_FIXTURES names the folder that holds mmprofdata/")
    return path


def nanoseconds(d):
    return d["secs"] * 10**9 + d["nanos"]
