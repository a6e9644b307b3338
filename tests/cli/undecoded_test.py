# SPDX-License-Identifier: MIT
"""What of a recording cannot be decoded is named by every command that reads it: type of record, how many, where the first is;
the status is 1. One damaged record at a time is put into made recordings, plain and through a pipe.

usage: undecoded_test.py TARE SCHEMAS
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "guest" / "inside"))
sys.path.insert(0, str(HERE))
from check import equal, main, skip, test, true  # noqa: E402
from commands import validated  # noqa: E402
import made_accesses as made  # noqa: E402

TARE, SCHEMAS = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
FIXTURES = Path(os.environ.get("TARE_FIXTURES", HERE.parents[2] / "shared" / "fixtures")) / "perfdata"
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": ROOM.name, "DEBUGINFOD_URLS": ""}


def tare(*words, **options):
    r = subprocess.run([TARE, *map(str, words)], capture_output=True, timeout=60, env=ENV, **options)
    return r.returncode, r.stdout, r.stderr.decode()


# Each command that reads samples, in each of its forms. PATH is the recording, OUT a file to write.
SAMPLES = [["report", "PATH"], ["report", "--format", "json", "PATH"], ["report", "--format", "csv", "PATH"], ["report", "--folded", "PATH"],
           ["report", "--html", "OUT", "PATH"], ["report", "--diff", "WHOLE", "PATH"], ["report", "--diff", "PATH", "WHOLE"],
           ["report", "--folded", "--diff", "PATH", "WHOLE"], ["dump", "PATH"], ["dump", "--counts", "PATH"], ["dump", "--by-time", "PATH"],
           ["export", "-f", "folded", "PATH"], ["export", "-f", "pprof", "PATH"], ["export", "-f", "firefox", "PATH"], ["export", "-f", "perfetto", "PATH"],
           ["export", "-f", "csv", "PATH"], ["export", "-f", "html", "PATH"], ["export", "--accesses", "csv", "PATH"], ["memory", "PATH"],
           ["memory", "--format", "json", "PATH"], ["memory", "--format", "csv", "PATH"], ["sharing", "PATH"], ["sharing", "--format", "csv", "PATH"],
           ["annotate", "-i", "PATH", "nosuch"]]


def run(words, path, whole):
    out = os.path.join(ROOM.name, "out")
    return tare(*({"PATH": path, "WHOLE": whole, "OUT": out}.get(w, w) for w in words))


def recording():
    """Four accesses of one thread, which every command can show."""
    r = made.Recording()
    r.comm(1, 1, "work", exec=True)
    r.mmap(1, 0x400000, 0x10000, 0, "/nosuch/work")
    for k in range(4):
        r.sample(0x400100 + 16 * k, addr=0x7000 + 64 * k, time=1000 + k, weight=7, src=made.source("load", "L1", "none", "L1"))
    return r


def bad_sample(r):
    r.data += made.record(made.SAMPLE, struct.pack("<QQ", 1, 0x400100), made.USER)


def bad_mapping(r):
    r.data += made.record(made.MMAP, b"\x01\0\0\0", made.USER)


def unknown_type(r):
    r.data += made.record(9999, bytes(16))


def aux(kind):
    def add(r):
        r.data += made.record(made.AUXTRACE_INFO, struct.pack("<IIQQ", kind, 0, 1, 2))
        r.data += made.record(made.AUXTRACE, struct.pack("<QQQIIII", 64, 0, 0x1000, 0, 1, 0, 0)) + bytes(64)
    return add


# What is put in, how often; how standard error names it.
FAULTS = [(bad_sample, 3, r"3 SAMPLE records were not decoded, the first at byte (\d+): its fields do not fit"),
          (bad_mapping, 1, r"1 MMAP record was not decoded, at byte (\d+): its fields do not fit"),
          (unknown_type, 2, r"2 TYPE_9999 records were not decoded, the first at byte (\d+): its type is unknown"),
          (aux(3), 1, r"1 AUXTRACE record was not decoded, at byte (\d+): 64 bytes of Arm CoreSight ETM data"),
          (aux(2), 2, r"2 AUXTRACE records were not decoded, the first at byte (\d+): 128 bytes of Intel BTS data"),
          (aux(77), 1, r"1 AUXTRACE record was not decoded, at byte (\d+): 64 bytes of AUX data of kind 77")]


def write(name, fault=None, times=0):
    """The file, and where in it the first faulty record is."""
    r = recording()
    before = len(r.data)
    for _ in range(times):
        fault(r)
    path = r.write(os.path.join(ROOM.name, name))
    begin = struct.unpack("<Q", Path(path).read_bytes()[40:48])[0]
    return path, begin + before


def whole():
    return write("whole.data")[0]


@test
def a_whole_recording_says_nothing():
    for words in SAMPLES:
        status, _, said = run(words, whole(), whole())
        equal("not decoded" in said, False, f"{words}: {said}")
        if words[0] != "annotate":
            equal((status, said), (0, ""), f"{words}")


@test
def every_command_names_what_it_does_not_decode():
    for k, (fault, times, wanted) in enumerate(FAULTS):
        path, at = write(f"fault-{k}.data", fault, times)
        for words in SAMPLES:
            status, _, said = run(words, path, whole())
            m = re.search(f"^tare {words[0]}: {path}: {wanted}", said, re.M)
            true(m, f"{words}: {said}")
            true(int(m[1]) == at + (made_info() if "AUXTRACE" in wanted else 0), f"{words}: byte {m[1]}, not {at}")
            equal(said.count("not decoded"), 1, f"{words}: {said}")
            equal(status, 125 if words[0] == "annotate" else 1, f"{words}: {said}")  # there is no such function


def made_info():
    return 8 + 24


@test
def the_report_lists_them():
    path, at = write("listed.data", bad_sample, 3)
    d = json.loads(tare("report", "--format", "json", path)[1])
    validated(d, SCHEMAS / "tare-report-1.json")
    equal(d["quality"]["undecoded_records"], [{"type": "SAMPLE", "records": 3, "first_file": 0, "first_offset": at, "reason": "its fields do not fit"}], "listed")
    equal(d["quality"]["undecodable"], 3, "counted")
    equal(json.loads(tare("report", "--format", "json", whole())[1])["quality"]["undecoded_records"], [], "none")


@test
def through_a_pipe():
    path, at = write("piped.data", bad_mapping, 2)
    for words in (["report", "-"], ["dump", "-"], ["memory", "-"], ["sharing", "-"]):
        status, _, said = tare(*words, input=Path(path).read_bytes())
        true(status == 1 and f"2 MMAP records were not decoded, the first at byte {at}: its fields do not fit" in said, f"{words}: {status} {said}")


@test
def only_trace_data():
    """As perf record -e cs_etm// makes it: no samples at all."""
    r = made.Recording()
    r.comm(1, 1, "work", exec=True)
    aux(3)(r)
    path = r.write(os.path.join(ROOM.name, "etm.data"))
    for words in SAMPLES:
        if "--diff" in words or words[0] == "annotate":
            continue
        status, _, said = run(words, path, whole())
        true("64 bytes of Arm CoreSight ETM data" in said, f"{words}: {said}")
        true(status == (125 if words[0] in ("export", "memory", "sharing") and "--accesses" not in words else 1), f"{words}: {status} {said}")


@test
def arm_spe_is_read_by_some():
    r = recording()
    r.spe(bytes.fromhex("b2100000000000 0080b0000000000000008001".replace(" ", "")).ljust(64, b"\0"), tid=1)
    path = r.write(os.path.join(ROOM.name, "spe.data"))
    status, _, said = tare("report", path)
    true(status == 1 and "64 bytes of Arm SPE data; tare memory, tare sharing and tare export --accesses read it" in said, said)
    for words in (["dump", path], ["memory", path]):
        true("of Arm SPE data" not in tare(*words)[2], f"{words} reads it")


@test
def damage_is_said_in_every_form():
    path = os.path.join(ROOM.name, "cut.data")
    data = Path(whole()).read_bytes()
    begin, size = struct.unpack("<QQ", data[40:56])
    last = struct.unpack("<H", data[begin + size - 88 + 6:begin + size - 88 + 8])[0]
    equal(last, 88, "the last record is a sample of 88 bytes")
    Path(path).write_bytes(data[:begin + size - 88 + 6] + b"\x04\0" + data[begin + size - 88 + 8:])
    for words in SAMPLES:
        status, _, said = run(words, path, whole())
        true(f"{path}: byte {begin + size - 88}: a record of size 4, smaller than its header" in said, f"{words}: {said}")
        equal(status, 125 if words[0] == "annotate" else 1, f"{words}: {said}")


@test
def recordings_of_real_machines():
    if not FIXTURES.is_dir():
        skip(f"{FIXTURES} is not there; TARE_FIXTURES names the folder that holds perfdata/")
    partial = {"aux-intel-pt.perf.data": "149968 bytes of Intel PT data", "arm-spe.reconstructed.data": "312 bytes of Arm SPE data",
               "corrupt-zero-size-sample.perf.data": "a record of size 0", "pipe-compressed2-junk-tail.perf.data": "but only 143 bytes are present"}
    for path in sorted(FIXTURES.glob("*.data")):
        status, _, said = tare("report", path)
        equal(status, 1 if path.name in partial else 0, f"{path.name}: {said}")
        true(partial.get(path.name, "") in said and bool(said) == (path.name in partial), f"{path.name}: {said}")


main()
