# SPDX-License-Identifier: MIT
"""Run a command to its end, or to its time limit, and then end its whole process tree."""
import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid):
    """Of all its threads; without those that have ended, or end meanwhile."""
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                found += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def descendants():
    todo, found = children(os.getpid()), []
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children(pid)
    return found


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def kill_descendants():
    """All descendants of this process, including orphans: this process is their subreaper."""
    for _ in range(50):
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.1)
        reap()
        if not descendants():
            return


LOST = 123  # of the judge: a hypervisor lost a trap, so that the judge missed an instruction


def run(command, limit, **how):
    """
    (status as in a shell, output, error output); subprocess.TimeoutExpired after the limit. The judge is run again if it
    missed an instruction, which it notices.
    """
    for _ in range(5):
        result = run_once(command, limit, **how)
        if result[0] != LOST or not result[2].rstrip().endswith(b"retired without a trap"):
            break
        print(f"# {result[2].decode().splitlines()[-1]}; once more")
    return result


def run_once(command, limit, **how):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    try:
        stdout, stderr = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        kill_descendants()
        child.communicate()
        raise
    reap()
    status = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return status, stdout, stderr
