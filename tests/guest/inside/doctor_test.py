# SPDX-License-Identifier: MIT
"""tare doctor as an ordinary user at every perf_event_paranoid: its findings are right, and its advice works."""
import json
import os

from check import equal, main, sh, test, true

USER = {"user": 1000, "group": 1000, "extra_groups": []}
KNOB = "/proc/sys/kernel/"

# finding -> what the user may do according to it, as tried with Debian's perf by the same user
TRIES = {
    "permission": ["perf", "stat", "-e", "instructions:u", "true"],
    "kernel-mode": ["perf", "stat", "-e", "instructions:k", "true"],
    "cpu-wide": ["perf", "stat", "-a", "-e", "instructions", "true"],
}


def write(name, value):
    with open(KNOB + name, "w") as f:
        f.write(str(value))


def findings():
    out = sh("tare", "doctor", "--format", "json", **USER)
    true(out.returncode in (0, 1, 2), out.stderr)
    return {f["id"]: f for f in json.loads(out.stdout)["findings"]}


def allowed(finding):
    return sh(*TRIES[finding], **USER).returncode == 0


@test
def what_it_says_is_so():
    for level in (3, 2, 1, 0, -1):
        write("perf_event_paranoid", level)
        said = findings()
        for name in TRIES:
            # A missing finding is implied by a worse one.
            equal(name in said and said[name]["mark"] == "ok", allowed(name), f"{name} at level {level}")


@test
def what_it_advises_works():
    tried = 0
    for level in (3, 2, 1, 0, -1):
        write("perf_event_paranoid", level)
        for name, finding in findings().items():
            if name not in TRIES or finding["mark"] == "ok":
                continue
            true(finding["fix"], f"{name} at level {level}: nothing to type")
            for fix in finding["fix"]:
                write("perf_event_paranoid", level)
                equal(fix["place"], "here", fix["command"])
                out = sh("sh", "-c", fix["command"])
                equal(out.returncode, 0, f"{fix['command']}: {out.stderr}")
                if "sysctl.d" in fix["command"]:
                    # What a boot does.
                    out = sh("sh", "-c", "sysctl -p /etc/sysctl.d/*")
                    equal(out.returncode, 0, out.stderr)
                    sh("sh", "-c", "rm /etc/sysctl.d/*")
                if "setcap" in fix["command"]:
                    # For tare only: perf itself is not changed.
                    equal(findings()[name]["mark"], "ok", f"{name} at level {level} after {fix['command']}")
                    equal(sh("setcap", "-r", "/bin/tare").returncode, 0, "setcap -r")
                else:
                    true(allowed(name), f"{name} at level {level}: of no use: {fix['command']}")
                tried += 1
    true(tried >= 7, f"only {tried} pieces of advice were tried")


@test
def user_reads():
    """perf_user_access 0 is detected, and the advice enables the reads."""
    write("perf_event_paranoid", 2)
    write("perf_user_access", 0)
    finding = findings()["user-reads"]
    true(finding["mark"] != "ok" and finding["fix"], str(finding))
    for fix in finding["fix"]:
        write("perf_user_access", 0)
        equal(sh("sh", "-c", fix["command"]).returncode, 0, fix["command"])
        if "sysctl.d" in fix["command"]:
            equal(sh("sh", "-c", "sysctl -p /etc/sysctl.d/* && rm /etc/sysctl.d/*").returncode, 0, fix["command"])
        equal(open(KNOB + "perf_user_access").read().strip(), "1", fix["command"])
        equal(findings()["user-reads"]["mark"], "ok", fix["command"])


@test
def the_pmu_counts():
    write("perf_event_paranoid", 2)
    said = findings()
    for name in ("pmu", "counters", "software", "user-reads"):
        equal(said[name]["mark"], "ok", said[name]["what"])
    true(said["counters"]["what"].startswith("7 "), said["counters"]["what"])


main()
