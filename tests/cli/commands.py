# SPDX-License-Identifier: MIT
"""What tests of commands share: a folder to run them in, and documents that are of a schema."""
import functools
import json
import subprocess
import tempfile
from pathlib import Path

from check import equal

ROOM = tempfile.TemporaryDirectory()


def sh(*words, status=0, **options):
    """Run in the room, with nothing to read but `input`; status None: any."""
    usual = {"capture_output": True, "text": True, "timeout": 200, "cwd": ROOM.name, **({} if "input" in options else {"stdin": subprocess.DEVNULL})}
    r = subprocess.run(words, **{**usual, **options})
    if status is not None:
        equal(r.returncode, status, f"exit status of {' '.join(words)}; {r.stdout[:300]}{r.stderr[:800]}")
    return r


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
