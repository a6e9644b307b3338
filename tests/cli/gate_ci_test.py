#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The steps of action.yml and of the workflows in examples/ci, run as the servers would run them.

usage: gate_ci_test.py TARE
"""
import json
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import ROOM, sh  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
HOME = Path(ROOM.name, "home")
os.environ.update(HOME=str(HOME), PATH=f"{HOME}/bin:{os.environ['PATH']}", GIT_CONFIG_NOSYSTEM="1", TMPDIR=ROOM.name, GIT_CEILING_DIRECTORIES=ROOM.name)
if not shutil.which("git") or not shutil.which("bash"):
    print("1..0 # SKIP git or bash is not installed")
    sys.exit()

TOP = Path(__file__).parents[2]
LOOP = "#!/bin/sh\ni=0; while [ $i -lt {} ]; do i=$((i + 1)); done\n"


def steps(file):
    """Name -> shell command; each step with a command must have a name."""
    text = (TOP / file).read_text()
    found = {}
    for part in re.split(r"^ *- (?=name:|uses:)", text, flags=re.M)[1:]:
        if run := re.search(r"^( *)run: (?:\|\n((?:\1 +.*\n|\n)+)|(.+))", part, re.M):
            found[re.match(r"name: (.*)", part)[1]] = textwrap.dedent(run[2]) if run[2] else run[3]
    return found


def server(step, where, status=0, **variables):
    """A step as GitHub's bash runs it; and what it wrote into the files of the server."""
    files = {name: Path(ROOM.name, name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for f in files.values():
        f.write_text("")
    env = {**os.environ, "GITHUB_WORKSPACE": str(where), "RUNNER_TEMP": ROOM.name,
           **{k: str(v) for k, v in files.items()}, **variables}
    r = sh("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step, cwd=where, status=status, env=env)
    return r, *(f.read_text() for f in files.values())


def git(where, *words):
    return sh("git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words, cwd=where).stdout.strip()


def write(where, n):
    (where / "loop").write_text(LOOP.format(n))
    (where / "loop").chmod(0o755)
    git(where, "add", "-A")
    git(where, "commit", "-q", "--allow-empty", "-m", f"{n} steps")


def clone(name, steps_of_change):
    """A clone of a repository with a main branch, on a branch with a change."""
    origin, here = Path(ROOM.name, f"{name}-origin"), Path(ROOM.name, name)
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / "tare.json").write_text(json.dumps({"benchmarks": {"loop": {"command": ["./loop"]}}}))
    write(origin, 100)
    sh(TARE, "gate", "run", "--store", cwd=origin)
    git(Path(ROOM.name), "clone", "-q", str(origin), str(here))
    git(here, "checkout", "-q", "-b", "topic")
    write(here, steps_of_change)
    return here


(HOME / "bin").mkdir(parents=True)
(HOME / "bin" / "tare").symlink_to(TARE)
ACTION = steps("action.yml")


@test
def the_action_fails_for_a_slower_benchmark():
    here = clone("slower", 200)
    server(ACTION["Install tare"], here, TARE_SOURCE="/nonexistent")  # it is installed
    for build in ("true", ""):  # the base is measured, or has stored results
        gate = {"BASE": "origin/main", "BUILD": build, "ARGUMENTS": "--strict --filter 'l*'", "MARKDOWN": "table.md"}
        r, output, summary = server(ACTION["Run the gate"], here, status=2, **gate)
        equal(output, "status=2\n", "output")
        true(summary.startswith("**the benchmark is slower**") and summary == (here / "table.md").read_text(), summary)
    true("Baseline: the note of" in summary, summary)


@test
def the_action_passes():
    here = clone("same", 100)
    r, output, summary = server(ACTION["Run the gate"], here, BASE="origin/main", BUILD="", ARGUMENTS="", MARKDOWN="table.md")
    equal(output, "status=0\n", "output")
    true("is not slower" in summary, summary)


@test
def a_table_for_the_comment():
    keep = steps("examples/ci/github-gate.yml")["Keep the table for the comment"]
    here = clone("kept", 100)
    server(keep, here, NUMBER="12")  # the gate measured nothing
    equal((here / "comment/number").read_text(), "12\n", "number")
    true("the log of the job" in (here / "comment/tare-gate.md").read_text(), "no table")
    (here / "tare-gate.md").write_text("**x**\n")
    server(keep, here, NUMBER="12")
    equal((here / "comment/tare-gate.md").read_text(), "**x**\n", "table")


GH = """#!/bin/sh
# In place of GitHub's program: the head of a pull request, the comments, and a log of the calls.
printf '%s\\n' "$*" >>calls
case $* in
*/pulls/*) echo "$HEAD_OF_PULL" ;;
*--paginate*) echo "$COMMENTS" ;;
esac
"""


@test
def the_comment_belongs_to_the_commit():
    comment = steps("examples/ci/github-comment.yml")["Write the comment, or replace that of an earlier run"]
    (HOME / "bin" / "gh").write_text(GH)
    (HOME / "bin" / "gh").chmod(0o755)
    for name, number, head, comments, status, last in (
            ("new", "7", "abc", "", 0, "api repos/a/b/issues/7/comments -F body=@body --silent"),
            ("old", "7", "abc", "55", 0, "api -X PATCH repos/a/b/issues/comments/55 -F body=@body --silent"),
            ("moved", "7", "def", "", 0, "api repos/a/b/pulls/7 --jq .head.sha"),
            ("hostile", "7/../../x", "abc", "", 1, None)):
        here = Path(ROOM.name, f"comment-{name}")
        here.mkdir()
        (here / "number").write_text(number + "\n")
        (here / "tare-gate.md").write_text("**table**\n")
        r, *_ = server(comment, here, status=status, GITHUB_REPOSITORY="a/b", HEAD="abc", HEAD_OF_PULL=head, COMMENTS=comments)
        calls = (here / "calls").read_text().splitlines() if (here / "calls").exists() else [None]
        equal(calls[-1], last, f"{name}: the last call")
        if name in ("new", "old"):
            equal((here / "body").read_text(), "<!-- tare gate -->\n**table**\n", "body")


@test
def the_steps_of_gitlab():
    text = (TOP / "examples/ci/gitlab-ci.yml").read_text()
    script = [line.strip()[2:] for line in re.search(r"script:\n((?: +- .*\n)+)", text)[1].splitlines()]
    equal(script[0], "make", "the first step")
    here = clone("gitlab", 200)
    (here / "Makefile").write_text("all:\n\ttrue\n")
    git(here, "add", "-A")
    git(here, "commit", "-q", "-m", "a build")
    step = "\n".join(script[1:]).replace("--build make", "--build true")
    server(step, here, status=2, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    true('failures="1"' in (here / "gate.xml").read_text(), "gate.xml")


main()
