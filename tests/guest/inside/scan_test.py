# SPDX-License-Identifier: MIT
"""tare scan with a known PMU: of all selectors QEMU's counts two, instructions and cycles, which are equal here."""
import functools
import json
import os

from check import equal, main, sh, test, true
from programs import LOOPS

ENV = dict(os.environ, HOME="/tmp/home")
LIVE = {0x08: "inst_retired", 0x11: "cpu_cycles"}


def scan(*words, status=0):
    out = sh("tare", "scan", "--format", "json", *words, env=ENV)
    equal(out.returncode, status, out.stderr)
    return json.loads(out.stdout)


# A scan counts known events first, which takes most of its time here: tests share one scan where possible.
@functools.cache
def whole():
    return scan("--selectors", "0-0x3f", "--fresh", "--table", "/tmp/a.txt", "--state", "/tmp/a.state")


def state():
    """A file of that scan, from which another one may continue."""
    whole()
    return open("/tmp/a.state").read()


@test
def two_selectors_count_and_are_what_they_are():
    d = whole()
    events = {e["select"]: e for e in d["events"]}
    equal(len(events), 64, "tried")
    equal({s for s, e in events.items() if e["state"] == "live"}, set(LIVE), "live")
    equal({s: e["state"] for s, e in events.items() if e["state"] not in ("live", "dead")}, {0x1e: "uncounted"}, "the chain event is not an event of its own")
    for select, name in LIVE.items():
        e = events[select]
        true(name in e["documented"], e["documented"])
        equal((e["meaning"], e["sure"], e["explained"], e["except"], e["also"], e["repeats"]),
              ("counts", "certain", 1, [], 0, True), str(e))
        equal(e["terms"], [{"what": "class", "name": "instructions", "factor": 1}], "an instruction a cycle")
        equal(e["same_as"], ["instructions:u", "cycles:u"], "documented events")


@test
def it_goes_on_where_it_stopped():
    scan("--selectors", "0-0x0f", "--state", "/tmp/b.state", "--table", "/tmp/b.txt")
    before = open("/tmp/b.state").read()
    parts = scan("--selectors", "0-0x13", "--state", "/tmp/b.state", "--table", "/tmp/b.txt")
    live = [line for line in before.splitlines() if line.startswith("live")]
    true(len(live) == 1 and live[0] in open("/tmp/b.state").read(), "counted selectors are not counted again")
    equal([(e["select"], e["state"], e.get("words")) for e in parts["events"]], [(e["select"], e["state"], e.get("words")) for e in whole()["events"] if e["select"] <= 0x13],
          "the same is found")
    bad = sh("tare", "scan", "--kernel", "--selectors", "0-3", "--state", "/tmp/b.state", env=ENV)
    equal(bad.returncode, 125, bad.stderr)
    true("is from another scan" in bad.stderr and "--fresh" in bad.stderr, bad.stderr)


@test
def what_holds_for_another_kernel_is_begun_anew():
    text = state()
    machine = next(line for line in text.splitlines() if line.startswith("machine "))
    true(" Linux " in machine, machine)
    open("/tmp/c.state", "w").write(text.replace(machine, machine + " other").replace("live 0x8 ", "live 0x9 "))
    again = sh("tare", "scan", "--selectors", "0-0x13", "--state", "/tmp/c.state", "--table", "/tmp/c.txt", env=ENV)
    equal((again.returncode, again.stderr), (0, "tare scan: started over: /tmp/c.state is from another kernel, hypervisor or microcode\n"), again.stdout)
    true(machine + "\n" in open("/tmp/c.state").read() and "\ndead 0x9 " in open("/tmp/c.state").read(), "counted again")


@test
def what_was_not_counted_is_tried_again():
    open("/tmp/d.state", "w").write(state().replace("dead 0x5 ", "uncounted 0x5 ").replace("dead 0x6 ", "refused 0x6 "))
    d = scan("--selectors", "0-0x13", "--state", "/tmp/d.state", "--table", "/tmp/d.txt")
    equal({e["state"] for e in d["events"] if e["select"] not in LIVE}, {"dead"}, "each is counted")


@test
def what_cannot_be_kept_ends_it_at_once():
    """A file system with one page, and an invalid file name."""
    os.makedirs("/tmp/small", exist_ok=True)
    equal(sh("mount", "-t", "tmpfs", "-o", "size=4k", "none", "/tmp/small").returncode, 0, "mounted")
    out = sh("tare", "scan", "--selectors", "0-0xff", "--state", "/tmp/small/s", "--table", "/tmp/e.txt", env=ENV)
    true(out.returncode == 125 and "cannot write" in out.stderr and "No space left" in out.stderr, out.stderr)
    equal([name for name in os.listdir("/tmp/small") if name not in ("s", "s.lock")], [], "no part is left")
    out = sh("tare", "scan", "--selectors", "0-3", "--state", "/dev/null/s", "--table", "/tmp/e.txt", env=ENV)
    true(out.returncode == 125 and "Not a directory" in out.stderr and not out.stdout, out.stderr)
    sh("umount", "/tmp/small")


@test
def the_kernels_part_has_a_state_of_its_own():
    home = dict(ENV, XDG_STATE_HOME="/tmp/both")
    for words in (["--selectors", "0-3"], ["--selectors", "0-3", "--kernel"]):
        out = sh("tare", "scan", *words, env=home)
        equal(out.returncode, 0, out.stderr)
    equal(len([f for f in os.listdir("/tmp/both/tare/scan") if f.endswith(".state")]), 2, "files")


@test
def what_was_found_can_be_counted_by_name():
    scan("--selectors", "0-0x13", "--state", "/tmp/a.state")
    table = sh("tare", "events", "scan", env=ENV).stdout
    true("scan.0x08.0x00" in table and "certain: counts instructions" in table, table)
    explained = sh("tare", "events", "explain", "scan.0x08.0x00", env=ENV)
    true(explained.returncode == 0 and "certain: counts instructions" in explained.stdout, explained.stdout + explained.stderr)
    files = [os.path.join(r, f) for r, _, fs in os.walk("/tmp/home/.local/share/tare/scan") for f in fs if "-kernel" not in f]
    equal(len(files), 1, str(files))
    d = json.loads(sh("tare", "stat", "--format", "json", "-o", "-", "--event-file", files[0], "-e", "scan.0x08.0x00:u", "--", "loop-1000").stdout)
    equal(d["events"][0]["median"], LOOPS[1000], "counted")


@test
def the_nearest_to_an_event_and_a_command_of_the_users():
    d = scan("--selectors", "0-0x13", "--state", "/tmp/a.state", "--like", "instructions:u", "--", "loop-1000")
    equal([(n["select"], n["equal"]) for n in d["nearest"]], [(0x08, 1), (0x11, 1)], "both count the same")
    equal({e["select"]: e["command"] for e in d["events"] if e["state"] == "live"}, {s: LOOPS[1000] for s in LIVE}, "loop-1000")
    d = scan("--selectors", "0-0x13", "--state", "/tmp/a.state", "--like", "page-faults:u", "--", "loop-1000000")
    true(all(n["equal"] < 0.2 and n["correlation"] < 0.5 for n in d["nearest"]), str(d["nearest"]))
    equal({e["select"]: e["command"] for e in d["events"] if e["state"] == "live"}, {s: LOOPS[1000000] for s in LIVE}, "another command")


@test
def in_words():
    text = sh("tare", "scan", "--selectors", "0-0x3f", "--state", "/tmp/a.state", env=ENV).stdout
    true(" 0x08         certain  counts instructions; the same as instructions:u, cycles:u  [armv8_pmuv3/inst_retired/]\n" in text, text)
    true("64 events tried, 2 count, 61 are dead, 1 never scheduled on a counter." in text, text)


main()
