# SPDX-License-Identifier: MIT
"""`tare doctor` as a user runs it: here, as nobody, under filters, and on trees of other machines.

usage: doctor_test.py TARE FILTERED SCHEMA
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, test, true  # noqa: E402
from commands import validated  # noqa: E402

TARE, FILTERED, SCHEMA = sys.argv[1:4]
STATUS = {"hardware": 0, "software": 1, "nothing": 2}

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)


def sh(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, **options)


def doctor(*words, before=(), **options):
    """The document, checked against the schema and against the exit status."""
    r = sh(*before, TARE, "doctor", "--format", "json", *words, **options)
    equal(r.stderr, "", "stderr")
    d = json.loads(r.stdout)
    validated(d, SCHEMA)
    equal(r.returncode, STATUS[d["verdict"]], "exit status")
    equal(d["exit_status"], r.returncode, "exit_status")
    return d


def finding(d, name):
    return next((f for f in d["findings"] if f["id"] == name), None)


def tree(files):
    """A directory that holds these files; the caller keeps the object alive."""
    root = tempfile.TemporaryDirectory()
    for path, text in files.items():
        whole = Path(root.name) / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


KERNEL = "proc/sys/kernel/"
DEVICES = "sys/bus/event_source/devices/"
SERVER = {
    "proc/self/status": "Name:\ttare\nUid:\t1000\t1001\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0\n",
    "proc/self/uid_map": "         0          0 4294967295\n",
    "proc/self/cgroup": "0::/user.slice/user-1000.slice\n",
    "proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Platinum 8480+\nflags\t\t: fpu vme\n",
    "proc/kallsyms": "0000000000000000 A fixed_percpu_data\n",
    KERNEL + "osrelease": "6.1.0-28-amd64\n",
    KERNEL + "perf_event_paranoid": "2\n",
    KERNEL + "nmi_watchdog": "1\n",
    KERNEL + "perf_event_mlock_kb": "516\n",
    KERNEL + "perf_event_max_sample_rate": "100000\n",
    KERNEL + "perf_cpu_time_max_percent": "25\n",
    KERNEL + "kptr_restrict": "1\n",
    DEVICES + "cpu/type": "4\n",
    DEVICES + "cpu/rdpmc": "1\n",
    DEVICES + "uncore_imc_0/type": "20\n",
    DEVICES + "uncore_imc_0/cpumask": "0,56\n",
    DEVICES + "software/type": "1\n",
    "sys/devices/system/cpu/online": "0-111\n",
    "sys/devices/system/cpu/smt/active": "1\n",
    "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
    "sys/class/dmi/id/product_name": "PowerEdge R760\n",
}


def without(files, *prefixes, **_):
    return {k: v for k, v in files.items() if not k.startswith(prefixes)}


@test
def here_the_first_line_is_the_verdict():
    text = sh(TARE, "doctor")
    d = doctor()
    true(text.stdout.replace("\n", " ").startswith(d["sentence"]), text.stdout[:200])
    equal(text.returncode, d["exit_status"], "status of the text")
    true("\033" not in text.stdout, "colour in a pipe")
    for f in d["findings"]:
        true(f["id"] in text.stdout, f["id"])
        for x in f["fix"]:
            true(x["command"] in text.stdout, x["command"])
    equal(d["facts"]["tried"], True, "tried")


@test
def here_software_events_really_count():
    tries = {t["event"]: t for t in doctor()["facts"]["tries"]}
    for t in tries.values():
        equal(t["count"] is None, t["outcome"] in ("untried", "refused", "never ran"), str(t))
        equal(t["error"] is not None, t["outcome"] == "refused", str(t))
        if t["outcome"] == "counted":
            true(t["low"] <= t["count"] <= t["high"], str(t))


@test
def an_unprivileged_user_is_told_the_level():
    if os.getuid() != 0:
        return
    with open("/proc/sys/kernel/perf_event_paranoid") as f:
        level = int(f.read())
    d = doctor(user=65534, group=65534, extra_groups=[])
    equal(d["facts"]["uid"], 65534, "uid")
    equal(finding(d, "permission")["mark"], "fail" if level > 2 else "ok", "permission")
    if level == 2:
        fix = finding(d, "kernel-mode")["fix"][0]
        equal((fix["command"], fix["place"], fix["needs_sudo"]),
              ("sysctl kernel.perf_event_paranoid=1", fix["place"], True), "")


@test
def a_filter_is_told_from_the_kernel():
    for code in ("EPERM", "ENOSYS"):
        d = doctor(before=(FILTERED, code))
        equal(d["verdict"], "nothing", code)
        f = finding(d, "permission")
        equal(f["mark"], "fail", code)
        true(f"perf_event_open fails with {code}: a seccomp filter" in f["what"], f["what"])
        exact = [x["command"] for x in f["fix"] if x["place"] == "here"]
        equal(len(exact), d["facts"]["exact_engine"], "the exact engine is advised where it works")
        true(len(f["fix"]) > len(exact), "a remedy of whoever started it")
        for command in exact:  # the advice, followed under the same filter
            words = command.replace("COMMAND", "true").split()
            equal((words[0], sh(FILTERED, code, TARE, *words[1:]).returncode), ("tare", 0), command)
        equal(finding(d, "seccomp")["mark"], "warn", code)
        true(all(t["count"] is None for t in d["facts"]["tries"]), "counts under a filter")


@test
def the_engine_works_or_not_wherever_addresses_are_random():
    """A container refuses personality(ADDR_NO_RANDOMIZE): the engine works all the same, and each call gives the same answer."""
    usual = finding(doctor(), "exact-engine")
    for _ in range(12):
        equal(finding(doctor(before=(FILTERED, "container")), "exact-engine"), usual, "in a container")


@test
def a_server_by_its_tree():
    with tree(SERVER) as root:
        d = doctor("--sysfs-root", root)
    equal(d["verdict"], "hardware", d["sentence"])
    true("this was not tested" in d["sentence"], d["sentence"])
    equal([p["name"] for p in d["facts"]["pmus"]], ["cpu"], "uncore PMUs are no core PMUs")
    equal(d["facts"]["pmus"][0]["programmable"], None, "counters are not made up")
    facts = {k: v for k, v in d["facts"].items() if k not in ("pmus", "tries")}
    surroundings = {k: facts.pop(k) for k in ("cpu_id", "microcode", "hz", "nohz_full", "governor", "turbo", "freeze_on_smi", "steal_share", "sibling_busy")}
    equal(set(surroundings.values()), {None}, "what the tree does not have is not made up")
    equal(facts, {"tried": False, "kernel": "6.1.0-28-amd64", "uid": 1001, "perf_event_paranoid": 2, "perf_user_access": None,
                  "nmi_watchdog": 1, "perf_event_mlock_kb": 516, "perf_event_max_sample_rate": 100000, "kptr_restrict": 1,
                  "seccomp": 0, "container": None, "user_namespace": False, "smt_active": 1, "cpus_online": 112,
                  "cpu": "Intel(R) Xeon(R) Platinum 8480+", "exact_engine": None}, "facts")
    equal({f["id"]: f["mark"] for f in d["findings"] if f["mark"] != "ok"},
          {"kernel-mode": "warn", "cpu-wide": "warn", "watchdog": "warn"}, "")
    equal(finding(d, "watchdog")["fix"][0]["command"], "sysctl kernel.nmi_watchdog=0", "watchdog")


@test
def hidden_symbols_by_a_tree():
    for first, mark in (("0000000000000000 A x\n", "warn"), ("ffffffff81000000 T _text\n", "ok")):
        with tree(SERVER | {KERNEL + "perf_event_paranoid": "1\n", "proc/kallsyms": first}) as root:
            equal(finding(doctor("--sysfs-root", root), "kernel-symbols")["mark"], mark, first)
    with tree(SERVER | {"proc/kallsyms": "0000\n"}) as root:
        equal(finding(doctor("--sysfs-root", root), "kernel-symbols"), None, "too short to tell")


@test
def the_platform_by_its_tree():
    vm = {"proc/cpuinfo": SERVER["proc/cpuinfo"].replace("vme", "hypervisor vme")}
    dmi = "sys/class/dmi/id/"
    for files, say in (({dmi + "sys_vendor": "QEMU\n", dmi + "product_name": "Standard PC\n"}, "under QEMU (QEMU Standard PC)"),
                       ({dmi + "product_name": "VMware7,1\n"}, "under VMware (VMware7,1)"),
                       ({"proc/device-tree/compatible": b"linux,dummy-virt\0other\0"}, "under QEMU (linux,dummy-virt)"),
                       ({"sys/hypervisor/type": "xen\n"}, "under Xen:"), ({}, "under a hypervisor:")):
        with tree(without(SERVER, dmi) | vm | files) as root:
            what = finding(doctor("--sysfs-root", root), "hypervisor")["what"]
            true(say in what, f"{say!r} not in {what!r}")


@test
def a_hybrid_laptop_by_its_tree():
    files = without(SERVER, DEVICES + "cpu/")
    for name, kind, cpus in (("cpu_atom", 10, "8-15"), ("cpu_core", 4, "0-7")):
        files |= {DEVICES + name + "/type": f"{kind}\n", DEVICES + name + "/cpus": cpus + "\n", DEVICES + name + "/rdpmc": "1\n"}
    with tree(files) as root:
        d = doctor("--sysfs-root", root)
    equal([p["name"] for p in d["facts"]["pmus"]], ["cpu_core", "cpu_atom"], "by type")
    equal(finding(d, "hybrid")["what"], "2 kinds of core: cpu_core on CPUs 0-7, cpu_atom on CPUs 8-15", "")


@test
def debian_in_a_container_by_its_tree():
    files = SERVER | {KERNEL + "perf_event_paranoid": "3\n", "proc/self/cgroup": "0::/kubepods/burstable/pod1\n",
                      "proc/self/status": SERVER["proc/self/status"].replace("Seccomp:\t0", "Seccomp:\t2")}
    with tree(files) as root:
        d = doctor("--sysfs-root", root)
    equal(d["verdict"], "nothing", d["sentence"])
    fix = finding(d, "permission")["fix"][0]
    equal((fix["command"], fix["place"]), ("sysctl kernel.perf_event_paranoid=2", "host"), "")
    true("kubernetes" in finding(d, "container")["what"], "container")


@test
def rootless_podman_by_its_tree():
    files = SERVER | {"run/.containerenv": "engine=podman\n", "proc/self/uid_map": "0 1000 1\n1 100000 65536\n",
                      "proc/self/status": SERVER["proc/self/status"].replace("CapEff:\t0000000000000000", "CapEff:\t000001ffffffffff")}
    with tree(files) as root:
        d = doctor("--sysfs-root", root)
    true("podman" in finding(d, "container")["what"], "container")
    equal(finding(d, "kernel-mode")["mark"], "warn", "capabilities of a user namespace lift nothing")
    with tree(files | {"proc/self/uid_map": SERVER["proc/self/uid_map"]}) as root:
        equal(finding(doctor("--sysfs-root", root), "kernel-mode")["mark"], "ok", "those of the machine do")


@test
def a_virtual_machine_by_its_tree():
    files = without(SERVER, DEVICES + "cpu/") | {"proc/cpuinfo": SERVER["proc/cpuinfo"].replace("vme", "vme hypervisor"),
                                                 "sys/class/dmi/id/sys_vendor": "QEMU\n"}
    with tree(files) as root:
        d = doctor("--sysfs-root", root)
    equal(d["verdict"], "software", d["sentence"])
    true("this virtual machine (QEMU) has none" in d["sentence"], d["sentence"])


@test
def hostile_trees_do_no_harm():
    for bad in (b"", b"\0" * 4096, b"\xff\xfe\x1b[31m\n" * 300, b"9" * 5000, b"-\n", b"4294967295-0\n", b"1 2 3\n"):
        with tree({k: bad for k in SERVER}) as root:
            r = sh(TARE, "doctor", "--sysfs-root", root)
            true(r.returncode in (0, 1, 2), f"status {r.returncode} for {bad[:20]!r}: {r.stderr}")
            true("\033" not in r.stdout, "an escape sequence from a file reached the terminal")
            doctor("--sysfs-root", root)
    with tree({k + "/x": "y" for k in SERVER}) as root:  # directories where files should be
        doctor("--sysfs-root", root)


@test
def mistakes_get_one_line_and_125():
    with tree({"etc/hostname": "x"}) as empty:
        for words, say in ((("x",), "'x' is not expected"), (("--format", "xml"), "no format 'xml'"),
                           (("--sysfs-root", ""), "a directory is expected"), (("--frmat", "json"), "did you mean --format"),
                           (("--sysfs-root", empty), "has neither /proc nor /sys"), (("--format",), "needs a value")):
            r = sh(TARE, "doctor", *words)
            equal((r.returncode, r.stdout), (125, ""), str(words))
            true(say in r.stderr, r.stderr)
    with open("/dev/full", "w") as full:
        r = subprocess.run([TARE, "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        equal(r.returncode, 125, "a full disk")
        true("No space left" in r.stderr, r.stderr)


@test
def json_by_its_short_name_and_strict():
    a = json.loads(sh(TARE, "doctor", "--json").stdout)
    equal(a["schema"], "tare/doctor/1")
    r = sh(TARE, "doctor", "--strict", "--json")
    d = json.loads(r.stdout)
    bad = any(f["mark"] != "ok" for f in d["findings"])
    equal(r.returncode, 3 if bad and d["verdict"] == "hardware" else STATUS[d["verdict"]])
    root = tree(SERVER)
    equal(doctor("--sysfs-root", root.name)["verdict"], "hardware")
    busy = tree({**SERVER, KERNEL + "nmi_watchdog": "1\n"})
    equal(sh(TARE, "doctor", "--strict", "--sysfs-root", busy.name).returncode, 3)


CPU = "sys/devices/system/cpu/"


@test
def what_makes_runs_differ():
    root = tree({**SERVER, CPU + "intel_pstate/no_turbo": "0\n", CPU + "cpu0/cpufreq/scaling_governor": "schedutil\n", CPU + "nohz_full": "4-7\n",
                 CPU + "cpu0/microcode/version": "0x5003604\n", "proc/stat": "cpu  100 0 100 700 0 0 0 100 0 0\n",
                 KERNEL + "osrelease": "6.9.1\n", "boot/config-6.9.1": "CONFIG_A=y\nCONFIG_HZ=1000\n",
                 "proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 60\nstepping\t: 3\nflags\t\t: fpu rtm sse\n\n",
                 CPU + "smt/active": "1\n", "sys/devices/cpu/freeze_on_smi": "0\n"})
    d = doctor("--sysfs-root", root.name)
    for name, mark, words in (("turbo", "warn", "are on"), ("governor", "warn", "schedutil"), ("ticks", "ok", "1000 clock ticks"), ("ticks", "ok", "4-7"),
                              ("microcode", "ok", "0x5003604")):
        f = finding(d, name)
        true(f and f["mark"] == mark and words in f["what"], f"{name}: {f}")
    true("scaling_governor" in finding(d, "governor")["fix"][0]["command"], "what to type")
    f = finding(d, "steal")
    true(f["mark"] == "warn" and "10 %" in f["what"] and f["fix"][0]["place"] == "host", f"{f}")
    faults = [f["what"] for f in d["findings"] if f["id"] == "fault"]
    for words in ("freeze_on_smi is 0", "HSD29", "transactional memory", "HSW11"):
        true(any(words in f for f in faults), f"{words}: {faults}")
    equal((d["facts"]["hz"], d["facts"]["turbo"], d["facts"]["nohz_full"]), (1000, 1, "4-7"))
    quiet = tree({**SERVER, CPU + "intel_pstate/no_turbo": "1\n", CPU + "cpu0/cpufreq/scaling_governor": "performance\n"})
    d = doctor("--sysfs-root", quiet.name)
    equal([finding(d, n)["mark"] for n in ("turbo", "governor")], ["ok", "ok"])


@test
def known_faults_by_themselves():
    r = sh(TARE, "verify", "faults", "--format", "json")
    d = json.loads(r.stdout)
    validated(d, Path(SCHEMA).with_name("tare-verify-faults-1.json"))
    equal(r.returncode, 1 if any(f["state"] == "present" for f in d["faults"]) else 0)
    root = tree({**SERVER, "proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 1\nstepping\t: 2\nflags\t\t: fpu\n\n"})
    r = sh(TARE, "verify", "faults", "--sysfs-root", root.name)
    true("AuthenticAMD-23-1-2" in r.stdout and "speclockmap     untried" in r.stdout and "rr#2034" in r.stdout, r.stdout + r.stderr)
    equal(sh(TARE, "verify", "faults", "extra").returncode, 125)


main()
