# SPDX-License-Identifier: MIT
"""TAP for the tests that run inside the guest: one function, one test."""
import os
import subprocess
import sys
import tempfile
import time
import traceback

# Stored results of earlier runs on this machine must not affect a test, nor a test's results other tests.
_state = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = _state.name

_tests = []


def test(function):
    _tests.append(function)
    return function


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)


class Skipped(Exception):
    pass


def skip(reason):
    raise Skipped(reason)


def sh(*command, **options):
    """Run; the result has returncode, stdout and stderr as text."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def main():
    failed = 0
    for n, function in enumerate(_tests, 1):
        try:
            began, before = time.monotonic(), sum(os.times()[:4])
            function()
            print(f"# {time.monotonic() - began:.2f} s, {sum(os.times()[:4]) - before:.2f} s of CPU\nok {n} {function.__name__}", flush=True)
        except Skipped as e:
            print(f"ok {n} {function.__name__} # SKIP {e}", flush=True)
        except Exception as e:
            failed += 1
            where = traceback.extract_tb(e.__traceback__)
            line = next((f.lineno for f in where if f.name == function.__name__), 0)
            print("\n".join(f"# {l}" for l in f"line {line}: {type(e).__name__}: {e}".splitlines()))
            print(f"not ok {n} {function.__name__}", flush=True)
    print(f"1..{len(_tests)}")
    sys.exit(1 if failed else 0)
