# SPDX-License-Identifier: MIT
"""What the tests of the commands that read recordings share: `NAME_test.py TARE SCHEMAS ROOT`."""
import json
import os
import shutil
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
